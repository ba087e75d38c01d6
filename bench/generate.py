"""Claude Code sessions of a wanted size, the same bytes for the same seed.

Shapes follow transcripts of Claude Code 2.1.x: one content block an assistant record, `message.id` shared by
the records of one API message, uuid and parentUuid in a chain, usage on each answer, `toolUseResult` beside
each result, progress records, file-history snapshots and the client's notes.
"""

from __future__ import annotations

import base64
import json
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.words import FILES, code, numbered, output, prompt, words

MODEL = "claude-opus-4-6"
FOLDER = "/home/dev/project"
_MEBIBYTE = 1024 * 1024
_CONTEXT_START, _CONTEXT_FULL, _CONTEXT_KEPT = 22_000, 400_000, 30_000


@dataclass(frozen=True, slots=True)
class Mix:
    """What a session is made of.

    reads and originals: bytes of a file that is read, and of the copy that an edit keeps beside its result.
    progress: most progress records a call. foreign: share of texts that are not ASCII. attachments: share of
    prompts that carry one.
    """

    reads: tuple[int, ...]
    originals: tuple[int, ...]
    progress: int = 7
    foreign: float = 0.0
    attachments: float = 0.0


LARGE_RESULTS = Mix((9_000, 22_000, 60_000), (3_000, 9_000, 18_000))
"""About 6 KB a record: the mix on which the budgets were set."""
SMALL_RECORDS = Mix((600, 1_200, 4_000, 9_000), (600, 3_000, 9_000), 4, 0.2, 0.7)
"""About 2.5 KB a record, a fifth of the texts not ASCII: the average of real transcripts (2.0 to 2.1.229)."""


class _Writer:
    """The state of one session while it is made up."""

    def __init__(self, seed: int, mix: Mix) -> None:
        self.random = random.Random(seed)
        self.mix = mix
        self.session = self.uuid()
        self.now = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
        self.parent: str | None = None
        self.context = _CONTEXT_START

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def token(self, prefix: str) -> str:
        return prefix + self.uuid().replace("-", "")[:22]

    def time(self) -> str:
        self.now += timedelta(milliseconds=self.random.randint(200, 9_000))
        return self.now.isoformat().replace("+00:00", "Z")

    def words(self, count: int) -> str:
        return words(self.random, count, self.mix.foreign)

    def record(self, kind: str, **fields: Any) -> dict[str, Any]:
        made = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": FOLDER,
            "sessionId": self.session,
            "version": "2.1.161",
            "gitBranch": "main",
            "slug": "merry-wandering-otter",
            "type": kind,
            **fields,
            "uuid": self.uuid(),
            "timestamp": self.time(),
        }
        self.parent = made["uuid"]
        return made

    def answer(
        self, message: str, block: dict[str, Any], stop: str | None = None, tokens: int = 50
    ) -> dict[str, Any]:
        self.context += tokens
        usage = {
            "input_tokens": self.random.randint(1, 12),
            "cache_creation_input_tokens": self.random.randint(200, 4_000),
            "cache_read_input_tokens": max(0, self.context - 3_000),
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 900},
            "output_tokens": tokens,
            "service_tier": "standard",
        }
        said = {
            "model": MODEL,
            "id": message,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }
        return self.record("assistant", message=said, requestId=self.token("req_"))

    def snapshot(self, message: str, *, update: bool = False) -> dict[str, Any]:
        backups = {
            self.random.choice(FILES): {
                "backupFileName": f"{self.uuid()[:16]}@v{self.random.randint(1, 9)}",
                "version": self.random.randint(1, 9),
                "backupTime": self.time(),
            }
            for _ in range(self.random.randint(1, 14))
        }
        return {
            "type": "file-history-snapshot",
            "messageId": message,
            "snapshot": {"messageId": message, "trackedFileBackups": backups, "timestamp": self.time()},
            "isSnapshotUpdate": update,
        }

    def progress(self, call: str) -> dict[str, Any]:
        if self.random.random() < 0.6:
            data: dict[str, Any] = {
                "type": "bash_progress",
                "output": self.words(self.random.randint(5, 60)),
                "fullOutput": self.words(self.random.randint(20, 200)),
                "elapsedTimeSeconds": self.random.randint(1, 90),
                "totalLines": self.random.randint(1, 300),
            }
        else:
            data = {
                "type": "hook_progress",
                "hookEvent": "PostToolUse",
                "hookName": "PostToolUse:Bash",
                "command": "make check",
            }
        return self.record(
            "progress",
            data=data,
            toolUseID=f"bash-progress-{self.random.randint(0, 99)}",
            parentToolUseID=call,
        )


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    given: dict[str, Any]
    result: str | list[dict[str, Any]]
    beside: dict[str, Any]


def _call(made: _Writer) -> _Call:
    """A tool call and its result, by how often sessions hold each."""
    drawn = made.random.random()
    if drawn < 0.36:
        return _read(made)
    if drawn < 0.58:
        return _edit(made)
    if drawn < 0.86:
        text = output(made.random, made.random.choice([30, 120, 700, 2_500]), made.mix.foreign)
        beside = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        return _Call("Bash", {"command": "pytest -q tests", "description": "Run the tests"}, text, beside)
    if drawn < 0.94:
        hits = [
            f"{made.random.choice(FILES)}:{made.random.randint(1, 900)}:{made.words(8)}"
            for _ in range(made.random.randint(3, 60))
        ]
        text = "\n".join(hits)
        beside = {"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": len(hits)}
        return _Call("Grep", {"pattern": "item", "path": FOLDER, "output_mode": "content"}, text, beside)
    if drawn < 0.97:
        text = made.words(made.random.choice([300, 1_200]))
        given = {"url": "https://example.com/doc", "prompt": "summarise"}
        return _Call("WebFetch", given, text, {"bytes": 9_000, "code": 200, "result": text})
    return _image(made)


def _read(made: _Writer) -> _Call:
    path, text = made.random.choice(FILES), code(made.random, made.random.choice(made.mix.reads))
    file = {
        "filePath": path,
        "content": text,
        "numLines": text.count("\n"),
        "startLine": 1,
        "totalLines": 900,
    }
    return _Call("Read", {"file_path": path}, numbered(text, 1), {"type": "text", "file": file})


def _edit(made: _Writer) -> _Call:
    path, old = made.random.choice(FILES), code(made.random, 600)
    new = old.replace("None", "{}")
    shown = f"The file {path} has been updated. Here it is:\n{numbered(code(made.random, 600), 40)}"
    patch = {
        "oldStart": 1,
        "oldLines": 12,
        "newStart": 1,
        "newLines": 12,
        "lines": [f" {line}" for line in old.split("\n")],
    }
    beside = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": code(made.random, made.random.choice(made.mix.originals)),
        "structuredPatch": [patch],
        "userModified": False,
        "replaceAll": False,
    }
    given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
    return _Call("Edit", given, shown, beside)


def _image(made: _Writer) -> _Call:
    data = base64.b64encode(made.random.randbytes(made.random.choice([9_000, 30_000]))).decode()
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    beside = {"type": "image", "file": {"base64": data, "type": "image/png", "originalSize": 30_000}}
    return _Call("Read", {"file_path": f"{FOLDER}/shot.png"}, [block], beside)


def _step(made: _Writer, prompted: str) -> Iterator[dict[str, Any]]:
    """One API message with its call and result."""
    message, call, tool = made.token("msg_01"), made.token("toolu_01"), _call(made)
    if made.random.random() < 0.35:
        signature = base64.b64encode(made.words(made.random.randint(40, 160)).encode()).decode()
        thought = made.words(made.random.randint(20, 220))
        yield made.answer(message, {"type": "thinking", "thinking": thought, "signature": signature})
    if made.random.random() < 0.5:
        yield made.answer(message, {"type": "text", "text": made.words(made.random.randint(10, 80))})
    use = {"type": "tool_use", "id": call, "name": tool.name, "input": tool.given}
    asked = made.answer(message, use, "tool_use", made.random.randint(30, 400))
    yield asked
    for _ in range(made.random.randint(0, made.mix.progress)):
        yield made.progress(call)
    content = tool.result
    if isinstance(content, str) and made.random.random() < 0.12:
        content += "\n<system-reminder>\nThe TodoWrite tool hasn't been used recently.\n</system-reminder>"
    block = {"tool_use_id": call, "type": "tool_result", "content": content, "is_error": False}
    yield made.record(
        "user",
        message={"role": "user", "content": [block]},
        toolUseResult=tool.beside,
        sourceToolAssistantUUID=asked["uuid"],
    )
    if tool.name == "Edit":
        yield made.snapshot(prompted, update=True)
    made.context += min(9_000, len(content) if isinstance(content, str) else 1_500) // 6
    if made.context > _CONTEXT_FULL:
        made.context = _CONTEXT_FULL - 5_000


def _turn(made: _Writer) -> Iterator[dict[str, Any]]:
    prompted, text = made.uuid(), prompt(made.random)
    yield made.snapshot(prompted)
    said = {"role": "user", "content": text}
    yield made.record("user", message=said, promptId=made.uuid(), todos=[], permissionMode="default")
    if made.random.random() < made.mix.attachments:
        payload = {"type": "queued_command", "prompt": made.words(30), "commandMode": "prompt"}
        yield made.record("attachment", attachment=payload)
    for _ in range(made.random.randint(1, 9)):
        yield from _step(made, prompted)
    final = {"type": "text", "text": made.words(made.random.randint(40, 200))}
    yield made.answer(made.token("msg_01"), final, "end_turn", 300)
    notes = made.random.random
    if notes() < 0.3:
        took = made.random.randint(4_000, 400_000)
        yield made.record("system", subtype="turn_duration", durationMs=took, isMeta=False)
    queued = {"type": "queue-operation", "operation": "enqueue", "timestamp": made.time()}
    if notes() < 0.1:
        yield {**queued, "sessionId": made.session, "content": made.words(9)}
    if notes() < 0.2:
        yield {"type": "last-prompt", "lastPrompt": text, "sessionId": made.session}
    if notes() < 0.05:
        yield {"type": "ai-title", "aiTitle": made.words(5), "sessionId": made.session}


def _compaction(made: _Writer) -> Iterator[dict[str, Any]]:
    before, made.parent = made.parent, None
    counted = {"trigger": "auto", "preTokens": made.context}
    yield made.record(
        "system",
        subtype="compact_boundary",
        content="Conversation compacted",
        level="info",
        isMeta=False,
        logicalParentUuid=before,
        compactMetadata=counted,
    )
    summary = "This session is being continued from a previous conversation. " + made.words(900)
    said = {"role": "user", "content": summary}
    yield made.record("user", isCompactSummary=True, isVisibleInTranscriptOnly=True, message=said)
    made.context = _CONTEXT_KEPT


def session(megabytes: float, seed: int, mix: Mix, *, compacted: bool = False) -> Iterator[bytes]:
    """The lines of a session of at least that many MiB; compacted: once, after half of it."""
    made, wanted, written = _Writer(seed, mix), int(megabytes * _MEBIBYTE), 0
    first = {"type": "permission-mode", "permissionMode": "default", "sessionId": made.session}
    turns: Iterator[dict[str, Any]] = iter([first])
    while written < wanted:
        for record in turns:
            line = encoded(record)
            written += len(line)
            yield line
        if compacted and written > wanted // 2:
            compacted, turns = False, _compaction(made)
        else:
            turns = _turn(made)
    yield encoded({"type": "last-prompt", "lastPrompt": "x", "sessionId": made.session})


def encoded(record: dict[str, Any]) -> bytes:
    """A record as the clients write it: one line, no spaces, UTF-8."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
