"""Open a transcript of any agent and read it once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from coffer.agents.table import Agent, recognise
from coffer.core.record import Record
from coffer.core.transcript import About, Transcript
from coffer.disk.files import Progress, Source, open_source, read_lines
from coffer.errors import CofferError, TranscriptForeign

_HEAD = 1 << 18
_FORK_DEPTH = 16


@dataclass(slots=True)
class Opened:
    """A transcript with the open file that its contents are read from.

    warnings: sentences for a person about the reading itself.
    """

    agent: Agent
    transcript: Transcript
    source: Source
    warnings: list[str]

    def line(self, record: Record | None) -> bytes:
        """The bytes of a record; none for no record."""
        return self.source.read(record.start, record.end) if record is not None else b""


@contextmanager
def opened(
    path: Path, *, progress: Progress | None = None, parents: Mapping[str, Path] | None = None
) -> Iterator[Opened]:
    """Read the transcript at path; parents: paths of Codex threads by id, for forks.

    Raises TranscriptMissing, NotAFile, TranscriptEmpty, TranscriptUnreadable, TranscriptForeign.
    """
    with ExitStack() as stack:
        source = stack.enter_context(open_source(path))
        agent = agent_of(source)
        if agent is None:
            raise TranscriptForeign(str(path), _what(source.head()))
        warnings: list[str] = []
        transcript = Transcript(agent.name)
        transcript.about = agent.about(source.head(), source.tail())
        warnings += _inherit(source, agent, transcript.about, parents or {}, stack)
        for found in read_lines(source, agent.translate, progress):
            transcript.extend(found)
        transcript.size = source.size
        transcript.unfinished = _unfinished(source)
        if source.grown() > 0:
            warnings.append("The file has grown while it was read; what was appended since is not counted.")
        elif source.grown() < 0:
            warnings.append("The file was cut while it was read. Look again.")
        yield Opened(agent, transcript, source, warnings)


def agent_of(source: Source) -> Agent | None:
    """The agent whose transcript a file is, or None: by its ends, else by any line."""
    return recognise(source.head(_HEAD)) or recognise(source.tail(_HEAD)) or _recognise_any(source)


def _recognise_any(source: Source) -> Agent | None:
    """The agent of the first line that is a record of one: a first line may be larger than any head."""
    for found in read_lines(source, lambda line, _start: [agent] if (agent := recognise(line)) else []):
        if found:
            return found[0]
    return None


def _what(head: bytes) -> str:
    if b"\0" in head[:4096] and not head.strip(b"\0\n").startswith(b"{"):
        return "it is binary"
    if not head.lstrip().startswith((b"{", b"[")):
        return "it holds no JSON lines"
    return "it holds JSON, but no record of theirs"


def _inherit(
    source: Source, agent: Agent, about: About, parents: Mapping[str, Path], stack: ExitStack
) -> list[str]:
    """Put a fork's inherited bytes before its own, as Codex does at each resume; warnings where it can't."""
    inherited, parent_id, seen = about.inherited, about.parent, {about.session}
    while inherited > 0 and parent_id and parent_id not in seen and len(seen) < _FORK_DEPTH:
        path = parents.get(parent_id)
        if path is None:
            return [f"The thread that this one was forked from ({parent_id}) is not on this machine."]
        try:
            parent = stack.enter_context(open_source(path))
        except CofferError as error:
            return [f"What the fork inherits can't be read. {error}"]
        if inherited > parent.size:
            return [
                f"The fork inherits {inherited} bytes, and its parent has {parent.size}: Codex can't resume it."
            ]
        source.inherit(parent, inherited)
        seen.add(parent_id)
        said = agent.about(parent.head(), b"")
        inherited, parent_id = said.inherited, said.parent
    return []


def _unfinished(source: Source) -> int:
    """Bytes after the last newline."""
    size = _HEAD
    while True:
        tail = source.tail(size)
        newline = tail.rfind(b"\n")
        if newline >= 0 or len(tail) < size:
            return len(tail) - newline - 1
        size *= 4
