"""A digest file while it changes: read it, let events happen to its rules, write it with a receipt.

Order of a commit, so that a process killed anywhere loses nothing and counts nothing twice: the receipt is saved
with all that the database has still to learn; the file is replaced; then evidence, turns and the receipt's end
go into the database in one transaction. Whoever opens the file next finishes or forgets what was left half done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from coffer.core.digest import Digest, DigestUnreadable, new_digest, parse
from coffer.core.digest_block import filed
from coffer.core.events import Accepted, Change, Edited, Event, Ordered, Outcome, Settings
from coffer.core.lifecycle import step
from coffer.core.rule import Evidence, Rule, Rules
from coffer.core.rule_record import change_as_json, rule_from
from coffer.core.text_hash import text_hash
from coffer.disk import digest_file
from coffer.disk.digest_file import Loaded
from coffer.disk.replace import refusals
from coffer.errors import CofferError
from coffer.store import trust
from coffer.store.db import DONE, FAILED, PREPARED, Receipt, begun, database, receipts, record, save
from coffer.store.evidence import (
    HeardTurn,
    TurnState,
    evidence_as_json,
    evidence_of,
    keep_turns,
    move_evidence,
    set_state,
    turn_as_json,
    turn_of,
)
from coffer.store.held import held
from coffer.store.home import Home
from coffer.work.rules.understood import understood

KIND = "digest"
"""Kind of the receipts of changes to a digest."""
PATIENCE = 5.0
"""Seconds for which a person or the worker waits for another process that writes a digest, on a slow disk."""


@dataclass(slots=True)
class Draft:
    """The rules of one digest file and what happened to them since it was read.

    project: root of the project, "" for the person's own file. rules: with their evidence. trusted, known: keys
    of texts that may be delivered, and of those that Coffer wrote as well. turns: human turns that belong to this
    change; states: what became of turns that were kept before. granted, revoked: texts that may be
    delivered from now on, and no more; written: keys of others that Coffer wrote.
    """

    path: Path
    project: str
    home: Home
    settings: Settings
    now: datetime
    loaded: Loaded | None
    digest: Digest
    rules: Rules
    trusted: frozenset[str]
    known: frozenset[str]
    written: set[str] = field(default_factory=set)
    changes: list[Change] = field(default_factory=list)
    turns: list[HeardTurn] = field(default_factory=list)
    states: dict[str, TurnState] = field(default_factory=dict)
    granted: set[str] = field(default_factory=set)
    revoked: set[str] = field(default_factory=set)
    _evidence: dict[str, tuple[Evidence, ...]] = field(default_factory=dict)

    def step(self, event: Event) -> Outcome:
        """Let an event happen to the rules."""
        outcome = step(self.rules, event, self.now, self.settings)
        self.rules = outcome.rules
        self.changes += outcome.changes
        for change in outcome.changes:
            self._grant(event, change)
        return outcome

    def _grant(self, event: Event, change: Change) -> None:
        """Which texts may be delivered: the person's own, and those that Coffer wrote and saw promoted.

        A text that somebody put into the file is not trusted by being counted, nor by having been active: else one
        that nobody trusted would be delivered once it was demoted and promoted again (DESIGN section 10).
        """
        before, after = change.before, change.after
        if before is not None and before.state == "active":
            self._ungrant(before, after)
        if after is None:
            return
        persons = isinstance(event, Ordered | Accepted | Edited) and change.kind not in (
            "pushed out",
            "archived",
        )
        new = before is None or before.text != after.text
        if after.state == "active" and (new or (before is not None and before.state != "active")):
            name = trust.key(after.text)
            self.revoked.discard(after.text)
            if name not in self.trusted and (persons or name in self.known | self.written):
                self.granted.add(after.text)
        elif new and not after.proposed:
            self.written.add(trust.key(after.text))

    def _ungrant(self, before: Rule, after: Rule | None) -> None:
        """What no longer stands there as an active rule is not delivered either if somebody writes it back."""
        if after is not None and (after.state, after.text) == ("active", before.text):
            return
        name = trust.key(before.text)
        was_trusted = name in self.trusted or before.text in self.granted
        self.revoked |= {before.text} if name in self.trusted else set()
        self.granted.discard(before.text)
        if was_trusted and after is not None and after.text == before.text:
            self.written.add(name)

    def delivers(self, rule: Rule) -> bool:
        """Whether a rule's text may be delivered once this is written."""
        return rule.text in self.granted or trust.key(rule.text) in self.trusted

    def _lost(self) -> list[str]:
        """Texts that are revoked: one that an active rule still says is not, also where another one went."""
        standing = {trust.key(rule.text) for rule in self.rules.active()}
        return sorted(text for text in self.revoked if trust.key(text) not in standing)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write, neither to the file nor to the database."""
        return not (self.changes or self.turns or self.states or any(self._moved()))

    def _moved(self) -> tuple[dict[str, list[list[Any]]], dict[str, list[list[Any]]]]:
        """Evidence that rules lost and gained since the file was read."""
        now = {rule.id: rule.evidence for rule in self.rules.all if rule.evidence}
        names = set(now) | {name for name in self._evidence if self._was_read(name)}
        removed: dict[str, list[list[Any]]] = {}
        added: dict[str, list[list[Any]]] = {}
        for name in sorted(names):
            old, new = set(self._evidence.get(name, ())), set(now.get(name, ()))
            if lost := [
                evidence_as_json(piece) for piece in self._evidence.get(name, ()) if piece not in new
            ]:
                removed[name] = lost
            if gained := [evidence_as_json(piece) for piece in now.get(name, ()) if piece not in old]:
                added[name] = gained
        return removed, added

    def _was_read(self, name: str) -> bool:
        """Whether the file held the rule when it was read: evidence of one deleted by hand is left alone."""
        return self.digest.rules.get(name) is not None

    def text(self, session: str = "") -> str:
        """The file's text as it will be. Raises ValueError for rules that no digest may hold."""
        if not self.changes:
            return self.digest.render()
        return self.digest.with_rules(self.rules).stamped(self.now, session).render()

    def commit(self, verb: str, session: str = "", **more: Any) -> Receipt | None:
        """Write the file and the database; the receipt, or None where nothing changed that can be undone.

        Raises FileMoved, Busy, WriteFailed, StoreFailed; then the file is as it was. more: JSON for the receipt.
        """
        if self.empty:
            return None
        removed, added = self._moved()
        session = session or (self.turns[-1].session if self.turns else "")
        receipt = begun(KIND, "", session, self.path, self.now)
        receipt.data = {
            "verb": verb,
            "project": self.project,
            "changes": [change_as_json(change) for change in self.changes],
            "created": self.loaded is None,
            "removed": removed,
            "added": added,
            "turns": [turn_as_json(turn) for turn in self.turns],
            "states": dict(self.states),
            "granted": sorted(self.granted),
            "revoked": self._lost(),
            "known": sorted({trust.key(text) for text in self.granted} & self.known),
            "written": sorted(self.written),
            **more,
        }
        if not self.changes:
            with refusals(self.home.root), database(self.home) as connection:
                if self.states:
                    _finish(connection, receipt)
                else:
                    _learn(connection, receipt)
            return receipt if self.states else None
        self._write(receipt, self.text(session))
        return receipt

    def _write(self, receipt: Receipt, text: str) -> None:
        old, new = _bytes(self.loaded.text if self.loaded else ""), _bytes(text)
        backup = self.home.backups / receipt.id / self.path.name
        receipt.data |= {
            "digest_before": hashlib.sha256(old).hexdigest(),
            "digest_after": hashlib.sha256(new).hexdigest(),
            "bytes_before": len(old),
            "bytes_after": len(new),
            "backup": str(backup) if self.loaded else "",
        }
        with held(self.home, self.path, PATIENCE):
            record(self.home, receipt)
            try:
                ticket = self.loaded.ticket if self.loaded else None
                digest_file.write(self.path, text, ticket, backup, private=not self.project)
            except CofferError:
                receipt.status = FAILED
                _forget(receipt)
                record(self.home, receipt)
                raise
            with refusals(self.home.root), database(self.home) as connection:
                _finish(connection, receipt)


def _learn(connection: Any, receipt: Receipt) -> None:
    data = receipt.data
    move_evidence(connection, receipt.path, data["removed"], data["added"])
    keep_turns(connection, (turn_of(row) for row in data["turns"]))
    for name, state in data["states"].items():
        set_state(connection, [name], state)
    trust.revoke(connection, receipt.path, data["revoked"])
    trust.write(connection, receipt.path, data["written"])
    trust.grant(connection, receipt.path, data["granted"], "coffer")


def _finish(connection: Any, receipt: Receipt) -> None:
    _learn(connection, receipt)
    receipt.status = DONE
    receipt.data["counted"] = [row[0] for row in receipt.data["turns"]]
    _forget(receipt)
    save(connection, receipt)


def _forget(receipt: Receipt) -> None:
    """Take out of a receipt what the database knows now; what an undo needs of the evidence stays."""
    for name in ("turns", "written"):
        receipt.data.pop(name, None)


@contextmanager
def counting(home: Home) -> Iterator[None]:
    """One process counts new turns at a time: two would both count the same one, for rules of different files."""
    with held(home, home.root / "learn", PATIENCE):
        yield


def draft(  # noqa: PLR0913  (the last has a default)
    path: Path, project: str, home: Home, settings: Settings, now: datetime, patience: float = PATIENCE
) -> Draft:
    """Read a digest file, or begin one. project: "" for the person's own. now: aware. patience: see `recover`.

    Raises DigestBroken for a file that can't be understood, what `digest_file.read` raises, StoreFailed, Busy.
    """
    recover(path, home, patience)
    loaded = digest_file.read(path)
    digest = understood(path, loaded.text) if loaded else new_digest(project or None, now)
    behind: dict[str, tuple[Evidence, ...]] = {}
    trusted, known = frozenset[str](), frozenset[str]()
    if home.database.exists():
        with database(home, write=False) as connection:
            behind = evidence_of(connection, str(path))
            trusted, known = trust.trusted(connection, str(path)), trust.known(connection, str(path))
    rules = Rules(
        tuple(replace(rule, evidence=behind.get(rule.id, ())) for rule in digest.rules.all),
        digest.rules.numbers,
    )
    return Draft(path, project, home, settings, now, loaded, digest, rules, trusted, known, _evidence=behind)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def recover(path: Path, home: Home, patience: float = PATIENCE) -> None:
    """Finish or forget what a process that was killed left half done on this file.

    patience: seconds for which one that lives, and is at it, is waited for; then Busy is raised.
    """
    digest_file.within(path)
    if not home.database.exists():
        return
    with database(home, write=False) as connection:
        left = _half_done(connection, path)
    if not left:
        return
    with held(home, path, patience), refusals(home.root), database(home) as connection:
        loaded = digest_file.read(path)
        for receipt in _half_done(connection, path):
            happened = _happened(receipt, loaded)
            if happened:
                _finish(connection, receipt)
            elif happened is not None:
                receipt.status = FAILED
                _forget(receipt)
                save(connection, receipt)


def _half_done(connection: Any, path: Path) -> list[Receipt]:
    return [item for item in receipts(connection, str(path), PREPARED) if item.kind == KIND]


def _happened(receipt: Receipt, loaded: Loaded | None) -> bool | None:
    """Whether the file was written before the process died; None where it can't be read just now.

    A person may have written in it since. Then the rules say it: a change that is forgotten although its rules
    stand there would let its turns be counted a second time.
    """
    text = loaded.text if loaded else ""
    digest = text_hash(text)
    if digest in (receipt.data["digest_after"], receipt.data["digest_before"]):
        return bool(digest == receipt.data["digest_after"])
    try:
        there = {rule.id: filed(rule) for rule in parse(text).rules.all}
    except DigestUnreadable:
        return None
    last = {change["rule"]: change for change in receipt.data["changes"]}
    after = {name: filed(rule_from(change["after"])) for name, change in last.items() if change["after"]}
    new = {name for name in after if (last[name]["before"] or {}).get("id") != name}
    gone = last.keys() - after.keys()
    return any(name in new or there[name] == after[name] for name in there.keys() & after.keys()) or (
        not after and not gone & there.keys()
    )
