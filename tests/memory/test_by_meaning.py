"""Entries are found by what they mean, where the extra is installed and asked for; everywhere else by their words."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coffer.cli.main import cli
from coffer.core.entry import made
from coffer.store import index, vault
from coffer.store.home import Home
from coffer.store.index_search import Filters
from coffer.work.memory import by_meaning
from coffer.work.memory.index_use import rebuild
from coffer.work.memory.recall import recall

with_extra = pytest.mark.skipif(not by_meaning.installed(), reason="the extra `embeddings` is not installed")
without_extra = pytest.mark.skipif(by_meaning.installed(), reason="the extra `embeddings` is installed")

NOTES = (
    "Passwords are hashed with argon2id.",
    "Deploys are frozen from Friday noon until Monday morning.",
    "The designers want rounded corners and no shadows on cards.",
    "The nightly backup goes to the Frankfurt bucket.",
    "Use pnpm in this repository.",
)
QUESTION, ANSWER = "may I ship on a weekend?", NOTES[1]


@pytest.fixture
def house(tmp_path: Path) -> Home:
    home = Home(tmp_path / ".coffer")
    for note in NOTES:
        write(home, note)
    return home


def write(home: Home, text: str, folder: str = "global", agent: str = "claude") -> None:
    entry = made("knowledge", text, source="agent", agent=agent, time="2026-05-03T10:00:00Z")
    vault.append(home, vault.vault(home) / folder / "knowledge", "2026-05-03.md", entry)


def found(home: Home, question: str, filters: Filters | None = None, *, lives: bool = False) -> list[str]:
    now = datetime(2026, 6, 1, tzinfo=UTC)
    hits = recall(home, question, filters or Filters(), 5, now, lives=lives, embeddings=True).hits
    return [hit.text for hit in hits]


def counts(home: Home) -> tuple[int, int]:
    """Of entries, and of entries with vectors."""
    with closing(sqlite3.connect(index.path(home))) as connection:
        entries = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
        vectors = connection.execute("SELECT count(DISTINCT entry) FROM pieces").fetchone()[0]
        return entries, vectors


@pytest.fixture
def coffer(tmp_path: Path, house: Home) -> Callable[..., Result]:
    """Runs a command in a home whose settings ask for embeddings."""
    (house.root / "config.toml").write_text("[recall]\nembeddings = true\n")

    def run(*words: str, code: int = 0) -> Result:
        done = CliRunner().invoke(cli, words, env={"HOME": str(tmp_path), "COFFER_HOME": None})
        status = getattr(done.exception, "exit_code", done.exit_code)  # main says it and ends with it
        assert status == code, (done.output, done.exception)
        return done

    return run


@with_extra
def test_what_means_the_like_is_found_at_once(house: Home) -> None:
    assert recall(house, QUESTION, Filters(), 5, datetime.now(UTC)).hits == ()
    assert found(house, QUESTION)[0] == ANSWER
    write(house, "Refunds take three days.")
    assert found(house, "when do buyers get their money back?")[0] == "Refunds take three days."


@with_extra
def test_words_are_not_overtaken(house: Home) -> None:
    write(house, "weekend")
    assert found(house, "weekend")[0] == "weekend"
    assert found(house, '"ship on a weekend"') == []


@with_extra
def test_filters_hold_for_meaning(house: Home) -> None:
    write(house, "Releases never happen on Saturday or Sunday.", folder="projects/api-1", agent="codex")
    assert ANSWER not in found(house, QUESTION, Filters(("api-1",)))
    assert found(house, QUESTION, Filters(("api-1",))) == ["Releases never happen on Saturday or Sunday."]
    assert found(house, QUESTION, Filters(agent="codex")) == ["Releases never happen on Saturday or Sunday."]
    assert found(house, QUESTION, Filters(since="2026-06")) == []
    assert found(house, QUESTION, Filters(("nowhere-1",))) == []


@with_extra
@pytest.mark.parametrize("lives", [False, True])
def test_a_changed_file_takes_its_vectors_along(house: Home, lives: bool) -> None:  # noqa: FBT001
    assert found(house, QUESTION, lives=lives)[0] == ANSWER
    (path,) = (vault.vault(house) / "global" / "knowledge").iterdir()
    path.write_text("The harbour is closed on Sunday.\n")
    assert ANSWER not in found(house, QUESTION, lives=lives)
    assert counts(house) == (1, 1)


@with_extra
def test_an_index_made_anew_is_not_answered_from_the_old_one(house: Home) -> None:
    assert found(house, QUESTION, lives=True)[0] == ANSWER
    shutil.rmtree(vault.vault(house) / "global")
    write(house, NOTES[0], folder="projects/api-1")
    rebuild(house)
    assert ANSWER not in found(house, QUESTION, lives=True)


@with_extra
def test_a_new_index_with_the_inode_of_the_old_one_is_not_taken_for_that(house: Home, tmp_path: Path) -> None:
    asked = Filters(("global",))
    assert found(house, QUESTION, asked, lives=True)[0] == ANSWER
    before = tmp_path / "before"
    before.hardlink_to(index.path(house))
    shutil.rmtree(vault.vault(house))
    write(house, "Releases never happen on Saturday or Sunday.")
    for note in NOTES:
        write(house, note, folder="projects/api-1")
    rebuild(house)
    by_meaning.make_all(house)
    shutil.copyfile(index.path(house), before)
    before.replace(index.path(house))  # what a file system does that gives away an inode at once
    told = found(house, QUESTION, asked, lives=True)
    assert told == ["Releases never happen on Saturday or Sunday."], "and nothing of another project"


@with_extra
def test_vectors_of_other_weights_are_made_anew(house: Home) -> None:
    found(house, QUESTION)
    with closing(sqlite3.connect(index.path(house))) as connection, connection:
        connection.execute("UPDATE maker SET name = 'older weights'")
        connection.execute("UPDATE pieces SET vector = zeroblob(256)")
    assert found(house, QUESTION)[0] == ANSWER


@with_extra
def test_many_new_entries_are_read_by_another_process_and_words_answer_meanwhile(house: Home) -> None:
    lane = vault.vault(house) / "global" / "journal"
    lane.mkdir(parents=True)
    many = by_meaning.AT_ONCE + 300
    entries = (f"---\nid: {at:08x}\n---\nThe harbour has {at} cranes.\n" for at in range(many))
    (lane / "2026-05-04.md").write_text("\n".join(entries))
    assert found(house, QUESTION, lives=True) == []
    until = time.monotonic() + 60
    while by_meaning.behind(house) and time.monotonic() < until:
        time.sleep(0.05)
    assert found(house, QUESTION, lives=True)[0] == ANSWER
    assert counts(house) == (many + len(NOTES), many + len(NOTES))


@with_extra
def test_the_commands_make_vectors_and_use_them(coffer: Callable[..., Result], house: Home) -> None:
    told = json.loads(coffer("index", "rebuild", "--json").output)
    assert (told["entries"], told["vectors"]) == (len(NOTES), len(NOTES))
    assert "Every entry has its vectors" in coffer("index", "vectors").output
    assert ANSWER in coffer("recall", *QUESTION.split()).output
    (hit, *_) = json.loads(coffer("recall", *QUESTION.split(), "--json").output)
    assert hit["text"] == ANSWER
    coffer("forget", hit["id"], "--apply", "--yes")
    assert ANSWER not in coffer("recall", *QUESTION.split()).output
    assert counts(house) == (len(NOTES) - 1, len(NOTES) - 1)


@with_extra
def test_nothing_asks_the_network(house: Home) -> None:
    code = (
        "import sys\n"
        "def hear(event, _):\n"
        "    if event.startswith('socket.'): raise SystemExit(f'{event} was asked for')\n"
        "sys.addaudithook(hear)\n"
        "from pathlib import Path\n"
        "from coffer.store.home import Home\n"
        "from coffer.work.memory import by_meaning\n"
        "from coffer.work.memory.index_use import rebuild\n"
        "home = Home(Path(sys.argv[1]))\n"
        "rebuild(home)\n"
        "assert by_meaning.make_all(home) == 5\n"
    )
    subprocess.run([sys.executable, "-c", code, str(house.root)], check=True)


def test_without_the_setting_nothing_of_it_is_loaded(house: Home) -> None:
    code = (
        "import sys\n"
        "from datetime import UTC, datetime\n"
        "from pathlib import Path\n"
        "from coffer.mcp.memory_tools import look_up\n"
        "from coffer.store.home import Home\n"
        "from coffer.store.index_search import Filters\n"
        "from coffer.work.memory import by_meaning\n"
        "from coffer.work.memory.recall import recall\n"
        "home = Home(Path(sys.argv[1]))\n"
        "asked = by_meaning.wanted(home)\n"
        "assert not asked\n"
        "assert recall(home, 'weekend pnpm', Filters(), 5, datetime.now(UTC), lives=True, embeddings=asked).hits\n"
        "loaded = {'numpy', 'tokenizers', 'wordllama'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code, str(house.root)], check=True)


@without_extra
def test_without_the_extra_words_answer_and_one_line_says_how_to_install_it(
    coffer: Callable[..., Result],
) -> None:
    done = coffer("recall", "pnpm")
    assert NOTES[4] in done.stdout
    assert "-m pip install 'coffer-agent[embeddings]'" in done.stderr
    rebuilt = coffer("index", "rebuild", code=79)
    assert "5 entries of 1 files are indexed" in rebuilt.stdout
    coffer("index", "vectors", code=79)


def test_settings_that_cannot_be_read_keep_nobody_from_recalling(
    coffer: Callable[..., Result], house: Home
) -> None:
    (house.root / "config.toml").write_text("[recall\n")
    assert NOTES[4] in coffer("recall", "pnpm").stdout
    (house.root / "config.toml").write_text('[recall]\nembeddings = "yes"\n')
    assert not by_meaning.wanted(house)
