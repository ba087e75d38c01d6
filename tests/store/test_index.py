"""The index of the vault: what is in the files is found, whatever happened to the index."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from coffer.core.entry import made
from coffer.core.search import terms_of
from coffer.store import index, vault
from coffer.store.home import Home
from coffer.store.index_search import Filters, Hit, search
from coffer.work.memory.index_use import MOST_HERE, ask, rebuild
from coffer.work.memory.recall import recall

TIME = "2026-05-03T10:00:00Z"


@pytest.fixture
def house(tmp_path: Path) -> Home:
    return Home(tmp_path / "house")


def write(
    house: Home,
    text: str,
    folder: str = "projects/api-1",
    lane: str = "knowledge",
    time: str = TIME,
    agent: str = "",
    session: str = "",
) -> None:
    entry = made("knowledge", text, source="agent", time=time, agent=agent, session=session)
    vault.append(house, vault.vault(house) / folder / lane, f"{entry.time[:10]}.md", entry)


def asked(house: Home, question: str, filters: Filters | None = None) -> list[Hit]:
    return ask(house, partial(search, terms=terms_of(question), filters=filters or Filters()))


def texts(house: Home, question: str, filters: Filters | None = None) -> list[str]:
    return [hit.text for hit in asked(house, question, filters)]


NOTES = {
    "retry": "We retry five times with exponential backoff; see src/net/retry_policy.py and maxQueueSize.",
    "umlaut": "Die Größe der Warteschlange heißt groß. Straße, Café, naïve.",
    "chinese": "我们决定使用重试策略,因为上游限流",
    "japanese": "データベースの移行は来週です。v2を使う",
    "korean": "데이터베이스를 이전합니다",
    "thai": "เราใช้ฐานข้อมูลใหม่",
    "mixed": "Use `HTTPServerError` (code E0042) at 0.55 of the limit.",
}
QUESTIONS: tuple[tuple[str, str | None], ...] = (
    ("what did we decide about retries?", "retry"),
    ("retry_policy", "retry"),
    ("retryPolicy", "retry"),
    ("RETRY-POLICY", "retry"),
    ("src/net/retry_policy.py", "retry"),
    ("queue", "retry"),
    ("max queue size", "retry"),
    ("maxQueueSize", "retry"),
    ('"exponential backoff"', "retry"),
    ("“exponential backoff” policy", "retry"),
    ("grösse", "umlaut"),
    ("Grosse strasse", "umlaut"),
    ("große STRASSE", "umlaut"),
    ("cafe naive", "umlaut"),
    ("重试策略", "chinese"),
    ("策略", "chinese"),
    ("策", "chinese"),
    ("流", "chinese"),
    ("为什么要用重试策略呢", "chinese"),
    ("「限流」", "chinese"),
    ("移行", "japanese"),
    ("データベース", "japanese"),
    ("ﾃﾞｰﾀﾍﾞｰｽ", "japanese"),
    ("이전", "korean"),
    ("ฐานข้อมูล", "thai"),
    ("server error", "mixed"),
    ("HttpServerError", "mixed"),
    ("e0042", "mixed"),
    ("0.55", "mixed"),
    ('"backoff exponential"', None),
    ('"exponential backoff" "nowhere"', None),
    ("zebra", None),
    ("", None),
)


def test_plain_words_of_any_writing_find_what_is_meant(house: Home) -> None:
    for text in NOTES.values():
        write(house, text)
    for question, name in QUESTIONS:
        found = texts(house, question)
        assert found[:1] == ([NOTES[name]] if name else []), question


SYNTAX = (
    '"',
    '""',
    "* *",
    "a*",
    "NEAR(retry, 2)",
    "title:retry",
    "retry AND (",
    "-retry",
    "^retry",
    "{x}",
    "a\x00b",
)


@pytest.mark.parametrize("question", SYNTAX)
def test_nothing_in_a_question_is_syntax(house: Home, question: str) -> None:
    write(house, "We retry. title near a b x")
    assert len(texts(house, question)) <= 1


def test_a_title_counts_more_and_a_rare_word_too(house: Home) -> None:
    for at in range(30):
        write(house, f"deploy number {at} went well")
    write(house, "deploy with the zebra script")
    write(house, "# Zebra\n\nit is black and white")
    assert {text[:8] for text in texts(house, "deploy zebra")[:2]} == {"deploy w", "# Zebra\n"}
    assert texts(house, "zebra")[0].startswith("# Zebra")


def test_a_text_that_stands_twice_is_told_once_at_the_place_of_its_better_copy(house: Home) -> None:
    write(house, "deploy with the zebra script", time="2020-01-01T00:00:00Z")
    for at in range(3):
        write(house, f"deploy the zebra script {at}", time="2026-05-02T00:00:00Z")
    write(house, "Deploy with  the zebra script", time=TIME)
    found = recall(house, "deploy the zebra script", Filters(), 10, datetime(2026, 5, 4, tzinfo=UTC)).hits
    assert found[0].time == TIME
    assert [hit.text for hit in found].count("deploy with the zebra script") == 0
    assert len(found) == 4


def test_words_that_stand_everywhere_are_answered_by_the_newest(house: Home) -> None:
    lane = vault.vault(house) / "global" / "knowledge"
    for at in range(1, 29):
        entries = (f"---\nid: {at:04x}{one:04x}\n---\nbuild test number{one}\n" for one in range(200))
        lane.mkdir(parents=True, exist_ok=True)
        (lane / f"2026-02-{at:02}.md").write_text("\n".join(entries))
    found = asked(house, "build test")
    assert found
    assert all(hit.time >= "2026-02-08" for hit in found)
    assert {hit.text for hit in asked(house, "build number7")} == {"build test number7"}
    assert {hit.text for hit in asked(house, "tests number7 number9")} == {
        "build test number7",
        "build test number9",
    }


def test_filters(house: Home) -> None:
    write(house, "deploy one", time="2026-04-30T23:59:59Z", agent="claude", session="aaaa-1")
    write(house, "deploy two", time="2026-05-31T23:59:59Z", agent="codex")
    write(house, "deploy three", folder="global", time="2026-06-01T00:00:00Z")
    write(house, "deploy four", folder="projects/other-2", lane="journal", time="2026-05-02T00:00:00Z")
    for filters, found in (
        (Filters(), {"one", "two", "three", "four"}),
        (Filters(("api-1",)), {"one", "two"}),
        (Filters(("api-1", "global")), {"one", "two", "three"}),
        (Filters(()), set()),
        (Filters(since="2026-05", until="2026-05"), {"two", "four"}),
        (Filters(since="2026-06-01"), {"three"}),
        (Filters(agent="claude"), {"one"}),
        (Filters(session="aaaa"), {"one"}),
        (Filters(lane="journal"), {"four"}),
        (Filters(source="person"), set()),
    ):
        assert {text.removeprefix("deploy ") for text in texts(house, "deploy", filters)} == found, filters


def test_neither_rules_nor_handoffs_nor_what_a_link_leads_to(house: Home, tmp_path: Path) -> None:
    for lane in ("rules", "handoff"):
        write(house, "deploy by hand", lane=lane)
    write(house, "deploy it")
    knowledge = vault.vault(house) / "projects" / "api-1" / "knowledge"
    (tmp_path / "secret.md").write_text("deploy secretly")
    (knowledge / "link.md").symlink_to(tmp_path / "secret.md")
    (vault.vault(house) / "projects" / "linked").symlink_to(tmp_path)
    (knowledge / ".draft.md").write_text("deploy later")
    (knowledge / "notes.txt").write_text("deploy never")
    (knowledge / "odd\udcff.md").write_text("deploy oddly")
    (vault.vault(house) / "projects" / "odd\udcff" / "knowledge").mkdir(parents=True)
    assert texts(house, "deploy") == ["deploy it"]


def test_hand_edits_show_at_once(house: Home) -> None:
    write(house, "the first text")
    knowledge = vault.vault(house) / "projects" / "api-1" / "knowledge"
    path = knowledge / "2026-05-03.md"
    assert texts(house, "first") == ["the first text"]
    with path.open("r+") as file:  # in place, the same size
        said = file.read()
        file.seek(0)
        file.write(said.replace("first", "other"))
    assert (texts(house, "first"), texts(house, "other")) == ([], ["the other text"])
    path.rename(knowledge / "topic.md")
    (knowledge / "more.md").write_text("# By hand\n\nthe other one")
    assert len(texts(house, "other")) == 2
    (knowledge / "topic.md").unlink()
    assert [hit.source for hit in asked(house, "other")] == ["person"]
    (knowledge / "more.md").write_bytes(b"the other \xff\xfe one \x00")
    assert len(texts(house, "other")) == 1


def test_a_secret_that_a_person_wrote_is_not_indexed(house: Home) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    knowledge = vault.vault(house) / "global" / "knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "mine.md").write_text(f"# {token}\n\nthe token is {token}")
    assert "[redacted: " in texts(house, "token")[0]
    assert token.encode() not in index.path(house).read_bytes()


def test_looking_makes_nothing_where_nothing_is_kept(house: Home) -> None:
    assert texts(house, "anything") == []
    assert not house.root.exists()


def _gone(path: Path) -> None:
    path.unlink()


def _text(path: Path) -> None:
    path.write_text("this is no database, but it is long enough to be looked at" * 100)


def _short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _torn(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)


def _holed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE words_data")
        connection.commit()


def _old(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 0")
        connection.commit()


@pytest.mark.parametrize("damage", [_gone, _text, _short, _torn, _holed, _old])
def test_a_damaged_index_is_made_anew(house: Home, damage: Callable[[Path], None]) -> None:
    for at in range(40):
        write(house, f"note {at} about deploying " + "more words " * 50)
    assert len(texts(house, "deploying")) == 40
    damage(index.path(house))
    assert len(texts(house, "deploying")) == 40
    assert index.path(house).stat().st_mode & 0o777 == 0o600
    done = rebuild(house)
    assert (done.files, done.entries, done.new) == (1, 40, True)
    assert sorted(path.name for path in house.root.iterdir()) == ["index.db", "locks", "memory"]


def test_where_nothing_may_be_written_it_is_asked_in_memory(house: Home) -> None:
    write(house, "deploy one")
    for lock in house.locks.iterdir():
        lock.unlink()
    house.locks.rmdir()
    house.locks.write_text("no folder")
    assert texts(house, "deploy") == ["deploy one"]
    assert not index.path(house).exists()


_ASKER = """
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from coffer.core.search import terms_of
from coffer.store.home import Home
from coffer.store.index_search import Filters, search
from coffer.work.memory.index_use import ask
for _ in range(int(sys.argv[2])):
    found = ask(Home(Path(sys.argv[1])), partial(search, terms=terms_of("deploy"), filters=Filters()))
print(len(found))
"""


@pytest.fixture
def asker(house: Home) -> Iterator[Callable[[int], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(times: int) -> subprocess.Popen[str]:
        words = [sys.executable, "-P", "-c", _ASKER, str(house.root), str(times)]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def test_several_processes_ask_while_others_write(
    house: Home, asker: Callable[[int], subprocess.Popen[str]]
) -> None:
    askers = [asker(12) for _ in range(3)]
    for at in range(20):
        write(house, f"deploy {at}", time=f"2026-05-{at + 1:02}T10:00:00Z")
        if at % 5 == 0:
            rebuild(house)
    for process in askers:
        process.communicate()
        assert process.returncode == 0
    assert len(texts(house, "deploy")) == 20


def test_one_that_is_killed_while_it_indexes_costs_nothing(
    house: Home, asker: Callable[[int], subprocess.Popen[str]]
) -> None:
    lane = vault.vault(house) / "global" / "knowledge"
    lane.mkdir(parents=True)
    for at in range(60):
        entries = (f"---\nid: {at:04x}{one:04x}\n---\ndeploy {one} " + "word " * 40 for one in range(60))
        (lane / f"{at}.md").write_text("\n\n".join(entries))
    killed = asker(1)
    until = time.monotonic() + 60
    while not list(house.root.glob(".index.db.*")) and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    with closing(index.current(house)[0]) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone()[0] == 3600
    assert not list(house.root.glob(".index.db.*"))


def test_a_process_that_lives_sees_every_change(house: Home) -> None:
    knowledge = vault.vault(house) / "global" / "knowledge"

    def seen(question: str) -> int:
        return len(ask(house, partial(search, terms=terms_of(question), filters=Filters()), lives=True))

    assert seen("zebra") == 0
    write(house, "zebra one", folder="global")
    assert seen("zebra") == seen("zebra") == 1
    (path,) = knowledge.iterdir()
    for _ in range(20):
        path.write_text("a lion\n")
        assert seen("zebra") == 0
        path.write_text("a zebra\n")
        assert seen("zebra") == 1
    write(house, "zebra two", folder="projects/new-1", lane="journal")
    assert seen("zebra") == 2
    path.rename(path.with_suffix(".txt"))
    assert seen("zebra") == 1
    index.path(house).unlink()
    assert seen("zebra") == 1
    vault.vault(house).rename(house.root / "away")
    assert seen("zebra") == 0
    (house.root / "away").rename(vault.vault(house))
    assert seen("zebra") == 1


def test_many_new_files_are_read_by_another_process(house: Home) -> None:
    lane = vault.vault(house) / "global" / "journal"
    lane.mkdir(parents=True)
    for at in range(MOST_HERE + 1):
        (lane / f"{at}.md").write_text(f"zebra {at}\n")
    found = ask(house, partial(search, terms=terms_of("zebra"), filters=Filters()), lives=True)
    assert len(found) == 50
