"""Delivery while the daemon is killed again and again, and what a cold start costs a session."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from coffer.store.deliveries import Delivery
from tests.daemon.rig import eventually
from tests.lab import matrix_claude, matrix_codex
from tests.lab.delivery_page import figure
from tests.lab.matrix_stage import Stage, chosen, once, staged

pytestmark = pytest.mark.lab

EVERY = 5.0
"""Seconds between two kills."""
RUNS = 5


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("faults"), "--no-mcp") as made:
        yield made


def test_a_daemon_that_is_killed_again_and_again_costs_nothing(stage: Stage) -> None:
    """No session fails, no rule is missing at the next event, no receipt is lost."""
    stage.bring("cold")
    stage.patience(True)
    stage.anthropic.play({})
    lasts = 120.0 if chosen() else 20.0
    until, over = time.monotonic() + lasts, threading.Event()
    with ThreadPoolExecutor(3) as pool:
        killed = pool.submit(kill_often, stage, over)
        ran = [pool.submit(one, stage, until) for one in (of_claude, of_codex)]
        try:
            spans = [span for one in ran for span in one.result()]
        finally:
            over.set()
        kills = killed.result()
    stage.recover()
    eventually(lambda: not list((stage.rig.home.root / "spool").glob("[0-9]*")))
    eventually(lambda: all(one.state != "sent" for one in stage.rig.deliveries()))
    for began, ended, agent, source in spans:
        mine = [one for one in stage.rig.deliveries() if one.agent == agent and began <= one.moment <= ended]
        assert kept(mine, agent, source), (agent, source, [(one.event, one.state) for one in mine])
    assert kills >= lasts / EVERY / 2
    figure(
        "killed",
        f"{lasts:.0f} s, {kills} kills, {len(spans)} sessions and resumes: none failed, each request held each hard "
        "rule once, each answer has its receipt",
    )


def kept(mine: list[Delivery], agent: str, source: str) -> bool:
    """Whether what a session got has its receipt. Codex is told nothing at a resume without a daemon."""
    states = [one.state for one in mine if one.event == f"SessionStart:{source}"]
    if source == "startup":
        return "confirmed" in states
    return set(states) <= {"held"} and (bool(states) or agent == "codex")


def kill_often(stage: Stage, over: threading.Event) -> int:
    """kill -9 of every daemon of this home, every few seconds; how many that were."""
    killed = 0
    while not over.wait(EVERY):
        for process in stage.rig.daemons():
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
            killed += 1
    return killed


Span = tuple[float, float, str, str]
"""(began, ended, agent, source) of a run."""


def of_claude(stage: Stage, until: float) -> list[Span]:
    spans, session = [], ""
    while time.monotonic() < until:
        source, began = "resume" if session else "startup", time.time()
        done = stage.claude.run("-p", "go on", *(("--resume", session) if session else ()))
        assert done.rc == 0, done.stdout + done.stderr
        once(matrix_claude.shown(done.requests))
        spans.append((began, time.time(), "claude", source))
        session = "" if session else done.session_id
    return spans


def of_codex(stage: Stage, until: float) -> list[Span]:
    spans, thread = [], ""
    while time.monotonic() < until:
        source, began = "resume" if thread else "startup", time.time()
        done = stage.codex.exec(*(("resume", thread) if thread else ()), prompt="go on")
        assert done.rc == 0, done.stderr
        once(matrix_codex.shown(done.requests))
        spans.append((began, time.time(), "codex", source))
        thread = "" if thread else stage.codex.thread()
    return spans


@pytest.mark.skipif(not chosen(), reason="with COFFER_MATRIX=all: it is measured, and nothing is asked of it")
def test_what_a_cold_start_costs(stage: Stage) -> None:
    path = stage.claude.config / "settings.json"
    installed = path.read_bytes()
    bare = {name: said for name, said in json.loads(installed).items() if name != "hooks"}
    stage.bring("cold")

    def took(prepare: Callable[[], object]) -> float:
        stage.rig.end()
        prepare()
        began = time.monotonic()
        done = stage.claude.run("-p", "hello")
        assert done.rc == 0, done.stderr
        return time.monotonic() - began

    without, cold = [], []
    for _ in range(RUNS + 1):  # the first of each fills the caches
        without.append(took(lambda: stage.claude.set_settings(bare)))
        cold.append(took(lambda: path.write_bytes(installed)))
    before, after = statistics.median(without[1:]), statistics.median(cold[1:])
    figure(
        "startup",
        f"{before:.2f} s → {after:.2f} s, medians of {RUNS} each: {after - before:+.2f} s (the limit is 0.8 s)",
    )
