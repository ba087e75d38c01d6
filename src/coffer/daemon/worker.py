"""The worker: one short-lived process at a time for whatever would make a hook wait or memory grow."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from coffer.core.loads import loads
from coffer.core.redact import redact

_LOG = logging.getLogger("coffer.worker")
COMMAND = (sys.executable, "-P", "-m", "coffer.daemon.job")
LONGEST_ANSWER = 16 << 20
_LONGEST_TOLD = 1_500
_REST_SECONDS = 5.0
REPEATED = 3
"""Jobs of one kind in a row that come to nothing, from which on a person is told: one alone may be the session's."""
_PASSING = ("Busy", "FileMoved")
"""Errors that say only: not now."""


class WorkerFailed(Exception):
    """A job that came to nothing: its process died, hung, or said what is no answer. The sentence says which."""


class Worker:
    """Runs jobs one after the other. environment: of each job, besides what a job brings itself."""

    def __init__(self, environment: Mapping[str, str], command: Sequence[str] = COMMAND) -> None:
        self._environment = {**environment, "COFFER_CHILD": "1"}  # its agents, if any, are not a person's
        self._command = command
        self._alone = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self.jobs = self.failures = 0
        self._in_a_row: dict[str, tuple[int, str]] = {}

    @property
    def problem(self) -> str:
        """Which kind of job comes to nothing again and again, as a sentence; "" for none."""
        for kind, (times, why) in self._in_a_row.items():
            if times >= REPEATED:
                return f"“{kind}” came to nothing {times} times in a row: {why}"
        return ""

    @property
    def pid(self) -> int | None:
        """The process that works now."""
        return self._process.pid if self._process is not None else None

    async def run(self, job: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Do a job in a process of its own; its answer. seconds: it may take. Raises WorkerFailed."""
        async with self._alone:
            self.jobs += 1
            kind = str(job.get("job"))
            try:
                answer = await self._done(json.dumps({**job, "seconds": seconds}).encode(), seconds)
            except WorkerFailed as failed:
                self.failures += 1
                self._count(kind, str(failed))
                raise
            if "error" not in answer:
                self._in_a_row.pop(kind, None)
            elif answer.get("kind") not in _PASSING:
                self._count(kind, str(answer["error"]))
            return answer

    def _count(self, kind: str, why: str) -> None:
        self._in_a_row[kind] = (self._in_a_row.get(kind, (0, ""))[0] + 1, why)

    async def _done(self, job: bytes, seconds: float) -> dict[str, Any]:
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                cwd="/",
                env=self._environment,
                start_new_session=True,  # what it starts ends with it
                limit=LONGEST_ANSWER,
            )
        except OSError as error:
            raise WorkerFailed(f"it can't be started: {error.strerror or error}") from error
        self._process = process
        try:
            async with asyncio.timeout(seconds):
                said, told = await process.communicate(job)
        except TimeoutError as late:
            raise WorkerFailed(f"it did not end within {seconds:.0f} seconds and was killed") from late
        finally:
            await _end(process)
            self._process = None
        return _answer(process.returncode or 0, said, told)

    async def finish(self) -> None:
        """Wait for the job under way, for as long as a daemon may take to end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_REST_SECONDS), self._alone:
                return
        if self._process is not None:
            await _end(self._process)


def _answer(code: int, said: bytes, told: bytes) -> dict[str, Any]:
    if told.strip():
        _LOG.warning("it says: %s", redact(told.decode("utf-8", "replace")[-_LONGEST_TOLD:]).text)
    if code < 0:
        raise WorkerFailed(f"it was ended by signal {-code}")
    try:
        answer = loads(said.decode("utf-8", "replace"))
    except ValueError:
        answer = None
    if code or not isinstance(answer, dict):
        raise WorkerFailed(f"it ended with {code} and no answer")
    return answer


async def _end(process: asyncio.subprocess.Process) -> None:
    """See that it is gone, and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
