"""Notes: kept once, in their place, without secrets, never what is there or is delivered already; and taken back."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock

from coffer.errors import CofferError
from coffer.store import index
from coffer.store.home import Home
from coffer.store.index_search import Filters
from coffer.store.project_errors import ProjectNotFound
from coffer.work.delivery.bundles import bundle_for
from coffer.work.memory.handoff import By
from coffer.work.memory.memory_errors import (
    IndexMaking,
    KeptAlready,
    NoSuchNote,
    NoteChangedSince,
    NoteRefused,
)
from coffer.work.memory.recall import day_of, newest_of, recall
from coffer.work.memory.remember import Kept, Scope, remember, undo_remember
from coffer.work.project.memory_here import Here, here
from coffer.work.project.projects import merge

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CLAUDE = By("agent", "claude", "8f2c1d00")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Desk:
    """A person's machine."""

    def __init__(self, root: Path) -> None:
        self.root, self.home = root, Home(root / ".coffer")
        self.tide = self.project("tide")

    def project(self, name: str) -> Path:
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.root / name)], check=True)
        return self.root / name

    def at(self, folder: Path | None = None) -> Here:
        return here(self.home, self.root, folder or self.tide)

    def keep(
        self,
        text: str,
        folder: Path | None = None,
        by: By = CLAUDE,
        scope: Scope | None = None,
        title: str = "",
    ) -> Kept:
        environment = {"HOME": str(self.root)}
        return remember(self.at(folder), text, by, NOW, environment, scope=scope, title=title)

    def found(self, question: str, folder: Path | None = None) -> list[str]:
        place = self.at(folder)
        return [hit.text for hit in recall(self.home, question, Filters(place.folders()), 10, NOW).hits]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_where_a_note_goes(desk: Desk) -> None:
    moss = desk.project("moss")
    rows: tuple[tuple[Path, Scope | None, str], ...] = (
        (desk.tide, None, "projects/tide-"),
        (desk.tide, "project", "projects/tide-"),
        (desk.tide, "global", "global/"),
        (moss, None, "projects/moss-"),
        (desk.root, None, "global/"),
        (Path("/"), None, "global/"),
    )
    for at, (folder, scope, where) in enumerate(rows):
        kept = desk.keep(f"fact number {at}", folder, scope=scope)
        path = kept.path.relative_to(desk.home.root / "memory").as_posix()
        assert path.startswith(where)
        assert path.endswith("/knowledge/2026-11-30.md")
        assert (kept.entry.source, kept.entry.agent, kept.entry.session) == ("agent", "claude", "8f2c1d00")
        assert kept.entry.branch == ("main" if folder in (desk.tide, moss) else "")
    assert set(desk.found("fact number")) == {f"fact number {at}" for at in (0, 1, 2, 4, 5)}
    with pytest.raises(ProjectNotFound, match="belongs to no project"):
        desk.keep("fact", desk.root, scope="project")


def test_nothing_is_kept_twice(desk: Desk) -> None:
    first = desk.keep("We retry five times with exponential backoff.", title="Retries")
    for text in (
        "# Retries\n\nWe retry five times with exponential backoff.",
        "We  RETRY five times\nwith exponential backoff.",
        "five times with exponential backoff",
    ):
        with pytest.raises(KeptAlready, match=first.entry.id):
            desk.keep(text)
    desk.keep("We retry six times with exponential backoff.")
    moss = desk.project("moss")
    desk.keep("We retry five times with exponential backoff.", moss)
    desk.keep("We retry five times with exponential backoff.", scope="global")
    with pytest.raises(KeptAlready, match="global memory"):
        desk.keep("We retry five times with exponential backoff.", desk.root)


def test_what_may_not_be_a_note(desk: Desk) -> None:
    desk.keep("The gateway limits bursts of more than ten.")
    (desk.home.root / "memory" / "global" / "rules").mkdir(parents=True)
    (desk.home.root / "memory" / "global" / "rules" / "a.md").write_text("- Do not deploy on Fridays.\n")
    bundle = bundle_for(desk.tide, desk.home, {"HOME": str(desk.root)})
    for text, why in (
        ("", "empty"),
        (" \n ", "empty"),
        ("…", "empty"),
        (TOKEN, "without its secrets"),
        ("x" * 4001, "4,001 characters"),
        (bundle.text, "block of rules"),
        ("do not deploy on  fridays.", "standing rules"),
        (bundle.lines[-1], "standing rules"),
        ("so: [1a2b3c4d] 2026-11-30 (just now)", ""),
        ("[1a2b3c4d] 2026-11-30 (just now) · noted by claude\n> it is so", "answer of recall"),
    ):
        if why:
            with pytest.raises(NoteRefused, match=why):
                desk.keep(text)
        else:
            desk.keep(text)
    with pytest.raises(NoteRefused, match="title"):
        desk.keep("a fact", title="x" * 121)


def test_a_secret_is_nowhere(desk: Desk) -> None:
    kept = desk.keep(f"The key {TOKEN} was for the harbour.", title=f"About {TOKEN}")
    assert sum(kept.secrets.values()) == 2
    assert "harbour" in desk.found("harbour")[0]
    for path in desk.home.root.rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path


def test_a_note_is_taken_back(desk: Desk) -> None:
    one, two = desk.keep("fact one"), desk.keep("fact two")
    before = one.path.read_text()
    desk.keep("fact three")
    undo_remember(two.receipt, desk.home, NOW)
    assert sorted(desk.found("fact")) == ["fact one", "fact three"]
    with pytest.raises(NoteChangedSince):
        undo_remember(two.receipt, desk.home, NOW)
    three = desk.keep("fact four")
    one.path.write_text(one.path.read_text().replace("fact one", "fact 1").replace("fact four", "fact 4"))
    for kept in (one, three):
        with pytest.raises(NoteChangedSince, match="by hand"):
            undo_remember(kept.receipt, desk.home, NOW)
    assert before.startswith("---\nid: ")


def test_the_last_note_takes_its_file_along(desk: Desk) -> None:
    kept = desk.keep("fact")
    undo_remember(kept.receipt, desk.home, NOW)
    assert not kept.path.exists()
    assert desk.found("fact") == []


def test_a_merged_projects_notes_are_found(desk: Desk) -> None:
    moss = desk.project("moss")
    desk.keep("fact of moss", moss)
    merge(desk.home, desk.at(moss).project[0], desk.at().project[0], NOW) if desk.found(
        "fact", desk.tide
    ) else None
    desk.keep("fact of tide")
    merge(desk.home, desk.at(moss).project[0], desk.at().project[0], NOW)
    assert sorted(desk.found("fact")) == ["fact of moss", "fact of tide"]
    assert sorted(desk.found("fact", moss)) == ["fact of moss", "fact of tide"]


def test_an_id_is_that_entry_and_words_are_not(desk: Desk) -> None:
    kept = desk.keep("fact one")
    desk.keep("deadbeef is a word")
    filters = Filters(desk.at().folders())
    for question in (kept.entry.id, f"[{kept.entry.id}]", f" {kept.entry.id} "):
        found = recall(desk.home, question, filters, 5, NOW)
        assert found.one
        assert [hit.text for hit in found.hits] == ["fact one"]
    assert [hit.text for hit in recall(desk.home, "deadbeef", filters, 5, NOW).hits] == ["deadbeef is a word"]
    with pytest.raises(NoSuchNote):
        recall(desk.home, "0123abcd", filters, 5, NOW)


def test_of_two_that_match_alike_the_newer_comes_first(desk: Desk) -> None:
    lane = desk.home.root / "memory" / "global" / "knowledge"
    lane.mkdir(parents=True)
    for day in ("2024-01-01", "2026-11-29", "2025-05-05"):
        (lane / f"{day}.md").write_text(f"we chose the port {day[:4]}\n")
    assert [text[-4:] for text in desk.found("which port")] == ["2026", "2025", "2024"]
    hits, total = newest_of(desk.home, Filters(), 2, 1)
    assert ([hit.time[:4] for hit in hits], total) == (["2025", "2024"], 3)


DAYS = (
    ("2026-05-03", "2026-05-03"),
    ("2026-05", "2026-05"),
    ("2026", "2026"),
    ("2026-05-03T10:30Z", "2026-05-03T10:30"),
    ("today", "2026-11-30"),
    ("yesterday", "2026-11-29"),
    ("3w", "2026-11-09"),
    ("10 days", "2026-11-20"),
    ("1y", "2025-11-30"),
)


@pytest.mark.parametrize(("said", "day"), DAYS)
def test_days_as_people_name_them(said: str, day: str) -> None:
    assert day_of(said, NOW) == day


@pytest.mark.parametrize("said", ["", "soon", "2026-13", "2026-02-30", "05/03/2026", "99999d", "-3d"])
def test_what_is_no_day(said: str) -> None:
    with pytest.raises(ValueError, match=r"date|month|day"):
        day_of(said, NOW)


def test_every_refusal_is_a_sentence(desk: Desk) -> None:
    with pytest.raises(CofferError) as refused:
        desk.keep("")
    assert str(refused.value) == "This was not kept: it is empty."


def test_a_note_is_kept_while_another_process_makes_the_index(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.keep("fact one")
    monkeypatch.setattr(index, "BUSY", 0.05)
    with FileLock(desk.home.locks / "index.lock"):
        desk.keep("fact two")
        with pytest.raises(IndexMaking):
            desk.found("fact")
    assert sorted(desk.found("fact")) == ["fact one", "fact two"]
