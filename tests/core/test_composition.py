"""What the tokens are made of: it adds up, and it finds a truth that we put in."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coffer.agents.table import CLAUDE
from coffer.core.composition import BYTES_PER_TOKEN, Calibration, Mark, Part, calibrate, compose
from coffer.core.parts import LABELS, parts_of
from coffer.core.view import view
from tests.transcripts import Claude, Json, call, image, read, result, text, thinking, usage

KINDS = sorted(BYTES_PER_TOKEN)


def part(size: int, kind: str = "text", **more: str) -> Part:
    return Part("answers", kind, size, **more)  # type: ignore[arg-type]  # only the text fields are given


def session(
    seed: int, base: float, scale: float, answers: int, noise: float = 0.0
) -> tuple[list[Part], list[Mark]]:
    """Parts whose true tokens are scale × guess, in requests that were counted; noise: how far sizes lie."""
    draw = random.Random(seed)
    parts: list[Part] = []
    marks: list[Mark] = []
    true = base
    for turn in range(answers):
        for _ in range(draw.randint(1, 4)):
            made = Part("x", draw.choice(KINDS), draw.randint(50, 20_000), turn=turn)
            true += made.guess * scale * draw.uniform(1 - noise, 1 + noise)
            parts.append(made)
        marks.append(Mark(len(parts), round(true), 0))
        parts.append(Part("answers", "text", draw.randint(50, 2_000), turn=turn, answer=f"m{turn}"))
        true += parts[-1].guess * scale
    return parts, marks


# --- what must always hold


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 10**7), st.integers(0, 5)), max_size=30),
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 10**6)), max_size=10),
    st.one_of(st.none(), st.integers(0, 10**6)),
)
def test_it_adds_up_for_any_counts(
    made: list[tuple[str, int, int]], counted: list[tuple[int, int]], tokens: int | None
) -> None:
    parts = [Part("x", kind, size, images=images) for kind, size, images in made]
    marks = sorted((Mark(min(at, len(parts)), prompt) for at, prompt in counted), key=lambda mark: mark.parts)
    found = compose(parts, marks, tokens)
    assert found.base >= 0
    assert all(amount >= 0 for _, amount in found.parts)
    assert found.pending >= 0
    assert sum(amount for _, amount in found.parts) + found.base == pytest.approx(found.tokens, abs=1.5)
    assert sum(found.by("label").values()) == pytest.approx(found.tokens - found.base, abs=1.5)


def test_without_a_count_all_is_estimated_and_nothing_is_the_base() -> None:
    found = compose([part(310), part(620)], [], None)
    assert (found.tokens, found.base, found.calibration) == (300, 0, Calibration())


def test_without_a_part_all_is_the_base() -> None:
    assert compose([], [], 12_345).base == 12_345


def test_zero_tokens() -> None:
    found = compose([part(100)], [Mark(1, 50)], 0)
    assert (found.tokens, found.base) == (0, 0)


# --- calibration


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("base", "scale"), [(0, 1.0), (18_000, 1.0), (25_000, 0.7), (12_000, 1.6), (40_000, 2.4)]
)
def test_a_known_truth_is_recovered(seed: int, base: int, scale: float) -> None:
    parts, marks = session(seed, base, scale, answers=30)
    found = calibrate(parts, marks)
    assert found.scale == pytest.approx(scale, rel=0.01)
    assert found.base == pytest.approx(base, rel=0.01, abs=30)
    assert found.error is not None
    assert found.error < 0.01
    assert found.answers == 30


def test_the_error_is_honest() -> None:
    # an error that is measured on the fitted requests would stay small however wrong the estimate is
    def errors(noise: float) -> tuple[float, float]:
        found = [calibrate(*session(seed, 20_000, 1.0, 40, noise)) for seed in range(20)]
        totals = [one.error for one in found if one.error is not None]
        steps = [one.step_error for one in found if one.step_error is not None]
        return sum(totals) / len(totals), sum(steps) / len(steps)

    quiet, some, much = errors(0.0), errors(0.3), errors(0.9)
    assert quiet[0] < some[0] < much[0]
    assert quiet[1] < some[1] < much[1]
    assert quiet[1] < 0.01
    assert much[1] > 0.2


def test_sizes_that_say_nothing_give_a_large_error_of_a_step() -> None:
    draw = random.Random(1)
    parts = [part(draw.randint(10, 50_000)) for _ in range(60)]
    true, marks = 20_000, []
    for index in range(60):
        marks.append(Mark(index, true))
        true += draw.randint(10, 50_000)
    found = calibrate(parts, marks)
    assert found.step_error is not None
    assert found.step_error > 0.3


@pytest.mark.parametrize("answers", [0, 1, 2, 3])
def test_with_few_answers_no_error_is_claimed(answers: int) -> None:
    parts, marks = session(1, 10_000, 1.0, answers)
    found = calibrate(parts, marks)
    assert (found.error, found.step_error, found.answers) == (None, None, 0)


def test_one_odd_request_does_not_bend_the_scale() -> None:
    parts, marks = session(3, 15_000, 1.2, 30)
    marks[11] = Mark(marks[11].parts, marks[11].prompt * 4)
    assert calibrate(parts, marks).scale == pytest.approx(1.2, rel=0.03)


def test_a_context_that_shrank_meanwhile_gives_no_slope() -> None:
    parts = [part(3_100) for _ in range(6)]
    found = calibrate(parts, [Mark(index, 90_000 - 10_000 * index) for index in range(6)])
    assert found.scale == 1.0
    assert found.base >= 0


def test_images_count_by_picture_not_by_byte() -> None:
    found = compose([Part("images", "image", 0, images=2)], [], None)
    assert found.tokens == 3_000


# --- what came after the last count


def test_what_came_after_the_last_answer_is_pending() -> None:
    parts = [part(310), part(620, answer="m1"), part(310, answer="m1"), part(3_100), part(310)]
    found = compose(parts, [Mark(1, 900, 300)], 1_200)
    assert len(found.parts) == 3
    assert found.pending == pytest.approx(1_100)


# --- from a transcript


def test_parts_of_a_session_carry_tool_file_and_turn() -> None:
    made = Claude()
    made.user("question")
    made.answer(thinking("hm"), text("I look"), call("c1", "Read", file_path="/a"), counts=usage(1_000, 50))
    made.result("c1", "content")
    made.user("a picture")
    made.user([image()])
    made.answer(call("c2", "Bash", command="ls -l"), counts=usage(1_100, 50))
    made.user([result("c2", [text("x"), image()])])
    made.answer(text("done"), counts=usage(2_000, 9))
    parts = parts_of(view(read(made)).items)
    assert [(one.label, one.tool, one.path, one.command, one.turn) for one in parts] == [
        ("your words", "", "", "", 1),
        ("thinking", "", "", "", 1),
        ("answers", "", "", "", 1),
        ("tool calls", "Read", "/a", "", 1),
        ("tool results", "Read", "/a", "", 1),
        ("your words", "", "", "", 2),
        ("images", "", "", "", 3),
        ("tool calls", "Bash", "", "ls -l", 3),
        ("tool results", "Bash", "", "ls -l", 3),
        ("answers", "", "", "", 3),
    ]
    assert [one.images for one in parts] == [0, 0, 0, 0, 0, 0, 1, 0, 1, 0]
    assert {one.label for one in parts} <= set(LABELS)


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({}, "your words"),
        ({"isMeta": True}, "client notes"),
        ({"isCompactSummary": True}, "summary"),
        ({"origin": {"kind": "human"}}, "your words"),
        ({"origin": {"kind": "task-notification"}}, "client notes"),
        ({"toolUseResult": {"x": 1}}, "client notes"),
    ],
)
def test_whose_words_a_text_is(fields: Json, label: str) -> None:
    made = Claude()
    made.user("words", **fields)
    made.answer(text("answer"))
    assert parts_of(view(read(made)).items)[0].label == label


def test_the_marks_of_a_session_stand_before_its_answers() -> None:
    made = Claude()
    for turn in range(6):
        made.user("question " * 10)
        made.answer(thinking("hm"), text("answer " * 10), counts=usage(1_000 + 40 * turn, 30))
    seen = view(read(made))
    parts = parts_of(seen.items)
    marks = CLAUDE.marks(seen, parts)
    assert [mark.parts for mark in marks] == [1, 4, 7, 10, 13, 16]
    assert [mark.prompt for mark in marks] == [1_000 + 40 * turn for turn in range(6)]
    found = compose(parts, marks, 1_230)
    assert sum(found.by("label").values()) + found.base == pytest.approx(1_230, abs=3)


def test_tops_are_the_largest_first() -> None:
    found = compose([part(310, tool="a"), part(31_000, tool="b"), part(3_100, tool="a")], [], None)
    assert [one.size for one, _ in found.top(2)] == [31_000, 3_100]
    assert list(found.by("tool")) == ["b", "a"]
    assert found.by("path") == {}
