"""A prune that dies at any step leaves the old file or the new one, and undo brings the old one back.

Each run dies at every fifth step or so, and at every one around the rename; COFFER_EFFORT=all dies at all of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.effort import steps
from tests.prune.forks import Forks
from tests.prune.generate import Talk, begun, rich
from tests.prune.world import in_place, rest

NOTHING_TO_UNDO = 14
NO_MEMORY = 18
_EVER = 1 << 30


def _session() -> Talk:
    return rich(1)


def _steps(machine: Forks, fresh: Callable[[], object], *command: str | Path) -> int:
    """How many steps a command runs."""
    fresh()
    done = machine.run(*command, die_at=_EVER)
    assert done.code in (0, 1), done.err
    assert done.steps > 20
    return done.steps


def _die_everywhere(last: int, die: Callable[[int], bool]) -> None:
    """Die at steps of a command, and at each one around its rename. die: whether the file was the new one then."""
    renamed = {step: die(step) for step in steps(last, 5)}
    first = min(step for step, done in renamed.items() if done)
    for step in range(max(1, first - 9), min(last, first + 5)):
        if step not in renamed:
            renamed[step] = die(step)
    assert set(renamed.values()) == {True, False}


def _no_other_session(path: Path) -> None:
    """What lies beside a session is nothing that a client takes for one."""
    others = [other.name for other in path.parent.iterdir() if other != path]
    assert all(name.startswith(".") and not name.endswith(".jsonl") for name in others), others


def _reset(machine: Forks, data: bytes) -> Path:
    shutil.rmtree(machine.home / ".coffer", ignore_errors=True)
    folder = machine.home / ".claude"
    shutil.rmtree(folder, ignore_errors=True)
    return in_place(machine.home, data)


def _brought_back(machine: Forks, path: Path, old: bytes) -> None:
    found = machine.run("undo")
    assert found.code in (0, NOTHING_TO_UNDO), (found.code, found.err)
    assert path.read_bytes() == old


def test_a_prune_whose_memory_ends(machine: Forks) -> None:
    """No death, but an error that no one foresees: what it cleans up must not be the only way back."""
    old = _session().data
    path = _reset(machine, old)
    last = _steps(machine, lambda: _reset(machine, old), "prune", path, "--apply")
    new = path.read_bytes()
    assert new != old

    def fail(step: int) -> bool:
        _reset(machine, old)
        done = machine.run("prune", path, "--apply", fail_at=step)
        now = path.read_bytes()
        assert (done.code, now) in ((0, new), (NO_MEMORY, old), (NO_MEMORY, new)), (step, done)
        _no_other_session(path)
        _brought_back(machine, path, old)
        return now == new

    _die_everywhere(last, fail)


def test_a_prune_that_dies(machine: Forks) -> None:
    old = _session().data
    path = _reset(machine, old)
    machine.ok("prune", path, "--apply")
    new = path.read_bytes()
    assert new != old
    last = _steps(machine, lambda: _reset(machine, old), "prune", path, "--apply")

    def die(step: int) -> bool:
        _reset(machine, old)
        done = machine.run("prune", path, "--apply", die_at=step)
        assert done.died, (step, done)
        now = path.read_bytes()
        assert now in (old, new), f"step {step}: neither the old file nor the new one"
        _no_other_session(path)
        _brought_back(machine, path, old)
        return now == new

    _die_everywhere(last, die)


def test_after_any_death_the_next_prune_works(machine: Forks) -> None:
    old = _session().data
    path = _reset(machine, old)
    machine.ok("prune", path, "--apply")
    new = path.read_bytes()
    last = _steps(machine, lambda: _reset(machine, old), "prune", path, "--apply")
    for step in steps(last, 13):
        _reset(machine, old)
        assert machine.run("prune", path, "--apply", die_at=step).died
        machine.ok("prune", path, "--apply")
        assert path.read_bytes() == new
        _brought_back(machine, path, old)


class _Pruned:
    """A home as it is after a prune, put back as often as it is wanted."""

    def __init__(self, machine: Forks, old: bytes) -> None:
        self.path = _reset(machine, old)
        machine.ok("prune", self.path, "--apply")
        self.new = self.path.read_bytes()
        self._home, self._copy = machine.home, machine.home.with_name("copy")
        shutil.copytree(self._home, self._copy)

    def again(self) -> None:
        shutil.rmtree(self._home)
        shutil.copytree(self._copy, self._home)


def test_an_undo_that_dies(machine: Forks) -> None:
    old = _session().data
    pruned = _Pruned(machine, old)
    last = _steps(machine, pruned.again, "undo")

    def die(step: int) -> bool:
        pruned.again()
        assert machine.run("undo", die_at=step).died
        now = pruned.path.read_bytes()
        assert now in (old, pruned.new), f"step {step}: neither the old file nor the new one"
        _no_other_session(pruned.path)
        if now == pruned.new:
            _brought_back(machine, pruned.path, old)
        return now == old

    _die_everywhere(last, die)


def test_an_undo_that_died_behind_its_rename_can_be_closed(machine: Forks) -> None:
    old = _session().data
    pruned = _Pruned(machine, old)
    last = _steps(machine, pruned.again, "undo")
    pruned.again()
    assert machine.run("undo", die_at=last - 5).died
    assert pruned.path.read_bytes() == old
    _brought_back(machine, pruned.path, old)


def test_a_dead_prune_of_the_last_record_is_no_prune(machine: Forks) -> None:
    machine.without_rules()
    talk = begun()
    talk.end()
    talk.made.progress("p")
    old = talk.data
    path = _reset(machine, old)
    machine.ok("prune", path, "--apply")
    new = path.read_bytes()
    assert old.startswith(new)
    last = _steps(machine, lambda: _reset(machine, old), "prune", path, "--apply")
    for step in steps(last, 7):
        _reset(machine, old)
        assert machine.run("prune", path, "--apply", die_at=step).died
        _brought_back(machine, path, old)


def test_a_repair_that_dies(machine: Forks) -> None:
    talk = begun()
    talk.end()
    talk.made.raw(b"null")
    talk.end()
    old = talk.data + b'{"type":"torn'
    path = _reset(machine, old)
    machine.run("check", path, "--fix")
    new = path.read_bytes()
    assert new != old
    last = _steps(machine, lambda: _reset(machine, old), "check", path, "--fix")
    for step in steps(last, 5):
        _reset(machine, old)
        done = machine.run("check", path, "--fix", die_at=step)
        if not done.died:
            continue
        assert path.read_bytes() in (old, new)
        _no_other_session(path)
        _brought_back(machine, path, old)


def test_a_gc_that_dies_leaves_the_session_alone(machine: Forks) -> None:
    old = _session().data
    pruned = _Pruned(machine, old)

    def fresh() -> None:
        pruned.again()
        machine.ok("undo")

    last = _steps(machine, fresh, "gc", "--apply")
    for step in steps(last, 6):
        fresh()
        assert machine.run("gc", "--apply", die_at=step).died
        assert pruned.path.read_bytes() == old
        machine.ok("gc", "--apply")
        machine.ok("prune", pruned.path, "--apply")
        machine.ok("undo")
        assert pruned.path.read_bytes() == old


def test_the_next_prune_removes_what_a_dead_one_left(machine: Forks) -> None:
    old = _session().data
    path = _reset(machine, old)
    step = 1
    while not [other for other in path.parent.iterdir() if other != path]:
        _reset(machine, old)
        assert machine.run("prune", path, "--apply", die_at=step).died
        step += 6
    rest(path)
    machine.ok("prune", path, "--apply")
    assert [other for other in path.parent.iterdir() if other != path] == []
