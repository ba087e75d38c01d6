"""A Codex fork holds only what came after: the rest is read from its parents, as the client does."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.work.sessions.read import Opened, opened
from tests.transcripts import Codex, spoken, store

CORPUS = Path(__file__).parents[1] / "corpus" / "codex"


def thread(name: str, *said: str, parent: str = "", offset: int = 0) -> Codex:
    made = Codex()
    base = {"thread_id": parent, "end_ordinal_exclusive": 1, "end_byte_offset": offset}
    made.meta(name, **({"forked_from_id": parent, "history_base": base} if parent else {}))
    for words in said:
        made.message("user", words)
    return made


def told(session: Opened) -> list[str]:
    data = session.source.read(0, session.source.size)
    return spoken(session.agent.view(session.transcript, ""), data, session.agent)


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    return store(tmp_path, thread("p", "one", "two"), "p")


def test_a_thread_without_a_parent_is_only_itself(parent: Path) -> None:
    with opened(parent, parents={"p": parent}) as session:
        assert told(session) == ["user: one", "user: two"]
        assert session.warnings == []
        assert session.source.own == 0


def test_a_fork_begins_with_its_parents_first_bytes(tmp_path: Path, parent: Path) -> None:
    offset = len(thread("p", "one").data)
    child = store(tmp_path, thread("c", "three", parent="p", offset=offset), "c")
    with opened(child, parents={"p": parent}) as session:
        assert told(session) == ["user: one", "user: three"]
        assert session.source.own == offset
        assert session.transcript.about.session == "c"
        last = session.transcript.records[-1]
        assert b"three" in session.line(last)
        assert session.transcript.size == offset + child.stat().st_size


def test_a_parent_that_grows_at_its_end_changes_nothing(tmp_path: Path, parent: Path) -> None:
    child = store(tmp_path, thread("c", "three", parent="p", offset=parent.stat().st_size), "c")
    with parent.open("ab") as file:
        file.write(thread("p", "later").data)
    with opened(child, parents={"p": parent}) as session:
        assert told(session) == ["user: one", "user: two", "user: three"]


def test_a_fork_of_a_fork(tmp_path: Path, parent: Path) -> None:
    first = len(thread("p", "one").data)
    child = thread("c", "three", "four", parent="p", offset=first)
    second = len(thread("c", "three", parent="p", offset=first).data)
    paths = {"p": parent, "c": store(tmp_path, child, "c")}
    grandchild = store(tmp_path, thread("g", "five", parent="c", offset=second), "g")
    with opened(grandchild, parents=paths) as session:
        assert told(session) == ["user: one", "user: three", "user: five"]
        assert session.source.own == first + second
        assert session.source.head(10_000) == grandchild.read_bytes()
        assert session.warnings == []


def test_a_parent_that_is_not_on_this_machine(tmp_path: Path) -> None:
    child = store(tmp_path, thread("c", "three", parent="gone", offset=100), "c")
    with opened(child, parents={}) as session:
        assert told(session) == ["user: three"]
        (warning,) = session.warnings
        assert "gone" in warning


def test_a_grandparent_that_is_not_on_this_machine(tmp_path: Path) -> None:
    child = store(tmp_path, thread("c", "three", parent="gone", offset=100), "c")
    offset = child.stat().st_size
    grandchild = store(tmp_path, thread("g", "five", parent="c", offset=offset), "g")
    with opened(grandchild, parents={"c": child}) as session:
        assert told(session)[-1] == "user: five"
        assert len(session.warnings) == 1


def test_a_parent_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").touch()
    child = store(tmp_path, thread("c", "three", parent="p", offset=100), "c")
    with opened(child, parents={"p": tmp_path / "p.jsonl"}) as session:
        assert told(session) == ["user: three"]
        assert "empty" in session.warnings[0]


def test_an_offset_past_the_end_of_the_parent_is_told(tmp_path: Path, parent: Path) -> None:
    # the client can't resume such a thread: "cutoff byte offset is past the source rollout"
    child = store(tmp_path, thread("c", "three", parent="p", offset=10**6), "c")
    with opened(child, parents={"p": parent}) as session:
        assert told(session)[-1] == "user: three"
        assert session.warnings


def test_an_offset_in_the_middle_of_a_line(tmp_path: Path, parent: Path) -> None:
    child = store(tmp_path, thread("c", "three", parent="p", offset=parent.stat().st_size - 20), "c")
    with opened(child, parents={"p": parent}) as session:
        assert "user: one" in told(session)
        assert session.transcript.oddities


@pytest.mark.parametrize("offset", [-5, 0])
def test_an_offset_of_nothing_inherits_nothing(tmp_path: Path, parent: Path, offset: int) -> None:
    child = store(tmp_path, thread("c", "three", parent="p", offset=offset), "c")
    with opened(child, parents={"p": parent}) as session:
        assert told(session) == ["user: three"]


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    a = store(tmp_path, thread("a", "one", parent="b", offset=10), "a")
    b = store(tmp_path, thread("b", "two", parent="a", offset=10), "b")
    with opened(a, parents={"a": a, "b": b}) as session:
        assert told(session)[-1] == "user: one"
    own = store(tmp_path, thread("x", "one", parent="x", offset=10), "x")
    with opened(own, parents={"x": own}) as session:
        assert told(session) == ["user: one"]


def test_the_clients_own_fork() -> None:
    parent, child = CORPUS / "fork-parent.jsonl", CORPUS / "fork-child.jsonl"
    with opened(parent) as session:
        name = session.transcript.about.session
        alone = told(session)
    with opened(child, parents={name: parent}) as session:
        whole = told(session)
        assert session.warnings == []
    with opened(child) as session:
        delta = told(session)
    assert whole[: len(whole) - len(delta)] == alone[: len(whole) - len(delta)]
    assert len(whole) > len(delta) > 0
