"""The real Codex against the scripted server: a home of its own, runs of `codex exec`, the TUI, its files.

    with OpenAIServer(...) as server, CodexHome(tmp_path, server) as home:
        done = home.exec(prompt="hello")
        done = home.resume(home.thread(), prompt="and again")

CODEX_HOME lies under `<project>/.lab/homes` (Codex 0.171.0 does not want it below the system's temporary
folder) and is removed at the end, with every process that still names it in its environment.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from tests.lab import clients
from tests.lab.openai_checks import Json
from tests.lab.openai_server import OpenAIServer, Request
from tests.lab.terminal import Terminal, end

PROJECT = Path(__file__).resolve().parents[2]
BYPASS = ("--dangerously-bypass-approvals-and-sandbox",)
CONFIG = """\
model = "lab-model"
model_provider = "lab"
model_providers.lab.name = "lab"
model_providers.lab.base_url = "{url}/v1"
model_providers.lab.wire_api = "responses"
model_providers.lab.env_key = "LAB_KEY"
model_providers.lab.requires_openai_auth = false
model_providers.lab.request_max_retries = 0
model_providers.lab.stream_max_retries = 0
check_for_update_on_startup = false
analytics.enabled = false
features.plugins = false
{extra}
[projects."{project}"]
trust_level = "trusted"
"""


@dataclass(frozen=True, slots=True)
class Finished:
    """One run of `codex exec`: exit code, what it printed, the requests that the model saw meanwhile."""

    rc: int
    stdout: str
    stderr: str
    requests: tuple[Request, ...]


class CodexHome:
    """A HOME, a CODEX_HOME and a project folder for one test.

    `server` may be a URL (then `Finished.requests` is empty). `hooks` is the value of "hooks" in hooks.json;
    with it, runs skip the trust gate until `trust_hooks()` was called or `bypass_trust` is set to False.
    `config_extra` is TOML that stands after the top-level keys. Raises FileNotFoundError when the client is
    not installed.
    """

    def __init__(
        self,
        root: Path,
        server: OpenAIServer | str,
        *,
        hooks: Mapping[str, Any] | None = None,
        config_extra: str = "",
    ) -> None:
        binary = clients.find("codex")
        if binary is None:
            raise FileNotFoundError("the lab's Codex is not installed: python -m tests.lab.install")
        self.binary = binary
        self.server = server if isinstance(server, OpenAIServer) else None
        self.url = server.url if isinstance(server, OpenAIServer) else server
        self.home, self.project = root / "home", root / "project"
        self.codex_home = PROJECT / ".lab" / "homes" / uuid.uuid4().hex[:12]
        self.bypass_trust = hooks is not None
        for folder in (self.home, self.project, root / "tmp", self.codex_home):
            folder.mkdir(parents=True, exist_ok=True)
        config = CONFIG.format(url=self.url, extra=config_extra, project=self.project)
        (self.codex_home / "config.toml").write_text(config)
        if hooks is not None:
            (self.codex_home / "hooks.json").write_text(json.dumps({"hooks": hooks}))
        self.env = {
            "HOME": str(self.home),
            "CODEX_HOME": str(self.codex_home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TMPDIR": str(root / "tmp"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "LAB_KEY": "sk-invented-000",
            "HTTPS_PROXY": "http://127.0.0.1:9",  # nobody listens: nothing but loopback is reached
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what still runs in this home and remove CODEX_HOME."""
        end([p.pid for p in self.processes()])
        shutil.rmtree(self.codex_home)

    def processes(self) -> list[psutil.Process]:
        """Every process whose environment names this CODEX_HOME: clients, their daemon, hooks, shells."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("CODEX_HOME") == str(self.codex_home):
                    found.append(process)
            except psutil.Error:  # ended meanwhile, or somebody else's
                continue
        return found

    def exec(self, *args: str, prompt: str, timeout: float = 60) -> Finished:
        """Run `codex exec [args] PROMPT` to its end; raises TimeoutError, with the run ended."""
        with self.running(*args, prompt=prompt) as run:
            return run.wait(timeout)

    def resume(self, thread: str, *args: str, prompt: str, timeout: float = 60) -> Finished:
        """Run `codex exec [args] resume THREAD PROMPT`."""
        return self.exec(*args, "resume", thread, prompt=prompt, timeout=timeout)

    def fork(self, thread: str, *args: str, prompt: str, timeout: float = 60) -> Finished:
        """Run `codex exec [args] fork THREAD PROMPT`."""
        return self.exec(*args, "fork", thread, prompt=prompt, timeout=timeout)

    @contextmanager
    def running(self, *args: str, prompt: str) -> Iterator["Running"]:
        """Start `codex exec` and end it, with its children, when the block ends."""
        flags = (*BYPASS, "--skip-git-repo-check", *self.trust_flags())
        words = [str(self.binary), "exec", *flags, *args, prompt]
        with self.popen(words) as process:
            run = Running(process, self)
            try:
                yield run
            finally:
                if process.poll() is None:
                    end([process.pid])

    def popen(self, words: list[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            words,
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )

    def run(self, *args: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run any other `codex` command (features, archive, app-server daemon, …)."""
        return subprocess.run(
            [str(self.binary), *args],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def tui(self, *args: str, daemon: bool = False) -> Terminal:
        """Start the interactive client on a terminal (a context manager), without its daemon unless asked."""
        alone = () if daemon else ("--no-daemon",)
        words = [str(self.binary), *alone, *BYPASS, *self.trust_flags(), *args]
        return Terminal(words, env=self.env, cwd=self.project)

    def trust_flags(self) -> tuple[str, ...]:
        return ("--dangerously-bypass-hook-trust",) if self.bypass_trust else ()

    def trust_hooks(self) -> list[Json]:
        """Trust every hook of this home as the TUI's button does (facts: hooks/list, config/batchWrite)."""
        with AppServer(self) as server:
            asked = {"cwds": [str(self.project)]}
            hooks = server.call("hooks/list", asked)["data"][0]["hooks"]
            state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
            edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
            server.call("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})
            self.bypass_trust = False
            found: list[Json] = server.call("hooks/list", asked)["data"][0]["hooks"]
            return found

    def rollouts(self) -> list[Path]:
        """Every rollout of this home, oldest first, live and archived, plain and compressed."""
        folders = (self.codex_home / "sessions", self.codex_home / "archived_sessions")
        found = [path for folder in folders for path in folder.rglob("rollout-*.jsonl*")]
        return sorted(found, key=lambda path: path.name)  # local second, then an id that holds the time

    def plant(self, raw: bytes, thread: str | None = None) -> str:
        """Put a rollout where the client looks for it and return its thread id (from line 0 unless given)."""
        if thread is None:
            thread = str(json.loads(raw.splitlines()[0])["payload"]["id"])
        folder = self.codex_home / "sessions" / "2026" / "01" / "02"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"rollout-2026-01-02T03-04-05-{thread}.jsonl").write_bytes(raw)
        return thread

    def thread(self, place: int = -1) -> str:
        """Return the id of the newest thread (or of the one at `place` in `rollouts()`)."""
        return thread_of(self.rollouts()[place])

    def lock(self, thread: str) -> Path:
        """Return the file that the process which has this thread open holds with flock()."""
        return self.codex_home / "thread-writer-locks" / f"{thread}.lock"

    def locked(self, thread: str) -> bool:
        """Tell whether a living process has the thread open for writing."""
        try:
            file = os.open(self.lock(thread), os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False


class Running:
    """A `codex exec` under way."""

    def __init__(self, process: subprocess.Popen[str], home: CodexHome) -> None:
        self.process = process
        self._server = home.server
        self._seen = len(self._server.requests) if self._server else 0

    def interrupt(self) -> None:
        """Send what Ctrl-C sends."""
        self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Kill it: no hook runs, no record is finished."""
        self.process.kill()

    def wait(self, timeout: float = 60) -> Finished:
        """Wait for its end; raises TimeoutError."""
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            raise TimeoutError(f"codex exec did not end within {timeout} s") from late
        requests = tuple(self._server.requests[self._seen :]) if self._server else ()
        return Finished(self.process.returncode, out, err, requests)


class AppServer:
    """`codex app-server` on a pipe: `call()` returns the result or raises RuntimeError with the error."""

    def __init__(self, home: CodexHome) -> None:
        self._home = home
        self._next = 0

    def __enter__(self) -> Self:
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(
            [str(self._home.binary), "app-server"],
            cwd=self._home.project,
            env=self._home.env,
            stdin=pipe,
            stdout=pipe,
            stderr=null,
            text=True,
        )
        self.call("initialize", {"clientInfo": {"name": "lab", "version": "0"}})
        self._send({"method": "initialized"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end([self._process.pid])
        self._process.communicate()

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def call(self, method: str, params: Json) -> Json:
        assert self._process.stdout is not None
        self._next += 1
        self._send({"id": self._next, "method": method, "params": params})
        for line in self._process.stdout:
            told = json.loads(line)
            if told.get("id") == self._next:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']}")
                result: Json = told["result"]
                return result
        raise RuntimeError(f"{method}: the app-server ended")


def thread_of(rollout: Path) -> str:
    """Return the thread id in a rollout's name (`rollout-<time>-<id>.jsonl[.zst]`)."""
    return rollout.name.split(".")[0][-36:]


def records(rollout: Path) -> list[Json]:
    """Parse a plain rollout, one object a line."""
    return [json.loads(line) for line in rollout.read_bytes().splitlines() if line.strip()]


def wait_until(true: Callable[[], bool], timeout: float = 60, step: float = 0.02) -> bool:
    """Call `true()` until it is; False when `timeout` seconds pass first."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(step)
    return False
