"""Hear a transcript from a place on: whole lines only, each turn once, whatever lies around it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import zstandard

from coffer.core.dialect import MARKER
from coffer.errors import TranscriptForeign
from coffer.work.rules import turns as module
from coffer.work.rules.turns import hear
from tests.transcripts import SESSION, THREAD, Claude, Codex, store, text

TESTS = Path(__file__).resolve().parents[1]
LAB = TESTS / "corpus"
CORPUS = TESTS.parents[1] / "shared" / "corpus"
RULE = "Do not push."
BUNDLE = f"{MARKER}\n[BEHAVIORAL CONTRACT]\n{RULE}\n[End of behavioral contract — x]"


def talk(count: int = 3, filler: int = 0) -> Claude:
    made = Claude()
    made.note("mode", mode="normal")
    made.attachment("hook_additional_context", payload={"content": [BUNDLE], "hookEvent": "SessionStart"})
    for number in range(count):
        made.user(f"Prompt {number}.", f"u{number}")
        made.answer(text("x" * filler + f"Answer {number}."))
    return made


def texts(path: Path, since: int = 0) -> list[str]:
    return [turn.text for turn in hear(path, since).turns]


def test_a_transcript_is_heard_from_its_beginning(tmp_path: Path) -> None:
    path = store(tmp_path, talk())
    found = hear(path)
    assert [turn.text for turn in found.turns] == ["Prompt 0.", "Prompt 1.", "Prompt 2."]
    assert (found.offset, found.session, found.folder) == (path.stat().st_size, SESSION, "/work/tide")
    assert (found.agent, found.warnings) == ("claude", ())


def test_hearing_goes_on_where_it_stopped(tmp_path: Path) -> None:
    made = talk()
    path = store(tmp_path, made)
    first = hear(path)
    assert hear(path, first.offset).turns == ()
    made.user("And more.", "u9")
    with path.open("ab") as file:
        file.write(made.lines[-1] + b"\n")
    again = hear(path, first.offset)
    assert [(turn.text, turn.before, turn.delivered) for turn in again.turns] == [
        ("And more.", "Answer 2.", (RULE,))
    ]
    assert again.turns[0] == hear(path).turns[-1]


def test_a_torn_tail_waits(tmp_path: Path) -> None:
    made = talk()
    whole = len(made.data)
    made.user("And more.", "u9")
    path = store(tmp_path, made.data[:-1])
    found = hear(path)
    assert (len(found.turns), found.offset) == (3, whole)
    with path.open("ab") as file:
        file.write(b"\n")
    assert texts(path, found.offset) == ["And more."]


@pytest.mark.parametrize("chunk", [7, 64, 1_000])
def test_the_pieces_that_are_read_do_not_matter(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store(tmp_path, talk())
    whole = hear(path)
    monkeypatch.setattr(module, "_CHUNK", chunk)
    assert hear(path) == whole
    parts = []
    since = 0
    for end in range(0, path.stat().st_size + 1, 97):
        piece = store(tmp_path, path.read_bytes()[:end] or b"\n", "piece")
        if piece.read_bytes() == b"\n":
            continue
        found = hear(piece, since) if end > 400 else None
        if found is not None:
            parts += list(found.turns)
            since = found.offset
    parts += list(hear(path, since).turns)
    assert parts == list(whole.turns)


@pytest.mark.parametrize("chunk", [700, 1 << 22])
def test_a_long_file_is_warmed_up_by_its_end_and_its_bundles(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHUNK", chunk)
    monkeypatch.setattr(module, "WARM_UP", 5_000)
    made = talk(40, filler=2_000)
    path = store(tmp_path, made)
    whole = hear(path).turns
    since = whole[-1].start
    [last] = hear(path, since).turns
    assert (last.id, last.before, last.delivered, last.echo) == (
        whole[-1].id,
        whole[-1].before,
        (RULE,),
        whole[-1].echo,
    )
    made.compact()
    made.user("After.", "z")
    path = store(tmp_path, made)
    assert hear(path, since + 1).turns[-1].delivered == ()


def test_a_file_that_was_replaced_by_a_shorter_one(tmp_path: Path) -> None:
    path = store(tmp_path, talk(1))
    found = hear(path, 1_000_000)
    assert [turn.text for turn in found.turns] == ["Prompt 0."]
    assert found.offset == path.stat().st_size
    assert len(found.warnings) == 1


def test_files_of_subagents_hold_no_turns(tmp_path: Path) -> None:
    made = Claude()
    made.user("Count the files.")
    assert texts(store(tmp_path / "subagents" / "project", made)) == ["Count the files."]
    for path in (
        store(tmp_path / SESSION / "subagents", made, "agent-a1"),
        store(tmp_path / SESSION / "subagents" / "workflows" / "wf_1", made, "agent-a2"),
        store(tmp_path, made, "agent-a3"),
        store(tmp_path / SESSION / "subagents", made, "named-otherwise"),
    ):
        assert hear(path).turns == ()
        assert hear(path).offset == path.stat().st_size


def test_what_is_no_transcript_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TranscriptForeign):
        hear(store(tmp_path, b'{"hello":1}\n'))


def test_a_compressed_rollout_is_heard(tmp_path: Path) -> None:
    made = Codex()
    made.meta(originator="codex-tui")
    made.message("user", "Use uv.")
    path = tmp_path / f"rollout-2026-01-02T03-04-05-{THREAD}.jsonl.zst"
    path.write_bytes(zstandard.compress(made.data))
    found = hear(path)
    assert [turn.text for turn in found.turns] == ["Use uv."]
    assert (found.offset, found.session) == (len(made.data), THREAD)
    assert hear(path, found.offset).turns == ()


def test_a_fork_gives_its_own_turns_and_looks_back_into_its_parent(tmp_path: Path) -> None:
    parent, child = Codex(), Codex(clock=1_000.0)
    parent.meta(originator="codex-tui")
    parent.message("user", "Set it up.")
    parent.message("developer", BUNDLE)
    parent.message("assistant", "Shall I commit?")
    inherited = len(parent.data)
    parent.message("user", "Only the parent hears this.")
    base = {"thread_id": THREAD, "end_byte_offset": inherited}
    child.meta("019bbbbb", originator="codex-tui", forked_from_id=THREAD, history_base=base)
    child.turn(turn_id="t9")
    child.message("user", "Yes.")
    above, below = store(tmp_path, parent, "parent"), store(tmp_path, child, "child")
    [turn] = hear(below, parents={THREAD: above}).turns
    assert (turn.text, turn.session, turn.before) == ("Yes.", "019bbbbb", "Shall I commit?")
    assert turn.delivered == (RULE,)
    [alone] = hear(below).turns
    assert (alone.id, alone.before) == (turn.id, "")
    assert hear(below, parents={THREAD: tmp_path / "gone"}).turns == (alone,)


@pytest.mark.parametrize("name", ["rewind", "queued", "reject", "interrupt", "compact"])
def test_the_labs_transcripts_are_the_same_in_two_hearings(name: str, tmp_path: Path) -> None:
    data = (LAB / "claude" / f"{name}.jsonl").read_bytes()
    path = store(tmp_path, data)
    whole = hear(path).turns
    assert whole
    for turn in whole:
        piece = store(tmp_path, data[: turn.end + 1], "piece")
        first = hear(piece)
        assert (*first.turns, *hear(path, first.offset).turns) == whole


COUNTS = {"typed": 192, "interrupted": 16, "rejected": 7}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not on this machine")
def test_the_corpus_yields_what_was_read_by_eye() -> None:
    files = [*CORPUS.glob("claude/*.jsonl"), *CORPUS.glob("codex/*.jsonl")]
    found = [turn for path in files for turn in hear(path).turns]
    assert Counter(turn.reliability for turn in found) == COUNTS
    assert len({turn.id for turn in found}) == len(found)


@pytest.mark.slow
def test_memory_and_time_of_a_large_file(tmp_path: Path) -> None:
    made = talk(2, filler=60_000_000)
    path = store(tmp_path, made)
    assert path.stat().st_size > 100_000_000
    assert len(hear(path).turns) == 2
