"""Secrets in what people and agents say reach no file of Coffer's, by no path that writes.

The exact copies are the exception that DESIGN section 10 names: `pruned/`, `backups/` and `.bak`. A digest never
holds a secret, so its backups hold none either.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.disk.replace import refusals
from coffer.errors import CofferError
from coffer.store import proposals
from coffer.store.db import database
from coffer.work.rules.ask import Asker
from coffer.work.rules.propose import Said, by_words, issue, propose
from coffer.work.undo_any import undo_any
from tests.transcripts import Claude, call, result, text
from tests.work.learning import Desktop

# Invented, and put together here so that no scanner takes this file for a leak.
MIXED = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"
SECRETS = (
    "sk-ant-" + "api03-" + MIXED + MIXED,
    "ghp_" + MIXED + "ab12",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "xoxb-" + "123456789012-1234567890123-" + MIXED,
    "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + MIXED,
    "postgres://app:" + "hunter2hunter2" + "@db.internal:5432/prod",
    "-----BEGIN " + "RSA PRIVATE KEY-----\n" + MIXED * 3 + "\n-----END RSA PRIVATE KEY-----",
)
TELL_TALES = (MIXED, "IOSFODNN7EXAMPLE", "hunter2hunter2")

FORMS = (
    "please don't put {} into commits",
    "why did you print {} again?",
    "remember: never use {} in tests",
    "no, not {}, use the vault instead",
    "stop using {} here. we use the staging key in this repo",
    "{}",
)


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


def assert_clean(desktop: Desktop) -> None:
    everything = desktop.every_text()
    assert desktop.home.database.exists()
    for tale in TELL_TALES:
        assert tale not in everything


def _tells_nothing(error: CofferError) -> None:
    assert not any(tale in str(error) for tale in TELL_TALES)


def test_learning_and_the_inbox(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    number = 0
    for form in FORMS:
        for secret in SECRETS:
            number += 1
            said = form.format(secret)
            desktop.session(tide, [said], f"s{number}", before=f"I exported {secret} and committed it.")
    learned = desktop.learn()
    assert learned.states()["noticed"] + learned.states()["counted"] > 10
    box = desktop.inbox(tide)
    for item in box.items()[:20]:
        box = desktop.inbox(tide)
        try:
            box.accept(item.id, "" if item.rule else "Do not print keys.")
        except CofferError as error:
            _tells_nothing(error)
    for item in desktop.inbox(tide).items()[:10]:
        desktop.inbox(tide).reject(item.id)
    assert_clean(desktop)


def test_tool_targets_and_rejections(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    for number, secret in enumerate(SECRETS):
        made = Claude()
        made.clock = 28_000_000.0 + number
        made.user("deploy it", f"p{number}", cwd=str(tide), promptSource="typed", entrypoint="cli")
        made.answer(text("ok"), call(f"c{number}", command=f"curl -H 'Authorization: Bearer {secret}' x"))
        refused = (
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
            "edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
            f"never put {secret} on the command line, use the keychain"
        )
        made.user(
            [result(f"c{number}", refused, is_error=True)],
            f"u{number}",
            toolUseResult="User rejected tool use",
        )
        desktop.store(made, f"s{number}")
    assert desktop.learn().turns
    assert_clean(desktop)


def test_what_agents_propose_and_people_add(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    for number, secret in enumerate(SECRETS):
        said = f"that was wrong, number {number}"
        path = desktop.session(tide, [said], f"s{number}")
        ticket = issue(desktop.home, str(path), by_words(said), str(tide), desktop.now)
        flat = " ".join(secret.split())
        for words in (
            Said(f"Do not print {flat}.", flat, flat, "tools"),
            Said("Do not print keys.", f"printed {flat}", f"said {flat}", flat),
        ):
            try:
                propose(ticket, words, desktop.shelf())
            except CofferError as error:
                _tells_nothing(error)
        with refusals(desktop.home.root), database(desktop.home) as connection:
            proposals.add(connection, "add", str(tide), {"text": f"Do not use {secret}"}, f"agent {secret}")
        for verb in (desktop.desk(tide).add, desktop.desk(None).add):
            with pytest.raises(CofferError) as caught:
                verb(f"Do not use {secret}")
            _tells_nothing(caught.value)
    done = desktop.desk(tide).add("Do not rebase.")
    for secret in SECRETS:
        with pytest.raises(CofferError):
            desktop.desk(tide).edit(done.rule.id, f"Do not use {secret}")
    undo_any(done.receipt, desktop.home, desktop.places)
    assert_clean(desktop)


def test_a_secret_that_a_person_writes_into_the_file_goes_nowhere_else(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.desk(tide).add("Do not rebase.")
    path = tide / ".cozempic" / "behavioral-digest.md"
    path.write_text(path.read_text() + f"\nmy note: {SECRETS[0]}\n")
    done = desktop.desk(tide).upvote("R001")
    undo_any(done.receipt, desktop.home, desktop.places)
    stored = desktop.home.database.read_bytes().decode("utf-8", "replace")
    assert MIXED not in stored


def test_a_model_that_answers_with_secrets(desktop: Desktop) -> None:
    assert Asker(desktop.settings, desktop.home, desktop.environment).classify(SECRETS[0], "", ()) is None
    assert not desktop.home.root.exists()


@pytest.mark.parametrize("kept", range(20, 44, 4))
def test_half_a_secret_at_the_end_of_what_is_quoted(tmp_path: Path, kept: int) -> None:
    desktop = Desktop(tmp_path)
    tide = desktop.project("tide")
    address = "postgres://admin:" + "hunter2secretpw" + "@db.internal:5432/prod"
    before = f"I used {address} " + "y " * ((160 - kept) // 2)
    desktop.session(tide, ["please don't add co-author lines to commits"], "a", before=before)
    desktop.learn()
    assert desktop.learn().turns == []
    assert "hunter2" not in desktop.every_text()
