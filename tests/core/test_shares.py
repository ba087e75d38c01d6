"""What the bytes of a file are: every byte is counted once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from coffer.agents.table import AGENTS
from coffer.core import shares as names
from coffer.core.shares import shares
from tests.lab.mutations import Damage
from tests.transcripts import Claude, Codex, call, image, read, result, text, uid

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = sorted(path for path in CORPUS.glob("*/*.jsonl") if "session_index" not in path.name)


def counted(data: bytes, agent: str) -> dict[str, int]:
    transcript = read(data, AGENTS[agent])
    return shares(transcript, AGENTS[agent].view(transcript, ""))


def without_newlines(data: bytes) -> int:
    return sum(len(line) for line in data.split(b"\n") if line.strip())


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_adds_up_to_the_file(path: Path) -> None:
    found = counted(path.read_bytes(), path.parent.name)
    assert sum(found.values()) == without_newlines(path.read_bytes())
    assert all(size > 0 for size in found.values())
    assert list(found.values()) == sorted(found.values(), reverse=True)


@pytest.mark.parametrize("seed", range(40))
def test_it_adds_up_for_damaged_files(seed: int) -> None:
    claude = [path for path in FILES if path.parent.name == "claude"]
    data = Damage(random.Random(seed).choice(claude).read_bytes(), seed).data
    # a byte order mark and spaces beside a record belong to nothing; the damage makes none
    assert sum(counted(data, "claude").values()) == without_newlines(data)


def test_each_share_by_name() -> None:
    made = Claude()
    made.user("question " * 100, "u1")
    made.snapshot("u1")
    made.progress("p1")
    made.answer(text("dead"), name="x1", parent="u1")
    made.answer(call("c1"), name="a1", parent="u1")
    made.user([result("c1", "out" * 50)], "r1", toolUseResult={"stdout": "y" * 10_000})
    made.answer(text("answer"), name="a2")
    made.attachment("todo", payload={"content": "silent"})
    made.note("ai-title", aiTitle="a title")
    made.raw(b"\0" * 77)
    made.raw(b"{torn")
    made.last_prompt("a2")
    found = shares(read(made), AGENTS["claude"].view(read(made), ""))
    assert found[names.BROKEN] == 77 + 5
    assert 10_000 < found[names.SIDECARS] < 10_050
    assert found[names.SENT] > 900 + 150
    assert set(found) == {
        *(names.SENT, names.SIDECARS, names.ENVELOPE, names.DEAD, names.PROGRESS, names.SNAPSHOTS),
        *(names.NOTES, names.BROKEN),
    }


def test_what_a_compaction_dropped_is_dead() -> None:
    made = Claude()
    made.user("question " * 1_000, "u1")
    made.answer(text("answer " * 1_000))
    made.compact(preservedMessages={"anchorUuid": uid("bs"), "uuids": []})
    found = counted(made.data, "claude")
    assert found[names.DEAD] > 16_000


def test_media_count_as_sent() -> None:
    made = Claude()
    made.user([image("A" * 5_000)])
    made.answer(text("seen"))
    assert counted(made.data, "claude")[names.SENT] > 5_000


def test_a_rollouts_events_are_not_sent() -> None:
    made = Codex()
    made.meta(base_instructions={"text": "x" * 3_000})
    made.turn()
    made.message("user", "question " * 100)
    made.count(1_000)
    found = counted(made.data, "codex")
    assert found[names.EVENTS] > 3_000
    assert 900 <= found[names.SENT] < 1_100
