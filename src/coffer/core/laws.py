"""The laws that every prune obeys, checked on what was written, not on what was meant.

The central law: the view of the pruned transcript is the view of the original with the plan's changes and no
other. What those are this module says by itself; it shares no code with `rewrite`. A breach is a value: nothing
is written where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from coffer.core.chain import Gap
from coffer.core.content import content, payload, raw_block
from coffer.core.dialect import NO_RESPONSE, THINKING
from coffer.core.items import Context, Item
from coffer.core.plan import Action, Cut, Drop, Plan, Silence, Strip, Stub, Tail
from coffer.core.record import Record
from coffer.core.view import View

Fetch = Callable[[Record], bytes]


@dataclass(frozen=True, slots=True)
class Breach:
    """A law that a plan would break, with what was found. strategy: whose action it was, "" if unknown."""

    law: str
    found: str
    strategy: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison: a view and the bytes of its records."""

    view: View
    fetch: Fetch


def breaches(before: Side, after: Side, plan: Plan) -> list[Breach]:
    """All breaches of the central law and of the laws that follow the view; none: the prune is right."""
    return [
        *_central(before, after, plan),
        *_gaps(before.view, after.view),
        *_leaf(before.view, after.view, plan.tail),
    ]


def _central(before: Side, after: Side, plan: Plan) -> Iterator[Breach]:
    changes = _changes(plan)
    wanted = [item for item in before.view.items if not _goes(item, changes)]
    found, problem = _without_tail(after, plan.tail)
    if problem:
        yield Breach("the view is the expected one", problem)
        return
    for place, (item, other) in enumerate(zip(wanted, found, strict=False)):
        problem = _differs(item, other, before.fetch, after.fetch, changes)
        if problem:
            yield Breach("the view is the expected one", f"item {place}: {problem}", _owner(item, plan))
            return
    if len(wanted) != len(found):
        rest = (wanted[len(found) :] or found[len(wanted) :])[0]
        says = f"{len(wanted)} items expected, {len(found)} found"
        yield Breach("the view is the expected one", says, _owner(rest, plan))


def _without_tail(after: Side, tail: Tail | None) -> tuple[list[Item | Context], str]:
    """The items without what was added, and what is wrong with that; "" for nothing.

    An attachment is one more context. A user record is one more text, and at the very end the client puts its own
    answer behind it.
    """
    items = after.view.items
    if tail is None:
        return items, ""
    places = [
        at for at, item in enumerate(items) if item.record is not None and item.record.uuid == tail.uuid
    ]
    if len(places) != 1:
        return items, f"what was added is there {len(places)} times"
    place = places[0]
    behind = items[place + 1 :]
    if _ended_behind(after.view, tail):
        return items, "what was added is not behind the last answer that ends a turn"
    if tail.before < 0 and tail.form == "user":
        answer = behind[0] if len(behind) == 1 else None
        if not (isinstance(answer, Item) and answer.text == NO_RESPONSE):
            return items, "the client's own answer is not behind what was added"
        behind = []
    return [*items[:place], *behind], _unlike_tail(items[place], after.fetch, tail)


def _ended_behind(view: View, tail: Tail) -> bool:
    """Whether a turn ended behind what was added: an answer there calls no tool."""
    calls: dict[str, bool] = {}
    behind = False
    for record in view.branch.records:
        behind = behind or record.uuid == tail.uuid
        if behind and record.type == "assistant":
            name = record.message or record.uuid
            called = any(block.kind == "tool_use" for block in record.blocks)
            calls[name] = calls.get(name, False) or called
    return not all(calls.values())


def _unlike_tail(added: Item | Context, fetch: Fetch, tail: Tail) -> str:
    assert added.record is not None
    line = fetch(added.record)
    if tail.form == "attachment":
        said = payload(line) if isinstance(added, Context) else {}
        wanted = ("hook_additional_context", [tail.text], "SessionStart")
        same = tuple(said.get(name) for name in ("type", "content", "hookEvent")) == wanted
    else:
        is_text = isinstance(added, Item) and (added.role, added.kind) == ("user", "text")
        same = isinstance(added, Item) and is_text and content(added, line).get("text") == tail.text
    return "" if same else "what was added says something else"


_Key = tuple[int, int]
_Change = Drop | Cut | Stub | Strip | Silence


def _changes(plan: Plan) -> dict[_Key, _Change]:
    found: dict[_Key, _Change] = {}
    for proposed in plan.actions:
        match proposed.action:
            case Drop(record=record) | Silence(record=record):
                found[record.start, -1] = proposed.action
            case Cut() | Stub() | Strip() as change:
                found[change.record.start, change.index] = change
            case _:
                pass
    return found


def _goes(item: Item | Context, changes: dict[_Key, _Change]) -> bool:
    if item.record is None:
        return False
    if (item.record.start, -1) in changes:
        return True
    return isinstance(item, Item) and isinstance(changes.get((item.record.start, item.index)), Cut)


def _owner(item: Item | Context, plan: Plan) -> str:
    uuid = item.record.uuid if item.record is not None else ""
    return next((p.strategy for p in plan.actions if uuid and p.action.record.uuid == uuid), "")


def _differs(
    item: Item | Context,
    other: Item | Context,
    fetch: Fetch,
    fetch_other: Fetch,
    changes: dict[_Key, _Change],
) -> str:
    if isinstance(item, Context) or isinstance(other, Context):
        if not (isinstance(item, Context) and isinstance(other, Context)):
            return "an attachment and a block changed places"
        same = payload(fetch(item.record)) == payload(fetch_other(other.record))
        return "" if same else "an attachment has another payload"
    if (item.role, item.kind, item.edit, item.text) != (other.role, other.kind, other.edit, other.text):
        return f"{item.role} {item.kind} expected, {other.role} {other.kind} found"
    if item.record is None or other.record is None:
        return "" if item.record is other.record else "words of the client expected or found"
    if item.record.uuid != other.record.uuid:
        return f"record {item.record.uuid} expected, {other.record.uuid} found"
    return _content_differs(item, other, fetch, fetch_other, changes)


def _content_differs(
    item: Item, other: Item, fetch: Fetch, fetch_other: Fetch, changes: dict[_Key, _Change]
) -> str:
    assert item.record is not None
    assert other.record is not None
    change = changes.get((item.record.start, item.index))
    line, other_line = fetch(item.record), fetch_other(other.record)
    if change is None and (line == other_line or _same_bytes(line, other_line, item.index)):
        return ""
    return _unlike(content(item, line), content(other, other_line), change)


def _same_bytes(line: bytes, other: bytes, index: int) -> bool:
    """Whether a block stands in both lines with the same bytes; then it needs no parsing to be the same."""
    try:
        return raw_block(line, index) == raw_block(other, index)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, IndexError):
        return False


def _unlike(before: dict[str, Any], after: dict[str, Any], change: _Change | None) -> str:
    """What in a block is not as the change says; "" for nothing."""
    match change:
        case None:
            return "" if before == after else "the content of an untouched block changed"
        case Strip():
            return _unlike_stripped(before, after)
        case Stub():
            return _unlike_stubbed(before, after, change)
        case _:
            return "a removed block is still there"


_CHANGED_FIELDS = {"tool_result": "content", "tool_use": "input", "text": "text"}


def _same_but(before: dict[str, Any], after: dict[str, Any]) -> str:
    """The name of the one field that may differ, or "" where another one does."""
    name = _CHANGED_FIELDS.get(str(before.get("type")), "")
    rest = {key: value for key, value in before.items() if key != name}
    return name if rest == {key: value for key, value in after.items() if key != name} else ""


def _unlike_stripped(before: dict[str, Any], after: dict[str, Any]) -> str:
    name = _same_but(before, after)
    was, now = before.get(name), after.get(name)
    if not name or not isinstance(was, str) or not isinstance(now, str):
        return "more than a reminder changed"
    gone = was.removeprefix(now) if was.startswith(now) else was
    is_reminder = gone.strip().startswith("<system-reminder>") and gone.strip().endswith("</system-reminder>")
    only_reminder = was.strip().startswith("<system-reminder>") and now == "(reminder)"
    return (
        ""
        if (is_reminder and gone.count("<system-reminder>") == 1) or only_reminder
        else "more than a reminder went"
    )


def _unlike_stubbed(before: dict[str, Any], after: dict[str, Any], stub: Stub) -> str:
    name = _same_but(before, after)
    if not name:
        return "more than the content of a stub changed"
    was, now = before[name], after[name]
    if isinstance(was, dict):
        if not isinstance(now, dict) or list(was) != list(now):
            return "a call lost or gained an input"
        return "" if was != now and _only_stubs(was, now, stub) else "a call's input is no stub"
    if not isinstance(now, str):
        return "a stub is no text"
    if _is_stub_line(now, stub):
        return ""
    text = was if isinstance(was, str) else "\n".join(_texts(was))
    return (
        "" if _is_shortened(text, now, stub) else "a shortened text is not its beginning, a stub and its end"
    )


def _only_stubs(was: Any, now: Any, stub: Stub) -> bool:
    """Whether nothing changed but texts, at any depth, that became the stub."""
    if isinstance(was, dict) and isinstance(now, dict):
        return list(was) == list(now) and all(_only_stubs(was[key], now[key], stub) for key in was)
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(map(_only_stubs, was, now, [stub] * len(was)))
    return bool(was == now) or (isinstance(was, str) and _is_stub_line(now, stub))


def _is_shortened(text: str, now: str, stub: Stub) -> bool:
    """Whether `now` is a beginning of the text, the stub on a line, and an end, neither longer than it may be."""
    at = -1
    while (at := now.find("\n[coffer: ", at + 1)) >= 0:
        end = now.find("\n", at + 1)
        head, middle, tail = now[:at], now[at + 1 : end], now[end + 1 :]
        sizes = 0 < len(head) <= stub.keep[0] and 0 < len(tail) <= stub.keep[1]
        if (
            end > 0
            and sizes
            and text.startswith(head)
            and text.endswith(tail)
            and _is_stub_line(middle, stub)
        ):
            return True
    return False


def _texts(parts: Any) -> list[str]:
    return [p["text"] for p in parts or () if isinstance(p, dict) and isinstance(p.get("text"), str)]


def _is_stub_line(value: Any, stub: Stub) -> bool:
    return (
        isinstance(value, str)
        and value.startswith(f"[coffer: {stub.note}, ")
        and value.endswith("]")
        and "; coffer restore " in value
        and "\n" not in value
    )


def _gaps(before: View, after: View) -> Iterator[Breach]:
    def missing(gaps: list[Gap]) -> set[tuple[str, str]]:
        return {(gap.child.uuid, gap.missing) for gap in gaps}

    new = missing(after.branch.gaps) - missing(before.branch.gaps)
    if new:
        yield Breach("no dangling parent is created", f"{len(new)} new, the first at {min(new)[0]}")
    if after.branch.cycle and not before.branch.cycle:
        yield Breach("no dangling parent is created", "a circle of parents")
    if after.branch.broken and not before.branch.broken:
        yield Breach("preserved messages stay", f"{len(after.branch.broken)} are missing")


def _leaf(before: View, after: View, tail: Tail | None) -> Iterator[Breach]:
    leaf = before.branch.leaf.uuid if before.branch.leaf else ""
    if tail is not None and tail.form == "user" and tail.before < 0:
        leaf = tail.uuid
    found = after.branch.leaf.uuid if after.branch.leaf else ""
    if leaf != found:
        yield Breach("the leaf stays", f"{leaf} expected, {found} found")


def plan_breaches(
    plan: Plan, limit: float, tail: set[int], latest_thinking: set[int], *, bound: bool = False
) -> list[Breach]:
    """Breaches that the plan itself shows: what is protected, and how much may go.

    tail: where records of the protected tail begin. limit: tokens that may go at most. bound: the model takes
    no thinking back behind a change, so all thinking may go, the latest turn's too.
    """
    found = []
    moved = plan.tail.replaced if plan.tail is not None else frozenset()
    for proposed in plan.actions:
        action = proposed.action
        if action.record.start in moved:
            continue  # it stands at the end instead
        if bound and _takes_thinking_only(action):
            continue
        if action.record.start in tail:
            found.append(Breach("the protected tail is untouched", action.record.uuid, proposed.strategy))
        if action.worth and _takes_words(action):
            found.append(Breach("a person's words are untouched", action.record.uuid, proposed.strategy))
        if action.record.start in latest_thinking and _takes_thinking(action):
            found.append(Breach("thinking of the latest turn stays", action.record.uuid, proposed.strategy))
    tokens = sum(item.action.tokens for item in plan.actions if item.action.record.start not in moved)
    if tokens > limit + 1:
        found.append(Breach("the loss limit", f"{tokens:.0f} tokens would go, {limit:.0f} may"))
    return found


def _takes_words(action: Action) -> bool:
    record = action.record
    speaks = record.role == "user" and not (record.returned or record.meta) and record.origin in ("", "human")
    if not speaks or not isinstance(action, Drop | Cut | Stub):
        return False
    blocks = record.blocks if isinstance(action, Drop) else record.blocks[action.index : action.index + 1]
    return any(block.kind in ("text", "image", "document") for block in blocks)


def _takes_thinking_only(action: Action) -> bool:
    blocks = action.record.blocks
    if isinstance(action, Cut):
        return action.index < len(blocks) and blocks[action.index].kind in THINKING
    return isinstance(action, Drop) and bool(blocks) and all(block.kind in THINKING for block in blocks)


def _takes_thinking(action: Action) -> bool:
    return isinstance(action, Drop | Cut) and any(block.kind in THINKING for block in action.record.blocks)
