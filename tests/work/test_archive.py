"""The vault in one file and back: nothing lost, nothing overwritten, nothing written outside of the vault."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from coffer.core.entry import Lane, made, rendered
from coffer.disk.places import Places
from coffer.store import vault
from coffer.store.home import Home
from coffer.work.memory.archive import MANIFEST, export, look_into, take_in
from coffer.work.memory.archive_errors import ArchiveExists, ArchiveUnreadable
from coffer.work.undo_any import undo_any
from tests.cli.run import Machine

TIME = "2026-05-01T10:00:00Z"
GOOD = (MANIFEST, json.dumps({"format": 1, "made": TIME}).encode())


class House:
    def __init__(self, root: Path) -> None:
        root.mkdir(exist_ok=True)
        self.environment = {"HOME": str(root)}
        self.home = Home(root / ".coffer")
        self.root = vault.vault(self.home)

    def add(self, lane: Lane, text: str, name: str = "2026-05-01.md", project: str = "boat-1") -> str:
        folder = self.root / "projects" / project / lane
        return vault.append(self.home, folder, name, made(lane, text, source="agent", time=TIME)).id

    def fill(self) -> None:
        self.add("knowledge", "The tide table hangs in the boathouse.")
        self.add("knowledge", "Second, ünïcode “note”.")
        self.add("journal", "## Goal\n\nMend the pier.")
        self.add("handoff", "Goal: the pier", "main.md")
        (self.root / "projects" / "boat-1" / "project.toml").write_text('label = "Boat"\n')
        hand = self.root / "global" / "rules" / "mine.md"
        hand.parent.mkdir(parents=True)
        hand.write_bytes(b"# Rules\r\n\r\n- Read the table.\r\n")

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = House(tmp_path / "a")
    made.fill()
    return made


@pytest.fixture
def other(tmp_path: Path) -> House:
    return House(tmp_path / "b")


def test_all_of_it_comes_over_and_once(house: House, other: House, tmp_path: Path) -> None:
    (house.root / "projects" / "boat-1" / "knowledge" / ".hidden.md").write_text("x")
    (house.root / "projects" / "boat-1" / "knowledge" / "link.md").symlink_to("/etc/passwd")
    done = export(house.home, house.environment, tmp_path / "x.tar.gz")
    assert dict(done.entries) == {"knowledge": 2, "journal": 1, "handoff": 1, "rules": 1}
    assert (tmp_path / "x.tar.gz").stat().st_mode & 0o777 == 0o600
    before = other.files()
    taken = look_into(tmp_path / "x.tar.gz", other.home)
    assert other.files() == before
    receipt = take_in(taken, other.home)
    assert receipt is not None
    wanted = {
        name: data for name, data in house.files().items() if "hidden" not in name and "link" not in name
    }
    assert other.files() == wanted
    assert look_into(tmp_path / "x.tar.gz", other.home).changing == []
    undo_any(receipt, other.home, Places.of(other.environment))
    assert other.files() == {}
    with pytest.raises(ArchiveExists):
        export(house.home, house.environment, tmp_path / "x.tar.gz")


def test_what_is_there_stays(house: House, other: House, tmp_path: Path) -> None:
    export(house.home, house.environment, tmp_path / "x.tar.gz")
    own = other.add("knowledge", "My own note.")
    branch = other.add("handoff", "Goal: something else", "main.md")
    mine = other.files()
    taken = look_into(tmp_path / "x.tar.gz", other.home)
    receipt = take_in(taken, other.home)
    assert receipt is not None
    day = other.root / "projects" / "boat-1" / "knowledge" / "2026-05-01.md"
    assert vault.entries(day, "knowledge")[0].id == own
    assert len(vault.entries(day, "knowledge")) == 3
    (kept,) = vault.entries(other.root / "projects" / "boat-1" / "handoff" / "main.md", "handoff")
    assert kept.id == branch
    day.write_text(day.read_text().replace("Second, ünïcode “note”.", "Second, edited by hand."))
    undo_any(receipt, other.home, Places.of(other.environment))
    left = other.files()
    assert left.keys() == mine.keys()
    assert b"My own note." in left[str(day.relative_to(other.root))]
    assert b"boathouse" not in left[str(day.relative_to(other.root))]


def packed(path: Path, *members: tuple[str, bytes] | tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            about = tarfile.TarInfo(member[0])
            about.size = len(member[1])
            archive.addfile(about, io.BytesIO(member[1]))
    return path


def link(name: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    about = tarfile.TarInfo(name)
    about.type, about.linkname = kind, "/etc/passwd"
    return about


@pytest.mark.parametrize(
    "members",
    [
        (),
        (("memory/global/knowledge/a.md", b"x"),),
        ((MANIFEST, b"{"),),
        ((MANIFEST, b'{"format": 99}'),),
        (GOOD, ("../out.md", b"x")),
        (GOOD, ("memory/../../out.md", b"x")),
        (GOOD, ("/memory/global/knowledge/a.md", b"x")),
        (GOOD, ("memory/global/knowledge/../../../a.md", b"x")),
        (GOOD, ("memory/global/knowledge/a.sh", b"x")),
        (GOOD, ("memory/global/other/a.md", b"x")),
        (GOOD, ("memory/projects/../knowledge/a.md", b"x")),
        (GOOD, ("memory/projects/a.b/knowledge/a.md", b"x")),
        (GOOD, ("memory/project.toml", b"x")),
        (GOOD, ("memory/global/knowledge/.a.md", b"x")),
        (GOOD, ("memory", b"x")),
        (GOOD, ("", b"x")),
        (GOOD, (f"memory/global/knowledge/{'a' * 300}.md", b"x")),
        (GOOD, ("memory/global/knowledge/a\x1b[31m.md", b"x")),
        (GOOD, ("memory/global/knowledge/a.md", b"x"), ("memory/global/knowledge/a.md", b"y")),
        (GOOD, link("memory/global/knowledge/a.md")),
        (GOOD, link("memory/global/knowledge/a.md", tarfile.LNKTYPE)),
        (GOOD, link("memory/global/knowledge/a.md", tarfile.FIFOTYPE)),
    ],
)
def test_a_hostile_archive_is_refused(
    members: tuple[tuple[str, bytes] | tarfile.TarInfo, ...], other: House, tmp_path: Path
) -> None:
    with pytest.raises(ArchiveUnreadable, match="Nothing was changed"):
        look_into(packed(tmp_path / "bad.tar.gz", *members), other.home)
    assert not other.home.root.exists()


def test_what_is_no_archive_is_refused(house: House, other: House, tmp_path: Path) -> None:
    whole = tmp_path / "x.tar.gz"
    export(house.home, house.environment, whole)
    for name, data in (("cut", whole.read_bytes()[:300]), ("text", b"hello"), ("empty", b"")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ArchiveUnreadable):
            look_into(tmp_path / name, other.home)
    with pytest.raises(ArchiveUnreadable, match="no such file"):
        look_into(tmp_path / "gone", other.home)


def test_a_link_in_the_vault_is_not_followed_by_an_import(house: House, other: House, tmp_path: Path) -> None:
    export(house.home, house.environment, tmp_path / "x.tar.gz")
    outside = tmp_path / "outside"
    outside.mkdir()
    other.root.mkdir(parents=True)
    (other.root / "projects").symlink_to(outside)
    with pytest.raises(Exception, match="link leads out"):
        take_in(look_into(tmp_path / "x.tar.gz", other.home), other.home)
    assert not any(path.suffix == ".md" for path in outside.rglob("*"))


@pytest.mark.usefixtures("house")
def test_the_commands(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    machine = Machine(tmp_path / "a", folder)
    said = machine.alone("export", "out.tar.gz", "--json")
    assert said.json["entries"] == {"knowledge": 2, "journal": 1, "handoff": 1, "rules": 1}
    (tmp_path / "c").mkdir()
    machine = Machine(tmp_path / "c", folder)
    said = machine.alone("import", "out.tar.gz")
    assert "read to your agents as rules" in said.out
    assert not (tmp_path / "c" / ".coffer").exists()
    said = machine.alone("import", "out.tar.gz", "--apply", "-y")
    assert said.code == 0, said.err
    assert len(House(tmp_path / "c").files()) == 5
    assert machine.alone("undo").code == 0
    assert House(tmp_path / "c").files() == {}


def test_what_the_person_changed_since_stays_at_an_undo(other: House, tmp_path: Path) -> None:
    entry = made("knowledge", "First.", source="agent", time=TIME)
    note = "memory/projects/boat-1/knowledge/mine.md"
    page = "memory/projects/boat-1/project.toml"
    archive = packed(
        tmp_path / "x.tar.gz", GOOD, (note, rendered(entry).encode()), (page, b'label = "Theirs"\n')
    )
    receipt = take_in(look_into(archive, other.home), other.home)
    assert receipt is not None
    path, own = other.root.parent / note, other.root.parent / page
    path.write_text(path.read_text().replace("First.", "First, and what I know of it."))
    own.write_text('label = "Mine"\n')
    before = other.files()
    undo_any(receipt, other.home, Places.of(other.environment))
    assert other.files() == before


def test_a_note_without_a_front_matter_stays_a_note_of_its_own(other: House, tmp_path: Path) -> None:
    other.add("knowledge", "An agent's note.", "mine.md")
    archive = packed(tmp_path / "x.tar.gz", GOOD, ("memory/projects/boat-1/knowledge/mine.md", b"By hand.\n"))
    take_in(look_into(archive, other.home), other.home)
    found = vault.entries(other.root / "projects" / "boat-1" / "knowledge" / "mine.md", "knowledge")
    assert [(one.source, one.text) for one in found] == [
        ("agent", "An agent's note."),
        ("person", "By hand."),
    ]


def test_a_note_that_was_moved_within_its_lane_is_known(house: House, tmp_path: Path) -> None:
    export(house.home, house.environment, tmp_path / "x.tar.gz")
    lane = house.root / "projects" / "boat-1" / "knowledge"
    (lane / "archive").mkdir()
    (lane / "2026-05-01.md").rename(lane / "archive" / "topic.md")
    assert look_into(tmp_path / "x.tar.gz", house.home).changing == []


def test_a_page_neither_gives_away_nor_reads_a_memory_that_is_here(other: House, tmp_path: Path) -> None:
    pages = [(f"memory/projects/{name}/project.toml", b'into = "evil-2"\n') for name in ("boat-1", "new-1")]
    pages.append(("memory/projects/evil-2/project.toml", b'was = ["boat-1"]\n'))
    pages.append(("memory/projects/odd-1/project.toml", b"no page"))
    other.add("knowledge", "Mine.")
    taken = look_into(packed(tmp_path / "x.tar.gz", GOOD, *pages), other.home)
    assert [(one.path.parent.name, one.into) for one in taken.changing] == [("new-1", "evil-2")]


def test_the_command_shows_the_rules_that_would_come_in(house: House, tmp_path: Path) -> None:
    export(house.home, house.environment, tmp_path / "x.tar.gz")
    (tmp_path / "w").mkdir()
    said = Machine(tmp_path / "b", tmp_path / "w").alone("import", str(tmp_path / "x.tar.gz"))
    assert "read to your agents as rules" in said.out
    assert "  - Read the table." in said.out
