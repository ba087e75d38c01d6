"""In a session's first turn Claude Code writes the turn's summary before the turn (2.1.197, seen under load)."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.work.rules.turns import hear
from tests.transcripts import Claude, text

TYPED = {"origin": {"kind": "human"}, "promptSource": "typed", "entrypoint": "cli", "userType": "external"}


@pytest.mark.parametrize("early", [(), ("s1",), ("s1", "d1")])
def test_what_the_agent_said_before_is_known_in_any_order(tmp_path: Path, early: tuple[str, ...]) -> None:
    made = Claude()
    made.user("fix the parser", "u1", **TYPED)
    made.answer(text("I committed it with a co-author line."), name="a1")
    made.add("system", "s1", subtype="stop_hook_summary")
    made.add("system", "d1", subtype="turn_duration")
    made.user("please don't add co-author lines to commits", "u2", **TYPED)
    written = {line.split(b'"uuid":"')[1][:2].decode(): line for line in made.lines}
    names = [*early, *(name for name in written if name not in early)]
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    path.write_bytes(b"".join(written[name] + b"\n" for name in names))
    first, second = hear(path).turns
    assert (first.before, second.before) == ("", "I committed it with a co-author line.")
