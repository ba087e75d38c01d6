"""Hear the human turns of a transcript, from a place on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coffer.agents.table import Agent
from coffer.core.dialect import MARKER
from coffer.core.transcript import About
from coffer.core.turn import Listener, Place, Turn
from coffer.disk.files import Source, open_source
from coffer.errors import CofferError, TranscriptForeign
from coffer.work.sessions.read import agent_of

_HEAD = 1 << 18
WARM_UP = 1 << 19
"""Bytes before the place that are heard for what the first turns look back on."""
NEAR = 1 << 17
"""Bytes at the end of a file that are heard while somebody waits."""
_CHUNK = 1 << 22
_LONGEST_BUNDLE_LINE = 1 << 18
_MARKS = (MARKER.encode(), b'"compact_boundary"', b'"replacement_history"')


@dataclass(frozen=True, slots=True)
class Heard:
    """The human turns of a transcript that begin at `since` or later, in file order.

    offset: the byte behind the last whole line, where the next hearing goes on. session, folder: as the
    file's first and last records say, "" for nothing. warnings: sentences for a person.
    """

    turns: tuple[Turn, ...]
    offset: int
    session: str
    folder: str
    agent: str
    warnings: tuple[str, ...] = ()


def hear(path: Path, since: int = 0, parents: Mapping[str, Path] | None = None) -> Heard:
    """Hear the transcript at path from byte `since` on (in a .zst file, of its content).

    Only whole lines are read: a torn last one waits for the next time. Files of subagents, teammates and
    workflows hold no human turns. parents: paths of Codex threads by id; a fork looks back into its parent's
    file, whose turns are not its own. A file that is shorter than `since` was replaced: it is heard from
    its beginning.

    Raises TranscriptMissing, NotAFile, TranscriptEmpty, TranscriptUnreadable, TranscriptForeign.
    """
    with open_source(path) as source:
        agent = agent_of(source)
        if agent is None:
            raise TranscriptForeign(str(path), "no line of it is a record of theirs")
        about = agent.about(source.head(), source.tail())
        end = _last_newline(source)
        warnings = []
        if since > source.size:
            since = 0
            warnings.append(f"{path} is shorter than when it was last read: it is heard from its beginning.")
        turns: list[Turn] = []
        if not about.subagent and not _is_of_subagent(path):
            listener = agent.listener()
            _warm_up(listener, source, about, since, parents or {})
            for line, start in _lines(source, max(0, since - WARM_UP), end):
                turns += [turn for turn in listener.hear(line, start) if turn.start >= since]
        return Heard(
            tuple(turns), max(end, min(since, end)), about.session, about.cwd, agent.name, tuple(warnings)
        )


def stands(agent: Agent, path: Path | None) -> tuple[Place, bool]:
    """What words that are just being said look back on, and whether the file says that they are a person's.

    The last `NEAR` bytes are heard and the first line, which says what a thread is. A file that is not there yet
    says nothing. Raises as `hear`.
    """
    listener = agent.listener()
    if path is not None and path.exists():
        with open_source(path) as source:
            end = _last_newline(source)
            begin = max(0, end - NEAR)
            head = source.head(_HEAD)
            if begin and b"\n" in head:
                listener.hear(head.partition(b"\n")[0], 0)
            for line, start in _lines(source, begin, end):
                listener.hear(line, start)
    return listener.place, listener.persons


def _is_of_subagent(path: Path) -> bool:
    """Older clients lay a subagent's file beside the session's, newer ones below `subagents`.

    Folders further up are the person's own: one may well be called so.
    """
    return path.name.startswith("agent-") or path.parent.name == "subagents"


def _last_newline(source: Source) -> int:
    """The offset behind the last newline, 0 where there is none."""
    end = source.size
    while end > 0:
        begin = max(0, end - _CHUNK)
        at = source.read(begin, end).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        end = begin
    return 0


def _lines(source: Source, since: int, end: int) -> Iterator[tuple[bytes, int]]:
    """The whole lines from the first one that begins at `since` or later up to `end`, with their offsets."""
    rest: list[bytes] = []
    start = at = since
    if since > 0 and source.read(since - 1, since) != b"\n":
        start = -1  # in the middle of a line: what is left of it belongs to nobody
    while at < end:
        chunk = source.read(at, min(at + _CHUNK, end))
        if not chunk:
            return
        at += len(chunk)
        pieces = chunk.split(b"\n")
        for piece in pieces[:-1]:
            line = b"".join((*rest, piece, b"\n"))
            rest = []
            if start >= 0:
                yield line, start
                start += len(line)
            else:
                start = at - len(chunk) + len(piece) + 1
        rest.append(pieces[-1])


def _warm_up(
    listener: Listener, source: Source, about: About, since: int, parents: Mapping[str, Path]
) -> None:
    """Tell the listener what came before the bytes that it will hear: the first lines, bundles, the parent."""
    if since > WARM_UP:
        _hear_marked(listener, source, since - WARM_UP)
    elif about.inherited > 0 and (parent := parents.get(about.parent)) is not None:
        with ExitStack() as stack:
            try:
                above = stack.enter_context(open_source(parent))
            except CofferError:
                return  # what a fork looks back on is a help; its own turns do not depend on it
            until = min(about.inherited, above.size)
            for line, start in _lines(above, max(0, until - WARM_UP), until):
                listener.hear(line, start)


def _hear_marked(listener: Listener, source: Source, until: int) -> None:
    """Of the bytes before the warm-up, the first line and those that hold a bundle or end a context.

    Looked for by the piece: taking every line of a long file apart would cost more than hearing its end.
    """
    at, rest = 0, b""
    while at < until:
        piece = rest + source.read(at, min(at + _CHUNK, until))
        start = at - len(rest)
        at = start + len(piece)
        whole = piece.rfind(b"\n") + 1
        for begin, end in _marked(piece, whole, first=start == 0):
            listener.hear(piece[begin:end], start + begin)
        rest = piece[whole:] if at - start - whole < _LONGEST_BUNDLE_LINE else b""


def _marked(piece: bytes, whole: int, *, first: bool) -> list[tuple[int, int]]:
    """Where the lines with a mark begin and end, in order, with the first line where it is asked for."""
    begins = {0} if first and whole else set()
    for mark in _MARKS:
        found = piece.find(mark, 0, whole)
        while found >= 0:
            begins.add(piece.rfind(b"\n", 0, found) + 1)
            found = piece.find(mark, piece.find(b"\n", found), whole)
    lines = [(begin, piece.find(b"\n", begin) + 1) for begin in sorted(begins)]
    return [(begin, end) for begin, end in lines if end - begin < _LONGEST_BUNDLE_LINE or begin == 0]
