"""The real Claude Code against the scripted server: a home of its own, `-p` runs, the interactive screen.

    with AnthropicServer(scenario) as server, ClaudeHome(tmp_path, server) as home:
        done = home.run("-p", "hello @@HELLO@@")
        with home.interactive() as screen:
            screen.send("hello @@HELLO@@")
            screen.wait("the answer")

Everything lies below the root folder, the client's task output too. When the home is left, every process that
still has this home in its environment is ended.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import psutil

from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer, Request
from tests.lab.terminal import Terminal, end

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

KEY = "test-key-not-real"
PATH = "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin"
MODEL_ARGS = ("--model", "claude-opus-4-8[1m]")
ALLOWED = ("Bash", "Read", "Edit", "Write", "Agent", "Workflow", "SendMessage", "TaskStop", "TaskOutput")
READY = "(?m)^\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"  # the input line
SLUG_LIMIT = 200  # characters; the client cuts longer names and adds a hash, which the lab does not model
LOOK_AGAIN = 0.1  # seconds


@dataclass(frozen=True, slots=True)
class Finished:
    """One run: exit code, what it printed, and the requests to the model that came meanwhile."""

    rc: int
    stdout: str
    stderr: str
    requests: tuple[Request, ...]

    @property
    def session_id(self) -> str:
        """The session of the run's main conversation (from the request headers)."""
        found = [r.session_id for r in self.requests if r.session_id]
        if not found:
            raise LookupError(f"no request reached the model (rc {self.rc}): {self.stderr[-500:]}")
        return found[-1]


class ClaudeHome:
    """A HOME that shows no dialogs, and a project folder, for one test.

    `server` may be a URL (then `Finished.requests` is empty). `settings` go on top of the lab's user settings
    (which allow the usual tools); `hooks` is the value of "hooks" in it. `model_args` are put in front of
    every command line. Raises FileNotFoundError when the client is not installed.
    """

    def __init__(
        self,
        root: Path,
        server: AnthropicServer | str,
        *,
        binary: Path | None = None,
        model_args: Sequence[str] = MODEL_ARGS,
        settings: Mapping[str, Any] | None = None,
        hooks: Mapping[str, Any] | None = None,
    ) -> None:
        found = binary or clients.find("claude")
        if found is None:
            raise FileNotFoundError("the lab's Claude Code is not installed: python tests/lab/install.py")
        self.binary = found
        self.root = root.resolve()  # the client names the project's folder by the real path
        self.server = server if isinstance(server, AnthropicServer) else None
        self.url = server.url if isinstance(server, AnthropicServer) else server
        self.model_args = tuple(model_args)
        self.home = self.root / "home"
        self.cwd = self.root / "work"
        self.config = self.home / ".claude"
        self.tmp = self.root / "tmp"
        for folder in (self.config, self.cwd, self.tmp):
            folder.mkdir(parents=True, exist_ok=True)
        self._seed(dict(settings or {}), hooks)

    def _seed(self, settings: dict[str, Any], hooks: Mapping[str, Any] | None) -> None:
        project = {
            "hasTrustDialogAccepted": True,
            "hasCompletedProjectOnboarding": True,
            "projectOnboardingSeenCount": 5,
        }
        state = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "lastOnboardingVersion": clients.CLIENTS["claude"].version,
            "numStartups": 5,
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(self.cwd): project},
        }
        (self.home / ".claude.json").write_text(json.dumps(state))
        base: dict[str, Any] = {"permissions": {"allow": list(ALLOWED)}}
        if hooks is not None:
            base["hooks"] = dict(hooks)
        self.set_settings({**base, **settings})

    def set_settings(self, settings: Mapping[str, Any]) -> None:
        """Write the user settings (a live client reloads its hooks from them)."""
        (self.config / "settings.json").write_text(json.dumps(settings, indent=1))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in range(3):  # the last hook of a client that ends may start a daemon meanwhile
            end([process.pid for process in self.leftovers()], patience=1)

    @property
    def project_dir(self) -> Path:
        """Where the client keeps this project's transcripts."""
        slug = re.sub(r"[^A-Za-z0-9]", "-", str(self.cwd))
        if len(slug) > SLUG_LIMIT:
            raise ValueError(f"the path of the project is too long for the lab: {self.cwd}")
        return self.config / "projects" / slug

    def transcript(self, session_id: str) -> Path:
        """Where the transcript of a session is or would be."""
        return self.project_dir / f"{session_id}.jsonl"

    def transcripts(self) -> list[Path]:
        """Return this project's transcripts, the oldest first."""
        return sorted(self.project_dir.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)

    def place(self, source: bytes | Path, session_id: str | None = None) -> str:
        """Put a transcript (with the folder beside it) where --resume finds it; return the session id.

        Without a session id a new one is made up; the records keep the one that they have.
        """
        name = session_id or str(uuid.uuid4())
        target = self.transcript(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, bytes):
            target.write_bytes(source)
        else:
            shutil.copyfile(source, target)
            sidecar = source.with_suffix("")
            if sidecar.is_dir():
                shutil.copytree(sidecar, target.with_suffix(""), dirs_exist_ok=True)
        return name

    def env(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the client's whole environment; nothing of ours leaks into it."""
        return {
            "HOME": str(self.home),
            "PATH": PATH,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "USER": "dev",
            "TMPDIR": str(self.tmp),
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
            **(extra or {}),
        }

    def command(self, *args: str) -> list[str]:
        """Return the command line of a run with these arguments."""
        return [str(self.binary), *self.model_args, *args]

    def run(
        self, *args: str, stdin: str = "", timeout: float = 60, extra: Mapping[str, str] | None = None
    ) -> Finished:
        """Run the client to its end; subprocess.TimeoutExpired after `timeout` seconds, with nothing left."""
        since = len(self.server.requests) if self.server else 0
        with subprocess.Popen(
            self.command(*args),
            cwd=self.cwd,
            env=self.env(extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                stdout, stderr = process.communicate(stdin, timeout)
            except subprocess.TimeoutExpired:
                end([process.pid], patience=1)
                raise
        seen = tuple(self.server.messages_requests(since)) if self.server else ()
        return Finished(process.returncode, stdout, stderr, seen)

    def interactive(
        self, *args: str, extra: Mapping[str, str] | None = None, width: int = 160, height: int = 50
    ) -> Tmux:
        """Return the interactive client on a tmux screen, ready for a prompt once entered."""
        return Tmux(self.command(*args), env=self.env(extra), cwd=self.cwd, width=width, height=height)

    def registry(self) -> list[dict[str, Any]]:
        """Return the client's own session registry: one entry a live process (status, sessionId, …)."""
        found = []
        for path in sorted((self.config / "sessions").glob("*.json")):
            try:
                found.append(json.loads(path.read_bytes()))
            except (FileNotFoundError, ValueError):  # it is rewritten and removed while we look
                continue
        return found

    def wait_status(self, status: str, timeout: float = 60) -> None:
        """Wait until some session of this home is `idle`, `busy`, `waiting` or `shell`; else TimeoutError."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            if any(entry.get("status") == status for entry in self.registry()):
                return
            time.sleep(LOOK_AGAIN)
        raise TimeoutError(f"no session became {status}: {self.registry()}")

    def leftovers(self) -> list[psutil.Process]:
        """Return the living processes that were started with this HOME."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("HOME") == str(self.home):
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
                continue
        return found


class Tmux(Terminal):
    """The interactive client: `send` a prompt, press a `key`, look (`capture`), `wait` for a pattern."""

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self.wait(READY)
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def send(self, text: str, *, enter: bool = True) -> None:
        """Type text; then press Enter unless told not to."""
        if enter:
            self.submit(text)
        else:
            self.type(text)

    def capture(self, history: int = 0) -> str:
        """Return the lines on the screen that are not blank."""
        return self.screen(history)

    def wait(self, pattern: str, timeout: float = 60) -> str:
        """Wait for a pattern and return the screen; TimeoutError with the screen in it otherwise."""
        if not self.wait_for(pattern, timeout):
            raise TimeoutError(f"{pattern!r} did not come in {timeout} s:\n{self.capture(50)}")
        return self.capture()

    def exit(self, timeout: float = 60) -> None:
        """Leave the client by /exit and wait for its end."""
        self.send("/exit")
        if not self.wait_end(timeout):
            raise TimeoutError(f"the client did not end:\n{self.capture()}")

    def kill(self) -> None:
        """Kill the client at once (SIGKILL): nothing is saved or tidied up."""
        psutil.Process(self.pid).kill()
