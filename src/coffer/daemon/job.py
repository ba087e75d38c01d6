"""The worker's side: one job from stdin, its answer on stdout, then gone with all the memory that it took.

Run as `python -P -m coffer.daemon.job`. It outlives a killed daemon only until its job is done or its time is up:
what it has begun to write, it writes.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coffer.core.steps import Story
from coffer.disk.places import Places
from coffer.disk.sessions import Found
from coffer.errors import CofferError
from coffer.store.home import Home
from coffer.work.guarding.keep import keep
from coffer.work.memory.handoff_draft import OLDEST, draft, draft_story
from coffer.work.rules.ask import Asker
from coffer.work.rules.effective import user_home
from coffer.work.rules.learn import Learning
from coffer.work.settings import load

NICE = 10
_LATER = 10
"""Seconds after the daemon would have killed it: by then there is no daemon."""


def main() -> None:
    """Do the job that stdin holds."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints must not stand in the answer
    os.nice(NICE)
    gc.disable()  # as in cli.main: it lives for a second
    job = json.loads(sys.stdin.buffer.read())
    signal.alarm(int(job["seconds"]) + _LATER)
    try:
        answer = JOBS[job["job"]](job)
    except CofferError as error:
        answer = {"error": str(error), "kind": type(error).__name__}
    with os.fdopen(answers, "wb") as out:
        out.write(json.dumps(answer).encode())


def learn(job: dict[str, Any]) -> dict[str, Any]:
    """Learn from what is new in some sessions."""
    environment: dict[str, str] = job["environment"]
    home, places = _home(environment), Places.of(environment)
    settings = load(home)
    asker = Asker(settings, home, environment)
    learning = Learning(home, places, environment, settings.digest, asker, datetime.now(UTC))
    learned = learning.run([_found(said) for said in job["sessions"]])
    return {
        "sessions": learned.sessions,
        "turns": len(learned.turns),
        "states": dict(learned.states()),
        "changes": {path: len(changes) for path, changes in learned.changes.items() if changes},
        "receipts": [receipt.id for receipt in learned.receipts],
        "projects": sorted({turn.project for turn in learned.turns if turn.project}),
        "problems": learned.problems,
    }


def keep_state(job: dict[str, Any]) -> dict[str, Any]:
    """Save what a compaction would lose of a session."""
    environment: dict[str, str] = job["environment"]
    moment = datetime.fromtimestamp(job["time"], UTC)
    saved = keep(_home(environment), Path(job["path"]), Places.of(environment), job["why"], moment)
    return {
        "checkpoint": saved.checkpoint.id if saved.checkpoint is not None else "",
        "trouble": saved.trouble,
    }


def draft_handoff(job: dict[str, Any]) -> dict[str, Any]:
    """Draft the handoff of a session that may be compacted."""
    environment: dict[str, str] = job["environment"]
    return {
        "outcome": draft(_home(environment), user_home(environment), Path(job["path"]), environment).outcome
    }


def distil(job: dict[str, Any]) -> dict[str, Any]:
    """Write some closed sessions into the journal, and draft the handoffs of those that wrote none."""
    from coffer.work.memory.distil import Distiller  # noqa: PLC0415  (learning, which people wait for, needs none of it)
    from coffer.work.memory.distil_model import Step  # noqa: PLC0415
    from coffer.work.memory.distil_result import DISTILLED, FAILED  # noqa: PLC0415

    environment: dict[str, str] = job["environment"]
    home = _home(environment)
    sessions = [_found(said) for said in job["sessions"]]
    step = Step(again=job["again"]) if "again" in job else None
    distiller = Distiller(home, environment, load(home), step=step)
    recent = {str(one.path) for one in sessions if time.time() - one.modified < OLDEST}
    outcomes: dict[str, int] = {}
    told = []
    for one in distiller.each(sessions):
        outcomes[one.outcome] = outcomes.get(one.outcome, 0) + 1
        if one.note or one.outcome == FAILED:
            told.append(f"{one.agent} {one.session}: {one.note or one.why}")
        if one.outcome == DISTILLED and one.path in recent:
            told += _undrafted(home, one.path, one.story, environment)
    later = distiller.later
    asked = {"answered": later.answered, "wait": later.wait} if later is not None else None
    return {"outcomes": outcomes, "problems": told, "later": asked}


def _undrafted(home: Home, path: str, story: Story | None, environment: dict[str, str]) -> list[str]:
    """Draft a closed session's handoff; why it could not be, nothing where it was or need not be.

    story: None where nobody read it in this run, since a dead one had written its entry.
    """
    try:
        if story is not None:
            draft_story(home, user_home(environment), story, environment)
        else:
            draft(home, user_home(environment), Path(path), environment)
    except CofferError as error:
        return [f"{path}: no handoff was drafted. {error}"]
    return []


def guard(job: dict[str, Any]) -> dict[str, Any]:
    """Do what is due in one session of Claude Code, if it may be done now."""
    from coffer.work.guarding.attend import Due, attend  # noqa: PLC0415  (as above)
    from coffer.work.guarding.guard import Wish  # noqa: PLC0415
    from coffer.work.guarding.guarded import Guarded  # noqa: PLC0415

    environment: dict[str, str] = job["environment"]
    session = Guarded(
        Path(job["transcript"]), Home(Path(job["home"]), stands=True), Places.of(environment), environment
    )
    wish = Wish(**job["wish"]) if job["wish"] is not None else None
    return attend(session, Due(wish, tuple(job["acted"])), time.time()).as_json()


def _home(environment: Mapping[str, str]) -> Home:
    return replace(Home.of(environment), stands=True)


def _found(said: dict[str, Any]) -> Found:
    return Found(said["agent"], said["id"], Path(said["path"]), said["kind"], said["size"], said["modified"])


JOBS = {"learn": learn, "keep": keep_state, "draft": draft_handoff, "distil": distil, "guard": guard}

if __name__ == "__main__":
    main()
