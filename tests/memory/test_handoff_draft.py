"""Drafts of handoffs, from a session as the real client wrote it: what they hold, and what they never replace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from coffer.core.forget import FORGOTTEN
from coffer.core.handoff import Handoff, over, parsed, written
from coffer.core.handoff_draft import draft_of
from coffer.core.since import told
from coffer.core.steps import AGENT, PERSON, Happened, Planned, Said, Stopped, Story, Touched
from coffer.store.db import DONE, database, receipts
from coffer.store.forgotten import keep_forgotten
from coffer.work.memory.forget import forget, look
from coffer.work.memory.handoff import By, current, kept, set_handoff, undo_handoff
from coffer.work.memory.handoff_draft import Drafted, draft, draft_story
from coffer.work.memory.resume import resume_of
from coffer.work.memory.story import tell
from tests.memory.repositories import commit, git
from tests.memory.test_handoff import SECRET, Desk

STARTED = datetime(2026, 11, 30, 8, 44, 14, tzinfo=UTC)
ENDED = datetime(2026, 11, 30, 8, 46, tzinfo=UTC)
PERSON_SAID = By("person")


def sample() -> bytes:
    return files("coffer").joinpath("sample/claude-session.jsonl").read_bytes()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def session(desk: Desk) -> Path:
    """The sample session, as if it had happened in the project."""
    path = desk.user / "session.jsonl"
    path.write_bytes(sample().replace(b"/home/dev/work", os.fsencode(desk.tide)))
    return path


def drafted(desk: Desk, path: Path, now: datetime = ENDED) -> Drafted:
    return draft(desk.home, desk.user, path, os.environ, now)


def test_a_draft_says_what_the_session_left(desk: Desk, session: Path) -> None:
    (desk.tide / "CHANGES.md").write_text("x")
    done = drafted(desk, session)
    assert (done.outcome, done.branch) == ("written", "main")
    entry = current(desk.place(), "main")
    assert entry is not None
    assert (entry.source, entry.agent) == ("distil", "claude")
    made = parsed(entry.text)
    assert "tidepool" in made.goal
    assert "Write down where we are" in made.state
    assert "> 32 tests pass." in made.state
    assert made.files[0] == "CHANGES.md"
    assert not made.next_steps, "a check that failed and passed later is nothing to do"
    said = told(resume_of(desk.place()), (ENDED + timedelta(hours=2)).timestamp())
    assert "drafted from a session of Claude Code 2 hours ago" in said
    assert "It is a draft that Coffer made" in said
    assert len(said.encode()) < 4_096


def test_a_draft_is_made_anew_in_its_place_and_taken_back_whole(desk: Desk, session: Path) -> None:
    desk.set("By an agent, before the session", hours=-12)
    whole = session.read_bytes()
    lines = whole.splitlines(keepends=True)
    session.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert drafted(desk, session).outcome == "written"
    session.write_bytes(whole)
    second = drafted(desk, session)
    assert second.outcome == "written"
    assert drafted(desk, session).outcome == "same"
    assert len(kept(desk.place(), "main")) == 1, "the states of one draft do not pile up"
    with database(desk.home) as connection:
        assert len(receipts(connection, str(second.path), DONE)) == 2
    assert second.receipt is not None
    undo_handoff(second.receipt, desk.home)
    entry = current(desk.place(), "main")
    assert entry is not None
    assert parsed(entry.text).goal == "By an agent, before the session"


@pytest.mark.parametrize(
    ("by", "minutes", "outcome"),
    [
        (By("agent", "claude", "s"), -60, "written"),
        (By("agent", "claude", "s"), 1, "kept"),
        (PERSON_SAID, -60, "written"),
        (PERSON_SAID, 1, "kept"),
        (PERSON_SAID, 600, "kept"),
        (By("distil", "codex", "another"), -60, "written"),
        (By("distil", "codex", "another"), 1, "written"),
        (By("distil", "codex", "another"), 600, "kept"),
    ],
)
def test_what_a_draft_replaces(desk: Desk, by: By, minutes: int, outcome: str) -> None:
    set_handoff(desk.place(), Handoff("There before"), by, STARTED + timedelta(minutes=minutes))
    work = story(desk, *TALK, Touched("a.py", "edited"))
    done = draft_story(desk.home, desk.user, work, os.environ, ENDED + timedelta(days=1))
    assert done.outcome == outcome
    entry = current(desk.place(), "main")
    assert entry is not None
    assert ("There before" in entry.text) is (outcome == "kept")


def story(desk: Desk, *steps: object, **more: object) -> Story:
    made = Story("codex", [Happened(step, "", at) for at, step in enumerate(steps)], "s")  # type: ignore[arg-type]
    made.folders[str(desk.tide)] = 1
    made.started, made.ended = STARTED.isoformat(), ENDED.isoformat()
    for name, value in more.items():
        setattr(made, name, value)
    return made


def asked(text: str) -> Said:
    return Said(PERSON, text)


def test_a_look_into_another_repository_at_the_end_drafts_nothing_there(desk: Desk) -> None:
    other = desk.user / "boat"
    other.mkdir()
    git(other, "init", "-q", "-b", "sails")
    commit(other, "a.py", "1", "Sail")
    steps = (asked("Draw the axis."), Touched("src/chart.py", "edited"), Said(AGENT, "The axis is drawn."))
    at, there = str(desk.tide), str(other)
    told_of = story(
        desk, *steps, folders={at: 9, there: 1}, branch="sails", branches={at: "main", there: "sails"}
    )
    done = draft_story(desk.home, desk.user, told_of, os.environ, ENDED)
    assert (done.outcome, done.branch) == ("written", "main")
    assert current(desk.place(), "main") is not None


TALK = (asked("What time is it in Esbjerg when the tide turns?"), Said(AGENT, "At nine."))


def test_words_that_were_forgotten_are_in_no_draft(desk: Desk, session: Path) -> None:
    keep_forgotten(desk.home, ["tidepool"], {})
    assert drafted(desk, session).outcome == "written"
    entry = current(desk.place(), "main")
    assert entry is not None
    assert FORGOTTEN in entry.text
    assert "tidepool" not in entry.text


def test_a_draft_that_was_forgotten_is_not_made_again_of_what_was_said_until_then(
    desk: Desk, session: Path
) -> None:
    for noted, outcome in ((ENDED, "nothing"), (STARTED - timedelta(hours=1), "written")):
        (desk.home.root / "forgotten.json").unlink(missing_ok=True)
        assert drafted(desk, session).outcome == "written"
        entry = current(desk.place(), "main")
        assert entry is not None
        found = look(desk.home, {"HOME": str(desk.user)}, entry=entry.id)
        assert forget(desk.home, found, noted + timedelta(minutes=5)) == []
        assert drafted(desk, session).outcome == outcome


COUNTING = """
import json, sys
opened = []
sys.addaudithook(lambda event, said: opened.append(str(said[0])) if event == "open" else None)
from coffer.daemon.job import distil
done = distil(json.loads(sys.argv[1]))
print(json.dumps([done, sum(sys.argv[2] in name and name.endswith(".jsonl") for name in opened)]))
"""
"""Does the job that it is given, and counts how often a session's transcript was opened."""


def test_a_closed_session_gets_its_draft_with_its_journal(desk: Desk, session: Path) -> None:
    folder = desk.user / ".claude" / "projects" / "-x"
    folder.mkdir(parents=True)
    hour_ago = f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H}".encode()
    session.write_bytes(session.read_bytes().replace(b"2026-11-30T08", hour_ago))
    path = session.rename(folder / "13cec6bf-425f-4e7c-ad60-fc0d33007189.jsonl")
    said = {
        "agent": "claude",
        "id": path.stem,
        "path": str(path),
        "kind": "main",
        "size": path.stat().st_size,
    }
    environment = {"HOME": str(desk.user), "PATH": os.environ["PATH"]}
    (desk.user / ".coffer").mkdir(exist_ok=True)  # as a daemon, which starts the job, has it
    told_of = [{**said, "modified": path.stat().st_mtime}]
    job = json.dumps({"environment": environment, "sessions": told_of})
    ran = subprocess.run(
        [sys.executable, "-c", COUNTING, job, path.stem], capture_output=True, text=True, check=True
    )
    done, opened = json.loads(ran.stdout)
    assert (done["outcomes"], done["problems"]) == ({"distilled": 1}, [])
    assert opened == 2, "once for the entry and the draft, once for the anchor at its end"
    entry = current(desk.place(), "main")
    assert entry is not None
    assert entry.source == "distil"
    assert "a journal up to 20" in told(resume_of(desk.place(), "none"), ENDED.timestamp())


def test_talk_replaces_only_drafts(desk: Desk) -> None:
    def do(now: datetime = ENDED) -> str:
        return draft_story(desk.home, desk.user, story(desk, *TALK), os.environ, now).outcome

    assert do() == "written"
    desk.set("Real work", hours=-12)
    assert do() == "kept"
    work = story(desk, *TALK, Touched(str(desk.tide / "a.py"), "edited"))
    assert draft_story(desk.home, desk.user, work, os.environ, ENDED).outcome == "written"


def test_nothing_to_tell(desk: Desk) -> None:
    def outcome(told_of: Story) -> str:
        return draft_story(desk.home, desk.user, told_of, os.environ, ENDED).outcome

    assert outcome(story(desk)) == "nothing"
    assert outcome(story(desk, *TALK, subagent=True)) == "nothing"
    assert outcome(story(desk, *TALK, folders={str(desk.user): None})) == "no_project"
    assert not desk.home.root.exists()


def test_what_is_past_is_left_to_the_journal(desk: Desk) -> None:
    work = story(desk, *TALK, Touched("a.py", "edited"), branch="topic")
    assert draft_story(desk.home, desk.user, work, os.environ, ENDED).outcome == "past", "its branch is gone"
    git(desk.tide, "branch", "topic")
    assert draft_story(desk.home, desk.user, work, os.environ, ENDED + timedelta(days=15)).outcome == "past"
    assert draft_story(desk.home, desk.user, work, os.environ, ENDED).outcome == "written"


def test_what_is_left_at_the_end(desk: Desk) -> None:
    made = draft_of(
        story(
            desk,
            asked("Make the chart wider, and add a test."),
            Planned(("widen it", "add a test")),
            Touched(str(desk.tide / "src/my chart.py"), "edited"),
            Said(AGENT, "I widened it. Should the legend move too?"),
        )
    )
    assert made is not None
    assert made.next_steps == ("widen it", "add a test")
    assert made.files == ("`src/my chart.py`",)
    assert made.open_questions == ("Should the legend move too?",)
    stopped = draft_of(story(desk, asked("Make the chart wider."), Stopped()))
    assert stopped is not None
    assert "interrupted" in stopped.next_steps[0]


def test_a_secret_in_a_session_is_in_no_draft(desk: Desk, session: Path) -> None:
    secret = SECRET.encode()
    session.write_bytes(
        session.read_bytes().replace(b"Write down where we are", b"Keep " + secret + b" in mind")
    )
    assert drafted(desk, session).outcome == "written"
    files_there = [path for path in desk.home.root.rglob("*") if path.is_file()]
    assert files_there
    assert not [path for path in files_there if secret in path.read_bytes()]


def test_a_draft_is_always_within_the_limits(desk: Desk) -> None:
    long = "善は急げと申しますが、" * 400
    many = [Touched(f"{desk.tide}/{'目' * 60}{number}.py", "edited") for number in range(50)]
    plan = Planned(tuple(f"{number} {long}" for number in range(50)))
    made = draft_of(story(desk, asked(long), asked(long), plan, *many, Said(AGENT, long + "？")))
    assert made is not None
    assert not over(written(made))
    assert parsed(written(made)).files == made.files


def test_a_late_draft_speaks_of_its_own_time(desk: Desk, session: Path) -> None:
    at = STARTED.isoformat()
    git(desk.tide, "-c", f"user.name={at}", "commit", "-q", "--allow-empty", "-m", "x")
    (desk.tide / "CHANGES.md").write_text("x")
    os.utime(desk.tide / "CHANGES.md", (STARTED.timestamp(), STARTED.timestamp()))
    (desk.tide / "src" / "tidepool").mkdir(parents=True)
    (desk.tide / "src" / "tidepool" / "chart.py").write_text("x")
    later = datetime.now(UTC) + timedelta(days=3)
    os.utime(desk.tide / "src" / "tidepool" / "chart.py", (later.timestamp(), later.timestamp()))
    assert drafted(desk, session, ENDED + timedelta(days=2)).outcome == "written"
    entry = current(desk.place(), "main")
    assert entry is not None
    assert entry.time < "2026-11-30T08:47"
    states = {one.path: one.state for one in resume_of(desk.place()).since.files}
    assert states["CHANGES.md"] == "same"
    assert states["src/tidepool/chart.py"] == "changed"
    assert states["src/tidepool/cli.py"] == "gone"


def test_the_branch_of_the_session_and_not_the_one_that_is_checked_out(desk: Desk, session: Path) -> None:
    commit(desk.tide, "a", "1", "one")
    git(desk.tide, "switch", "-qc", "elsewhere")
    assert drafted(desk, session).branch == "main"
    assert "- main (drafted from" in told(resume_of(desk.place()), ENDED.timestamp())
    assert tell(session).story.branch == "main"
