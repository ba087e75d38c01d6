"""Which project a folder belongs to: the matrix of work trees, and what is never a project."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from coffer.disk.project import digest_file, project_of, user_digest


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{
                f"GIT_{who}_{what}": "t@example.org"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        },
    )


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "home"
    folder.mkdir()
    return folder


def test_a_git_work_tree_is_its_top_level(home: Path) -> None:
    top = repository(home / "tide")
    (top / "src" / "deep").mkdir(parents=True)
    (top / "src" / ".cozempic").mkdir()
    assert project_of(top, home) == top
    assert project_of(top / "src" / "deep", home) == top, "git decides, not a folder inside"
    assert project_of(top / ".git" / "hooks", home) == top
    assert digest_file(top) == top / ".cozempic" / "behavioral-digest.md"


def test_all_worktrees_are_the_main_one(home: Path) -> None:
    top = repository(home / "tide")
    git(top, "worktree", "add", "-q", str(home / "elsewhere" / "feature"))
    git(top, "worktree", "add", "-q", "-b", "inside", str(top / ".trees" / "inside"))
    (home / "elsewhere" / "feature" / "sub" / "dir").mkdir(parents=True)
    assert project_of(home / "elsewhere" / "feature", home) == top
    assert project_of(home / "elsewhere" / "feature" / "sub" / "dir", home) == top
    assert project_of(top / ".trees" / "inside", home) == top


def test_a_moved_worktree_is_still_the_main_one(home: Path) -> None:
    top = repository(home / "tide")
    git(top, "worktree", "add", "-q", str(home / "feature"))
    (home / "feature").rename(home / "renamed")
    assert project_of(home / "renamed", home) == top


def test_a_submodule_is_its_own_project(home: Path) -> None:
    part, top = repository(home / "part"), repository(home / "whole")
    git(top, "submodule", "add", "-q", str(part), "lib/part")
    (top / "lib" / "part" / "sub").mkdir()
    assert project_of(top / "lib" / "part" / "sub", home) == top / "lib" / "part"
    assert project_of(top / "lib", home) == top
    git(top / "lib" / "part", "worktree", "add", "-q", str(home / "part-tree"))
    assert project_of(home / "part-tree", home) == top / "lib" / "part"


def test_a_separate_repository_folder(home: Path) -> None:
    (home / "tide").mkdir()
    git(home / "tide", "init", "-q", "--separate-git-dir", str(home / "tide.git"))
    git(home / "tide", "commit", "-q", "--allow-empty", "-m", "first")
    assert project_of(home / "tide", home) == home / "tide"


def test_bare_repositories(home: Path) -> None:
    repository(home / "tide")
    git(home, "clone", "-q", "--bare", str(home / "tide"), str(home / "tide.git"))
    assert project_of(home / "tide.git" / "hooks", home) is None
    git(home / "tide.git", "worktree", "add", "-q", str(home / "alone"), "main")
    assert project_of(home / "alone", home) == home / "alone"
    (home / "trees").mkdir()
    git(home, "clone", "-q", "--bare", str(home / "tide"), str(home / "trees" / ".bare"))
    (home / "trees" / ".git").write_text("gitdir: ./.bare\n")
    git(home / "trees", "worktree", "add", "-q", str(home / "trees" / "feature"), "main")
    assert project_of(home / "trees" / "feature", home) == home / "trees"


@pytest.mark.parametrize("said", ["", "nonsense", "gitdir: ../gone", "gitdir: /dev/null", "gitdir: \0x"])
def test_a_git_file_that_leads_nowhere_is_the_checkout_itself(home: Path, said: str) -> None:
    top = repository(home / "tide")
    (top / "lost" / "sub").mkdir(parents=True)
    (top / "lost" / ".git").write_text(said)
    assert project_of(top / "lost" / "sub", home) == top / "lost"


def test_a_git_folder_that_is_no_repository_is_passed_over(home: Path) -> None:
    top = repository(home / "tide")
    (top / "sub" / ".git").mkdir(parents=True)
    assert project_of(top / "sub", home) == top


def test_an_unpacked_folder_can_not_name_another_project(home: Path) -> None:
    victim, evil = repository(home / "victim"), home / "evil"
    (evil / "fake").mkdir(parents=True)
    (evil / ".git").write_text("gitdir: fake\n")
    (evil / "fake" / "commondir").write_text(str(victim / ".git"))
    (evil / "fake" / "gitdir").write_text(str(evil / ".git"))
    assert project_of(evil, home) == evil
    git(victim, "worktree", "add", "-q", str(home / "feature"))
    (evil / ".git").write_text(f"gitdir: {victim / '.git' / 'worktrees' / 'feature'}\n")
    assert project_of(evil, home) == evil


def test_without_git_the_nearest_folder_with_a_digest_folder(home: Path) -> None:
    (home / "notes" / ".cozempic").mkdir(parents=True)
    (home / "notes" / "a" / "b").mkdir(parents=True)
    (home / "other").mkdir()
    assert project_of(home / "notes" / "a" / "b", home) == home / "notes"
    assert project_of(home / "other", home) is None


def test_home_and_root_are_never_a_project(home: Path) -> None:
    git(home, "init", "-q")
    (home / ".cozempic").mkdir()
    (home / "work" / "tide" / ".cozempic").mkdir(parents=True)
    assert project_of(home, home) is None
    assert project_of(home / "work", home) is None
    assert project_of(home / "work" / "tide", home) == home / "work" / "tide"
    assert project_of(Path("/"), home) is None


def test_links_are_resolved(home: Path) -> None:
    top = repository(home / "tide")
    (home / "short").symlink_to(top)
    assert project_of(home / "short", home) == top
    (home / "house").symlink_to(home)
    assert project_of(home, home / "house") is None
    assert user_digest(home / "house") == home / ".cozempic" / "behavioral-digest.md"


def test_a_deleted_folder_is_answered_from_its_path(home: Path) -> None:
    top = repository(home / "tide")
    assert project_of(top / "gone" / "deep", home) == top
    shutil.rmtree(top)
    assert project_of(top / "gone", home) is None


def test_no_path_is_an_error(home: Path) -> None:
    (home / "loop").symlink_to(home / "loop")
    for odd in (Path("a\0b"), home / ("x" * 300), home / "loop" / "a"):
        assert project_of(odd, home) is None


def test_another_users_mark_in_a_folder_of_everybody(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = home.parent / "shared"
    (shared / ".cozempic").mkdir(parents=True)
    (shared / "mine").mkdir()
    shared.chmod(0o1777)
    assert project_of(shared / "mine", home) == shared
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert project_of(shared / "mine", home) is None


def test_same_name_in_two_projects(home: Path) -> None:
    one, other = repository(home / "a" / "tide"), repository(home / "b" / "tide")
    assert project_of(one, home) == one
    assert project_of(other, home) == other
    assert digest_file(one) != digest_file(other)
