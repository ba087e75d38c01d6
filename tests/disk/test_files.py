"""Reading: the same records whatever the border of a chunk, and one moment of a file that changes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coffer.agents.table import CLAUDE
from coffer.core.record import Record
from coffer.disk.files import Source, open_source, read_lines
from coffer.errors import CofferError, NotAFile, TranscriptEmpty, TranscriptMissing, TranscriptUnreadable
from coffer.work.sessions.read import opened
from tests.transcripts import Claude, Codex, store, text

WHOLE = b'{"type":"user","sessionId":"s"}\n'
CHUNK = 1 << 20
CORPUS = Path(__file__).parents[1] / "corpus"


def lines_of(source: Source) -> list[tuple[int, bytes]]:
    """Each line that is not empty with its place, without its newline."""
    found = read_lines(source, lambda line, at: [(at, line.removesuffix(b"\n"))])
    return [(at, line) for pairs in found for at, line in pairs if line]


def split(data: bytes) -> list[tuple[int, bytes]]:
    """What reading must give: each line that is not empty with its place."""
    found, at = [], 0
    for line in data.split(b"\n"):
        if line:
            found.append((at, line))
        at += len(line) + 1
    return found


# --- lines


@pytest.mark.parametrize(
    "data",
    [
        b"a",
        b"a\n",
        b"\n",
        b"\n\n\na\n\nb",
        b"a\r\nb\r\n",
        b"x" * (CHUNK - 1) + b"\ny\n",
        b"x" * CHUNK + b"\ny\n",
        b"x" * (CHUNK + 1) + b"\ny\n",
        b"x" * (CHUNK - 1) + b"\n" + b"y" * (CHUNK - 1) + b"\n",
        b"\n" * (CHUNK + 3),
        b"a\n" + b"x" * (3 * CHUNK + 17) + b"\nb\n",
        b"a\n" + b"x" * (3 * CHUNK + 17),
        b"x" * (2 * CHUNK),
        b"\0" * (CHUNK + 5) + b"\n{}",
    ],
    ids=range(14),
)
def test_lines_across_the_border_of_a_chunk(data: bytes, tmp_path: Path) -> None:
    path = store(tmp_path, data)
    with open_source(path) as source:
        assert lines_of(source) == split(data)
        assert source.size == len(data)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, CHUNK + 50)), min_size=1, max_size=5), st.booleans()
)
def test_lines_of_any_lengths(tmp_path: Path, pieces: list[tuple[int, int]], ended: bool) -> None:  # noqa: FBT001
    data = b"\n".join(b"ab"[short % 2 :][:1] * (short or length) for short, length in pieces)
    data += b"\n" if ended or not data else b""
    with open_source(store(tmp_path, data)) as source:
        assert lines_of(source) == split(data)


@pytest.mark.parametrize("border", range(-3, 4))
def test_records_are_the_same_wherever_a_chunk_ends(border: int, tmp_path: Path) -> None:
    whole = (CORPUS / "claude" / "compact.jsonl").read_bytes()
    before = CHUNK - 4_000 + border * 1_000 + border
    data = b'{"type":"queue-operation","content":"' + b"Z" * (before - 40) + b'"}\n' + whole
    shift = len(data) - len(whole)
    with opened(store(tmp_path, data)) as session:
        found = [record for record in session.transcript.records if record.start >= shift]
        lines = [session.line(record) for record in found]
    with opened(store(tmp_path / "other", whole)) as session:
        assert [
            (record.start + shift, record.type, record.uuid) for record in session.transcript.records
        ] == [(record.start, record.type, record.uuid) for record in found]
        assert lines == [session.line(record) for record in session.transcript.records]


def test_the_longest_lines_come_in_one_piece(tmp_path: Path) -> None:
    # one line of 13 MB: the record behind it must not be lost with it
    made = Claude()
    made.user("x" * 13_000_000, "u1")
    made.answer(text("answer"), name="a1")
    with opened(store(tmp_path, made)) as session:
        assert [record.blocks[0].size for record in session.transcript.records] == [13_000_000, 6]


def test_progress_ends_at_the_size(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    data = b"x" * 999 + b"\n"
    with open_source(store(tmp_path, data * 4_000)) as source:
        list(read_lines(source, lambda line, _at: [line], lambda done, total: seen.append((done, total))))
        assert seen[-1] == (source.size, source.size)
    assert seen == sorted(seen)


def test_head_and_tail(tmp_path: Path) -> None:
    with open_source(store(tmp_path, b"abcdef")) as source:
        assert (source.head(2), source.tail(2), source.head(99), source.tail(99)) == (
            *(b"ab", b"ef", b"abcdef", b"abcdef"),
        )
        assert source.read(4, 99) == b"ef"
        assert source.read(99, 120) == b""


# --- a file that changes


def writer(path: Path, program: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE)


@contextmanager
def appending(path: Path) -> Iterator[None]:
    """A process that appends records as the client does: open, append, close."""
    program = (
        "import sys, time\n"
        'line = b\'{"type":"user","uuid":"late","message":{"content":"\' + b\'x\' * 5000 + b\'"}}\\n\'\n'
        "while True:\n"
        "    with open(sys.argv[1], 'ab') as file: file.write(line)\n"
        "    print('x', flush=True)\n"
    )
    process = writer(path, program)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_for_growth(path: Path, size: int) -> None:
    until = time.monotonic() + 60
    while path.stat().st_size <= size and time.monotonic() < until:
        time.sleep(0.001)


def test_a_file_that_grows_is_read_as_it_was_when_it_was_opened(tmp_path: Path) -> None:
    made = Claude()
    for turn in range(300):
        made.user("x" * 10_000, f"u{turn}")
    path = store(tmp_path, made)
    with appending(path), open_source(path) as source:
        size = source.size
        seen = []
        for found in read_lines(source, CLAUDE.translate):
            seen += found
            wait_for_growth(path, size)
        assert source.size == size
        assert all(item.end <= size for item in seen)
        assert all(isinstance(item, Record) for item in seen[:-1])  # it may be opened within an append
        assert source.grown() > 0


def test_growth_while_reading_is_told(tmp_path: Path) -> None:
    made = Claude()
    for turn in range(800):
        made.user("x" * 10_000, f"u{turn}")
    path = store(tmp_path, made)
    size = path.stat().st_size

    def slowly(_done: int, _total: int) -> None:
        wait_for_growth(path, size + 200_000)

    with appending(path), opened(path, progress=slowly) as session:
        assert len([one for one in session.transcript.records if one.uuid != "late"]) == 800
        assert any("grown" in warning for warning in session.warnings)


def test_a_file_that_is_cut_while_it_is_read_ends_in_no_error(tmp_path: Path) -> None:
    made = Claude()
    for turn in range(500):
        made.user("x" * 10_000, f"u{turn}")
    path = store(tmp_path, made)
    with open_source(path) as source:
        reading = read_lines(source, CLAUDE.translate)
        first = next(reading)
        cut = writer(path, "import os, sys; os.truncate(sys.argv[1], 40_000)")
        cut.communicate()
        rest = [item for found in reading for item in found]
        assert source.grown() < 0
        assert isinstance(first[0], Record)
        assert all(isinstance(item, Record) for item in rest[:-1])
        assert source.read(0, 10) == path.read_bytes()[:10]


def test_a_file_that_is_replaced_while_it_is_read_stays_the_old_one(tmp_path: Path) -> None:
    path = store(tmp_path, b"old\n" * 10)
    with open_source(path) as source:
        other = store(tmp_path / "other", b"new and longer\n" * 10)
        other.replace(path)
        assert {line for _, line in lines_of(source)} == {b"old"}


# --- what is no transcript


def test_each_thing_that_cannot_be_read_has_its_own_error(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    (tmp_path / "nowhere.jsonl").symlink_to(tmp_path / "gone")
    with socket.socket(socket.AF_UNIX) as bound:
        place = os.open(tmp_path, os.O_RDONLY)
        try:
            bound.bind(f"/proc/self/fd/{place}/s.jsonl" if sys.platform == "linux" else "s.jsonl")
        finally:
            os.close(place)
    table: list[tuple[str, type[CofferError]]] = [
        ("gone.jsonl", TranscriptMissing),
        ("nowhere.jsonl", TranscriptMissing),
        ("empty.jsonl", TranscriptEmpty),
        ("folder.jsonl", NotAFile),
        ("pipe.jsonl", NotAFile),
        ("loop.jsonl", TranscriptUnreadable),
        ("empty.jsonl/x.jsonl", TranscriptUnreadable),
        ("x" * 300 + ".jsonl", TranscriptUnreadable),
        ("a\0b.jsonl", TranscriptUnreadable),
    ]
    if sys.platform == "linux":
        table.append(("s.jsonl", NotAFile))
    for name, error in table:
        with pytest.raises(error), open_source(tmp_path / name):
            pass


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = store(tmp_path, b"x")
    path.chmod(0)
    with pytest.raises(TranscriptUnreadable), open_source(path):
        pass


# --- compressed


def test_a_compressed_file_is_read_as_its_content(tmp_path: Path) -> None:
    data = (CORPUS / "codex" / "tools.jsonl").read_bytes()
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(data))
    with open_source(path) as source:
        assert lines_of(source) == split(data)
        assert source.grown() == 0
    with opened(CORPUS / "codex" / "compressed.jsonl.zst") as session:
        assert session.agent.name == "codex"
        assert session.transcript.records


@pytest.mark.parametrize("data", [b"not zstd at all", b"\x28\xb5\x2f\xfd\x00", b"\x28\xb5\x2f\xfd"])
def test_broken_compression_is_an_error_of_its_own(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(data)
    with pytest.raises(CofferError), opened(path):
        pass


def test_a_compressed_file_that_was_cut_is_not_taken_for_whole(tmp_path: Path) -> None:
    # half a history, shown as if it were all, is a lie
    made = Codex()
    made.meta()
    for _ in range(40):
        made.message("user", os.urandom(10_000).hex())
    data = zstandard.ZstdCompressor().compress(made.data)
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(TranscriptUnreadable), opened(path):
        pass


@pytest.mark.parametrize("length", [10, 65_535, 65_536, 65_537, 300_000])
def test_how_much_is_unfinished(length: int, tmp_path: Path) -> None:
    with opened(store(tmp_path, WHOLE + b"{" + b"x" * (length - 1))) as session:
        assert session.transcript.unfinished == length
    with opened(store(tmp_path, WHOLE)) as session:
        assert session.transcript.unfinished == 0


def test_nothing_is_left_behind_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with opened(CORPUS / "codex" / "compressed.jsonl.zst"):
        pass
    assert list((tmp_path / "tmp").iterdir()) == []
