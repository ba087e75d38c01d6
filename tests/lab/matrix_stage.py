"""A machine with both clients on which `coffer up` was said yes to, and the daemon in the state that a cell wants.

One a worker: sessions of many cells live on it one after the other, each told by its own times.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coffer.disk.places import Places
from coffer.store.deliveries import Delivery
from coffer.work.setup.setup import Ground, first_bundle
from tests.bundle.desk import times
from tests.cli.run import Machine
from tests.daemon.rig import Rig, eventually
from tests.hook.rig import Rig as HookRig
from tests.hook.rig import never
from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.codex import CodexHome
from tests.lab.matrix_cells import LATER, NONE, OUTCOMES, SCRIPTS, Result, State
from tests.lab.openai_server import OpenAIServer

HARD = (
    "Never commit the file tides.env.",
    "Never push to the branch harbour.",
    "Never delete the folder charts.",
)
SOFT = ("Do not use tabs in Python files; use four spaces.", "Do not write comments in French.")
ADDED = "Never rename the table moorings."
"""A hard rule that comes in the middle of a session."""
PATIENT = 20.0
"""Seconds for a daemon that is there: what is asked is what it answers, not how busy this machine is."""
HELD_UP = 10.0
"""Seconds that no hook may take, on however busy a machine; the figures stand in docs/delivery.md."""
_END = "    try:\n        main()\n    finally:\n        leave(0)"
_NOTED = """\
    began, own = time.time_ns(), posix.getpid()
    try:
        main()
    finally:
        if posix.getpid() == own:
            line = f"{{began}} {{time.time_ns()}} {{sys.argv[1]}} {{sys.argv[2]}}\\n".encode()
            posix.write(posix.open({times!r}, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT, 0o600), line)
        leave(0)"""


@dataclass(slots=True)
class Cell:
    """An event under way. label: of the delivery it should bring about. child: whether a subagent gets it."""

    agent: str
    event: str
    label: str
    child: bool
    began: float
    ended: float = 0.0
    later: bool = False


@dataclass
class Stage:
    """The machine. It is one person's, with one home for both clients."""

    claude: ClaudeHome
    anthropic: AnthropicServer
    codex: CodexHome
    openai: OpenAIServer
    rig: Rig
    machine: Machine
    state: State = "up"
    cells: list[Cell] = field(default_factory=list)
    _hung: ExitStack = field(default_factory=ExitStack)
    _command: bytes = b""
    _script: str = ""

    # --- set-up

    def up(self, *words: str) -> None:
        """Through the product: rules that the person orders, and `coffer up --yes`."""
        for folder in (self.claude.cwd, self.codex.project):
            (folder / ".git").mkdir()
            (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.rules(*HARD, *SOFT)
        said = self.machine.alone("up", "--yes", *words)
        assert said.code == 0, said.out[-2000:] + said.err
        self.rig.end()
        self._command = (self.bin / "daemon-command").read_bytes()
        script = (self.bin / "hook.py").read_text()
        assert _END in script
        self._script = script.replace(_END, _NOTED.format(times=str(self.times)))

    @property
    def bin(self) -> Path:
        return self.rig.home.root / "bin"

    @property
    def times(self) -> Path:
        return self.rig.home.root / "hook-times"

    def rules(self, *texts: str) -> None:
        """The person's digest holds these rules, by their own word."""
        desk = self.rig.desktop.desk(None)
        for rule in desk.target("user").rules.all:
            if rule.state == "active" and rule.text not in texts:
                desk.remove(rule.id)
        known = {rule.text for rule in self.rig.desktop.rules(None)}
        for text in texts:
            if text not in known:
                self.rig.desktop.desk(None).add(text, hard=text in (*HARD, ADDED))

    # --- the daemon

    def bring(self, state: State) -> None:
        """Begin a story: nothing of the one before, and the daemon as it is to be."""
        self.end()
        self.state, self.cells = state, []
        self.rules(*HARD, *SOFT)
        environment = self.rig.environment
        first_bundle(Ground(environment, Places.of(environment), self.rig.home), self.claude.cwd)
        first_bundle(Ground(environment, Places.of(environment), self.rig.home), self.codex.project)
        startable = state in ("up", "cold")
        (self.bin / "daemon-command").write_bytes(self._command if startable else b"/bin/true")
        self.patience(state == "up")
        if state == "up":
            self.rig.begin()
        if state == "hanging":
            hook = HookRig(self.rig.home, self.claude.cwd)
            (self.rig.home.root / "daemon.sock").unlink(missing_ok=True)
            self._hung.enter_context(hook.daemon(never))

    def patience(self, patient: bool) -> None:  # noqa: FBT001  (the one thing it says)
        """Give the installed hook limits that fit: its own where no daemon is there."""
        text = self._script
        for name in ("DAEMON", "WHOLE", "FILES_FIRST") if patient else ():
            text = re.sub(rf"(?m)^{name} = .*$", f"{name} = {PATIENT}", text)
        (self.bin / "hook.py").write_text(text)

    def recover(self) -> None:
        """From now on a daemon answers."""
        self._hung.close()
        (self.bin / "daemon-command").write_bytes(self._command)
        self.patience(True)
        if self.state == "cold":  # a hook of the session has started it
            until = time.monotonic() + 60
            while self.rig.process() is None and time.monotonic() < until:
                time.sleep(0.1)
        if self.rig.process() is None:
            self.rig.begin()

    def end(self) -> None:
        """No daemon, and nothing in its place."""
        self._hung.close()
        self.rig.end()

    # --- cells

    @contextmanager
    def cell(self, agent: str, event: str, label: str, *, child: bool = False) -> Iterator[Cell]:
        """An event, from before it happens until the model has seen what came of it."""
        if self.state == "cold":
            self.rig.end()
        cell = Cell(agent, event, label, child, time.time())
        yield cell
        cell.ended = time.time()
        self.cells.append(cell)

    def settle(self) -> list[Result]:
        """What became of the cells: a daemon takes in what was said without it, and judges."""
        self.recover()
        eventually(lambda: not list((self.rig.home.root / "spool").glob("[0-9]*")))
        begun = min(cell.began for cell in self.cells)
        eventually(lambda: all(one.state != "sent" for one in self.rig.deliveries() if one.moment >= begun))
        found = [self._result(cell) for cell in self.cells]
        expected = [OUTCOMES[cell.agent, cell.event][self.state] for cell in self.cells]
        wrong = [(one, said) for one, said in zip(found, expected, strict=True) if one.outcome != said]
        assert not wrong, wrong
        assert all(one.milliseconds < HELD_UP * 1000 for one in found)
        return found

    def _result(self, cell: Cell) -> Result:
        """One receipt a cell; a further one of the same event would be a second delivery."""
        mine = [one for one in self.rig.deliveries() if self._is_of(one, cell)]
        states = ", ".join(one.state for one in mine) or NONE
        event = cell.label.partition(":")[0]
        spent = [
            took
            for began, took, agent, name in self._times()
            if (agent, name) == (cell.agent, event) and cell.began <= began <= cell.ended
        ]
        outcome = f"{LATER}{states}" if cell.later else states
        return Result(cell.agent, cell.event, self.state, outcome, round(max(spent, default=0.0), 1))

    @staticmethod
    def _is_of(one: Delivery, cell: Cell) -> bool:
        within = cell.began <= one.moment <= cell.ended
        return within and (one.agent, one.event, bool(one.child)) == (cell.agent, cell.label, cell.child)

    def _times(self) -> Iterator[tuple[float, float, str, str]]:
        """(began, milliseconds, agent, event) of each hook that ended by itself."""
        for line in self.times.read_text().splitlines():
            began, ended, agent, event = line.split()
            yield int(began) / 1e9, (int(ended) - int(began)) / 1e6, agent, event


def once(requests: Iterable[Any], *texts: str) -> None:
    """Each request holds each hard rule exactly once, and these texts."""
    found = list(requests)
    assert found, "no request reached the model"
    for shown in found:
        for text in (*HARD, *texts):
            assert times(shown, text) == 1, f"{times(shown, text)} × {text!r} in {json.dumps(shown)[-3000:]}"


@contextmanager
def staged(root: Path, *words: str) -> Iterator[Stage]:
    """The machine, set up by `coffer up --yes` with these words; everything on it is ended at the end."""
    binary = clients.find("claude")
    if binary is None or clients.find("codex") is None:
        absent = "a real client is not installed (python -m tests.lab.install)"
        if os.environ.get("CI") == "true":
            pytest.fail(absent)
        pytest.skip(absent)
    with (
        AnthropicServer() as anthropic,
        ClaudeHome(root / "claude", anthropic, binary=binary) as claude,
        OpenAIServer({"scripts": SCRIPTS, "default": {"text": "Noted."}}) as openai,
        CodexHome(root / "codex", openai, config_extra="model_auto_compact_token_limit = 50000") as codex,
    ):
        codex.env["HOME"] = str(claude.home)  # one person: a daemon that a hook starts has this home
        environment = {name: said for name, said in claude.env().items() if name not in ("HOME", "TMPDIR")}
        environment |= {"CODEX_HOME": str(codex.codex_home), "LAB_KEY": "none"}
        environment["PATH"] = f"{binary.parent}:{codex.binary.parent}:/usr/bin:/bin"
        rig = Rig(claude.home, {"CODEX_HOME": str(codex.codex_home)})
        stage = Stage(claude, anthropic, codex, openai, rig, Machine(claude.home, claude.cwd, environment))
        stage.up(*words)
        try:
            yield stage
        finally:
            stage.end()


def chosen() -> bool:
    """Whether what takes minutes is asked for too."""
    return os.environ.get("COFFER_MATRIX") == "all"
