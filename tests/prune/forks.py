"""Runs coffer's commands in forks of one process: as real as a process each, a tenth of the price, and mortal.

Run as a program it is the server: one JSON line a command in, one out. It has no threads, so a fork is safe.
`Forks` starts it and talks to it. A command can be told to die at a step: at the first time that it runs the
n-th line of the modules that write, without any farewell, as with kill -9.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import coffer.errors

SOURCE = Path(__file__).parents[2]
KILLED = 9
_PATIENCE = 120
"""Seconds that a command may take."""
_BROKEN = 99
"""Of a fork that could not even begin: no code of Coffer's."""
_BEGIN = frozenset({"apply", "undo", "repair", "collect"})
"""Functions of `work` from which on steps are counted: reading and planning write nothing."""
_WATCHED = (
    "work/pruning/prune.py",
    "work/pruning/undo.py",
    "work/pruning/repair.py",
    "work/pruning/exchange.py",
    "work/pruning/copying.py",
    "work/pruning/gc.py",
    "disk/replace.py",
    "disk/sync.py",
)
_ONE_STEP = frozenset(
    {
        "Copying.leave",
        "Copying.put",
        "Copying.take",
        "_behind_newline",
        "_plan_breaches",
        "_receipt",
        "_reopened",
        "_summary",
        "_touched",
        "_write",
        "pieces",
        "receipts",
    }
)
"""Functions that read, or fill the new file before it has a name that counts: as steps, each is one line."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. step: how many steps it ran, where it was told to die at one."""

    out: str
    err: str
    code: int
    steps: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def died(self) -> bool:
        return self.code == KILLED


@functools.cache
def _server(_thread: int) -> subprocess.Popen[str]:
    """One for all machines of a thread: a start costs half a second, and it keeps nothing of a command.

    Commands that threads run are to run at once.
    """
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.prune.forks"],
        cwd=SOURCE,
        env=os.environ
        | {"PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8:strict"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(_end, server)
    return server


def _end(server: subprocess.Popen[str]) -> None:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.close()
    server.wait(30)
    server.stdout.close()


def forked(
    arguments: Sequence[str], environment: Mapping[str, str], folder: str = "/", **limits: int
) -> Ended:
    """Run `coffer` in a fork, with no input. folder: where it runs. limits: see `Forks.run`.

    alone=True: with no process of the tests above it.
    """
    asked = {"arguments": arguments, "environment": environment, "folder": folder, **limits}
    server = _server(threading.get_ident())
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(asked) + "\n")
    server.stdin.flush()
    return Ended(**json.loads(server.stdout.readline()))


class Forks:
    """A machine whose commands run in forks. home: what HOME is for them."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.home = home
        self.environment = {
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PATH": os.environ["PATH"],
            "TMPDIR": str(home.parent),
        } | environment

    def run(
        self,
        *arguments: str | Path,
        die_at: int = 0,
        fail_at: int = 0,
        largest_file: int = 0,
        user: int = 0,
        **environment: str,
    ) -> Ended:
        """Run `coffer` with these arguments; fails where it shows a traceback.

        fail_at: the step at which its memory ends. largest_file: bytes above which the system refuses to write.
        user: whose process it is.
        """
        done = forked(
            [str(argument) for argument in arguments],
            self.environment | environment,
            die_at=die_at,
            fail_at=fail_at,
            largest_file=largest_file,
            user=user,
        )
        assert "Traceback" not in done.err, done.err
        return done

    def ok(self, *arguments: str | Path, **more: Any) -> Ended:
        """Run a command that must succeed."""
        done = self.run(*arguments, **more)
        assert done.code == 0, (done.code, done.err)
        return done

    def without_rules(self) -> None:
        """From now on nobody's environment: a pruned transcript gets no rules at its end, not even Coffer's own."""
        own = {"CLAUDE_CONFIG_DIR": f"{self.home}/.claude", "COFFER_HOME": f"{self.home}/.coffer"}
        self.environment |= {"HOME": "", **own}


def forks(folder: Path, **environment: str) -> Forks:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return Forks(home, **environment)


# --- the server -----------------------------------------------------------------------------------------


class _Steps:
    """Counts the lines of the writing modules, each once, and ends the process, or its memory, at the chosen one."""

    def __init__(self, die_at: int, fail_at: int) -> None:
        self.seen: set[tuple[CodeType, int]] = set()
        self.begun = False
        self._die_at, self._fail_at = die_at, fail_at
        root = os.path.dirname(coffer.errors.__file__)  # noqa: PTH120  (names of code objects are strings)
        self._watched = tuple(f"{root}/{name}" for name in _WATCHED)
        self._store = f"{root}/store/"

    def called(self, frame: FrameType, _event: str, _argument: object) -> Any:
        name = frame.f_code.co_filename
        if not (name in self._watched or name.startswith(self._store)):
            return None
        self.begun = self.begun or frame.f_code.co_name in _BEGIN
        skipped = name in self._watched and frame.f_code.co_qualname in _ONE_STEP
        return self.line if self.begun and not skipped else None

    def line(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            self.seen.add((frame.f_code, frame.f_lineno))
            if len(self.seen) == self._die_at:
                os._exit(KILLED)
            if len(self.seen) == self._fail_at:
                self._fail_at = 0
                raise MemoryError
        return self.line


def _child(asked: Mapping[str, Any], out: int, err: int, report: int) -> None:
    signal.alarm(_PATIENCE)  # a command that hangs must not hold its worker for ever
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor, target in ((null, 0), (out, 1), (err, 2)):
        os.dup2(descriptor, target)
    os.close(null)
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    sys.argv = ["coffer", *asked["arguments"]]
    os.chdir(asked["folder"])
    from coffer.cli.main import main  # noqa: PLC0415  (the server itself has nothing to do with it)

    if user := asked.get("user"):
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if largest := asked.get("largest_file"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    die_at, fail_at = asked.get("die_at", 0), asked.get("fail_at", 0)
    steps = _Steps(die_at, fail_at)
    code = 0
    try:
        if die_at or fail_at:
            sys.settrace(steps.called)
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  (what python itself would do with it)
        sys.settrace(None)
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.settrace(None)
    os.write(report, str(len(steps.seen)).encode())
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.flush()
    os._exit(code)


def _forked(asked: Mapping[str, Any], out: int, err: int, report: int) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            _child(asked, out, err, report)
        finally:
            os._exit(_BROKEN)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _orphaned(asked: Mapping[str, Any], out: int, err: int, report: int) -> int:
    """The same where what is above the command has no parent but the system's first process."""
    told, tells = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            above = os.getpid()
            if os.fork() == 0:
                os.setsid()
                while os.getppid() == above:
                    time.sleep(0.001)
                os.write(tells, str(_forked(asked, out, err, report)).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    os.close(tells)
    code = os.read(told, 16)
    os.close(told)
    return int(code or _BROKEN)


def _serve(line: str) -> dict[str, Any]:
    asked = json.loads(line)
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as report,
    ):
        files = (out.fileno(), err.fileno(), report.fileno())
        code = _orphaned(asked, *files) if asked.get("alone") else _forked(asked, *files)
        said = []
        for file in (out, err, report):
            file.seek(0)
            said.append(file.read().decode("utf-8", "backslashreplace"))
    return {
        "out": said[0],
        "err": said[1],
        "code": code,
        "steps": int(said[2] or 0),
    }


def _main() -> None:
    from importlib import import_module  # noqa: PLC0415

    for name in _INHERITED:
        import_module(name)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_serve(line)) + "\n")
        sys.stdout.flush()


_INHERITED = (
    *(
        f"coffer.cli.{name}"
        for name in (
            *("main", "prune", "undo", "check", "gc", "receipts", "restore", "screen"),
            *("show", "view", "sessions", "up", "digest"),
        )
    ),
    "coffer.cli.prune_picture",
    "coffer.daemon.life",
    "coffer.work.agent_settings.agent_client",
    "coffer.work.agent_settings.codex_trust",
    "coffer.work.agent_settings.mcp_files",
    "coffer.work.setup.setup",
    "filelock",
    "rich.progress",
    "rich.table",
)
"""Imported once by the server, so that its forks need not."""


if __name__ == "__main__":
    _main()
