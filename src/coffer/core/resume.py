"""What Claude Code repairs when it loads a branch, before it forms a request.

In the client's order (2.1.197): messages taken back after a refusal go; attachments of types that the client
no longer knows go; calls that never got a result go; thinking without any other block of its message goes;
answers of white space only go. Then the end: a turn that was cut after a result gets "Continue from where you
left off.", and a branch that ends with a person's words gets "No response requested.".
"""

from __future__ import annotations

from coffer.core.chain import Branch
from coffer.core.dialect import CONTINUE, NO_CONTENT, NO_RESPONSE, SYNTHETIC, THINKING
from coffer.core.items import Item, Message, pointing, worded
from coffer.core.record import Attached, Record, Retraction

_FORGOTTEN_ATTACHMENTS = frozenset(
    {
        "compaction_reminder",
        "companion_intro",
        "echo_activities",
        "pen_mode_enter",
        "pen_mode_exit",
        "verify_plan_reminder",
    }
)
_SILENT_TOOLS = frozenset({"SendUserMessage", "Brief", "SendUserFile"})
"""Tools whose result may end a turn: the client asks for no continuation after them."""
_UUID_PREFIX = 24


def resumed(branch: Branch) -> list[Message]:
    """The branch's messages after the client's repairs."""
    messages = [_message(record) for record in _not_retracted(branch.records) if _survives(record)]
    messages = _drop_unanswered(messages)
    messages = drop_lone_thinking(messages)
    messages = drop_blank_answers(messages)
    return _finish(messages, branch.rewound_to)


def _survives(record: Record) -> bool:
    if isinstance(record.detail, Attached):
        return record.detail.kind not in _FORGOTTEN_ATTACHMENTS
    return not record.blocks or any(block.valid for block in record.blocks)


def _not_retracted(records: list[Record]) -> list[Record]:
    taken_back = {
        uuid[:_UUID_PREFIX]
        for record in records
        if isinstance(record.detail, Retraction)
        for uuid in record.detail.uuids
    }
    if not taken_back:
        return records
    return [
        record
        for record in records
        if record.type == "system" or record.uuid[:_UUID_PREFIX] not in taken_back
    ]


def _message(record: Record) -> Message:
    kind = record.type
    items = [pointing(record, index) for index, block in enumerate(record.blocks) if block.valid]
    return Message(kind, record, items, record.message, record.model, record.meta)


def _drop_unanswered(messages: list[Message]) -> list[Message]:
    """Without assistant records all of whose calls have no result anywhere on the branch."""
    answered = {item.block.id for message in messages for item in message.items if item.kind == "tool_result"}

    def stays(message: Message) -> bool:
        calls = [item.block.id for item in message.items if item.kind == "tool_use"]
        return message.kind != "assistant" or not calls or any(call in answered for call in calls)

    return [message for message in messages if stays(message)]


def drop_lone_thinking(messages: list[Message]) -> list[Message]:
    """Without assistant messages of thinking only, where no other record of the message says more."""
    spoken = {
        message.id
        for message in messages
        if message.kind == "assistant"
        and message.id
        and any(item.kind not in THINKING for item in message.items)
    }
    return [
        message
        for message in messages
        if message.kind != "assistant"
        or not message.items
        or message.id in spoken
        or not all(item.kind in THINKING for item in message.items)
    ]


def drop_blank_answers(messages: list[Message]) -> list[Message]:
    """Without assistant messages of white space only, where no other record of the message says more.

    Where there is one, neighbouring user messages become one already here, which hides an interruption from
    `_is_cut` (seen with 2.1.197 on a session of 2.1.38).
    """
    if not any(_is_blank(message) for message in messages if message.kind == "assistant"):
        return messages
    spoken = {
        message.id
        for message in messages
        if message.kind == "assistant"
        and message.id
        and any(item.kind not in THINKING and not is_blank(item) for item in message.items)
    }
    kept: list[Message] = []
    for message in messages:
        if message.kind == "assistant" and message.id not in spoken and _is_blank(message):
            continue
        if message.kind == "user" and kept and kept[-1].kind == "user":
            kept[-1] = joined(kept[-1], message)
        else:
            kept.append(message)
    return kept


def joined(first: Message, second: Message) -> Message:
    """Two user messages as one, results first; all else that the client asks of it, it asks of the first."""
    items = first.items + second.items
    results = [item for item in items if item.kind == "tool_result"]
    others = [item for item in items if item.kind != "tool_result"]
    return Message("user", first.record, results + others, meta=first.meta)


def _is_blank(message: Message) -> bool:
    return bool(message.items) and all(is_blank(item) for item in message.items)


def is_blank(item: Item) -> bool:
    """A text of white space only, or the client's own placeholder for one."""
    if item.record is None:
        return item.kind == "text" and item.text.strip() in ("", NO_CONTENT)
    return item.kind == "text" and (item.block.blank or item.block.placeholder)


def _finish(messages: list[Message], rewound_to: str) -> list[Message]:
    if _is_cut(messages) and not (rewound_to and _last_spoken(messages) == rewound_to):
        messages = [*messages, said(CONTINUE)]
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].kind != "system":
            if messages[index].kind == "user":
                answer = Message("assistant", None, [worded("assistant", NO_RESPONSE)], model=SYNTHETIC)
                return [*messages[: index + 1], answer, *messages[index + 1 :]]
            break
    return messages


def said(text: str) -> Message:
    """A user message with the client's own words."""
    return Message("user", None, [worded("user", text)], meta=True)


def _last_spoken(messages: list[Message]) -> str:
    for message in reversed(messages):
        if message.kind in ("user", "assistant") and message.record is not None:
            return message.record.uuid
    return ""


def _is_cut(messages: list[Message]) -> bool:
    """Whether the branch ends after a tool's result, or after attachments that follow one."""
    seen_attachment = False
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        record = message.record
        if record is None or message.kind == "system" or (record.failed and record.stop != "refusal"):
            continue
        if message.kind == "attachment":
            seen_attachment = True
            continue
        if message.kind == "assistant":
            return False
        if _ends_turn(messages, index):
            return False
        return seen_attachment or _is_result(message)
    return seen_attachment


def _ends_turn(messages: list[Message], index: int) -> bool:
    message = messages[index]
    assert message.record is not None
    if message.record.summary or (message.meta and index == len(messages) - 1):
        return True
    if len(message.items) == 1 and message.items[0].block.interruption:
        return True
    return _is_result(message) and _answers_silent_tool(message, messages[:index])


def _is_result(message: Message) -> bool:
    if message.record is not None and message.record.returned:
        return True
    return bool(message.items) and message.items[0].kind == "tool_result"


def _answers_silent_tool(message: Message, before: list[Message]) -> bool:
    if not message.items or message.items[0].kind != "tool_result":
        return False
    call = message.items[0].block.id
    return any(
        item.block.name in _SILENT_TOOLS
        for earlier in before
        for item in earlier.items
        if item.kind == "tool_use" and item.block.id == call
    )
