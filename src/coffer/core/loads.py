"""JSON of foreign origin, parsed without surprises: whatever is wrong with it is a ValueError."""

from __future__ import annotations

import json
import math
from typing import Any


def _finite(text: str) -> float:
    """1e999 is a number to the client and infinity to Python, which no JSON can say."""
    value = float(text)
    return value if math.isfinite(value) else math.copysign(1.7976931348623157e308, value)


def _whole(text: str) -> int | float:
    """Python refuses to read whole numbers of thousands of digits; to the client they are infinite."""
    return int(text) if len(text) <= _LONGEST_WHOLE else _finite(text)


_LONGEST_WHOLE = 400


def _refuse(constant: str) -> None:
    raise ValueError(constant)


DECODER = json.JSONDecoder(parse_float=_finite, parse_int=_whole, parse_constant=_refuse)
"""Python takes NaN and Infinity for JSON, the client does not."""


def loads(text: str) -> Any:
    """The value. Raises ValueError, also where it is nested deeper than the parser goes."""
    try:
        return DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def object_in(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line; None where it holds none. What is no UTF-8 is replaced."""
    try:
        said = loads(line.decode("utf-8", "replace"))
    except ValueError:
        return None
    return said if isinstance(said, dict) else None
