"""Both translators on every transcript that we have: nothing is lost, and the counts are the golden ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coffer.agents.table import AGENTS, recognise
from coffer.core.record import Record
from tests.agents.golden import GOLDEN, OWN, agent_of, corpus, summary
from tests.transcripts import Claude, Codex, Json, encode, read, text

CORPUS = corpus()
EXPECTED: dict[str, Json] = json.loads(GOLDEN.read_text("utf-8"))
EVERY = pytest.mark.parametrize("name", CORPUS)


@EVERY
def test_the_counts_are_the_golden_ones(name: str) -> None:
    # after a wanted change: python -m tests.agents.golden
    assert summary(CORPUS[name]) == EXPECTED[name]


def test_no_golden_file_has_gone() -> None:
    own = {name for name in EXPECTED if not name.startswith("shared/")}
    assert own == {name for name in CORPUS if not name.startswith("shared/")}
    assert len(own) > 50


@EVERY
def test_each_span_holds_the_record_that_was_read(name: str) -> None:
    agent = AGENTS[agent_of(CORPUS[name])]
    data = CORPUS[name].read_bytes()
    at = 0
    for line in data.split(b"\n"):
        found = [item for item in agent.translate(line, at) if isinstance(item, Record)]
        for record in found:
            assert at <= record.start
            assert record.end <= at + len(line)
            said = json.loads(data[record.start : record.end])
            assert record.type in (said["type"], "replacement")
            if agent.name == "claude":
                assert record.uuid == (said.get("uuid") or "")
                assert record.parent == (said.get("parentUuid") or "")
            elif record.nested < 0:
                assert record.subtype == (said["payload"].get("type") or "")
        at += len(line) + 1


@EVERY
def test_each_file_is_recognised_as_its_agents(name: str) -> None:
    agent = recognise(CORPUS[name].read_bytes()[:65_536])
    assert agent is not None
    assert agent.name == agent_of(CORPUS[name])


@EVERY
def test_no_file_is_taken_for_the_other_agents(name: str) -> None:
    # each translator is total: a file of the other agent gives records, and an empty view
    other = next(agent for agent in AGENTS.values() if agent.name != agent_of(CORPUS[name]))
    transcript = read(CORPUS[name].read_bytes(), other)
    assert transcript.records
    other.measure(other.view(transcript, ""))


@EVERY
def test_every_item_of_the_view_can_be_read_again(name: str) -> None:
    agent = AGENTS[agent_of(CORPUS[name])]
    data = CORPUS[name].read_bytes()
    for item in agent.view(read(data, agent), "").blocks():
        line = data[item.record.start : item.record.end] if item.record else b""
        said = agent.content(item, line)
        assert isinstance(said["type"], str)
        json.dumps(said, ensure_ascii=False).encode()  # no half characters are left


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n\n",
        b"\0" * 99,
        b"not json",
        b"{}",
        b"[]",
        b"null",
        b'{"type":"user"}',
        b'{"type":"message","sessionId":"x"}',
        b'{"type":"event_msg"}',
        b'{"type":"session_meta","payload":null}',
        b'{"type":5}',
        b'{"name":"coffer","version":"1.0"}',
        b"\x89PNG\r\n\x1a\n",
    ],
)
def test_what_is_no_transcript(head: bytes) -> None:
    assert recognise(head) is None


@pytest.mark.parametrize("damage", [b"\0" * 300 + b"\n", b"{torn\n", b"null\n[]\n", b"\n\n"])
def test_a_damaged_first_line_hides_no_agent(damage: bytes) -> None:
    claude, codex = Claude(), Codex()
    claude.user("hi")
    codex.meta()
    for made, name in ((claude, "claude"), (codex, "codex")):
        found = recognise(damage + made.data)
        assert found is not None
        assert found.name == name


def test_about_a_session_is_what_its_last_lines_say() -> None:
    made = Claude()
    made.user("one")
    made.user("two", cwd="/elsewhere", gitBranch="topic", version="2.2.0")
    about = read(made).about
    assert (about.cwd, about.branch, about.version) == ("/elsewhere", "topic", "2.2.0")
    assert about.started.startswith("2026-01-02T03:05")


def test_titles_are_the_last_of_each_kind() -> None:
    made = Claude()
    made.note("ai-title", aiTitle="one")
    made.note("ai-title", aiTitle="two")
    made.note("custom-title", customTitle="mine")
    made.note("ai-title", aiTitle="")
    assert read(made).titles() == {"ai-title": "two", "custom-title": "mine"}


def test_a_call_names_its_file_or_its_command() -> None:
    for given, path, command in (
        ({"file_path": "/a", "command": "x"}, "/a", ""),
        ({"notebook_path": "/n"}, "/n", ""),
        ({"command": "ls " + "x" * 999}, "", ("ls " + "x" * 999)[:240]),
        ({"url": "https://a"}, "", "https://a"),
        ({"pattern": "*.py", "path": "/src"}, "", "*.py"),
        ({"file_path": 5}, "", ""),
        ([], "", ""),
        (None, "", ""),
    ):
        made = Claude()
        made.answer({"type": "tool_use", "id": "c", "name": "X", "input": given})
        (block,) = read(made).records[0].blocks
        assert (block.path, block.command) == (path, command)


def test_the_sidecar_of_a_result_is_measured_and_not_kept() -> None:
    made = Claude()
    sidecar = {"stdout": "x" * 100_000}
    made.result("c", toolUseResult=sidecar)
    (record,) = read(made).records
    assert record.sidecar == len(encode(sidecar))
    assert record.returned


@pytest.mark.parametrize("falsy", [None, "", False, 0])
def test_a_sidecar_of_nothing_is_no_result(falsy: object) -> None:
    made = Claude()
    made.user([text("words")], toolUseResult=falsy)
    assert not read(made).records[0].returned


def test_the_corpus_lies_where_the_tests_look() -> None:
    assert Path(OWN / "claude" / "plain.jsonl").is_file()
