"""What is measured, and what it may cost: the rows of the budget table that exist now."""

from __future__ import annotations

from dataclasses import dataclass

from bench.files import Wanted

FILE = "FILE"
"""Stands in a command for the path of the row's file."""

COFFER = "coffer"
PYTHON = "python"
PEER = "peer"
HOOK = "hook"
"""The installed hook, with a daemon that answers."""
PIPE = "pipe"
"""The installed pipe for MCP, with a daemon that has served one before."""
COLD_PIPE = "cold pipe"
"""The same, with none."""


@dataclass(frozen=True, slots=True)
class Row:
    """One command of Coffer and what it is compared with.

    against: a program (PYTHON or PEER) and its arguments. faster: how many times less CPU than it Coffer must
    take; slower: how many times its CPU Coffer may take. peak: MB that Coffer may use. wall: seconds that it may
    take. changes: the command writes, so each run gets a copy. exits: codes that count as done. needs: a command
    that must exist. program: COFFER, HOOK, PIPE or COLD_PIPE.
    """

    name: str
    arguments: tuple[str, ...]
    file: Wanted | None = None
    against: tuple[str, ...] = ()
    faster: float | None = None
    slower: float | None = None
    peak: float | None = None
    wall: float | None = None
    times: int = 5
    changes: bool = False
    exits: tuple[int, ...] = (0,)
    needs: str = ""
    program: str = COFFER


_DIAGNOSE = (PEER, "diagnose", FILE)
_TREAT = (PEER, "treat", FILE, "-rx", "standard", "--execute")
_SHOW = ("show", FILE)
_PRUNE = ("prune", FILE, "--apply")
_CHECKED = (0, 1)

ROWS = (
    Row("coffer --help", ("--help",), against=(PYTHON, "-c", "pass"), slower=6.0, times=15),
    Row(
        "hook round trip, daemon up",
        ("claude", "SessionStart"),
        against=(PYTHON, "-I", "-S", "-c", "pass"),
        slower=1.6,
        times=40,
        program=HOOK,
    ),
    Row("MCP ready, daemon up", ("claude",), wall=0.1, times=20, program=PIPE),
    Row("MCP ready, no daemon", ("claude",), wall=0.8, times=20, program=COLD_PIPE),
    Row("show, 1 MB", _SHOW, Wanted(1), _DIAGNOSE),
    Row("show, 10 MB", _SHOW, Wanted(10), _DIAGNOSE),
    Row("show, 50 MB", _SHOW, Wanted(50), _DIAGNOSE, faster=10.0, peak=100.0, times=7),
    Row("show, 200 MB", _SHOW, Wanted(200), _DIAGNOSE, faster=15.0, peak=150.0, times=3),
    Row("show, 50 MB of small records", _SHOW, Wanted(50, "small"), _DIAGNOSE, times=3),
    Row("show, 50 MB, compacted", _SHOW, Wanted(50, "compacted"), _DIAGNOSE, times=3),
    Row("show, 50 MB of Codex", _SHOW, Wanted(50, "codex"), times=3),
    Row("view, 50 MB", ("view", FILE), Wanted(50), times=3),
    Row("check, 50 MB", ("check", FILE), Wanted(50), times=3, exits=_CHECKED),
    Row("prune, 50 MB", _PRUNE, Wanted(50), _TREAT, 5.0, peak=120.0, times=3, changes=True, needs="prune"),
    Row("prune, 200 MB", _PRUNE, Wanted(200), _TREAT, 8.0, peak=200.0, times=2, changes=True, needs="prune"),
)

FLOORS = Wanted(50)
FLOOR_TIMES = 3


@dataclass(frozen=True, slots=True)
class Inside:
    """A number of the daemon's own. key: in what `inside.py` prints. most: the budget, in the unit."""

    name: str
    key: str
    unit: str
    most: float


INSIDE = (
    Inside("bundle answer, p99, processor's time", "answer, CPU", "ms", 2.0),
    Inside("bundle answer, p99, wall clock", "answer, wall", "ms", 2.0),
    Inside("guard tick: 1 MB appended to 200 MB, processor's time", "guard tick, CPU", "ms", 20.0),
    Inside("ten open sessions of 20 MB: the daemon's memory", "watched, memory", "MB", 110.0),
    Inside("ten open sessions of 20 MB: CPU while nothing happens", "watched, idle CPU", "%", 0.2),
    Inside("recall over 100,000 entries, p95, processor's time", "recall, CPU", "ms", 20.0),
    Inside("recall over 100,000 entries, p95, wall clock", "recall, wall", "ms", 20.0),
)
RULES = 20
"""In the bundle of those."""
