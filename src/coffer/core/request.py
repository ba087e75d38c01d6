"""How Claude Code forms a request from resumed messages (2.1.197).

Thinking of another model goes; attachments move up to the result or answer before them; records of one API
message become one message; neighbouring user messages become one, results first; calls and results are
paired, and what cannot be paired is replaced by a sentence.
"""

from __future__ import annotations

from msgspec.structs import replace

from coffer.core.dialect import (
    ALIASES,
    INTERRUPTED_CALL,
    NO_CONTENT,
    SYNTHETIC,
    THINKING,
)
from coffer.core.items import Context, Edit, Item, Message, worded
from coffer.core.record import Attached
from coffer.core.resume import drop_blank_answers, drop_lone_thinking


def formed(messages: list[Message], model: str) -> list[Item | Context]:
    """The items of the request for this model (its id without `[1m]`)."""
    messages = [_without_foreign_thinking(message, model) for message in messages]
    merged = _merge(_bubble(messages))
    merged = drop_blank_answers(drop_lone_thinking(merged))
    for message in merged:
        if message.kind == "assistant":
            spoken = [item for item in message.items if item.kind != "fallback"]
            message.items = spoken or [worded("assistant", NO_CONTENT)]
    return _flatten(_pair(_join_users(merged)))


def _without_foreign_thinking(message: Message, model: str) -> Message:
    if message.kind != "assistant" or message.model in (SYNTHETIC, model):
        return message
    items = [item for item in message.items if not (item.kind in THINKING and item.block.signed)]
    return Message(message.kind, message.record, items, message.id, message.model, message.meta)


def _bubble(messages: list[Message]) -> list[Message]:
    """Attachments go up behind the answer or result before them; virtual records go."""
    done: list[Message] = []
    waiting: list[Message] = []
    for message in reversed(messages):
        if message.kind == "attachment":
            waiting.append(message)
            continue
        stops = message.kind == "assistant" or (message.kind == "user" and _starts_with_result(message))
        if stops and waiting:
            done += waiting
            waiting = []
        if message.record is None or not message.record.virtual:
            done.append(message)
    return list(reversed(done + waiting))


def _starts_with_result(message: Message) -> bool:
    return bool(message.items) and message.items[0].kind == "tool_result"


def _merge(messages: list[Message]) -> list[Message]:
    """Records of one API message become one message.

    The client looks back for it over answers, attachments and results, and no further than a user message
    without a result: `since` is where that stands.
    """
    merged: list[Message] = []
    places: dict[str, int] = {}
    since = -1
    for message in messages:
        match message.kind:
            case "assistant":
                if _is_error_note(message):
                    continue
                items = [_edited(item) for item in message.items]
                place = places.get(message.id, -1) if message.id else -1
                if place > since:
                    merged[place].items = _calls_last(_without_blanks(merged[place].items + items))
                    continue
                places[message.id] = len(merged)
                merged.append(
                    Message("assistant", message.record, _calls_last(items), message.id, message.model)
                )
            case "user" | "attachment":
                merged.append(message)
                since = _barrier(message, len(merged) - 1, since)
            case _ if message.items:  # a local command's output is sent as the user's words
                merged.append(Message("user", message.record, message.items))
                since = len(merged) - 1
    return merged


def _barrier(message: Message, place: int, since: int) -> int:
    if message.kind == "user" and not any(item.kind == "tool_result" for item in message.items):
        return place
    return since


def _is_error_note(message: Message) -> bool:
    return message.record is not None and message.record.failed and message.model == SYNTHETIC


_EDITS = {"ExitPlanMode": Edit.WITHOUT_PLAN, "Edit": Edit.MULTI_EDIT} | dict.fromkeys(ALIASES, Edit.RENAMED)


def _edited(item: Item) -> Item:
    edit = _EDITS.get(item.block.name) if item.kind == "tool_use" else None
    return replace(item, edit=edit) if edit else item


def _without_blanks(items: list[Item]) -> list[Item]:
    """Without white-space texts, except between two thinking blocks."""
    kept = []
    for index, item in enumerate(items):
        between = (
            0 < index < len(items) - 1
            and items[index - 1].kind in THINKING
            and items[index + 1].kind in THINKING
        )
        if item.kind != "text" or not item.block.blank or item.block.empty or between:
            kept.append(item)
    if any(item.kind not in THINKING for item in kept):
        return kept
    return items


def _calls_last(items: list[Item]) -> list[Item]:
    """Calls behind all else, unless that would move thinking that follows a call."""
    first_call = next((index for index, item in enumerate(items) if item.kind == "tool_use"), -1)
    if first_call < 0 or all(item.kind == "tool_use" for item in items[first_call:]):
        return items
    after_thinking = call_since = False
    for item in items:
        if item.kind == "tool_use":
            call_since = True
            continue
        thinks = item.kind in THINKING
        if thinks and after_thinking and call_since:
            return items
        after_thinking, call_since = thinks, False
    return [item for item in items if item.kind != "tool_use"] + [
        item for item in items if item.kind == "tool_use"
    ]


def _join_users(messages: list[Message]) -> list[list[Message]]:
    """Groups: one assistant message, or a run of user messages and attachments."""
    groups: list[list[Message]] = []
    for message in messages:
        if message.kind != "assistant" and groups and groups[-1][0].kind != "assistant":
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def _pair(groups: list[list[Message]]) -> list[list[Message]]:
    """Repair pairs: doubled calls and unpaired results go, missing results are made up."""
    seen: set[str] = set()
    open_calls: list[str] = []
    paired: list[list[Message]] = []
    for group in groups:
        if group[0].kind == "assistant":
            if open_calls:
                paired.append([Message("user", None, _missing(open_calls, set()))])
            open_calls = _unique_calls(group[0], seen)
            paired.append(group)
            continue
        answered = _keep_answers(group, open_calls, first=not paired)
        missing = _missing(open_calls, answered)
        if missing:
            group.insert(0, Message("user", None, missing))
        open_calls = []
        paired.append(group)
    if open_calls:
        paired.append([Message("user", None, _missing(open_calls, set()))])
    return paired


def _unique_calls(message: Message, seen: set[str]) -> list[str]:
    calls: list[str] = []
    kept = []
    for item in message.items:
        if item.kind == "tool_use":
            if item.block.id in seen:
                continue
            seen.add(item.block.id)
            calls.append(item.block.id)
        kept.append(item)
    if message.items and not kept:
        kept = [worded("assistant", INTERRUPTED_CALL)]
    message.items = kept
    return calls


def _missing(calls: list[str], answered: set[str]) -> list[Item]:
    return [worded("user", call, "tool_result") for call in calls if call not in answered]


def _keep_answers(group: list[Message], calls: list[str], *, first: bool) -> set[str]:
    """Drop results that no open call expects; first: the client's own reminder stands in this group."""
    expected = set(calls)
    answered: set[str] = set()
    removed = False
    for message in group:
        kept = []
        for item in message.items:
            if item.kind == "tool_result":
                if item.block.id not in expected or item.block.id in answered:
                    removed = True
                    continue
                answered.add(item.block.id)
            kept.append(item)
        message.items = kept
    if removed and not first and not any(message.items for message in group):
        group[0].items = [worded("user", NO_CONTENT)]
    return answered


def _flatten(groups: list[list[Message]]) -> list[Item | Context]:
    items: list[Item | Context] = []
    for group in groups:
        if group[0].kind == "assistant":
            items += group[0].items
            continue
        users = [item for message in group if message.kind == "user" for item in message.items]
        items += [_failed(item) for item in users if item.kind == "tool_result"]
        items += [item for item in users if item.kind != "tool_result"]
        items += [
            Context(message.record)
            for message in group
            if message.kind == "attachment" and message.record is not None and _is_sent(message.record.detail)
        ]
    return items


def _is_sent(detail: object) -> bool:
    return isinstance(detail, Attached) and not detail.silent


def _failed(item: Item) -> Item:
    if item.record is not None and item.block.error and item.block.nontext:
        return replace(item, edit=Edit.TEXT_ONLY)
    return item
