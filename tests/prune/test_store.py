"""The content store: what was pruned comes back by its id, and goes when no receipt names it."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.prune.forks import Forks
from tests.prune.generate import Talk, begun, words
from tests.prune.world import in_place, kept, rest
from tests.transcripts import SESSION, image, text

NOT_FOUND, AMBIGUOUS, MISSING, USAGE, WRITE_FAILED = 17, 4, 16, 2, 18
OTHER = "99999999-2222-4333-8444-555555555555"
PIXELS = b"\x89PNG no real picture" * 9


def _session(mark: str = "x") -> Talk:
    talk = begun()
    talk.say(words(40_000, "ballast"))
    talk.read("/w/a.py", name="old", content=words(3_000, mark) + "日本 🎈 end")
    talk.edit("/w/a.py")
    for _ in range(2):
        data = base64.b64encode(PIXELS).decode()
        talk.use("Read", [image(data), text("its caption")], file_path=f"/w/{talk.count}.png")
    talk.end()
    return talk


def _prune(machine: Forks, path: Path) -> tuple[str, dict[str, str]]:
    """The receipt, and the ids in the stubs by what they were."""
    receipt = machine.ok("prune", path, "--apply", "--json").json["receipt"]
    found = re.findall(
        rb"\[coffer: (.+?), [\d.]+ K?B, removed; coffer restore ([0-9a-f]{10})\]", path.read_bytes()
    )
    return receipt, {note.decode(): name.decode() for note, name in found}


def test_text_comes_back_by_the_id_in_its_stub(machine: Forks) -> None:
    _, ids = _prune(machine, in_place(machine.home, _session().data))
    wanted = words(3_000, "x") + "日本 🎈 end\n"
    for length in (10, 8, 4):
        assert machine.ok("restore", ids["Read /w/a.py"][:length]).out == wanted


def test_text_goes_to_a_file_and_never_over_one(machine: Forks, folder: Path) -> None:
    _, ids = _prune(machine, in_place(machine.home, _session().data))
    out = folder / "out.txt"
    machine.ok("restore", ids["Read /w/a.py"], "--out", out)
    assert out.read_text("utf-8") == words(3_000, "x") + "日本 🎈 end"
    out.write_text("mine")
    assert machine.run("restore", ids["Read /w/a.py"], "--out", out).code == WRITE_FAILED
    assert out.read_text() == "mine"
    assert machine.run("restore", ids["Read /w/a.py"], "--out", folder / "no" / "such").code == WRITE_FAILED


def test_an_image_comes_back_as_the_image(machine: Forks, folder: Path) -> None:
    _, ids = _prune(machine, in_place(machine.home, _session().data))
    (name,) = [name for note, name in ids.items() if note.endswith(".png")]
    done = machine.ok("restore", name)
    assert done.out == "its caption\n"
    assert "1 images" in done.err
    machine.ok("restore", name, "--out", folder / "a.png")
    assert (folder / "a.png").read_bytes() == PIXELS


def test_an_image_without_text_asks_for_a_file(machine: Forks, folder: Path) -> None:
    talk = begun()
    talk.say(words(40_000))
    for number in range(2):
        talk.use("Read", [image(base64.b64encode(PIXELS).decode())], file_path=f"/w/{number}.png")
    talk.end()
    _, ids = _prune(machine, in_place(machine.home, talk.data))
    (name,) = ids.values()
    assert machine.run("restore", name).code == USAGE
    machine.ok("restore", name, "--out", folder / "a.png")
    assert (folder / "a.png").read_bytes() == PIXELS


@pytest.mark.parametrize("name", ["ffffffffff", "abc", "", "../../x", "ABCDEF0123", "%"])
def test_an_id_that_is_none(machine: Forks, name: str) -> None:
    assert machine.run("restore", name).code == NOT_FOUND
    _prune(machine, in_place(machine.home, _session().data))
    assert machine.run("restore", name).code == NOT_FOUND


def test_an_id_that_is_too_short_for_two(machine: Forks) -> None:
    _prune(machine, in_place(machine.home, _session().data))
    with sqlite3.connect(machine.home / ".coffer" / "coffer.db") as connection:
        ((key,),) = connection.execute("SELECT hash FROM blobs LIMIT 1").fetchall()
        connection.execute(
            "INSERT INTO blobs SELECT ?, pack, offset, length, size, note, project FROM blobs LIMIT 1",
            (key[:5] + "f" * 59,),
        )
    connection.close()
    assert machine.run("restore", key[:5]).code == AMBIGUOUS
    machine.ok("restore", key[:20])


@pytest.mark.parametrize("damage", ["missing", "short", "garbage"])
def test_a_damaged_pack_has_its_own_error(machine: Forks, damage: str) -> None:
    path = in_place(machine.home, _session().data)
    old = path.read_bytes()
    receipt, ids = _prune(machine, path)
    pack = machine.home / ".coffer" / "pruned" / f"{receipt}.pack"
    match damage:
        case "missing":
            pack.unlink()
        case "short":
            pack.write_bytes(pack.read_bytes()[:40])
        case _:
            pack.write_bytes(b"\xff" * pack.stat().st_size)
    new = path.read_bytes()
    for name in ids.values():
        assert machine.run("restore", name).code == MISSING
    assert path.read_bytes() == new
    machine.ok("undo")
    assert path.read_bytes() == old


def test_restored_content_is_what_its_hash_says(machine: Forks) -> None:
    talk = begun()
    talk.say(words(40_000))
    noise = base64.b64encode(bytes(range(256)) * 9).decode()
    talk.read("/w/a.py", name="old", content="".join(reversed(noise)))
    talk.edit("/w/a.py")
    talk.end()
    path = in_place(machine.home, talk.data)
    receipt, ids = _prune(machine, path)
    pack = machine.home / ".coffer" / "pruned" / f"{receipt}.pack"
    good, codes = pack.read_bytes(), set()
    for place in range(len(good) - 60, len(good) - 4):
        pack.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        codes.add(machine.run("restore", next(iter(ids.values()))).code)
    assert codes == {MISSING}


def test_odd_content_comes_back(machine: Forks) -> None:
    """A list with a part that has no text, and one whose text is a number."""
    talk = begun()
    talk.say(words(40_000))
    parts = [text(words(900)), {"type": "text"}, {"type": "text", "text": 7}]
    talk.use("Read", parts, file_path="/w/a.py")
    talk.edit("/w/a.py")
    talk.end()
    path = in_place(machine.home, talk.data)
    done = machine.ok("prune", path, "--apply", "--json")
    if done.json["receipt"]:
        name = re.findall(rb"coffer restore ([0-9a-f]{10})", path.read_bytes())[0].decode()
        assert machine.ok("restore", name).out.startswith("x says something")


# --- what is kept, and for how long -----------------------------------------------------------------------


def test_everything_below_coffers_folder_is_private(machine: Forks) -> None:
    path = in_place(machine.home, _session().data)
    path.chmod(0o600)
    _prune(machine, path)
    machine.ok("undo")
    _prune(machine, path)
    root = machine.home / ".coffer"
    for place in [root, *root.rglob("*")]:
        mode = stat.S_IMODE(place.stat().st_mode)
        assert mode == (0o700 if place.is_dir() else 0o600), f"{place.name}: {mode:o}"


def test_the_same_content_is_kept_once(machine: Forks) -> None:
    one, two = (in_place(machine.home, _session().data, name) for name in (SESSION, OTHER))
    _, ids = _prune(machine, one)
    _, again = _prune(machine, two)
    assert ids == again
    assert len([name for name in kept(machine.home) if name.endswith(".pack")]) == 1


def test_shared_content_stays_while_one_receipt_names_it(machine: Forks) -> None:
    one, two = (in_place(machine.home, _session().data, name) for name in (SESSION, OTHER))
    first, ids = _prune(machine, one)
    second, _ = _prune(machine, two)
    machine.ok("undo", first)
    machine.ok("gc", "--apply")
    name = next(iter(ids.values()))
    machine.ok("restore", name)
    machine.ok("undo", second)
    machine.ok("gc", "--apply")
    assert machine.run("restore", name).code == NOT_FOUND
    assert not [name for name in kept(machine.home) if name.endswith(".pack")]


def test_gc_is_a_dry_run_by_default(machine: Forks) -> None:
    path = in_place(machine.home, _session().data)
    receipt, _ = _prune(machine, path)
    before = kept(machine.home)
    would = machine.ok("gc", "--days", "0", "--json").json
    assert kept(machine.home).keys() == before.keys()
    assert {k: v for k, v in kept(machine.home).items() if not k.endswith(".db")} == {
        k: v for k, v in before.items() if not k.endswith(".db")
    }
    assert would["receipts"] == [receipt]
    assert would["deleted"] is False
    did = machine.ok("gc", "--days", "0", "--apply", "--json").json
    assert (did["bytes"], did["receipts"]) == (would["bytes"], would["receipts"])
    assert machine.run("undo").code == 14


def test_gc_keeps_what_is_young(machine: Forks) -> None:
    path = in_place(machine.home, _session().data)
    old = path.read_bytes()
    _, ids = _prune(machine, path)
    assert machine.ok("gc", "--apply", "--json").json["receipts"] == []
    machine.ok("restore", next(iter(ids.values())))
    machine.ok("undo")
    assert path.read_bytes() == old


def test_gc_lets_go_of_what_was_undone(machine: Forks) -> None:
    path = in_place(machine.home, _session().data)
    receipt, _ = _prune(machine, path)
    machine.ok("undo")
    assert receipt in machine.ok("gc", "--apply", "--json").json["receipts"]
    assert not (machine.home / ".coffer" / "backups" / receipt).exists()


def test_gc_never_touches_what_may_or_may_not_have_happened(machine: Forks) -> None:
    path = in_place(machine.home, _session().data)
    receipt, _ = _prune(machine, path)
    with sqlite3.connect(machine.home / ".coffer" / "coffer.db") as connection:
        connection.execute("UPDATE receipts SET status = 'prepared', time = '2001-01-01T00:00:00+00:00'")
    connection.close()
    before = kept(machine.home)
    machine.ok("gc", "--days", "0", "--apply")
    assert kept(machine.home).keys() == before.keys()
    machine.ok("undo", receipt)


def test_content_of_an_undone_prune_serves_the_next_one(machine: Forks) -> None:
    path = in_place(machine.home, _session().data)
    _prune(machine, path)
    machine.ok("undo")
    rest(path, 60)
    _, ids = _prune(machine, path)
    machine.ok("gc", "--apply")
    assert machine.ok("restore", ids["Read /w/a.py"]).out.startswith("x says")


def test_content_whose_pack_was_lost_is_kept_again(machine: Forks) -> None:
    path = in_place(machine.home, _session().data)
    receipt, _ = _prune(machine, path)
    machine.ok("undo")
    (machine.home / ".coffer" / "pruned" / f"{receipt}.pack").unlink()
    _, ids = _prune(machine, path)
    machine.ok("restore", ids["Read /w/a.py"])


def test_commands_that_only_look_make_no_folder(machine: Forks) -> None:
    path = in_place(machine.home, _session().data)
    for command in (
        ("receipts",),
        ("receipts", "--json"),
        ("gc",),
        ("gc", "--apply"),
        ("prune", path),
        ("check", path),
    ):
        machine.run(*command)
    for command in (("undo",), ("restore", "0123456789")):
        assert machine.run(*command).code in (14, 17)
    assert not (machine.home / ".coffer").exists()


def test_a_receipt_is_json_all_through(machine: Forks) -> None:
    _prune(machine, in_place(machine.home, _session().data))
    with sqlite3.connect(machine.home / ".coffer" / "coffer.db") as connection:
        ((data,),) = connection.execute("SELECT data FROM receipts").fetchall()
    connection.close()
    assert json.loads(data)["pieces"] == 2
