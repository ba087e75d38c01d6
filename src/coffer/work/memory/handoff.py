"""Write, read and take back handoffs: one file a branch, and those that it replaced beside it (core/handoff)."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from coffer.core.entry import Entry, made, rendered
from coffer.core.handoff import Handoff, over, parsed, path_in, too_much, written
from coffer.core.text_hash import text_hash
from coffer.disk.put import put
from coffer.disk.replace import refusals
from coffer.errors import FileMoved, PrunedContentMissing, ReceiptNotFound
from coffer.store import vault
from coffer.store.db import DONE, UNDONE, Receipt, begun, database, receipts, save
from coffer.store.db import receipt as kept_receipt
from coffer.store.home import Home
from coffer.work.memory.handoff_errors import HandoffChangedSince, HandoffRefused, NoHandoff
from coffer.work.memory.handoff_place import Place
from coffer.work.project.identity import register

KIND = "handoff"
MOST_KEPT = 30
"""Replaced handoffs of a branch that are kept."""
_TRIES = 5
_LARGEST_FILE = 8 << 20
LATE = "then"
"""What stands for the fingerprint of a file whose content at that time nobody noted."""
UNBORN = "none"
"""What stands for a commit on a branch that has none yet."""


@dataclass(frozen=True, slots=True)
class By:
    """Who writes. session: "" where that is not known."""

    source: Literal["person", "agent", "distil"]
    agent: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Then:
    """The moment that a text speaks of, where that is not the present one.

    late: the files on disk are no longer what they were then. again: it replaces an earlier state of the same draft,
    which need not be kept.
    """

    time: datetime
    commit: str = ""
    late: bool = False
    again: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A handoff that was written. before: the one that it replaced. let_go: older ones that are no longer kept."""

    receipt: Receipt
    entry: Entry
    before: Entry | None = None
    let_go: int = 0


def set_handoff(place: Place, handoff: Handoff, by: By, now: datetime, branch: str = "") -> Written:
    """Write the handoff of a branch, for "" of the one that is checked out; the one before goes to the history.

    Secrets are redacted. Raises HandoffRefused, Busy, FileMoved, WriteFailed, ProjectBroken.
    """
    if handoff.empty:
        raise HandoffRefused("it says nothing: give at least a goal, the state or a next step")
    if wrong := too_much(handoff):
        raise HandoffRefused(wrong)
    return put_text(place, written(handoff), by, now, branch or place.branch)


def put_text(  # noqa: PLR0913  (where, what, who, when)
    place: Place, text: str, by: By, now: datetime, branch: str, then: Then | None = None
) -> Written:
    """The same of a text as it is. then: what it speaks of, None for the present moment."""
    if not text.strip():
        raise HandoffRefused("it is empty")
    if wrong := over(text):
        raise HandoffRefused(wrong)
    register(place.home, place.root)
    entry = _entry(place, text, by, branch, then or Then(now, _commit(place, branch)))
    return _replaced(place, branch, entry, now, again=then is not None and then.again)


def current(place: Place, branch: str) -> Entry | None:
    """The handoff of a branch."""
    found = vault.entries(place.file(branch), "handoff")
    return found[0] if found else None


def edited(entry: Entry) -> bool:
    """Whether a person has changed it by hand since it was written."""
    told = dict(entry.more).get("text", "")
    return bool(told) and told != _digest(entry.text)


def branches(place: Place) -> list[Entry]:
    """The handoffs of the project, newest first."""
    found = [one for path in vault.files(place.lane) for one in vault.entries(path, "handoff")[:1]]
    return sorted(found, key=lambda entry: entry.time, reverse=True)


def kept(place: Place, branch: str) -> list[tuple[str, Entry]]:
    """The replaced handoffs of a branch with their names, newest first."""
    found = [(path.stem, vault.entries(path, "handoff")) for path in vault.files(place.history(branch))]
    return [(name, entries[0]) for name, entries in reversed(found) if entries]


def drop(place: Place, branch: str, now: datetime) -> Written:
    """Put a branch's handoff into its history, so that it has none. Raises NoHandoff and as `set_handoff`."""
    entry = current(place, branch)
    if entry is None:
        from_others = [other.branch or "this folder" for other in branches(place)]
        raise NoHandoff(f"“{branch}”" if branch else "this folder", from_others)
    return _replaced(place, branch, None, now)


def undo_handoff(receipt: Receipt, home: Home, now: datetime | None = None) -> Receipt:
    """Put back what a receipt of kind `handoff` replaced; the receipt of the undo.

    Raises ReceiptNotFound, HandoffChangedSince, PrunedContentMissing, Busy, WriteFailed; then nothing changed.
    """
    now = now or datetime.now(UTC)
    with database(home, write=False) as connection:
        there = kept_receipt(connection, receipt.id)
    if there is None or there.status == UNDONE:
        raise ReceiptNotFound(f"Receipt {receipt.id} is undone: there is nothing to undo.")
    path = Path(receipt.path)
    before = _before(receipt, path)
    text = vault.read(path)
    done = begun("undo", receipt.agent, receipt.session, path, now)
    done.data["undoes"] = receipt.id
    if text != before:
        if _digest(text or "") != receipt.data["after"]:
            raise HandoffChangedSince(receipt.id, str(path))
        if text is not None:
            with refusals(home.backups):
                folder = home.make(home.backups / done.id)
            put(folder / path.name, text.encode("utf-8", "surrogateescape"), 0o600)
        vault.rewrite(home, path, text, before)
    if before is not None:
        vault.rewrite(home, path.parent / "history" / path.stem / receipt.data["history"], before, None)
    receipt.status, done.status = UNDONE, DONE
    with database(home) as connection:
        save(connection, receipt)
        save(connection, done)
    return done


def _before(receipt: Receipt, path: Path) -> str | None:
    name = receipt.data["history"]
    if not name:
        return None
    place = path.parent / "history" / path.stem / name
    text = vault.read(place)
    if text is None:
        raise PrunedContentMissing("The handoff that was replaced", str(place), "it was deleted")
    return text


def _entry(place: Place, text: str, by: By, branch: str, then: Then) -> Entry:
    time = then.time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    seen = {
        path: LATE if then.late else fingerprint(place.top, path) for path in map(path_in, parsed(text).files)
    }
    # white space is folded in a front matter, and names of files may hold it
    told = json.dumps(seen, separators=(",", ":")).replace(" ", "\\u0020") if seen else ""
    more = (("commit", then.commit), ("folder", str(place.top)), ("seen", told))
    entry = made(
        "handoff",
        text,
        source=by.source,
        time=time,
        agent=by.agent,
        session=by.session,
        branch=branch,
        project=place.identity.id,
        more=tuple((key, value) for key, value in more if value),
    )
    safe = vault.tellable(place.home, entry)
    return replace(safe, more=(*safe.more, ("text", _digest(safe.text))))


def _replaced(
    place: Place, branch: str, entry: Entry | None, now: datetime, *, again: bool = False
) -> Written:
    path = place.file(branch)
    after = rendered(entry) if entry is not None else None
    for last in reversed(range(_TRIES)):
        before = vault.read(path)
        old = current(place, branch) if before is not None else None
        receipt = (_of(place.home, path, before) if again else None) or _begun(place, branch, entry, old, now)
        if "history" not in receipt.data:
            receipt.data["history"] = _shelve(place, branch, before, old)
        receipt.data["after"] = _digest(after or "")
        try:
            vault.rewrite(place.home, path, before, after)
        except FileMoved:
            if not last:
                raise
            continue
        receipt.status = DONE
        with database(place.home) as connection:
            save(connection, receipt)
        return Written(receipt, entry or old or Entry("handoff", ""), old, _let_go(place, branch))
    raise AssertionError("the last try returns or raises")


def _begun(place: Place, branch: str, entry: Entry | None, old: Entry | None, now: datetime) -> Receipt:
    by = entry or old
    made = begun(KIND, by.agent if by else "", by.session if by else "", place.file(branch), now)
    made.data = {
        "verb": "set" if entry is not None else "drop",
        "branch": branch,
        "project": place.identity.id,
    }
    return made


def _of(home: Home, path: Path, text: str | None) -> Receipt | None:
    """The receipt of what a file holds: a draft that is made anew is one write with the one before."""
    with database(home) as connection:
        found = receipts(connection, str(path), DONE)
    return next((one for one in found if one.kind == KIND and one.data["after"] == _digest(text or "")), None)


def _shelve(place: Place, branch: str, text: str | None, old: Entry | None) -> str:
    """Put a handoff that is going to be replaced into the history; the name of its file there, "" for none."""
    if text is None:
        return ""
    stamp = "".join(char for char in (old.time if old else "") if char.isalnum()) or "undated"
    for count in range(1000):
        path = place.history(branch) / f"{stamp}-{count:03}.md"
        there = vault.read(path)
        if there == text:
            return path.name  # of a write that was broken off behind this
        if there is None and not os.path.lexists(path):
            vault.rewrite(place.home, path, None, text)
            return path.name
    raise FileMoved(str(place.history(branch)))


def _let_go(place: Place, branch: str) -> int:
    """Delete the oldest of the history that are over the limit; how many."""
    over_limit = vault.files(place.history(branch))[:-MOST_KEPT]
    for path in over_limit:
        vault.rewrite(place.home, path, vault.read(path), None)
    return len(over_limit)


def _commit(place: Place, branch: str) -> str:
    """The commit that a branch stands on; "" where git does not say."""
    if place.checkout is None or not place.git.works():
        return ""
    name = "HEAD" if branch == place.branch and not place.doing else f"refs/heads/{branch}"
    said = place.git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return said.strip() if said is not None else "" if place.git.failed else UNBORN


def fingerprint(top: Path, path: str) -> str:
    """What a file holds, in a word: "-" where there is none, "outside" where it is not in the work tree.

    A file beyond the work tree is not opened: a handoff must not tell what somebody's keys are like.
    """
    whole = inside(top, path)
    if whole is None:
        return "outside"
    try:
        descriptor = os.open(whole, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return "-"
    except (OSError, ValueError):
        return "unreadable"
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            return "folder"
        if not stat.S_ISREG(found.st_mode):
            return "unreadable"
        if found.st_size > _LARGEST_FILE:
            return f"{found.st_size}-{found.st_mtime_ns}"
        return hashlib.sha256(file.read(_LARGEST_FILE + 1)).hexdigest()[:12]


def inside(top: Path, path: str) -> str | None:
    """The whole path of a file of the work tree, its links resolved; None where it is not in it."""
    try:
        whole = os.path.realpath(top / path)
    except (OSError, ValueError):
        return None
    return whole if path and Path(whole).is_relative_to(os.path.realpath(top)) else None


def _digest(text: str) -> str:
    return text_hash(text, 16) if text else ""
