"""What is odd, how grave it is, and what it means for a resume: one file a finding."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coffer.agents.table import AGENTS
from coffer.core.check import Finding, Level, check
from tests.transcripts import (
    LARGE,
    MODEL,
    Claude,
    Codex,
    call,
    codex_message,
    name_of,
    read,
    result,
    text,
    thinking,
    uid,
)


def findings(made: Claude | Codex | bytes, size: int = 0, agent: str = "") -> list[Finding]:
    transcript = read(made, AGENTS[agent] if agent else None, size=size)
    return check(transcript, AGENTS[transcript.agent].view(transcript, ""))


def grave(made: Claude | Codex | bytes, size: int = 0) -> set[str]:
    return {finding.kind for finding in findings(made, size) if finding.level is not Level.NORMAL}


def tidy() -> Claude:
    made = Claude()
    made.user("question", "u1")
    made.answer(thinking("hm"), text("I look"), call("c1"), call("c2"), name="a")
    made.result("c1", name="r1", parent="ac")
    made.result("c2", name="r2", parent="ad")
    made.answer(text("answer"), name="e")
    made.last_prompt("e")
    return made


# --- what must not be reported


def _titles(made: Claude) -> None:
    made.note("ai-title", aiTitle="a title")
    made.snapshot("u1")


def _rewind(made: Claude) -> None:
    made.user("dead", "x1", parent="a")
    made.answer(text("dead"))
    made.last_prompt("e", explicit=True)


def _compaction(made: Claude) -> None:
    made.compact(preservedMessages={"anchorUuid": uid("bs"), "uuids": [uid("e")]})
    made.user("on")
    made.answer(text("yes"))


def _foreign(made: Claude) -> None:
    for line in (b"[]", b'"x"', b"5", b'{"a":1}'):
        made.raw(line)


def _bridged(made: Claude) -> None:
    made.user("on", "u2", parent="gone", at=made.clock + 4)
    made.answer(text("yes"))
    made.last_prompt(name_of(made.leaf or ""))


def _blank_line(made: Claude) -> None:
    made.raw(b"")
    made.raw(b" \r")


def _dead_open_call(made: Claude) -> None:
    made.answer(call("c9"), name="x2", parent="r2")
    made.last_prompt("e", explicit=True)


def _shared_uuid(made: Claude) -> None:
    made.lines.append(made.lines[0])


def _unknown_attachment(made: Claude) -> None:
    made.attachment("brand_new_thing", payload={"content": "x"})


FINE: list[Callable[[Claude], None]] = [
    _titles,
    _rewind,
    _compaction,
    _foreign,
    _bridged,
    _blank_line,
    _dead_open_call,
    _shared_uuid,
    _unknown_attachment,
]


def test_a_tidy_file_has_no_warning() -> None:
    assert grave(tidy()) == set()
    (only,) = findings(tidy())
    assert (only.kind, only.count) == ("messages on the live branch", 8)


@pytest.mark.parametrize("add", FINE, ids=lambda add: add.__name__)
def test_what_a_resume_does_not_mind_is_no_warning(add: Callable[[Claude], None]) -> None:
    made = tidy()
    add(made)
    assert grave(made) == set()


# --- one file a finding


def _null(made: Claude) -> None:
    made.raw(b"null")


def _torn(made: Claude) -> None:
    made.raw(b'{"type":"ai-title","aiTi')


def _nul(made: Claude) -> None:
    made.raw(b"\0" * 512)


def _garbage(made: Claude) -> None:
    made.raw(b"Segmentation fault")


def _glued(made: Claude) -> None:
    made.raw(b'{"type":"pr-link","prNu' + made.lines[0])


def _second(made: Claude) -> None:
    made.lines[-1] += b'{"type":"ai-title","aiTitle":"x"}'


def _lost(made: Claude) -> None:
    made.user("on", "u2", parent="gone")
    made.answer(text("yes"), name="e2")
    made.last_prompt("e2")


def _cycle(made: Claude) -> None:
    made.lines[0] = made.lines[0].replace(b'"parentUuid":null', f'"parentUuid":"{uid("e")}"'.encode())


def _broken(made: Claude) -> None:
    made.compact(preservedMessages={"anchorUuid": uid("bs"), "uuids": [uid("gone")]})


def _unanswered(made: Claude) -> None:
    made.answer(call("c9"))
    made.user("never mind")
    made.answer(text("fine"))


def _open(made: Claude) -> None:
    made.answer(call("c9"))


def _orphan(made: Claude) -> None:
    made.result("gone")
    made.answer(text("fine"))


def _doubled(made: Claude) -> None:
    made.answer(call("c1"))
    made.result("c1")
    made.answer(text("fine"))


def _unsigned(made: Claude) -> None:
    made.answer({"type": "thinking", "thinking": "cut"}, text("fine"))


WARNINGS = [
    (_null, "null line", Level.FATAL, 1),
    (_torn, "torn line", Level.WARNING, 1),
    (_nul, "NUL bytes", Level.WARNING, 1),
    (_garbage, "unreadable line", Level.WARNING, 1),
    (_glued, "record glued to a torn one", Level.WARNING, 1),
    (_second, "second record on a line", Level.WARNING, 1),
    (_lost, "missing parent, history lost", Level.WARNING, 1),
    (_cycle, "circle of parents", Level.WARNING, 1),
    (_broken, "preserved messages missing", Level.WARNING, 1),
    (_unanswered, "call without a result", Level.WARNING, 1),
    (_open, "open call at the end", Level.WARNING, 1),
    (_orphan, "result without a call", Level.WARNING, 1),
    (_doubled, "doubled call", Level.WARNING, 2),
    (_unsigned, "unsigned thinking", Level.WARNING, 1),
]


@pytest.mark.parametrize(("add", "kind", "level", "count"), WARNINGS, ids=[row[1] for row in WARNINGS])
def test_each_finding(add: Callable[[Claude], None], kind: str, level: Level, count: int) -> None:
    made = tidy()
    add(made)
    assert grave(made) == {kind}
    first = findings(made)[0]
    assert (first.kind, first.level, first.count) == (kind, level, count)
    assert first.meaning.endswith(".")
    assert all(0 <= place < len(made.data) for place in first.places)


NORMALS = [
    (_foreign, "foreign line", 4),
    (_bridged, "missing parent, bridged", 1),
    (_compaction, "compaction", 1),
    (_unknown_attachment, "attachment of an unknown type", 1),
]


@pytest.mark.parametrize(("add", "kind", "count"), NORMALS, ids=[row[1] for row in NORMALS])
def test_what_is_only_told(add: Callable[[Claude], None], kind: str, count: int) -> None:
    made = tidy()
    add(made)
    (found,) = [one for one in findings(made) if one.kind == kind]
    assert (found.level, found.count) == (Level.NORMAL, count)


def test_a_missing_parent_beside_the_live_branch_is_only_told() -> None:
    made = tidy()
    made.user("on", "x1", parent="gone", at=made.clock - 3600)
    assert grave(made) == set()
    (found,) = [one for one in findings(made) if "beside" in one.kind]
    assert found.count == 1


def test_places_are_where_it_stands() -> None:
    made = tidy()
    at = len(made.data)
    made.raw(b"\0" * 512)
    assert findings(made)[0].places == (at,)


def test_null_is_fatal_only_where_the_client_refuses_it() -> None:
    made = Claude()
    made.user("question")
    made.answer(text("answer"))
    made.raw(b"null")
    assert grave(made, LARGE) == set()
    rollout = Codex()
    rollout.meta()
    rollout.message("user", "hi")
    rollout.lines.append(b"null")
    assert grave(rollout) == set()


@pytest.mark.parametrize(("made", "agent"), [(tidy(), "claude"), (Codex(), "codex")])
def test_a_missing_newline_at_the_end(made: Claude | Codex, agent: str) -> None:
    if isinstance(made, Codex):
        made.meta()
        made.message("user", "hi")
    (found,) = [one for one in findings(made.data[:-1], agent=agent) if "newline" in one.kind]
    assert found.level is Level.WARNING
    assert found.places == (len(made.data) - 1 - len(made.lines[-1]),)


def test_eleven_results_without_their_calls() -> None:
    made = Claude()
    made.user("question")
    made.user([result(f"c{number}") for number in range(11)])
    made.answer(text("fine"))
    (found,) = [one for one in findings(made) if one.kind == "result without a call"]
    assert found.count == 11


def test_one_orphan_of_each_kind_in_one_file() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.result("other")
    made.answer(text("fine"))
    assert grave(made) == {"call without a result", "result without a call"}


def test_a_doubled_call_does_not_hide_an_open_one() -> None:
    made = tidy()
    made.answer(call("c1"), call("c9"))
    assert grave(made) == {"doubled call", "open call at the end"}


def test_an_open_call_beside_thinking() -> None:
    made = tidy()
    made.answer(thinking("hm"), call("c9"))
    assert grave(made) == {"open call at the end"}


@pytest.mark.parametrize(
    ("signature", "kind"),
    [("", "unsigned thinking"), ("s" * 24, "thinking with a short signature")],
)
def test_signatures_that_the_api_may_refuse(signature: str, kind: str) -> None:
    made = Claude()
    made.user("question")
    for _ in range(5):
        made.answer(thinking("hm", signature), text("fine"))
    (found,) = [one for one in findings(made) if one.kind == kind]
    assert found.count == 5


def test_thinking_of_another_model_is_told() -> None:
    made = Claude()
    made.user("question")
    made.answer(thinking("hm"), text("fine"), model="claude-haiku-4-5")
    made.answer(text("fine"), model=MODEL)
    (found,) = [one for one in findings(made) if one.kind == "thinking of another model"]
    assert (found.level, found.count) == (Level.NORMAL, 1)


def test_the_gravest_comes_first() -> None:
    made = tidy()
    for add in (_compaction, _torn, _null):
        add(made)
    order = [finding.level for finding in findings(made)]
    assert order == sorted(order, key=list(Level).index, reverse=True)
    assert order[0] is Level.FATAL


def test_a_session_that_reaches_nothing_is_a_warning() -> None:
    made = Claude()
    made.user("question")
    made.last_prompt(None, explicit=True)
    assert grave(made) == {"messages on the live branch"}


def test_forks_are_counted() -> None:
    made = tidy()
    made.user("dead", "x1", parent="r2")
    made.last_prompt("e", explicit=True)
    (found,) = [one for one in findings(made) if one.kind == "messages on the live branch"]
    assert "reaches 8 of 9" in found.meaning
    assert "2 forks" in found.meaning  # one of them is natural: a result beside the next call of its message


def test_a_tidy_rollout_has_no_warning() -> None:
    made = Codex()
    made.meta()
    made.turn()
    made.message("user", "question")
    made.call("c1")
    made.output("c1")
    made.message("assistant", "answer")
    made.count(1_000, 10)
    made.compacted([codex_message("user", "question"), codex_message("user", "SUMMARY")])
    made.message("user", "on")
    assert grave(made) == set()


def test_an_open_call_of_a_rollout() -> None:
    made = Codex()
    made.meta()
    made.message("user", "question")
    made.call("c1")
    assert grave(made) == {"open call at the end"}
