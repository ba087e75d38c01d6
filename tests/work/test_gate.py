"""The gate on what is on disk now, and the folder that is kept of it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from coffer.disk.live import start_mark
from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.store.hook_events import keep, kept_hooks
from coffer.work.guarding.gate import capture, judge_folder, judge_session
from coffer.work.guarding.instant import Instant, Read, as_objects, from_disk, from_folder

IDLE = Path(__file__).parents[1] / "fixtures" / "harness" / "idle"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Live:
    """A session as the client leaves it on disk, held by this very process."""

    def __init__(self, root: Path, folder: Path = IDLE) -> None:
        told = from_folder(folder)
        self.folder = folder
        self.root = root
        self.places = Places(root / ".claude", root / ".codex")
        self.home = Home(root / ".coffer")
        self.session = told.session
        self.transcript = self.places.claude / "projects" / "-home-dev-work" / f"{told.session}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.transcript.write_bytes((folder / "transcript.jsonl").read_bytes())
        self.age(5)
        self.registry = self.places.claude / "sessions" / f"{os.getpid()}.json"
        self.registry.parent.mkdir()
        self.register()
        hooks = kept_hooks(self.home, told.session)
        for event in as_objects((folder / "hooks.jsonl").read_bytes()):
            keep(self.home, event["event"], event["stdin"], event["ts"])
        self.hooks = hooks
        (root / "work").mkdir()

    def register(self, **changed: object) -> None:
        said = json.loads((self.folder / "registry.json").read_bytes())
        mine = {"pid": os.getpid(), "procStart": start_mark(os.getpid()), "cwd": str(self.root / "work")}
        self.registry.write_text(json.dumps({**said, **mine, **changed}))

    def age(self, seconds: float) -> None:
        then = time.time() - seconds
        os.utime(self.transcript, (then, then))

    def kinds(self, screen: str | None = None) -> list[str]:
        verdict = judge_session(self.transcript, self.places, self.home, screen)
        return [each.kind for each in verdict.write.blockers]


@pytest.fixture
def live(tmp_path: Path) -> Live:
    return Live(tmp_path)


def test_a_live_idle_session_may_be_written_and_typed_at(live: Live) -> None:
    screen = (IDLE / "screen.txt").read_text("utf-8")
    verdict = judge_session(live.transcript, live.places, live.home, screen)
    assert verdict.write.safe
    assert verdict.type.safe


def test_without_kept_events_it_says_so(live: Live) -> None:
    live.hooks.unlink()
    assert live.kinds() == ["hooks"]


def test_a_process_that_began_at_another_time_is_another(live: Live) -> None:
    live.register(procStart="1")
    assert live.kinds() == ["process"]


def test_a_file_that_is_being_written_blocks(live: Live) -> None:
    live.age(0)
    assert live.kinds() == ["warm"]


def test_a_file_that_grows_while_it_is_read_blocks(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that begins during the reading of a large file must not be judged by the file as it was."""
    read = Instant.read

    def grow(self: Instant) -> Read:
        found = read(self)
        with live.transcript.open("a") as file:
            file.write('{"type":"mode","mode":"normal"}\n')
        live.age(3)
        return found

    monkeypatch.setattr(Instant, "read", grow)
    assert live.kinds() == ["tail"]


def test_schedules_of_the_sessions_folder_block(live: Live) -> None:
    folder = live.root / "work" / ".claude"
    folder.mkdir()
    (folder / "scheduled_tasks.json").write_text('{"tasks": [{"id": "a1"}]}')
    assert live.kinds() == ["schedule"]


def test_schedules_of_the_project_block_in_a_worktree_too(live: Live) -> None:
    project, tree = live.root / "project", live.root / "tree"
    git = ["git", "-C", str(project), "-c", "user.name=d", "-c", "user.email=d@x.invalid"]
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True)
    live.registry.write_text(json.dumps({**json.loads(live.registry.read_bytes()), "cwd": str(tree)}))
    for folder in (project, tree):
        (folder / ".claude").mkdir()
        (folder / ".claude" / "scheduled_tasks.json").write_text('{"tasks": []}')
    assert live.kinds() == []
    (project / ".claude" / "scheduled_tasks.json").write_text('{"tasks": [{"id": "a1"}]}')
    assert live.kinds() == ["schedule"]


@pytest.mark.parametrize("name", ["cleared-over-cron", "branched-over-cron"])
def test_what_another_session_left_in_the_process_blocks_until_it_is_told_gone(
    name: str, tmp_path: Path
) -> None:
    live = Live(tmp_path, IDLE.with_name(name))
    assert live.kinds() == ["schedule"]
    before = next(path for path in live.hooks.parent.glob("*.jsonl") if path != live.hooks)
    before.write_text(before.read_text().replace('"session_crons": [{', '"session_crons": [], "before": [{'))
    assert live.kinds() == []


def test_another_sessions_registry_file_is_nobodys_business(live: Live) -> None:
    other = live.registry.with_name("1.json")
    other.write_text(json.dumps({"sessionId": "s-2", "status": "busy"}))
    assert live.kinds() == []


@pytest.mark.parametrize("where", [".claude/settings.json", ".claude.json"])
def test_vim_is_known_from_the_persons_settings(live: Live, where: str) -> None:
    (live.root / where).write_text('{"editorMode": "vim"}')
    verdict = judge_session(live.transcript, live.places, live.home, (IDLE / "screen.txt").read_text("utf-8"))
    assert verdict.write.safe
    assert [each.kind for each in verdict.type.blockers] == ["editor"]


def test_a_kept_folder_is_judged_as_the_session_was(live: Live, tmp_path: Path) -> None:
    target = tmp_path / "kept"
    verdict = capture(from_disk(live.transcript, live.places, live.home), target, live.root)
    assert verdict.write.safe
    assert judge_folder(target).write.safe
    live.register(status="waiting", waitingFor="permission prompt")
    capture(from_disk(live.transcript, live.places, live.home), target, live.root)
    assert [each.kind for each in judge_folder(target).write.blockers] == ["dialog"]


def test_a_kept_folder_holds_no_secret_no_home_and_no_long_text(live: Live, tmp_path: Path) -> None:
    told = {"type": "user", "uuid": "u", "message": {"role": "user", "content": f"{SECRET} in {live.root}/x"}}
    long = {"type": "user", "uuid": "v", "message": {"role": "user", "content": "word " * 5_000}}
    with live.transcript.open("a") as file:
        file.writelines(json.dumps(each) + "\n" for each in (told, long))
    target = tmp_path / "kept"
    capture(from_disk(live.transcript, live.places, live.home), target, live.root)
    kept = b"".join(path.read_bytes() for path in target.rglob("*") if path.is_file()).decode()
    assert SECRET not in kept
    assert str(live.root) not in kept
    assert "/home/dev/x" in kept
    assert "word " * 100 not in kept


def test_a_torn_end_stays_torn_in_the_folder(live: Live, tmp_path: Path) -> None:
    with live.transcript.open("a") as file:
        file.write('{"type":"user","uu')
    live.age(5)
    target = tmp_path / "kept"
    verdict = capture(from_disk(live.transcript, live.places, live.home), target, live.root)
    assert [each.kind for each in verdict.write.blockers] == ["tail"]
    assert "tail" in [each.kind for each in judge_folder(target).write.blockers]


def test_a_folder_that_says_nothing_blocks(tmp_path: Path) -> None:
    verdict = judge_folder(tmp_path)
    assert not verdict.write.safe
    assert {each.kind for each in verdict.write.blockers} >= {"process", "hooks", "tail"}
    (tmp_path / "proc.json").write_text("[]")
    (tmp_path / "registry.json").write_text("null")
    (tmp_path / "hooks.jsonl").write_bytes(b"\xff\n[]\n{}\n")
    (tmp_path / "transcript.jsonl").write_bytes(b"\0\0\n[1]\n")
    (tmp_path / "screen.txt").write_bytes(b"\xff\xfe")
    assert not judge_folder(tmp_path).write.safe
