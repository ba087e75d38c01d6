"""What is known of a digest's texts, and what was proposed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from coffer.store import proposals, trust
from coffer.store.db import database
from coffer.store.home import Home

ONE, OTHER = "/p/.cozempic/behavioral-digest.md", "/q/.cozempic/behavioral-digest.md"
TEXT = "Do not push to main."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with database(Home(tmp_path / "own")) as connection:
        yield connection


def test_a_grant_is_for_one_text_of_one_digest(store: sqlite3.Connection) -> None:
    trust.grant(store, ONE, [TEXT], "person")
    assert trust.trusted(store, ONE) == {trust.key(TEXT)}
    assert trust.trusted(store, OTHER) == frozenset()


def test_what_is_only_written_is_known_and_not_trusted(store: sqlite3.Connection) -> None:
    trust.write(store, ONE, [trust.key(TEXT)])
    assert trust.known(store, ONE) == {trust.key(TEXT)}
    assert trust.trusted(store, ONE) == frozenset()
    trust.grant(store, ONE, [TEXT], "coffer")
    assert trust.trusted(store, ONE) == {trust.key(TEXT)}
    trust.write(store, ONE, [trust.key(TEXT)])
    assert trust.trusted(store, ONE) == {trust.key(TEXT)}, "writing it again takes nothing back"


def test_what_was_revoked_can_be_put_back(store: sqlite3.Connection) -> None:
    trust.grant(store, ONE, [TEXT], "person")
    trust.write(store, ONE, [trust.key("other")])
    before = trust.rows(store, ONE)
    gone = trust.forget(store, ONE)
    assert (gone, trust.rows(store, ONE)) == (before, {})
    trust.grant_keys(store, ONE, gone)
    assert trust.rows(store, ONE) == before


def test_a_text_is_revoked_by_its_words(store: sqlite3.Connection) -> None:
    trust.grant(store, ONE, [TEXT, "other"], "coffer")
    assert trust.revoke(store, ONE, [TEXT, "unknown"]) == {trust.key(TEXT): "coffer"}
    assert trust.trusted(store, ONE) == {trust.key("other")}


def test_what_was_only_seen_is_neither_known_nor_trusted(store: sqlite3.Connection) -> None:
    trust.see(store, ONE, [trust.key(TEXT)])
    assert trust.known(store, ONE) | trust.trusted(store, ONE) == set()
    trust.grant(store, ONE, [TEXT], "person")
    trust.see(store, ONE, [trust.key(TEXT)])
    assert trust.trusted(store, ONE) == {trust.key(TEXT)}


def test_a_database_from_before_trust_knows_nothing(store: sqlite3.Connection) -> None:
    store.execute("DROP TABLE trusted")
    assert trust.rows(store, ONE) == {}


def test_a_proposal_is_kept_once_and_without_secrets(store: sqlite3.Connection) -> None:
    said = {"text": "use ghp_" + "a1B2" * 9, "hard": True, "tools": ["a\udcff"]}
    first = proposals.add(store, "add", ONE, said, "Claude Code")
    again = proposals.add(store, "add", ONE, said, "Codex")
    assert again == first
    assert "ghp_" not in str(first.arguments)
    assert first.arguments["hard"] is True
    assert proposals.open_proposals(store) == [first]


def test_a_proposal_is_closed_once(store: sqlite3.Connection) -> None:
    made = proposals.add(store, "trust", ONE, {}, "Codex")
    assert proposals.close(store, made.id, "rejected")
    assert not proposals.close(store, made.id, "accepted")
    assert proposals.open_proposals(store) == []
    assert proposals.add(store, "trust", ONE, {}, "Codex").id != made.id


def test_a_long_text_is_cut_behind_its_redaction(store: sqlite3.Connection) -> None:
    made = proposals.add(store, "add", ONE, {"text": "x " * 5_000}, "Codex")
    assert len(made.arguments["text"]) == proposals.LONGEST + 1
