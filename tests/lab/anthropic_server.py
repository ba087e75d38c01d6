"""A scripted Messages API on loopback, as strict as the real one.

    with AnthropicServer(scenario={"scripts": {...}}) as server:
        ...  # run a client with ANTHROPIC_BASE_URL=server.url
    assert not server.breaches

Every request is checked with the rules of `anthropic_rules` before it is answered (see `anthropic_script` for
how a reply is chosen). What the model saw is `server.requests`. By hand, from the project's root:

    python -m tests.lab.anthropic_server --port 8111 --scenario scenario.json --log requests.jsonl
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.lab.anthropic_request import Memory
from tests.lab.anthropic_rules import Breach, first_breach, read_call
from tests.lab.anthropic_script import Model, Scenario, Turn, count_tokens, new_id
from tests.lab.anthropic_sse import events

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from types import TracebackType

SECRET_HEADERS = {"x-api-key", "authorization", "cookie"}
GONE = (BrokenPipeError, ConnectionResetError, ConnectionAbortedError)


@dataclass(slots=True)
class Request:
    """One request as it arrived, and how it was answered. `n` counts from 0; `at` is Unix time in seconds."""

    n: int
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case; values of key headers are replaced
    body: dict[str, Any] | None
    how: str = ""
    status: int = 200
    rule: str | None = None  # the broken rule, if it was refused for one
    reply: dict[str, Any] | None = None
    disconnected: bool = False
    at: float = field(default_factory=time.time)

    @property
    def route(self) -> str:
        """The path without the query."""
        return self.path.partition("?")[0]

    @property
    def session_id(self) -> str | None:
        """The client's session; a subagent sends its parent's."""
        return self.headers.get("x-claude-code-session-id")

    @property
    def agent_id(self) -> str | None:
        """The subagent or team mate that asks; None for the main conversation."""
        return self.headers.get("x-claude-code-agent-id")

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation that the model was shown."""
        return list((self.body or {}).get("messages") or ())


class AnthropicServer:
    """The server; a context manager. All attributes may be read while it runs.

    strict=False answers a request in spite of a breach (which is still recorded); `lenient` names rules that
    are not checked at all; `token_limit` turns the rule "prompt is too long" on; `preserved_thinking` makes
    it behave like a model that binds thinking to the conversation before it.
    """

    def __init__(
        self,
        scenario: Scenario | Mapping[str, Any] | None = None,
        *,
        strict: bool = True,
        lenient: Collection[str] = (),
        token_limit: int | None = None,
        preserved_thinking: bool = False,
        port: int = 0,
        log: Path | None = None,
    ) -> None:
        parsed = scenario if isinstance(scenario, Scenario) else Scenario.parse(scenario or {})
        self.model = Model(parsed)
        self.strict = strict
        self.lenient = frozenset(lenient)
        self.token_limit = token_limit
        self.preserved_thinking = preserved_thinking
        self.requests: list[Request] = []
        self.breaches: list[Breach] = []
        self.memory = Memory()
        self.stopping = threading.Event()
        self._log = log
        self._changed = threading.Condition()
        self._http = _Http(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens; the value for ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def play(self, scenario: Scenario | Mapping[str, Any]) -> None:
        """Change the scenario while running; turns start over."""
        self.model = Model(scenario if isinstance(scenario, Scenario) else Scenario.parse(scenario))

    def messages_requests(self, since: int = 0) -> list[Request]:
        """Requests to the model from number `since` on, without those for a session title."""
        return [
            r
            for r in self.requests[since:]
            if r.method == "POST" and r.route == "/v1/messages" and r.how != "title"
        ]

    def wait_for(
        self, n: int, timeout: float = 60.0, *, until: Callable[[Request], bool] | None = None
    ) -> None:
        """Wait until `n` requests to the model (that satisfy `until`) were answered; else TimeoutError."""

        def enough() -> bool:
            return sum(1 for r in self.messages_requests() if until is None or until(r)) >= n

        with self._changed:
            if not self._changed.wait_for(enough, timeout):
                raise TimeoutError(f"{len(self.messages_requests())} of {n} requests after {timeout} s")

    def admit(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> tuple[Request, Turn]:
        """Record a request and decide its answer (nothing is written to the client yet)."""
        safe = {k.lower(): "<removed>" if k.lower() in SECRET_HEADERS else v for k, v in headers.items()}
        request = Request(-1, method, path, safe, None)
        turn = self._decide(request, raw)
        with self._changed:
            request.n = len(self.requests)
            self.requests.append(request)
            self._changed.notify_all()
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(asdict(request)) + "\n")
        return request, turn

    def _decide(self, request: Request, raw: bytes) -> Turn:
        if request.method == "HEAD":
            request.how = "head"
            return Turn()
        if request.method != "POST" or request.route not in ("/v1/messages", "/v1/messages/count_tokens"):
            return _refuse(request, "unknown", Turn(status=404, error=("not_found_error", "Not found")))
        ratio = self.model.scenario.chars_per_token
        call = read_call(
            raw,
            [beta.strip() for beta in request.headers.get("anthropic-beta", "").split(",")],
            self.memory,
            token_limit=self.token_limit,
            preserved_thinking=self.preserved_thinking,
            count=lambda body: count_tokens(body, ratio),
        )
        request.body = dict(call.body)
        breach = first_breach(call, self.lenient)
        if breach is not None:
            self.breaches.append(breach)
            request.rule = breach.rule
            if self.strict:
                turn = Turn(status=breach.status, error=(breach.kind, breach.message))
                return _refuse(request, f"breach:{breach.rule}", turn)
        if request.route == "/v1/messages/count_tokens":
            request.how = "count_tokens"
            request.reply = {"input_tokens": count_tokens(call.body, ratio)}
            return Turn()
        turn, request.how = self.model.choose(call.body)
        if turn.status != 200:
            return _refuse(request, request.how, turn)
        request.reply = self.model.build(turn, call.body, f"{request.session_id}/{request.agent_id}")
        self.memory.keep(request.reply, call)
        return turn


def _refuse(request: Request, how: str, turn: Turn) -> Turn:
    request.how, request.status = how, turn.status
    kind, message = turn.error
    request.reply = {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": new_id("req_011C"),
    }
    return turn


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close waits for them

    request_queue_size = 64

    def __init__(self, address: tuple[str, int], owner: AnthropicServer) -> None:
        self.owner = owner
        self._open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        # Kept-alive connections would hold their threads: end their input, the handlers then return.
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # the client closed it first
                continue
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), GONE):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the log is `server.requests`."""

    def _serve(self) -> None:
        owner = self.server.owner
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        request, turn = owner.admit(self.command, self.path, dict(self.headers.items()), raw)
        if turn.delay_s and owner.stopping.wait(turn.delay_s):
            return
        try:
            if request.status == 200 and (request.body or {}).get("stream") and request.how != "count_tokens":
                self._stream(request.reply or {}, turn)
            else:
                self._json(request.status, request.reply, turn.headers)
        except GONE:
            request.disconnected = True
            self.close_connection = True

    do_HEAD = do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _serve  # noqa: N815

    def _json(self, status: int, value: object, headers: Mapping[str, str]) -> None:
        data = b"" if self.command == "HEAD" else json.dumps(value).encode()
        self.send_response(status)
        for name, content in {"content-type": "application/json", **headers}.items():
            self.send_header(name, content)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, message: Mapping[str, Any], turn: Turn) -> None:
        self.send_response(200)
        fixed = {
            "content-type": "text/event-stream",
            "cache-control": "no-cache",
            "request-id": new_id("req_011C"),
        }
        for name, content in {**fixed, **turn.headers, "transfer-encoding": "chunked"}.items():
            self.send_header(name, content)
        self.end_headers()
        for kind, value in events(message):
            data = f"event: {kind}\ndata: {json.dumps(value)}\n\n".encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()
            if turn.chunk_delay_s and self.server.owner.stopping.wait(turn.chunk_delay_s):
                return
        self.wfile.write(b"0\r\n\r\n")


def main() -> int:
    """Serve until interrupted, for experiments by hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--scenario", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--lax", action="store_true", help="answer in spite of a breach")
    options = parser.parse_args()
    scenario = json.loads(options.scenario.read_bytes()) if options.scenario else {}
    with AnthropicServer(scenario, strict=not options.lax, port=options.port, log=options.log) as server:
        print(server.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
