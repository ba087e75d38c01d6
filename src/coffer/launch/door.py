"""The launcher's door: a socket of the user's own, one JSON line in, one JSON line out.

Nobody has to be there: the session never waits for anyone here, and a door that can't be opened costs it nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coffer.store.home import Home
from coffer.work.guarding.runs import CWD, LONGEST_LINE, parsed

_MOST_CALLERS = 8


@dataclass(slots=True)
class Caller:
    """Someone who is connected: what they said so far, and what is still to be said to them."""

    link: socket.socket
    heard: bytes = b""
    waiting: bytes = b""
    answered: bool = False


class Door:
    """The listening side, for one loop. Never raises after it is open."""

    def __init__(self, path: Path, listener: socket.socket) -> None:
        self.path = path
        self._listener = listener
        self._callers: dict[int, Caller] = {}

    @classmethod
    def open(cls, home: Home, name: str) -> Door | None:
        """Listen at `<home>/run/<name>.sock`, 0600; None where that can't be."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            folder = home.make(home.root / "run")
            with CWD, contextlib.chdir(folder):  # an address holds 107 bytes, 103 on macOS
                mask = os.umask(0o177)
                try:
                    listener.bind(f"{name}.sock")
                finally:
                    os.umask(mask)
            listener.listen(_MOST_CALLERS)
            listener.setblocking(False)
        except OSError:
            listener.close()
            return None
        return cls(folder / f"{name}.sock", listener)

    def readers(self) -> list[int]:
        """Descriptors to wait for."""
        listening = [self._listener.fileno()] if len(self._callers) < _MOST_CALLERS else []
        return [*listening, *self._callers]

    def writers(self) -> list[int]:
        """Descriptors that something waits for."""
        return [number for number, caller in self._callers.items() if caller.waiting]

    def serve(self, ready: set[int]) -> Iterator[tuple[Caller, dict[str, Any]]]:
        """Take what came; each whole request once."""
        if self._listener.fileno() in ready:
            with contextlib.suppress(OSError):
                link, _ = self._listener.accept()
                link.setblocking(False)
                self._callers[link.fileno()] = Caller(link)
        for number in ready & set(self._callers):
            caller = self._callers[number]
            try:
                data = caller.link.recv(8192)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            caller.heard += data
            if not data or len(caller.heard) > LONGEST_LINE:
                self._drop(number)
            elif b"\n" in caller.heard and not caller.answered:
                caller.answered = True
                request = parsed(caller.heard)
                if request is None:
                    self._drop(number)
                else:
                    yield caller, request

    def answer(self, caller: Caller, said: dict[str, Any]) -> None:
        """Say something to a caller, who may have left."""
        if caller.link.fileno() in self._callers:
            caller.waiting += json.dumps(said).encode() + b"\n"
            self.flush({caller.link.fileno()})

    def flush(self, ready: set[int]) -> None:
        """Write on; a caller whose answer is out is let go."""
        for number in ready & set(self._callers):
            caller = self._callers[number]
            try:
                done = caller.link.send(caller.waiting)
            except BlockingIOError:
                continue
            except OSError:
                self._drop(number)
                continue
            caller.waiting = caller.waiting[done:]
            if not caller.waiting:
                self._drop(number)

    def _drop(self, number: int) -> None:
        self._callers.pop(number).link.close()

    def close(self) -> None:
        """Take the socket away."""
        for number in list(self._callers):
            self._drop(number)
        self._listener.close()
        with contextlib.suppress(OSError):
            self.path.unlink()


def new_name() -> str:
    """A name for a run that nobody else has."""
    return secrets.token_hex(6)
