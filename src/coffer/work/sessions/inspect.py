"""Everything that `coffer show` tells of one session, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from coffer.core.attachments import strings
from coffer.core.chain import seconds
from coffer.core.composition import Composition, Mark, Part, compose
from coffer.core.content import own_text
from coffer.core.items import Item, pointing
from coffer.core.parts import is_persons_words, parts_of
from coffer.core.record import Record
from coffer.core.shares import shares
from coffer.core.usage import Measure, WindowMeasure
from coffer.core.view import View
from coffer.work.sessions.last_prune import last_prune
from coffer.work.sessions.read import Opened
from coffer.work.sessions.window import window

_TITLE_LENGTH = 120
_TITLE_ORDER = ("custom-title", "ai-title", "summary")


class Report(Struct):
    """One session as it is now. measure None: nothing in the file counts tokens; all is estimated.

    largest: the largest parts with their tokens and a few words of what they are about.
    """

    session: str
    agent: str
    path: Path
    title: str
    folder: str
    model: str
    size: int
    turns: int
    measure: Measure | None
    window: WindowMeasure
    composition: Composition
    shares: dict[str, int]
    largest: list[tuple[Part, int, str]]
    started: str = ""
    last: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Tokens in the context now."""
        return self.composition.tokens

    @property
    def fill(self) -> float:
        """Part of the window that is used, 1.0 for all of it."""
        return self.tokens / self.window.tokens if self.window.tokens else 0.0


def inspect(
    session: Opened,
    environment: Mapping[str, str],
    names: Mapping[str, str] | None = None,
    top: int = 10,
    view: View | None = None,
) -> Report:
    """The report of an opened transcript.

    names: titles by session id that the transcript does not hold. view: its view, where it is known already.
    """
    agent, transcript = session.agent, session.transcript
    view = view or agent.view(transcript, "")
    parts = parts_of(view.items)
    measure, marks, base = _counted(session, view, parts, environment)
    composition = compose(parts, marks, measure.tokens if measure else None, base)
    about = transcript.about
    return Report(
        about.session or session.source.path.stem,
        agent.name,
        session.source.path,
        (names or {}).get(about.session, "") or title_of(session, view),
        about.cwd,
        view.model or about.model,
        session.source.size - session.source.own,
        max((part.turn for part in parts), default=0),
        measure,
        window(session, view, environment),
        composition,
        shares(transcript, view),
        [(part, tokens, _about(session, part)) for part, tokens in composition.top(top)],
        about.started,
        next((record.time for record in reversed(transcript.records) if record.time), ""),
        [*session.warnings, *_warnings(view)],
    )


_ENOUGH_ANSWERS = 5


def _counted(
    session: Opened, view: View, parts: list[Part], environment: Mapping[str, str]
) -> tuple[Measure | None, list[Mark], float | None]:
    """What counts the tokens, and the answers that fit the estimates; base: of the prune, where few do.

    Counts from before a prune are of a context that is no more: they would book what went to what stayed.
    """
    measure, marks = session.agent.measure(view), session.agent.marks(view, parts)
    pruned = last_prune(environment, session.source.path)
    then = seconds(pruned.time) if pruned is not None else None
    if pruned is None or then is None:
        return measure, marks, None
    since = [mark for mark in marks if _is_since(parts[mark.parts].record, then)]
    if measure is not None and not _is_since(measure.record, then):
        source = f"estimate: pruned since the last answer (receipt {pruned.id})"
        measure = Measure(
            int(pruned.data["tokens_after"]), source, measure.record, measure.usage, estimated=True
        )
    base = float(pruned.data["base"]) if len(since) < _ENOUGH_ANSWERS else None
    return measure, since, base


def _is_since(record: Record | None, then: float) -> bool:
    moment = seconds(record.time) if record is not None else None
    return moment is None or moment > then


def _about(session: Opened, part: Part) -> str:
    """What a part is about: its file or command, else its first words."""
    if part.path or part.command or part.note or part.record is None:
        return part.path or part.command or part.note
    item = pointing(part.record, part.index)
    block = session.agent.content(item, session.line(part.record))
    return " ".join(
        next((text for text in strings(block.get("text", block.get("thinking", ""))) if text), "").split()
    )[:_TITLE_LENGTH]


def _warnings(view: View) -> list[str]:
    found = []
    if view.branch.cycle:
        found.append("The records' parents form a circle; the client stops where it closes.")
    lost = [gap for gap in view.branch.gaps if gap.bridged is None]
    if lost:
        found.append(
            "A parent is missing: a resume loses all history before it (`coffer check` tells where)."
        )
    return found


def title_of(session: Opened, view: View) -> str:
    """The session's title, else the first words that a person typed."""
    titles = session.transcript.titles()
    for kind in _TITLE_ORDER:
        if titles.get(kind):
            return titles[kind][:_TITLE_LENGTH]
    for item in view.items:
        if isinstance(item, Item) and item.kind == "text" and is_persons_words(item):
            words = own_text(session.agent.content(item, session.line(item.record)))
            if words:
                return " ".join(words.split())[:_TITLE_LENGTH]
    return ""
