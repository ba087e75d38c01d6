"""Whether Codex trusts our hooks, asked of Codex itself, and granted by it on the person's word.

Codex runs a hook only after it was trusted, and `codex exec` passes an untrusted one over without a word. The hash
that trust is bound to is Codex's own affair, so `codex app-server` is asked (`hooks/list`) and told
(`config/batchWrite`), as Codex's own screen does it (facts/codex §2). Nothing here reads or writes config.toml, but
to see whether hooks are off.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coffer.agents.codex_hooks import switched_off
from coffer.agents.hook_entries import STUB, first_word
from coffer.disk.agent_errors import ClientRefused
from coffer.disk.places import Places
from coffer.work.agent_settings.agent_client import client_environment, require_client

SECONDS = 15.0
"""For all questions together. It answers in a tenth of a second; a machine under load is slower."""
_END_SECONDS = 2.0
_ASKED = "codex app-server"
TRUSTED = ("trusted", "managed")


@dataclass(frozen=True, slots=True)
class Trust:
    """What Codex says of our entries. states: key → trusted, untrusted, modified, managed or disabled.

    hashes: key → what trust would be bound to. problems: sentences of Codex's own, and ours.
    """

    states: Mapping[str, str]
    hashes: Mapping[str, str]
    problems: tuple[str, ...] = ()

    @property
    def trusted(self) -> bool:
        """Whether Codex runs all of them."""
        return bool(self.states) and all(state in TRUSTED for state in self.states.values())


def ask(environment: Mapping[str, str], places: Places) -> Trust:
    """What Codex says now. Raises ClientMissing, ClientRefused."""
    with _server(environment, places) as server:
        return _listed(server, places)


def grant(environment: Mapping[str, str], places: Places) -> Trust:
    """Have Codex trust our entries and no others; what it says afterwards. Raises ClientMissing, ClientRefused.

    Only on the person's word: this is the step by which Codex asks for consent.
    """
    with _server(environment, places) as server:
        before = _listed(server, places)
        wanting = [key for key, state in before.states.items() if state not in TRUSTED]
        if not wanting:
            return before
        value = {key: {"trusted_hash": before.hashes[key], "enabled": True} for key in wanting}
        edit = {"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}
        server.call("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})
        return _listed(server, places)


def forget(environment: Mapping[str, str], places: Places, keys: Iterable[str]) -> None:
    """Have Codex forget what it trusts by these keys. Raises ClientMissing, ClientRefused.

    After the entries are gone: what stands in their place by then has another hash, and is asked about anew.
    """
    edits = [
        {"keyPath": f"hooks.state.{json.dumps(key)}", "value": None, "mergeStrategy": "replace"}
        for key in keys
    ]
    if edits:
        with _server(environment, places) as server:
            server.call("config/batchWrite", {"edits": edits, "reloadUserConfig": True})


def _listed(server: _Server, places: Places) -> Trust:
    answer = server.call("hooks/list", {"cwds": [str(places.codex)]})
    file = os.path.realpath(places.codex / "hooks.json")
    states, hashes, problems = {}, {}, []
    for entry in _dicts(answer.get("data")):
        problems += [str(said) for key in ("errors", "warnings") for said in entry.get(key) or ()]
        for hook in _dicts(entry.get("hooks")):
            key, command = str(hook.get("key")), str(hook.get("command") or "")
            if not _is_ours(key, command, file):
                continue
            state = str(hook.get("trustStatus"))
            states[key] = state if hook.get("enabled", True) else "disabled"
            hashes[key] = str(hook.get("currentHash"))
    if off := _off(places):
        problems.append(off)
    return Trust(states, hashes, tuple(dict.fromkeys(problems)))


def _is_ours(key: str, command: str, file: str) -> bool:
    """By the command's base name, and only in the person's own hooks.json, which is what we write."""
    where = key.rsplit(":", 3)[0]
    return first_word(command).rsplit("/", 1)[-1] == STUB and os.path.realpath(where) == file


def _dicts(said: Any) -> list[dict[str, Any]]:
    return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []


def _off(places: Places) -> str:
    try:
        reason = switched_off(tomllib.loads((places.codex / "config.toml").read_text("utf-8")))
    except (OSError, ValueError):
        return ""  # none, or broken: Codex says so itself
    return f"{reason}." if reason else ""


class _Server:
    """JSON-RPC over the pipes of an app-server, with one deadline for all of it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._until = time.monotonic() + SECONDS
        self._next = 0
        self._read = b""

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise ClientRefused(_ASKED, "it ended") from error

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a call. Raises ClientRefused."""
        self._next += 1
        self.send({"id": self._next, "method": method, "params": params})
        while True:
            try:
                said = json.loads(self._line(method))
            except ValueError:
                continue  # a line of something else: not the answer
            if not isinstance(said, dict) or said.get("id") != self._next:
                continue
            if "error" in said:
                raise ClientRefused(_ASKED, f"{method}: {said['error']}"[:300])
            result = said.get("result")
            return result if isinstance(result, dict) else {}

    def _line(self, method: str) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._read:
            left = self._until - time.monotonic()
            ready = select.select([descriptor], [], [], left)[0] if left > 0 else []
            if not ready:
                raise ClientRefused(_ASKED, f"{method}: no answer in {SECONDS:.0f} s")
            piece = os.read(descriptor, 65_536)
            if not piece:
                raise ClientRefused(_ASKED, f"{method}: it ended without an answer")
            self._read += piece
        line, self._read = self._read.split(b"\n", 1)
        return line


@contextmanager
def _server(environment: Mapping[str, str], places: Places) -> Iterator[_Server]:
    binary = require_client("codex", environment)
    folder = places.codex if places.codex.is_dir() else Path("/")
    try:
        process = subprocess.Popen(
            [str(binary), "app-server"],
            cwd=folder,
            env=client_environment(environment) | {"CODEX_HOME": str(places.codex)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # npm's `codex` starts the real one: both are ended
        )
    except OSError as error:
        raise ClientRefused(_ASKED, (error.strerror or str(error)).lower()) from error
    try:
        server = _Server(process)
        server.call("initialize", {"clientInfo": {"name": "coffer", "version": "1"}})
        server.send({"method": "initialized"})
        yield server
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its pipe, by which it ends; what does not is killed, with what it started."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):  # it has ended
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    with suppress(ProcessLookupError, PermissionError):  # all have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
