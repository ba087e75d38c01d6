"""A hook's command run as the agent would run it, to see what a session would get (lessons 2 and 3).

That an entry stands in a settings file says nothing: an option renamed, an interpreter gone, a broken environment,
and it has been silent in every session for months. So it is run.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coffer.agents.hook_entries import is_ours, read
from coffer.core.json_edit import JsonRefused
from coffer.disk.places import Places
from coffer.errors import CofferError
from coffer.store.home import Home
from coffer.work.agent_settings.install import hook_path, read_text, settings_path
from coffer.work.delivery.deliver import REHEARSAL

EVENT = "SessionStart"
PATIENCE = 10.0
"""Seconds. A hook ends within 0.8; what needs longer is told, not waited for."""
_SHELL = "/bin/sh"
_NOT_A_SESSIONS = ("COFFER_CHILD", "CLAUDE_PROJECT_DIR")
"""What a command that an agent runs may have, and what would make the hook answer for another session or not at all."""


@dataclass(frozen=True, slots=True)
class Call:
    """A way in which an agent starts the hook. form: "exec" (the client starts it itself) or "sh -c"."""

    form: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a hook did. code: None where it did not end, or could not begin. context: what the model would get."""

    agent: str
    form: str
    code: int | None
    printed: bytes
    seconds: float
    context: str
    problem: str

    @property
    def milliseconds(self) -> int:
        """How long it took."""
        return round(self.seconds * 1000)


def both_forms(agent: str, home: Home) -> tuple[Call, ...]:
    """The two ways in which agents start our hook."""
    hook = str(hook_path(home))
    line = shlex.join([hook, agent, EVENT])
    return Call("exec", (hook, agent, EVENT)), Call("sh -c", (_SHELL, "-c", line))


def installed(agent: str, places: Places) -> tuple[Call, ...]:
    """Our entries for the event as they stand in the agent's settings, as it would run them; none where none stands."""
    try:
        _, text = read_text(settings_path(agent, places))
        groups = read(text or "").events.get(EVENT, ())
    except (CofferError, JsonRefused):
        return ()
    found = []
    for handler in (one for group in groups for one in group.handlers if is_ours(one)):
        command, args = handler.get("command"), handler.get("args")
        assert command is not None  # else it was not ours
        if args is not None and args.kind == "array":
            found.append(Call("exec", (str(command.value), *(str(word.value) for word in args.items))))
        else:
            found.append(Call("sh -c", (_SHELL, "-c", str(command.value))))
    return tuple(found)


def rehearse(agent: str, call: Call, folder: Path, environment: Mapping[str, str], **more: str) -> Rehearsal:
    """Run the hook for the start of a session in a folder. more: variables on top. It leaves no delivery."""
    surroundings = {name: said for name, said in environment.items() if name not in _NOT_A_SESSIONS} | more
    began = time.monotonic()
    try:
        done = subprocess.run(
            call.words,
            cwd=folder,
            env=surroundings,
            input=_said(folder),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Rehearsal(agent, call.form, None, b"", PATIENCE, "", f"it did not end within {PATIENCE:.0f} s")
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", "") or str(error)).lower()
        return Rehearsal(agent, call.form, None, b"", 0.0, "", f"it can't be started: {why}")
    spent = time.monotonic() - began
    context, problem = _context(done.stdout)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        problem = f"it ended with {done.returncode}" + (f": {said[-1][:200]}" if said else "")
    elif done.stderr.strip():
        problem = (
            problem or f"it says: {done.stderr.decode('utf-8', 'replace').strip().splitlines()[-1][:200]}"
        )
    return Rehearsal(agent, call.form, done.returncode, done.stdout, spent, context, problem)


def _said(folder: Path) -> bytes:
    """What an agent says at the start of a session that keeps no transcript."""
    told = {
        "session_id": REHEARSAL,
        "transcript_path": None,
        "cwd": str(folder),
        "hook_event_name": EVENT,
        "source": "startup",
        "permission_mode": "default",
        "model": "",
    }
    return json.dumps(told).encode()


def _context(printed: bytes) -> tuple[str, str]:
    """The text for the model, and what is wrong with the envelope."""
    if not printed:
        return "", ""
    try:
        said = json.loads(printed)
        output = said["hookSpecificOutput"]
        context = output["additionalContext"]
    except (ValueError, KeyError, TypeError):
        return "", "what it prints is no answer that an agent takes"
    if output.get("hookEventName") != EVENT or not isinstance(context, str):
        return "", "what it prints is no answer that an agent takes"
    return context, ""
