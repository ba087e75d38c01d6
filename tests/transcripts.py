"""Small transcripts of both agents, written as their clients write them.

A record's name ("u1") becomes its uuid; each record hangs on the one before unless a test says otherwise, and
comes a minute after it, so that nothing is bridged by accident.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from coffer.agents.table import CLAUDE, CODEX, Agent
from coffer.core.items import Context, Item
from coffer.core.record import Record
from coffer.core.transcript import Transcript
from coffer.core.view import View

Json = dict[str, Any]

SESSION = "11111111-2222-4333-8444-555555555555"
THREAD = "019aaaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"
MODEL = "claude-opus-4-8"
LARGE = 6 * 1024 * 1024
"""A file size above 5 MiB, where Claude Code reads a transcript in another way."""

PARENT = "the record before"
_START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_MINUTE = 60.0
_SIGNATURE = "s" * 300


def uid(name: str) -> str:
    """The uuid of a named record: 36 characters, as the clients' are."""
    return f"{name}-".ljust(36, "0")


def name_of(uuid: str) -> str:
    """The name that a uuid was made from."""
    return uuid.split("-", 1)[0]


def names(records: Iterable[Record]) -> list[str]:
    """The names of records, in order."""
    return [name_of(record.uuid) for record in records]


def time(seconds: float) -> str:
    """A time as the clients write it, this long after the session's start."""
    moment = _START + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode(record: object) -> bytes:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def thinking(said: str = "hm", signature: str = _SIGNATURE) -> Json:
    return {"type": "thinking", "thinking": said, "signature": signature}


def call(identity: str, tool: str = "Bash", **given: Any) -> Json:
    return {"type": "tool_use", "id": identity, "name": tool, "input": given}


def result(identity: str, content: object = "done", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": identity, "content": content, **more}


def image(data: str = "AAAA") -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def usage(fresh: int, output: int = 0, *, created: int = 0, cached: int = 0) -> Json:
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": created,
        "cache_read_input_tokens": cached,
        "output_tokens": output,
    }


@dataclass(slots=True)
class Claude:
    """A transcript of Claude Code. leaf: the uuid that the next record hangs on."""

    model: str = MODEL
    lines: list[bytes] = field(default_factory=list)
    leaf: str | None = None
    clock: float = 0.0
    counted: int = 0

    @property
    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def raw(self, line: bytes) -> None:
        """A line as it is."""
        self.lines.append(line)

    def note(self, kind: str, **fields: Any) -> None:
        """A record outside the chain."""
        self.raw(encode({"type": kind, **fields, "sessionId": SESSION}))

    def add(
        self, kind: str, name: str = "", parent: str | None = PARENT, at: float | None = None, **fields: Any
    ) -> str:
        """A record of the chain; its name. parent: a name, None for a root. at: seconds since the start."""
        self.counted += 1
        name = name or f"auto{self.counted}"
        self.clock = self.clock + _MINUTE if at is None else at
        above = self.leaf if parent == PARENT else uid(parent) if parent is not None else None
        envelope: Json = {
            "parentUuid": above,
            "isSidechain": False,
            "type": kind,
            "uuid": uid(name),
            "timestamp": time(self.clock),
            "cwd": "/work/tide",
            "sessionId": SESSION,
            "version": "2.1.197",
            "gitBranch": "main",
        }
        self.raw(encode(envelope | fields))
        self.leaf = uid(name)
        return name

    def user(self, content: str | list[Json], name: str = "", **fields: Any) -> str:
        return self.add("user", name, message={"role": "user", "content": content}, **fields)

    def result(self, identity: str, content: object = "done", name: str = "", **fields: Any) -> str:
        fields.setdefault("toolUseResult", {"stdout": str(content)})
        return self.user([result(identity, content)], name, **fields)

    def answer(
        self,
        *blocks: Json,
        name: str = "",
        message: str = "",
        counts: Json | None = None,
        model: str = "",
        **fields: Any,
    ) -> str:
        """One record a block, all of one API message with the same counts; the last record's name."""
        message = message or f"msg_{self.counted}"
        for index, block in enumerate(blocks):
            own = f"{name}{'abcdefgh'[index]}" if name and len(blocks) > 1 else name
            said = {
                "id": message,
                "type": "message",
                "role": "assistant",
                "model": model or self.model,
                "content": [block],
                "stop_reason": "tool_use" if block.get("type") == "tool_use" else "end_turn",
                "usage": counts or usage(0),
            }
            last = self.add("assistant", own, message=said, requestId="req", **fields)
        return last

    def attachment(self, kind: str, name: str = "", payload: Json | None = None, **fields: Any) -> str:
        return self.add("attachment", name, attachment={"type": kind, **(payload or {})}, **fields)

    def compact(self, summary: str = "SUMMARY", *, name: str = "b", post: int = 500, **metadata: Any) -> None:
        """A boundary (a root, named `name`) and its summary (named `name` + "s")."""
        said = {"trigger": "manual", "preTokens": 9_000, "postTokens": post, **metadata}
        self.add("system", name, None, subtype="compact_boundary", compactMetadata=said)
        self.user(summary, f"{name}s", isCompactSummary=True)

    def last_prompt(self, leaf: str | None, **fields: Any) -> None:
        pointed = {"leafUuid": uid(leaf)} if leaf is not None else {}
        self.note("last-prompt", lastPrompt="what next", **pointed, **fields)

    def progress(self, name: str = "", **fields: Any) -> str:
        return self.add("progress", name, data={"type": "hook_progress"}, **fields)

    def snapshot(self, message: str) -> None:
        self.note("file-history-snapshot", messageId=uid(message), snapshot={}, isSnapshotUpdate=False)


@dataclass(slots=True)
class Codex:
    """A rollout of Codex, without ordinals: no reader of ours uses them. ids: older clients wrote none."""

    ids: bool = True
    lines: list[bytes] = field(default_factory=list)
    clock: float = 0.0

    @property
    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def add(self, kind: str, **payload: Any) -> None:
        self.clock += _MINUTE
        self.lines.append(encode({"timestamp": time(self.clock), "type": kind, "payload": payload}))

    def meta(self, thread: str = THREAD, **more: Any) -> None:
        base = {"id": thread, "timestamp": time(0), "cwd": "/work/tide", "cli_version": "0.171.0"}
        self.add("session_meta", **base, **more)

    def turn(self, model: str = "gpt-5.2-codex", **more: Any) -> None:
        self.add("turn_context", cwd="/work/tide", model=model, **more)

    def message(self, role: str, said: str, **more: Any) -> None:
        self.add("response_item", **codex_message(role, said), **self._id(role == "assistant"), **more)

    def call(self, identity: str, arguments: str = "{}", name: str = "shell") -> None:
        said = {"type": "function_call", "name": name, "arguments": arguments, "call_id": identity}
        self.add("response_item", **said, **self._id())

    def reasoning(self, summary: str = "") -> None:
        said = [{"type": "summary_text", "text": summary}] if summary else []
        self.add("response_item", type="reasoning", summary=said, encrypted_content="gAAA", **self._id())

    def _id(self, has_one: bool = True) -> Json:  # noqa: FBT001, FBT002  (a fact, not an option)
        return {"id": f"item_{len(self.lines)}"} if has_one and self.ids else {}

    def output(self, identity: str, said: object = "done") -> None:
        self.add("response_item", type="function_call_output", call_id=identity, output=said)

    def count(
        self, fresh: int, output: int = 0, total: int = 0, window: int = 258_400, cached: int = 0
    ) -> None:
        said = {
            "input_tokens": fresh,
            "cached_input_tokens": cached,
            "output_tokens": output,
            "total_tokens": total or fresh + output,
        }
        self.add(
            "event_msg", type="token_count", info={"last_token_usage": said, "model_context_window": window}
        )

    def compacted(self, history: list[Json] | None, metadata: list[Json] | None = None) -> None:
        more = {} if metadata is None else {"replacement_history_metadata": metadata}
        self.add("compacted", message="", replacement_history=history, **more)


def codex_message(role: str, said: str) -> Json:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": said}]}


def read(source: Claude | Codex | bytes, agent: Agent | None = None, size: int = 0) -> Transcript:
    """The transcript that these bytes are; size: what the file's size is said to be."""
    if agent is None:
        agent = CODEX if isinstance(source, Codex) else CLAUDE
    data = source if isinstance(source, bytes) else source.data
    transcript = Transcript(agent.name, size=size or len(data))
    at = 0
    for line in data.split(b"\n"):
        if line:
            transcript.extend(agent.translate(line, at))
        at += len(line) + 1
    transcript.unfinished = len(data) - data.rfind(b"\n") - 1
    transcript.about = agent.about(data, b"")
    return transcript


def told(source: Claude | Codex, model: str = "", size: int = 0) -> list[str]:
    """What a resume sends, a line an item: "user: hello", "call c1", "result c1: done", "+hook_success"."""
    agent = CODEX if isinstance(source, Codex) else CLAUDE
    return spoken(agent.view(read(source, size=size), model), source.data, agent)


def spoken(view: View, data: bytes, agent: Agent = CLAUDE) -> list[str]:
    return [_words(item, data, agent) for item in view.items]


def _words(item: Item | Context, data: bytes, agent: Agent) -> str:
    if isinstance(item, Context):
        return f"+{item.attached.kind}"
    line = data[item.record.start : item.record.end] if item.record is not None else b""
    said = agent.content(item, line)
    match item.kind:
        case "tool_use":
            return f"call {said.get('call_id') or said.get('id')}"
        case "tool_result":
            content = said.get("content", said.get("output"))
            return f"result {said.get('tool_use_id') or said.get('call_id')}: {content}"
        case "thinking":
            return f"thinking: {said.get('thinking', '')}"
        case "text":
            return f"{item.role}: {said['text']}"
        case kind:
            return kind


def store(folder: Path, source: Claude | Codex | bytes, name: str = SESSION) -> Path:
    """A transcript as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_bytes(source if isinstance(source, bytes) else source.data)
    return path
