"""The vault's files: private, whole, and never at the cost of what a person saved meanwhile."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from coffer.core.entry import entries_of, made
from coffer.errors import FileMoved, WriteFailed
from coffer.store import vault
from coffer.store.home import Home

TIME = "2026-05-03T10:00:00Z"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def house(tmp_path: Path) -> Home:
    return Home(tmp_path / "house")


def _lane(house: Home) -> Path:
    return house.root / "memory" / "projects" / "api-1" / "knowledge"


def test_an_entry_is_added_to_a_private_file(house: Home) -> None:
    for text in ("one", "two"):
        vault.append(house, _lane(house), "2026-05-03.md", made("knowledge", text, source="agent", time=TIME))
    (path,) = vault.files(_lane(house))
    assert [entry.text for entry in vault.entries(path, "knowledge")] == ["one", "two"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in [house.root, *(place for place in house.root.rglob("*") if place.is_dir())]:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


def test_a_secret_is_not_written(house: Home) -> None:
    entry = made(
        "knowledge", f"the token is {TOKEN}", source="agent", time=TIME, branch=TOKEN, more=(("k", TOKEN),)
    )
    written = vault.append(house, _lane(house), "a.md", entry)
    assert TOKEN not in (_lane(house) / "a.md").read_text()
    assert "[redacted: " in written.text


def test_a_secret_does_not_hide_the_beginning_of_another_entry(house: Home) -> None:
    entry = made("knowledge", f"x\n---\nk: {TOKEN}\nid: 00000000\n---\ny", source="agent", time=TIME)
    written = vault.append(house, _lane(house), "a.md", entry)
    assert vault.entries(_lane(house) / "a.md", "knowledge") == [written]


def test_what_a_person_wrote_stays_to_the_byte(house: Home) -> None:
    _lane(house).mkdir(parents=True)
    path = _lane(house) / "2026-05-01.md"
    path.write_bytes(b"\xef\xbb\xbfmine \xff\r\n")
    path.chmod(0o640)
    vault.append(house, _lane(house), path.name, made("knowledge", "one", source="agent", time=TIME))
    assert path.read_bytes().startswith(b"\xef\xbb\xbfmine \xff\r\n\n---\nid: ")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.time for entry in vault.entries(path, "knowledge")] == ["2026-05-01", TIME]


def test_a_rewrite_of_something_else_by_now_is_refused(house: Home) -> None:
    _lane(house).mkdir(parents=True)
    path = _lane(house) / "a.md"
    path.write_text("saved meanwhile")
    for before, after in (("old", "new"), (None, "new"), ("old", None)):
        with pytest.raises(FileMoved):
            vault.rewrite(house, path, before, after)
    assert path.read_text() == "saved meanwhile"
    assert list(path.parent.iterdir()) == [path]
    vault.rewrite(house, path, "saved meanwhile", None)
    assert not path.exists()


def test_no_link_is_followed(house: Home, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    secret = tmp_path / "secret.md"
    secret.write_text("not yours")
    lane = _lane(house)
    lane.mkdir(parents=True)
    (lane / "a.md").symlink_to(secret)
    assert vault.files(lane) == []
    assert vault.read(lane / "a.md") is None
    out = house.root / "memory" / "projects" / "out"
    out.symlink_to(tmp_path / "elsewhere")
    for folder in (lane, out / "knowledge"):
        with pytest.raises(WriteFailed):
            vault.append(house, folder, "a.md", made("knowledge", "x", source="agent", time=TIME))
    assert secret.read_text() == "not yours"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_looking_makes_nothing(house: Home) -> None:
    assert vault.files(_lane(house)) == []
    assert vault.entries(_lane(house) / "a.md", "knowledge") == []
    assert not house.root.exists()


_WRITER = """
import sys
from pathlib import Path
from coffer.core.entry import made
from coffer.store import vault
from coffer.store.home import Home
home, lane, name = Home(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3]
for count in range(15):
    vault.append(home, lane, "day.md", made("knowledge", f"{name}-{count}", source="agent", time=str(count)))
"""


def test_several_processes_lose_nothing(house: Home) -> None:
    words = [sys.executable, "-P", "-c", _WRITER, str(house.root), str(_lane(house))]
    writers = [subprocess.Popen([*words, name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    found = entries_of((_lane(house) / "day.md").read_text(), "knowledge")
    assert sorted(entry.text for entry in found) == sorted(f"{n}-{at}" for n in "abc" for at in range(15))
    assert list(_lane(house).iterdir()) == [_lane(house) / "day.md"]
