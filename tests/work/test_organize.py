"""Notes put in order: together what belongs together, once what says the same, nothing lost, all of it undone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coffer.core.ask import AnswerUnreadable
from coffer.core.entry import Entry, made
from coffer.core.organize import grouped, reads_as_rule, repeated
from coffer.core.organize_ask import parse_merged
from coffer.core.settings import settings_of
from coffer.disk.places import Places
from coffer.errors import FileMoved
from coffer.store import vault
from coffer.store.db import PREPARED, Receipt, database, receipts
from coffer.store.home import Home
from coffer.store.proposals import open_proposals
from coffer.work.memory.memory_errors import NoteChangedSince
from coffer.work.memory.organize import carry_out, plan
from coffer.work.rules.ask import Asker
from coffer.work.undo_any import undo_any
from tests.cli.run import Machine
from tests.models.server import OPENAI, serving

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def note(text: str, day: int = 1) -> Entry:
    return made("knowledge", text, source="agent", time=f"2026-05-{day:02}T10:00:00Z", agent="claude")


RETRY = (
    "The retry policy for the payment client is three attempts with exponential backoff.",
    "Payment client: retries stop at 30 seconds, because the gateway closes the connection then.",
    "We log every retry of the payment client with its attempt number.",
)
TIDE = (
    "The tide table is read from data/tides.csv at start.",
    "Tides: the csv table has one row for every harbour and day.",
)
ALONE = "The staging cluster lives in Frankfurt."


def test_what_belongs_together_is_found() -> None:
    notes = [note(text) for text in (RETRY[0], TIDE[0], RETRY[1], ALONE, TIDE[1], RETRY[2])]
    found = grouped(notes, {})
    assert [{one.text for one in topic.notes} for topic in found] == [set(RETRY), set(TIDE)]
    assert all(topic.name and " " not in topic.name for topic in found)
    assert "payment" in found[0].name
    assert "tide" in found[1].name
    (made_of_verbs,) = grouped(
        [note("Creating a GitHub release takes a token."), note("The GitHub release is created by CI.")], {}
    )
    assert set(made_of_verbs.name.split("-")) == {"created", "github", "release"}


def test_a_topic_that_exists_keeps_its_name() -> None:
    there = [note(text) for text in RETRY[:2]]
    (topic,) = grouped([note(RETRY[2]), note(ALONE)], {"money": there})
    assert topic.name == "money"
    assert [one.text for one in topic.fresh] == [RETRY[2]]
    assert grouped([], {"money": there}) == []


@pytest.mark.parametrize(
    ("first", "second", "says_the_same"),
    [
        ("The port is 8080.", "the port is **8080**", True),
        ("# Port\n\nThe port is 8080.", "Port: the port is 8080", True),
        ("The port is 8080.", "The port is 8081.", False),
        ("The port is 8080.", "The port is not 8080.", False),
        ("The port is open.", "The port is never open.", False),
        ("The cache is on.", "The cache is off.", False),
        ("We moved from Postgres to SQLite.", "We moved from SQLite to Postgres.", False),
        ("The C++ build is slow.", "The C build is slow.", False),
        ("Retries: -1", "Retries: 1", False),
        ("端口是八千", "端口是八千", True),
        ("端口是八千", "端口是九千", False),
    ],
)
def test_only_what_says_the_same_is_repeated(first: str, second: str, *, says_the_same: bool) -> None:
    old, new = note(first, 1), note(second, 2)
    assert repeated([old, new]) == ({old.id: new.id} if says_the_same else {})


@pytest.mark.parametrize(
    ("text", "is_rule"),
    [
        ("Never push to main without asking.", True),
        ("- Do not use pip; use uv.", True),
        ("Always run the linter before a commit.", True),
        ("Immer uv statt pip verwenden.", True),
        ("We never found out why the build failed.", False),
        ("The build always takes ten minutes.", False),
        (
            "Never push to main. " + "It broke the release twice in May, and here is the long story. " * 4,
            False,
        ),
    ],
)
def test_what_reads_as_a_rule(text: str, *, is_rule: bool) -> None:
    assert reads_as_rule(text) is is_rule


def test_a_models_note_must_hold_all_that_the_notes_hold() -> None:
    notes = [note("The port is 8080 in `conf.toml`."), note("Restart with app/run.sh.")]
    ids = [one.id for one in notes]

    def answer(text: str, covers: list[str] = ids) -> str:
        return "Here: " + json.dumps({"title": "Port", "text": text, "covers": covers})

    good = "- Port 8080, in `conf.toml`\n- restart: app/run.sh"
    assert parse_merged(answer(good), notes).text == good
    for bad in (
        answer("- Port 8081, in `conf.toml`; app/run.sh"),
        answer("- Port 8080; app/run.sh"),
        answer("- Port 8080, in `conf.toml`"),
        answer(good, ids[:1]),
        answer(""),
        "no",
        '{"title": "a"}',
    ):
        with pytest.raises(AnswerUnreadable):
            parse_merged(bad, notes)


class House:
    def __init__(self, root: Path) -> None:
        self.user = root
        self.home = Home(root / ".coffer")
        self.folder = vault.vault(self.home) / "global"
        for text, day in (*((each, 1) for each in RETRY), (ALONE, 1), (TIDE[0], 2), (TIDE[1], 2)):
            self.add(text, day)

    def add(self, text: str, day: int) -> None:
        vault.append(self.home, self.folder / "knowledge", f"2026-05-{day:02}.md", note(text, day))

    def files(self) -> dict[str, bytes]:
        lane = self.folder / "knowledge"
        return {str(path.relative_to(lane)): path.read_bytes() for path in sorted(lane.rglob("*.md"))}

    def texts(self) -> set[str]:
        lane = self.folder / "knowledge"
        return {one.text for path in lane.rglob("*.md") for one in vault.entries(path, "knowledge")}


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_all_is_there_afterwards_and_undone_to_the_byte(house: House) -> None:
    house.add("Never push to main without asking.", 3)
    house.add(RETRY[0].lower(), 4)
    before, texts = house.files(), house.texts()
    order = plan(house.folder, NOW)
    assert house.files() == before
    receipt = carry_out(order, house.home, None, house.user, NOW)
    assert receipt is not None
    assert house.texts() == texts
    names = set(house.files())
    assert {name for name in names if not name[0].isdigit()} >= {"archive/2026-06-01-repeated.md"}
    assert sum(not name[:1].isdigit() and "/" not in name for name in names) == 2
    (asked,) = open_ones(house)
    assert asked == ("add", "Never push to main without asking.")
    again = plan(house.folder, NOW)
    assert (again.files, again.topics) == ([], [])
    undo_any(receipt, house.home, Places(house.user, house.user))
    assert house.files() == before


def open_ones(house: House) -> list[tuple[str, str]]:
    with database(house.home, write=False) as connection:
        return [(one.verb, one.arguments["text"]) for one in open_proposals(connection)]


def test_notes_without_a_front_matter_stay_notes_of_their_own(house: House) -> None:
    lane = house.folder / "knowledge"
    (lane / "2026-05-01.md").unlink()
    house.add(RETRY[0], 1)
    (lane / "2026-05-03.md").write_text(RETRY[1] + "\n")
    (lane / "2026-05-04.md").write_text(f"---\ntitle: mine\n---\n{RETRY[2]}\n")
    (lane / "2026-05-05.md").write_bytes(b"The tide table of the harbours, \xff, is read at start.\n")
    carry_out(plan(house.folder, NOW), house.home, None, house.user, NOW)
    topic = next(path for path in vault.files(lane) if "payment" in path.name)
    assert [(one.source, one.time[:10], one.text) for one in vault.entries(topic, "knowledge")] == [
        ("agent", "2026-05-01", RETRY[0]),
        ("person", "2026-05-03", RETRY[1]),
        ("person", "2026-05-04", RETRY[2]),
    ]
    assert any(b"\xff" in data for data in house.files().values())


def test_files_of_like_names_are_put_away_apart(house: House) -> None:
    lane = house.folder / "knowledge"
    for day in (1, 2):
        (lane / f"2026-05-0{day}.md").unlink()
    for name, there, fresh in (("a b.md", RETRY[0], RETRY[1]), ("a-b.md", *TIDE)):
        vault.append(house.home, lane, name, note(there))
        house.add(fresh, 9)
    before = house.files()
    receipt = carry_out(plan(house.folder, NOW), house.home, None, house.user, NOW)
    assert receipt is not None
    assert house.files().keys() == before.keys() - {"2026-05-09.md"}
    undo_any(receipt, house.home, Places(house.user, house.user))
    assert house.files() == before


@pytest.mark.parametrize("writes", [1, 2, 3])
def test_a_run_that_ended_early_is_done_again_or_undone(house: House, writes: int) -> None:
    house.add(RETRY[0], 4)
    before, texts = house.files(), house.texts()

    def end_early() -> Receipt:
        order = plan(house.folder, NOW)
        path = order.files[writes].path
        was = path.read_bytes() if path.exists() else None
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"By hand.")
        with pytest.raises(FileMoved):
            carry_out(order, house.home, None, house.user, NOW)
        path.unlink()
        if was is not None:
            path.write_bytes(was)
        assert house.texts() == texts
        with database(house.home, write=False) as connection:
            return receipts(connection, status=PREPARED)[0]

    undo_any(end_early(), house.home, Places(house.user, house.user))
    assert house.files() == before
    end_early()
    carry_out(plan(house.folder, NOW), house.home, None, house.user, NOW)
    assert house.texts() == texts
    notes = [one for path in house.folder.rglob("*.md") for one in vault.entries(path, "knowledge")]
    assert len(notes) == len({one.id for one in notes})
    assert plan(house.folder, NOW).files == []


def test_what_was_edited_since_is_not_undone(house: House) -> None:
    receipt = carry_out(plan(house.folder, NOW), house.home, None, house.user, NOW)
    assert receipt is not None
    topic = next(path for path in vault.files(house.folder / "knowledge") if "tide" in path.name)
    topic.write_text(topic.read_text() + "\nBy hand.\n")
    before = house.files()
    with pytest.raises(NoteChangedSince):
        undo_any(receipt, house.home, Places(house.user, house.user))
    assert house.files() == before


def test_a_model_makes_one_note_of_a_topic(house: House) -> None:
    notes = [
        one for path in vault.files(house.folder / "knowledge") for one in vault.entries(path, "knowledge")
    ]
    ids = [one.id for one in notes if one.text in RETRY]
    text = "- three attempts, exponential backoff\n- stop at 30 seconds: the gateway closes then"
    answer = json.dumps({"title": "Retries of the payment client", "text": text, "covers": ids})
    with serving(OPENAI.says(answer)) as server:
        settings = settings_of({"model": {"provider": "openai", "base_url": server.url, "model": "m"}})
        order = plan(house.folder, NOW, Asker(settings, house.home, {}))
        assert order.problems == []
    carry_out(order, house.home, None, house.user, NOW)
    (name,) = order.merged
    (one,) = vault.entries(house.folder / "knowledge" / f"{name}.md", "knowledge")
    assert (one.source, one.more) == ("distil", (("from", " ".join(ids)),))
    assert text in one.text
    kept = vault.entries(house.folder / "knowledge" / "archive" / f"2026-06-01-{name}.md", "knowledge")
    assert {each.text for each in kept} == set(RETRY)


def test_the_command_looks_first(house: House) -> None:
    work = house.user / "w"
    work.mkdir()
    machine = Machine(house.user, work)
    before = house.files()
    assert "belongs to no project" in machine.alone("organize").err
    said_ = machine.alone("organize", "--global")
    assert "--apply does it" in said_.out
    assert house.files() == before
    assert machine.alone("organize", "--global", "--apply", "-y", "--json").json["done"] is True
    assert house.files() != before
    assert machine.alone("undo").code == 0
    assert house.files() == before
