"""The vault in one file, and back: a gzipped tar with a manifest, the Markdown as it is, and the person's own digest.

Out: what lies there, nothing else; no database, no pruned content, no backups, no settings. In: entry by entry, into
what is there: an entry that is known by its id is not taken twice, and nothing that is there is overwritten.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import os
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from coffer.core.entry import LANES, Entry, Lane, entries_of, joined, without
from coffer.core.redact import redact
from coffer.core.regex import regex
from coffer.core.text_hash import text_hash
from coffer.disk.put import put
from coffer.disk.replace import refusals
from coffer.errors import ReceiptNotFound
from coffer.store import vault
from coffer.store.db import DONE, PREPARED, Receipt, begun, record, undone
from coffer.store.home import Home
from coffer.store.projects import FILE, folder, is_id, parsed
from coffer.work.memory.archive_errors import ArchiveExists, ArchiveUnreadable
from coffer.work.rules.effective import user_home

KIND = "import"
FORMAT = 1
MANIFEST = "coffer-export.json"
DIGEST = "digest/behavioral-digest.md"
LARGEST = 1 << 30
"""Bytes of all that an archive may unfold to."""
_MOST = 200_000
"""Files."""
_LARGEST_PAGE = 65_536
_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LONGEST_NAME = 255
"""Bytes of a part of a path, on the usual disks."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an archive holds. entries: by lane."""

    path: Path
    files: int
    size: int
    entries: Mapping[str, int]


@dataclass(slots=True)
class Incoming:
    """What an archive would add to one file. kept: ids that are there with another text, which stays.

    text: of the archive's file. page: of a project, where none is here. into: the project that this page gives its
    memory to.
    """

    path: Path
    lane: Lane
    new: list[Entry] = field(default_factory=list)
    known: int = 0
    kept: list[str] = field(default_factory=list)
    page: bytes = b""
    text: str = ""
    into: str = ""


@dataclass(slots=True)
class Taken:
    """A whole import. digest: the text of the exporting person's own digest, which is never put in by itself."""

    archive: Path
    made: str
    files: list[Incoming] = field(default_factory=list)
    digest: str = ""

    @property
    def changing(self) -> list[Incoming]:
        """Files that would be written."""
        return [one for one in self.files if one.new or one.page]


def export(
    home: Home, environment: Mapping[str, str], target: Path, *, project: str = "", force: bool = False
) -> Exported:
    """Write the vault, or one project's part of it, into an archive, 0600. Raises ArchiveExists, WriteFailed."""
    if target.exists() and not force:
        raise ArchiveExists(str(target))
    root = vault.vault(home)
    top = root / "projects" / project if project else root
    found = [path for path in sorted(top.rglob("*")) if _is_ours(path, root)] if top.is_dir() else []
    counts: dict[str, int] = {}
    packed = io.BytesIO()
    size = 0
    with tarfile.open(fileobj=packed, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        _add(archive, MANIFEST, json.dumps({"format": FORMAT, "made": now}).encode())
        for path in found:
            data = path.read_bytes()
            size += len(data)
            _add(archive, f"memory/{path.relative_to(root).as_posix()}", data)
            lane = _lane(path.relative_to(root).parts)
            if lane is not None:
                text = data.decode("utf-8", "surrogateescape")
                counts[lane] = counts.get(lane, 0) + len(entries_of(text, lane))
        digest = user_home(environment) / ".cozempic" / "behavioral-digest.md"
        if not project and digest.is_file():
            _add(archive, DIGEST, digest.read_bytes())
    put(target, packed.getvalue(), 0o600)
    return Exported(target, len(found), size, counts)


def _is_ours(path: Path, root: Path) -> bool:
    """Whether it is a file of a lane, or a project's page: not a link, not hidden, not somebody else's."""
    parts = path.relative_to(root).parts
    if path.is_symlink() or not path.is_file() or any(part.startswith(".") for part in parts):
        return False
    return (path.suffix == ".md" and _lane(parts) is not None) or path.name == FILE


def _lane(parts: tuple[str, ...]) -> Lane | None:
    place = 1 if parts[:1] == ("global",) else 2
    return next((lane for lane in LANES if parts[place : place + 1] == (lane,)), None)


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    about = tarfile.TarInfo(name)
    about.size, about.mode = len(data), 0o600
    archive.addfile(about, io.BytesIO(data))


def look_into(archive: Path, home: Home) -> Taken:
    """What an archive would add. Writes nothing. Raises ArchiveUnreadable."""
    taken: Taken | None = None
    known, names = _Known(), set[str]()
    try:
        with tarfile.open(archive, "r:*") as packed:
            for name, data in _members(packed, archive):
                if taken is None:
                    taken = Taken(archive, _manifest(name, data, archive))
                elif name == DIGEST:
                    taken.digest = data.decode("utf-8", "replace")
                elif name in names:
                    raise ArchiveUnreadable(str(archive), f"“{_shown(name)}” stands in it twice")
                else:
                    names.add(name)
                    taken.files.append(_incoming(home, PurePosixPath(name), data, archive, known))
    except tarfile.ReadError as error:
        raise ArchiveUnreadable(str(archive), "it is no archive, or it is damaged") from error
    except (OSError, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "it is cut off"
        raise ArchiveUnreadable(str(archive), reason.lower()) from error
    if taken is None:
        raise ArchiveUnreadable(str(archive), "it is empty")
    return taken


def _members(packed: tarfile.TarFile, archive: Path) -> Iterator[tuple[str, bytes]]:
    size = 0
    for count, about in enumerate(packed):
        size += about.size
        if count > _MOST or size > LARGEST:
            raise ArchiveUnreadable(str(archive), "it unfolds to more than a vault holds")
        file = packed.extractfile(about) if about.isreg() else None
        if file is None:
            raise ArchiveUnreadable(str(archive), f"“{_shown(about.name)}” in it is no file")
        yield about.name, file.read()


def _manifest(name: str, data: bytes, archive: Path) -> str:
    try:
        said: Any = json.loads(data) if name == MANIFEST else None
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise ArchiveUnreadable(str(archive), "it is no archive that this version of Coffer knows")
    return str(said.get("made", ""))


class _Known:
    """The entries of whole lanes, by id: a note that was put in order since stands in another file of its lane."""

    def __init__(self) -> None:
        self._lanes: dict[Path, dict[str, str]] = {}

    def of(self, place: Path, lane: Lane) -> Mapping[str, str]:
        """Text by id of all that lies in a lane's folder, archives too."""
        if place not in self._lanes:
            files = sorted(place.rglob("*.md")) if place.is_dir() else ()
            self._lanes[place] = {one.id: one.text for path in files for one in vault.entries(path, lane)}
        return self._lanes[place]


def _is_name(part: str) -> bool:
    return part[:1] not in ("", ".") and not _CONTROL.search(part) and len(os.fsencode(part)) <= _LONGEST_NAME


def _page(home: Home, path: Path, data: bytes) -> Incoming:
    """A project's page, where none is here, and where it neither gives away a memory that is here nor reads one."""
    try:
        page = parsed(path.parent.name, data)
    except ValueError:
        return Incoming(path, "knowledge")
    own = [path.parent] if page.into else []
    taken = path.exists() or any(one.is_dir() for one in (*own, *(folder(home, name) for name in page.was)))
    return Incoming(path, "knowledge") if taken else Incoming(path, "knowledge", page=data, into=page.into)


def _shown(name: str | PurePosixPath) -> str:
    return _CONTROL.sub("?", str(name))[:_LONGEST_NAME]


def _incoming(home: Home, name: PurePosixPath, data: bytes, archive: Path, known: _Known) -> Incoming:
    """What one file of an archive adds; a name that could lead anywhere but into a lane is refused."""
    parts = name.parts[1:]
    lane = _lane(parts)
    sound = (
        name.parts[:1] == ("memory",)
        and len(parts) > 1
        and all(map(_is_name, parts))
        and (parts[0] == "global" or (parts[0] == "projects" and len(parts) > 2 and is_id(parts[1])))
    )
    page = sound and parts[0] == "projects" and parts[2:] == (FILE,)
    if not sound or not (page or (lane is not None and name.suffix == ".md")):
        raise ArchiveUnreadable(str(archive), f"“{_shown(name)}” in it is nothing that a vault holds")
    path = vault.vault(home).joinpath(*parts)
    if page:
        return _page(home, path, data[:_LARGEST_PAGE])
    assert lane is not None
    found = Incoming(path, lane, text=data.decode("utf-8", "surrogateescape"))
    whole = path.parent.name == "handoff"  # one a branch: the one that is there counts
    taken = whole and path.exists()
    there = known.of(vault.vault(home).joinpath(*parts[: parts.index(lane) + 1]), lane)
    for one in entries_of(found.text, lane, vault.dated(path)):
        if one.id not in there and not taken:
            found.new.append(one)
        elif there.get(one.id) == one.text:
            found.known += 1
        else:
            found.kept.append(one.id)
    return found


def take_in(taken: Taken, home: Home) -> Receipt | None:
    """Add it; None where there is nothing to add. A kill leaves a receipt by which the rest is undone or done again.

    Raises Busy, FileMoved, WriteFailed, StoreFailed; what was added until then stands in the receipt.
    """
    if not taken.changing:
        return None
    receipt = begun(KIND, "", "", vault.vault(home))
    pages = [one for one in taken.changing if one.page]
    texts = [(one, *_grown(one)) for one in taken.changing if one.new]
    receipt.data = {
        "archive": taken.archive.name,
        "pages": [[str(one.path), _digest(one.page)] for one in pages],
        "added": [
            [str(one.path), one.lane, *added]
            for one, before, after in texts
            for added in sorted(_said(after, one.lane) - _said(before or "", one.lane))
        ],
    }
    record(home, receipt)
    for one in pages:
        with refusals(one.path):
            home.make(one.path.parent)
        put(one.path, one.page, 0o600)
    for one, before, after in texts:
        vault.rewrite(home, one.path, before, after)
    receipt.status = DONE
    record(home, receipt)
    return receipt


def _grown(one: Incoming) -> tuple[str | None, str]:
    """A file's text, and the same with what is new; a file that is not there yet comes as it was written."""
    before = vault.read(one.path)
    every = len(one.new) == len(entries_of(one.text, one.lane))
    if before is None and every and not redact(one.text).found:
        return None, one.text
    after = before or ""
    for entry in one.new:
        after = joined(after, vault.redacted(entry))
    return before, after


def _said(text: str, lane: Lane) -> set[tuple[str, str]]:
    """Id and digest of the text of each entry: one that a person edited is no longer what was added."""
    return {(one.id, text_hash(one.text)) for one in entries_of(text, lane)}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def undo_import(receipt: Receipt, home: Home, now: datetime | None = None) -> Receipt:
    """Take out what an import added; entries that were changed since stay. The receipt of the undo.

    Raises ReceiptNotFound, Busy, FileMoved, WriteFailed.
    """
    if receipt.status not in (DONE, PREPARED):
        raise ReceiptNotFound(f"Receipt {receipt.id} is {receipt.status}: there is nothing to undo.")
    added: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for path, lane, entry, text in receipt.data["added"]:
        added.setdefault((path, lane), set()).add((entry, text))
    for (path, lane), said in added.items():
        _take_out(home, Path(path), next(each for each in LANES if each == lane), said)
    for path, text in receipt.data["pages"]:
        page = Path(path)
        with refusals(page):
            if page.is_file() and _digest(page.read_bytes()) == text:
                page.unlink()
        _prune_folders(home, page.parent)
    return undone(home, receipt, now)


def _take_out(home: Home, path: Path, lane: Lane, said: set[tuple[str, str]]) -> None:
    text = vault.read(path)
    if text is None:
        return
    after = text
    for one in entries_of(text, lane):
        if (one.id, text_hash(one.text)) in said:
            after = without(after, one)
    if after != text:
        vault.rewrite(home, path, text, after if after.strip() else None)
        _prune_folders(home, path.parent)


def _prune_folders(home: Home, place: Path) -> None:
    """Folders that an import made and that hold nothing any more."""
    while place != vault.vault(home) and place.is_relative_to(vault.vault(home)):
        try:
            os.rmdir(place)  # noqa: PTH106  (refuses one that holds something, which ends the walk)
        except OSError:
            return
        place = place.parent
