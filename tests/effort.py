"""How much of a test is done: an even sample in every run, all of it with COFFER_EFFORT=all (`make thorough`)."""

from __future__ import annotations

import os

ALL = os.environ.get("COFFER_EFFORT") == "all"


def examples(few: int, all_: int) -> int:
    """How many examples Hypothesis makes."""
    return all_ if ALL else few


def steps(last: int, stride: int) -> range:
    """Of the steps 1 to `last`, those to die at: each stride-th one."""
    return range(1, last + 1, 1 if ALL else stride)
