"""`check --fix`: each repair by itself, with what a resume sees before and after, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from coffer.core import view as views
from coffer.core.dialect import NO_RESPONSE
from coffer.core.repair import fixes
from tests.prune.forks import Forks
from tests.prune.generate import Talk, begun, rich
from tests.prune.world import in_place, rest, side
from tests.transcripts import read, spoken, text, uid

CAPTURED = Path(__file__).parents[1] / "fixtures" / "left_out"
NOTHING = "Nothing that can be repaired without loss."


def _said(data: bytes) -> list[str]:
    return spoken(views.view(read(data)), data)


def _plain() -> list[bytes]:
    talk = begun()
    talk.say("answer", "a1")
    talk.ask("more", "u2")
    talk.say("answer again", "a2")
    return talk.data.splitlines(keepends=True)


def _glued(lines: list[bytes]) -> bytes:
    """Case 25: killed in the middle of a record, the next append stands on the same line."""
    return b"".join(lines[:3]) + b'{"type":"pr-link","prNu' + lines[3]


def _second(lines: list[bytes]) -> bytes:
    return b"".join([*lines[:2], lines[2].rstrip(b"\n"), lines[3]])


def _nul_line(lines: list[bytes]) -> bytes:
    return b"".join([*lines[:2], b"\0" * 512 + b"\n", *lines[2:]])


def _nul_before(lines: list[bytes]) -> bytes:
    return b"".join([*lines[:3], b"\0" * 300, lines[3]])


def _null(lines: list[bytes]) -> bytes:
    return b"".join([*lines[:2], b"null\n", *lines[2:]])


def _null_crlf(lines: list[bytes]) -> bytes:
    return b"".join([*lines[:2], b"null\r\n", *lines[2:]])


def _unfinished(lines: list[bytes]) -> bytes:
    return b"".join(lines).rstrip(b"\n")


def _torn_end(lines: list[bytes]) -> bytes:
    return b"".join(lines) + b'{"parentUuid":"x","type":"us'


Break = Callable[[list[bytes]], bytes]
BROKEN = [_glued, _second, _nul_line, _nul_before, _null, _null_crlf, _unfinished, _torn_end]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda f: f.__name__.strip("_"))
def test_a_repair_brings_back_what_was_hidden_and_can_be_undone(machine: Forks, broken: Break) -> None:
    lines = _plain()
    data = broken(lines)
    path = in_place(machine.home, data)
    done = machine.run("check", path, "--fix")
    assert "Receipt " in done.out, done
    fixed = path.read_bytes()
    assert fixed != data
    assert fixed.endswith(b"\n")
    assert b"\0" not in fixed
    assert _said(fixed) == _said(b"".join(lines))
    assert NOTHING in machine.run("check", path, "--fix").out
    assert path.read_bytes() == fixed
    machine.ok("undo")
    assert path.read_bytes() == data


@pytest.mark.parametrize("broken", BROKEN, ids=lambda f: f.__name__.strip("_"))
def test_a_repair_takes_no_word_away(broken: Break) -> None:
    data = broken(_plain())
    transcript = read(data)
    new, shift = data, 0
    for fix in fixes(transcript, lambda start, end: data[start:end], {}):
        gone = data[fix.start : fix.end]
        assert not gone.strip(b"\0\n\r") or gone.strip() == b"null"
        new = new[: fix.start + shift] + fix.new + new[fix.end + shift :]
        shift += len(fix.new) - len(gone)
    before, after = _said(data), iter(_said(new))
    assert all(line in after for line in before if line != f"assistant: {NO_RESPONSE}")


def test_a_sound_session_is_left_alone(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    inode = path.stat().st_ino
    assert NOTHING in machine.run("check", path, "--fix").out
    assert path.stat().st_ino == inode
    assert not (machine.home / ".coffer").exists()


@pytest.mark.parametrize("line", [b"[]", b'"x"', b"\xff garbage", b'{"no":"type"}'])
def test_what_hides_nothing_stays(machine: Forks, line: bytes) -> None:
    lines = _plain()
    path = in_place(machine.home, b"".join([*lines[:2], line + b"\n", *lines[2:]]))
    before = path.read_bytes()
    assert NOTHING in machine.run("check", path, "--fix").out
    assert path.read_bytes() == before


def test_the_json_of_a_repair_is_one_document(machine: Forks) -> None:
    path = in_place(machine.home, _null(_plain()))
    done = machine.run("check", path, "--fix", "--json")
    assert json.loads(done.out)["path"] == str(path)
    assert "Receipt " in done.err


@pytest.mark.parametrize(
    ("name", "answer"), [("first-turn", "Greeted apple."), ("behind-the-pointer", "Greeted plum.")]
)
def test_a_resume_shows_the_newest_message_again(machine: Forks, name: str, answer: str) -> None:
    data = (CAPTURED / f"{name}.jsonl").read_bytes()
    path = in_place(machine.home, data)
    assert answer not in "".join(_said(data))
    told = json.loads(machine.run("check", path, "--json").out)["findings"]
    assert [one["kind"] for one in told if one["level"] == "warning"] == ["newest message left out"]
    machine.run("check", path, "--fix")
    fixed = path.read_bytes()
    assert fixed.startswith(data)
    assert fixed.count(b"\n") == data.count(b"\n") + 1
    assert answer in "".join(_said(fixed))
    assert NOTHING in machine.run("check", path, "--fix").out
    machine.ok("undo")
    assert path.read_bytes() == data


# --- a rewind after a prune -------------------------------------------------------------------------------


def _polls(talk: Talk, name: str) -> None:
    for number in range(3):
        talk.bash("git status", f"clean {number}", f"{name}{number}")


def _appended(path: Path, parent: str, name: str, said: str = "another way") -> None:
    """What a client that still has its old memory appends after a rewind."""
    talk = Talk()
    talk.made.leaf = uid(parent)
    talk.made.clock = 1e6
    talk.made.counted = 1_000  # another name for its API messages
    talk.ask(said, name)
    talk.say(f"answer to {said}", f"{name}a")
    with path.open("ab") as file:
        file.write(talk.data)
    rest(path)


def test_a_record_whose_parent_a_prune_removed_is_hung_on_the_survivor(machine: Forks) -> None:
    talk = begun()
    talk.say("hello", "hello")
    _polls(talk, "p")
    talk.end()
    path = in_place(machine.home, talk.data)
    machine.ok("prune", path, "--apply")
    assert uid("p0r").encode() not in path.read_bytes()
    _appended(path, "p0r", "re")
    lost = _said(path.read_bytes())
    assert "user: please look" not in lost
    assert "hung on the surviving ancestor" in machine.run("check", path, "--fix").out
    found = _said(path.read_bytes())
    assert found[:2] == ["user: please look", "assistant: hello"]
    assert found[-2:] == ["user: another way", "assistant: answer to another way"]
    machine.ok("undo")
    assert _said(path.read_bytes()) == lost
    machine.ok("undo")
    assert path.read_bytes().startswith(talk.data)


def test_an_ancestor_that_a_later_prune_removed_too(machine: Forks) -> None:
    talk = begun()
    talk.say("hello", "hello")
    talk.made.progress("p1")
    talk.bash("git status", "clean", "x0")
    talk.end()
    path = in_place(machine.home, talk.data)
    machine.ok("prune", path, "--apply")  # p1 → hello
    # as after two prunes, the second of which removed what the first had named as the survivor
    with sqlite3.connect(machine.home / ".coffer" / "coffer.db") as connection:
        ((identity, data),) = connection.execute("SELECT id, data FROM receipts").fetchall()
        said = json.loads(data) | {"removed": {uid("gone1"): uid("gone2")}}
        connection.execute("UPDATE receipts SET data = ? WHERE id = ?", (json.dumps(said), identity))
        later = json.loads(data) | {"removed": {uid("gone2"): uid("hello")}}
        connection.execute(
            "INSERT INTO receipts SELECT 'ffffffffff', kind, status, '2099-01-01T00:00:00+00:00', machine, agent, "
            "session, path, ? FROM receipts",
            (json.dumps(later),),
        )
    connection.close()
    _appended(path, "gone1", "re")
    machine.run("check", path, "--fix")
    assert not side(path.read_bytes()).view.branch.gaps


def test_a_live_session_is_not_repaired(machine: Forks) -> None:
    data = _null(_plain()).replace(b'"version":"2.1.197"', b'"version":"2.1.1"')
    path = in_place(machine.home, data)
    rest(path, -3_590)
    assert machine.run("check", path, "--fix").code == 10
    assert path.read_bytes() == data


def test_a_repair_that_would_lose_something_is_refused(machine: Forks) -> None:
    """The record that NUL bytes hide would become the leaf, and the present branch a dead one."""
    lines = _plain()
    hidden = begun("hidden")
    hidden.made.lines.clear()
    hidden.made.leaf = None
    hidden.made.clock = 1e6
    hidden.made.answer(text("another session"), name="h1")
    data = b"".join(lines) + b"\0" * 300 + hidden.data
    path = in_place(machine.home, data)
    done = machine.run("check", path, "--fix")
    assert done.code == 13, done
    assert path.read_bytes() == data
