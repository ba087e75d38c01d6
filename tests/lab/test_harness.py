"""The gate against the real client as it is now: scenes captured anew, and a live session looked at from outside."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.store.hook_events import kept_hooks
from coffer.work.guarding.gate import judge_folder, judge_session
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude_stage import GREETINGS, pause
from tests.lab.harness import Harness
from tests.lab.harness_screen import SLOW
from tests.lab.make_harness_fixtures import play

SCENES = ("cron-no-stop", "put-back", "shell-stopped")
"""One whose work only the transcript shows, one that only the screen shows, one that leaves a stale Stop."""


@pytest.mark.usefixtures("claude_binary")
@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_captured_now_is_judged_as_its_truth_says(scene: str, tmp_path: Path) -> None:
    folder = tmp_path / "first"
    try:
        taken = play(scene, folder)
    except TimeoutError:  # on a busy machine a client may lose what is typed at it: that is no verdict
        folder = tmp_path / "second"
        taken = play(scene, folder)
    assert taken
    for name in taken:
        told = json.loads((folder / name / "expect.json").read_bytes())
        verdict = judge_folder(folder / name)
        assert verdict.write.safe == told["safe"], [each.evidence for each in verdict.write.blockers]


@pytest.mark.usefixtures("claude_binary")
def test_a_live_session_is_safe_when_it_is_idle_and_not_while_it_works(tmp_path: Path) -> None:
    with (
        AnthropicServer({}) as server,
        Harness.at(tmp_path / "lab", server, tmp_path / "shots", []) as harness,
        harness.home.interactive() as screen,
    ):
        harness.stage.play({**GREETINGS, **SLOW})
        harness.stage.say(screen, "Please greet the apple.", "Greeted apple")
        transcript = harness.home.transcripts()[-1]
        home = Home(tmp_path / "coffer")
        events = kept_hooks(home, transcript.stem)
        events.parent.mkdir(parents=True)
        events.symlink_to(harness.home.root / "hooks.jsonl")
        places = Places(harness.home.config, tmp_path / "codex")

        def blockers() -> set[str]:
            painted = screen.tmux("capture-pane", "-p", "-t", "lab")
            return {each.kind for each in judge_session(transcript, places, home, painted).type.blockers}

        until = time.monotonic() + 60
        while blockers() and time.monotonic() < until:
            pause(0.2)
        assert blockers() == set()
        screen.type("half a thought")
        pause(0.7)
        assert blockers() == {"input"}
        screen.key("C-u")
        pause(0.7)
        screen.send("Please think for long.")
        harness.home.wait_status("busy")
        assert "turn" in blockers()
