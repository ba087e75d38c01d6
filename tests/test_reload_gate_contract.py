"""The standing test of the reload gate: real instants, judged; and every word of the table, drifted.

The fixtures are captured from the real client by `make fixtures`; what is true of each is stated by its scene, not
by the gate. Two failures count alike: an unsafe instant that passes, and a safe one that is blocked. A word that
drifts (other case, camel for snake, another name) must make the gate block or this test fail, never pass.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from coffer.core.evidence import Evidence
from coffer.core.markers import EVENTS, MARKERS, VERSIONS, Effect, Marker
from coffer.core.safepoint import judge
from coffer.work.guarding.gate import judge_folder
from coffer.work.guarding.instant import Instant, from_folder
from tests.effort import examples
from tools import guard_table

HARNESS = Path(__file__).parent / "fixtures" / "harness"
FOLDERS = sorted(path for path in HARNESS.iterdir() if path.is_dir())
INSTANTS = pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
FEWEST = 35

FILES = {
    "registry": ("registry*.json",),
    "status": ("registry*.json",),
    "kind": ("registry*.json",),
    "entrypoint": ("registry*.json",),
    "stdin": ("hooks.jsonl",),
    "load": ("hooks.jsonl",),
    "task": ("hooks.jsonl",),
    "event": ("hooks.jsonl",),
    "notification": ("hooks.jsonl",),
    "call": ("transcript.jsonl", "subagents/**/*.jsonl"),
    "result": ("transcript.jsonl", "subagents/**/*.jsonl"),
    "carrier": ("transcript.jsonl",),
    "shape": ("transcript.jsonl", "subagents/**/*.jsonl"),
    "queue": ("transcript.jsonl",),
    "file": ("project/*.json",),
    "screen": ("screen.txt",),
    "footer": ("screen.txt",),
    "offer": ("screen.txt",),
}
"""Where the words of a source stand in a captured folder."""
BARE = frozenset({"carrier", "screen", "footer", "offer"})
"""Sources whose words are parts of a text; all others are whole JSON strings."""

WITHOUT_FIXTURE = {
    ("call", "Task"),
    ("call", "TeamCreate"),
    ("call", "SpawnTeammate"),
    ("call", "TeamDelete"),
}
"""Words of older clients. They may only block."""

SECOND = {
    ("registry", "startedAt"): "an old call is dead by the SessionStart after it too",
    ("stdin", "source"): "an old call is dead by the start of the process too",
    ("load", "startup"): "the process had no session before",
    ("load", "resume"): "an old call is dead by the start of the process too",
    ("load", "compact"): "the process had no session before",
    ("result", "scheduledFor"): "a Stop has come since",
    ("queue", "dequeue"): "the registry became idle later",
    ("queue", "remove"): "the registry became idle later",
}
"""Words that are not needed in the instants at hand: another witness says the same. `tests/core` takes it away."""


def expected(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "expect.json").read_bytes()))


SAFE = [folder for folder in FOLDERS if expected(folder)["safe"]]
UNSAFE = [folder for folder in FOLDERS if not expected(folder)["safe"]]


def test_there_are_instants_of_both_kinds() -> None:
    assert len(FOLDERS) >= FEWEST
    assert len(SAFE) >= 10
    assert len(UNSAFE) >= 20


@INSTANTS
def test_the_gate_judges_as_expected(folder: Path) -> None:
    told = expected(folder)
    verdict = judge_folder(folder)
    assert verdict.write.safe == told["safe"], [each.evidence for each in verdict.write.blockers]
    assert verdict.type.safe == told.get("typed", told["safe"])
    assert set(told["blockers"]) <= {each.kind for each in verdict.write.blockers}


@INSTANTS
def test_every_blocker_says_what_it_saw_and_what_clears_it(folder: Path) -> None:
    verdict = judge_folder(folder)
    assert set(verdict.write.blockers) <= set(verdict.type.blockers)
    for each in verdict.type.blockers:
        assert each.kind
        assert each.evidence
        assert each.clears


# --- the table against its fixtures


def files_of(marker: Marker, folder: Path) -> list[Path]:
    return [path for pattern in FILES[marker.source] for path in sorted(folder.glob(pattern))]


def written(marker: Marker) -> str:
    return marker.word if marker.source in BARE else f'"{marker.word}"'


def stands_in(marker: Marker, folder: Path) -> bool:
    if marker.word == "scheduled_tasks.json":
        return (folder / "project" / marker.word).is_file()
    text = "".join(path.read_text("utf-8") for path in files_of(marker, folder))
    return written(marker) in text or written(marker).replace('"', '\\"') in text


KINDS = frozenset(kind for folder in FOLDERS for kind in expected(folder)["blockers"]) | {"editor", "queue"}
"""Kinds of blockers: those that are true of captured instants, and two that none of them isolates."""


@pytest.mark.parametrize("marker", MARKERS, ids=lambda marker: f"{marker.source}:{marker.word}")
def test_every_row_says_what_it_does(marker: Marker) -> None:
    """An effect that nobody knows would neither block nor clear."""
    assert marker.effect in get_args(Effect)
    assert marker.source in FILES
    assert (marker.kind in KINDS) if marker.effect == "blocks" else not marker.kind


@pytest.mark.parametrize("marker", MARKERS, ids=lambda marker: f"{marker.source}:{marker.word}")
def test_every_word_stands_in_its_fixture(marker: Marker) -> None:
    if not marker.fixture:
        assert (marker.source, marker.word) in WITHOUT_FIXTURE
        assert marker.effect != "clears"
        return
    assert stands_in(marker, HARNESS / marker.fixture), "the word is not in the instant that the table names"


def test_the_client_is_the_one_that_was_captured() -> None:
    seen = {json.loads(path.read_bytes())["version"] for path in HARNESS.rglob("registry*.json")}
    assert seen == set(VERSIONS)


def test_events_are_those_that_were_captured_or_stand_in_the_facts() -> None:
    seen = {
        json.loads(line)["event"]
        for path in HARNESS.rglob("hooks.jsonl")
        for line in path.read_bytes().splitlines()
    }
    unseen = {
        *(
            "CwdChanged",
            "Elicitation",
            "ElicitationResult",
            "FileChanged",
            "PermissionDenied",
        ),
        *("Setup", "TaskCompleted", "WorktreeCreate", "WorktreeRemove"),
    }
    assert seen | unseen == EVENTS


# --- drift


def drifted(word: str) -> set[str]:
    """The word in other cases, as camel, snake and kebab, and under another name."""
    if not re.fullmatch(r"[\w-]+", word):  # a part of a text, where an end that grows changes nothing
        forms = {word.lower(), word.upper(), word.title(), word if word[0].isspace() else f"x{word}"}
        return forms - {word}
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).lower()
    first, *others = snake.split("_")
    camel = first + "".join(map(str.capitalize, others))
    forms = {
        word.lower(),
        word.upper(),
        word.swapcase(),
        word.capitalize(),
        snake,
        camel,
        snake.replace("_", "-"),
    }
    return (forms | {f"x{word}", f"{word}2"}) - {word}


class Drift:
    """One captured instant whose files can be changed in memory, without reading the transcript anew."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.instant = from_folder(folder)
        self.evidence = self.instant.evidence()

    def is_safe(self, marker: Marker, form: str, scratch: Path) -> bool | None:
        """The verdict after the word became `form` everywhere in its source; None where nothing changed."""
        old, new = written(marker), written(replace(marker, word=form))
        if marker.word == "scheduled_tasks.json":
            return None  # the name of a file, not a word in one
        changes: dict[Path, bytes] = {}
        for path in files_of(marker, self.folder):
            data = path.read_bytes()
            changed = data.replace(old.encode(), new.encode())
            changed = changed.replace(old.replace('"', '\\"').encode(), new.replace('"', '\\"').encode())
            if changed != data:
                changes[path] = changed
        return judge(self.changed(marker, changes, scratch)).write.safe if changes else None

    def changed(self, marker: Marker, changes: dict[Path, bytes], scratch: Path) -> Evidence:
        if marker.source in ("call", "result", "shape", "carrier", "queue", "file"):
            shutil.rmtree(scratch, ignore_errors=True)
            shutil.copytree(self.folder, scratch)
            for path, data in changes.items():
                (scratch / path.relative_to(self.folder)).write_bytes(data)
            return from_folder(scratch).evidence()
        given: Instant = replace(self.instant, transcript=Path("/nonexistent"), subagents=None)
        for path, data in changes.items():
            if path.name == "hooks.jsonl":
                given = replace(given, hooks=data)
            elif path.name == "screen.txt":
                given = replace(given, screen=data.decode())
        if any(path.name.startswith("registry") for path in changes):
            paths = sorted(self.folder.glob("registry*.json"))
            entries = zip(paths, given.registry, strict=True)
            given = replace(
                given, registry=tuple((changes.get(path, data), alive) for path, (data, alive) in entries)
            )
        return replace(
            given.evidence(), conversation=self.evidence.conversation, helpers=self.evidence.helpers
        )


@cache
def drift(folder: Path) -> Drift:
    return Drift(folder)


@pytest.mark.parametrize("folder", UNSAFE, ids=[folder.name for folder in UNSAFE])
def test_no_drift_makes_an_unsafe_instant_safe(folder: Path, tmp_path: Path) -> None:
    """Each word in each form at every third instant; COFFER_EFFORT=all: at each."""
    every = examples(3, 1)
    for marker in MARKERS:
        for form in sorted(drifted(marker.word))[UNSAFE.index(folder) % every :: every]:
            assert not drift(folder).is_safe(marker, form, tmp_path / "drifted"), (marker, form)


CLEARING = [
    marker
    for marker in MARKERS
    if marker.fixture in {folder.name for folder in SAFE}
    and marker.effect in ("clears", "key")
    and (marker.source, marker.word) not in SECOND
]


@pytest.mark.parametrize("marker", CLEARING, ids=lambda marker: f"{marker.source}:{marker.word}")
def test_a_word_that_clears_clears_nothing_once_it_has_drifted(marker: Marker, tmp_path: Path) -> None:
    seen = [
        drift(HARNESS / marker.fixture).is_safe(marker, form, tmp_path / "d") for form in drifted(marker.word)
    ]
    assert False in seen or None in seen
    assert True not in seen, marker


@pytest.mark.parametrize("name", ["words-typed", "words-read"])
def test_marker_words_that_are_only_quoted_never_count(name: str) -> None:
    """Also where no Stop has come that could have said that nothing is in flight."""
    given = drift(HARNESS / name).evidence
    hooks = tuple(hook for hook in given.hooks or () if hook.event != "Stop")
    assert judge(replace(given, hooks=hooks)).write.safe
    assert given.conversation is not None
    assert not given.conversation.calls
    assert not given.conversation.letters


@pytest.mark.parametrize("name", ["teammate-idle", "cron-set", "cron-deleted"])
def test_what_was_begun_counts_where_no_stop_has_come(name: str) -> None:
    given = drift(HARNESS / name).evidence
    hooks = tuple(hook for hook in given.hooks or () if hook.event not in ("Stop", "TeammateIdle"))
    assert not judge(replace(given, hooks=hooks)).write.safe


def test_what_was_begun_counts_by_its_answer_where_its_call_is_not_in_the_file(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(HARNESS / "cron-set-no-stop", copy)
    path = copy / "transcript.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"type":"tool_use"', b'"type":"toolUse"'))
    assert "schedule" in {each.kind for each in judge_folder(copy).write.blockers}


# --- what is missing blocks


@pytest.mark.parametrize("folder", SAFE, ids=[folder.name for folder in SAFE])
@pytest.mark.parametrize("missing", ["registry", "hooks.jsonl", "transcript.jsonl", "proc.json"])
def test_a_missing_source_blocks(folder: Path, missing: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    for path in copy.glob(f"{missing}*"):
        path.unlink()
    assert not judge_folder(copy).write.safe


@pytest.mark.parametrize("folder", SAFE, ids=[folder.name for folder in SAFE])
def test_without_a_screen_nothing_is_typed(folder: Path) -> None:
    unseen = replace(drift(folder).evidence, screen=None)
    assert judge(unseen).write.safe
    assert not judge(unseen).type.safe


@pytest.mark.parametrize("folder", SAFE, ids=[folder.name for folder in SAFE])
def test_a_torn_tail_blocks(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    with (copy / "transcript.jsonl").open("ab") as file:
        file.write(b'{"parentUuid":"')
    assert "tail" in {each.kind for each in judge_folder(copy).write.blockers}


# --- what a fixture may hold


def test_fixtures_name_no_machine() -> None:
    for path in HARNESS.rglob("*"):
        if path.is_file():
            assert not re.search(rb"/tmp/lab-|/root/|-tmp-lab-", path.read_bytes()), path


def test_the_page_shows_the_table_and_the_instants_as_they_are() -> None:
    text = guard_table.PAGE.read_text("utf-8")
    assert guard_table.page(text) == text, "python -m tools.guard_table"
