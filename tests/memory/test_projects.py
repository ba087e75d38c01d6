"""Merges, aliases and labels of projects: what moves where, what is never overwritten, what is taken back."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coffer.store import projects as pages
from coffer.store.project_errors import MergedSince, MergeRefused, ProjectNotFound
from coffer.work.project.apart import join, separate
from coffer.work.project.identity import identity_of, memory_root, register
from coffer.work.project.memory_folder import memory_folder
from coffer.work.project.projects import about, alias, find, label, merge, planned, undo_project
from coffer.work.rules.lane import lane_folder, lane_for
from tests.memory.repositories import git, repository
from tests.memory.test_handoff import Desk

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
NOTE = "---\nid: 0123456{}\nsource: agent\ntime: 2026-11-30T10:00:00Z\n---\n{}\n"


class Two(Desk):
    """Two projects with a memory each, which have a day and a branch in common."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.old = repository(self.user / "old")
        self.names = [register(self.home, root).id for root in (self.old, self.tide)]
        for number, root in enumerate((self.old, self.tide)):
            memory = memory_folder(self.home, root)
            for name in ("knowledge/2026-11-30.md", "handoff/main-6d0d5876.md", "rules/rules.md"):
                (memory / name).parent.mkdir(parents=True, exist_ok=True)
                (memory / name).write_text(NOTE.format(number, f"of {root.name}"))
        (memory_folder(self.home, self.old) / "knowledge" / "topic.md").write_text("mine")

    def files(self) -> dict[str, str]:
        base = self.home.root / "memory"
        return {str(path.relative_to(base)): path.read_text() for path in base.rglob("*.md")}


@pytest.fixture
def two(tmp_path: Path) -> Two:
    return Two(tmp_path)


def test_a_merge_overwrites_nothing_and_is_taken_back(two: Two) -> None:
    old, new = two.names
    before, shown = two.files(), planned(two.home, old, new)
    assert two.files() == before, "a look moves nothing"
    done = merge(two.home, old, new, NOW)
    assert done.moves == shown.moves
    after = two.files()
    assert sorted(after.values()) == sorted(before.values())
    assert {path.partition(f"{new}/")[2] for path in after} == {
        "knowledge/2026-11-30.md",
        f"knowledge/2026-11-30-{old}.md",
        "knowledge/topic.md",
        "handoff/main-6d0d5876.md",
        "handoff/history/main-6d0d5876/merged-main-6d0d5876.md",
        "rules/rules.md",
        f"rules/rules-{old}.md",
    }
    assert memory_folder(two.home, two.old) == memory_folder(two.home, two.tide)
    assert old in identity_of(two.tide, two.home).aliases
    assert done.receipt is not None
    undo_project(done.receipt, two.home)
    assert two.files() == before
    assert identity_of(two.old, two.home).id == old
    assert identity_of(two.tide, two.home).aliases == ()


def test_a_merge_that_was_killed_is_taken_back(two: Two) -> None:
    old, new = two.names
    before = two.files()
    done = merge(two.home, old, new, NOW)
    assert done.receipt is not None
    base = two.home.root / "memory" / "projects"
    for move in done.moves[2:]:  # as if it had ended behind the second
        (base / move.target).rename(base / move.source)
    undo_project(done.receipt, two.home)
    assert two.files() == before


def test_what_came_later_is_not_lost_by_an_undo(two: Two) -> None:
    done = merge(two.home, two.names[0], two.names[1], NOW)
    moved = two.home.root / "memory" / "projects" / done.moves[0].target
    moved.write_text(moved.read_text() + "more")
    there = two.files()
    assert done.receipt is not None
    with pytest.raises(MergedSince):
        undo_project(done.receipt, two.home)
    assert two.files() == there


def test_a_label_that_was_given_since_stays_at_an_undo(two: Two) -> None:
    old, new = two.names
    done = merge(two.home, old, new, NOW)
    assert done.receipt is not None
    label(two.home, two.user, two.tide, "Charts", NOW)
    undo_project(done.receipt, two.home)
    page = pages.known(two.home, new)
    assert page is not None
    assert (page.label, page.was) == ("Charts", ())
    assert pages.standing(two.home, old) == old


def test_merges_that_can_not_be_meant(two: Two) -> None:
    old, new = two.names
    with pytest.raises(MergeRefused):
        planned(two.home, old, old)
    with pytest.raises(ProjectNotFound):
        planned(two.home, "none", new)
    merge(two.home, old, new, NOW)
    with pytest.raises(MergeRefused, match="one memory already"):
        planned(two.home, old, new)
    with pytest.raises(MergeRefused, match="name that one"):
        planned(two.home, new, old)


def test_a_label_and_an_alias(two: Two) -> None:
    fresh = repository(two.user / "fresh")
    label(two.home, two.user, two.tide, "  Tide   charts ", NOW)
    assert identity_of(two.tide, two.home).name == "Tide charts"
    assert find(two.home, two.user, "Tide charts") == two.names[1]
    assert find(two.home, two.user, str(two.tide)) == two.names[1]
    assert find(two.home, two.user, two.names[1][:6]) == two.names[1]
    with pytest.raises(ProjectNotFound):
        find(two.home, two.user, "nothing")
    done = alias(two.home, two.user, fresh, "Tide charts", NOW)
    assert memory_folder(two.home, fresh) == memory_folder(two.home, two.tide)
    with pytest.raises(MergeRefused, match="already"):
        alias(two.home, two.user, fresh, "Tide charts", NOW)
    with pytest.raises(MergeRefused, match="coffer project merge"):
        alias(two.home, two.user, two.old, "Tide charts", NOW)
    undo_project(done, two.home)
    assert memory_folder(two.home, fresh) != memory_folder(two.home, two.tide)


def test_a_folder_is_told_of(two: Two) -> None:
    found = about(two.home, two.user, two.tide / "src")
    assert found.identity is not None
    assert dict(found.lanes) == {"rules": 1, "knowledge": 1, "journal": 0, "handoff": 1}
    assert found.roots == (str(two.tide),)
    assert "home folder" in about(two.home, two.user, two.user).why
    (two.user / "old").rename(two.user / "away")
    moved = repository(two.user / "b" / "old")
    (hint,) = about(two.home, two.user, moved).maybe
    assert hint.id == two.names[0], "a memory whose folder is gone may be this one's"
    assert pages.known(two.home, identity_of(moved, two.home).id) is None


def test_a_clone_is_kept_apart_and_its_memory_read_nowhere_else(two: Two) -> None:
    address = "https://example.org/tide/charts"
    first, second = (repository(two.user / name / "charts", address) for name in ("one", "two"))
    shared = register(two.home, first).id
    assert identity_of(second, two.home).id == shared
    separate(two.home, two.user, second, NOW)
    own = register(two.home, second)
    assert own.apart
    assert own.id != shared
    assert own.aliases == ()
    assert identity_of(first, two.home).id == shared, "what is apart speaks for nobody else"
    (third := two.user / "three").mkdir()
    assert identity_of(repository(third / "charts", address), two.home).id == shared
    with pytest.raises(MergeRefused, match="no origin"):
        separate(two.home, two.user, two.old, NOW)
    with pytest.raises(ProjectNotFound):
        separate(two.home, two.user, two.user, NOW)


def test_a_clone_that_is_apart_keeps_the_rules_of_the_others(two: Two) -> None:
    address = "https://example.org/tide/charts"
    first, second = (repository(two.user / name / "charts", address) for name in ("one", "two"))
    register(two.home, first)
    lane = lane_folder(two.home, first)
    lane.mkdir()
    (lane / "person.md").write_text("- Never push on Fridays.\n")
    separate(two.home, two.user, second, NOW)
    assert [rule.text for rule in lane_for(two.home, second).rules] == ["Never push on Fridays."]


_KILLED = """
import os, signal, sys
from pathlib import Path
from coffer.store.home import Home
from coffer.work.project.apart import join, separate
from tests.memory.test_projects import NOW
user, tree, step = Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
def count(event, arguments):
    global step
    if event in ("os.rename", "os.link", "os.remove", "sqlite3.connect"):
        step -= 1
        if not step:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
{"join": join, "separate": separate}[sys.argv[1]](Home(user / ".coffer"), user, tree, NOW)
"""


def killed_at(two: Two, verb: str, tree: Path, step: int) -> bool:
    """Whether a command was killed before its nth step; else it came to its end."""
    run = [sys.executable, "-c", _KILLED, verb, str(two.user), str(tree), str(step)]
    done = subprocess.run(run, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def test_killed_at_any_step_nothing_apart_is_told_to_others_and_nothing_is_told_twice(two: Two) -> None:
    (memory_folder(two.home, two.tide) / "rules" / "rules.md").unlink()
    tree = two.user / "draft"
    git(two.tide, "worktree", "add", "-q", "-b", "draft", str(tree))
    separate(two.home, two.user, tree, NOW)
    join(two.home, two.user, tree, NOW)  # from now on the others' page names it as one that was merged
    before, note, step = two.files(), NOTE.format(7, "of draft"), 0
    while True:
        step += 1
        killed = killed_at(two, "separate", tree, step)
        root = memory_root(two.home, two.user, tree)
        assert root is not None
        own = identity_of(root, two.home)
        assert not own.apart or own.id not in identity_of(two.tide, two.home).aliases, f"killed at {step}"
        if not own.apart:
            own = identity_of(tree_apart(two, tree), two.home)
        lane = pages.folder(two.home, own.id) / "knowledge"
        lane.mkdir(exist_ok=True)
        (lane / "2026-11-30.md").write_text(note)
        joining = killed_at(two, "join", tree, step)
        if memory_root(two.home, two.user, tree) != two.tide:
            join(two.home, two.user, tree, NOW)
        assert sorted(two.files().values()) == sorted([*before.values(), note]), f"killed at {step}"
        next(path for path in two.home.root.rglob("*.md") if path.read_text() == note).unlink()
        if not killed and not joining:
            break
    assert step > 5, "else the steps were not met"


def test_what_is_apart_again_has_its_label_still_and_speaks_for_nobody(two: Two) -> None:
    tree = two.user / "draft"
    git(two.tide, "worktree", "add", "-q", "-b", "draft", str(tree))
    separate(two.home, two.user, tree, NOW)
    label(two.home, two.user, tree, "Sketches", NOW)
    own = register(two.home, tree).id
    merge(two.home, two.names[0], own, NOW)
    join(two.home, two.user, tree, NOW)
    separate(two.home, two.user, tree, NOW)
    page = pages.known(two.home, own)
    assert page is not None
    assert (page.label, page.was, page.into) == ("Sketches", (), "")


def tree_apart(two: Two, tree: Path) -> Path:
    """A work tree that was about to be kept apart, being so."""
    separate(two.home, two.user, tree, NOW)
    root = memory_root(two.home, two.user, tree)
    assert root == tree
    return root


def test_a_worktree_that_is_apart_stays_so_when_it_is_moved_and_when_it_is_gone(two: Two) -> None:
    tree, moved = two.user / "draft", two.user / "elsewhere"
    git(two.tide, "worktree", "add", "-q", "-b", "draft", str(tree))
    separate(two.home, two.user, tree, NOW)
    root = memory_root(two.home, two.user, tree / "src")
    assert root == tree
    own = register(two.home, root).id
    git(two.tide, "worktree", "move", str(tree), str(moved))
    assert memory_root(two.home, two.user, moved) == moved
    assert identity_of(moved, two.home).id == own
    git(two.tide, "worktree", "move", str(moved), str(tree))
    git(two.tide, "worktree", "remove", str(tree))
    gone = memory_root(two.home, two.user, tree / "src")
    assert gone == tree, "its last session may still be untold"
    assert memory_root(two.home, two.user, two.tide / ".." / "draft") == tree
    with pytest.raises(MergeRefused, match=f"is gone.*merge {own} "):
        join(two.home, two.user, tree, NOW)
    assert identity_of(gone, two.home).id == own
    assert identity_of(two.tide, two.home).id == two.names[1]
