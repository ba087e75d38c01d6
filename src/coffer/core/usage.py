"""How many tokens a session's context holds now, and how large its window is, each with its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from coffer.core.chain import seconds
from coffer.core.dialect import SYNTHETIC
from coffer.core.record import Boundary, Record, Usage, Window

DEFAULT_WINDOW = 200_000
LONG_WINDOW = 1_000_000
OVERRIDE = "COZEMPIC_CONTEXT_WINDOW"
"""Environment variable that overrides the window, in tokens (fixed name, DESIGN section 4)."""

MODEL_WINDOWS: dict[str, tuple[int, str]] = {
    "claude-sonnet-5": (LONG_WINDOW, "client default: compacts at 967,000 (facts/claude-code §5)"),
}
"""Model ids whose window is known without `[1m]`: tokens and provenance. Nothing else is guessed up."""


class Measure(Struct, frozen=True):
    """Tokens in the context. source: what was counted; record: the record that says so, None for a guess.

    estimated: nothing in the file counts them.
    """

    tokens: int
    source: str
    record: Record | None = None
    usage: Usage | None = None
    estimated: bool = False


class WindowMeasure(Struct, frozen=True):
    """The context window in tokens, and what says so."""

    tokens: int
    source: str


class Reported(Struct, frozen=True):
    """What a client said of its window. window: tokens, 0 where only the model's name says it. time: Unix seconds."""

    model: str
    window: int
    source: str
    time: float


def answers(branch: Iterable[Record]) -> list[Record]:
    """The answers of a branch that carry a usage of their own, one a message, in order.

    One API message is several records with one id: the last is taken, since older clients write growing
    counts. Answers that the client wrote itself, and those that a compaction preserved (they stand in the
    file before its boundary, and their counts are of the old context), count nothing (facts §6).
    """
    records = list(branch)
    since = max((record.start for record in records if isinstance(record.detail, Boundary)), default=-1)
    found: dict[str, Record] = {}
    for record in records:
        usage = record.usage
        if usage is None or record.start < since or record.model == SYNTHETIC or not usage.prompt:
            continue
        key = record.message or record.uuid
        if key not in found or _more(usage, found[key].usage):
            found[key] = record
    return list(found.values())


def _more(usage: Usage, other: Usage | None) -> bool:
    return other is None or usage.context >= other.context


def context_now(branch: Iterable[Record]) -> Measure | None:
    """Tokens in the context after the last answer of the live branch; None where nothing says so."""
    records = list(branch)
    counted = answers(records)
    if counted:
        last = counted[-1]
        assert last.usage is not None
        return Measure(last.usage.context, "usage of the last answer", last, last.usage)
    for record in reversed(records):
        if isinstance(record.detail, Boundary) and record.detail.after is not None:
            return Measure(record.detail.after, "count after compaction", record)
    return None


def window_of(
    records: Iterable[Record], branch: Iterable[Record], environment: Mapping[str, str]
) -> WindowMeasure:
    """The window, from the first source that answers (DESIGN section 6).

    Evidence in the transcript counts only while the answering model stays the same.
    """
    override = overridden(environment)
    if override is not None:
        return override
    counted = answers(branch)
    model = counted[-1].model if counted else ""
    largest = max(
        (record.usage.context for record in counted if record.usage and record.model == model), default=0
    )
    return evident_window(_stated(records, model), model, largest)


def evident_window(stated: Window | None, model: str, largest: int) -> WindowMeasure:
    """The window by what a transcript shows. largest: tokens that this model had in its context at once."""
    if stated is not None:
        return WindowMeasure(stated.tokens, stated.source)
    if largest > DEFAULT_WINDOW:
        return WindowMeasure(max(LONG_WINDOW, largest), "usage above 200,000")
    if model in MODEL_WINDOWS:
        return WindowMeasure(*MODEL_WINDOWS[model])
    return WindowMeasure(DEFAULT_WINDOW, "default")


MILLION = "[1m]"
"""In a model's name where its window is a million (facts/claude-code §5); never in a transcript's."""


def reported_window(reported: Reported, branch: Iterable[Record]) -> WindowMeasure | None:
    """The window that a client reported; None where it does not hold any more (DESIGN section 6).

    It expires when another model answered since, and a context that is larger than it shows that it was wrong.
    """
    counted = answers(branch)
    last = counted[-1] if counted else None
    name = reported.model.removesuffix(MILLION)
    tokens = reported.window
    if not tokens:
        tokens = LONG_WINDOW if name != reported.model else MODEL_WINDOWS.get(name, (DEFAULT_WINDOW, ""))[0]
    if last is not None and last.model != name:
        answered = seconds(last.time)
        if answered is None or answered >= reported.time:
            return None
    if last is not None and last.usage is not None and last.model == name and last.usage.context > tokens:
        return None
    return WindowMeasure(tokens, reported.source)


def overridden(environment: Mapping[str, str]) -> WindowMeasure | None:
    """The window that the person set, in tokens; None where it is not set or no positive whole number."""
    said = environment.get(OVERRIDE, "").strip()
    if said.isascii() and said.isdigit() and int(said) > 0:
        return WindowMeasure(int(said), OVERRIDE)
    return None


def _stated(records: Iterable[Record], model: str) -> Window | None:
    """The last window that a record states, unless another model answered since."""
    stated: Window | None = None
    speaking = ""
    for record in records:
        if record.usage is not None and record.model not in ("", SYNTHETIC) and not record.sidechain:
            if speaking and record.model != speaking:
                stated = None
            speaking = record.model
        if isinstance(record.detail, Window) and not record.sidechain:
            stated = record.detail
    return stated if not model or not speaking or model == speaking else None
