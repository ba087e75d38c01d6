"""Undo of a change to a digest: the file as it was, or, where a person wrote in it since, rule by rule.

What the change had counted is taken back too; turns that stood behind it go to the inbox, where nothing is lost.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coffer.core.digest import new_digest
from coffer.core.rule import Rule, Rules
from coffer.core.rule_record import rule_from
from coffer.disk import digest_file
from coffer.disk.digest_file import Loaded
from coffer.disk.replace import refusals
from coffer.errors import ReceiptNotFound
from coffer.store import trust
from coffer.store.db import DONE, UNDONE, Receipt, begun, database, save
from coffer.store.db import receipt as kept_receipt
from coffer.store.evidence import move_evidence, set_state
from coffer.store.held import held
from coffer.store.home import Home
from coffer.work.rules.draft import PATIENCE, recover
from coffer.work.rules.rule_errors import RulesChangedSince
from coffer.work.rules.understood import understood


def undo_digest(receipt: Receipt, home: Home, now: datetime | None = None) -> Receipt:
    """Take back what a receipt of kind `digest` says; the receipt of the undo.

    Its data: left: ids of rules that were changed since and stay, with all that was counted for them. Raises
    ReceiptNotFound where another process has undone it meanwhile, RulesChangedSince where all of its rules were
    changed, DigestBroken, FileMoved, Busy, WriteFailed; then nothing changed.
    """
    now = now or datetime.now(UTC)
    path = Path(receipt.path)
    done = begun("undo", receipt.agent, receipt.session, path, now)
    done.data |= {"undoes": receipt.id, "left": []}
    recover(path, home)
    with held(home, path, PATIENCE):
        _refresh(receipt, home)
        left = _bring_back(receipt, done, home, path, now) if receipt.data["changes"] else []
        receipt.status, done.status = UNDONE, DONE
        with refusals(home.root), database(home) as connection:
            _unlearn(connection, receipt, left)
            save(connection, receipt)
            save(connection, done)
    return done


def _refresh(receipt: Receipt, home: Home) -> None:
    """The receipt as it is now that nobody else can change it."""
    with database(home, write=False) as connection:
        there = kept_receipt(connection, receipt.id)
    if there is None or there.status != DONE:
        what = f"is {there.status}" if there else "is gone"
        raise ReceiptNotFound(f"Receipt {receipt.id} {what}: there is nothing to undo.")
    receipt.status, receipt.data = there.status, there.data


def _unlearn(connection: Any, receipt: Receipt, left: list[dict[str, Any]]) -> None:
    """Take back what the database learned, but not for the changes that stay in the file."""
    data = receipt.data
    rules = {change["rule"] for change in left} | {
        change["before"]["id"] for change in left if change["before"]
    }
    added, removed = (
        {name: pieces for name, pieces in data[which].items() if name not in rules}
        for which in ("added", "removed")
    )
    behind = {piece[0] for name in data["added"].keys() & rules for piece in data["added"][name]}
    move_evidence(connection, receipt.path, added, removed)
    set_state(connection, {*data.get("counted", ()), *data["states"]} - behind, "noticed")
    stay = {change["after"]["text"] for change in left if change["after"]}
    went = {change["before"]["text"] for change in left if change["before"]}
    granted = set(data["granted"]) - stay
    trust.revoke(connection, receipt.path, granted)
    trust.grant(connection, receipt.path, set(data["revoked"]) - went, "coffer")
    trust.write(connection, receipt.path, set(data.get("known", ())) & set(map(trust.key, granted)))


def _bring_back(
    receipt: Receipt, done: Receipt, home: Home, path: Path, now: datetime
) -> list[dict[str, Any]]:
    """Write the file as it was; the changes that stay, since somebody changed their rules again."""
    loaded = digest_file.read(path)
    data = receipt.data
    current = loaded.text.encode("utf-8", "surrogateescape") if loaded else b""
    digest = hashlib.sha256(current).hexdigest()
    if digest == data["digest_before"]:
        return []  # an undo that was killed before the database knew of it, or a file brought back by hand
    kept = home.backups / done.id / path.name
    if digest == data["digest_after"] and data["created"]:
        digest_file.remove(path, loaded.ticket if loaded else None, kept)
        return []
    text = _backup(data) if digest == data["digest_after"] else None
    left: list[dict[str, Any]] = []
    if text is None:
        text, left = _rule_by_rule(receipt, path, loaded, now)
        done.data["left"] = [change["rule"] for change in left]
    digest_file.write(path, text, loaded.ticket if loaded else None, kept, private=not data["project"])
    return left


def _backup(data: dict[str, Any]) -> str | None:
    """The file's text as it was; None where somebody has deleted the backup."""
    try:
        return Path(data["backup"]).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None


def _rule_by_rule(
    receipt: Receipt, path: Path, loaded: Loaded | None, now: datetime
) -> tuple[str, list[dict[str, Any]]]:
    """The file with each change taken back whose rule is still as the change left it, and the other changes."""
    digest = understood(path, loaded.text) if loaded else new_digest(receipt.data["project"] or None, now)
    rules = list(digest.rules.all)
    changes = receipt.data["changes"]
    left = [change for change in reversed(changes) if not _taken_back(rules, change)]
    if len(left) == len(changes):
        raise RulesChangedSince(str(path), receipt.id)
    return digest.with_rules(Rules(tuple(rules), digest.rules.numbers)).stamped(now).render(), left


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
