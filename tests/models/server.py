"""A model's server on loopback that plays a script, step by step, and remembers what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = (
    "Classification: EXPLICIT_CORRECTION\n"
    "Reasoning (one sentence): The user forbids pushing.\n"
    "Persistence: session\n"
    "Rule: Do not push to main unless the user asks."
)


@dataclass(frozen=True, slots=True)
class Request:
    """What arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def prompt(self) -> str:
        return str(self.json["messages"][0]["content"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        step = self.server.next_step(Request(self.path, headers, body))
        step(self)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name of the base class)
        pass

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


Step = Callable[[Handler], None]


class ScriptedServer(ThreadingHTTPServer):
    """steps: what it does with each request; the last one is repeated. released: ends those that wait."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, steps: list[Step]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.steps, self.requests = steps, list[Request]()
        self.released = threading.Event()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def next_step(self, request: Request) -> Step:
        with self._lock:
            self.requests.append(request)
            return self.steps[min(len(self.requests), len(self.steps)) - 1]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what some steps are for."""


@contextmanager
def serving(*steps: Step) -> Iterator[ScriptedServer]:
    server = ScriptedServer(list(steps))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a provider's answers look. reply: the body around a text; more: keys of the answer that differ."""

    provider: str
    path: str

    def reply(self, text: str, **more: Any) -> bytes:
        if self.provider == "anthropic":
            whole = {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn", **more}
        else:
            choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop", **more}
            whole = {"choices": [choice]}
        return json.dumps(whole).encode()

    def says(self, text: str, **more: Any) -> Step:
        return answers(200, self.reply(text, **more))


ANTHROPIC = Dialect("anthropic", "/v1/messages")
OPENAI = Dialect("openai", "/v1/chat/completions")


# --- steps


def answers(status: int, body: bytes = b"{}", **headers: str) -> Step:
    return lambda handler: handler.send(status, body, **headers)


def hangs(handler: Handler) -> None:
    handler.server.released.wait()
    handler.close_connection = True


def hangs_up(handler: Handler) -> None:
    handler.close_connection = True


def no_http(handler: Handler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    handler.close_connection = True


def truncated(handler: Handler) -> None:
    handler.send(200, b'{"content": [{"type": "te', content_length="5000")
    handler.close_connection = True


def huge(handler: Handler) -> None:
    handler.send(200, b'{"x": "' + b"a" * (3 << 20) + b'"}')


def trickles(handler: Handler) -> None:
    """A chunk of one byte now and then, for ever: each read is quick."""
    handler.send_response(200)
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    while not handler.server.released.wait(0.05):
        handler.wfile.write(b"1\r\n \r\n")
    handler.close_connection = True


def trickles_headers(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    while not handler.server.released.wait(0.05):
        handler.wfile.write(b"a")
    handler.close_connection = True


def trickles_to_the_end(body: bytes) -> Step:
    """Chunks of a few bytes, all of them."""

    def step(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for start in range(0, len(body), 7):
            piece = body[start : start + 7]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")

    return step


@dataclass(slots=True)
class Slept:
    """Stands for time.sleep."""

    seconds: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
