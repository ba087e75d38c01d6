"""`coffer journal`, as a person and a program use it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coffer.cli.main import cli
from tests.cli.run import Machine
from tests.journal.day import PROMPT, Day
from tests.transcripts import text

NOW = datetime.now(UTC).replace(microsecond=0)


class House(Day):
    """The same, with commands run in its project."""

    def coffer(self, *words: str) -> Result:
        return CliRunner().invoke(cli, ["journal", *words])


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    house = House(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COFFER_HOME", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(house.project())
    house.session("one", at=NOW - timedelta(minutes=30))
    house.session("old", at=NOW - timedelta(days=40))
    house.session("other", "boat", at=NOW - timedelta(minutes=30))
    return house


def test_a_day_of_a_person(house: House) -> None:
    assert "3 closed" in house.coffer("status").output.replace("just written to", "closed")
    tried = house.coffer("distil", "--all", "--dry-run")
    assert PROMPT in tried.output
    assert "Nothing was written." in tried.output
    assert house.entries() == []
    done = house.coffer("distil", "--all")
    assert (done.exit_code, "3 written." in done.output) == (0, True)
    assert "Every session is told." in house.coffer("status").output
    shown = house.coffer()
    assert shown.output.count("Goal. Make the retry") == 1, "the last days of this project"
    assert "session one" in shown.output
    assert house.coffer("show", "--since", "60d").output.count("Goal. Make the retry") == 2
    every = house.coffer("show", "--all", "--since", "60d", "--titles").output
    assert every.count("Make the retry of the webhook sender") == 3
    assert "[boat-" in every
    assert "has no entry on 2001-02-03" in house.coffer("show", "--day", "2001-02-03").output
    boat = house.coffer("show", "--project", str(house.root / "boat"))
    assert "session other" in boat.output


def test_programs_get_json_and_exit_codes(house: House) -> None:
    done = house.coffer("distil", "--json", "one", "nobody")
    said = json.loads(done.output)
    assert (done.exit_code, said["outcomes"]) == (3, {"distilled": 1, "not_found": 1})
    again = json.loads(house.coffer("distil", "--json", "one").output)
    assert again["outcomes"] == {"already_distilled": 1}
    [entry] = json.loads(house.coffer("show", "--json").output)["entries"]
    assert (entry["session"], entry["source"], entry["branch"]) == ("one", "distil", "retry")
    assert Path(entry["path"]).read_text().count(f"id: {entry['id']}") == 1
    status = json.loads(house.coffer("status", "--json").output)
    assert (status["auto"], sum(status["states"].values())) == (True, 2)
    assert house.coffer("distil", "--model", "old").exit_code == 22
    assert house.coffer("distil").exit_code == 2
    assert house.coffer("show", "--day", "someday").exit_code == 2


def test_on_a_terminal_lines_end_at_words_and_items_go_on_below_their_own_text(house: House) -> None:
    made = house.started(house.project(), NOW, "long")
    for word in ("harbour", "lighthouse"):
        said = f"And then look at the {word}, at each of its doors, and at the two boats that lie in front of it."
        made.user(said, f"{word}u", **house.typed(house.project()))
        made.answer(text("I looked."), name=f"{word}a")
    house.store(made, "long")
    house.coffer("distil", "long")
    outside = (
        house.root.parent
    )  # what a library tries out in the folder for temporary files is not in the home
    machine = Machine(house.root, house.project(), {"TMPDIR": str(outside), "TERM": "dumb"})
    shown = machine.on_terminal("journal", TERM="dumb").out.splitlines()
    assert max(map(len, shown)) <= 80
    at = next(at for at, line in enumerate(shown) if line.startswith("- And then look at the harbour"))
    first, second = shown[at].rstrip(), shown[at + 1]
    assert (second[:2], second[2] != " ") == ("  ", True)
    assert f"{first} {second[2:]}".endswith("doors, and at the two boats that lie in front of it.")
    piped = machine.run("journal").out
    assert "doors, and at the two boats that lie in front of it.\n" in piped, "a program gets whole lines"


def test_what_a_transcript_says_is_shown_and_not_obeyed(house: House) -> None:
    made = house.started(house.project(), NOW, "evil")
    made.user("\x1b]0;mine\x07\x1b[31mPaint it red for me, please.", "evilu", **house.typed(house.project()))
    house.store(made, "evil")
    house.coffer("distil", "evil")
    shown = house.coffer("show", "--since", "2d").output + house.coffer("distil", "-n", "old").output
    assert "\x1b" not in shown
    assert "\x07" not in shown
