"""What is forgotten while the daemon runs is nowhere, though it held some of it in memory."""

from __future__ import annotations

from coffer.store.db import database
from coffer.work.rules.lane import lane_folder
from tests.cli.run import Machine
from tests.daemon.rig import Rig, eventually

PHRASE = "the heron of Zürich"


def test_a_rule_that_was_just_sent_is_nowhere_any_more(rig: Rig) -> None:
    project = rig.project()
    lane = lane_folder(rig.home, None)
    lane.mkdir(parents=True)
    (lane / "mine.md").write_text(f"- Never name {PHRASE}.\n- Always read the table.\n")
    rig.begin()
    eventually(lambda: _holding(rig, "bundles"))
    said = rig.hook("claude", "SessionStart", project, session_id="s", transcript_path="", source="startup")
    assert PHRASE in said
    done = Machine(rig.house, project).alone("forget", "--text", PHRASE, "--apply", "--yes", "--json")
    assert done.json["forgotten"] is True, done.err
    eventually(rig.process)
    said = rig.hook("claude", "SessionStart", project, session_id="t", transcript_path="", source="startup")
    assert "Always read the table." in said
    rig.end()
    assert _holding(rig) == []
    with database(rig.home, write=False) as connection:
        assert connection.execute("SELECT count(*) FROM deliveries").fetchone()[0] > 0, (
            "what was sent is still known"
        )


def _holding(rig: Rig, below: str = "") -> list[str]:
    words = (PHRASE.encode(), PHRASE.encode("ascii", "backslashreplace").replace(b"\\xfc", b"\\u00fc"))
    return [
        str(path)
        for path in sorted((rig.home.root / below).rglob("*"))
        if path.is_file() and any(word in path.read_bytes() for word in words)
    ]
