"""Codex rollouts of a wanted size, the same bytes for the same seed.

Shapes follow rollouts of Codex 0.140 to 0.171: `response_item`s are what the model is sent, `event_msg`s
repeat them for the screen, and a `token_count` follows each model call.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.generate import FOLDER, encoded
from bench.words import FILES, code, output, prompt, words

MODEL = "gpt-5.4"
_MEBIBYTE = 1024 * 1024
_WINDOW = 258_400
_FOREIGN = 0.1


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.thread = self.uuid()
        self.now = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
        self.context = 22_000

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def words(self, count: int) -> str:
        return words(self.random, count, _FOREIGN)

    def line(self, kind: str, **payload: Any) -> dict[str, Any]:
        self.now += timedelta(milliseconds=self.random.randint(200, 9_000))
        time = self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {"timestamp": time, "type": kind, "payload": payload}


def _head(made: _Writer) -> Iterator[dict[str, Any]]:
    meta = {
        "id": made.thread,
        "timestamp": "2026-06-01T09:00:00.000Z",
        "cwd": FOLDER,
        "originator": "codex-tui",
        "cli_version": "0.142.2",
        "source": "cli",
        "model_provider": "openai",
        "base_instructions": {"text": made.words(2_500)},
    }
    yield made.line("session_meta", **meta)
    text = {"type": "input_text", "text": made.words(400)}
    yield made.line("response_item", type="message", role="developer", content=[text])


def _counted(made: _Writer) -> dict[str, Any]:
    made.context = made.context + 900 if made.context < 240_000 else 60_000
    used = {
        "input_tokens": made.context,
        "cached_input_tokens": made.context - 900,
        "output_tokens": 200,
        "reasoning_output_tokens": 60,
        "total_tokens": made.context + 200,
    }
    info = {"total_token_usage": used, "last_token_usage": used, "model_context_window": _WINDOW}
    return made.line("event_msg", type="token_count", info=info, rate_limits=None)


def _step(made: _Writer) -> Iterator[dict[str, Any]]:
    call = "call_" + made.uuid().replace("-", "")[:24]
    secret = made.random.randbytes(made.random.choice([600, 2_000])).hex()
    yield made.line("response_item", type="reasoning", summary=[], encrypted_content=secret)
    if made.random.random() < 0.3:
        path = made.random.choice(FILES)
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n{code(made.random, 900)}\n*** End Patch"
        given: dict[str, Any] = {"name": "apply_patch", "call_id": call, "input": patch}
        yield made.line("response_item", type="custom_tool_call", status="completed", **given)
        said = f"Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated {path}"
        yield made.line("response_item", type="custom_tool_call_output", call_id=call, output=said)
        yield made.line("event_msg", type="patch_apply_end", call_id=call, stdout=said, success=True)
    else:
        arguments = json.dumps({"cmd": f"sed -n 1,200p {made.random.choice(FILES)}", "workdir": FOLDER})
        given = {"name": "exec_command", "arguments": arguments, "call_id": call}
        yield made.line("response_item", type="function_call", **given)
        size = made.random.choice([400, 3_000, 9_000])
        said = "Process exited with code 0\nOutput:\n" + (
            code(made.random, size)
            if made.random.random() < 0.6
            else output(made.random, size // 8, _FOREIGN)
        )
        yield made.line("response_item", type="function_call_output", call_id=call, output=said)
    yield _counted(made)


def _turn(made: _Writer) -> Iterator[dict[str, Any]]:
    turn, asked = made.uuid(), prompt(made.random)
    yield made.line("event_msg", type="task_started", turn_id=turn, model_context_window=_WINDOW)
    yield made.line("turn_context", turn_id=turn, cwd=FOLDER, model=MODEL, approval_policy="never")
    text = {"type": "input_text", "text": asked}
    yield made.line("response_item", type="message", role="user", content=[text])
    yield made.line("event_msg", type="user_message", message=asked, images=[])
    for _ in range(made.random.randint(1, 12)):
        yield from _step(made)
    said = made.words(made.random.randint(40, 200))
    answer = {"type": "output_text", "text": said}
    yield made.line("response_item", type="message", role="assistant", content=[answer])
    yield made.line("event_msg", type="agent_message", message=said)
    yield made.line("event_msg", type="task_complete", turn_id=turn, last_agent_message=said)


def rollout(megabytes: float, seed: int) -> Iterator[bytes]:
    """The lines of a rollout of at least that many MiB."""
    made, wanted, written = _Writer(seed), int(megabytes * _MEBIBYTE), 0
    turns = _head(made)
    while written < wanted:
        for record in turns:
            line = encoded(record)
            written += len(line)
            yield line
        turns = _turn(made)
