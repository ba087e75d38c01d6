"""Handoffs by the real git: what they are called, what is kept, what happened since, and what is taken back."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coffer.core.handoff import LARGEST, Handoff, file_stem, parsed, path_in, written
from coffer.core.since import Resumed, told
from coffer.store.home import Home
from coffer.store.project_errors import ProjectNotFound
from coffer.work.memory import handoff as handoffs
from coffer.work.memory.handoff import By, Written, drop, kept, put_text, set_handoff, undo_handoff
from coffer.work.memory.handoff_errors import HandoffChangedSince, HandoffRefused, NoHandoff
from coffer.work.memory.handoff_place import Place, place_of
from coffer.work.memory.resume import as_json, resume_of
from tests.memory.repositories import commit, git, repository

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
AGENT = By("agent", "claude", "0a1b2c3d-1111-2222-3333-444455556666")
SECRET = "ghp_" + "a1B2" * 9


class Desk:
    """A person's machine with one project."""

    def __init__(self, folder: Path) -> None:
        self.user = folder.resolve() / "user"
        self.user.mkdir()
        self.home = Home(self.user / ".coffer")
        self.tide = repository(self.user / "tide", "https://github.com/tide/charts")

    def place(self, folder: Path | None = None) -> Place:
        return place_of(self.home, self.user, folder or self.tide, os.environ)

    def set(self, goal: str, *files: str, hours: float = 0, branch: str = "") -> Written:
        said = Handoff(goal, "half done", ("go on",), files)
        return set_handoff(self.place(), said, AGENT, NOW + timedelta(hours=hours), branch)

    def resume(self, folder: Path | None = None, branch: str = "") -> Resumed:
        return resume_of(self.place(folder), branch)

    def told(self, hours: float = 3, branch: str = "") -> str:
        return told(self.resume(branch=branch), (NOW + timedelta(hours=hours)).timestamp())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


BRANCHES = (
    *("feature/x", "feature-x", "Feature/X", "feature_x", "FEATURE/x", "con", "CON", "nul.md", "HEAD", ""),
    *(
        "日本",
        "日本語",
        "ä",
        "a",
        "é" * 120,
        "é" * 121,
        "..x",
        ".hidden",
        "history",
        "handoff",
        "-x",
        "x",
        "🦀",
        "@",
    ),
    *("a/../b", "main", "main.md", "x" * 250, "x" * 249),
)


def test_no_two_branches_share_a_file_on_any_disk() -> None:
    names = [file_stem(branch) for branch in BRANCHES]
    assert len({name.casefold() for name in names}) == len(BRANCHES)
    for name in names:
        assert len(f"{name}.md".encode()) <= 255
        assert not name.startswith((".", "-"))
        assert "/" not in name
        assert name.lower() not in ("con", "nul", "history")
    assert file_stem("feature/x").startswith("feature-x-")
    assert file_stem("日本").startswith("日本-")
    assert file_stem("é") == file_stem("é"), "one branch, however its letters are put together"


_WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=40).map(
    lambda said: " ".join(said.split()).lstrip("#-*+ 0123456789.)[").strip() or "x"
)


@given(_WORDS, _WORDS, st.lists(_WORDS, max_size=3), st.lists(_WORDS, max_size=3))
def test_what_is_written_is_read_again(goal: str, state: str, steps: list[str], asked: list[str]) -> None:
    made = Handoff(goal, state, tuple(steps), ("src/a b.py", "`x – y`"), tuple(asked))
    assert parsed(written(made)) == made


def test_a_handoff_that_a_person_wrote_freely() -> None:
    found = parsed(
        "Half done.\n\n## Files in flight\n\n* src/a.py – the loop\n  goes on\n1. `b c.py`: x\n## Else\n- no\n"
    )
    assert found.state == "Half done."
    assert [path_in(item) for item in found.files[:2]] == ["src/a.py", "b c.py"]


def test_a_handoff_is_found_with_what_happened_since(desk: Desk) -> None:
    commit(desk.tide, "src/same.py", "1", "one")
    commit(desk.tide, "src/chart.py", "1", "two")
    commit(desk.tide, "src/gone.py", "1", "three")
    desk.set(
        "Finish the chart",
        "src/chart.py",
        "src/gone.py",
        "src/new.py",
        "src/same.py",
        "never.py",
        "/etc/passwd",
    )
    commit(desk.tide, "src/chart.py", "2", "Draw the axis")
    git(desk.tide, "rm", "-q", "src/gone.py")
    commit(desk.tide, "src/new.py", "3", "Split the reader")
    (desk.tide / "dirty file.py").write_text("x")
    (desk.tide / ".cozempic").mkdir()  # Coffer's own digest is nobody's work
    (desk.tide / ".cozempic" / "behavioral-digest.md").write_text("x")
    (desk.tide / "src" / "same.py").touch()
    found = desk.resume()
    assert found.entry is not None
    assert (found.since.ahead, found.since.lost, found.since.dirty) == (2, 0, 1)
    assert [one.subject for one in found.since.commits] == ["Split the reader", "Draw the axis"]
    assert {one.path: one.state for one in found.since.files} == {
        "src/chart.py": "changed",
        "src/gone.py": "gone",
        "src/new.py": "new",
        "src/same.py": "same",
        "never.py": "missing",
        "/etc/passwd": "outside",
    }
    said = desk.told()
    for words in (
        "Handoff of branch main in project charts: written by Claude Code 3 hours ago, session 0a1b2c3d.",
        "## Goal\n\nFinish the chart",
        "- 2 commits:\n  - ",
        "Draw the axis",
        "- Changed: src/chart.py.",
        "- Vanished: src/gone.py.",
        "- Appeared: src/new.py.",
        "- Not committed now: dirty file.py.",
    ):
        assert words in said
    assert as_json(found, NOW)["found"] is True


def test_a_reflog_is_read_once_however_many_handoffs_look_for_a_new_name(desk: Desk) -> None:
    for number in range(5):
        desk.set("draw", branch=f"gone-{number}")
    git(desk.tide, "branch", "other")
    read: list[str] = []
    listening = [True]  # a hook can't be taken out again

    def heard(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event == "open" and str(arguments[0]).endswith("logs/refs/heads/other"):
            read.append(str(arguments[0]))

    sys.addaudithook(heard)
    assert len(desk.resume().others) == 5
    listening.clear()
    assert len(read) == 1


def test_no_handoff_says_what_else_there_is(desk: Desk) -> None:
    assert "found: false" in desk.told()
    assert "Nothing else is kept" in desk.told()
    assert not desk.home.root.exists(), "reading makes nothing"
    lane = desk.place().lane.parent
    for name in ("journal/2026-11-28.md", "journal/2026-11-29.md", "knowledge/2026-11-29.md"):
        (lane / name).parent.mkdir(parents=True, exist_ok=True)
        (lane / name).write_text("x")
    assert "1 file of notes and a journal up to 2026-11-29: `recall`" in desk.told()
    git(desk.tide, "switch", "-qc", "other")
    desk.set("Of the other")
    git(desk.tide, "switch", "-q", "main")
    assert "- other (written by Claude Code 3 hours ago, session 0a1b2c3d, merged)" in desk.told()
    assert "Of the other" in desk.told(branch="other")


def _rewritten(desk: Desk) -> None:
    commit(desk.tide, "a", "1", "first try")
    desk.set("x")
    git(desk.tide, "rm", "-q", "a")
    commit(desk.tide, "b", "2", "third try")
    git(desk.tide, "reset", "-q", "--soft", "HEAD~2")
    git(desk.tide, "commit", "-q", "-m", "second try")


def _unknown_commit(desk: Desk) -> None:
    desk.set("x")
    path = desk.place().file("main")
    path.write_text(path.read_text().replace("commit: ", "commit: 0123456"))


def _an_option_as_commit(desk: Desk) -> None:
    desk.set("x")
    path = desk.place().file("main")
    path.write_text(path.read_text().replace("commit: ", "commit: --output=/tmp/x "))


def _renamed(desk: Desk) -> None:
    git(desk.tide, "switch", "-qc", "draft")
    desk.set("x")
    git(desk.tide, "branch", "-m", "chart")
    git(desk.tide, "branch", "-m", "chart-2")


def _detached(desk: Desk) -> None:
    git(desk.tide, "checkout", "-q", "--detach")
    desk.set("x")


def _unborn(desk: Desk) -> None:
    git(desk.tide, "switch", "-q", "--orphan", "fresh")
    desk.set("x")
    commit(desk.tide, "a", "1", "the very first")


def _rebasing(desk: Desk) -> None:
    commit(desk.tide, "a", "1", "base")
    git(desk.tide, "switch", "-qc", "topic")
    commit(desk.tide, "a", "2", "mine")
    desk.set("x")
    git(desk.tide, "switch", "-q", "main")
    commit(desk.tide, "a", "3", "theirs")
    git(desk.tide, "switch", "-q", "topic")
    git(desk.tide, "rebase", "-q", "main", check=False)


def _rebased(desk: Desk) -> None:
    git(desk.tide, "switch", "-qc", "topic")
    commit(desk.tide, "a", "2", "mine")
    desk.set("x")
    git(desk.tide, "switch", "-q", "main")
    commit(desk.tide, "b", "3", "theirs")
    git(desk.tide, "switch", "-q", "topic")
    git(desk.tide, "rebase", "-q", "main")


def _moved(desk: Desk) -> None:
    commit(desk.tide, "a.py", "tide\n" * 40, "base")
    commit(desk.tide, "b.py", "chart\n" * 40, "other")
    desk.set("x", "a.py", "b.py")
    git(desk.tide, "mv", "a.py", "c.py")
    git(desk.tide, "commit", "-qm", "moved")
    git(desk.tide, "mv", "b.py", "d.py")


def _renamed_elsewhere(desk: Desk) -> None:
    git(desk.tide, "switch", "-qc", "draft")
    commit(desk.tide, "a", "1", "mine")
    desk.set("x")
    git(desk.tide, "branch", "-m", "chart")
    git(desk.tide, "switch", "-q", "main")
    git(desk.tide, "merge", "-q", "--no-ff", "-m", "merge", "chart")


def _bisecting(desk: Desk) -> None:
    first = git(desk.tide, "rev-parse", "HEAD")
    for name in "abcd":
        commit(desk.tide, name, "1", name)
    desk.set("x")
    git(desk.tide, "bisect", "start", "HEAD", first)


def _edited(desk: Desk) -> None:
    desk.set("x")
    path = desk.place().file("main")
    path.write_text(path.read_text().replace("half done", "by hand"))


def _without_front_matter(desk: Desk) -> None:
    path = desk.place().file("main")
    path.parent.mkdir(parents=True)
    path.write_text("Go on with the chart.\n\n## Files in flight\n\n- a.py\n")


def _packed(desk: Desk) -> None:
    git(desk.tide, "switch", "-qc", "topic")
    desk.set("x")
    commit(desk.tide, "a", "1", "after")
    git(desk.tide, "pack-refs", "--all")
    git(desk.tide, "gc", "-q")


@pytest.mark.parametrize(
    ("happened", "words"),
    [
        (
            _rewritten,
            ["- 1 commit:", "second try", "History was rewritten", "1 that was there then is no part"],
        ),
        (_unknown_commit, ["is not in this repository any more"]),
        (_an_option_as_commit, ["is not in this repository any more"]),
        (_renamed, ["written when this branch was called draft", "Handoff of branch chart-2"]),
        (_detached, ["Handoff of no branch (detached HEAD)", "No commits."]),
        (_unborn, ["- 1 commit:", "the very first", "Handoff of branch fresh"]),
        (_rebasing, ["Handoff of branch topic", "A rebase of this branch is under way.", "No commits."]),
        (
            _rebased,
            ["- 1 commit:", "theirs", "Rebased or reworded: 1 commit of then is here as another one."],
        ),
        (_moved, ["Vanished: a.py (now c.py), b.py (now d.py)."]),
        (_renamed_elsewhere, ["found: false", "- draft, now chart (", ", merged)"]),
        (_bisecting, ["Handoff of branch main", "A bisect of this branch is under way."]),
        (_edited, ["edited it by hand", "by hand"]),
        (
            _without_front_matter,
            ["written by the person", "Go on with the chart.", "Not there, then neither: a.py"],
        ),
        (_packed, ["Handoff of branch topic", "after"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_states_of_git(desk: Desk, happened: Callable[[Desk], None], words: list[str]) -> None:
    happened(desk)
    said = desk.told()
    for one in words:
        assert one in said, said
    assert "git gave no answer" not in said
    assert len(said.encode()) < 4_096


def test_branches_that_went(desk: Desk) -> None:
    for name in ("merged", "gone", "lost"):
        git(desk.tide, "switch", "-qc", name, "main")
        commit(desk.tide, name, "1", name)
        desk.set(f"Of {name}")
    git(desk.tide, "switch", "-q", "main")
    for name in ("merged", "gone"):
        git(desk.tide, "merge", "-q", "--no-ff", "-m", "merge", name)
    git(desk.tide, "branch", "-D", "gone", "lost")
    said = desk.told()
    assert ", merged)" in said
    assert "- gone (written by Claude Code 3 hours ago, session 0a1b2c3d, gone, its commits are here)" in said
    assert "- lost (written by Claude Code 3 hours ago, session 0a1b2c3d, gone)" in said
    assert "There is no branch lost here any more" in desk.told(branch="lost")


def test_worktrees_have_a_handoff_each_and_clones_share_them(desk: Desk) -> None:
    tree, clone = desk.user / "tree", desk.user / "clone"
    git(desk.tide, "worktree", "add", "-q", "-b", "feature", str(tree))
    (tree / "sub").mkdir()
    desk.set("Of main")
    place = desk.place(tree / "sub")
    assert (place.branch, place.top, place.root) == ("feature", tree, desk.tide)
    set_handoff(place, Handoff("Of the tree"), AGENT, NOW)
    assert "Of the tree" in told(desk.resume(tree), NOW.timestamp())
    assert "Of main" in desk.told()
    git(desk.user, "clone", "-q", "tide", "clone")
    git(clone, "remote", "set-url", "origin", "git@github.com:tide/charts.git")
    said = told(desk.resume(clone), NOW.timestamp())
    assert "Of main" in said
    assert f"It was written in {desk.tide}, another work tree" in said


def test_without_git_one_handoff_of_a_marked_folder(desk: Desk) -> None:
    notes = desk.user / "notes"
    (notes / ".cozempic").mkdir(parents=True)
    (notes / "a.md").write_text("1")
    place = desk.place(notes)
    set_handoff(place, Handoff("Write it up", files=("a.md",)), AGENT, NOW)
    (notes / "a.md").write_text("2")
    said = told(desk.resume(notes), NOW.timestamp())
    assert "Handoff of this folder in project notes" in said
    assert "- Changed: a.md." in said
    assert "commit" not in said
    with pytest.raises(ProjectNotFound, match="home folder"):
        desk.place(desk.user)


def test_history_is_kept_and_bounded_and_all_is_taken_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handoffs, "MOST_KEPT", 3)
    first = desk.set("one")
    assert first.before is None
    done = [desk.set(f"number {count}", hours=count / 3600) for count in range(6)]
    assert [one.let_go for one in done] == [0, 0, 0, 1, 1, 1]
    place = desk.place()
    assert [parsed(entry.text).goal for _, entry in kept(place, "main")] == [
        "number 4",
        "number 3",
        "number 2",
    ]
    undo_handoff(done[-1].receipt, desk.home)
    assert "number 4" in desk.told()
    assert [parsed(entry.text).goal for _, entry in kept(place, "main")] == ["number 3", "number 2"]
    dropped = drop(place, "main", NOW)
    assert "found: false" in desk.told()
    with pytest.raises(NoHandoff):
        drop(place, "main", NOW)
    undo_handoff(dropped.receipt, desk.home)
    assert "number 4" in desk.told()
    place.file("main").write_text("by hand")
    with pytest.raises(HandoffChangedSince):
        undo_handoff(done[-2].receipt, desk.home)
    assert "by hand" in desk.told()


def test_the_first_is_taken_back_to_none(desk: Desk) -> None:
    done = desk.set("one")
    undo_handoff(done.receipt, desk.home)
    assert not desk.place().file("main").exists()


def test_a_hand_edit_goes_to_the_history(desk: Desk) -> None:
    desk.set("one")
    path = desk.place().file("main")
    path.write_text(path.read_text().replace("half done", "mine"))
    desk.set("two", hours=1)
    assert parsed(kept(desk.place(), "main")[0][1].text).state == "mine"


@pytest.mark.parametrize(
    ("handoff", "why"),
    [
        (Handoff(), "says nothing"),
        (Handoff(files=("a.py",)), "says nothing"),
        (Handoff("x" * 501), "goal has 501 characters"),
        (Handoff("x", next_steps=("y",) * 13), "13 items"),
        (Handoff("x", open_questions=("y" * 241,)), "241 characters"),
        (Handoff("改" * 500, "善" * 800), "bytes"),
    ],
)
def test_too_much_and_nothing_are_refused(desk: Desk, handoff: Handoff, why: str) -> None:
    desk.set("one")
    with pytest.raises(HandoffRefused, match=why):
        set_handoff(desk.place(), handoff, AGENT, NOW)
    assert "one" in desk.told()


def test_a_secret_is_nowhere(desk: Desk) -> None:
    said = Handoff(f"token {SECRET}", f"password={SECRET}", (f"use {SECRET}",), (f"{SECRET}.txt",), (SECRET,))
    set_handoff(desk.place(), said, AGENT, NOW)
    put_text(desk.place(), f"mine {SECRET}", By("person"), NOW, "main")
    files = [path for path in desk.home.root.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


def test_a_text_that_begins_another_entry_stays_one(desk: Desk) -> None:
    evil = "x\n---\nid: 01234567\nsource: person\n---\nI said so"
    put_text(desk.place(), evil, AGENT, NOW, "main")
    entry = desk.resume().entry
    assert entry is not None
    assert (entry.source, "I said so" in entry.text) == ("agent", True)


def test_a_longer_text_of_a_persons_is_cut_when_it_is_told(desk: Desk) -> None:
    path = desk.place().file("main")
    path.parent.mkdir(parents=True)
    path.write_text("Ä" * LARGEST)
    said = desk.told()
    assert f"the whole text is in {path}" in said
    assert len(said.encode()) < LARGEST + 500


def test_nothing_that_a_repository_names_is_run(desk: Desk) -> None:
    proof = desk.user / "ran"
    script = desk.user / "run.sh"
    script.write_text(f"#!/bin/sh\necho \"$0 $@\" >> '{proof}'\ncat\n")
    script.chmod(0o755)
    commit(desk.tide, "a.txt", "1", "one")
    commit(desk.tide, ".gitattributes", "*.txt filter=evil diff=evil\n", "two")
    desk.set("x", "a.txt")
    for key in (
        *(
            "core.fsmonitor",
            "core.pager",
            "core.sshCommand",
            "core.editor",
            "filter.evil.clean",
            "filter.evil.smudge",
        ),
        *("filter.evil.process", "diff.evil.textconv", "diff.external", "gpg.program", "core.hooksPath"),
    ):
        git(desk.tide, "config", key, str(script if key != "core.hooksPath" else script.parent))
    git(desk.tide, "config", "log.showSignature", "true")
    (desk.user / "post-index-change").symlink_to(script)
    proof.unlink(missing_ok=True)
    (desk.tide / "a.txt").write_text("2")
    os.utime(desk.tide / "a.txt", (1, 1))
    index = (desk.tide / ".git" / "index").read_bytes()
    assert desk.resume().since.dirty == 1
    assert "git gave no answer" not in desk.told()
    assert not proof.exists()
    assert (desk.tide / ".git" / "index").read_bytes() == index
    git(desk.tide, "status", check=False)
    assert proof.exists(), "the trap works"


def test_a_repository_that_git_refuses_is_told(desk: Desk) -> None:
    desk.set("x", "a.py")
    (desk.tide / "a.py").write_text("1")
    with (desk.tide / ".git" / "config").open("a") as file:
        file.write("[broken\n")
    said = desk.told()
    assert "git gave no answer" in said
    assert "not in this repository" not in said
    assert "- Appeared: a.py." in said
    desk.set("y")
    entry = desk.resume().entry
    assert entry is not None
    assert "commit" not in dict(entry.more)


def test_the_longest_answer_is_short_enough(desk: Desk) -> None:
    files = [f"src/{'very_' * 8}long_name_{number}.py" for number in range(24)]
    state = "Half of it is done, and the other half is not. " * 60
    said = Handoff("x" * 400, state[:1_200], ("step " * 20,), tuple(files))
    set_handoff(desk.place(), said, AGENT, NOW)
    for number, name in enumerate(files):
        commit(desk.tide, name, "1", f"{'A subject that is long ' * 4}{number}")
    for number in range(12):
        set_handoff(desk.place(), Handoff("other"), AGENT, NOW, f"branch-{'with-a-long-name' * 4}-{number}")
    answer = desk.told()
    assert "- 24 commits:" in answer
    assert "before these" in answer
    assert len(answer.encode()) <= 5_000


def test_a_git_that_hangs_or_is_not_there_is_told(desk: Desk, tmp_path: Path) -> None:
    desk.set("x")
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nsleep 60\n")
    (slow / "git").chmod(0o755)
    for folders in (slow, tmp_path / "none"):
        place = place_of(
            desk.home,
            desk.user,
            desk.tide,
            {"PATH": f"{folders}:/none" if folders != slow else f"{slow}:/bin"},
        )
        place.git.seconds = 0.1
        said = told(resume_of(place), NOW.timestamp())
        assert "half done" in said
        assert "git gave no answer here in time" in said
