"""Calls in the daemon's threads: an error of our own costs what was being done, and not the daemon."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from coffer.daemon.errors import ThreadFailed
from coffer.errors import CofferError

_LOG = logging.getLogger("coffer.daemon")
_Result = TypeVar("_Result")


async def in_thread(thread: Executor, what: Callable[..., _Result], *arguments: object) -> _Result:
    """The result of a call in a thread. Raises what it raises, and ThreadFailed for what nobody expected.

    One odd transcript would else end the daemon at every look at it, and hooks would start it again for ever.
    """
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, what, *arguments)
    except (CofferError, OSError):
        raise
    except Exception as error:
        _LOG.exception("%s failed", getattr(what, "__qualname__", what))
        raise ThreadFailed(type(error).__name__) from error
