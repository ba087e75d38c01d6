"""The generated files in `.bench/`, made once and used again, and the temporary home that commands see.

A file's name holds its size, seed and a digest of the code that made it; it gets that name when it is
complete, so what is there is right.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import generate, generate_codex, words
from bench.generate import LARGE_RESULTS, SMALL_RECORDS, session
from bench.generate_codex import rollout

STORE = Path(__file__).resolve().parents[1] / ".bench"
_SEED = 1
_DAY = 86_400
_CODE = hashlib.sha256(
    b"".join(Path(str(module.__file__)).read_bytes() for module in (generate, generate_codex, words))
).hexdigest()[:10]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to measure on: MiB, and what it is made of."""

    megabytes: int
    kind: str = "large"


def _lines(wanted: Wanted) -> Iterator[bytes]:
    match wanted.kind:
        case "codex":
            return rollout(wanted.megabytes, _SEED)
        case "small":
            return session(wanted.megabytes, _SEED, SMALL_RECORDS)
        case "compacted":
            return session(wanted.megabytes, _SEED, LARGE_RESULTS, compacted=True)
        case _:
            return session(wanted.megabytes, _SEED, LARGE_RESULTS)


def made(wanted: Wanted) -> Path:
    """The file, generated if it is not there yet; files of older generators are removed."""
    STORE.mkdir(exist_ok=True)
    stem = f"{wanted.kind}-{wanted.megabytes}mb-seed{_SEED}"
    path = STORE / f"{stem}-{_CODE}.jsonl"
    if not path.exists():
        for old in STORE.glob(f"{stem}-*"):
            old.unlink()
        unfinished = path.with_suffix(".part")
        with unfinished.open("wb") as file:
            file.writelines(_lines(wanted))
        unfinished.replace(path)
    return path


def placed(path: Path, home: Path) -> Path:
    """The file's place in a home, where its agent would have written it."""
    with path.open("rb") as file:
        first = json.loads(file.readline())
    if first["type"] == "session_meta":
        folder = home / ".codex" / "sessions" / "2026" / "06" / "01"
        place = folder / f"rollout-2026-06-01T09-00-00-{first['payload']['id']}.jsonl"
    else:
        folder = home / ".claude" / "projects" / "-home-dev-project" / path.stem
        folder = folder.with_name(f"-home-dev-project-{path.stem}")
        place = folder / f"{first['sessionId']}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        os.link(path, place)
    return place


def fresh_copy(path: Path, place: Path, home: Path) -> None:
    """Put a copy of the file where a command may change it, as a session that has been at rest for a day.

    Coffer does not touch a file that was just written to: its client may be running. Its store in the home is
    removed, so that each run is a first one.
    """
    for folder in (place.parent, home / ".coffer"):
        shutil.rmtree(folder, ignore_errors=True)
    place.parent.mkdir(parents=True)
    shutil.copyfile(path, place)
    rested = time.time() - _DAY
    os.utime(place, (rested, rested))
