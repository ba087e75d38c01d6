"""Tokens in the context now, and the window, each with its source."""

from __future__ import annotations

import pytest

from coffer.agents.table import CLAUDE
from coffer.core.dialect import SYNTHETIC
from coffer.core.usage import DEFAULT_WINDOW, LONG_WINDOW, OVERRIDE, WindowMeasure, answers, overridden
from coffer.core.view import view
from tests.transcripts import MODEL, Claude, Json, call, name_of, read, text, thinking, uid, usage

LONG = {"resolvedModel": f"{MODEL}[1m]", "status": "completed"}
AGENT_RESULT = "resolvedModel of an Agent result"


def measured(made: Claude) -> tuple[int, str] | None:
    measure = CLAUDE.measure(view(read(made)))
    return (measure.tokens, measure.source) if measure else None


def window(made: Claude, **environment: str) -> WindowMeasure:
    transcript = read(made)
    return CLAUDE.window(transcript, view(transcript), environment)


def answered(*counts: Json, model: str = MODEL) -> Claude:
    made = Claude(model=model)
    for count in counts:
        made.user("question")
        made.answer(text("answer"), counts=count)
    return made


LAST = "usage of the last answer"


# --- tokens


def test_all_four_counts_of_the_last_answer_are_the_context() -> None:
    made = answered(usage(1, 1), usage(10, 7, created=200, cached=3_000))
    assert measured(made) == (3_217, LAST)


def test_the_records_of_one_message_count_once() -> None:
    made = Claude()
    made.user("question")
    made.answer(thinking(), text("a"), call("c1"), counts=usage(100, 20), name="a")
    made.result("c1")
    transcript = read(made)
    found = answers(view(transcript).branch.records)
    assert [record.usage.context for record in found if record.usage] == [120]


def test_of_growing_counts_the_last_is_taken() -> None:
    # older clients wrote a message's records while it was streamed
    made = Claude()
    made.user("question")
    for output in (1, 5, 90):
        made.answer(text("a"), message="m1", counts=usage(100, output))
    assert measured(made) == (190, LAST)


@pytest.mark.parametrize(
    "add",
    [
        pytest.param({"model": SYNTHETIC}, id="the client's own answer"),
        pytest.param({"counts": usage(0, 0)}, id="an answer of zeros"),
        pytest.param({"isSidechain": True}, id="a subagent's answer"),
        pytest.param({"parent": "u1"}, id="an answer on a dead branch"),
    ],
)
def test_what_is_not_counted(add: Json) -> None:
    made = Claude()
    made.user("question", "u1")
    made.answer(text("answer"), name="a1", counts=usage(100, 10))
    made.last_prompt("a1")
    more: Json = {"counts": usage(9_999, 9), **add}
    made.answer(text("x"), **more)
    if "parent" not in add and "isSidechain" not in add:
        made.last_prompt(name_of(made.leaf or ""))
    assert measured(made) == (110, LAST)


def test_a_file_without_counts_has_no_measure() -> None:
    made = Claude()
    made.user("question")
    made.add("assistant", message={"role": "assistant", "content": "an answer without usage"})
    assert measured(made) is None


def test_after_a_compaction_the_boundary_counts_until_the_next_answer() -> None:
    made = answered(usage(150_000, 10))
    made.compact(post=4_321)
    assert measured(made) == (4_321, "count after compaction")
    made.user("on")
    made.answer(text("yes"), counts=usage(5_000, 1))
    assert measured(made) == (5_001, LAST)


def test_preserved_answers_do_not_count() -> None:
    # they stand in the file with the counts of the old, full context
    made = Claude()
    made.user("question", "u1")
    made.answer(text("answer"), name="a1", counts=usage(150_000, 10))
    made.compact(post=700, preservedMessages={"anchorUuid": uid("bs"), "uuids": [uid("u1"), uid("a1")]})
    assert measured(made) == (700, "count after compaction")


def test_a_boundary_without_a_count_says_nothing() -> None:
    made = answered(usage(150_000, 10))
    made.compact(postTokens=None)
    assert measured(made) is None


def test_the_counts_of_subagents_do_not_fill_the_session() -> None:
    # 14 messages, 102 MB: 404 subagents' records lay in the file
    made = answered(usage(1_000, 10))
    leaf = made.leaf
    for number in range(40):
        made.answer(text("x" * 1_000), name=f"s{number}", counts=usage(190_000, 9), isSidechain=True)
    made.leaf = leaf
    assert measured(made) == (1_010, LAST)


# --- the window: each row names what the session holds, and which source answers


def _plain() -> Claude:
    return answered(usage(1_000))


def _agent(then: str = MODEL) -> Claude:
    made = _plain()
    made.answer(call("c1", "Agent"), counts=usage(1_000))
    made.result("c1", toolUseResult=LONG)
    made.answer(text("done"), counts=usage(1_100), model=then)
    return made


def _agent_of_a_subagent() -> Claude:
    made = _plain()
    leaf = made.leaf
    made.result("c1", toolUseResult=LONG, isSidechain=True)
    made.leaf = leaf
    return made


def _large(model: str = MODEL) -> Claude:
    return answered(usage(200_001), usage(90_000), model=model)


def _large_before_another_model() -> Claude:
    made = answered(usage(250_000))
    made.user("on")
    made.answer(text("yes"), counts=usage(90_000), model="claude-haiku-4-5")
    return made


def _agent_after_the_change() -> Claude:
    made = _agent("claude-haiku-4-5")
    made.answer(call("c2", "Agent"), counts=usage(1_200), model="claude-haiku-4-5")
    made.result("c2", toolUseResult=LONG)
    return made


PRECEDENCE = [
    ("nothing known", _plain(), {}, DEFAULT_WINDOW, "default"),
    ("no answer at all", Claude(), {}, DEFAULT_WINDOW, "default"),
    ("set by the person", _plain(), {OVERRIDE: "300000"}, 300_000, OVERRIDE),
    ("set by the person, against all", _agent(), {OVERRIDE: " 150000 "}, 150_000, OVERRIDE),
    ("set to nothing", _plain(), {OVERRIDE: ""}, DEFAULT_WINDOW, "default"),
    ("set to a word", _plain(), {OVERRIDE: "1M"}, DEFAULT_WINDOW, "default"),
    ("set to zero", _plain(), {OVERRIDE: "0"}, DEFAULT_WINDOW, "default"),
    ("set below zero", _plain(), {OVERRIDE: "-5"}, DEFAULT_WINDOW, "default"),
    ("an Agent result", _agent(), {}, LONG_WINDOW, AGENT_RESULT),
    ("an Agent result, then another model", _agent("claude-haiku-4-5"), {}, DEFAULT_WINDOW, "default"),
    ("another model, then an Agent result", _agent_after_the_change(), {}, LONG_WINDOW, AGENT_RESULT),
    ("the client's own answer changes no model", _agent(SYNTHETIC), {}, LONG_WINDOW, AGENT_RESULT),
    ("an Agent result inside a subagent", _agent_of_a_subagent(), {}, DEFAULT_WINDOW, "default"),
    ("200,000 are no proof", answered(usage(200_000)), {}, DEFAULT_WINDOW, "default"),
    ("above 200,000", _large(), {}, LONG_WINDOW, "usage above 200,000"),
    ("above 1,000,000", answered(usage(1_200_000)), {}, 1_200_000, "usage above 200,000"),
    ("above, by the model before", _large_before_another_model(), {}, DEFAULT_WINDOW, "default"),
    ("a model of the table", answered(usage(1), model="claude-sonnet-5"), {}, LONG_WINDOW, None),
    ("a model not of the table", answered(usage(1), model="claude-sonnet-55"), {}, DEFAULT_WINDOW, "default"),
]


@pytest.mark.parametrize(
    ("made", "environment", "tokens", "source"),
    [row[1:] for row in PRECEDENCE],
    ids=[row[0] for row in PRECEDENCE],
)
def test_the_first_source_that_answers(
    made: Claude, environment: dict[str, str], tokens: int, source: str | None
) -> None:
    found = window(made, **environment)
    assert (found.tokens, source or found.source) == (tokens, found.source)


@pytest.mark.parametrize("said", ["٣", "1_000", "1e6", "0x10", "99 999", "²"])
def test_an_override_that_is_no_plain_number_is_none(said: str) -> None:
    assert overridden({OVERRIDE: said}) is None
