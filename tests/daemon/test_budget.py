"""The daemon's budget of memory (DESIGN section 12); its times are measured by `make bench`."""

from __future__ import annotations

import pytest

from tests.bundle.desk import write_rules
from tests.daemon.rig import Rig, eventually
from tests.transcripts import call, text

RULES = [f"Do not use the old tool number {number} for anything at all." for number in range(20)]
MEMORY = 110 << 20
LARGE = 20 << 20


@pytest.mark.slow
def test_ten_large_sessions_fit_into_its_memory(rig: Rig) -> None:
    write_rules(rig.house, rig.home, *RULES)
    filler = "x" * 4000
    sessions = []
    for number in range(10):
        session = rig.session(f"s{number}", rig.project(f"p{number}"))
        session.says("fix the parser")
        while sum(map(len, session.made.lines[-2:])) * len(session.made.lines) / 2 < LARGE:
            name = f"{number}-{len(session.made.lines)}"
            session.made.answer(text(filler), call(name, command="ls"), name=name)
            session.made.result(name, filler)
        session.write()
        sessions.append(session)
    with rig.daemon() as process:
        for session in sessions:
            told = session.start("resume")
            session.holds(told or "nothing")
            session.hook("UserPromptSubmit", prompt="go on")
            session.says("go on")
            session.hook("Stop")
        eventually(lambda: rig.status()["worker"]["jobs"] > 0)
        eventually(lambda: not [one for one in rig.status()["sessions"] if one["waiting"]])
        eventually(lambda: {one.state for one in rig.deliveries()} <= {"confirmed", "held"})
        assert process.memory_info().rss < MEMORY
