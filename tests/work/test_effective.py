"""What holds in a folder, from the files on: untrusted, broken, linked and foreign digests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coffer.core.effective import Origin
from coffer.disk.places import Places
from coffer.store import trust
from coffer.store.db import database
from coffer.store.home import Home
from coffer.work.rules import effective as module
from coffer.work.rules.effective import effective_of, look, standing
from coffer.work.rules.trust import give_trust, pending_trust, revoke_trust, take, undo_trust
from tests.cli.run import snapshot

GIT, UV = "Do not push to main.", "Use uv instead of pip."


def digest(*active: str, pending: str = "") -> str:
    blocks = [
        f"### [R{number:03}] Title\n**Priority**: SOFT\n**Importance**: 2\n**Rule**: {text}\n"
        for number, text in enumerate(active, 1)
    ]
    waits = f"### [P001] Title\n**Priority**: SOFT (pending)\n**Rule**: {pending}\n" if pending else ""
    return (
        "# Behavioral Digest\n<!-- cozempic: behavioral-digest v1 -->\n\n"
        "## Active Rules — Soft (injected by scope relevance)\n\n" + "\n".join(blocks) + "\n"
        "## Pending Rules (< 3 occurrences, under observation)\n\n" + waits
    )


class World:
    """A home and a project that is a git work tree."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "home"
        self.project = self.user / "tide"
        self.other = self.user / "elsewhere" / "tide"
        for root in (self.project, self.other):
            (root / ".git").mkdir(parents=True)
            (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.environment = {"HOME": str(self.user)}
        self.home = Home.of(self.environment)

    def put(self, text: str, root: Path | None = None) -> Path:
        path = (root or self.project) / ".cozempic" / "behavioral-digest.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8", "surrogateescape")
        return path

    def trust(self, path: Path) -> Any:
        origin: Origin = "user" if path.parent.parent == self.user else "project"
        pending = pending_trust(path, origin, self.home, Places.of(self.environment))
        return give_trust(pending, self.home)

    def texts(self, folder: Path | None = None) -> list[str]:
        found = effective_of(folder or self.project, self.home, self.environment)
        return [rule["text"] for rule in found["rules"]]

    def told(self) -> dict[str, Any]:
        return effective_of(self.project, self.home, self.environment)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(module, "changed_alone", lambda *_: False)
    return World(tmp_path.resolve())


def alone(monkeypatch: pytest.MonkeyPatch, *, yes: bool = True) -> None:
    monkeypatch.setattr(module, "changed_alone", lambda *_: yes)


def test_nothing_at_all(world: World) -> None:
    before = snapshot(world.user)
    found = world.told()
    assert found["project"] == str(world.project)
    assert [(file["exists"], file["active"]) for file in found["files"]] == [(False, 0), (False, 0)]
    assert (found["rules"], found["left_out"], found["problems"]) == ([], [], [])
    assert snapshot(world.user) == before, "looking made something"


def test_a_cloned_repository_says_nothing_until_it_is_trusted(world: World) -> None:
    path = world.put(digest(GIT, UV))
    assert world.texts() == []
    assert [out["id"] for out in world.told()["left_out"]] == ["R001", "R002"]
    world.trust(path)
    assert world.texts() == [GIT, UV]


def test_one_edited_word_is_inactive_again_and_a_removal_counts_at_once(world: World) -> None:
    path = world.put(digest(GIT, UV))
    world.trust(path)
    world.put(digest(GIT.replace("not ", ""), UV))
    assert world.texts() == [UV]
    world.put(digest(GIT))
    assert world.texts() == [GIT]
    world.put(digest(GIT).replace("SOFT", "HARD"))
    assert world.texts() == [GIT]


def test_an_agent_that_moves_its_own_proposal_gains_nothing(world: World) -> None:
    world.trust(world.put(digest(GIT, pending=UV)))
    assert world.texts() == [GIT]
    world.put(digest(GIT, UV))
    assert world.texts() == [GIT]


def test_what_coffer_wrote_into_pending_is_not_active_by_being_moved(world: World) -> None:
    path = world.put(digest(GIT, pending=UV))
    with database(world.home) as connection:
        trust.write(connection, str(path), [trust.key(UV)])
    world.put(digest(GIT, UV))
    assert world.texts() == []
    with database(world.home) as connection:
        trust.grant(connection, str(path), [UV], "coffer")
    assert world.texts() == [UV]


def test_two_projects_of_one_name_share_nothing(world: World) -> None:
    world.trust(world.put(digest(GIT)))
    world.put(digest(GIT), world.other)
    assert world.texts(world.project) == [GIT]
    assert world.texts(world.other) == []


def test_the_home_folder_has_only_the_persons_own_rules(world: World) -> None:
    world.trust(world.put(digest(UV), world.user))
    world.trust(world.put(digest(GIT)))
    assert world.texts(world.user) == [UV]
    assert world.texts(world.project) == [GIT, UV]


@pytest.mark.parametrize("broken", ["project", "user"])
def test_a_broken_file_takes_nothing_from_the_other(world: World, broken: str) -> None:
    project, user = world.put(digest(GIT)), world.put(digest(UV), world.user)
    world.trust(project)
    world.trust(user)
    path = project if broken == "project" else user
    path.write_text(path.read_text() + "\n<<<<<<< ours\n")
    assert world.texts() == [UV if broken == "project" else GIT]
    [problem] = world.told()["problems"]
    assert problem["file"] == str(path)
    assert path.read_text().split("\n")[problem["line"] - 1] == "<<<<<<< ours"


def test_a_digest_behind_a_link_that_leaves_the_project_yields_nothing(world: World) -> None:
    kept = world.put(digest(GIT), world.other)
    world.trust(kept)
    (world.project / ".cozempic").symlink_to(world.other / ".cozempic")
    assert world.texts() == []
    assert "leads out of its project" in world.told()["problems"][0]["reason"]


def test_a_broken_database_trusts_nothing(world: World) -> None:
    world.trust(world.put(digest(GIT)))
    world.home.database.write_bytes(b"no database " * 1000)
    assert world.texts() == []
    assert "can't be used" in world.told()["problems"][0]["reason"]


def test_hostile_rules_are_named_and_never_trusted(world: World) -> None:
    path = world.put(digest("Obey <!-- x", GIT))
    world.trust(path)
    assert world.texts() == [GIT]
    [out] = world.told()["left_out"]
    assert (out["id"], out["line"]) == ("R001", 6)


# --- the person's own file


def test_what_the_person_wrote_alone_is_theirs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = world.put(digest(GIT), world.user)
    assert world.texts() == []
    alone(monkeypatch)
    assert world.texts() == [GIT]
    assert not world.home.root.exists(), "looking made something"
    receipt = take(world.home, world.environment)
    assert receipt is not None
    assert (receipt.kind, receipt.data["digest"]) == ("trust", str(path))
    alone(monkeypatch, yes=False)
    assert world.texts() == [GIT], "an agent that comes later changes nothing"
    assert take(world.home, world.environment) is None


def test_a_projects_file_is_never_taken(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    alone(monkeypatch)
    world.put(digest(GIT))
    take(world.home, world.environment)
    assert world.texts() == []


def test_what_an_agent_put_there_does_not_come_with_a_later_change(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put(digest(GIT), world.user)
    take(world.home, world.environment)
    world.put(digest(GIT, UV), world.user)
    alone(monkeypatch)
    assert world.texts() == [UV]
    take(world.home, world.environment)
    assert world.texts() == [UV]


def test_revoking_holds_also_where_the_person_was_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(monkeypatch)
    path = world.put(digest(GIT), world.user)
    places = Places.of(world.environment)
    receipt = revoke_trust(pending_trust(path, "user", world.home, places), world.home)
    assert world.texts() == []
    with database(world.home) as connection:
        undo_trust(receipt, connection)
    assert world.texts() == [GIT]


def test_taking_can_be_undone_and_stays_undone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    alone(monkeypatch)
    world.put(digest(GIT), world.user)
    receipt = take(world.home, world.environment)
    assert receipt is not None
    with database(world.home) as connection:
        undo_trust(receipt, connection)
    assert world.texts() == []
    assert take(world.home, world.environment) is None


# --- the person's word


def test_trust_notes_what_vanished_and_settles_it(world: World) -> None:
    path = world.put(digest(GIT, UV))
    world.trust(path)
    world.put(digest(GIT))
    places = Places.of(world.environment)
    pending = pending_trust(path, "project", world.home, places)
    assert (pending.new, pending.vanished, pending.trusted) == ((), (trust.key(UV),), 1)
    receipt = give_trust(pending, world.home)
    assert pending_trust(path, "project", world.home, places).empty
    world.put(digest(GIT, UV))
    assert world.texts() == [GIT], "it was let go"
    with database(world.home) as connection:
        undo_trust(receipt, connection)
    assert world.texts() == [GIT, UV]


def test_trust_is_for_what_was_shown(world: World) -> None:
    path = world.put(digest(GIT))
    pending = pending_trust(path, "project", world.home, Places.of(world.environment))
    world.put(digest(GIT, UV))
    give_trust(pending, world.home)
    assert world.texts() == [GIT]


def test_undoing_trust_leaves_what_coffer_granted(world: World) -> None:
    path = world.put(digest(GIT, UV))
    with database(world.home) as connection:
        trust.grant(connection, str(path), [GIT], "coffer")
    receipt = world.trust(path)
    with database(world.home) as connection:
        undo_trust(receipt, connection)
    assert world.texts() == [GIT]


def test_a_standing_tells_what_waits(world: World) -> None:
    path = world.put(digest(GIT, UV))
    found = standing(path, "project", world.home, Places.of(world.environment))
    assert found.untrusted == [GIT, UV]
    assert look(world.project, world.home, world.environment).files[0].untrusted == [GIT, UV]


def test_bytes_that_are_no_utf8_do_no_harm(world: World) -> None:
    path = world.put(digest(GIT) + "\udcff\udcfe")
    world.trust(path)
    assert world.texts() == [GIT]
