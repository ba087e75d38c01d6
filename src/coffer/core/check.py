"""What is odd in a transcript, and what each oddity means for a resume.

Real transcripts are never tidy: of 901 of them 87 % had forks, 10 % a dangling parent, 8 % an unpaired call,
and they resume (lessons 25). So a finding has a level: what is normal is only told, what a resume loses or
changes is a warning, and what keeps the client from resuming is fatal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from coffer.core import json_lines
from coffer.core.attachments import is_known
from coffer.core.chain import Gap
from coffer.core.dialect import SYNTHETIC, THINKING
from coffer.core.left_out import left_out
from coffer.core.loader import SPEAKERS, STREAMED_ABOVE
from coffer.core.record import Attached, Boundary, Record
from coffer.core.transcript import CHAINED, Transcript
from coffer.core.view import View


class Level(Enum):
    """How much a finding matters."""

    NORMAL = "normal"
    WARNING = "warning"
    FATAL = "fatal"


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of oddity. places: byte offsets in the file where it was seen, in file order."""

    kind: str
    level: Level
    count: int
    meaning: str
    places: tuple[int, ...] = ()


def check(transcript: Transcript, view: View) -> list[Finding]:
    """All findings, the gravest first."""
    found = [
        *_lines(transcript),
        *_chain(transcript, view),
        *_missed(transcript),
        *_pairs(view),
        *_thinking(view),
        *_shape(transcript, view),
    ]
    order = list(Level)
    return sorted(found, key=lambda finding: -order.index(finding.level))


def _finding(kind: str, level: Level, meaning: str, places: list[int]) -> Iterator[Finding]:
    if places:
        yield Finding(kind, level, len(places), meaning, tuple(places))


_ODDITIES: dict[str, tuple[str, Level, str]] = {
    json_lines.NULL: (
        "null line",
        Level.FATAL,
        "The client refuses the whole session: “null is not an object”.",
    ),
    json_lines.TORN: (
        "torn line",
        Level.WARNING,
        "Its writer was killed. The client skips it; the record is lost.",
    ),
    json_lines.NUL: (
        "NUL bytes",
        Level.WARNING,
        "Left by a crash. The client skips such a line; nothing else is lost.",
    ),
    json_lines.GARBAGE: ("unreadable line", Level.WARNING, "No JSON. The client skips it."),
    json_lines.GLUED: (
        "record glued to a torn one",
        Level.WARNING,
        "The client reads neither; the second can be recovered.",
    ),
    json_lines.SECOND: (
        "second record on a line",
        Level.WARNING,
        "The client reads at most the first; the second can be recovered.",
    ),
    json_lines.FOREIGN: ("foreign line", Level.NORMAL, "JSON that is no record. The client passes over it."),
}


def _lines(transcript: Transcript) -> Iterator[Finding]:
    places: dict[str, list[int]] = {}
    for oddity in transcript.oddities:
        places.setdefault(oddity.kind, []).append(oddity.start)
    for kind, starts in places.items():
        name, level, meaning = _ODDITIES[kind]
        if kind == json_lines.NULL and (transcript.agent != "claude" or transcript.size > STREAMED_ABOVE):
            level, meaning = Level.NORMAL, "The client passes over it."
        yield from _finding(name, level, meaning, starts)
    if transcript.unfinished:
        yield Finding(
            "no newline at the end",
            Level.WARNING,
            1,
            "Claude Code's next record would be glued to the last line and lost with it."
            if transcript.agent == "claude"
            else "Codex writes a newline first, then appends.",
            (transcript.size - transcript.unfinished,),
        )


def _chain(transcript: Transcript, view: View) -> Iterator[Finding]:
    branch = view.branch
    yield from _finding(
        "missing parent, history lost",
        Level.WARNING,
        "A resume begins here: nothing older than 5 s stands in, so earlier history is lost to the model.",
        [gap.child.start for gap in branch.gaps if gap.bridged is None],
    )
    yield from _finding(
        "missing parent, bridged",
        Level.NORMAL,
        "The client goes on with the record that came at most 5 s before.",
        [gap.child.start for gap in branch.gaps if gap.bridged is not None],
    )
    yield from _finding(
        "missing parent beside the live branch",
        Level.NORMAL,
        "Of no consequence for a resume.",
        _dangling(transcript, branch.gaps),
    )
    if branch.cycle:
        yield Finding("circle of parents", Level.WARNING, 1, "The client stops where the circle closes.")
    if branch.broken:
        yield Finding(
            "preserved messages missing",
            Level.WARNING,
            len(branch.broken),
            "A compaction names messages that are not in the file; the client keeps only its summary.",
        )


def _missed(transcript: Transcript) -> Iterator[Finding]:
    if transcript.agent != "claude":
        return
    found = left_out(transcript)
    if found is not None:
        way = (
            "`--fix` appends a pointer to it"
            if found.whole
            else "it hangs on a parent that is not in the file"
        )
        meaning = f"{found.why[0].upper()}{found.why[1:]}; {way}."
        yield Finding("newest message left out", Level.WARNING, 1, meaning, (found.newest.start,))


def _dangling(transcript: Transcript, gaps: list[Gap]) -> list[int]:
    known = {record.uuid for record in transcript.records}
    reported = {gap.child.start for gap in gaps}
    return [
        record.start
        for record in transcript.records
        if record.type in CHAINED
        and record.parent
        and record.parent not in known
        and record.start not in reported
    ]


def _pairs(view: View) -> Iterator[Finding]:
    records = [record for record in view.branch.records if record.blocks]
    calls: Counter[str] = Counter()
    results: Counter[str] = Counter()
    for record in records:
        for block in record.blocks:
            if block.kind == "tool_use":
                calls[block.id] += 1
            elif block.kind == "tool_result":
                results[block.id] += 1
    last = max((record.start for record in records if record.role == "assistant"), default=-1)
    unanswered = [r for r in records for b in r.blocks if b.kind == "tool_use" and b.id not in results]
    yield from _finding(
        "call without a result",
        Level.WARNING,
        "The client leaves such a call out, or makes up a failed result; it never resumes to an error.",
        [record.start for record in unanswered if record.start < last],
    )
    yield from _finding(
        "open call at the end",
        Level.WARNING,
        "The turn was cut here. A resume leaves the call out.",
        [record.start for record in unanswered if record.start >= last],
    )
    yield from _finding(
        "result without a call",
        Level.WARNING,
        "The client leaves it out.",
        [r.start for r in records for b in r.blocks if b.kind == "tool_result" and b.id not in calls],
    )
    yield from _finding(
        "doubled call",
        Level.WARNING,
        "The client sends the first of each id only.",
        _doubled(records, "tool_use", calls),
    )


def _doubled(records: list[Record], kind: str, counts: Counter[str]) -> list[int]:
    return [r.start for r in records for b in r.blocks if b.kind == kind and counts[b.id] > 1]


_SHORT_SIGNATURE = 64


def _thinking(view: View) -> Iterator[Finding]:
    if view.branch.records and view.branch.records[0].type not in CHAINED:
        return
    thinking = [r for r in view.branch.records for b in r.blocks if b.kind in THINKING]
    yield from _finding(
        "unsigned thinking",
        Level.WARNING,
        "The API refuses thinking without its signature: a resume may fail with 400 until it is dropped.",
        [r.start for r in thinking if any(b.kind in THINKING and not b.signed for b in r.blocks)],
    )
    yield from _finding(
        "thinking with a short signature",
        Level.NORMAL,
        f"Real signatures are longer than {_SHORT_SIGNATURE} characters; the API may refuse these.",
        [r.start for r in thinking if any(0 < b.signature < _SHORT_SIGNATURE for b in r.blocks)],
    )
    yield from _finding(
        "thinking of another model",
        Level.NORMAL,
        f"Not sent to {view.model or 'this model'}: a model takes back only its own.",
        [r.start for r in thinking if r.model not in ("", SYNTHETIC, view.model)],
    )


def _shape(transcript: Transcript, view: View) -> Iterator[Finding]:
    compactions = [record.start for record in transcript.records if isinstance(record.detail, Boundary)]
    yield from _finding(
        "compaction",
        Level.NORMAL,
        "History before the last one is sent as its summary and what it preserved.",
        compactions,
    )
    yield from _finding(
        "attachment of an unknown type",
        Level.NORMAL,
        "Coffer can't tell whether it reaches the model; please report the type.",
        [
            record.start
            for record in transcript.records
            if isinstance(record.detail, Attached) and not is_known(record.detail.kind)
        ],
    )
    spoken = [record for record in transcript.records if record.type in SPEAKERS and not record.sidechain]
    live = {record.start for record in view.branch.records}
    reached = sum(record.start in live for record in spoken)
    if spoken:
        forks = _forks(transcript)
        yield Finding(
            "messages on the live branch",
            Level.NORMAL if reached else Level.WARNING,
            reached,
            f"A resume reaches {reached} of {len(spoken)} user and assistant records; {len(forks)} forks.",
            tuple(forks),
        )


def _forks(transcript: Transcript) -> list[int]:
    """Records that more than one user or assistant record names as its parent."""
    children = Counter(
        record.parent for record in transcript.records if record.type in SPEAKERS and record.parent
    )
    return [record.start for record in transcript.records if children[record.uuid] > 1]
