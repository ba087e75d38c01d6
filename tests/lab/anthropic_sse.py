"""An API message as the events of the streaming Messages API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DELTA = "content_block_delta"
PIECES = 20  # text comes in about this many deltas


def events(message: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (event name, data) in the order of the real stream."""
    usage = dict(message["usage"])
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": start}
    for index, block in enumerate(message["content"]):
        opened, deltas = _opened(block)
        yield (
            "content_block_start",
            {"type": "content_block_start", "index": index, "content_block": opened},
        )
        for delta in deltas:
            yield DELTA, {"type": DELTA, "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    counters = {name: count for name, count in usage.items() if name.endswith("tokens")}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    yield "message_delta", {"type": "message_delta", "delta": stop, "usage": counters}
    yield "message_stop", {"type": "message_stop"}


def _opened(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the block as it is first announced, and the deltas that fill it."""
    match block["type"]:
        case "text":
            text = block["text"]
            step = max(200, len(text) // PIECES + 1)
            parts = [text[k : k + step] for k in range(0, len(text), step)]
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in parts]
        case "thinking":
            deltas = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case "tool_use":
            data = json.dumps(block["input"])
            parts = [data[k : k + 4000] for k in range(0, len(data), 4000)]
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            return {**block, "input": {}}, deltas
        case _:
            return dict(block), []
