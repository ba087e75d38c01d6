"""Each law is broken once by a wrong file, written by hand: a law that can't fail proves nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from coffer.core.laws import Breach, breaches, plan_breaches
from coffer.core.plan import Cut, Drop, Plan, Strip, Stub, Trim, Worth
from tests.prune.generate import REMINDER, Talk, begun, words
from tests.prune.world import look, plan_of, records_of, rewritten, side
from tests.transcripts import call, image, text, thinking, uid

VIEW = "the view is the expected one"
DANGLING = "no dangling parent is created"
Record = dict[str, Any]
Change = Callable[[list[Record]], None]


def _session() -> Talk:
    """A little of everything that a law speaks of."""
    talk = begun()
    talk.made.progress("p")
    talk.read("/w/a.py", 3_000, "read", side={"x": words(900)})
    talk.made.answer(
        thinking("hm"), text("well"), call("c2", "Write", file_path="/w/a.py", content=words(900)), name="w"
    )
    talk.made.result("c2", "ok" + REMINDER, "wr")
    talk.made.attachment("task_reminder", "rem", {"content": [{"subject": "x"}]})
    talk.bash("make", words(9_000, "long"), "long")
    talk.say("so far", "so")
    talk.ask("second", "second")
    talk.bash("ls", "a b", "ls")
    talk.end()
    return talk


def _plan(talk: Talk) -> Plan:
    _, names = records_of(talk)
    return plan_of(
        Drop(names["p"], Worth.NOTHING),
        Stub(names["readr"], 0, Worth.SUPERSEDED, "Read /w/a.py"),
        Stub(names["wc"], 0, Worth.SUPERSEDED, "Write /w/a.py"),
        Strip(names["wr"], 0),
        Stub(names["longr"], 0, Worth.STALE, "Bash make", keep=(100, 50)),
        Drop(names["rem"], Worth.REPEATED),
        Trim(names["readr"]),
        Drop(names["lsc"], Worth.STALE),
        Drop(names["lsr"], Worth.STALE),
    )


def _broken(talk: Talk, plan: Plan, change: Change | None = None) -> list[Breach]:
    data = rewritten(talk.data, plan)
    if change is not None:
        found = [json.loads(line) for line in data.splitlines()]
        change(found)
        data = b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in found)
    before = side(talk.data)
    return breaches(before, side(data, before.view.model), plan)


def test_a_right_rewrite_breaks_no_law() -> None:
    talk = _session()
    assert _broken(talk, _plan(talk)) == []


def _of(records: list[Record], name: str) -> Record:
    return next(record for record in records if record.get("uuid") == uid(name))


def _content(records: list[Record], name: str) -> Any:
    return _of(records, name)["message"]["content"]


def _set(name: str, value: object, *path: str | int) -> Change:
    def change(records: list[Record]) -> None:
        place: Any = _of(records, name)
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def _without(name: str, *, relinked: bool = True) -> Change:
    def change(records: list[Record]) -> None:
        gone = _of(records, name)
        records.remove(gone)
        for record in records:
            if relinked and record.get("parentUuid") == gone["uuid"]:
                record["parentUuid"] = gone["parentUuid"]

    return change


def _edit(name: str, edit: Callable[[str], str], *path: str | int) -> Change:
    def change(records: list[Record]) -> None:
        place: Any = _of(records, name)
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = edit(place[path[-1]])

    return change


_RESULT = ("message", "content", 0, "content")
_STUB = "[coffer: Read /w/a.py, 3.0 KB, removed; coffer restore 0123456789]"

WRONG: list[tuple[str, Change, str, str]] = [
    (
        "an untouched text changed",
        _set("first", "other words", "message", "content"),
        VIEW,
        "untouched block",
    ),
    (
        "one character of an answer",
        _edit("wb", lambda s: s + ".", "message", "content", 0, "text"),
        VIEW,
        "untouched",
    ),
    ("thinking changed", _set("wa", "ha", "message", "content", 0, "thinking"), VIEW, "untouched"),
    ("a signature changed", _set("wa", "z" * 300, "message", "content", 0, "signature"), VIEW, "untouched"),
    ("a prompt is gone", _without("second"), VIEW, "expected"),
    ("an answer is gone", _without("so"), VIEW, "expected"),
    ("thinking is gone", _without("wa"), VIEW, "expected"),
    ("a result is gone", _without("longr"), VIEW, "expected"),
    ("a call is gone", _without("longc"), VIEW, "expected"),
    ("the leaf is gone", _without("lasta"), "the leaf stays", "lasta"),
    ("a parent is gone", _without("so", relinked=False), DANGLING, "second"),
    ("a circle", _set("first", uid("so"), "parentUuid"), DANGLING, "circle"),
    (
        "another call's result",
        _set("longr", "call_read", "message", "content", 0, "tool_use_id"),
        VIEW,
        "expected",
    ),
    ("another role", _set("so", "user", "message", "role"), VIEW, "expected"),
    (
        "an error became none",
        _set("longr", True, "message", "content", 0, "is_error"),
        VIEW,
        "more than the content",
    ),
    ("a stub without its line", _set("readr", "gone", *_RESULT), VIEW, "is not its beginning"),
    (
        "a stub of another file",
        _set("readr", _STUB.replace("a.py", "b.py"), *_RESULT),
        VIEW,
        "is not its beginning",
    ),
    (
        "a stub in two lines",
        _set("readr", _STUB.replace(", 3", ",\n3"), *_RESULT),
        VIEW,
        "is not its beginning",
    ),
    ("a stub that is no text", _set("readr", [{"type": "text", "text": _STUB}], *_RESULT), VIEW, "no text"),
    ("a beginning that is shortened too much", _edit("longr", lambda s: s[5:], *_RESULT), VIEW, "beginning"),
    ("an end that is shortened too much", _edit("longr", lambda s: s[:-5], *_RESULT), VIEW, "beginning"),
    ("more between them", _edit("longr", lambda s: s.replace("]", "] and"), *_RESULT), VIEW, "beginning"),
    ("an input more", _set("wc", "x", "message", "content", 0, "input", "more"), VIEW, "lost or gained"),
    ("another path", _set("wc", "/w/b.py", "message", "content", 0, "input", "file_path"), VIEW, "no stub"),
    ("another tool", _set("wc", "Wrote", "message", "content", 0, "name"), VIEW, "more than the content"),
    ("a reminder that stays", _edit("wr", lambda s: s + REMINDER, *_RESULT), "", ""),
    ("more than the reminder", _edit("wr", lambda _: "o", *_RESULT), VIEW, "more than a reminder"),
    ("less than the reminder", _edit("wr", lambda s: s + "x", *_RESULT), VIEW, "more than a reminder"),
    ("blocks in another order", lambda r: r.sort(key=lambda record: record["uuid"]), "", ""),
]


@pytest.mark.parametrize(("change", "law", "found"), [pytest.param(c, w, f, id=n) for n, c, w, f in WRONG])
def test_a_wrong_file_breaks_its_law(change: Change, law: str, found: str) -> None:
    talk = _session()
    broken = _broken(talk, _plan(talk), change)
    if law:
        assert law in [breach.law for breach in broken]
        assert found in " ".join(breach.found for breach in broken if breach.law == law)


def test_the_order_of_lines_is_not_the_order_of_the_chain() -> None:
    """Only the client's own pointers choose the leaf, so a sorted file with one is the same session."""
    talk = _session()
    talk.made.last_prompt("lasta", explicit=True)

    def change(records: list[Record]) -> None:
        records.sort(key=lambda record: record.get("uuid", "~"))

    assert _broken(talk, _plan(talk), change) == []


def test_a_dropped_record_that_stays_breaks_the_view() -> None:
    talk = _session()
    _, names = records_of(talk)
    kept = plan_of(Drop(names["p"], Worth.NOTHING))
    said = plan_of(Drop(names["p"], Worth.NOTHING), Drop(names["so"], Worth.STALE))
    before = side(talk.data)
    found = breaches(before, side(rewritten(talk.data, kept), before.view.model), said)
    assert [breach.law for breach in found] == [VIEW]


def test_a_stub_that_was_not_made_breaks_the_view() -> None:
    talk = _session()
    _, names = records_of(talk)
    said = plan_of(Stub(names["readr"], 0, Worth.STALE, "Read /w/a.py"), strategy="mine")
    before = side(talk.data)
    found = breaches(before, before, said)
    assert [(breach.law, breach.strategy) for breach in found] == [(VIEW, "mine")]


def test_a_call_without_its_result_breaks_the_view() -> None:
    talk = _session()
    _, names = records_of(talk)
    for gone in ("lsc", "lsr"):
        plan = plan_of(Drop(names[gone], Worth.STALE))
        assert [breach.law for breach in _broken(talk, plan)] == [VIEW]


def test_thinking_cut_away_and_more_breaks_the_view() -> None:
    talk = _session()
    _, names = records_of(talk)
    plan = plan_of(Drop(names["wa"], Worth.STALE))
    assert _broken(talk, plan) == []
    assert _broken(talk, plan, _without("wb")) != []


def test_an_attachment_with_another_payload_breaks_the_view() -> None:
    talk = _session()
    broken = _broken(talk, plan_of(), _set("rem", [{"subject": "y"}], "attachment", "content"))
    assert [breach.found.split(": ")[1] for breach in broken] == ["an attachment has another payload"]


def test_preserved_messages_that_vanish_break_a_law() -> None:
    talk = begun()
    talk.say("keep", "kept")
    listed = {"anchorUuid": uid("bs"), "uuids": [uid("kept")], "allUuids": [uid("kept")]}
    talk.made.compact(name="b", preservedMessages=listed)
    talk.end()
    broken = _broken(talk, plan_of(), _without("kept"))
    assert "preserved messages stay" in [breach.law for breach in broken]


# --- what the plan itself shows ---------------------------------------------------------------------------


def _plan_laws(plan: Plan, **more: Any) -> list[str]:
    given: dict[str, Any] = {"limit": 1e9, "tail": set(), "latest_thinking": set()} | more
    return [breach.law for breach in plan_breaches(plan, **given)]


def test_the_protected_tail() -> None:
    _, names = records_of(_session())
    plan = plan_of(Stub(names["lsr"], 0, Worth.STALE, "n"))
    assert _plan_laws(plan) == []
    assert _plan_laws(plan, tail={names["lsr"].start}) == ["the protected tail is untouched"]


@pytest.mark.parametrize("action", [Drop, Cut, Stub], ids=lambda kind: kind.__name__)
def test_a_persons_words(action: type) -> None:
    talk = begun()
    talk.ask([text("mine"), image()], "human", origin={"kind": "human"})
    talk.ask("not mine", "task", origin={"kind": "task-notification"})
    talk.ask("nor that", "meta", isMeta=True)
    _, names = records_of(talk)

    def plan(name: str, index: int = 0) -> Plan:
        record = names[name]
        if action is Drop:
            return plan_of(Drop(record, Worth.STALE))
        if action is Cut:
            return plan_of(Cut(record, index, Worth.STALE))
        return plan_of(Stub(record, index, Worth.STALE, "n"))

    for name, index in (("first", 0), ("human", 0), ("human", 1)):
        assert _plan_laws(plan(name, index)) == ["a person's words are untouched"]
    assert _plan_laws(plan("task")) == _plan_laws(plan("meta")) == []


def test_thinking_of_the_latest_turn() -> None:
    _, names = records_of(_session())
    plan = plan_of(Drop(names["wa"], Worth.STALE))
    assert _plan_laws(plan, latest_thinking={names["wa"].start}) == ["thinking of the latest turn stays"]
    assert _plan_laws(plan) == []


def test_the_loss_limit() -> None:
    _, names = records_of(_session())
    plan = plan_of(Stub(names["lsr"], 0, Worth.STALE, "n", tokens=50))
    assert _plan_laws(plan, limit=49) == []
    assert _plan_laws(plan, limit=40) == ["the loss limit"]


def test_a_plan_breach_names_its_strategy() -> None:
    _, names = records_of(_session())
    plan = plan_of(Drop(names["first"], Worth.STALE), strategy="bold")
    assert [breach.strategy for breach in plan_breaches(plan, 1e9, set(), set())] == ["bold"]


def test_the_scene_knows_its_tail() -> None:
    looked = look(_session())
    assert [entry.turn for entry in looked.entries][-1] == looked.tail
