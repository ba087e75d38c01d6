"""What a context holds, read on step by step, is what a look at the whole file says."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coffer.core.bundle import BundleRule, bundle
from coffer.disk.places import Places
from coffer.disk.tail_lines import TailLines, last_lines
from coffer.work.delivery.held import Holding, Holdings
from tests.prune.generate import STEP_MAKERS, STEPS, Step, begun, build
from tests.transcripts import THREAD, Codex

BUNDLES = [bundle([BundleRule("R1", f"Rule {number}.", hard=True)]).text for number in range(3)]
NOWHERE = Places(Path("/nowhere"), Path("/nowhere"))
drawn = settings(
    derandomize=True,
    deadline=None,
    max_examples=80,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)


def fresh(path: Path, agent: str = "claude") -> Holding | None:
    return Holdings(NOWHERE).look(agent, path)


@drawn
@given(
    parts=st.lists(st.tuples(STEPS, st.sampled_from([*BUNDLES, ""])), min_size=1, max_size=4),
    cuts=st.lists(st.floats(0, 1), max_size=6),
)
def test_reading_on_is_reading_anew(parts: list[tuple[list[Step], str]], cuts: list[float]) -> None:
    talk = begun()
    for steps, text in parts:
        for step in steps:
            STEP_MAKERS[step[0]](talk, *step[1:])
        if text:
            talk.made.attachment(
                "hook_additional_context", "", {"content": [text], "hookEvent": "SessionStart"}
            )
            talk.ask("go on")
            talk.say()
    data = talk.data
    with tempfile.TemporaryDirectory() as folder:
        path, holdings = Path(folder) / "s.jsonl", Holdings(NOWHERE)
        for end in sorted({round(cut * len(data)) for cut in cuts} | {len(data)}):
            path.write_bytes(b"") if not path.exists() else None
            with path.open("r+b") as file:  # the same file, grown: also in the middle of a line
                file.seek(0, os.SEEK_END)
                file.write(data[file.tell() : end])
            on, anew = holdings.look("claude", path), fresh(path)
            assert (on is None) == (anew is None)
            if on is not None and anew is not None and data[:end].endswith(b"\n"):
                assert on.held.rules == anew.held.rules
                assert on.answered == anew.answered


def test_another_file_in_its_place_is_read_anew(tmp_path: Path) -> None:
    path, holdings = tmp_path / "s.jsonl", Holdings(NOWHERE)
    assert holdings.look("claude", path) == Holding()
    for text in BUNDLES:
        talk = build([])
        talk.made.attachment("hook_additional_context", "", {"content": [text], "hookEvent": "SessionStart"})
        talk.end()
        other = tmp_path / "new"
        other.write_bytes(talk.data)
        other.replace(path)
        found = holdings.look("claude", path)
        assert found is not None
        assert found.held.texts == (text,)
    path.write_bytes(b"")
    assert holdings.look("claude", path) == Holding(exists=True)


def test_a_large_file_is_a_doubt_where_time_is_short(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    talk = build([])
    talk.made.attachment(
        "hook_additional_context", "", {"content": [BUNDLES[0]], "hookEvent": "SessionStart"}
    )
    talk.end()
    path.write_bytes(talk.data)
    holdings = Holdings(NOWHERE)
    assert holdings.look("claude", path, most=100) is None
    assert holdings.look("claude", path) is not None
    found = holdings.look("claude", path, most=100)
    assert found is not None
    assert found.held.blocks == 1
    before = len(talk.data)
    talk.ask("more")
    talk.say("more")
    with path.open("ab") as file:
        file.write(talk.data[before:])
    assert holdings.look("claude", path, most=100) is None
    assert holdings.look("claude", path, most=before) is not None


def test_a_link_a_folder_and_nonsense_are_doubts(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("{}\n")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "odd.jsonl").write_text("__cozempic_behavioral_digest__ is no JSON\n")
    for name in ("link", "folder", "odd"):
        assert fresh(tmp_path / f"{name}.jsonl") is None


def test_a_codex_fork_holds_what_its_parent_did(tmp_path: Path) -> None:
    home = tmp_path / "codex"
    folder = home / "sessions/2026/11/30"
    folder.mkdir(parents=True)
    parent = Codex()
    parent.meta()
    parent.add(
        "response_item",
        type="message",
        role="developer",
        content=[{"type": "input_text", "text": BUNDLES[0]}],
    )
    (folder / f"rollout-2026-11-30T12-00-00-{THREAD}.jsonl").write_bytes(parent.data)
    child = Codex()
    name = "01a2beef-0000-7000-8000-000000000000"
    child.meta(
        name, forked_from_id=THREAD, history_base={"thread_id": THREAD, "end_byte_offset": len(parent.data)}
    )
    path = folder / f"rollout-2026-11-30T12-00-01-{name}.jsonl"
    path.write_bytes(child.data)
    found = Holdings(Places(tmp_path, home)).look("codex", path)
    assert found is not None
    assert found.held.texts == (BUNDLES[0],)


@given(st.binary(max_size=300), st.integers(0, 300), st.binary(max_size=2))
def test_lines_are_whole_and_none_is_lost(data: bytes, start: int, needle: bytes) -> None:
    data = data.replace(b"\x07", b"\n")
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        lines = TailLines(file.fileno(), min(start, len(data)), len(data), needle.replace(b"\n", b""))
        found = list(lines)
        rest = data[min(start, len(data)) :]
        whole = rest[: rest.rfind(b"\n") + 1]
        assert lines.end == min(start, len(data)) + len(whole)
        wanted = [line + b"\n" for line in whole.split(b"\n")[:-1]]
        assert [line for _, line in found] == [line for line in wanted if needle.replace(b"\n", b"") in line]
        assert all(data[offset : offset + len(line)] == line for offset, line in found)
        back = list(last_lines(file.fileno(), len(data), 1 << 20))
        assert [line for _, line in reversed(back)] == [line + b"\n" for line in data.split(b"\n")[:-1]]
