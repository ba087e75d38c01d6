"""What the tokens of a context are made of.

A transcript states tokens per request only. What a single block costs is estimated from its bytes and then
calibrated on the session's own counts: between two answers the prompt grew by a known number of tokens, and
the blocks that came in between have a known number of bytes. What no block explains is the base: system
prompt, tool schemas, memory files. The error of the estimate is measured on answers that were left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field, structs

from coffer.core.record import Record

BYTES_PER_TOKEN = {"text": 3.1, "thinking": 3.1, "tool_use": 2.5, "tool_result": 2.6, "context": 3.1}
"""UTF-8 bytes of a token by block kind, before calibration; measured on the corpus (docs/formats.md)."""
DEFAULT_BYTES_PER_TOKEN = 3.0
IMAGE_TOKENS = 1_500
"""A screenshot of 1,000 × 1,100 pixels; width × height / 750 tokens (Anthropic's vision documentation)."""
_SANE_SCALE = (0.3, 3.0)
_LEAST_ANSWERS = 4


class Part(Struct, frozen=True, gc=False):
    """Something in the context: one block or attachment.

    label: the group that people see; note: what kind of attachment. size: UTF-8 bytes that the model reads.
    turn: which human prompt it came with, counted from 1. answer: the message id of what the model wrote.
    """

    label: str
    kind: str
    size: int
    images: int = 0
    tool: str = ""
    path: str = ""
    command: str = ""
    note: str = ""
    turn: int = 0
    answer: str = ""
    record: Record | None = None
    index: int = 0

    @property
    def guess(self) -> float:
        """Tokens before calibration."""
        return (
            self.size / BYTES_PER_TOKEN.get(self.kind, DEFAULT_BYTES_PER_TOKEN) + self.images * IMAGE_TOKENS
        )


class Mark(Struct, frozen=True):
    """A request whose tokens are known: it was made of the first `parts` parts. In tokens."""

    parts: int
    prompt: int
    output: int = 0


class Calibration(Struct, frozen=True):
    """How guesses become tokens: base + scale × guess.

    error: median of |estimate - count| / count over `answers` requests that were left out of the fit.
    step_error: the same for what was added between one request and the next. None where there are too few
    to leave any out.
    """

    base: float = 0.0
    scale: float = 1.0
    error: float | None = None
    step_error: float | None = None
    answers: int = 0


class Composition(Struct):
    """Tokens of a context by part. Sums to `tokens` with `base`; `pending` came after the last count."""

    tokens: int
    base: int
    calibration: Calibration
    parts: list[tuple[Part, float]] = field(default_factory=list)
    pending: float = 0.0

    def by(self, key: str) -> dict[str, int]:
        """Tokens by an attribute of the parts (label, tool, path), largest first."""
        sums: dict[str, float] = {}
        for part, tokens in self.parts:
            name = getattr(part, key)
            if name:
                sums[name] = sums.get(name, 0.0) + tokens
        return {name: round(value) for name, value in sorted(sums.items(), key=lambda item: -item[1])}

    def top(self, count: int) -> list[tuple[Part, int]]:
        """The largest parts."""
        largest = sorted(self.parts, key=lambda item: -item[1])[:count]
        return [(part, round(tokens)) for part, tokens in largest]


def compose(
    parts: Sequence[Part], marks: Sequence[Mark], tokens: int | None, known_base: float | None = None
) -> Composition:
    """Spread a context's tokens over its parts; tokens None: nothing was counted, all is estimated.

    known_base: the base, where it is known better than from these marks.
    """
    calibration = calibrate(parts, marks)
    if known_base is not None:
        calibration = structs.replace(calibration, base=known_base)
    covered = _covered(parts, marks) if tokens is not None else len(parts)
    guesses = [part.guess * calibration.scale for part in parts]
    known = sum(guesses[:covered])
    if tokens is None:
        total = round(known + calibration.base)
        return Composition(
            total, round(calibration.base), calibration, list(zip(parts, guesses, strict=True))
        )
    base = min(max(calibration.base, 0.0), float(tokens))
    factor = (tokens - base) / known if known > 0 else 0.0
    if known <= 0:
        base = float(tokens)
    spread = [(part, guess * factor) for part, guess in zip(parts[:covered], guesses, strict=False)]
    return Composition(tokens, round(base), calibration, spread, sum(guesses[covered:]))


def _covered(parts: Sequence[Part], marks: Sequence[Mark]) -> int:
    """How many parts the last count holds: its request and its answer."""
    if not marks:
        return len(parts)
    covered = marks[-1].parts
    answer = parts[covered].answer if covered < len(parts) else ""
    while covered < len(parts) and answer and parts[covered].answer == answer:
        covered += 1
    return covered


def calibrate(parts: Sequence[Part], marks: Sequence[Mark]) -> Calibration:
    """Fit base and scale to the counted requests, and measure the error on those left out."""
    sums = [0.0]
    for part in parts:
        sums.append(sums[-1] + part.guess)
    points = [(sums[mark.parts], float(mark.prompt)) for mark in marks]
    if not points:
        return Calibration()
    base, scale = _fit(points)
    if len(points) < _LEAST_ANSWERS:
        return Calibration(base, scale)
    errors: list[float] = []
    steps: list[float] = []
    for kept in (0, 1):
        fitted_base, fitted_scale = _fit(points[kept::2])
        for index in range(1 - kept, len(points), 2):
            guess, count = points[index]
            errors.append(abs(fitted_base + fitted_scale * guess - count) / count)
            if index and count > points[index - 1][1]:
                added = count - points[index - 1][1]
                steps.append(abs(fitted_scale * (guess - points[index - 1][0]) - added) / added)
    return Calibration(base, scale, median(errors), median(steps) if steps else None, len(errors))


def _fit(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Base and scale through the points; the median of slopes, so that a few odd requests do not bend it."""
    slopes = []
    span = max(1, len(points) // 2)
    for (guess, count), (later_guess, later_count) in zip(points, points[span:], strict=False):
        if later_guess > guess and later_count > count:
            slopes.append((later_count - count) / (later_guess - guess))
    scale = min(max(median(slopes), _SANE_SCALE[0]), _SANE_SCALE[1]) if slopes else 1.0
    base = median([count - scale * guess for guess, count in points])
    if base < 0:
        scale = min([scale, *(count / guess for guess, count in points if guess > 0)])
        base = 0.0
    return base, scale


def median(values: Sequence[float]) -> float:
    """The middle of the values; of an even count the mean of the two in the middle."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
