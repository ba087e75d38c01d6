"""A closed session is told once: not twice, not never, whoever is killed, whatever the file has become."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coffer.core.settings import Settings, settings_of
from coffer.errors import ReceiptNotFound
from coffer.store.db import database
from coffer.store.distilled import FAILING, Row, claimed, row, rows
from coffer.work.memory.distil_due import standings
from coffer.work.memory.distil_errors import EntryChangedSince
from coffer.work.memory.distil_model import Step
from coffer.work.memory.forget import forget, look
from coffer.work.project.apart import separate
from coffer.work.receipts import to_undo
from coffer.work.undo_any import undo_any
from tests.journal.day import ANSWER, PROMPT, Day, answering
from tests.models.server import ScriptedServer, answers, serving
from tests.transcripts import THREAD, Codex, call, text

MORNING = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Day:
    monkeypatch.setenv("TZ", "UTC")
    return Day(tmp_path)


def test_an_entry_tells_what_the_session_came_to(day: Day) -> None:
    day.session()
    assert [one.outcome for one in day.distil()] == ["distilled"]
    [entry] = day.entries()
    said = (entry.source, entry.agent, entry.session, entry.branch, entry.time[:10], entry.project[:4])
    assert said == ("distil", "claude", "one", "retry", "2026-11-30", "tide")
    for line in (
        "# Make the retry of the webhook sender wait longer each time, since the server answers 429",
        f"**Goal.** {PROMPT}",
        "**Decisions.** I used exponential backoff instead of a fixed wait because the server doubles its own limit.",
        "**Done.** The sender waits twice as long after each 429 now.",
        "**Files.** edited `src/sender.py` (+2 −1)",
        "**Commits.** `1a2b3c4` Wait longer after each 429",
        "**Commands and tests.** `pytest -q tests`: failed (1 failed, 7 passed), then passed (8 passed)",
        "**Open.** The jitter is not tested yet.",
    ):
        assert line in entry.text.split("\n"), entry.text


def test_nothing_is_told_twice(day: Day) -> None:
    day.session()
    day.distil()
    before = day.entries()
    assert [one.outcome for one in day.distil()] == ["already_distilled"]
    assert day.entries() == before


def grown(day: Day, name: str, words: str, at: datetime) -> None:
    """The session goes on: one more prompt, one more file."""
    made = day.started(day.project(), MORNING, name)
    made.clock = (at - datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).total_seconds()
    made.user(words, f"{name}q", **day.typed(day.project()))
    made.answer(
        call(f"{name}9", "Write", file_path=str(day.project() / "NEWS.md"), content="x\n"), name=f"{name}r"
    )
    made.result(f"{name}9", "ok", f"{name}s", toolUseResult={"type": "create"})
    made.answer(text("The news of this change stand in NEWS.md now."), name=f"{name}t")
    day.store(made, name)


def test_what_grows_on_the_same_day_is_one_entry(day: Day) -> None:
    day.session()
    day.distil()
    [before] = day.entries()
    grown(day, "one", "Write a line about it into the news, please.", MORNING.replace(hour=15))
    [told] = day.distil()
    assert (told.outcome, told.replaced) == ("distilled", True)
    [entry] = day.entries()
    assert entry.id == before.id
    assert entry.text.count("src/sender.py") == 1
    assert "- Write a line about it into the news, please." in entry.text
    assert "created `NEWS.md`" in entry.text


def test_what_grows_behind_a_separation_is_told_in_what_is_apart_and_only_that(day: Day) -> None:
    (day.project() / ".git" / "config").write_text('[remote "origin"]\n\turl = git@forge.test:dev/tide.git\n')
    day.session()
    day.distil()
    [shared] = day.entries()
    separate(day.home, day.root, day.project(), MORNING)
    grown(day, "one", "Write a line about it into the news, please.", MORNING.replace(hour=15))
    day.distil()
    entries = day.entries()
    assert shared in entries, "as it was"
    [apart] = [one for one in entries if one != shared]
    assert apart.project not in ("", shared.project)
    assert "NEWS.md" in apart.text
    assert "src/sender.py" not in apart.text
    grown(day, "one", "Write two lines about it into the news, please.", MORNING.replace(hour=15))
    day.distil()
    assert len(day.entries()) == 2


def test_what_grows_on_another_day_is_told_there_and_only_that(day: Day) -> None:
    day.session()
    day.distil()
    grown(
        day, "one", "Write a line about it into the news, please.", MORNING.replace(year=2027, month=1, day=3)
    )
    day.distil()
    first, second = day.entries()
    assert "src/sender.py" in first.text
    assert "NEWS.md" not in first.text
    assert "**Goal.** Write a line about it into the news, please." in second.text
    assert "src/sender.py" not in second.text
    assert second.time.startswith("2027-01-03")


def test_an_entry_that_a_person_edited_stays_and_only_the_rest_is_told(day: Day) -> None:
    day.session()
    [told] = day.distil()
    path = Path(told.file)
    path.write_text(path.read_text().replace("The jitter is not tested yet.", "Jitter: never mind."))
    grown(day, "one", "Write a line about it into the news, please.", MORNING.replace(hour=15))
    day.distil()
    first, second = day.entries()
    assert "Jitter: never mind." in first.text
    assert "NEWS.md" not in first.text
    assert "src/sender.py" not in second.text
    assert "NEWS.md" in second.text


def test_a_file_that_was_pruned_in_between_is_known_again(day: Day) -> None:
    """The guard rewrites a transcript: another inode, other offsets, the same uuids."""
    path = day.session()
    day.distil()
    grown(
        day, "one", "Write a line about it into the news, please.", MORNING.replace(year=2027, month=1, day=3)
    )
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if b'"structuredPatch"' not in line]
    new = path.with_suffix(".new")
    new.write_bytes(b"".join(lines[2:]))
    new.replace(path)
    day.distil()
    first, second = day.entries()
    assert "**Goal.** Write a line about it" in second.text
    assert PROMPT not in second.text
    assert PROMPT in first.text


def test_a_fork_tells_only_what_is_its_own(day: Day) -> None:
    day.session("one")
    made = day.started(day.project(), MORNING, "one")  # a fork copies its parent's records with their uuids
    made.user("Try the same with a queue instead, in a branch of its own.", "f1", **day.typed(day.project()))
    made.answer(text("The queue takes the place of the loop in sender.py."), name="f2")
    fork = day.store(made, "two")
    os.utime(fork, (fork.stat().st_mtime + 5, fork.stat().st_mtime + 5))
    day.distil()
    first, second = sorted(day.entries(), key=lambda entry: entry.session)
    assert PROMPT in first.text
    assert PROMPT not in second.text
    assert "Try the same with a queue" in second.text


def test_a_copy_tells_nothing_and_says_why(day: Day) -> None:
    for name in ("one", "two"):
        made = day.started(day.project(), MORNING, "one")
        made.lines = [line.replace(b'"entrypoint":"cli"', b'"entrypoint":"sdk-cli"') for line in made.lines]
        made.lines = [line.replace(b'"promptSource":"typed"', b'"promptSource":"sdk"') for line in made.lines]
        day.store(made, name)
    assert sorted(one.outcome for one in day.distil()) == ["distilled", "skipped"]
    assert len(day.entries()) == 1
    [why] = [one.why for one in day.distil() if one.outcome == "skipped"]
    assert why.startswith("what was said in it is told in the entry of the session that it was copied from")


_TWO = (
    "import sys; from pathlib import Path; from tests.journal.day import Day; Day(Path(sys.argv[1])).distil()"
)


def test_two_at_once_tell_each_session_once(day: Day) -> None:
    names = [f"s{number}" for number in range(8)]
    for name in names:
        day.session(name, f"p{int(name[1:]) % 2}")
    run = [sys.executable, "-c", _TWO, str(day.root)]
    both = [subprocess.Popen(run, cwd=Path(__file__).parents[2]) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    assert sorted(entry.session for entry in day.entries()) == names
    assert {one.outcome for one in day.distil()} == {"already_distilled"}


def test_a_dead_branch_is_not_told(day: Day) -> None:
    made = day.started(day.project(), MORNING, "one")
    made.user("Now delete the whole folder of fixtures.", "dead", **day.typed(day.project()))
    made.answer(text("The folder of fixtures is gone now."), name="dead2")
    made.user("Rather keep the fixtures and sort them.", "live", parent="onez", **day.typed(day.project()))
    made.answer(text("The fixtures are sorted by name now."), name="live2")
    day.store(made, "one")
    day.distil()
    [entry] = day.entries()
    assert "Rather keep the fixtures and sort them." in entry.text
    assert "delete the whole folder" not in entry.text
    assert "is gone now" not in entry.text


def test_what_coffer_said_itself_is_no_source(day: Day) -> None:
    marker = (
        "<!-- __cozempic_behavioral_digest__: true -->\n[BEHAVIORAL CONTRACT]\n- Do not decide on Mars.\n"
    )
    made = day.started(day.project(), MORNING, "one")
    made.user(marker, "m1", isMeta=False, **day.typed(day.project()))
    made.attachment("hook_additional_context", "m2", {"content": [marker], "hookEvent": "SessionStart"})
    made.answer(call("m3", "mcp__coffer__recall", query="mars"), name="m4")
    made.result("m3", "We decided to use Mars because Venus is hot.", "m5")
    made.answer(
        text("We decided to use Mars because Venus is hot.\nThe sender is as it was before."), name="m6"
    )
    day.store(made, "one")
    day.distil()
    [entry] = day.entries()
    assert "Mars" not in entry.text
    assert "The sender is as it was before." in entry.text


@pytest.mark.parametrize("where", ["prompt", "command", "output", "answer", "path", "commit", "branch"])
def test_a_secret_is_nowhere_afterwards(day: Day, where: str) -> None:
    made = day.started(day.project(), MORNING, "one")
    said = f"The token is {SECRET} and must be kept, so use it from the environment."
    if where == "prompt":
        made.user(said, "x1", **day.typed(day.project()))
    elif where == "branch":
        made.user("Go on.", "x1", **day.typed(day.project()) | {"gitBranch": f"fix/{SECRET}"})
    elif where == "answer":
        made.answer(text(said), name="x1")
    elif where == "path":
        made.answer(call("x2", "Write", file_path=f"{day.project()}/{SECRET}/a.txt", content="x"), name="x1")
        made.result("x2", "ok", "x3", toolUseResult={"type": "create"})
    else:
        command = (
            f"git commit -m 'x {SECRET}'"
            if where == "commit"
            else f"pytest --token {SECRET} {'x' * 90}{SECRET}"
        )
        made.answer(call("x2", command=command), name="x1")
        output = (
            f"[main 1234567] use {SECRET}\n" if where == "commit" else f"FAILED {SECRET}\n1 failed in 0.1s"
        )
        made.result("x2", output, "x3")
    day.store(made, "one")
    assert [one.outcome for one in day.distil()] == ["distilled"]
    for path in day.home.root.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
        assert not path.is_file() or SECRET[4:20].encode() not in path.read_bytes(), path


_KILLED = """
import json, os, shutil, signal, sys
from pathlib import Path
from coffer.store.db import database
from coffer.work.receipts import all_receipts
from tests.journal.day import Day
day = Day(Path(sys.argv[1]))
SIDE_EFFECTS = {"os.rename", "os.remove", "sqlite3.connect", "fcntl.flock", "tempfile.mkstemp"}
steps = 0
with database(day.home):  # its making is no step of these, and half of the time
    pass
empty = shutil.copy(day.home.database, Path(sys.argv[1], "empty.db"))
while True:
    steps += 1
    child = os.fork()
    if not child:
        left = steps
        def count(event, arguments):
            global left
            left -= event in SIDE_EFFECTS
            if event in SIDE_EFFECTS and not left:
                os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        day.distil()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    for page in Path(sys.argv[1], ".coffer").rglob("journal/*.md") if "edited" in sys.argv else ():
        page.write_text(page.read_text().replace("jitter", "shaking"))
    told = day.distil()
    entries = day.entries()
    left = [one.status for one in all_receipts(day.home) if one.status == "prepared"]
    print(json.dumps([len(entries), told[0].outcome, told[0].why, left]), flush=True)
    for file in Path(sys.argv[1], ".coffer").rglob("*"):
        if file.is_file():
            file.unlink()
    shutil.copy(empty, day.home.database)
    if os.WIFEXITED(status):
        break
"""


@pytest.mark.parametrize("meanwhile", ["untouched", "edited"])
def test_killed_at_any_step_it_is_told_once_by_the_next(day: Day, meanwhile: str) -> None:
    day.session()
    run = [sys.executable, "-c", _KILLED, str(day.root), meanwhile]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) > 10, "else the steps were not met"
    assert [one for one in told if one[0] != 1 or one[1] not in ("distilled", "already_distilled")] == []
    assert [one for one in told if one[3]] == []
    assert {one[1] for one in told} == {"distilled", "already_distilled"}


def test_a_living_owner_keeps_its_claim_and_a_dead_one_loses_it(day: Day) -> None:
    day.session()
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with database(day.home) as connection:
            claimed(connection, Row("claude", "one"), "x", other.pid, day.clock())
        [told] = day.distil()
        assert (told.outcome, told.why) == ("skipped", "another process is at it")
    finally:
        other.communicate(b"\n")
    assert [one.outcome for one in day.distil()] == ["distilled"]


def test_a_failing_session_waits_longer_each_time_and_keeps_no_other_back(day: Day) -> None:
    now = [1_800_000_000.0]
    day.clock = lambda: now[0]
    day.store(day.started(day.project(), MORNING, "bad"), "bad").write_bytes(b'{"no": "record"}\n')
    day.session("good")
    assert {one.session: one.outcome for one in day.distil()} == {"bad": "failed", "good": "distilled"}
    waits = []
    for _ in range(9):
        with database(day.home, write=False) as connection:
            kept = row(connection, "claude", "bad")
        assert kept.state == FAILING
        waits.append(kept.next_try - now[0])
        standing = standings(day.home, day.places, day.found(), now[0], quiet=False)
        assert [(one.found.id, one.state) for one in standing] == [("bad", "failing")]
        now[0] = kept.next_try
        standing = standings(day.home, day.places, day.found(), now[0], quiet=False)
        assert [(one.found.id, one.state) for one in standing] == [("bad", "due")]
        day.distil("bad")
    assert waits[:4] == [60.0, 240.0, 960.0, 3840.0]
    assert waits[-1] == 86_400.0
    day.session("bad")
    assert [one.outcome for one in day.distil("bad")] == ["distilled"]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("empty", "nothing was asked in it"),
        ("own", "it is a session of Coffer's own"),
        ("child", "it is a subagent's"),
    ],
)
def test_some_are_passed_over_with_a_reason(day: Day, kind: str, why: str) -> None:
    made = (
        day.started(day.home.root / "jobs", MORNING, "one")
        if kind == "own"
        else day.started(day.project(), MORNING)
    )
    if kind == "own":
        made.lines = [line.replace(b'"/work/tide"', f'"{day.home.root}"'.encode()) for line in made.lines]
    if kind == "empty":
        made.lines = made.lines[-1:]
    day.store(made, "agent-one" if kind == "child" else "one")
    [told] = day.distil()
    assert told.outcome == "skipped"
    assert told.why.startswith(why)
    assert day.entries() == []
    assert [one.outcome for one in day.distil()] == ["skipped"]


def test_the_prompt_of_a_program_is_in_the_journal(day: Day) -> None:
    made = day.started(day.project(), MORNING, "one")
    made.lines = [line.replace(b'"entrypoint":"cli"', b'"entrypoint":"sdk-cli"') for line in made.lines]
    made.lines = [line.replace(b'"promptSource":"typed"', b'"promptSource":"sdk"') for line in made.lines]
    made.lines = [line.replace(b'"origin":{"kind":"human"},', b"") for line in made.lines]
    day.store(made, "one")
    day.distil()
    [entry] = day.entries()
    assert f"**Goal.** {PROMPT}" in entry.text


def test_a_trial_writes_nothing(day: Day) -> None:
    day.session()
    [told] = day.distil(dry_run=True)
    assert told.outcome == "distilled"
    assert PROMPT in told.text
    assert not day.home.root.exists()


def test_an_entry_is_taken_back_by_its_receipt_and_not_told_again(day: Day) -> None:
    day.session()
    [told] = day.distil()
    with pytest.raises(ReceiptNotFound):
        to_undo(day.home, "")  # what a person did last is not what Coffer did by itself
    undo_any(to_undo(day.home, told.receipt), day.home, day.places)
    assert day.entries() == []
    assert [one.outcome for one in day.distil()] == ["already_distilled"]


def test_undo_of_a_replacement_brings_the_entry_before_back_unless_it_was_edited(day: Day) -> None:
    day.session()
    day.distil()
    [before] = day.entries()
    grown(day, "one", "Write a line about it into the news, please.", MORNING.replace(hour=15))
    [told] = day.distil()
    path = Path(told.file)
    ours = path.read_text()
    path.write_text(ours.replace("NEWS.md", "OLDS.md"))
    with pytest.raises(EntryChangedSince):
        undo_any(to_undo(day.home, told.receipt), day.home, day.places)
    path.write_text(ours)
    undo_any(to_undo(day.home, told.receipt), day.home, day.places)
    assert day.entries() == [before]


def test_a_look_into_another_repository_at_the_end_moves_nothing(day: Day) -> None:
    made = day.started(day.project("tide"), MORNING, "one")
    there: dict[str, Any] = {"cwd": str(day.project("boat")), "gitBranch": "sails"}
    made.answer(call("x1", command="git log"), name="x2", **there)
    made.result("x1", "nothing", "x3", **there)
    day.store(made, "one")
    day.distil()
    [entry] = day.entries()
    assert (entry.project[:5], entry.branch) == ("tide-", "retry")
    assert "branch `retry`" in entry.text


def test_the_project_of_a_folder_that_is_gone_is_known_by_the_vault_and_by_the_records(day: Day) -> None:
    day.session("one")
    day.session("boat", "boat")
    day.distil("one")
    (day.root / "tide").rename(day.root / "elsewhere")
    (day.root / "boat").rename(day.root / "away")
    day.session("two", "tide/src")
    (day.root / "tide" / "src").rename(day.root / "sources")
    (day.root / "tide").rmdir()
    day.distil()
    found = {entry.session: entry.project for entry in day.entries()}
    assert found["two"] == found["one"] != ""
    assert found["boat"] == "", "nothing tells which project that was"


def test_a_codex_thread_of_a_removed_clone_belongs_to_its_origin(day: Day) -> None:
    clone = day.project("tide")
    (clone / ".git" / "config").write_text('[remote "origin"]\n\turl = git@forge.test:dev/tide.git\n')
    day.session("one")
    day.distil()
    made = Codex()
    git = {"repository_url": "https://forge.test/dev/tide", "branch": "main"}
    made.add("session_meta", id=THREAD, cwd=str(day.root / "gone"), git=git)
    made.message("user", "Make the sender wait longer after each 429.")
    folder = day.places.codex / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    (folder / f"rollout-2026-11-30T09-00-00-{THREAD}.jsonl").write_bytes(made.data)
    day.distil()
    first, second = day.entries()
    assert {first.agent, second.agent} == {"claude", "codex"}
    assert first.project == second.project


def test_a_session_of_a_person_in_the_vault_is_told(day: Day) -> None:
    made = day.started(day.home.root / "memory", MORNING, "one")
    made.answer(text("The notes are sorted."), name="x9", cwd=str(day.project()))
    day.store(made, "one")
    assert [one.outcome for one in day.distil()] == ["distilled"]


def test_a_vault_that_came_from_elsewhere_is_not_told_again(day: Day) -> None:
    """After an import, or where the database had to go: the ledger is empty, the entries are there."""
    day.session("one")
    [told] = day.distil()
    path = Path(told.file)
    path.write_text(path.read_text().replace("The jitter is not tested yet.", "Jitter: never mind."))
    before = day.entries()
    day.home.database.unlink()
    assert [one.outcome for one in day.distil()] == ["already_distilled"]
    assert day.entries() == before
    day.home.database.unlink()
    grown(day, "one", "Write a line about it into the news, please.", MORNING.replace(hour=15))
    day.distil()
    first, second = day.entries()
    assert first == before[0]
    assert "NEWS.md" in second.text
    assert "src/sender.py" not in second.text


def test_a_front_matter_that_a_person_wrote_on_stays(day: Day) -> None:
    day.session("one")
    [told] = day.distil()
    path = Path(told.file)
    path.write_text(path.read_text().replace("source: distil", "source: distil\ntags: retry, later", 1))
    grown(day, "one", "Write a line about it into the news, please.", MORNING.replace(hour=15))
    day.distil()
    [entry] = day.entries()
    assert "NEWS.md" in entry.text
    assert entry.more == (("tags", "retry, later"),)


def test_what_was_forgotten_does_not_come_back(day: Day) -> None:
    day.session("one")
    day.distil()
    [entry] = day.entries()
    noon = MORNING.replace(hour=12)
    assert forget(day.home, look(day.home, day.environment, entry=entry.id), noon) == []
    assert [one.outcome for one in day.distil()] == ["already_distilled"]
    assert day.entries() == []
    grown(day, "one", "Write a line about it into the news, please.", MORNING.replace(hour=15))
    day.distil()
    [entry] = day.entries()
    assert "NEWS.md" in entry.text
    assert "src/sender.py" not in entry.text


def test_words_that_were_forgotten_are_told_no_more_by_a_session_that_goes_on(day: Day) -> None:
    """Its transcript still holds them: in what it has told, in what it has not, and for the model that words it."""
    made = day.started(day.project(), MORNING, "one")
    made.user(
        "The customer is Brandywine Mills, do not\nforget Brandywine Mills.", "x1", **day.typed(day.project())
    )
    made.answer(text("I wrote the letter to Brandywine\nMills."), name="x2")
    path = day.store(made, "one")
    day.distil()
    assert "Brandywine" in day.entries()[0].text
    found = look(day.home, day.environment, phrase="Brandywine Mills")
    assert [(place.kind, place.path) for place in found.places if place.kind == "transcript"] == [
        ("transcript", path)
    ]
    assert forget(day.home, found) == []
    untouched = path.read_bytes()
    made.user("Tell Brandywine Mills about the news, please.", "x3", **day.typed(day.project()))
    made.answer(text("I told Brandywine Mills."), name="x4")
    day.store(made, "one")
    with answering(WORDS) as server:
        day.settings = with_model(server)
        day.distil()
        assert server.requests
        assert not [one for one in server.requests if b"Brandywine" in one.body]
    assert not [one for one in vault_files(day) if b"Brandywine" in one.read_bytes()]
    assert path.read_bytes().startswith(untouched)


def vault_files(day: Day) -> list[Path]:
    return list((day.home.root / "memory").rglob("*.md"))


@pytest.mark.parametrize("wrong", ["2031-01-01T00:00:00.000Z", "yesterday", "9999-99-99T00:00:00Z"])
def test_a_clock_that_was_wrong_makes_no_day_of_the_future(day: Day, wrong: str) -> None:
    made = day.started(day.project(), MORNING, "one")
    made.lines[-1] = re.sub(rb'"timestamp":"[^"]*"', f'"timestamp":"{wrong}"'.encode(), made.lines[-1])
    day.store(made, "one")
    [told] = day.distil()
    assert told.outcome == "distilled", told.why
    assert Path(told.file).stem <= "2027-02-01"


def test_a_wait_that_a_wrong_clock_set_is_none(day: Day) -> None:
    day.clock = lambda: 2_000_000_000.0
    day.store(day.started(day.project(), MORNING, "bad"), "bad").write_bytes(b'{"no": "record"}\n')
    assert [one.outcome for one in day.distil()] == ["failed"]
    now = datetime.now(UTC).timestamp()
    [standing] = standings(day.home, day.places, day.found(), now, quiet=False)
    assert standing.state == "due"


MODEL = {"provider": "openai", "model": "m", "retries": 0}
WORDS = """Goal: A longer wait after each 429.
Decisions:
- Exponential backoff, because the server doubles its limit (`sender.py`).
Done:
- The waits double.
Open:
- none"""


def with_model(server: ScriptedServer, **more: object) -> Settings:
    return settings_of(
        {"model": MODEL | {"base_url": f"{server.url}/v1"}, "journal": {"model": True}, **more}
    )


def test_a_model_words_the_entry_and_the_facts_stay(day: Day) -> None:
    day.session()
    with answering(WORDS) as server:
        day.settings = with_model(server)
        day.distil()
        [request] = server.requests
    [entry] = day.entries()
    assert "**Goal.** A longer wait after each 429." in entry.text
    assert "**Commits.** `1a2b3c4` Wait longer after each 429" in entry.text
    assert "worded by `m`" in entry.text
    assert ANSWER.splitlines()[0] in request.prompt


@pytest.mark.parametrize(
    "said",
    [
        WORDS.replace("sender.py", "invented.py"),
        WORDS.replace("double.", "double 90417 times."),
        "Sure! Here it is.",
        WORDS.replace("Open:", "Opened:"),
        "",
    ],
)
def test_an_answer_that_can_not_be_taken_leaves_the_extractive_entry(day: Day, said: str) -> None:
    day.session()
    with answering(said) as server:
        day.settings = with_model(server)
        [told] = day.distil()
    [entry] = day.entries()
    assert f"**Goal.** {PROMPT}" in entry.text
    assert "could not word this entry" in entry.text
    assert told.note
    assert "invented" not in entry.text


def test_a_secret_is_not_sent_to_a_model(day: Day) -> None:
    made = day.started(day.project(), MORNING, "one")
    made.user(f"The token is {SECRET}.", "x1", **day.typed(day.project()))
    made.answer(text(f"I keep {SECRET} in the environment."), name="x2")
    day.store(made, "one")
    with answering(WORDS) as server:
        day.settings = with_model(server)
        day.distil()
        assert server.requests
        assert not [one for one in server.requests if SECRET.encode() in one.body]


def test_without_a_model_one_that_is_demanded_is_refused(day: Day) -> None:
    day.session()
    assert [one.outcome for one in day.distil(demanded=True)] == ["no_model"]
    assert not day.home.root.exists()
    with database(day.home) as connection:
        assert rows(connection) == []


def _long_session(day: Day, parts: int) -> None:
    made = day.started(day.project(), MORNING, "one")
    for number in range(parts):
        made.user(f"Look at part {number} of it, {'really ' * 160}", f"l{number}", **day.typed(day.project()))
        made.answer(text(f"Part {number} is done."), name=f"m{number}")
    day.store(made, "one")


def _piece_by_piece(prompt: str) -> str:
    return "Notes:\n- part of it" if "These are piece" in prompt else WORDS.replace(" (`sender.py`)", "")


def test_a_long_session_is_told_from_its_pieces(day: Day) -> None:
    _long_session(day, 130)
    with answering(_piece_by_piece) as server:
        day.settings = with_model(server)
        day.distil()
        prompts = [one.prompt for one in server.requests]
    assert sum("These are piece" in prompt for prompt in prompts) == 6
    assert PROMPT in prompts[0]
    assert "Part 129" in prompts[5]
    assert "part of it" in prompts[-1]
    assert max(map(len, prompts)) < 40_000
    [entry] = day.entries()
    assert "A longer wait" in entry.text


def test_a_run_that_asks_one_question_leaves_the_rest_to_the_next(day: Day) -> None:
    _long_session(day, 45)
    with answering(_piece_by_piece) as server:
        day.settings = with_model(server)
        said = []
        while "distilled" not in said:
            assert not day.entries()
            [one] = day.distil(step=Step(again=False))
            said.append(one.outcome)
            assert len(server.requests) == len(said)
    assert said == ["later"] * (len(said) - 1) + ["distilled"]
    assert len(said) > 3
    [entry] = day.entries()
    assert "A longer wait" in entry.text
    with database(day.home, write=False) as connection:
        assert [(row.state, row.tries) for row in rows(connection)] == [("told", 0)]


def test_a_request_that_brought_nothing_is_left_to_another_run_as_long_as_one_may_follow(day: Day) -> None:
    day.session()
    with serving(answers(503)) as server:
        day.settings = with_model(server)
        assert [one.outcome for one in day.distil(step=Step(again=True))] == ["later"]
        assert not day.entries()
        assert [one.outcome for one in day.distil(step=Step(again=False))] == ["distilled"]
        assert len(server.requests) == 2
    [entry] = day.entries()
    assert "could not word this entry" in entry.text


def test_the_day_is_the_persons_own(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    import time  # noqa: PLC0415  (its zone is set for this test only)

    day.session("late", at=datetime(2026, 11, 30, 22, 30, tzinfo=UTC))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        [told] = day.distil()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert Path(told.file).name == "2026-12-01.md"
    assert re.search(r"07:3\d–07:4\d UTC\+09:00", day.entries()[0].text)


def test_a_session_that_no_client_has_is_closed_and_waits_for_quiet_only_where_that_is_unsure(
    day: Day,
) -> None:
    path = day.session()
    now = path.stat().st_mtime + 60
    assert [one.state for one in standings(day.home, day.places, day.found(), now)] == ["quiet"]
    (day.places.claude / "sessions").mkdir()
    assert [one.state for one in standings(day.home, day.places, day.found(), now)] == ["due"]
    from coffer.disk.live import start_mark  # noqa: PLC0415  (only this test needs it)

    mine = {"pid": os.getpid(), "procStart": start_mark(os.getpid()), "sessionId": "one", "status": "idle"}
    registry = day.places.claude / "sessions" / f"{os.getpid()}.json"
    registry.write_text(json.dumps(mine))
    assert [one.state for one in standings(day.home, day.places, day.found(), now)] == ["open"]
    registry.write_text(json.dumps(mine | {"procStart": "1"}))  # kill -9 leaves it behind
    assert [one.state for one in standings(day.home, day.places, day.found(), now)] == ["due"]
    day.distil()
    assert standings(day.home, day.places, day.found(), now) == []
