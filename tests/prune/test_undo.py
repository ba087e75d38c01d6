"""Undo: the original bytes, and what was appended since; or a sentence, and nothing changed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
import zstandard

from coffer.store.home import Home
from tests.prune.forks import Forks
from tests.prune.generate import begun, queue_line, rich
from tests.prune.world import in_place, rest

NOT_FOUND, FOREIGN, MISSING, WRITE_FAILED, CHANGED, NO_FILE = 14, 15, 16, 18, 20, 9


def _applied(machine: Forks, path: Path, prescription: str = "standard") -> str:
    receipt = machine.ok("prune", path, "-rx", prescription, "--apply", "--json").json["receipt"]
    assert isinstance(receipt, str)
    return receipt


def _append(path: Path, number: int) -> None:
    with path.open("ab") as file:
        file.write(queue_line(number))
    rest(path)


def test_undo_after_growth_keeps_what_came_since(machine: Forks) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    _applied(machine, path)
    _append(path, 1)
    _append(path, 2)
    done = machine.ok("undo", "--json").json
    assert done["appended"] == len(queue_line(1)) * 2
    assert path.read_bytes() == talk.data + queue_line(1) + queue_line(2)


def test_undo_of_a_torn_file_keeps_what_came_since_on_a_line_of_its_own(machine: Forks) -> None:
    torn = rich().data + b'{"type":"queue-operation","content":"torn'
    path = in_place(machine.home, torn)
    _applied(machine, path)
    _append(path, 1)
    machine.ok("undo")
    assert path.read_bytes() == torn + b"\n" + queue_line(1)


def test_undo_twice_says_there_is_nothing(machine: Forks) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    receipt = _applied(machine, path)
    machine.ok("undo")
    for arguments in ((), (receipt,), (receipt[:6],)):
        assert machine.run("undo", *arguments).code == NOT_FOUND
    assert path.read_bytes() == talk.data


def test_two_prunes_are_undone_one_after_the_other(machine: Forks) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    first = _applied(machine, path, "gentle")
    between = path.read_bytes()
    _append(path, 1)
    second = _applied(machine, path, "standard")
    _append(path, 2)
    assert machine.run("undo", first).code == CHANGED
    machine.ok("undo", second)
    assert path.read_bytes() == between + queue_line(1) + queue_line(2)
    machine.ok("undo")
    assert path.read_bytes() == talk.data + queue_line(1) + queue_line(2)


def test_a_file_that_was_rewritten_since_is_left_alone(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    receipt = _applied(machine, path)
    changed = path.read_bytes().replace(b"please look", b"please LOOK")
    path.write_bytes(changed)
    rest(path)
    done = machine.run("undo")
    assert done.code == CHANGED
    assert path.read_bytes() == changed
    backup = machine.home / ".coffer" / "backups" / receipt / path.name
    assert str(backup) in done.err
    assert backup.is_file()


def test_a_file_that_was_cut_since_is_left_alone(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    _applied(machine, path)
    os.truncate(path, 1_000)
    rest(path)
    assert machine.run("undo").code == CHANGED
    assert path.stat().st_size == 1_000


@pytest.mark.parametrize("damage", ["missing", "short", "other"])
def test_a_backup_that_is_gone_or_damaged(machine: Forks, damage: str) -> None:
    path = in_place(machine.home, rich().data)
    receipt = _applied(machine, path)
    new = path.read_bytes()
    backup = machine.home / ".coffer" / "backups" / receipt / path.name
    if damage == "missing":
        backup.unlink()
    elif damage == "short":
        os.truncate(backup, 1_000)
    else:
        backup.write_bytes(backup.read_bytes().replace(b"please look", b"please LOOK"))
    assert machine.run("undo").code == MISSING
    assert path.read_bytes() == new


def test_a_session_that_is_gone(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    _applied(machine, path)
    path.unlink()
    done = machine.run("undo")
    assert done.code == MISSING
    assert not path.exists()


def test_a_receipt_of_another_machine(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    receipt = _applied(machine, path)
    new = path.read_bytes()
    with sqlite3.connect(machine.home / ".coffer" / "coffer.db") as connection:
        connection.execute("UPDATE receipts SET machine = 'another'")
    connection.close()
    for arguments in ((), (receipt,)):
        done = machine.run("undo", *arguments)
        assert done.code == FOREIGN
        assert receipt in done.err
    assert path.read_bytes() == new


def test_a_foreign_receipt_does_not_hide_ones_own(machine: Forks) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    _applied(machine, path, "gentle")
    with sqlite3.connect(machine.home / ".coffer" / "coffer.db") as connection:
        connection.execute(
            "INSERT INTO receipts SELECT 'ffffffffff', kind, status, '2099-01-01T00:00:00+00:00', 'another', agent, "
            "session, path, data FROM receipts"
        )
    connection.close()
    machine.ok("undo")
    assert path.read_bytes() == talk.data


@pytest.mark.parametrize("name", ["nope", "zzzzzzzzzz", "%"])
def test_a_receipt_that_does_not_exist(machine: Forks, name: str) -> None:
    assert machine.run("undo", name).code == NOT_FOUND
    in_place(machine.home, rich().data)
    assert machine.run("undo", name).code == NOT_FOUND


def test_an_undo_is_no_receipt_to_undo(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    _applied(machine, path)
    undone = machine.ok("undo", "--json").json["receipt"]
    assert machine.run("undo", undone).code == NOT_FOUND


def test_a_full_disk_during_an_undo(machine: Forks) -> None:
    talk = rich()
    for number in range(40):
        talk.read("/w/big.py", 60_000, f"big{number}")
    talk.end()
    path = in_place(machine.home, talk.data)
    _applied(machine, path)
    new = path.read_bytes()
    done = machine.run("undo", largest_file=1_500_000)
    assert path.read_bytes() == new
    assert done.code == WRITE_FAILED, done.err


def test_an_undo_leaves_nothing_behind_when_it_fails(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    receipt = _applied(machine, path)
    (machine.home / ".coffer" / "backups" / receipt / path.name).unlink()
    machine.run("undo")
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_a_session_in_a_moved_home_is_found_by_its_receipts_path(machine: Forks) -> None:
    """Receipts name absolute paths: elsewhere there is nothing to undo, and it is said."""
    path = in_place(machine.home, rich().data)
    _applied(machine, path)
    moved = path.parent.with_name("-work-moved")
    shutil.move(path.parent, moved)
    assert machine.run("undo").code == MISSING


def test_receipts_as_json(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    assert json.loads(machine.ok("receipts", "--json").out) == []
    receipt = _applied(machine, path)
    machine.ok("undo")
    newest, oldest = machine.ok("receipts", "--json").json
    assert (newest["kind"], newest["status"], newest["data"]["undoes"]) == ("undo", "done", receipt)
    assert (oldest["id"], oldest["kind"], oldest["status"]) == (receipt, "prune", "undone")
    assert oldest["path"] == str(path)
    assert set(oldest) == {"id", "kind", "status", "time", "machine", "agent", "session", "path", "data"}
    for key in (
        "tokens_before",
        "tokens_after",
        "bytes_before",
        "bytes_after",
        "strategies",
        "backup",
        "removed",
    ):
        assert key in oldest["data"]
    assert receipt[:8] in machine.ok("receipts").out


def test_late_and_next_lines_that_begin_alike_stay_whole(machine: Forks) -> None:
    """Killed between the rename and the carrying over: a common beginning is no carried line."""
    talk = rich()
    path = in_place(machine.home, talk.data)
    receipt = _applied(machine, path)
    with sqlite3.connect(machine.home / ".coffer" / "coffer.db") as connection:
        ((data,),) = connection.execute("SELECT data FROM receipts").fetchall()
        said = {key: value for key, value in json.loads(data).items() if key != "carried"}
        connection.execute("UPDATE receipts SET status = 'prepared', data = ?", (json.dumps(said),))
    connection.close()
    with (machine.home / ".coffer" / "backups" / receipt / path.name).open("ab") as old:
        old.write(queue_line(1))
    with path.open("ab") as new:
        new.write(queue_line(2))
    rest(path)
    machine.ok("undo")
    assert path.read_bytes() == talk.data + queue_line(1) + queue_line(2)


def test_a_file_that_is_back_already_is_not_brought_back_twice(machine: Forks) -> None:
    """The pruned bytes may be the beginning of the original's."""
    machine.without_rules()
    talk = begun()
    talk.end()
    talk.made.progress("p")
    path = in_place(machine.home, talk.data)
    _applied(machine, path)
    assert talk.data.startswith(path.read_bytes())
    path.write_bytes(talk.data)
    rest(path)
    assert "nothing to bring back" in machine.ok("undo").out
    assert path.read_bytes() == talk.data


@pytest.mark.parametrize("command", [("prune",), ("prune", "--apply"), ("check", "--fix")])
def test_a_compressed_transcript_is_only_read(machine: Forks, command: tuple[str, ...]) -> None:
    path = in_place(machine.home, rich().data)
    packed = path.with_suffix(".jsonl.zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    rest(packed)
    before = packed.read_bytes()
    done = machine.run(command[0], packed, *command[1:])
    assert done.code == NO_FILE
    assert "compressed" in done.err
    assert packed.read_bytes() == before


def test_a_relative_home_is_made_absolute() -> None:
    assert Home.of({"COFFER_HOME": "box"}).root == Path("box").absolute()


def test_a_session_that_is_gone_names_its_backup(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    receipt = _applied(machine, path)
    path.unlink()
    assert str(machine.home / ".coffer" / "backups" / receipt) in machine.run("undo").err
