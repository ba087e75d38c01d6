"""One question over HTTP: a JSON object there, a JSON object back, or one sentence why not.

No error repeats the key, the question, or anything else that the server said than a word of the table `CODES`.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self

from coffer.core.redact import redact
from coffer.core.settings import Model, is_loopback
from coffer.errors import ModelUnavailable

if TYPE_CHECKING:
    import httpx

LARGEST = 1 << 20
"""Bytes of an answer. A classification has some hundred."""
WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each retry where the server names none."""
LONGEST_WAIT = 30.0
"""Seconds that a server may ask us to wait; asked for more, nobody waits."""
CODES = frozenset(
    {
        "api_error",
        "authentication_error",
        "billing_error",
        "context_length_exceeded",
        "insufficient_quota",
        "invalid_api_key",
        "invalid_request_error",
        "model_not_found",
        "not_found_error",
        "overloaded_error",
        "permission_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "request_too_large",
    }
)
"""Error types and codes of both APIs' references: all that is repeated of what a server says."""
EXHAUSTED = ("insufficient_quota", "billing_error")
"""Comes as 429 or 4xx and doesn't pass by waiting."""


@dataclass(frozen=True, slots=True)
class Line:
    """How a model is reached. key: "" for none. before_each: called before every request. sleep: seconds.

    source: the variable or the file that the key comes from.
    """

    model: Model
    key: str = field(repr=False)
    before_each: Callable[[], None]
    sleep: Callable[[float], None] = time.sleep
    source: str = ""

    @property
    def name(self) -> str:
        """The model and its server, for a sentence."""
        return f"{self.model.model} at {self.model.address.split('/')[2]}"


def unusable(line: Line, reason: str) -> ModelUnavailable:
    """An answer came and is none; the next question may do better."""
    return ModelUnavailable(line.name, reason, "If that happens often, choose another model.", final=False)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a request brought nothing. wait: seconds that the server asked for. final: see ModelUnavailable."""

    reason: str
    advice: str
    again: bool = False
    wait: float | None = None
    final: bool = True


def post(line: Line, url: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object that the server answers with. Raises ModelUnavailable.

    Tried again, by the table WAITS, after 408, 429, 5xx, a timeout and a broken connection; never after anything
    else. Redirects are not followed. A server on this machine is never asked through a proxy.
    """
    content = json.dumps(body).encode()
    headers = {"content-type": "application/json", "accept-encoding": "identity", **headers}
    with _client(line) as client:
        for attempt in range(line.model.retries + 1):
            line.before_each()
            found = _once(client, line, url, headers, content)
            if isinstance(found, dict):
                return found
            fault = found
            wait = WAITS[attempt % len(WAITS)] if fault.wait is None else fault.wait
            again = wait if fault.again and wait <= LONGEST_WAIT else None
            if again is None or attempt == line.model.retries:
                break
            line.sleep(again)
    raise ModelUnavailable(line.name, fault.reason, fault.advice, final=fault.final, wait=again)


def _client(line: Line) -> httpx.Client:
    import httpx  # noqa: PLC0415  (60 ms that only a configured model needs)

    trouble = ""
    try:
        return httpx.Client(
            timeout=line.model.timeout,
            follow_redirects=False,  # the key would go along
            trust_env=not is_loopback(line.model.address),  # a proxy would get what stays on this machine
            headers={"user-agent": "coffer"},
        )
    except (ImportError, ValueError, httpx.InvalidURL):  # ImportError: a SOCKS proxy
        trouble = "the proxy that the environment names can't be used"
    raise ModelUnavailable(line.name, trouble, "Look at http_proxy, https_proxy and all_proxy.")


class _Deadline:
    """Ends a request after its time: against a server that trickles, a timeout for each read never comes."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:  # the number of a closed socket may soon be another's
            self._socket = None

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by the HTTP library at each step; learns the socket (the second time wrapped for TLS)."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
            if self.passed:
                self._end()

    def _end(self) -> None:
        self.passed = True
        with self._lock:
            if self._socket is not None:
                try:
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                except OSError:
                    self._socket = None  # the other side was faster


def _once(
    client: httpx.Client, line: Line, url: str, headers: Mapping[str, str], content: bytes
) -> dict[str, Any] | _Fault:
    import httpx  # noqa: PLC0415  (as above)

    # errors of the library hold the request; none of them may hang on the one that is raised in the end
    with _Deadline(line.model.timeout) as deadline:
        try:
            with client.stream(
                "POST", url, headers=headers, content=content, extensions={"trace": deadline.trace}
            ) as response:
                found = _read(response, line)
        except httpx.TimeoutException:
            return _late(line)
        except httpx.InvalidURL:
            return _Fault("its address can't be understood", "Look at `model.base_url`.")
        except httpx.HTTPError as error:
            return _late(line) if deadline.passed else _broken(error, line)
        return _late(line) if deadline.passed else found


def _late(line: Line) -> _Fault:
    return _Fault(
        f"it did not answer within {line.model.timeout:g} seconds",
        "If it is only slow, set a longer `model.timeout`.",
        again=True,
    )


def _broken(error: httpx.HTTPError, line: Line) -> _Fault:
    import httpx  # noqa: PLC0415  (as above)

    if isinstance(error, httpx.ConnectError):
        why = redact(re.sub(r"\[[^]]*\]|\([^)]*\)", "", str(error)).strip(" :")).text[:80]
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return _Fault("its certificate is not trusted", "SSL_CERT_FILE names further authorities.")
        return _Fault(
            f"there is no connection to it ({why})",
            f"Is {line.model.address} running and reachable?",
            again=True,
        )
    return _Fault("the connection broke before its answer was complete", "Try again later.", again=True)


def _read(response: httpx.Response, line: Line) -> dict[str, Any] | _Fault:
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > LARGEST:
            return _Fault(f"its answer is larger than {LARGEST} bytes", "Look at `model.base_url`.")
    said = _decoded(bytes(body))
    if response.status_code != 200:
        return _refused(response, said, line)
    if said is None:
        return _Fault("what it answers is no JSON object", "Does `model.base_url` lead to a model's API?")
    return said


def _decoded(body: bytes) -> dict[str, Any] | None:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _refused(response: httpx.Response, said: dict[str, Any] | None, line: Line) -> _Fault:
    """What a status other than 200 means."""
    status, code = response.status_code, _code(said)
    shown = f"{status}, {code}" if code else str(status)
    if code in EXHAUSTED:
        return _Fault(f"its account is used up ({shown})", "Look at the account with its provider.")
    if 300 <= status < 400:
        return _Fault(
            f"it redirects to another address ({shown}), which is not followed, since the key would go along",
            "Set `model.base_url` to the final address.",
        )
    if status in (401, 403):
        what = f"refuses the key in {line.source}" if line.source else "wants a key"
        return _Fault(
            f"it {what} ({shown})", "Look at `model.key_env` and `model.key_file`, and what they name."
        )
    if status in (408, 429) or status >= 500:
        wait = _retry_after(response.headers.get("retry-after", ""))
        what = "is asked too often" if status == 429 else "fails"
        return _Fault(f"it {what} ({shown})", "Try again later.", again=True, wait=wait)
    if status in (400, 413, 422):
        return _Fault(f"it refuses the question ({shown})", "Look at `model.model`.", final=False)
    return _Fault(
        f"it knows no such address or model ({shown})", "Look at `model.base_url` and `model.model`."
    )


def _code(said: dict[str, Any] | None) -> str:
    error = said.get("error") if said else None
    if not isinstance(error, dict):
        return ""
    named = (error.get("code"), error.get("type"))
    return next((code for code in named if isinstance(code, str) and code in CODES), "")


def _retry_after(said: str) -> float | None:
    """Seconds, from a number or a date (RFC 9110, 10.2.3); None for anything else."""
    if re.fullmatch(r"\d{1,6}", said.strip(), re.ASCII):
        return float(said)
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
