"""A real daemon and open sessions: what is due is done when its session turns idle, and nothing else is touched."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from coffer.daemon.guarding import again_in
from coffer.disk.live import start_mark
from coffer.store.db import Receipt
from coffer.store.guard_moves import moves_of, order_of
from coffer.store.guard_state import guard_state
from coffer.work.guarding.move_story import moves_made, outcome
from tests.cli.run import COMMAND
from tests.daemon.rig import LONG, Rig, eventually
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


def coffer(rig: Rig, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        env=rig.environment,
        cwd=rig.house,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )


def made(client: Client) -> list[Receipt]:
    return moves_made(client.home, client.transcript)


def test_each_session_is_moved_when_it_is_idle_and_no_other_is_touched(rig: Rig) -> None:
    rig.settings(WRITES)
    with clients(rig, 3) as (one, busy, program):
        ordered = Client(rig.house, str(uuid.uuid4()), os.getpid())
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
        twice = ordered.registry.with_name("1.json")
        twice.write_text(
            json.dumps({**json.loads(ordered.registry.read_bytes()), "pid": 1, "procStart": start_mark(1)})
        )
        said = coffer(rig, "guard", "now", ordered.session)
        assert (said.returncode, "close all but one" in said.stderr) == (67, True), "it would wait in vain"
        twice.unlink()
        said = coffer(rig, "guard", "now", ordered.session)  # its client is above it: as `! coffer guard now`
        assert f"Then type: /resume {ordered.session}" in said.stdout
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


def test_from_another_terminal_it_waits_says_why_and_does_it(rig: Rig) -> None:
    with clients(rig, 1) as (client,):
        client.grow(turns=6)
        said = coffer(rig, "guard", "now", client.session, "--dry-run", "--json")
        plan = json.loads(said.stdout)
        assert (plan["prescription"], plan["means"], plan["write"]["safe"]) == ("standard", "none", True)
        assert plan["tokens_after"] < plan["tokens_before"]
        client.says("busy")
        before = client.data
        said = coffer(rig, "guard", "now", client.session, "--wait", "0")
        assert (said.returncode, client.data) == (66, before)
        assert "turn: " in said.stderr
        client.says("idle", entrypoint="sdk-cli")
        assert coffer(rig, "guard", "now", client.session).returncode == 67
        client.says("idle")
        said = coffer(rig, "guard", "now", client.session)
        assert said.returncode == 0, said.stderr
        assert f"Type in it: /resume {client.session}" in said.stdout
        assert len(client.data) < len(before)
        (receipt,) = made(client)
        rows = json.loads(coffer(rig, "guard", "--json").stdout)
        waits = f"on disk it is pruned (receipt {receipt.id}); type in it: /resume {client.session}"
        assert rows[0]["next"] == waits
        assert rows[0]["last_move"]["forecast"] == receipt.data["forecast"]
        said = coffer(rig, "undo", receipt.id)
        assert f"type in it: /resume {client.session}" in said.stdout
        assert client.data == before


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


def test_a_draft_that_stands_for_a_night_costs_a_look_a_minute() -> None:
    times, tried = 0.0, 0
    while times < 8 * 3_600:
        times += again_in(tried, blocked=True)
        tried += 1
    assert tried < 8 * 60 + 10
    assert again_in(0, blocked=True) < 10, "what ends soon is seen soon"
