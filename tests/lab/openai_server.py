"""A scripted OpenAI Responses API on loopback, as strict as the real one: what Codex talks to in the lab.

    with OpenAIServer({"default": {"text": "hello"}}) as server:
        ...  # base_url = f"{server.url}/v1"

Each body is first checked by the table in `openai_rules.py`; a breach is answered with the real error. A
reply is then chosen, first that matches:

1. `rules`: [{"when": {...}, "times": int, **TURN}]. `when` holds regular expressions on `last_user` (text of
   the newest user message), `any` (the whole body), and `model`; `last_type` (type of the newest item), `nth`
   (n-th request to /responses) and `path` (prefix) are compared;
2. a request for a compaction summary: `compact`; the TUI's request for a title: `title`;
3. a script named in the newest user message that has one: `@@NAME@@` plays `scripts[NAME]`, `@@[TURN, ...]@@`
   plays the list itself; the turn's index is the number of replies since that message, so parallel threads,
   resumes and retries need no state; past its end, or after a compaction, `after_script` answers;
4. `turns`, one a request; then `default`.

TURN = {"items": [ITEM, ...] | "text": str, "usage": {"input", "cached", "output", "reasoning", "total"}
(tokens; default: a quarter of the bytes), "delay": s, "slow": s between deltas, "status": int,
"error": {...}, "cut": true (the stream stops without its end)}.
ITEM = {"message": str, "phase"?} | {"reasoning": str} | {"call": name, "args": {} or str, "namespace"?,
"call_id"?} | {"custom": name, "input": str, "call_id"?} | {"raw": {...}}.
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import zstandard

from tests.lab.openai_checks import Json, Limits
from tests.lab.openai_rules import first_breach
from tests.lab.openai_script import build_items, choose

SECRET_HEADERS: Final = frozenset({"authorization", "x-api-key", "api-key", "openai-organization", "cookie"})


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the model saw it: `how` it was answered, and the name of the `rule` it broke, if any.

    `body` is the parsed JSON (empty for none); `headers` are lower-case and hold no key.
    """

    n: int
    path: str
    headers: Mapping[str, str]
    body: Json
    how: str
    status: int
    rule: str | None

    @property
    def items(self) -> list[Json]:
        """The `input` items of a /responses request."""
        found = self.body.get("input")
        return found if isinstance(found, list) else []


class OpenAIServer:
    """The server as a context manager; thread-safe; gone within a second after the block.

    `scenario` may be a mapping or a path of a JSON file; `strict=False` lets every body pass.
    """

    def __init__(
        self,
        scenario: Mapping[str, Any] | Path | None = None,
        *,
        strict: bool = True,
        limits: Limits | None = None,
        port: int = 0,
    ) -> None:
        self.scenario: Json = load(scenario)
        self.strict = strict
        self.limits = limits or Limits()
        self.stopping = threading.Event()
        self._changed = threading.Condition()
        self._requests: list[Request] = []
        self._paired: dict[str, str] = {}
        self._used: dict[str, int] = {}
        self._number = count(1)
        self._responses = 0
        handler = type("BoundHandler", (Handler,), {"lab": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=1)

    @property
    def url(self) -> str:
        """The root, without `/v1`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order in which they came in."""
        with self._changed:
            return sorted(self._requests, key=lambda r: r.n)

    @property
    def breaches(self) -> list[Request]:
        """The requests that broke a rule."""
        return [r for r in self.requests if r.rule is not None]

    def wait_for(self, n: int, timeout: float) -> bool:
        """Wait until `n` requests were recorded; False when `timeout` seconds pass first."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._requests) >= n, timeout)

    def answer(self, path: str, raw: bytes, headers: Mapping[str, str]) -> tuple[int, Json]:
        """Check one body, choose its reply and record it: (status, error body) or (200, turn)."""
        with self._changed:
            n = next(self._number)
            breach = first_breach(raw, self.limits, self._paired) if self.strict else None
            body = parse(raw)
            if breach is not None:
                how, status, reply = "breach", breach.status, breach.body()
            else:
                self._responses += 1
                turn, how = choose(self.scenario, path, body, self._responses, self._used)
                status = int(turn.get("status", 200))
                reply = dict(turn) if status == 200 else turn.get("error", {"error": {"message": "scripted"}})
            rule = breach.rule if breach else None
            self._requests.append(Request(n, path, clean(headers), body, how, status, rule))
            self._changed.notify_all()
        return status, reply

    def record(self, path: str, headers: Mapping[str, str], status: int) -> None:
        """Record a request that is no call of the model."""
        with self._changed:
            self._requests.append(
                Request(next(self._number), path, clean(headers), {}, "other", status, None)
            )
            self._changed.notify_all()

    def pair(self, items: list[Json]) -> None:
        """Remember which answered item stands behind which reasoning item (rule "required reasoning")."""
        with self._changed:
            for before, after in pairwise(items):
                if before.get("type") == "reasoning" and "id" in after:
                    self._paired[after["id"]] = before["id"]


class Handler(BaseHTTPRequestHandler):
    """The HTTP side: bodies in (chunked, zstd), JSON or server-sent events out."""

    protocol_version = "HTTP/1.1"
    lab: OpenAIServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Write nothing: the record is `OpenAIServer.requests`."""

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        known = path.endswith("/models")
        self.lab.record(path, dict(self.headers), 200 if known else 404)
        model = {"id": "lab-model", "object": "model"}
        found = {"object": "list", "data": [model], "models": []} if known else not_found()
        self.send_json(200 if known else 404, found)

    def do_POST(self) -> None:
        raw, path = self.read_body(), self.path.split("?")[0]
        if "/responses" not in path:
            self.lab.record(path, dict(self.headers), 404)
            self.send_json(404, not_found())
            return
        status, reply = self.lab.answer(path, raw, dict(self.headers))
        if reply.get("delay"):
            self.lab.stopping.wait(reply["delay"])
        try:
            if status != 200:
                self.send_json(status, reply)
            else:
                self.send_reply(path, parse(raw), reply)
        except ConnectionError:
            self.close_connection = True  # the client went away (Esc, a kill): its own business

    def read_body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "zstd":
            raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
        return raw

    def send_json(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_reply(self, path: str, body: Json, turn: Json) -> None:
        items = build_items(turn)
        self.lab.pair(items)
        response = {"id": f"resp_{time.time_ns():x}", "object": "response", "model": body.get("model")}
        usage = usage_of(body, items, turn.get("usage", {}))
        if path.endswith("/compact"):
            self.send_json(
                200, {**response, "object": "response.compaction", "output": items, "usage": usage}
            )
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        end = {"status": "completed", "output": items, "usage": usage}
        for sequence, (kind, event) in enumerate(events(response, items, end, cut=bool(turn.get("cut")))):
            data = json.dumps({"type": kind, "sequence_number": sequence, **event})
            self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())
            self.wfile.flush()
            if turn.get("slow") and kind.endswith(".delta"):
                self.lab.stopping.wait(turn["slow"])


def events(response: Json, items: list[Json], end: Json, *, cut: bool) -> Iterator[tuple[str, Json]]:
    """Yield the stream of one reply: (event name, its fields)."""
    yield "response.created", {"response": {**response, "status": "in_progress", "output": []}}
    for n, item in enumerate(items):
        message = item["type"] == "message"
        started = {**item, "content": [], "status": "in_progress"} if message else item
        yield "response.output_item.added", {"output_index": n, "item": started}
        if message:
            text = "".join(part.get("text", "") for part in item["content"])
            for at in range(0, len(text), 40):
                place = {"item_id": item.get("id"), "output_index": n, "content_index": 0}
                yield "response.output_text.delta", {**place, "delta": text[at : at + 40]}
        yield "response.output_item.done", {"output_index": n, "item": item}
    if not cut:
        yield "response.completed", {"response": {**response, **end}}


def usage_of(body: Json, items: list[Json], given: Mapping[str, int]) -> Json:
    """Build the `usage` of a reply: what the turn says, else a quarter of the bytes of input and output."""
    sent = given.get("input", len(json.dumps(body.get("input"))) // 4)
    answered = given.get("output", max(1, len(json.dumps(items)) // 4))
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": given.get("cached", 0)},
        "output_tokens": answered,
        "output_tokens_details": {"reasoning_tokens": given.get("reasoning", 0)},
        "total_tokens": given.get("total", sent + answered),
    }


def clean(headers: Mapping[str, str]) -> dict[str, str]:
    """Copy the headers without anything that may hold a key."""
    return {k.lower(): v for k, v in headers.items() if k.lower() not in SECRET_HEADERS}


def parse(raw: bytes) -> Json:
    """Read a JSON object; anything else is an empty one (the rules have refused it before)."""
    try:
        found = json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def load(scenario: Mapping[str, Any] | Path | None) -> Json:
    return json.loads(scenario.read_bytes()) if isinstance(scenario, Path) else dict(scenario or {})


def not_found() -> Json:
    return {"error": {"message": "not found", "type": "invalid_request_error", "param": None, "code": None}}


def main() -> int:
    """Serve until interrupted; each request is one JSON line on stdout (never a key)."""
    parser = argparse.ArgumentParser(description="A scripted, strict OpenAI Responses API on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--scenario", type=Path)
    parser.add_argument("--lenient", action="store_true", help="check nothing")
    chosen = parser.parse_args()
    with OpenAIServer(chosen.scenario, strict=not chosen.lenient, port=chosen.port) as server:
        sys.stdout.write(f"{server.url}\n")
        told = 0
        try:
            while True:
                server.wait_for(told + 1, 3600)
                for r in server.requests[told:]:
                    line = {"n": r.n, "path": r.path, "how": r.how, "status": r.status, "rule": r.rule}
                    sys.stdout.write(json.dumps({**line, "body": r.body}) + "\n")
                    told += 1
                sys.stdout.flush()
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())
