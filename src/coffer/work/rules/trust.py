"""Trust in the texts of a digest: what would become deliverable, and the person's word on it.

Trust is given to the texts that were shown, not to the file: what is put into it between showing and saying yes
gains nothing. Every change leaves a receipt of kind `trust`; its data: verb (trust, revoke, take), digest (path),
texts (key → by, of those that became known), forgotten (key → by, of those that were known until then).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coffer.core.digest import Refused
from coffer.core.effective import Origin, active, key
from coffer.core.rule import Rule
from coffer.disk.places import Places
from coffer.disk.project import FILE, FOLDER, digest_file, project_of, user_digest
from coffer.disk.replace import refusals
from coffer.errors import DigestForeign, TranscriptMissing
from coffer.store import proposals, trust
from coffer.store.db import DONE, Receipt, begun, database, save
from coffer.store.home import Home
from coffer.store.proposals import Proposal
from coffer.work.rules.effective import examined, standing, user_home

KIND = "trust"


@dataclass(frozen=True, slots=True)
class PendingTrust:
    """What a word of trust would change. new: active rules that are not delivered, each with its line.

    refused: rules that never are. vanished: keys of trusted texts that are no longer in the file. active: keys of
    all its active rules; trusted: how many of them are delivered.
    """

    path: Path
    origin: Origin
    new: tuple[tuple[Rule, int], ...]
    refused: tuple[Refused, ...]
    vanished: tuple[str, ...]
    active: tuple[str, ...]
    trusted: int

    @property
    def empty(self) -> bool:
        """Whether there is nothing to decide."""
        return not self.new and not self.vanished


def targets(said: str | None, folder: Path, environment: Mapping[str, str]) -> list[tuple[Path, Origin]]:
    """The digest files that a PATH means: a folder's project, a digest file, the home folder; None: all that count.

    Raises TranscriptMissing where no digest is, DigestForeign for a file that doesn't count where it lies.
    """
    user = user_home(environment)
    if said is None:
        both: set[tuple[Path, Origin] | None] = {_of(folder, user), (user_digest(user), "user")}
        return sorted((one for one in both if one and os.path.lexists(one[0])), key=lambda one: one[1])
    path = folder / os.path.expanduser(said)  # noqa: PTH111  (pathlib's raises for a user that there is not)
    named = path.name == FILE and path.parent.name == FOLDER
    found = _of(path.parent.parent if named else path, user)
    if found is None or not os.path.lexists(found[0]):
        raise TranscriptMissing(str(found[0] if found else digest_file(path)))
    if named and os.path.realpath(path) != os.path.realpath(found[0]):
        raise DigestForeign(str(path), f"not the one that counts there, which is {found[0]}")
    return [found]


def _of(folder: Path, user: Path) -> tuple[Path, Origin] | None:
    if os.path.realpath(folder) == os.path.realpath(user):
        return user_digest(user), "user"
    root = project_of(folder, user)
    return (digest_file(root), "project") if root is not None else None


def pending_trust(path: Path, origin: Origin, home: Home, places: Places) -> PendingTrust:
    """What `trust` would change for a digest. Raises DigestBroken, StoreFailed, and what reading it raises."""
    found = examined(path, origin, home, places)
    if found.digest is None:
        raise TranscriptMissing(str(path))
    delivered = found.trusted
    rules = list(active(found.digest))
    new = {key(rule.text): (rule, line) for rule, line in reversed(rules) if key(rule.text) not in delivered}
    there = {key(rule.text) for rule in found.digest.rules.all}
    vanished = sorted(text for text, by in found.known.items() if by in trust.DELIVERED and text not in there)
    return PendingTrust(
        path,
        origin,
        tuple(reversed(new.values())),
        found.digest.refused,
        tuple(vanished),
        tuple(key(rule.text) for rule, _ in rules),
        sum(key(rule.text) in delivered for rule, _ in rules),
    )


def give_trust(pending: PendingTrust, home: Home, now: datetime | None = None) -> Receipt:
    """Let the new texts be delivered, and forget those that vanished; the person's word. Raises StoreFailed."""
    new: dict[str, trust.By] = {key(rule.text): "person" for rule, _ in pending.new}
    return _change(home, pending.path, "trust", new, pending.vanished, now)


def revoke_trust(pending: PendingTrust, home: Home, now: datetime | None = None) -> Receipt:
    """Deliver nothing from a digest any more until it is trusted again. Raises StoreFailed.

    Its texts are remembered, so that those of the person's own file are not taken for new ones.
    """
    seen: dict[str, trust.By] = dict.fromkeys(pending.active, "seen")
    return _change(home, pending.path, "revoke", seen, None, now)


def undo_trust(receipt: Receipt, connection: sqlite3.Connection) -> None:
    """Take back what a receipt of this kind did. The caller closes the receipt."""
    digest, data = str(receipt.data["digest"]), receipt.data
    trust.forget(connection, digest, data["texts"])
    trust.grant_keys(connection, digest, data["forgotten"])
    if data["verb"] == "take":
        trust.see(connection, digest, data["texts"])  # else the next look would take them again


def _change(  # noqa: PLR0913  (what a receipt says)
    home: Home,
    path: Path,
    verb: str,
    texts: dict[str, trust.By],
    gone: Iterable[str] | None,
    now: datetime | None,
) -> Receipt:
    """Forget these texts (None: all of the digest), let those be known, and leave a receipt of both.

    What an agent had asked for is decided with it.
    """
    receipt = begun(KIND, "", "", path, now)
    with refusals(home.root), database(home) as connection:
        forgotten = trust.forget(connection, str(path), gone)
        forgotten |= trust.forget(connection, str(path), texts)
        trust.grant_keys(connection, str(path), texts, now)
        receipt.status = DONE
        receipt.data = {"verb": verb, "digest": str(path), "texts": texts, "forgotten": forgotten}
        for one in proposals.open_proposals(connection):
            if (one.verb, one.digest) == (verb, str(path)):
                proposals.close(connection, one.id, "accepted")
        save(connection, receipt)
    return receipt


def take(home: Home, environment: Mapping[str, str], now: datetime | None = None) -> Receipt | None:
    """Settle the person's own file: what they wrote there alone is trusted, anything else is remembered as seen.

    To be called wherever Coffer writes anyway, at the latest when a session begins and ends: what the person wrote
    is theirs only as long as it can be told that no agent was there. The receipt, None where nothing was taken.
    """
    found = standing(user_digest(user_home(environment)), "user", home, Places.of(environment))
    if found.taken:
        taken: dict[str, trust.By] = dict.fromkeys(sorted(found.taken), "person")
        return _change(home, found.path, "take", taken, (), now)
    new = [text for text in map(key, found.untrusted) if text not in found.known]
    if new:
        with refusals(home.root), database(home) as connection:
            trust.see(connection, str(found.path), new, now)
    return None


def propose_trust(pending: Iterable[PendingTrust], verb: str, by: str, home: Home) -> list[Proposal]:
    """Keep for the person what was asked for by who may not decide. verb: trust, revoke."""
    with refusals(home.root), database(home) as connection:
        return [
            proposals.add(
                connection,
                verb,
                str(one.path),
                {"text": str(one.path), "texts": [rule.text for rule, _ in one.new]},
                by,
            )
            for one in pending
        ]
