"""A real daemon and open sessions: what is due is done when its session turns idle, and nothing else is touched."""

from __future__ import annotations

import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from coffer.store.db import Receipt
from coffer.store.guard_moves import Order, keep_order, moves_of, order_of
from coffer.store.guard_state import guard_state
from coffer.work.move_story import moves_made, outcome
from tests.daemon.rig import Rig, eventually
from tests.work.open_session import Client
from tests.work.test_guard import TRIM, _dies_in

WRITES = '[guard]\nwrite = "idle"\n'


@contextmanager
def clients(rig: Rig, count: int) -> Iterator[list[Client]]:
    """Several clients, each a process of its own."""
    processes = [subprocess.Popen(["/bin/sleep", "600"]) for _ in range(count)]
    try:
        yield [Client(rig.house, str(uuid.uuid4()), process.pid) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def made(client: Client) -> list[Receipt]:
    return moves_made(client.home, client.transcript)


def test_each_session_is_moved_when_it_is_idle_and_no_other_is_touched(rig: Rig) -> None:
    rig.settings(WRITES)
    with clients(rig, 4) as (one, busy, program, ordered):
        program.says("idle", entrypoint="sdk-cli")
        rig.begin()
        ordered.grow(turns=8)
        for client in (one, busy, program):
            client.grow()
        busy.says("busy")
        program.says("idle", entrypoint="sdk-cli")
        before = {client: client.data for client in (busy, program)}
        eventually(lambda: f"/resume {one.session}" in moves_of(one.home, one.session, 0).tell)
        assert (made(one)[0].data["by"], outcome(made(one)[0])) == ("guard", "by hand")
        eventually(lambda: "trim" in guard_state(one.home, one.session).acted)
        keep_order(ordered.home, ordered.session, Order("standard", time.time()))
        ordered.turn(82_000)
        eventually(lambda: order_of(ordered.home, ordered.session) is None)
        assert made(ordered)[0].data["by"] == "person"
        assert all(client.data == data for client, data in before.items())
        busy.turn(111_000)
        eventually(lambda: made(busy))
        one.reload()
        one.turn(70_000)
        eventually(lambda: "measured" in made(one)[0].data)
        assert len(made(one)) == 1
        assert made(program) == []
        assert program.data == before[program]


def test_the_next_daemon_ends_the_story_of_one_that_was_killed(rig: Rig) -> None:
    rig.settings(WRITES)
    with clients(rig, 1) as (client,):
        client.grow()
        _dies_in(client, TRIM, "behind swap")
        assert made(client)[0].status == "prepared"
        rig.begin()
        eventually(lambda: made(client)[0].status == "done" and outcome(made(client)[0]) == "by hand")
        eventually(lambda: moves_of(client.home, client.session, 0).tell_of == made(client)[0].id)
        assert len(made(client)) == 1
