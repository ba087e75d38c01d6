"""A second opinion on a prune, with the plain json module and a loader of its own for linear sessions.

It shares nothing with `coffer`: it reads both files, follows parents from the last record, and says what is not
as a prune may leave it. It knows sessions without forks, compactions and damage only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
_CHAINED = ("user", "assistant", "attachment", "system", "progress")
_MARK = "[coffer: "
_RESTORE = "; coffer restore "


@dataclass
class Linear:
    """A session as a list of lines and of chained records, in the chain's order."""

    lines: list[bytes]
    records: list[Json]
    chain: list[Json]


def linear(data: bytes) -> Linear:
    lines = data.splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    chained = [record for record in records if record.get("uuid") and record["type"] in _CHAINED]
    by_uuid = {record["uuid"]: record for record in chained}
    assert len(by_uuid) == len(chained), "a uuid stands twice: no linear session"
    chain: list[Json] = []
    current: Json | None = chained[-1] if chained else None
    while current is not None:
        chain.append(current)
        parent = current["parentUuid"]
        if parent is None:
            break
        assert parent in by_uuid, f"the parent {parent} is missing"
        current = by_uuid[parent]
    return Linear(lines, records, list(reversed(chain)))


def problems(before: bytes, after: bytes) -> list[str]:
    """What in `after` can't be the result of a prune of `before`; nothing: it can."""
    old, new = linear(before), linear(after)
    found: list[str] = []
    if not after.endswith(b"\n"):
        found.append("no final newline")
    found += _lines(old, new)
    found += _records(old, new)
    found += _pairs(new)
    found += _prompts(old, new)
    if old.chain and (not new.chain or new.chain[-1]["uuid"] != old.chain[-1]["uuid"]):
        found.append("another leaf")
    return found


def _lines(old: Linear, new: Linear) -> list[str]:
    """Each new line is an old one, or the change of one; and they stand in the old order."""
    place = {key: index for index, record in enumerate(old.records) if (key := _key(record))}
    last = -1
    found = []
    known = set(old.lines)
    for line, record in zip(new.lines, new.records, strict=True):
        key = _key(record)
        if not key:
            if line not in known:
                found.append("a line without a uuid changed")
            continue
        if place.get(key, -1) <= last:
            found.append(f"{key} is new, or out of its order")
        last = place.get(key, last)
    return found


def _key(record: Json) -> str:
    return record.get("uuid") or ""


def _records(old: Linear, new: Linear) -> list[str]:
    before = {record["uuid"]: record for record in old.records if record.get("uuid")}
    kept = {record["uuid"] for record in new.records if record.get("uuid")}
    found = []
    for record in new.records:
        if not record.get("uuid") or record["uuid"] not in before:
            continue
        was = before[record["uuid"]]
        names = {*was, *record} - {"message", "toolUseResult", "parentUuid"}
        found += [f"{record['uuid']}: {name} changed" for name in names if was.get(name) != record.get(name)]
        if "toolUseResult" in record and record["toolUseResult"] != was["toolUseResult"]:
            found.append(f"{record['uuid']}: its sidecar changed")
        if record["parentUuid"] != _survivor(was["parentUuid"], before, kept):
            found.append(f"{record['uuid']}: another parent than its nearest surviving ancestor")
        found += [
            f"{record['uuid']}: {said}" for said in _messages(was.get("message"), record.get("message"))
        ]
    return found


def _survivor(uuid: str | None, before: dict[str, Json], kept: set[str]) -> str | None:
    while uuid is not None and uuid not in kept:
        uuid = before[uuid]["parentUuid"]
    return uuid


def _messages(was: Json | None, now: Json | None) -> list[str]:
    if was is None or now is None:
        return [] if was == now else ["a message came or went"]
    found = [
        f"{name} of the message changed"
        for name in {*was, *now} - {"content"}
        if was.get(name) != now.get(name)
    ]
    old, new = was["content"], now["content"]
    if isinstance(old, str) or isinstance(new, str):
        return found + ([] if old == new or _is_stub(old, new) else ["its text changed"])
    if not new:
        return [*found, "an empty content"]
    rest = list(old)
    for block in new:
        while rest and not _same(rest[0], block):
            gone = rest.pop(0)
            if gone["type"] not in ("thinking", "redacted_thinking"):
                found.append(f"a block of {gone['type']} is gone or changed")
        if not rest:
            found.append("a block that was not there")
            break
        rest.pop(0)
    found += [f"a block of {gone['type']} is gone" for gone in rest if "thinking" not in gone["type"]]
    return found


def _same(was: Json, now: Json) -> bool:
    if was == now:
        return True
    if was["type"] != now["type"]:
        return False
    match was["type"]:
        case "tool_result":
            rest = {**was, "content": 0} == {**now, "content": 0}
            return rest and (
                _is_stub(was["content"], now["content"]) or _is_stripped(was["content"], now["content"])
            )
        case "tool_use":
            rest = {**was, "input": 0} == {**now, "input": 0} and list(was["input"]) == list(now["input"])
            return rest and _same_input(was["input"], now["input"])
        case "text":
            return _is_stub(was["text"], now["text"])
        case _:
            return False


def _same_input(was: object, now: object) -> bool:
    """Equal but for texts, also those in the edits of a MultiEdit, that became a stub."""
    if isinstance(was, dict) and isinstance(now, dict):
        return list(was) == list(now) and all(_same_input(was[name], now[name]) for name in was)
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(_same_input(*pair) for pair in zip(was, now, strict=True))
    return was == now or _is_stub(was, now)


def _is_stub(was: object, now: object) -> bool:
    """A stub line alone, or the beginning of a text, a stub line, and its end."""
    if not isinstance(now, str) or now.count(_RESTORE) < 1 or _MARK not in now:
        return False
    head, _, rest = now.partition(_MARK)
    _, _, tail = rest.partition(_RESTORE)
    tail = tail.partition("]")[2]
    if not head and not tail:
        return True
    if isinstance(was, list):
        was = "\n".join(part["text"] for part in was if part.get("type") == "text")
    return isinstance(was, str) and was.startswith(head.rstrip("\n")) and was.endswith(tail.lstrip("\n"))


def _is_stripped(was: object, now: object) -> bool:
    if not isinstance(was, str) or not isinstance(now, str):
        return False
    gone = was.removeprefix(now)
    return gone.strip().startswith("<system-reminder>") and gone.strip().endswith("</system-reminder>")


def _pairs(new: Linear) -> list[str]:
    """Every call has its result right behind its message, every result its call."""
    open_calls: set[str] = set()
    found = []
    speaking = ""
    for record in new.chain:
        message = record.get("message")
        if message is None:
            continue
        blocks = message["content"] if isinstance(message["content"], list) else []
        if record["type"] == "assistant":
            if open_calls and message.get("id") != speaking:
                found.append(f"calls without a result: {sorted(open_calls)}")
                open_calls = set()
            speaking = message.get("id", "")
            open_calls |= {block["id"] for block in blocks if block["type"] == "tool_use"}
            continue
        for block in blocks:
            if block["type"] == "tool_result":
                if block["tool_use_id"] not in open_calls:
                    found.append(f"a result without its call: {block['tool_use_id']}")
                open_calls.discard(block["tool_use_id"])
    if open_calls:
        found.append(f"calls without a result at the end: {sorted(open_calls)}")
    return found


def _prompts(old: Linear, new: Linear) -> list[str]:
    """What a person said stands there byte for byte."""
    return [] if prompts(old) == prompts(new) else ["a person's words changed"]


def prompts(session: Linear) -> list[object]:
    found = []
    for record in session.chain:
        is_said = record["type"] == "user" and not record.get("isMeta") and "toolUseResult" not in record
        content = record["message"]["content"] if is_said else None
        if isinstance(content, str) or (
            content and not any(block["type"] == "tool_result" for block in content)
        ):
            found.append(content)
    return found
