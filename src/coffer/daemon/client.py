"""What a command asks the daemon."""

from __future__ import annotations

import http.client
from typing import Any

from coffer.core.loads import loads
from coffer.daemon.errors import DaemonSilent
from coffer.daemon.listen import Link
from coffer.store.home import Home

_SECONDS = 5.0


def ask(home: Home, path: str, method: str = "GET", timeout: float = _SECONDS) -> Any:
    """The daemon's JSON answer, None where nobody listens. Raises DaemonSilent."""
    link = Link(home, timeout)
    try:
        link.connect()
    except OSError:
        return None
    try:
        link.request(method, path)
        got = link.getresponse()
        said = got.read()
    except (OSError, http.client.HTTPException) as error:
        raise DaemonSilent(str(error) or type(error).__name__) from error
    finally:
        link.close()
    if got.status != http.client.OK:
        raise DaemonSilent(f"it says {got.status}")
    try:
        return loads(said.decode("utf-8", "replace"))
    except ValueError as error:
        raise DaemonSilent("what listens there is no daemon of Coffer's") from error
