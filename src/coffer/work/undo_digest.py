"""Undo of a change to a digest: the file as it was, or, where a person wrote in it since, rule by rule.

What the change had counted is taken back too; turns that stood behind it go to the inbox, where nothing is lost.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coffer.core.digest import Digest, DigestUnreadable, parse
from coffer.core.rule import Rule, Rules
from coffer.core.rule_record import rule_from
from coffer.disk import digest_file
from coffer.disk.digest_file import Loaded
from coffer.disk.replace import locked, refusals
from coffer.errors import ChangedSince, DigestBroken
from coffer.store import trust
from coffer.store.db import DONE, UNDONE, Receipt, begun, database, save
from coffer.store.evidence import move_evidence, set_state
from coffer.store.home import Home


def undo_digest(receipt: Receipt, home: Home, now: datetime | None = None) -> Receipt:
    """Take back what a receipt of kind `digest` says; the receipt of the undo.

    Its data: left: ids of rules that were changed since and stay. Raises ChangedSince where all of them were,
    DigestBroken, FileMoved, Busy, WriteFailed; then nothing changed.
    """
    now = now or datetime.now(UTC)
    path = Path(receipt.path)
    done = begun("undo", receipt.agent, receipt.session, path, now)
    done.data["undoes"] = receipt.id
    with refusals(home.root):
        home.make(home.locks)
    with locked(home.locks, path):
        if receipt.data["changes"]:
            _bring_back(receipt, done, home, path, now)
        receipt.status, done.status = UNDONE, DONE
        with refusals(home.root), database(home) as connection:
            data = receipt.data
            move_evidence(connection, receipt.path, data["added"], data["removed"])
            set_state(connection, data.get("counted", ()), "noticed")
            set_state(connection, data["states"], "noticed")
            trust.revoke(connection, receipt.path, data["granted"])
            trust.grant(connection, receipt.path, data["revoked"], "coffer")
            save(connection, receipt)
            save(connection, done)
    return done


def _bring_back(receipt: Receipt, done: Receipt, home: Home, path: Path, now: datetime) -> None:
    loaded = digest_file.read(path)
    data = receipt.data
    current = loaded.text.encode("utf-8", "surrogateescape") if loaded else b""
    kept = home.backups / done.id / path.name
    same = hashlib.sha256(current).hexdigest() == data["digest_after"]
    if same and data["created"]:
        digest_file.remove(path, loaded.ticket if loaded else None, kept)
        return
    if same:
        text = Path(data["backup"]).read_bytes().decode("utf-8", "surrogateescape")
    else:
        text = _rule_by_rule(receipt, done, path, loaded, now)
    digest_file.write(path, text, loaded.ticket if loaded else None, kept, private=not data["project"])


def _rule_by_rule(receipt: Receipt, done: Receipt, path: Path, loaded: Loaded | None, now: datetime) -> str:
    """The file with each change taken back whose rule is still as the change left it."""
    digest = _parsed(path, loaded)
    rules = list(digest.rules.all)
    changes = reversed(receipt.data["changes"])
    left = [change["rule"] for change in changes if not _taken_back(rules, change)]
    if len(left) == len(receipt.data["changes"]):
        raise ChangedSince(str(path), receipt.data["backup"] or "nowhere: the file was new")
    done.data["left"] = left
    return digest.with_rules(Rules(tuple(rules), digest.rules.numbers)).stamped(now).render()


def _parsed(path: Path, loaded: Loaded | None) -> Digest:
    try:
        return parse(loaded.text if loaded else "")
    except DigestUnreadable as error:
        raise DigestBroken(str(path), error.line, error.reason) from error


def _taken_back(rules: list[Rule], change: dict[str, Any]) -> bool:
    before = rule_from(change["before"]) if change["before"] else None
    after = rule_from(change["after"]) if change["after"] else None
    if after is None:
        taken = before is None or any(rule.id == before.id for rule in rules)
        if not taken and before is not None:
            rules.append(before)
        return not taken
    place = next((at for at, rule in enumerate(rules) if rule == after), None)
    if place is None:
        return False
    if before is None:
        del rules[place]
    else:
        rules[place] = replace(before, handle=rules[place].handle)
    return True
