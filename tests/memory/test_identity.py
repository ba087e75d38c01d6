"""Whose memory a folder has part in: one repository's addresses, clones, worktrees, forks, and what is nobody's."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coffer.core.origin import normalised, origin_in
from coffer.disk.project import project_of
from coffer.store import projects
from coffer.store.home import Home
from coffer.work.project.identity import Identity, id_of, identity_of, reason_for_none, register
from coffer.work.project.memory_folder import memory_folder
from coffer.work.rules.lane import lane_folder
from tests.memory.repositories import git, repository

HUB = "https://github.com/tide/charts.git"


@pytest.fixture
def user(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "user"
    folder.mkdir()
    return folder


@pytest.fixture
def home(user: Path) -> Home:
    return Home(user / ".coffer")


def of(folder: Path, user: Path) -> Identity | None:
    root = project_of(folder, user)
    return identity_of(root, Home(user / ".coffer")) if root else None


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("https://github.com/Tide/Charts.git", "github.com/tide/charts"),
        ("git@github.com:tide/charts.git", "github.com/tide/charts"),
        ("git@GitHub.com:/tide/charts/", "github.com/tide/charts"),
        ("ssh://git@github.com:22/tide/charts", "github.com/tide/charts"),
        ("ssh://git@github.com:443/tide/charts.git/", "github.com/tide/charts"),
        ("git://github.com:9418/tide/charts.git", "github.com/tide/charts"),
        ("git+ssh://git@github.com/tide/charts.git", "github.com/tide/charts"),
        ("https://ann:ghp_secret@github.com/tide/charts.git?token=x#y", "github.com/tide/charts"),
        ("https://x-access-token:abc@git.corp.example:443/a/B.git", "git.corp.example/a/B"),
        ("https://git.corp.example:8443/a/B", "git.corp.example:8443/a/B"),
        ("http://localhost:3000/a/b", "localhost:3000/a/b"),
        ("ssh://git@git.corp.example:2222/a/B.git", "git.corp.example/a/B"),
        ("git@[::1]:a/b.git", "[::1]/a/b"),
        ("corp:a/b", "corp/a/b"),
        ("/srv/git/tide.git", "file:/srv/git/tide"),
        ("file:///srv/git/tide.git/", "file:/srv/git/tide"),
        ("../tide/.git", "file:/home/ann/tide"),
        ("./a:b", "file:/home/ann/x/a:b"),
        ("", ""),
        ("https://", ""),
        ("https://github.com/", ""),
        ("https://github.com/a\nb", ""),
        ("x" * 2000, ""),
    ],
)
def test_one_repository_has_one_name_and_it_holds_no_secret(address: str, wanted: str) -> None:
    assert normalised(address, "/home/ann/x") == wanted


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ('[remote "origin"]\n\turl = a\n[remote "fork"]\n\turl = b', "a"),
        ('[remote "fork"]\n\turl = b\n[Remote "origin"]\r\n\tURL = a ; no\r\n', "a"),
        ('[remote "origin"]\n\turl = "a;b" # c', "a;b"),
        ('[remote "origin"]\n\turl = a\\\nb', "ab"),
        ('[remote "origin"] url = a', "a"),
        ('[remote "origin"]\n\turl = first\n\turl = second', "first"),
        ('[remote "upstream"]\n\turl = u', "u"),
        ('[remote "one"]\n\turl = 1\n[remote "two"]\n\turl = 2', ""),
        ('[remote "origin"]\n\tpushurl = p\n[branch "origin"]\n\turl = no', ""),
        ('# [remote "origin"]\nurl = x', ""),
        ("[[[\n=\n\0", ""),
    ],
)
def test_the_origin_in_a_config_file(config: str, wanted: str) -> None:
    assert origin_in(config) == wanted


def _clones(user: Path) -> tuple[Path, Path]:
    repository(user / "one", HUB)
    return user / "one", repository(user / "b" / "other name", "git@github.com:tide/charts.git")


def _worktrees(user: Path) -> tuple[Path, Path]:
    top = repository(user / "one")
    git(top, "worktree", "add", "-q", "-b", "feature", str(user / "tree"))
    (user / "tree" / "sub").mkdir()
    return top, user / "tree" / "sub"


def _worktrees_of_a_bare_one(user: Path) -> tuple[Path, Path]:
    repository(user / "source")
    git(user, "clone", "-q", "--bare", "source", "shared.git")
    git(user / "shared.git", "remote", "remove", "origin")
    for name in ("a", "b"):
        git(user / "shared.git", "worktree", "add", "-q", "-b", name, str(user / name))
    return user / "a", user / "b"


def _a_part_of_a_monorepo(user: Path) -> tuple[Path, Path]:
    top = repository(user / "mono", HUB)
    (top / "services" / "tide" / ".cozempic").mkdir(parents=True)
    return top, top / "services" / "tide"


def _a_link(user: Path) -> tuple[Path, Path]:
    top = repository(user / "one")
    (user / "short").symlink_to(top)
    return top, user / "short"


def _a_folder_that_is_gone(user: Path) -> tuple[Path, Path]:
    top = repository(user / "one")
    return top, top / "gone" / "deep"


def _a_worktree_of_a_submodule(user: Path) -> tuple[Path, Path]:
    repository(user / "part")
    top = repository(user / "whole")
    git(top, "submodule", "add", "-q", str(user / "part"), "lib")
    git(top / "lib", "worktree", "add", "-q", str(user / "tree"))
    return top / "lib", user / "tree"


def _no_git(user: Path) -> tuple[Path, Path]:
    (user / "notes" / ".cozempic").mkdir(parents=True)
    (user / "notes" / "a").mkdir()
    return user / "notes", user / "notes" / "a"


def _a_fork(user: Path) -> tuple[Path, Path]:
    top = repository(user / "one", HUB)
    git(user, "clone", "-q", "one", "two")
    git(user / "two", "remote", "set-url", "origin", "https://github.com/ann/charts")
    return top, user / "two"


def _same_name(user: Path) -> tuple[Path, Path]:
    return repository(user / "a" / "api"), repository(user / "b" / "api")


def _a_submodule(user: Path) -> tuple[Path, Path]:
    repository(user / "part")
    top = repository(user / "whole")
    git(top, "submodule", "add", "-q", str(user / "part"), "lib")
    return top, top / "lib"


def _another_port(user: Path) -> tuple[Path, Path]:
    return repository(user / "a", "http://localhost:1/x/y"), repository(user / "b", "http://localhost:2/x/y")


def _a_file_that_names_another_ones_repository(user: Path) -> tuple[Path, Path]:
    top = repository(user / "victim", HUB)
    git(top, "worktree", "add", "-q", str(user / "tree"))
    (user / "evil").mkdir()
    (user / "evil" / ".git").write_text(f"gitdir: {top / '.git' / 'worktrees' / 'tree'}\n")
    return top, user / "evil"


@pytest.mark.parametrize(
    ("made", "one"),
    [
        *(
            (made, True)
            for made in (_clones, _worktrees, _worktrees_of_a_bare_one, _a_part_of_a_monorepo, _a_link)
        ),
        *((made, True) for made in (_a_folder_that_is_gone, _a_worktree_of_a_submodule, _no_git)),
        *((made, False) for made in (_a_fork, _same_name, _a_submodule, _another_port)),
        (_a_file_that_names_another_ones_repository, False),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_which_folders_share_a_memory(
    user: Path, made: Callable[[Path], tuple[Path, Path]], *, one: bool
) -> None:
    first, second = (of(folder, user) for folder in made(user))
    assert first is not None
    assert second is not None
    assert (first.id == second.id) is one
    assert not (user / ".coffer").exists(), "asking makes nothing"


def test_a_repository_that_moved_finds_its_memory_by_its_origin(user: Path) -> None:
    before = of(repository(user / "one", HUB), user)
    (user / "one").rename(user / "somewhere")
    after = of(user / "somewhere", user)
    assert before is not None
    assert after is not None
    assert (before.id, before.name, before.origin) == (after.id, "charts", "github.com/tide/charts")
    assert after.why == "Its origin decides, wherever it lies."


def test_a_memory_from_before_the_origin_is_kept_and_found_by_other_clones(user: Path, home: Home) -> None:
    top = repository(user / "one")
    first = register(home, top)
    (lane_folder(home, top)).mkdir(parents=True)
    git(top, "remote", "add", "origin", HUB)
    assert identity_of(top, home).id == first.id
    assert register(home, top).id == first.id
    clone = repository(user / "two", HUB)
    assert identity_of(clone, home).id == first.id
    assert "an alias or a merge" in identity_of(clone, home).why
    page = projects.known(home, first.id)
    assert page is not None
    assert page.origin == "github.com/tide/charts"


def test_a_memory_from_before_the_origin_is_read_also_where_another_clone_was_first(
    user: Path, home: Home
) -> None:
    first = repository(user / "first")
    before = register(home, first).id
    git(first, "remote", "add", "origin", HUB)
    other = register(home, repository(user / "other", HUB))
    after = identity_of(first, home)
    assert (after.id, after.aliases) == (other.id, (before,))
    assert identity_of(user / "other", home).aliases == ()
    shutil.rmtree(first)
    stranger = repository(user / "first", "https://github.com/tide/stranger.git")
    projects.write(home, projects.Known(before, origin="github.com/tide/charts"))
    register(home, repository(user / "third", "https://github.com/tide/stranger.git"))
    assert before not in identity_of(stranger, home).aliases


def test_a_registered_project_is_written_once_and_holds_no_secret(user: Path, home: Home) -> None:
    top = repository(user / "one", "https://ann:hunter2hunter2@git.corp.example/a/b.git")
    name = register(home, top).id
    path = projects.folder(home, name) / projects.FILE
    said, written = path.read_text(), path.stat().st_mtime_ns
    assert "hunter2" not in said
    assert 'origin = "git.corp.example/a/b"' in said
    assert register(home, top).id == name
    assert path.stat().st_mtime_ns == written
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_hostile_page_leads_nowhere(user: Path, home: Home) -> None:
    top = repository(user / "one")
    place = memory_folder(home, top)
    place.mkdir(parents=True)
    for said in ('into = "../../../etc"', 'into = "."', "into = 3", "\0", f'into = "{place.name}"'):
        (place / projects.FILE).write_text(said)
        assert memory_folder(home, top) == place
    (place / projects.FILE).write_text('into = "ring"')
    (place.parent / "ring").mkdir()
    (place.parent / "ring" / projects.FILE).write_text(f'into = "{place.name}"')
    assert memory_folder(home, top).name == "ring", "a circle ends where it closes"


def test_what_is_nobodys(user: Path) -> None:
    repository(user / "one")
    git(user, "clone", "-q", "--bare", "one", "bare.git")
    (user / "plain").mkdir()
    for folder, why in (
        (user, "home folder"),
        (Path("/"), "home folder"),
        (user / "bare.git", "bare repository"),
        (user / "plain", "no git work tree"),
    ):
        assert of(folder, user) is None
        assert why in reason_for_none(folder, user)
    assert memory_folder(Home(user / ".coffer"), None).name == "global"
    assert reason_for_none(user / "one", user) == ""
    shutil.rmtree(user / "one")
    assert of(user / "one" / "src", user) is None


def test_a_projects_name_is_readable_and_its_own() -> None:
    roots = ("/a/api", "/b/api", "/a/日本", "/", "/a/..x y/", "/a/" + "n" * 300)
    names = [id_of(Path(root).name, root) for root in roots]
    assert len(set(names)) == len(names)
    assert names[0].startswith("api-")
    assert names[2].startswith("日本-")
    assert names[3].startswith("project-")
    assert max(len(name) for name in names) <= 51
    assert all(projects.is_id(name) for name in names)
