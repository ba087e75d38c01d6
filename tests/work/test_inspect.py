"""What `coffer show` tells of every transcript that we have, against the counts that stand in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from coffer.core.dialect import SYNTHETIC
from coffer.core.shares import SENT
from coffer.work.sessions.inspect import inspect
from coffer.work.sessions.read import Opened, opened
from coffer.work.sessions.report import as_json, by_age, by_kind
from tests.agents.golden import agent_of, corpus
from tests.transcripts import Claude, Json, call, store, text, thinking, usage

CORPUS = corpus()
EVERY = pytest.mark.parametrize("name", CORPUS)


def lines(path: Path) -> Iterator[Json]:
    for line in path.read_bytes().split(b"\n"):
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict):
            yield said


def last_usage(path: Path, leaf: str) -> int | None:
    """The last count on the way from the leaf to the root, found without any of our code."""
    records = {said["uuid"]: said for said in lines(path) if said.get("uuid")}
    uuid: str | None = leaf
    seen: set[str] = set()
    while uuid is not None and uuid in records and uuid not in seen:
        seen.add(uuid)
        said = records[uuid]
        message = said.get("message") or {}
        counts = message.get("usage") or {}
        prompt = sum(
            counts.get(name) or 0
            for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        if said["type"] == "assistant" and prompt and message.get("model") != SYNTHETIC:
            return int(prompt + (counts.get("output_tokens") or 0))
        if said.get("subtype") == "compact_boundary":
            after = said["compactMetadata"].get("postTokens")
            return None if after is None else int(after)
        uuid = said.get("parentUuid")
    return None


def last_count(path: Path) -> int | None:
    found = None
    for said in lines(path):
        payload = said.get("payload") or {}
        if said["type"] == "compacted" and payload.get("replacement_history"):
            found = None
        if payload.get("type") == "token_count" and payload.get("info"):
            found = payload["info"]["last_token_usage"]["total_tokens"] or found
    return found


@EVERY
def test_the_tokens_are_the_last_count_on_the_live_branch(name: str) -> None:
    path = CORPUS[name]
    with opened(path) as session:
        report = inspect(session, {})
        leaf = session.agent.view(session.transcript, "").branch.leaf
    if leaf is None:
        assert report.measure is None
        return
    expected = last_usage(path, leaf.uuid) if agent_of(path) == "claude" else last_count(path)
    if expected is None:
        assert report.measure is None or report.measure.source != "usage of the last answer"
    else:
        assert report.tokens == pytest.approx(expected, rel=0.02)
        assert report.measure is not None
        assert not report.measure.estimated


@EVERY
def test_a_report_adds_up(name: str) -> None:
    with opened(CORPUS[name]) as session:
        report = inspect(session, {})
        assert report.size == CORPUS[name].stat().st_size
    rounding = len(report.composition.parts) + 5
    assert sum(by_kind(report).values()) == pytest.approx(report.tokens, abs=rounding)
    assert sum(by_age(report).values()) == pytest.approx(
        report.tokens - report.composition.base, abs=rounding
    )
    assert sum(report.shares.values()) <= report.size
    assert 0 <= report.fill < 1.3
    assert json.dumps(as_json(report, [], 10))
    calibration = report.composition.calibration
    if calibration.error is not None:
        assert 0 <= calibration.error < 1


# --- what a report tells


def reported(made: Claude, folder: Path) -> Json:
    with opened(store(folder, made)) as session:
        return as_json(inspect(session, {}), [], 10)


def test_a_report_of_a_small_session(tmp_path: Path) -> None:
    made = Claude()
    for turn in range(8):
        made.user(f"question {turn}")
        made.answer(
            thinking("hm" * 200), call(f"c{turn}", "Read", file_path=f"/f{turn % 2}"), name=f"x{turn}"
        )
        made.result(f"c{turn}", "content " * 300 * (turn + 1), toolUseResult={"x": "y" * 5_000})
        made.answer(text("fine"), counts=usage(12_000 + 1_500 * turn, 40))
    said = reported(made, tmp_path)
    assert (said["tokens"], said["tokens_source"], said["turns"]) == (22_540, "usage of the last answer", 8)
    assert set(said["by_file"]) == {"/f0", "/f1"}
    assert set(said["by_tool"]) == {"Read"}
    assert said["file_bytes"][SENT] > 20_000
    assert said["top"][0]["kind"] == "tool results"
    assert said["top"][0]["turns_ago"] == 0
    assert said["estimate"]["answers"] == 8
    assert said["warnings"] == []


@pytest.mark.parametrize(
    ("notes", "title"),
    [
        ([("custom-title", {"customTitle": "mine"}), ("ai-title", {"aiTitle": "its"})], "mine"),
        ([("ai-title", {"aiTitle": "its"}), ("summary", {"summary": "older"})], "its"),
        ([("summary", {"summary": "older"})], "older"),
        ([("custom-title", {"customTitle": ""})], "first words"),
        ([], "first words"),
    ],
)
def test_the_title(tmp_path: Path, notes: list[tuple[str, Json]], title: str) -> None:
    made = Claude()
    made.user("<command-name>/init</command-name>", "u0")
    made.user("first   words\n")
    made.answer(text("fine"))
    for kind, fields in notes:
        made.note(kind, **fields)
    assert reported(made, tmp_path)["title"] == title


def test_lost_history_and_circles_are_told(tmp_path: Path) -> None:
    lost = Claude()
    lost.user("question", "u1", parent="gone")
    assert any("parent is missing" in warning for warning in reported(lost, tmp_path)["warnings"])
    circle = Claude()
    circle.user("one", "u1", parent="u2")
    circle.user("two", "u2", parent="u1")
    (warning,) = reported(circle, tmp_path)["warnings"]
    assert "circle" in warning


def test_a_file_of_subagents_does_not_fill_the_session(tmp_path: Path) -> None:
    # 102 MB of other agents' records in one file: the size says nothing of the context
    made = Claude()
    made.user("question")
    made.answer(text("fine"), counts=usage(1_000, 10))
    leaf = made.leaf
    for number in range(200):
        made.user("x" * 5_000, f"s{number}", parent=None, isSidechain=True)
    made.leaf = leaf
    said = reported(made, tmp_path)
    assert said["bytes"] > 1_000_000
    assert said["tokens"] == 1_010


def test_contents_are_read_from_their_place(tmp_path: Path) -> None:
    made = Claude()
    made.user("ä" * 100, "u1")
    made.answer(text("fine"), name="a1")
    with opened(store(tmp_path, made)) as session:
        said = [_text(session, index) for index in range(2)]
    assert said == ["ä" * 100, "fine"]


def _text(session: Opened, index: int) -> str:
    item = session.agent.view(session.transcript, "").blocks()[index]
    return str(session.agent.content(item, session.line(item.record))["text"])
