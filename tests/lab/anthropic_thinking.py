"""What the Messages API asks of thinking blocks that come back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.lab.anthropic_request import Block, Call

THINKING = ("thinking", "redacted_thinking")
INVALID_SIGNATURE = "Invalid `signature` in `thinking` block"
MUST_START = (
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding "
    "the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from "
    "previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at "
    "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)


def thinking_last(call: Call) -> str | None:
    """Thinking is never the end of an assistant message."""
    for turn in call.turns:
        if turn.role == "assistant" and turn.blocks and turn.blocks[-1].type == "thinking":
            return f"messages.{turn.n}: The final block in an assistant message cannot be `thinking`."
    return None


def thinking_first(call: Call) -> str | None:
    """With `thinking: enabled` an open tool loop starts with thinking (`adaptive` does not ask for it)."""
    first = call.tool_loop[0] if call.tool_loop else None
    if call.thinking != "enabled" or first is None or first.blocks[0].type in THINKING:
        return None
    return (
        f"messages.{first.n}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
        f"`{first.blocks[0].type}`. {MUST_START}"
    )


def _is_latest(call: Call, block: Block) -> bool:
    return any(block is other for turn in call.latest for other in turn.blocks)


def thinking_signed(call: Call) -> str | None:
    """Thinking carries a signature, and the one that was made for it (seen for what this server sent)."""
    for block in call.blocks():
        if block.type != "thinking":
            continue
        if "signature" not in block.body:
            return f"{block.place}.thinking.signature: Field required"
        sent = call.memory.thinking.get(block.body["signature"])
        changed = sent is not None and sent.thinking != block.body.get("thinking")
        if not block.body["signature"] or (changed and not _is_latest(call, block)):
            return f"{block.place}: {INVALID_SIGNATURE}"
    return None


def _modified(place: str) -> str:
    return (
        f"{place}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified. These blocks must remain as they were in the original response."
    )


def thinking_unchanged(call: Call) -> str | None:
    """Thinking of the open tool loop (else of the last assistant turn) is as this server sent it."""
    for turn in call.latest:
        for block in turn.of("thinking"):
            sent = call.memory.thinking.get(str(block.body.get("signature")))
            if sent is not None and sent.thinking != block.body.get("thinking"):
                return _modified(block.place)
    return None


def thinking_kept(call: Call) -> str | None:
    """In the open tool loop no thinking block that stood beside a tool_use is left out."""
    if call.thinking in ("", "disabled"):
        return None
    for turn in call.tool_loop:
        here = {block.body.get("signature") for block in turn.of("thinking")}
        for block in turn.of("tool_use"):
            beside = call.memory.beside.get(str(block.body.get("id")), ())
            made = [call.memory.thinking[s].model for s in beside]
            if made and set(made) == {call.model} and not here.issuperset(beside):
                return _modified(block.place)
    return None


def thinking_bound(call: Call) -> str | None:
    """Nothing before a thinking block has changed since it was made (models with preserved thinking)."""
    if not call.preserved_thinking:
        return None
    for block in call.blocks():
        sent = (
            call.memory.thinking.get(str(block.body.get("signature"))) if block.type == "thinking" else None
        )
        if sent is not None and sent.model == call.model and sent.prefix != call.prefix(before=block):
            return (
                f"{block.place}: {INVALID_SIGNATURE}. The block is bound to a different conversation. Remove "
                'the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
            )
    return None
