"""How a session stands, folded record by record, is what the whole transcript says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coffer.agents.table import AGENTS
from coffer.core.inflight import conversation
from coffer.core.record import Record
from coffer.core.standing import Tally
from coffer.core.usage import OVERRIDE, Reported
from tests.transcripts import MODEL, Claude, Codex, call, read, text, usage

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = sorted(path for path in CORPUS.glob("*/*.jsonl") if "session_index" not in path.name)


def tallied(data: bytes, agent: str = "claude") -> Tally:
    tally, offset = Tally(agent), 0
    for line in data.splitlines(keepends=True):
        for found in AGENTS[agent].translate(line, offset):
            if isinstance(found, Record):
                tally.hear(found)
        offset += len(line)
    return tally


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_says_what_the_whole_file_says(path: Path) -> None:
    agent, data = AGENTS[path.parent.name], path.read_bytes()
    tally, transcript = tallied(data, agent.name), read(data, agent)
    view = agent.view(transcript, "")
    measure, window = agent.measure(view), agent.window(transcript, view, {})
    assert tally.tokens == (measure.tokens if measure is not None else None)
    assert tally.window(None, {}) == window
    if agent.name == "claude":
        said = conversation(transcript, lambda record: data[record.start : record.end])
        assert tally.open == said.open


def answered(made: Claude, tokens: int = 100, **more: str) -> None:
    made.user("question")
    made.answer(text("answer"), counts=usage(tokens), **more)


def compacted(made: Claude) -> None:
    answered(made, 9_000)
    made.compact(post=700)


def rewound(made: Claude) -> None:
    answered(made)
    made.last_prompt("auto1", rewound=True, explicit=True)


def called(made: Claude) -> None:
    made.user("question")
    made.answer(call("c1"), call("c2"), name="a", counts=usage(50))
    made.result("c1")


def interrupted(made: Claude) -> None:
    called(made)
    made.user([text("[Request interrupted by user]")])


CLAUDE: dict[str, tuple[Callable[[Claude], object], tuple[int | None, bool, bool, list[str], bool]]] = {
    "nothing": (bool, (None, False, False, [], False)),
    "a prompt": (lambda made: made.user("question"), (None, True, False, [], False)),
    "an answer": (answered, (100, False, True, [], False)),
    "a compaction": (compacted, (700, False, True, [], False)),
    "a rewind": (rewound, (100, False, True, [], True)),
    "an open call": (called, (50, True, False, ["c2"], False)),
    "an interruption": (interrupted, (50, False, True, [], False)),
}


@pytest.mark.parametrize("name", CLAUDE)
def test_where_a_turn_is(name: str) -> None:
    make, (tokens, turning, ended, calls, unsure) = CLAUDE[name]
    made = Claude()
    make(made)
    tally = tallied(made.data)
    assert (tally.tokens, tally.turning, tally.ended is not None) == (tokens, turning, ended)
    assert ([one.id for one in tally.open], tally.unsure) == (calls, unsure)


def test_an_answer_after_a_rewind_is_sure_again() -> None:
    made = Claude()
    rewound(made)
    answered(made, 60)
    tally = tallied(made.data)
    assert (tally.tokens, tally.unsure) == (60, False)


def test_a_subagents_records_in_the_file_are_not_the_sessions() -> None:
    made = Claude()
    answered(made, 60)
    made.answer(call("s1"), counts=usage(5), isSidechain=True)
    tally = tallied(made.data)
    assert (tally.tokens, tally.turning, tally.open) == (60, False, ())


def test_the_window_by_who_says_it_first() -> None:
    made = Claude()
    answered(made, 100)
    tally = tallied(made.data)
    reported = Reported(f"{MODEL}[1m]", 0, "SessionStart", 0.0)
    assert tally.window(reported, {OVERRIDE: "5000"}).tokens == 5_000
    assert tally.window(reported, {}).source == "SessionStart"
    answered(made, 300_000)
    assert tallied(made.data).window(None, {}).source == "usage above 200,000"
    made.answer(text("answer"), counts=usage(10), model="claude-other-1")
    assert tallied(made.data).window(None, {}).source == "default"


def test_a_turn_of_codex() -> None:
    made = Codex()
    made.meta()
    made.add("event_msg", type="task_started")
    made.turn()
    made.message("user", "question")
    made.call("c1")
    made.call("c2")
    made.output("c1")
    made.count(900, 20)
    tally = tallied(made.data, "codex")
    assert (tally.tokens, tally.turning, [one.id for one in tally.open]) == (920, True, ["c2"])
    made.add("event_msg", type="task_complete")
    made.count(300, 20)
    tally = tallied(made.data, "codex")
    assert (tally.tokens, tally.turning, tally.open, tally.model) == (320, False, (), "gpt-5.2-codex")
    assert tally.window(None, {}).tokens == 258_400
