"""Learning: corrections in real files become rules, each turn once."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from coffer.core.dialect import MARKER
from coffer.core.digest import parse
from coffer.disk import digest_file
from coffer.disk.replace import locked
from coffer.errors import Busy
from coffer.store.forgotten import keep_forgotten
from coffer.work.rules import draft as draft_module
from coffer.work.rules.shelf import Shelf
from coffer.work.undo_any import undo_any
from tests.transcripts import SESSION, Claude, text
from tests.work.learning import Desktop

ONE, TWO, THREE = (
    "please don't add co-author lines to commits",
    "no co-author lines in commit messages",
    "stop adding co-author lines to the commits",
)


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


def digest_of(project: Path) -> Path:
    return project / ".cozempic" / "behavioral-digest.md"


def test_three_sessions_promote_one_rule_with_three_pieces_of_evidence(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    for number, said in enumerate((ONE, TWO, THREE)):
        desktop.session(tide, [said], f"s{number}", days_ago=9 - number)
    learned = desktop.learn()
    rules = [*desktop.rules(tide), *desktop.rules(None)]
    assert [(rule.state, len(rule.evidence), rule.corrections) for rule in rules] == [("active", 3, 3)]
    assert {piece.session for piece in rules[0].evidence}
    assert len({p.uuid for p in rules[0].evidence}) == 3
    assert learned.states()["counted"] == 3
    assert "co-author" in rules[0].text.lower()
    assert rules[0].text.lower().startswith("do not")


def test_what_was_forgotten_is_not_learned(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    keep_forgotten(desktop.home, ["co-author lines"], {})
    desktop.session(tide, [ONE, "Never commit to main directly."], "s0")
    desktop.learn()
    (rule,) = [*desktop.rules(tide), *desktop.rules(None)]
    assert "main" in rule.text
    files = [path for path in desktop.root.rglob("*") if path.is_file() and path.suffix != ".jsonl"]
    assert desktop.home.database in files
    assert not [path for path in files if b"co-author lines" in path.read_bytes()]


def test_the_same_correction_one_session_at_a_time(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    states = []
    for number, said in enumerate((ONE, TWO, THREE)):
        desktop.session(tide, [said], f"s{number}", days_ago=9 - number)
        desktop.learn()
        states.append([rule.state for rule in (*desktop.rules(tide), *desktop.rules(None))])
    assert states == [["pending"], ["pending"], ["active"]]


def test_learned_five_times_resumed_and_forked_counts_once(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    path = desktop.session(tide, [ONE], "a")
    for _ in range(5):
        desktop.learn()
    resumed = path.read_bytes()
    (path.parent / "b.jsonl").write_bytes(resumed.replace(SESSION.encode(), b"2" * 8 + SESSION.encode()[8:]))
    shutil.copy(path, path.parent / "c.jsonl")
    with path.open("ab") as file:
        file.write(resumed.splitlines(keepends=True)[0])
    for _ in range(2):
        desktop.learn()
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert (rule.corrections, len(rule.evidence)) == (1, 1)
    assert desktop.learn().turns == []


def test_what_is_appended_is_learned_and_only_that(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    path = desktop.session(tide, [ONE], "a", days_ago=3)
    assert len(desktop.learn().turns) == 2
    grown = desktop.session(tide, [ONE, "looks good", TWO], "a", days_ago=3)
    assert grown == path
    learned = desktop.learn()
    assert [turn.id.split("-")[1][:2] for turn in learned.turns] == ["u1", "u2"]


def test_a_torn_last_line_waits(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    path = desktop.session(tide, [ONE], "a")
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert desktop.learn().states()["counted"] == 0
    path.write_bytes(whole)
    assert desktop.learn().states()["counted"] == 1


def test_a_dry_run_writes_nothing_and_says_the_same(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")
    tried = desktop.learn(dry_run=True)
    assert not desktop.home.root.exists()
    assert not (tide / ".cozempic").exists()
    assert not (desktop.root / ".cozempic").exists()
    done = desktop.learn()
    assert [turn.state for turn in tried.turns] == [turn.state for turn in done.turns]
    assert tried.changes == done.changes


def test_a_contradiction_supersedes(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, ["always use tabs"], "a", days_ago=20)
    desktop.learn()
    desktop.session(tide, ["always use spaces"], "b", days_ago=2)
    desktop.learn()
    rules = [*desktop.rules(tide), *desktop.rules(None)]
    states = {rule.text: (rule.state, rule.superseded) for rule in rules}
    assert len(rules) == 2, states
    old = next(rule for rule in rules if rule.superseded)
    assert old.state == "archived"
    assert "tabs" in old.text.split(";")[-1] or "tabs" in old.text
    assert old.superseded.startswith(next(rule.id for rule in rules if not rule.superseded))


def test_a_violation_of_a_delivered_rule_makes_it_hard(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.desk(tide).add("Do not add co-author lines to commits.")
    bundle = (
        f"{MARKER}\n[BEHAVIORAL CONTRACT]\n\n**Apply when working with git:**\n"
        "Do not add co-author lines to commits.\n\n[End of behavioral contract — Cozempic v1.0]"
    )
    desktop.session(tide, [TWO], "a", delivered=bundle)
    desktop.learn()
    (rule,) = desktop.rules(tide)
    assert rule.priority == "hard"


def test_outside_of_a_project_a_rule_is_the_persons_and_waits(desktop: Desktop) -> None:
    for number, said in enumerate((ONE, TWO, THREE)):
        desktop.session(desktop.root, [said], f"s{number}", days_ago=9 - number)
    desktop.learn()
    (rule,) = desktop.rules(None)
    assert rule.state == "pending"
    assert rule.corrections == 3
    assert not (desktop.root / "x" / ".cozempic").exists()


def test_rules_of_one_project_stay_out_of_another(desktop: Desktop) -> None:
    tide, moon = desktop.project("tide"), desktop.project("moon")
    desktop.session(tide, ["in this repo we never mock the database in tests"], "a")
    desktop.session(moon, ["looks good"], "b")
    desktop.learn()
    assert desktop.rules(moon) == ()


def test_our_own_bundle_and_programs_are_never_mined(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    bundle = (
        f"{MARKER}\n[BEHAVIORAL CONTRACT]\n\n**Always apply:**\nDo not add co-author lines to commits.\n\n"
        "[End of behavioral contract — Cozempic v1.0]"
    )
    desktop.session(tide, ["thanks"], "a", delivered=bundle)
    made = Claude()
    made.user(ONE, "sdk1", cwd=str(tide), promptSource="sdk", entrypoint="sdk-cli")
    made.answer(text("ok"))
    desktop.store(made, "b")
    desktop.learn()
    assert (*desktop.rules(tide), *desktop.rules(None)) == ()


def test_a_poisoned_session_blocks_nothing(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")
    (desktop.places.claude / "projects" / "-x" / "bad.jsonl").write_bytes(b"\0" * 999)
    (desktop.places.claude / "projects" / "-x" / "foreign.jsonl").write_text("[1, 2]\n")
    learned = desktop.learn()
    assert learned.states()["counted"] == 1
    assert len(learned.problems) == 2


def test_a_broken_digest_is_left_alone_and_the_turn_waits_in_the_inbox(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE.replace("commits", "commits in this repo")], "a")
    digest_of(tide).parent.mkdir()
    digest_of(tide).write_text("# Behavioral Digest\n<<<<<<< ours\n")
    before = digest_of(tide).read_bytes()
    learned = desktop.learn()
    assert digest_of(tide).read_bytes() == before
    if learned.states()["noticed"]:
        assert any("line 2" in problem for problem in learned.problems)
        assert [item.kind for item in desktop.inbox(tide).items()] == ["noticed"]
    else:
        assert desktop.rules(None)


def test_only_one_learns_at_a_time(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")
    desktop.home.make(desktop.home.locks)
    with locked(desktop.home.locks, desktop.home.root / "learn"), pytest.raises(Busy):
        desktop.learn()


def test_undo_of_learning_takes_the_rules_back_and_keeps_the_turns(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")
    (receipt,) = desktop.learn().receipts
    undo_any(receipt, desktop.home, desktop.places, desktop.now)
    assert not Path(receipt.path).exists()
    assert not Path(receipt.path).parent.exists()
    assert [item.quote for item in desktop.inbox(tide).items()] == [ONE]
    assert desktop.learn().turns == []


def test_undo_beside_a_hand_edit_takes_back_only_its_own_rule(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    kept = desktop.desk(tide).add("Do not touch the lockfile.")
    added = desktop.desk(tide).add("Do not force-push.")
    path = digest_of(tide)
    path.write_text(path.read_text().replace("## Active", "Mine.\n\n## Active", 1))
    done = undo_any(added.receipt, desktop.home, desktop.places)
    assert done.data["left"] == []
    assert [rule.id for rule in desktop.rules(tide)] == [kept.rule.id]
    assert "Mine." in path.read_text()


def test_evidence_survives_a_promotion_by_hand_and_a_merge(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")
    desktop.learn()
    place = tide if desktop.rules(tide) else None
    (rule,) = desktop.rules(place)
    promoted = desktop.desk(place).promote(rule.id)
    assert promoted.rule.id == "R001"
    other = desktop.desk(place).add("Do not write trailers of any kind.")
    desktop.desk(place).merge("R001", other.rule.id)
    (left,) = desktop.rules(place)
    assert len(left.evidence) == 1


def test_the_twenty_first_rule_pushes_out_the_right_one(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    things = [
        "lockfile", "changelog", "licence", "makefile", "schema", "router", "parser", "lexer", "cache", "queue",
        "mailer", "logger", "scheduler", "migrations", "fixtures", "theme", "sitemap", "worker", "gateway", "proxy",
    ]  # fmt: skip
    for number, thing in enumerate(things):
        desktop.desk(tide).add(f"Do not touch the {thing}.", hard=number < 3)
    for name in ("R004", "R005", *(f"R{n:03}" for n in range(7, 21))):
        desktop.desk(tide).upvote(name)
    done = desktop.desk(tide).add("Do not rename public functions.")
    states = {rule.id: rule.state for rule in desktop.rules(tide)}
    assert states["R006"] == "pending"
    assert states[done.rule.id] == "active"
    assert sum(state == "active" for state in states.values()) == 20
    assert any("R006" in note for note in done.notes)


def test_a_process_that_is_killed_between_file_and_database_counts_once(
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
    desktop.learn()
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert (rule.corrections, len(rule.evidence)) == (1, 1)


def test_one_that_is_killed_before_the_file_is_written_learns_it_later(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(digest_file, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            desktop.learn()
    desktop.learn()
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert (rule.corrections, len(rule.evidence)) == (1, 1)


def test_a_file_saved_meanwhile_is_read_again(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    tide = desktop.project("tide")
    desktop.desk(tide).add("Do not touch the lockfile.")
    desktop.session(tide, ["in this repo we never mock the database in tests"], "a")
    path = digest_of(tide)
    commit = Shelf.commit
    calls: list[int] = []

    def late(self: Shelf, verb: str, session: str = "") -> object:
        if not calls:
            calls.append(1)
            path.write_text(path.read_text() + "\nMine.\n")
        return commit(self, verb, session)

    monkeypatch.setattr(Shelf, "commit", late)
    learned = desktop.learn()
    assert "Mine." in path.read_text()
    assert learned.states()["counted"] + learned.states()["noticed"] == 1
    parse(path.read_text())


def test_deterministic(desktop: Desktop, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = Desktop(tmp_path_factory.mktemp("other"))
    texts = []
    for one in (desktop, other):
        tide = one.project("tide")
        for number, said in enumerate((ONE, TWO, "why did you touch the lockfile?", THREE)):
            one.session(tide, [said], f"s{number}", days_ago=9 - number)
        one.learn()
        path = digest_of(one.root)
        texts.append(
            (path.read_text() if path.exists() else digest_of(tide).read_text()).replace(str(one.root), "~")
        )
    assert texts[0] == texts[1]


def test_old_corrections_weigh_less(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    for number, said in enumerate((ONE, TWO, THREE)):
        desktop.session(tide, [said], f"s{number}", days_ago=320 - number)
    desktop.learn()
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert rule.state != "active"


def test_the_database_knows_each_turn_and_how_far_files_were_read(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    path = desktop.session(tide, [ONE, "add a test for the parser"], "a")
    desktop.learn()
    connection = sqlite3.connect(desktop.home.database)
    rows = dict(connection.execute("SELECT state, count(*) FROM turns GROUP BY state").fetchall())
    assert rows == {"counted": 1, "nothing": 2}
    assert (
        connection.execute("SELECT text, before, actions FROM turns WHERE state = 'nothing'").fetchall()
        == [("", "", "[]")] * 2
    )
    offset, anchor = connection.execute("SELECT offset, anchor FROM heard").fetchone()
    connection.close()
    assert offset == path.stat().st_size
    assert anchor == hashlib.sha256(path.read_bytes()[-256:]).hexdigest()
    assert json.dumps(rows)


def test_time_goes_by_on_files_that_are_touched(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")
    desktop.learn()
    desktop.now += timedelta(days=100)
    desktop.session(tide, ["looks good"], "b", days_ago=0)
    desktop.learn()
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert rule.state == "archived"
