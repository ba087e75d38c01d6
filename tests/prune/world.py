"""What the tests of prune stand on: a scene without files, a prune into bytes, and a machine to run commands on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from coffer.core import view as views
from coffer.core.composition import compose
from coffer.core.laws import Side
from coffer.core.parts import parts_of
from coffer.core.plan import Action, Cut, Drop, Plan, Proposed, Stub, Trim
from coffer.core.record import Record
from coffer.core.rewrite import rewrite
from coffer.core.scene import Care, Pair, Scene, scene
from coffer.core.strategies.table import STRATEGIES
from coffer.core.transcript import Transcript
from coffer.work.pruning.prune import Proposal, Written, propose, write_checked
from coffer.work.sessions.read import opened
from tests.prune.generate import Talk
from tests.transcripts import SESSION, name_of, read


def look(
    talk: Talk, *, protect: Sequence[str] = (), keep_turns: int = 1, unchanged: Sequence[str] = ()
) -> Scene:
    """The scene of a session; unchanged: paths that were not written since they were read."""
    transcript = read(talk.made)
    view = views.view(transcript)

    def is_unchanged(pair: Pair) -> bool:
        return pair.path in unchanged

    parts = compose(parts_of(view.items), [], None).parts
    return scene(transcript, view, parts, Care(keep_turns, protect, is_unchanged))


def take(looked: Scene | Talk, strategy: str) -> list[str]:
    """What a strategy proposes, a line an action: "drop u1", "cut a1 0", "stub r1", "trim r1", "strip r1"."""
    looked = looked if isinstance(looked, Scene) else look(looked)
    propose_all = next(row.propose for row in STRATEGIES if row.name == strategy)
    return [told(item[1] if isinstance(item, tuple) else item) for item in propose_all(looked)]


def told(action: Action) -> str:
    name = name_of(action.record.uuid) if action.record.uuid else f"@{action.record.start}"
    match action:
        case Drop():
            return f"drop {name}"
        case Cut():
            return f"cut {name} {action.index}"
        case Stub():
            return f"stub {name}"
        case Trim():
            return f"trim {name}"
        case _:
            return f"strip {name}"


def records_of(talk: Talk) -> tuple[Transcript, dict[str, Record]]:
    """A session's transcript, and its records by name."""
    transcript = read(talk.made)
    return transcript, {name_of(record.uuid): record for record in transcript.records if record.uuid}


def plan_of(*actions: Action, strategy: str = "test") -> Plan:
    return Plan([Proposed(strategy, action) for action in actions])


def rewritten(data: bytes, plan: Plan) -> bytes:
    """The bytes after a plan, line by line, without the writer that `work` has."""
    transcript = read(data)
    work = rewrite(transcript, plan)
    out, position = [], 0
    for record in transcript.records:
        if not work.touches(record):
            continue
        out.append(data[position : record.start])
        new = work.line(record, data[record.start : record.end])
        position = record.end + (new is None and data[record.end : record.end + 1] == b"\n")
        out.append(new or b"")
    return b"".join(out) + data[position:]


def side(data: bytes, model: str = "") -> Side:
    """One side of the laws' comparison, from bytes."""
    transcript = read(data)
    return Side(views.view(transcript, model), lambda record: data[record.start : record.end])


@contextmanager
def proposed(path: Path, prescription: str = "standard", protect: Sequence[str] = ()) -> Iterator[Proposal]:
    with opened(path) as session:
        yield propose(session, {}, prescription, protect)


def pruned(
    path: Path, prescription: str = "standard", protect: Sequence[str] = ()
) -> tuple[bytes, Proposal, Written]:
    """The bytes that a prune would leave, proven, with the proposal (its session is closed) and the result."""
    target = path.with_suffix(".pruned")
    with proposed(path, prescription, protect) as proposal, target.open("w+b") as file:
        written = write_checked(proposal, target, file)
    return target.read_bytes(), proposal, written


def put(folder: Path, data: bytes, name: str = "session") -> Path:
    """A transcript that was last written to an hour ago."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_bytes(data)
    rest(path)
    return path


def rest(path: Path, seconds: float = 3_600) -> None:
    """Make a file as old as one that nobody works on."""
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def in_place(home: Path, data: bytes, name: str = SESSION) -> Path:
    """A session where Claude Code keeps it, at rest."""
    return put(home / ".claude" / "projects" / "-work-tide", data, name)


def kept(home: Path) -> dict[str, bytes]:
    """All files of Coffer's own folder."""
    root = home / ".coffer"
    return {
        str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()
    }
