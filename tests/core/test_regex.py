"""Patterns that are compiled at their first use are `re`'s own in everything else."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re
import subprocess
import sys

import pytest

import coffer
from coffer.core.regex import Later, regex

COUNT = """
import gc, coffer.daemon.http
from coffer.core.regex import Later
made = [each for each in gc.get_objects() if isinstance(each, Later)]
print(len(made), *(each.pattern for each in made if "search" in vars(each)))
"""


def test_every_pattern_of_the_program_compiles() -> None:
    for module in pkgutil.walk_packages(coffer.__path__, "coffer."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            assert error.name in ("numpy", "tokenizers"), "of the extra `embeddings`"  # noqa: PT017
    all_of_them = [each for each in gc.get_objects() if isinstance(each, Later)]
    assert len(all_of_them) > 500
    for each in all_of_them:
        assert re.compile(each.pattern, each.asked).pattern == each.pattern


def test_a_daemon_that_starts_compiles_none() -> None:
    """Where one is needed at import, the gain is gone by and by without anybody seeing it."""
    said = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True).stdout
    count, _, compiled = said.strip().partition(" ")
    assert int(count) > 400
    assert compiled == ""


def test_it_is_what_re_makes() -> None:
    later, made = (
        regex(r"(?P<word>[a-z]+)-(\d+)", re.IGNORECASE),
        re.compile(r"(?P<word>[a-z]+)-(\d+)", re.IGNORECASE),
    )
    assert later.pattern == made.pattern
    for _ in range(2):
        assert later.sub(r"\2", "A-1 b-22") == made.sub(r"\2", "A-1 b-22")
        assert [found.group("word") for found in later.finditer("A-1 b-22")] == ["A", "b"]
        assert (later.flags, later.groups, later.groupindex) == (made.flags, made.groups, made.groupindex)
    assert regex(rb"\xff+").search(b"a\xff") is not None
    assert later.split("xA-1y") == made.split("xA-1y")


def test_a_wrong_one_is_told_at_its_first_use() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.search("a")
    with pytest.raises(AttributeError):
        regex("a").nothing_of_the_kind  # type: ignore[attr-defined]  # noqa: B018
