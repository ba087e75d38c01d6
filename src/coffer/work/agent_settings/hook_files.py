"""The files that an installed hook runs: the stub that agents call, the script behind it, the daemon's command.

The stub is a shell script, not a script of Python's: a `#!` line breaks where the interpreter's path has a space,
and one over 255 bytes ends with exit code 2, which blocks every prompt (facts/claude-code §10). It looks before it
leaps for the same reason: Python itself ends with 2 where its script is gone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from coffer.disk.put import holds, put
from coffer.errors import WriteFailed
from coffer.store.home import Home

STUB = "coffer-hook"
"""Its basename is how an entry in an agent's settings is known as ours."""
SCRIPT = "hook.py"
SILENT = b"#!/bin/sh\nexit 0\n"
"""A stub that nothing stands behind: for clients that keep calling what was taken out while they run."""
DAEMON_COMMAND = "daemon-command"
DAEMON_ARGUMENTS = ("-P", "-m", "coffer.daemon.run")
"""-P: a module of that name in the folder where it starts is not ours."""


def write_hook(home: Home, python: Path) -> list[Path]:
    """Write the hook's files for this interpreter; the paths that changed. The stub comes last.

    Raises WriteFailed, also for a path with a line break, which no line of shell could hold.
    """
    folder = home.root / "bin"
    files = _files(home, python)
    try:
        home.make(folder)
    except OSError as error:
        raise WriteFailed(str(folder), (error.strerror or str(error)).lower()) from error
    return [path for path, content, mode in files if put(path, content, mode)]


def hook_is_current(home: Home, python: Path) -> list[str]:
    """How the hook's files differ from what `write_hook` would write, a sentence each; none where they don't."""
    found = [said for path, content, mode in _files(home, python) if (said := _differs(path, content, mode))]
    if not (python.is_file() and os.access(python, os.X_OK)):
        found.append(f"{python}, which the hook runs, is not there or can't be run.")
    return found


def stub_text(python: Path, script: Path) -> bytes:
    """The stub: it gives way in silence where there is nothing to run, and is replaced by what it runs."""
    python_word, script_word = _quoted(python), _quoted(script)
    return b"".join(
        (
            b"#!/bin/sh\n",
            b"[ -f %s ] && [ -x %s ] && [ -r %s ] || exit 0\n" % (python_word, python_word, script_word),
            b'exec %s -I -S %s "$@"\n' % (python_word, script_word),
        )
    )


def silence(home: Home) -> None:
    """Put a silent stub in the stub's place, if there is one. Raises WriteFailed."""
    path = home.root / "bin" / STUB
    if os.path.lexists(path):
        put(path, SILENT, 0o755)


def is_silent(home: Home) -> bool:
    """Whether the stub is a silent one."""
    try:
        return (home.root / "bin" / STUB).read_bytes() == SILENT
    except OSError:
        return False


def _files(home: Home, python: Path) -> Iterator[tuple[Path, bytes, int]]:
    folder = home.root / "bin"
    for path in (home.root, python):
        if not path.is_absolute() or {"\n", "\r", "\0"} & set(str(path)):
            raise WriteFailed(
                str(folder / STUB), f"the path {str(path)!r} is not absolute or has a line break in it"
            )
    script = folder / SCRIPT
    command = b"\0".join((bytes(python), *(word.encode() for word in DAEMON_ARGUMENTS)))
    return iter(
        (
            (script, resources.files("coffer").joinpath(SCRIPT).read_bytes(), 0o644),
            (folder / DAEMON_COMMAND, command, 0o600),
            (folder / STUB, stub_text(python, script), 0o755),
        )
    )


def _quoted(path: Path) -> bytes:
    """One word of shell, whatever is in it."""
    return b"'" + bytes(path).replace(b"'", b"'\\''") + b"'"


def _differs(path: Path, content: bytes, mode: int) -> str:
    try:
        if holds(path, content, mode):
            return ""
        if not path.exists():
            return f"{path} is not there."
    except OSError as error:
        return f"{path} can't be read: {(error.strerror or str(error)).lower()}."
    return f"{path} is not what this version of Coffer writes."
