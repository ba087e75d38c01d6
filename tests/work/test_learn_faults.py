"""Learning where something is in its way: a crash, a folder that can't be written, a record without a time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coffer.core.events import Ordered
from coffer.core.rule import Wording
from coffer.disk.sessions import find_sessions
from coffer.work.rules import draft as draft_module
from coffer.work.rules.ask import Asker
from coffer.work.rules.learn import Learning
from tests.transcripts import SESSION, THREAD, Codex, store
from tests.work.learning import Desktop

ONE = "please don't add co-author lines to commits"


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


def digest_of(project: Path) -> Path:
    return project / ".cozempic" / "behavioral-digest.md"


def test_killed_and_then_edited_by_hand_counts_once(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(draft_module, "_finish", killed)
        with pytest.raises(KeyboardInterrupt):
            desktop.learn()
    path = next(digest_of(place) for place in (tide, desktop.root) if digest_of(place).exists())
    path.write_text(path.read_text() + "\n## Notes\n\nmine\n")
    desktop.learn()
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert (rule.corrections, len(rule.evidence)) == (1, 1)
    assert path.read_text().endswith("\n## Notes\n\nmine\n")


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "yesterday", ""])
def test_a_record_with_an_impossible_time_is_as_old_as_the_run(desktop: Desktop, time: str) -> None:
    tide = desktop.project("tide")
    path = desktop.session(tide, [ONE], "a")
    path.write_bytes(
        re.sub(rb'"timestamp": ?"[^"]*"', b'"timestamp":"%s"' % time.encode(), path.read_bytes())
    )
    desktop.learn()
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert [piece.time for piece in rule.evidence] == [desktop.now]
    assert desktop.inbox(tide).items(old=True)


def test_one_project_that_can_t_be_written_keeps_nobody_from_learning(desktop: Desktop) -> None:
    tide, moon = desktop.project("tide"), desktop.project("moon")
    (moon / ".cozempic").write_text("a file, where a folder should be")
    for project in (moon, tide):
        desktop.session(project, ["in this repo never mock the database in tests"], project.name)
    learned = desktop.learn()
    assert len(desktop.rules(tide)) == 1
    assert [problem for problem in learned.problems if str(moon / ".cozempic") in problem]
    assert [path for path, changes in learned.changes.items() if changes] == [str(digest_of(tide))]
    assert [item.quote for item in desktop.inbox(moon).items() if item.kind == "noticed"] == [
        "in this repo never mock the database in tests"
    ]
    assert desktop.learn().turns == []


def test_the_header_names_the_session_that_last_updated_the_file(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")
    (receipt,) = desktop.learn().receipts
    assert receipt.session == SESSION
    assert f"<!-- session: {SESSION} -->" in Path(receipt.path).read_text()


def test_what_holds_is_named_anew_only_where_a_rule_changed(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.desk(tide).add("Do not rebase.")
    shelf = desktop.shelf()
    first = shelf.reach(str(tide))
    assert shelf.reach(str(tide)) is first
    assert [rule.id for rule in first.rules.all] == ["project:R001"]
    shelf.of("").step(Ordered("", Wording("No emoji", "Do not use emoji.")))
    second = shelf.reach(str(tide))
    assert [rule.id for rule in second.rules.all] == ["project:R001", "user:R001"]
    assert second.where["user:R001"] == (shelf.of(""), "R001")


def test_a_fork_that_is_learned_alone_looks_back_into_its_parent(desktop: Desktop) -> None:
    parent, child = Codex(), Codex(clock=1_000.0)
    parent.meta(originator="codex-tui")
    parent.message("user", "Set it up.")
    parent.message("assistant", "I mocked the database.")
    base = {"thread_id": THREAD, "end_byte_offset": len(parent.data)}
    name = THREAD.replace("a", "b")
    child.meta(name, originator="codex-tui", forked_from_id=THREAD, history_base=base)
    child.turn(turn_id="t9")
    child.message("user", "why are you still doing it like that?")
    folder = desktop.places.codex / "sessions" / "2026" / "01" / "02"
    store(folder, parent, f"rollout-2026-01-02T03-04-05-{THREAD}")
    path = store(folder, child, f"rollout-2026-01-02T03-05-05-{name}")
    alone = [found for found in find_sessions(desktop.places) if found.path == path]
    asker = Asker(desktop.settings, desktop.home, desktop.environment)
    learning = Learning(
        desktop.home, desktop.places, desktop.environment, desktop.settings.digest, asker, desktop.now
    )
    assert [turn.before for turn in learning.run(alone).turns] == ["I mocked the database."]
