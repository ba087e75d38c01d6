"""A real daemon in a home of its own, hooks as real processes, and sessions that a person corrects."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from coffer.core.rule import Rule
from coffer.daemon import client, life
from coffer.daemon.errors import DaemonSilent
from coffer.daemon.listen import Link
from coffer.store.db import database
from coffer.store.deliveries import STATES, Delivery, in_states
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import DAEMON_ARGUMENTS, write_hook
from tests.hello_file import put_hello
from tests.transcripts import Claude, call, text
from tests.work.learning import Desktop

PYTHON = Path(sys.executable)
LONG = 60.0
SAID = (
    "please don't add co-author lines to commits",
    "no co-author lines in commit messages",
    "stop adding co-author lines to the commits",
)
"""The same correction in three manners of speaking: the third makes a rule."""
RULE = "co-author"
"""In the rule that they make."""


def eventually(true: Callable[[], Any], timeout: float = LONG, step: float = 0.05) -> Any:
    """What `true()` says once it says something; fails where it never does."""
    until = time.monotonic() + timeout
    while not (found := true()):
        assert time.monotonic() < until, "it did not happen"
        time.sleep(step)
    return found


@contextmanager
def begun(words: Sequence[str | Path], **more: Any) -> Iterator[subprocess.Popen[Any]]:
    """A process that is killed at the end: `with Popen` alone waits for ever where a test fails inside."""
    with subprocess.Popen(words, **more) as process:
        try:
            yield process
        finally:
            process.kill()


def gone(pid: int) -> bool:
    """Whether a process has ended, also where nobody reaped it."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


@dataclass
class Rig:
    """A machine. house: the person's home folder."""

    house: Path
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Home:
        return Home(self.house / ".coffer")

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.house), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **self.extra}

    @property
    def desktop(self) -> Desktop:
        return Desktop(self.house, now=datetime.now(UTC))

    def project(self, name: str = "tide") -> Path:
        return self.desktop.project(name)

    def install(self, *, patient: bool = True) -> None:
        """The hook's files; patient: with limits that no busy machine reaches."""
        write_hook(self.home, PYTHON)
        put_hello(self.home)
        script = self.home.root / "bin" / "hook.py"
        said = script.read_text()
        for name in ("DAEMON", "WHOLE", "FILES_FIRST") if patient else ():
            said, count = re.subn(rf"(?m)^{name} = .*$", f"{name} = 40.0", said)
            assert count == 1
        script.write_text(said)

    def settings(self, said: str) -> None:
        self.home.make(self.home.root)
        (self.home.root / "config.toml").write_text(said)

    # --- the daemon

    @contextmanager
    def daemon(self) -> Iterator[psutil.Process]:
        """A daemon that is ended at the end, whichever one runs then."""
        try:
            yield self.begin()
        finally:
            self.end()

    def begin(self, limits: str = "") -> psutil.Process:
        """Start a daemon in the foreground of nobody, and wait until it answers."""
        started = self.spawn(limits)

        def there() -> bool:
            nonlocal started
            if self.process() is not None:
                return True
            if (
                started.poll() is not None
            ):  # a fork of a daemon that was just killed held its lock a moment longer
                started = self.spawn(limits)
            return False

        eventually(there)
        process = self.process()
        assert process is not None
        return process

    def spawn(self, limits: str = "") -> subprocess.Popen[bytes]:
        """limits: Python that sets limits of `gate` and `server` before the daemon begins; "" keeps its own."""
        null = subprocess.DEVNULL
        program = f"from coffer.daemon import gate, run, server\n{limits}\nrun.main()"
        arguments = ("-P", "-c", program, DAEMON_ARGUMENTS[-1]) if limits else DAEMON_ARGUMENTS
        process = subprocess.Popen(
            [str(PYTHON), *arguments],
            env=self.environment | {"COFFER_HOME": str(self.home.root)},
            cwd="/",
            stdin=null,
            stdout=null,
            stderr=null,
            start_new_session=True,
        )
        _STARTED.append((self.home.root, process))
        return process

    def process(self) -> psutil.Process | None:
        known = life.running(self.home)
        try:
            said = client.ask(self.home, "/api/v1/health") if known is not None else None
        except DaemonSilent:
            return None  # it begins, or ends
        return psutil.Process(known.pid) if known is not None and said is not None else None

    def end(self) -> None:
        """End whatever daemon of this home runs, and reap those that we started."""
        for daemon in self.daemons():
            for child in daemon.children(recursive=True):
                child.kill()
            daemon.kill()
        for started in _STARTED[:]:
            root, process = started
            if root != self.home.root:
                continue  # another rig's, which may live on
            if process.poll() is None and psutil.pid_exists(process.pid):
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    continue
            _STARTED.remove(started)

    def daemons(self) -> list[psutil.Process]:
        """Every process that is a daemon of this home."""
        found = []
        for process in psutil.process_iter():
            try:
                mine = process.environ().get("COFFER_HOME") == str(self.home.root)
                line = process.cmdline()
            except psutil.Error:
                continue
            if mine and "coffer.daemon.run" in line and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        return found

    def job(self) -> psutil.Process | None:
        """The worker that works now."""
        for process in self.daemons():
            for child in process.children():
                with suppress(psutil.Error):
                    if "coffer.daemon.job" in child.cmdline():
                        return child
        return None

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        process = self.process()
        assert process is not None
        process.kill()
        eventually(lambda: not self.daemons())
        for started in _STARTED[:]:
            if started[1].poll() is not None:
                _STARTED.remove(started)

    def ask(self, path: str) -> Any:
        return client.ask(self.home, path, timeout=LONG)

    def status(self) -> Any:
        return self.ask("/api/v1/status")

    def log(self) -> str:
        return life.log_path(self.home).read_text()

    # --- hooks and sessions

    def hook(self, agent: str, event: str, folder: Path, **said: Any) -> str:
        """Run the installed hook; the text that the model gets."""
        done = subprocess.run(
            [str(PYTHON), "-I", "-S", str(self.home.root / "bin" / "hook.py"), agent, event],
            input=json.dumps({"hook_event_name": event, "cwd": str(folder), **said}).encode(),
            cwd=folder,
            env=self.environment,
            capture_output=True,
            timeout=LONG,
            check=True,
        )
        assert done.stderr == b""
        if not done.stdout:
            return ""
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])

    def session(self, name: str, folder: Path) -> Session:
        return Session(self, name, folder)

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        """A request on the socket."""
        link = Link(self.home, LONG)
        try:
            link.request("POST", path, body, headers or {})
            answer = link.getresponse()
            return answer.status, answer.read()
        finally:
            link.close()

    def learned(self, project: Path) -> list[Rule]:
        """The rules of a project and of the person."""
        return [*self.desktop.rules(project), *self.desktop.rules(None)]

    def rules(self, project: Path) -> list[str]:
        """The state and the text of each."""
        return [f"{rule.state}: {rule.text}" for rule in self.learned(project)]

    def deliveries(self) -> list[Delivery]:
        if not self.home.database.exists():
            return []
        with database(self.home, write=False) as connection:
            return in_states(connection, STATES)


_STARTED: list[tuple[Path, subprocess.Popen[bytes]]] = []
"""With the root of the home that each is of."""


@dataclass
class Session:
    """A session of Claude Code that grows as the client writes it."""

    rig: Rig
    name: str
    folder: Path
    made: Claude = field(default_factory=Claude)
    count: int = 0

    @property
    def path(self) -> Path:
        return self.rig.desktop.places.claude / "projects" / "-x" / f"{self.name}.jsonl"

    def hook(self, event: str, **said: Any) -> str:
        return self.rig.hook(
            "claude", event, self.folder, session_id=self.name, transcript_path=str(self.path), **said
        )

    def start(self, source: str = "startup") -> str:
        return self.hook("SessionStart", source=source)

    def says(self, said: str, *, answered: bool = True) -> None:
        """The person says something; the client writes it, and the answer."""
        self._now()
        self.count += 1
        self.made.user(
            said,
            f"{self.name}-u{self.count}",
            cwd=str(self.folder),
            origin={"kind": "human"},
            promptSource="typed",
            entrypoint="cli",
            userType="external",
        )
        if answered:
            self._now()
            name = f"{self.name}-a{self.count}"
            self.made.answer(text("I committed it with a co-author line."), call(name), name=name)
            self.made.result(name, "ok", f"{self.name}-r{self.count}")
            self._now()
            self.made.answer(text("I committed it with a co-author line."), name=f"{self.name}-e{self.count}")
        self.write()

    def holds(self, context: str, event: str = "SessionStart") -> None:
        """The client writes what a hook gave the model."""
        self._now()
        attachment = {
            "type": "hook_additional_context",
            "content": [context],
            "hookName": event,
            "toolUseID": "t",
            "hookEvent": event,
        }
        self.made.add("attachment", attachment=attachment, cwd=str(self.folder))
        self.write()

    def _now(self) -> None:
        """Its next record is of this moment."""
        begin = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        self.made.clock = (datetime.now(UTC) - begin).total_seconds() - 60

    def write(self) -> None:
        """Append what is new."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        written = self.path.stat().st_size if self.path.exists() else 0
        with self.path.open("ab") as file:
            file.write(self.made.data[written:])
            os.fsync(file.fileno())
