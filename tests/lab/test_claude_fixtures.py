from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.lab import make_claude_fixtures as made

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [name for name in made.FIXTURES if name != "sample"]
FILES = sorted(path for path in (made.CORPUS / "claude").rglob("*") if path.is_file())


def test_the_manifest_says_what_is_there() -> None:
    assert (made.CORPUS / "INDEX.md").read_text() == made.index()
    assert sorted(path.stem for path in (made.CORPUS / "claude").glob("*.jsonl")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_transcript_is_whole_and_small(name: str) -> None:
    data = (made.CORPUS / "claude" / f"{name}.jsonl").read_bytes()
    assert data.endswith(b"\n")
    assert len(data) <= made.MAX_BYTES
    records = [json.loads(line) for line in data.splitlines()]
    assert {r["version"] for r in records if "version" in r} == {made.VERSION}
    assert {r["cwd"] for r in records if "cwd" in r} == {"/home/dev/work"}


def test_the_corpus_is_small() -> None:
    assert sum(path.stat().st_size for path in FILES) < 1_500_000


@pytest.mark.parametrize("path", [*FILES, made.SAMPLE], ids=lambda path: path.name)
def test_no_path_of_the_machine_that_made_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    assert re.findall(r"(?<!/home/dev)/tmp/[\w.-]+|/lab-\w{8}|-lab-\w{8}-", text) == []
