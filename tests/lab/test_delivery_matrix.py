"""The delivery matrix: at each event, with the daemon in each state, the model holds every hard rule exactly once.

A test is a story: sessions in which several events happen one after the other. `make delivery` writes what they find
into docs/delivery.md; any other run compares.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.lab import clients, matrix_claude, matrix_codex
from tests.lab.delivery_page import PAGE, cells_of
from tests.lab.matrix_cells import EVENTS, IMPOSSIBLE, OUTCOMES, STATES, State
from tests.lab.matrix_stage import Stage, staged

pytestmark = pytest.mark.lab

STORIES: dict[str, Callable[[Stage], None]] = {
    "claude runs": matrix_claude.runs,
    "claude on the screen": matrix_claude.on_screen,
    "claude gets hooks": matrix_claude.added_hooks,
    "codex runs": matrix_codex.runs,
    "codex on the screen": matrix_codex.on_screen,
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("matrix"), "--no-mcp") as made:
        yield made


ALL = os.environ.get("COFFER_MATRIX") == "all"
CELLS = [
    (story, state)
    for story in STORIES
    for state in STATES
    if ALL or "on the screen" not in story or state in ("up", "cold")
]
"""What runs without COFFER_MATRIX=all: on the screen, where a story takes longest, two of the four states."""


@pytest.mark.parametrize(("story", "state"), CELLS)
def test_each_event_delivers_every_hard_rule_once(stage: Stage, story: str, state: State) -> None:
    stage.bring(state)
    STORIES[story](stage)
    found = stage.settle()
    stage.end()
    assert stage.anthropic.breaches == []
    assert stage.openai.breaches == []
    kept = os.environ.get("COFFER_MATRIX_FOLDER")
    if kept:
        lines = [json.dumps(asdict(one)) for one in found]
        (Path(kept) / f"cells-{uuid.uuid4().hex}.jsonl").write_text("\n".join(lines) + "\n")
        return
    page = cells_of(PAGE.read_text())
    assert {one.name: page[one.name] for one in found} == {one.name: one.outcome for one in found}


@pytest.mark.skipif("COFFER_MATRIX_FOLDER" in os.environ, reason="the page is written from this run")
def test_the_page_has_each_cell() -> None:
    """What it says was found by the clients that the lab drives, and is what the tests want."""
    text = PAGE.read_text()
    wanted = {
        (*event, state): OUTCOMES[event][state] for event in set(EVENTS) - set(IMPOSSIBLE) for state in STATES
    }
    assert cells_of(text) == wanted
    for client in clients.CLIENTS.values():
        assert client.version in text
    assert all(reason in text for reason in IMPOSSIBLE.values())
