"""The laws on drawn sessions, on all transcripts at hand, and on damaged ones.

For linear sessions `independent` judges, which knows nothing of Coffer's own laws.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from coffer.core.laws import breaches
from coffer.core.rewrite import rewrite
from coffer.errors import CofferError, LawBroken
from tests.effort import examples
from tests.lab.mutations import Damage, enlarge
from tests.prune.generate import HALF_STEPS, LINEAR_STEPS, PRESCRIBED, STEPS, Step, build, rich, words
from tests.prune.independent import linear, problems, prompts
from tests.prune.world import proposed, pruned, put, side

ROOT = Path(__file__).parents[2]
CORPUS = sorted((ROOT / "tests/corpus/claude").glob("*.jsonl"))
SHARED = sorted((ROOT.parent / "shared/corpus/claude").glob("*.jsonl"))
SMALL_ENOUGH = 400_000
SMALL = [path for path in CORPUS + SHARED if path.stat().st_size <= SMALL_ENOUGH]
PRESCRIPTIONS = ("gentle", "standard", "aggressive")

laws = settings(
    derandomize=True,
    deadline=None,
    max_examples=examples(50, 120),
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)


def _prove(data: bytes, prescription: str, *, may_refuse: bool = False, may_leave_out: bool = False) -> bytes:
    """Prune these bytes and check what comes out; the new bytes, or the old where the prune was refused.

    may_refuse: damage may be such that no plan holds. may_leave_out: … or only without a strategy.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder), data)
        try:
            after, proposal, _ = pruned(path, prescription)
        except LawBroken:
            if not may_refuse:
                raise
            return data
        except CofferError:
            return data
        assert may_leave_out or may_refuse or proposal.plan.left_out == {}
        before = side(data)
        assert breaches(before, side(after, before.view.model), proposal.plan) == []
        whole = sum(tokens for _, tokens in proposal.report.composition.parts)
        assert proposal.plan.tokens() <= proposal.prescription.limit * whole + 1
        with proposed(path, prescription) as again:
            work = rewrite(again.session.transcript, proposal.plan)
            records = again.session.transcript.records
            touched = [(record.start, record.end) for record in records if work.touches(record)]
    _carried(data, after, touched)
    return after


def _lines(data: bytes) -> list[bytes]:
    """Lines with their newline; a carriage return ends none."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def _carried(before: bytes, after: bytes, touched: Sequence[tuple[int, int]]) -> None:
    """Lines that hold no touched record stand in the new file as they are, in order."""
    rest = iter(_lines(after))
    places = iter([*touched, (len(before) + 2, 0)])
    start, at = next(places)[0], 0
    for line in _lines(before):
        end = at + len(line)
        holds = False
        while start < end:
            holds, start = True, next(places)[0]
        if not holds and line.endswith(b"\n"):
            assert line in rest, f"a line that nothing was to happen to is gone: {line[:200]!r}"
        at = end


@laws
@given(steps=LINEAR_STEPS, prescription=PRESCRIBED)
def test_linear_sessions_before_an_independent_judge(steps: list[Step], prescription: str) -> None:
    before = build(steps).data
    after = _prove(before, prescription, may_leave_out=_has_multi_edit(steps))
    assert problems(before, after) == []
    assert prompts(linear(before)) == prompts(linear(after))


@laws
@given(steps=STEPS, prescription=PRESCRIBED)
def test_sessions_with_everything(steps: list[Step], prescription: str) -> None:
    _prove(build(steps).data, prescription, may_leave_out=_has_multi_edit(steps))


def _has_multi_edit(steps: Sequence[Step]) -> bool:
    """B2: such a call costs a session its large-blocks strategy (test_a_large_multi_edit)."""
    return any(step[0] == "multi edit" for step in steps)


def test_a_large_multi_edit_does_not_cost_a_session_its_strategy() -> None:
    steps: list[Step] = [("multi edit", "/w/a.py", 3_000), ("edit", "/w/a.py", 20, False), ("fill", 6)]
    talk = build(steps, ends=False)
    talk.say(words(20_000))
    talk.end()
    _prove(talk.data, "standard")


@settings(laws, max_examples=examples(15, 30))
@given(steps=HALF_STEPS, prescription=PRESCRIBED)
def test_sessions_with_half_an_emoji(steps: list[Step], prescription: str) -> None:
    data = b"".join(
        line.replace(b"\xed\xa0\xbc", b"\\ud83c").replace(b"\xed\xb0\x80", b"\\udc00")
        for line in _lines(build(steps).data)
    )
    _prove(data, prescription)


@settings(laws, max_examples=examples(30, 60))
@given(steps=STEPS, seed=st.integers(0, 9_999), prescription=PRESCRIBED)
def test_damaged_sessions(steps: list[Step], seed: int, prescription: str) -> None:
    _prove(Damage(build(steps).data, seed).data, prescription, may_refuse=True)


@settings(laws, max_examples=examples(30, 60))
@given(steps=STEPS, prescription=PRESCRIBED)
def test_pruning_twice_is_pruning_once(steps: list[Step], prescription: str) -> None:
    """Where the loss limit is far away; at the limit a second prune may go on."""
    talk = build(steps)
    once = _prove(talk.data, prescription, may_leave_out=True)
    with tempfile.TemporaryDirectory() as folder:
        with proposed(put(Path(folder), talk.data), prescription) as first:
            whole = sum(tokens for _, tokens in first.report.composition.parts)
            near = first.plan.tokens() > 0.8 * first.prescription.limit * whole
        twice, second, _ = pruned(put(Path(folder), once, "again"), prescription)
    if not near:
        assert second.plan.is_empty, [(item.strategy, item.action) for item in second.plan.actions]
        assert twice == once


@pytest.mark.parametrize("prescription", PRESCRIPTIONS)
@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_the_corpus(path: Path, prescription: str) -> None:
    _prove(path.read_bytes(), prescription)


@settings(laws, max_examples=examples(40, 80))
@given(
    path=st.sampled_from([path for path in SMALL if path.stat().st_size < 150_000]),
    seed=st.integers(0, 9_999),
    prescription=PRESCRIBED,
)
def test_the_damaged_corpus(path: Path, seed: int, prescription: str) -> None:
    _prove(Damage(path.read_bytes(), seed).data, prescription, may_refuse=True)


@pytest.mark.parametrize("prescription", PRESCRIPTIONS)
def test_a_file_above_5_mib(prescription: str) -> None:
    after = _prove(enlarge(rich().data), prescription)
    assert len(after) < len(enlarge(rich().data))


def test_a_file_that_falls_below_5_mib() -> None:
    """The client reads a small file in another way, and sees more in it than in the large one."""
    talk = rich()
    for number in range(600):
        talk.made.progress(f"p{number}x")
        talk.made.lines[-1] = talk.made.lines[-1][:-1] + b',"filler":"' + b"z" * 9_000 + b'"}'
    talk.end()
    after = _prove(talk.data, "gentle")
    assert len(talk.data) > 5 * 1024 * 1024 > len(after)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_line_of_the_corpus_is_json_after_a_prune(path: Path) -> None:
    for line in _prove(path.read_bytes(), "aggressive").splitlines():
        json.loads(line)


@settings(laws, max_examples=examples(12, 25))
@given(steps=LINEAR_STEPS)
@example(steps=[("read", "/w/a.py", 3_000, False, False, True), ("edit", "/w/a.py", 20, False)])
def test_the_independent_judge_sees_what_is_wrong(steps: list[Step]) -> None:
    """A judge that never objects is worthless: each of these changes is one that it must see."""
    before = build(steps).data
    lines = _lines(before)
    assert problems(before, before) == []
    assert problems(before, b"".join(lines[:-1])) != []
    assert problems(before, b"".join([*lines[1:], lines[0]])) != []
    assert problems(before, before.replace(b"please look", b"please see")) != []
    assert problems(before, before.replace(b"it is done", b"it is not")) != []
    assert problems(before, before.rstrip(b"\n")) != []
