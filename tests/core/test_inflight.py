"""What a transcript shows of work in flight, each thing by itself: in the gate another witness often says the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coffer.core.evidence import Conversation, moment
from coffer.core.inflight import conversation
from coffer.work.guarding.instant import from_folder
from tests.transcripts import Claude, read, text

HARNESS = Path(__file__).parents[1] / "fixtures" / "harness"


def seen(name: str) -> Conversation:
    found = from_folder(HARNESS / name).read().conversation
    assert found is not None
    return found


def lines(name: str, words: str) -> int:
    told = (HARNESS / name / "transcript.jsonl").read_text("utf-8")
    return sum(words in line for line in told.splitlines())


@pytest.mark.parametrize("name", ["teammate-idle", "team-compacted", "teammate-finished"])
def test_letters_of_teammates_are_those_that_the_client_delivered(name: str) -> None:
    delivered = '"content":"Another Claude session sent a message:'
    assert len(seen(name).letters) == lines(name, delivered) > 0


@pytest.mark.parametrize("name", ["words-typed", "words-read", "words-fetched", "idle"])
def test_words_of_a_letter_that_are_only_quoted_are_none(name: str) -> None:
    assert seen(name).letters == ()


def test_a_prompt_waits_in_the_queue_until_something_takes_it() -> None:
    assert seen("prompt-queued").enqueued is not None
    for name in ("queue-taken", "queue-taken-midturn", "queue-put-back", "shell-ended"):
        assert lines(name, '"operation":"enqueue"')
        assert seen(name).enqueued is None


def test_an_unknown_operation_on_the_queue_counts_as_queueing(tmp_path: Path) -> None:
    said = {"type": "queue-operation", "operation": "shuffle", "timestamp": "2027-01-15T08:00:00.000Z"}
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(
        (HARNESS / "queue-taken" / "transcript.jsonl").read_bytes() + json.dumps(said).encode() + b"\n"
    )
    found = from_folder(tmp_path).read().conversation
    assert found is not None
    assert found.enqueued == 1_800_000_000.0


@pytest.mark.parametrize("name", ["api-error-400", "context-limit"])
def test_an_error_that_the_client_writes_down_is_not_the_model_speaking(name: str) -> None:
    path = HARNESS / name / "transcript.jsonl"
    answers = [json.loads(line) for line in path.read_bytes().splitlines() if b'"type":"assistant"' in line]
    spoken = [answer for answer in answers if not answer.get("isApiErrorMessage")]
    assert len(spoken) < len(answers)
    assert seen(name).spoke == max(moment(answer["timestamp"]) or 0.0 for answer in spoken)


def test_a_result_of_a_tool_is_the_last_that_was_written_of_an_interrupted_turn() -> None:
    path = HARNESS / "tool-rejected" / "transcript.jsonl"
    last = [json.loads(line) for line in path.read_bytes().splitlines() if b'"type":"tool_result"' in line][
        -1
    ]
    assert seen("tool-rejected").spoke == moment(last["timestamp"])


def test_what_a_subagent_scheduled_is_seen_in_its_own_transcript() -> None:
    read = from_folder(HARNESS / "cron-of-subagent").read()
    assert read.conversation is not None
    assert [call.tool for call in read.conversation.calls] == ["Agent"]
    assert [call.tool for each in read.helpers for call in each.conversation.calls] == ["CronCreate"]


@pytest.mark.parametrize(
    ("answered", "kinds"),
    [({"scheduledFor": 1}, ["schedule"]), ({"teammate_id": "docs"}, ["teammate"]), ({"stdout": "done"}, [])],
)
def test_an_answer_tells_what_it_began_where_its_call_is_not_in_the_file(
    answered: dict[str, object], kinds: list[str]
) -> None:
    made = Claude()
    made.user("Do it")
    made.result("c1", toolUseResult=answered)
    made.answer(text("Done."))
    data = made.data
    found = conversation(read(data), lambda record: data[record.start : record.end])
    assert [call.shape for call in found.calls] == kinds
