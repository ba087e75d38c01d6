"""A digest file is read with a ticket and written whole or not at all, in its own place only."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from coffer.disk import digest_file as module
from coffer.disk import replace
from coffer.disk.digest_file import LARGEST, read, remove, write
from coffer.disk.project import digest_file
from coffer.errors import Busy, CofferError, DigestElsewhere, DigestForeign, FileMoved, WriteFailed


class Place:
    """A project, and a folder of Coffer's."""

    def __init__(self, folder: Path) -> None:
        self.root, self.own = folder / "project", folder / "own"
        self.path = digest_file(self.root)
        self.backup = self.own / "backups" / "r1" / "behavioral-digest.md"
        self.locks = self.own / "locks"
        self.root.mkdir()
        self.locks.mkdir(parents=True)

    def put(self, data: bytes) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_bytes(data)

    def write(self, text: str, **options: Any) -> None:
        loaded = read(self.path)
        with replace.locked(self.locks, self.path):
            write(self.path, text, loaded.ticket if loaded else None, self.backup, **options)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.root.rglob("*"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def test_no_file_is_no_digest_and_makes_nothing(place: Place) -> None:
    assert read(place.path) is None
    assert place.names() == []
    (place.root / ".cozempic").write_text("a file")
    assert read(place.path) is None


def test_every_byte_comes_back(place: Place) -> None:
    place.put(b"# x\r\n\xff\xfe \xed\xa0\x80 \0\n")
    loaded = read(place.path)
    assert loaded is not None
    place.write(loaded.text + "more")
    assert place.path.read_bytes() == b"# x\r\n\xff\xfe \xed\xa0\x80 \0\nmore"
    assert place.backup.read_bytes() == b"# x\r\n\xff\xfe \xed\xa0\x80 \0\n"


def test_the_ticket_of_a_write_is_good_for_the_next(place: Place) -> None:
    ticket = write(place.path, "one", None, place.backup)
    ticket = write(place.path, "two", ticket, place.own / "b1")
    write(place.path, "three", ticket, place.own / "b2")
    assert [(place.own / name).read_text() for name in ("b1", "b2")] == ["one", "two"]


def test_a_file_can_not_be_made_to_look_older(place: Place) -> None:
    place.put(b"old")
    os.utime(place.path, (1, 1))
    loaded = read(place.path)
    assert loaded is not None
    assert loaded.changed > 1_000_000_000


def test_mode_stays_and_the_time_of_writing_is_new(place: Place) -> None:
    place.put(b"old")
    place.path.chmod(0o664)
    os.utime(place.path, (1, 1))
    place.write("new")
    found = place.path.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_mtime > 1) == (0o664, True)


@pytest.mark.parametrize(("private", "folder", "file"), [(False, 0o755, 0o644), (True, 0o700, 0o600)])
def test_a_new_file_and_its_folder(place: Place, private: bool, folder: int, file: int) -> None:  # noqa: FBT001
    before = os.umask(0o022)
    try:
        place.write("new", private=private)
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.path.parent.stat().st_mode) == folder
    assert stat.S_IMODE(place.path.stat().st_mode) == file
    assert place.names() == [".cozempic", "behavioral-digest.md"]
    assert not place.backup.exists()


@pytest.mark.parametrize("change", ["appended", "replaced", "removed", "appeared"])
def test_a_file_that_changed_is_refused(place: Place, change: str) -> None:
    ticket = None
    if change != "appeared":
        place.put(b"old")
        loaded = read(place.path)
        assert loaded is not None
        ticket = loaded.ticket
    if change == "appended":
        place.put(b"old!")
    elif change == "removed":
        place.path.unlink()
    else:
        place.put(b"")
        place.path.unlink()
        place.put(b"new")
    before = {path: path.read_bytes() for path in place.root.rglob("*") if path.is_file()}
    with pytest.raises(FileMoved):
        write(place.path, "mine", ticket, place.backup)
    assert {path: path.read_bytes() for path in place.root.rglob("*") if path.is_file()} == before
    assert not place.backup.exists()


def test_a_file_that_changes_at_the_last_moment_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put(b"old")
    real = replace.back_up

    def meanwhile(*arguments: Any) -> None:
        real(*arguments)
        place.path.unlink()
        place.put(b"theirs")

    monkeypatch.setattr(module, "back_up", meanwhile)
    with pytest.raises(FileMoved):
        place.write("mine")
    assert place.path.read_bytes() == b"theirs"
    assert not place.backup.exists()
    assert place.names() == [".cozempic", "behavioral-digest.md"]


def test_a_file_that_appears_at_the_last_moment_is_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def meanwhile(old: Any, new: Any) -> None:
        Path(new).write_bytes(b"theirs")
        real(old, new)

    monkeypatch.setattr(os, "link", meanwhile)
    with pytest.raises(FileMoved):
        place.write("mine")
    assert place.path.read_bytes() == b"theirs"


def test_the_lock_is_one_a_digest(place: Place) -> None:
    place.put(b"old")
    with replace.locked(place.locks, place.path), pytest.raises(Busy):
        place.write("new")
    place.write("new")


def test_a_digest_is_taken_away_and_kept(place: Place) -> None:
    place.put(b"old")
    loaded = read(place.path)
    assert loaded is not None
    place.put(b"new!")
    with pytest.raises(FileMoved):
        remove(place.path, loaded.ticket, place.backup)
    loaded = read(place.path)
    assert loaded is not None
    remove(place.path, loaded.ticket, place.backup)
    assert (read(place.path), place.backup.read_bytes()) == (None, b"new!")
    assert place.names() == []


# --- a full disk, and folders that may not be written


@pytest.mark.parametrize("call", ["fsync", "link", "replace", "mkdir"])
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    ("number", "said"), [(errno.ENOSPC, "disk is full"), (errno.EACCES, "denied"), (errno.EROFS, "read-only")]
)
def test_what_the_system_refuses_leaves_all_as_it_was(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    there: bool,  # noqa: FBT001
    number: int,
    said: str,
) -> None:
    if there:
        place.put(b"old")
    if call == ("mkdir" if there else "replace"):
        pytest.skip("not a call of this write")

    def full(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(WriteFailed, match=said):
        place.write("new")
    monkeypatch.undo()
    assert place.names() == ([".cozempic", "behavioral-digest.md"] if there else [])
    assert not there or place.path.read_bytes() == b"old"
    assert not place.backup.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(place: Place) -> None:
    place.root.chmod(0o555)
    try:
        with pytest.raises(WriteFailed):
            place.write("new")
    finally:
        place.root.chmod(0o755)
    assert place.names() == []


def test_a_folder_that_is_a_file(place: Place) -> None:
    (place.root / ".cozempic").write_text("a file")
    with pytest.raises(WriteFailed):
        place.write("new")
    assert place.names() == [".cozempic"]


class Killed(BaseException):
    """What a test ends a write with, as kill -9 would: nothing after it runs."""


@pytest.mark.parametrize("there", [True, False])
def test_a_crash_at_any_call_leaves_the_old_or_the_new_file(place: Place, there: bool) -> None:  # noqa: FBT001
    """Every call of the system that a write makes, each killed before and behind."""
    seen = set()
    for step in range(60):
        place.path.unlink(missing_ok=True)
        if there:
            place.put(b"old")
        pid = os.fork()
        if pid == 0:
            _write_and_die(place, step)
        status = os.waitpid(pid, 0)[1]
        now = place.path.read_bytes() if place.path.exists() else b""
        assert now in (b"old" if there else b"", b"new" * 1000)
        seen.add(now)
        place.backup.unlink(missing_ok=True)
        if os.waitstatus_to_exitcode(status) == 0:
            break
    else:
        pytest.fail("a write makes more calls than were tried")
    assert len(seen) == 2
    place.write("after")
    assert place.path.read_bytes() == b"after"


def _write_and_die(place: Place, step: int) -> None:
    left = [step]

    def counting(name: str) -> Any:
        real = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)
            return real(*arguments, **options)

        return call

    for name in ("open", "fsync", "link", "replace", "mkdir", "fchmod", "unlink"):
        setattr(os, name, counting(name))
    place.write("new" * 1000)
    os._exit(0)


# --- links


def test_a_digest_folder_that_leads_out_is_refused(place: Place) -> None:
    outside = place.root.parent / "outside"
    outside.mkdir()
    (outside / "behavioral-digest.md").write_text("theirs")
    place.path.parent.symlink_to(outside)
    for attempt in (
        lambda: read(place.path),
        lambda: write(place.path, "x", None, place.backup),
    ):
        with pytest.raises(DigestElsewhere) as refused:
            attempt()
        assert refused.value.exit_code == 23
    assert (outside / "behavioral-digest.md").read_text() == "theirs"


def test_a_digest_that_leads_out_is_refused(place: Place) -> None:
    place.path.parent.mkdir()
    place.path.symlink_to("/etc/passwd")
    with pytest.raises(DigestElsewhere):
        read(place.path)
    place.path.unlink()
    place.path.symlink_to("../../gone")
    with pytest.raises(DigestElsewhere):
        write(place.path, "x", None, place.backup)


def test_a_loop_of_links_is_refused(place: Place) -> None:
    place.path.parent.mkdir()
    place.path.symlink_to(place.path)
    with pytest.raises(CofferError):
        read(place.path)


def test_a_link_that_stays_is_written_through(place: Place) -> None:
    kept = place.root / "dotfiles" / "digest.md"
    kept.parent.mkdir()
    kept.write_text("old")
    place.path.parent.mkdir()
    place.path.symlink_to(kept)
    place.write("new")
    assert place.path.is_symlink()
    assert (kept.read_text(), place.backup.read_text()) == ("new", "old")
    kept.unlink()
    place.write("again")
    assert (place.path.is_symlink(), kept.read_text()) == (True, "again")


def test_a_link_that_is_put_there_between_looking_and_opening(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put(b"old")
    real = module.within

    def meanwhile(path: Path) -> Path:
        found = real(path)
        path.unlink()
        path.symlink_to("/etc/passwd")
        return found

    monkeypatch.setattr(module, "within", meanwhile)
    with pytest.raises(DigestElsewhere):
        read(place.path)


def test_what_is_no_file_is_refused_at_once(place: Place) -> None:
    place.path.mkdir(parents=True)
    with pytest.raises(DigestForeign, match="a folder"):
        read(place.path)
    place.path.rmdir()
    os.mkfifo(place.path)
    with pytest.raises(DigestForeign, match="special"):
        read(place.path)


def test_a_file_of_any_size_is_not_read_whole(place: Place) -> None:
    place.put(b"x" * LARGEST)
    assert read(place.path) is not None
    place.put(b"x" * (LARGEST + 1))
    with pytest.raises(DigestForeign, match="1 MB"):
        read(place.path)


def test_a_folder_whose_name_is_not_utf_8_is_refused_with_a_sentence(tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"t\xffde")
    root.mkdir()
    with pytest.raises(DigestForeign, match="not UTF-8"):
        read(root / ".cozempic" / "behavioral-digest.md")
