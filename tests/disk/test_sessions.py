"""Which files are sessions, and whose."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coffer.disk.places import Places
from coffer.disk.sessions import ARCHIVED, MAIN, SUBAGENT, WORKFLOW, find_sessions, thread_names
from tests.transcripts import SESSION, THREAD

ROLLOUT = f"rollout-2026-01-02T03-04-05-{THREAD}.jsonl"


def put(path: Path, data: bytes = b"{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "claude", tmp_path / "codex")


def found(places: Places) -> dict[str, tuple[str, str]]:
    return {item.id: (item.agent, item.kind) for item in find_sessions(places)}


# --- what is no session


@pytest.mark.parametrize(
    "name",
    [
        "projects/stray.jsonl",
        "projects/-work/notes.txt",
        f"projects/-work/{SESSION}.jsonl.bak",
        f"projects/-work/{SESSION}/tool-results/x.jsonl",
        f"projects/-work/{SESSION}/subagents/workflows/wf_1/journal.jsonl",
        f"projects/-work/{SESSION}/workflows/wf_1.json",
        "projects/-work/memory/MEMORY.md",
        "history.jsonl",
    ],
)
def test_other_files_of_claude_are_no_sessions(places: Places, name: str) -> None:
    put(places.claude / name)
    assert find_sessions(places) == []


@pytest.mark.parametrize(
    "name",
    [
        f"sessions/{ROLLOUT}",
        "sessions/2026/01/02/rollout-x.jsonl",
        f"sessions/2026/01/02/{ROLLOUT}.bak",
        f"sessions/2026/01/02/other-{ROLLOUT}.tmp",
        "history.jsonl",
        "session_index.jsonl",
    ],
)
def test_other_files_of_codex_are_no_sessions(places: Places, name: str) -> None:
    put(places.codex / name)
    assert find_sessions(places) == []


def test_no_folders_no_sessions(places: Places) -> None:
    assert find_sessions(places) == []
    assert thread_names(places) == {}
    places.claude.mkdir()
    (places.claude / "projects").write_text("a file")
    places.codex.write_text("a file")
    assert find_sessions(places) == []


def test_links_to_nowhere_and_folders_are_left_out(places: Places) -> None:
    project = places.claude / "projects" / "-work"
    project.mkdir(parents=True)
    (project / "gone.jsonl").symlink_to(project / "nowhere")
    (project / "loop.jsonl").symlink_to(project / "loop.jsonl")
    (project / "folder.jsonl").mkdir()
    os.mkfifo(project / "pipe.jsonl")
    assert find_sessions(places) == []


# --- what is


def test_every_kind_of_session_file(places: Places) -> None:
    project = places.claude / "projects" / "-work-a-b"
    put(project / f"{SESSION}.jsonl")
    put(project / "agent-old1.jsonl")
    put(project / SESSION / "subagents" / "agent-one.jsonl")
    put(project / SESSION / "subagents" / "workflows" / "wf_1" / "agent-two.jsonl")
    put(project / SESSION / "subagents" / "workflows" / "wf_1" / "journal.jsonl")
    put(places.codex / "sessions" / "2026" / "01" / "02" / ROLLOUT)
    archived = THREAD.replace("019a", "029b")
    put(places.codex / "archived_sessions" / ROLLOUT.replace(THREAD, archived))
    packed = THREAD.replace("019a", "039c")
    put(places.codex / "sessions" / "2025" / "01" / "02" / f"{ROLLOUT.replace(THREAD, packed)}.zst")
    assert found(places) == {
        SESSION: ("claude", MAIN),
        "agent-old1": ("claude", SUBAGENT),
        "agent-one": ("claude", SUBAGENT),
        "agent-two": ("claude", WORKFLOW),
        THREAD: ("codex", MAIN),
        archived: ("codex", ARCHIVED),
        packed: ("codex", MAIN),
    }
    owners = {item.id: item.owner for item in find_sessions(places)}
    assert (owners["agent-one"], owners["agent-two"], owners[SESSION]) == (SESSION, SESSION, "")


def test_a_link_to_a_session_is_one(places: Places, tmp_path: Path) -> None:
    target = put(tmp_path / "elsewhere" / "t.jsonl", b"1234\n")
    project = places.claude / "projects" / "-work"
    project.mkdir(parents=True)
    (project / f"{SESSION}.jsonl").symlink_to(target)
    (item,) = find_sessions(places)
    assert item.size == 5


def test_names_with_any_characters(places: Places) -> None:
    for name in ("a b", "ü", "-x", "[1]", "a'b", "\udcff"):
        put(places.claude / "projects" / f"-work {name}" / f"{name}.jsonl")
    assert len(find_sessions(places)) == 6


def test_the_newest_comes_first(places: Places) -> None:
    for age, name in enumerate(("new", "middle", "old")):
        path = put(places.claude / "projects" / "-w" / f"{name}.jsonl")
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    assert [item.id for item in find_sessions(places)] == ["new", "middle", "old"]


def test_a_folder_that_may_not_be_read_hides_only_itself(places: Places) -> None:
    put(places.claude / "projects" / "-open" / "one.jsonl")
    closed = put(places.claude / "projects" / "-closed" / "two.jsonl").parent
    closed.chmod(0)
    try:
        names = set(found(places))
    finally:
        closed.chmod(0o700)
    assert "one" in names
    assert names <= {"one", "two"}  # root reads it all the same


# --- where


@pytest.mark.parametrize(
    ("environment", "claude", "codex"),
    [
        ({"HOME": "/h"}, "/h/.claude", "/h/.codex"),
        ({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, "/c", "/h/.codex"),
        ({"HOME": "/h", "CODEX_HOME": "/x"}, "/h/.claude", "/x"),
        ({"HOME": "/h", "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": ""}, "/h/.claude", "/h/.codex"),
    ],
)
def test_where_the_agents_keep_their_sessions(environment: dict[str, str], claude: str, codex: str) -> None:
    assert Places.of(environment) == Places(Path(claude), Path(codex))


# --- names of threads


def test_the_last_name_of_a_thread_counts(places: Places) -> None:
    lines = [
        b'{"id":"a","thread_name":"one"}',
        b'{"id":"b","thread_name":"other"}',
        b'{"id":"a","thread_name":"two"}',
        b'{"id":"a"}',
        b'{"id":5,"thread_name":"x"}',
        b'{"id":"a","thread_name":null}',
        b"null",
        b"\xff\0torn",
        b'{"id":"c","thread_na',
    ]
    put(places.codex / "session_index.jsonl", b"\n".join(lines))
    assert thread_names(places) == {"a": "two", "b": "other"}


def test_a_name_of_many_characters_is_one_name(places: Places) -> None:
    # U+2028 ends a line for some readers, and is a character of a JSON text for all
    put(places.codex / "session_index.jsonl", '{"id":"a","thread_name":"x\u2028y"}\n'.encode())
    assert thread_names(places) == {"a": "x\u2028y"}


def test_a_line_of_deep_nesting_names_nothing(places: Places) -> None:
    put(places.codex / "session_index.jsonl", b"[" * 100_000 + b'\n{"id":"a","thread_name":"x"}\n')
    assert thread_names(places) == {"a": "x"}
