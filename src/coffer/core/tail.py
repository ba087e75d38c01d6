"""The rules at the end of a transcript that is being rewritten: one record that hangs off the live branch.

Form `attachment` (the default): what the client itself writes for a SessionStart hook, with exactly the text that such
a hook would give at a resume, so that the client, which drops a text that it has, shows one copy. Form `user`: the
seed's record, with the keys without which the client never reads it; it shows as a turn, and the client adds an
answer of its own behind it. Older copies go, or fall silent where a client may still name their record as a parent.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coffer.core.plan import Drop, Form, Plan, Proposed, Silence, Stub, Tail, Worth
from coffer.core.record import Attached, Record
from coffer.core.rewrite import encode
from coffer.core.view import View

FORMS: tuple[Form, ...] = ("attachment", "user")
STRATEGY = "bundles"
"""The strategy that older copies go by: it is the one that keeps the newest of them."""
_COPIED = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch")
_HOOK = "SessionStart"
_NAMESPACE = uuid.UUID("6c1f5a8e-0d0b-5c55-9c3e-3f0f3c1c3a11")
_WHY = "the rules stand at the end"


@dataclass(frozen=True, slots=True)
class Copy:
    """A block that the view holds: its record, its text, and the tokens that it takes."""

    record: Record
    text: str
    tokens: float = 0.0


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to stand at the end, and the lines of records by where they begin."""

    text: str
    form: Form
    fetch: Callable[[Record], bytes]


def with_tail(plan: Plan, view: View, wish: Wish, copies: Sequence[Copy], nameable: Collection[str]) -> Plan:
    """The plan with the rules moved to the end; the same plan where there is nothing to do or no place for it.

    A plan that changes nothing stays as it is. copies: in the view's order. Where the text stands at the end already,
    only other copies go.
    """
    if plan.is_empty or not wish.text:
        return plan
    stays = copies[-1:] if _stands_at_the_end(view, copies, wish) else []
    old = [copy for copy in copies if copy not in stays]
    moved = copies[-1] if not stays and copies else None
    replaced = frozenset(copy.record.start for copy in old)
    kept = [item for item in plan.actions if item.action.record.start not in replaced]
    goes = [Proposed(STRATEGY, _gone(copy, nameable, 0.0 if copy is moved else copy.tokens)) for copy in old]
    found = Plan([*kept, *goes], plan.left_out, plan.limited)
    if stays:
        return found
    place = _place(view, found.dropped())
    if place is None:
        return plan
    last, following = place
    name, line = record_of(last, wish)
    found.wanted = Tail(
        wish.text, wish.form, name, line, replaced, following.start if following is not None else -1
    )
    return found


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where the rules stand in a branch: behind the record at `after`, and before the next answer, at `answer`."""

    after: int
    answer: int


def _spot(records: Sequence[Record]) -> _Spot | None:
    """Right behind the last answer that ends a turn; None where no turn was ended.

    What a person said since, `/exit` and its farewell above all, stays the end. A turn that was cut in its work, by a
    kill behind a call, keeps its end too: there the client takes an attachment for an answer that is missing. The rules
    then stand where it writes them itself, between the turn before and the prompt of this one.
    """
    answer = len(records)
    spoken = ""
    for at in range(len(records) - 1, -1, -1):
        record = records[at]
        if record.type == "user":
            spoken = "result" if record.returned else "prompt"
        elif record.type == "assistant":
            ends = not any(block.kind == "tool_use" for block in record.blocks)
            if ends and spoken in ("", "prompt"):
                return _Spot(at, answer)
            answer, spoken = at, "answer"
    return None


def _place(view: View, dropped: Collection[int]) -> tuple[Record, Record | None] | None:
    """The record that the rules are put behind, and the one that then hangs on them; None where there is no place."""
    records = [record for record in view.branch.records if record.start not in dropped]
    spot = _spot(records)
    if spot is None:
        return None
    since = [at for at in range(spot.after + 1, len(records)) if records[at].type == "user"]
    return (records[since[0] - 1], records[since[0]]) if since else (records[-1], None)


def _stands_at_the_end(view: View, copies: Sequence[Copy], wish: Wish) -> bool:
    """Whether the newest copy says this, in this form, where it would be put."""
    if not copies or copies[-1].text != wish.text:
        return False
    record, records = copies[-1].record, view.branch.records
    same = isinstance(record.detail, Attached) if wish.form == "attachment" else record.type == "user"
    spot = _spot(records)
    after, answer = (spot.after, spot.answer) if spot is not None else (-1, len(records))
    return same and any(one is record for one in records[after + 1 : answer])


def _gone(copy: Copy, nameable: Collection[str], tokens: float) -> Drop | Silence | Stub:
    if copy.record.uuid not in nameable:
        return Drop(copy.record, Worth.REPEATED, _WHY, tokens)
    if isinstance(copy.record.detail, Attached):
        return Silence(copy.record, Worth.REPEATED, _WHY, tokens)
    return Stub(copy.record, 0, Worth.REPEATED, "the rules, which stand at the end", _WHY, tokens=tokens)


def record_of(last: Record, wish: Wish) -> tuple[str, bytes]:
    """The uuid and the line, without its newline, of a record that carries the text behind `last`.

    What the client writes into each record is taken from the line of `last`. The same input gives the same record.
    """
    said = _said(wish.fetch(last))
    name = str(uuid.uuid5(_NAMESPACE, f"{last.uuid} {wish.form} {wish.text}"))
    record: dict[str, Any] = {"parentUuid": last.uuid, "isSidechain": False}
    if wish.form == "attachment":
        record["attachment"] = {
            "type": "hook_additional_context",
            "content": [wish.text],
            "hookName": _HOOK,
            "toolUseID": _HOOK,
            "hookEvent": _HOOK,
        }
        record["type"] = "attachment"
    else:
        record |= {"type": "user", "message": {"role": "user", "content": wish.text}, "isMeta": True}
    record |= {"uuid": name, "timestamp": last.time}
    record |= {key: said[key] for key in _COPIED if key in said}
    return name, encode(record)


def _said(line: bytes) -> Mapping[str, Any]:
    try:
        said = json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
