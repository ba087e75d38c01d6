"""Replacing a file under real conditions: writers, links, owners, other file systems, full disks, other coffers."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coffer.disk.places import Places
from coffer.disk.replace import Ticket, beside, locked
from coffer.errors import Busy, CofferError, FileMoved
from coffer.store.home import Home
from coffer.work.pruning.prune import apply, propose
from coffer.work.sessions.read import opened
from tests.prune import writer
from tests.prune.forks import SOURCE, Forks
from tests.prune.generate import Talk, rich
from tests.prune.world import in_place, kept, put, rest

ROOT = os.geteuid() == 0
BUSY, MOVED, WRITE_FAILED = 19, 12, 18
needs_root = pytest.mark.skipif(not ROOT, reason="only root may")


@contextmanager
def _writing(path: Path, *how: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-S", str(SOURCE / "tests" / "prune" / "writer.py"), str(path), *how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def _written(process: subprocess.Popen[str]) -> int:
    said, _ = process.communicate("\n", timeout=40)
    return int(said)


def _late(data: bytes, size: int = 0) -> list[int]:
    found = [line for line in data.splitlines(keepends=True) if b'"late ' in line]
    numbers = [int(line.partition(b'"late ')[2][:6]) for line in found]
    assert found == [writer.line(number, size) for number in numbers], "a line was torn"
    return numbers


def _await_lines(path: Path, count: int) -> None:
    """Until so many late lines stand in the file."""
    until = time.monotonic() + 60
    while path.read_bytes().count(b'"late ') < count and time.monotonic() < until:
        time.sleep(0.01)


def test_a_client_that_goes_on_appending_loses_no_line(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    pruned = 0
    with _writing(path, "0.05") as process:
        _await_lines(path, 3)
        for _ in range(40):
            done = machine.run("prune", path, "--apply", "--json")
            assert done.code in (0, MOVED), done.err
            if done.code == 0:
                pruned += 1
                break
        _await_lines(path, path.read_bytes().count(b'"late ') + 3)
        count = _written(process)
    assert pruned, "the writer never let a prune through"
    assert count >= 6
    assert _late(path.read_bytes()) == list(range(count))
    machine.ok("undo")
    assert _late(path.read_bytes()) == list(range(count))
    assert path.read_bytes().startswith(rich().data)


def test_what_a_client_appends_to_the_replaced_inode_is_carried_over(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    os.utime(path)
    with _writing(path, "stale", "100") as process:
        done = machine.ok("prune", path, "--apply", "--json")
        assert _written(process) == 1
    assert path.read_bytes().endswith(writer.line(0, 100))
    machine.ok("undo", done.json["receipt"])
    assert path.read_bytes() == rich().data + writer.line(0, 100)


@pytest.mark.parametrize("room", [0, 1_000])
def test_a_full_disk_while_late_lines_are_carried_over_keeps_the_backup(machine: Forks, room: int) -> None:
    old = rich(4).data
    path = in_place(machine.home, old)
    machine.ok("prune", path, "--apply")
    size = path.stat().st_size
    machine.ok("undo")
    os.utime(path)
    with _writing(path, "stale", "5000") as process:
        done = machine.run("prune", path, "--apply", largest_file=size + room)
        assert _written(process) == 1
    assert done.code == WRITE_FAILED
    machine.ok("undo")
    assert path.read_bytes().startswith(old)


# --- a file that is not what it was -----------------------------------------------------------------------


def _apply(path: Path, home: Path, change: object) -> None:
    """Prune through the library, with something happening between reading and planning, or writing."""
    assert isinstance(change, dict)
    places = Places.of({"HOME": str(home)})
    with opened(path) as session:
        change.get("before planning", lambda: None)()
        proposal = propose(session, {}, "standard")
        change.get("before writing", lambda: None)()
        apply(proposal, Home(home / ".coffer"), places)


@pytest.mark.parametrize("moment", ["before planning", "before writing"])
@pytest.mark.parametrize("what", ["grown", "replaced", "cut", "gone", "rewritten"])
def test_a_file_that_changed_since_it_was_read_is_left_alone(folder: Path, what: str, moment: str) -> None:
    old = rich().data
    path = in_place(folder, old)
    other = old.replace(b"please look", b"please LOOK")

    def change() -> None:
        match what:
            case "grown":
                with path.open("ab") as file:
                    file.write(writer.line(0))
            case "replaced":
                new = path.with_name("new")
                new.write_bytes(other)
                rest(new)
                new.replace(path)
            case "cut":
                os.truncate(path, len(old) - 50)
            case "gone":
                path.unlink()
            case _:
                path.write_bytes(other)

    with pytest.raises((CofferError, OSError) if what == "gone" else FileMoved):
        _apply(path, folder, {moment: change})
    if what != "gone":
        wanted = {"grown": old + writer.line(0), "cut": old[:-50]}.get(what, other)
        assert path.read_bytes() == wanted
    assert not [name for name in kept(folder) if name.startswith("backups")]
    assert [other.name for other in path.parent.iterdir()] == ([] if what == "gone" else [path.name])


def test_a_file_that_vanished_while_it_was_read_has_its_own_error(folder: Path) -> None:
    path = in_place(folder, rich().data)
    with opened(path) as session:
        path.unlink()
        with pytest.raises(CofferError):
            propose(session, {}, "standard")


# --- what belongs to a file and is no content -------------------------------------------------------------


def _prune_and_undo(machine: Forks, path: Path, talk: Talk) -> None:
    machine.ok("prune", path, "--apply")
    assert path.read_bytes() != talk.data
    machine.ok("undo")
    assert path.read_bytes() == talk.data


def test_links_stay_links(machine: Forks, folder: Path) -> None:
    talk = rich()
    real = put(folder / "real", talk.data)
    (folder / "middle").symlink_to(real)
    link = machine.home / ".claude" / "projects" / "-w"
    link.mkdir(parents=True)
    link = link / "s.jsonl"
    link.symlink_to(folder / "middle")
    _prune_and_undo(machine, link, talk)
    assert link.is_symlink()
    assert link.readlink() == folder / "middle"
    assert (folder / "middle").readlink() == real
    assert not real.is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o400])
def test_the_mode_stays(machine: Forks, mode: int) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    path.chmod(mode)
    machine.ok("prune", path, "--apply")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    machine.ok("undo")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@needs_root
def test_the_owner_stays(machine: Forks) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    os.chown(path, 12_345, 23_456)
    _prune_and_undo(machine, path, talk)
    assert (path.stat().st_uid, path.stat().st_gid) == (12_345, 23_456)


@needs_root
def test_a_file_of_another_owner_is_left_alone_with_a_sentence(machine: Forks, folder: Path) -> None:
    user = 12_345
    talk = rich()
    path = in_place(machine.home, talk.data)
    for place in (folder, machine.home, path.parent, path.parent.parent, path.parent.parent.parent):
        os.chown(place, user, user)
    path.chmod(0o644)
    done = machine.run("prune", path, "--apply", user=user)
    assert done.code == WRITE_FAILED
    assert path.read_bytes() == talk.data


def test_the_time_of_the_last_write_stays(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    then = path.stat().st_mtime_ns
    machine.ok("prune", path, "--apply")
    assert path.stat().st_mtime_ns == then
    machine.ok("undo")
    assert path.stat().st_mtime_ns == then


def test_the_backup_is_the_old_inode(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    inode = path.stat().st_ino
    receipt = machine.ok("prune", path, "--apply", "--json").json["receipt"]
    backup = machine.home / ".coffer" / "backups" / receipt / path.name
    assert backup.stat().st_ino == inode


def test_a_backup_on_another_file_system_is_a_copy(tmp_path: Path, folder: Path) -> None:
    if tmp_path.stat().st_dev == folder.stat().st_dev:
        pytest.skip("there is only one file system")
    talk = rich()
    path = in_place(tmp_path / "home", talk.data)
    machine = Forks(tmp_path / "home", COFFER_HOME=str(folder / "coffer"))
    receipt = machine.ok("prune", path, "--apply", "--json").json["receipt"]
    backup = folder / "coffer" / "backups" / receipt / path.name
    assert backup.read_bytes() == talk.data
    machine.ok("undo")
    assert path.read_bytes() == talk.data


# --- others at the same time ------------------------------------------------------------------------------


def test_a_second_prune_of_the_same_file_is_refused(machine: Forks) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    locks = Home(machine.home / ".coffer").make(machine.home / ".coffer" / "locks")
    with locked(locks, path):
        for command in (("prune", path, "--apply"), ("check", path, "--fix")):
            done = machine.run(*command)
            assert done.code == (BUSY if command[0] == "prune" else 0), done.err
    assert path.read_bytes() == talk.data
    machine.ok("prune", path, "--apply")
    with locked(locks, path):
        assert machine.run("undo").code == BUSY
    machine.ok("undo")


def test_two_real_prunes_at_once(machine: Forks) -> None:
    """A warm file is held for two seconds after the replace; who comes meanwhile is told so."""
    path = in_place(machine.home, rich().data)
    os.utime(path)
    command = [sys.executable, "-m", "coffer.cli.main", "prune", str(path), "--apply", "--json"]
    environment = os.environ | machine.environment
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as first:
        inode = path.stat().st_ino
        while path.stat().st_ino == inode and first.poll() is None:
            pass
        done = machine.run("prune", path, "-rx", "aggressive", "--apply")
        assert first.wait(30) == 0
    assert done.code == BUSY, done.err


def test_different_files_do_not_wait_for_each_other(folder: Path) -> None:
    locks = folder / "locks"
    locks.mkdir()
    with locked(locks, put(folder, b"{}", "a")), locked(locks, put(folder, b"{}", "b")):
        pass


def test_links_to_one_file_have_one_lock(folder: Path) -> None:
    path = put(folder, b"{}")
    (folder / "link").symlink_to(path)
    (folder / "locks").mkdir()
    with locked(folder / "locks", path), pytest.raises(Busy), locked(folder / "locks", folder / "link"):
        pass


def test_a_long_path_in_another_script_can_be_locked(folder: Path) -> None:
    place = folder / ("長" * 70) / ("い" * 70)
    path = put(place, b"{}")
    (folder / "locks").mkdir()
    with locked(folder / "locks", path):
        pass


# --- a system that refuses --------------------------------------------------------------------------------


def test_a_new_file_is_removed_when_nothing_comes_of_it(folder: Path) -> None:
    path = put(folder, b"{}\n")
    with pytest.raises(ZeroDivisionError), beside(Ticket.of(path)):
        raise ZeroDivisionError
    assert list(folder.iterdir()) == [path]


@pytest.mark.parametrize("largest", [3_000, 20_000, 60_000])
def test_a_disk_that_is_full_for_the_new_file(machine: Forks, largest: int) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    done = machine.run("prune", path, "--apply", largest_file=largest)
    assert done.code == WRITE_FAILED, done
    assert path.read_bytes() == talk.data
    assert [other.name for other in path.parent.iterdir()] == [path.name]
    machine.ok("prune", path, "--apply")


@needs_root
def test_a_full_disk_below_coffers_own_folder(machine: Forks, folder: Path) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    codes = set()
    for size in (4, 16, 48, 80, 96, 128, 160, 192, 256, 512):
        home = folder / f"small{size}"
        with _mounted(home, f"size={size}k"):
            done = machine.run("prune", path, "--apply", COFFER_HOME=str(home / "coffer"))
            codes.add(done.code)
            if done.code:
                assert path.read_bytes() == talk.data
            else:
                pruned = path.read_bytes()
                undone = machine.run("undo", COFFER_HOME=str(home / "coffer"))
                assert undone.code in (
                    0,
                    WRITE_FAILED,
                )  # it keeps a copy of what it replaces, and tells if it can't
                assert path.read_bytes() == (pruned if undone.code else talk.data)
            assert [other.name for other in path.parent.iterdir()] == [path.name]
    assert codes == {0, WRITE_FAILED}


@contextmanager
def _mounted(place: Path, options: str) -> Iterator[None]:
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=False, capture_output=True
    )
    if done.returncode:
        pytest.skip("mounting is not allowed")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@contextmanager
def _read_only(place: Path) -> Iterator[None]:
    """Bind a folder over itself, read-only: root too is refused with EROFS."""
    done = subprocess.run(["mount", "--bind", place, place], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("mounting is not allowed")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@needs_root
def test_a_read_only_folder(machine: Forks) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    with _read_only(path.parent):
        assert machine.run("prune", path, "--apply").code == WRITE_FAILED
    assert path.read_bytes() == talk.data
    machine.ok("prune", path, "--apply")
    new = path.read_bytes()
    with _read_only(path.parent):
        assert machine.run("undo").code == WRITE_FAILED
    assert path.read_bytes() == new
    machine.ok("undo")
    assert path.read_bytes() == talk.data


@needs_root
def test_a_read_only_home_that_is_new(machine: Forks, folder: Path) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    (folder / "ro").mkdir()
    with _read_only(folder / "ro"):
        done = machine.run("prune", path, "--apply", COFFER_HOME=str(folder / "ro" / "coffer"))
    assert done.code == WRITE_FAILED
    assert path.read_bytes() == talk.data


@needs_root
@pytest.mark.parametrize(
    "command",
    [
        pytest.param("prune"),
        pytest.param("undo"),
        "receipts",
        pytest.param("gc"),
        "restore",
    ],
)
def test_a_read_only_home_that_is_in_use(machine: Forks, command: str) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    machine.ok("prune", path, "-rx", "gentle", "--apply")
    before = path.read_bytes()
    arguments = {
        "prune": ("prune", path, "--apply"),
        "undo": ("undo",),
        "receipts": ("receipts",),
        "gc": ("gc", "--apply", "--days", "0"),
        "restore": ("restore", "0123456789"),
    }[command]
    with _read_only(machine.home / ".coffer"):
        done = machine.run(*arguments)
    assert (
        done.code
        in {"prune": (18,), "undo": (18,), "gc": (18,), "receipts": (0, 18), "restore": (17, 18)}[command]
    )
    assert path.read_bytes() == before


def test_a_home_that_is_a_file(machine: Forks) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    (machine.home / ".coffer").write_text("mine")
    done = machine.run("prune", path, "--apply")
    assert done.code == WRITE_FAILED, done
    assert path.read_bytes() == talk.data
    assert (machine.home / ".coffer").read_text() == "mine"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            b"this is no database, whatever it is called" * 200,
            id="other",
        ),
        pytest.param(b"", id="empty"),
    ],
)
def test_a_database_that_is_none(machine: Forks, content: bytes) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    (machine.home / ".coffer").mkdir(mode=0o700)
    (machine.home / ".coffer" / "coffer.db").write_bytes(content)
    for command in (("receipts",), ("undo",), ("gc",), ("restore", "0123456789"), ("prune", path, "--apply")):
        done = machine.run(*command)
        if content:
            assert done.code not in (0, 1), (command, done)
            assert path.read_bytes() == talk.data


def test_a_full_temporary_folder_stops_a_dry_run_with_a_sentence(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    done = machine.run("prune", path, largest_file=5_000)
    assert done.code == WRITE_FAILED, done


def test_a_temporary_folder_that_is_not_there_stops_nothing(machine: Forks, folder: Path) -> None:
    path = in_place(machine.home, rich().data)
    done = machine.run("prune", path, "--json", TMPDIR=str(folder / "no such"))
    assert done.code == 0


def test_enospc_is_named() -> None:
    from coffer.disk.replace import refusals  # noqa: PLC0415

    with pytest.raises(CofferError, match="the disk is full"), refusals(Path("x")):
        raise OSError(errno.ENOSPC, "No space left on device")
