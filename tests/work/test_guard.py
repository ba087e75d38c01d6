"""A move of the guard: every reason against it, every step of it, and a death at each of them."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from coffer.cli.statusline import line
from coffer.core.safepoint import Answer, Blocker
from coffer.core.settings import Guard
from coffer.disk import replace
from coffer.disk.live import start_mark
from coffer.errors import CofferError
from coffer.store.db import Receipt
from coffer.store.guard_moves import Order, keep_moves, keep_order, moves_of, moves_path, order_of
from coffer.store.guard_state import EVERYONE, guard_state, keep_state
from coffer.store.windows import read_report
from coffer.work.delivery.deliver import Asked
from coffer.work.guarding.attend import Due, attend, due
from coffer.work.guarding.guard import Hands, Move, Wish, act
from coffer.work.guarding.measure import measure
from coffer.work.guarding.move_story import moves_made, outcome
from coffer.work.guarding.nudge import nudge
from coffer.work.guarding.undo_open import undo_open
from coffer.work.pruning import exchange, prune
from tests.transcripts import uid
from tests.work.open_session import GUARD, WINDOW, Client, Typed

WRITES = Guard(write="idle")
TRIM = Wish("standard", "trim")


@pytest.fixture
def client(tmp_path: Path) -> Client:
    client = Client(tmp_path)
    client.grow()
    return client


def move(
    client: Client, means: Typed | None, wish: Wish = TRIM, settings: Guard = GUARD, **more: Any
) -> Move:
    return act(client.guarded, wish, settings, client.hands(means, **more))


def newest(client: Client) -> Receipt:
    return moves_made(client.home, client.transcript)[0]


def test_a_full_session_is_pruned_reloaded_and_measured(client: Client) -> None:
    means, before = Typed(client), client.data
    done = move(client, means)
    assert (done.kind, client.loads) == ("reloaded", 1)
    assert len(client.data) < len(before)
    receipt = newest(client)
    assert (receipt.kind, receipt.status) == ("prune", "done")
    data = receipt.data
    assert (data["by"], data["tier"]) == ("guard", "trim")
    assert data["forecast"] == data["tokens_before"] - data["tokens_after"] > 0
    assert (data["reload"]["means"], data["reload"]["outcome"]) == ("typed", "reloaded")
    assert data["reload"]["since_idle"] > 0
    assert Path(data["backup"]).read_bytes() == before
    assert measure(client.guarded, time.time()) is None
    client.turn(data["tokens_after"] + 40, said="and then")
    closed = measure(client.guarded, time.time())
    assert closed is not None
    assert abs(closed.data["measured"] - data["forecast"]) <= 60
    keep_moves(client.home, client.session, time.time(), open=receipt.id)  # by an undo that was refused
    assert measure(client.guarded, time.time()) is None
    assert moves_of(client.home, client.session, 0).open == ""
    assert client.view()[-2:] == [uid("ut13"), uid("at13")]


def _busy(client: Client) -> None:
    client.says("busy")


def _asks(client: Client) -> None:
    client.says("waiting", waitingFor="permission prompt")


def _shell(client: Client) -> None:
    client.says("shell")


def _warm(client: Client) -> None:
    client.age(0)


def _torn(client: Client) -> None:
    with client.transcript.open("ab") as file:
        file.write(b'{"type":"user","uu')
    client.age(60)


def _cron(client: Client) -> None:
    crons = [{"id": "c1"}]
    client.hook("Stop", last_assistant_message="answered t12", background_tasks=[], session_crons=crons)
    client.says("idle")


def _prompt(client: Client) -> None:
    time.sleep(0.003)
    client.hook("UserPromptSubmit")


@pytest.mark.parametrize(
    ("begin", "kind"),
    [
        (_busy, "turn"),
        (_asks, "dialog"),
        (_shell, "shell"),
        (_warm, "warm"),
        (_torn, "tail"),
        (_cron, "schedule"),
        (_prompt, "turn"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_work_in_flight_is_not_touched(client: Client, begin: Callable[[Client], None], kind: str) -> None:
    begin(client)
    means, before = Typed(client), client.data
    done = move(client, means)
    assert done.kind == "waits"
    assert kind in [each.kind for each in done.blockers]
    assert client.data == before
    assert (means.asked, moves_made(client.home, client.transcript)) == ([], [])


def test_a_draft_keeps_the_file_from_being_written(client: Client) -> None:
    means, before = Typed(client, obstacle="text stands in the input line"), client.data
    done = move(client, means)
    assert [(each.kind, each.evidence) for each in done.blockers] == [
        ("input", "text stands in the input line")
    ]
    assert client.data == before
    means.obstacle = ""
    assert move(client, means).kind == "reloaded"


@pytest.mark.parametrize("at", [2, 3, 4])
def test_a_turn_that_begins_meanwhile_is_found_out_however_late(client: Client, at: int) -> None:
    """The gate is asked before the plan, when the candidate lies ready, and right before the swap."""
    before, means, asked = client.data, Typed(client), 0

    def judge() -> Answer:
        nonlocal asked
        asked += 1
        return Answer((Blocker("turn", "it began", "its end"),) if asked >= at else ())

    done = act(client.guarded, TRIM, GUARD, Hands(judge, means, seen=0.2))
    assert (done.kind, client.data, means.asked) == ("waits", before, [])
    assert [each.status for each in moves_made(client.home, client.transcript)] in ([], ["failed"])
    assert not [path for path in client.transcript.parent.iterdir() if path != client.transcript]


def _cleared(client: Client) -> None:
    client.says("idle", sessionId="5f0c5a62-0000-4000-8000-00000000beef")


def _upgraded(client: Client) -> None:
    client.says("idle", version="9.9.9")


def _opened_twice(client: Client) -> None:
    said = {
        **json.loads(client.registry.read_bytes()),
        "pid": 1,
        "procStart": start_mark(1),
        "status": "busy",
    }
    client.registry.with_name("1.json").write_text(json.dumps(said))


def _opened_by_a_program(client: Client) -> None:
    said = {**json.loads(client.registry.read_bytes()), "pid": 1, "procStart": start_mark(1)}
    client.registry.with_name("1.json").write_text(json.dumps({**said, "entrypoint": "sdk-cli"}))


def _opened_twice_and_idle(client: Client) -> None:
    said = {**json.loads(client.registry.read_bytes()), "pid": 1, "procStart": start_mark(1)}
    client.registry.with_name("1.json").write_text(json.dumps(said))


def test_of_two_idle_clients_none_is_reloaded_and_so_nothing_is_written(client: Client) -> None:
    """The other one would go on from its memory. When it has ended, killed or not, the prune comes."""
    _opened_twice_and_idle(client)
    before, means = client.data, Typed(client)
    for wish in (TRIM, Wish("standard", by="person")):
        done = move(client, means, wish)
        assert (done.kind, [each.kind for each in done.blockers]) == ("waits", ["client"])
        assert f"processes 1 and {os.getpid()} have" in done.blockers[0].evidence
    assert (client.data, means.asked) == (before, [])
    other = client.registry.with_name("1.json")
    said = {**json.loads(other.read_bytes()), "procStart": "1"}  # left behind by a client that was killed
    other.write_text(json.dumps(said))
    assert [each.kind for each in move(client, means).blockers] == ["process"]
    other.unlink()
    client.hook("SessionEnd", reason="prompt_input_exit")  # it wrote its end behind the place that it knew
    assert [each.kind for each in move(client, means).blockers] == ["client"]
    assert (client.data, means.asked) == (before, [])
    client.turn(111_000)
    assert move(client, means).kind == "reloaded"


CHANGES = [_cleared, _upgraded, _opened_twice, _opened_twice_and_idle, _opened_by_a_program]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("at", [2, 4])
def test_a_session_that_changes_between_plan_and_write_is_left(
    client: Client, change: Callable[[Client], None], at: int
) -> None:
    """`/clear`, another version, a second client at work, a program: at the write nothing is as it was planned for."""
    gate, asked, before = client.hands(None).judge, 0, client.data

    def judge() -> Answer:
        nonlocal asked
        asked += 1
        if asked == at:
            change(client)
        return gate()

    means = Typed(client)
    done = act(client.guarded, TRIM, GUARD, Hands(judge, means, seen=0.2))
    assert (done.kind, client.data, means.asked) == ("waits", before, [])


def test_what_the_client_appends_in_the_last_moment_is_never_lost(client: Client) -> None:
    gate, asked = client.hands(None).judge, 0

    def judge() -> Answer:
        nonlocal asked
        asked += 1
        found = gate()
        if asked == 4:  # right before the swap
            client.made.note("queue-operation", operation="enqueue", content="late")
            client.write()
        return found

    done = act(client.guarded, TRIM, GUARD, Hands(judge, Typed(client), seen=0.2))
    assert done.kind == "waits"
    assert client.data.endswith(client.made.lines[-1] + b"\n")


def test_a_client_that_was_silent_for_long_may_append_while_it_is_pruned(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person comes back after an hour: their client opened the file before the rename and writes behind it."""
    monkeypatch.setattr(replace, "DRAIN_SECONDS", 1.0)
    late = b'{"type":"queue-operation","operation":"enqueue","content":"late"}\n'
    with client.transcript.open("ab", buffering=0) as file:

        def append() -> None:
            while client.transcript.stat().st_ino == os.fstat(file.fileno()).st_ino:
                time.sleep(0.005)
            time.sleep(0.1)
            file.write(late)

        with ThreadPoolExecutor(1) as beside:
            written = beside.submit(append)
            done = move(client, Typed(client))
            written.result(10)
    assert done.receipt is not None
    assert done.receipt.data["carried"] == len(late)
    assert client.data.count(late) == 1


@pytest.mark.parametrize(
    ("settings", "mode", "registry", "means", "why"),
    [
        (Guard(act=False), "on", {}, True, "`[guard] act` is false"),
        (GUARD, "paused", {}, True, "paused by you"),
        (GUARD, "off", {}, True, "switched off by you"),
        (GUARD, "on", {"entrypoint": "sdk-cli"}, True, "a program's session"),
        (GUARD, "on", {"kind": "print"}, True, "a program's session"),
        (GUARD, "on", {}, False, "nothing but you can reload it"),
    ],
)
def test_who_is_left_alone(
    client: Client,
    settings: Guard,
    mode: str,
    registry: dict[str, str],
    means: bool,  # noqa: FBT001  (a fact, not an option)
    why: str,
) -> None:
    client.says("idle", **registry)
    keep_state(client.home, EVERYONE, mode=mode)
    before = client.data
    done = move(client, Typed(client) if means else None, settings=settings)
    assert done.kind == "left alone"
    assert why in done.why
    assert client.data == before


def test_subagents_and_other_agents_are_never_moved(client: Client) -> None:
    other = client.transcript.with_suffix("") / "subagents" / "agent-1.jsonl"
    other.parent.mkdir(parents=True)
    other.write_bytes(client.data)
    rollout = client.places.codex / "sessions" / "2026" / "11" / "30" / "rollout-x.jsonl"
    rollout.parent.mkdir(parents=True)
    rollout.write_bytes(client.data)
    for path in (other, rollout):
        session = client.guarded
        found = act(
            type(session)(path, session.home, session.places, session.environment),
            Wish("standard", by="person"),
            GUARD,
            client.hands(None),
        )
        assert found.kind == "left alone"
        assert path.read_bytes() == client.data


def test_where_only_the_person_can_reload_it_is_written_if_they_said_so(client: Client) -> None:
    done = move(client, None, settings=Guard(write="idle"))
    assert done.kind == "by hand"
    assert f"/resume {client.session}" in moves_of(client.home, client.session, 0).tell
    told = read_report(client.home.root, client.session)
    assert line({}, told, {}).endswith(f"changed on disk: /resume {client.session}")
    again = move(client, None, Wish("aggressive", "deep"), Guard(write="idle"))
    assert (again.kind, again.why) == ("left alone", "it is pruned, and waits for you to reload it")
    client.reload()
    client.turn(90_000)
    assert move(client, None, settings=Guard(write="idle")).kind != "left alone"
    assert outcome(newest(client)) == "reloaded"
    assert "/resume" not in line({}, read_report(client.home.root, client.session), {})


def test_a_move_that_failed_since_does_not_hide_that_the_last_one_waits(client: Client) -> None:
    assert move(client, None, settings=WRITES).kind == "by hand"
    _dies_in(client, Wish("aggressive", by="person"), "before back_up")
    client.grow(3, first=120_000)
    waits = move(client, None, settings=WRITES)
    assert (waits.kind, waits.why) == ("left alone", "it is pruned, and waits for you to reload it")
    assert [one.status for one in moves_made(client.home, client.transcript)] == ["failed", "done"]


def test_a_prune_that_is_not_worth_it_is_not_made_and_the_reason_is_kept(tmp_path: Path) -> None:
    client = Client(tmp_path)
    for _ in range(6):
        client.turn(120_000)
    before, means = client.data, Typed(client)
    done = move(client, means)
    assert done.kind == "futile"
    assert (client.data, means.asked) == (before, [])
    assert moves_of(client.home, client.session, 0).stopped == done.why


def test_no_more_reloads_than_allowed_and_none_after_failures(client: Client) -> None:
    now = time.time()
    for _ in range(3):
        keep_moves(client.home, client.session, now, reload=True)
    assert (move(client, Typed(client)).kind, newest_or_none(client)) == ("rests", None)
    path = next((client.home.root / "guard").glob("*.moves.json"))
    path.write_text("{broken")
    assert move(client, Typed(client)).why == "3 failures within 5 minutes"
    assert move(client, Typed(client), now=lambda: time.time() + 700).kind != "rests"


def newest_or_none(client: Client) -> Receipt | None:
    return next(iter(moves_made(client.home, client.transcript)), None)


def test_a_reload_that_is_not_seen_is_told_and_never_repeated(client: Client) -> None:
    means = Typed(client, deaf=True)
    done = move(client, means)
    assert (done.kind, outcome(newest(client))) == ("not seen", "not seen")
    assert "was not seen" in moves_of(client.home, client.session, 0).tell
    means.deaf = False
    assert move(client, means).kind == "left alone"
    assert len(means.asked) == 1
    client.reload()
    move(client, means)
    assert outcome(newest(client)) == "reloaded"


def test_a_reload_that_was_refused_is_owed_and_the_prune_is_not_repeated(client: Client) -> None:
    means = Typed(client, refuses="a key was pressed")
    assert move(client, means).kind == "waits"
    assert outcome(newest(client)) == "owed"
    assert moves_of(client.home, client.session, 0).reloads == ()
    data = client.data
    means.refuses = ""
    client.turn(110_000)
    assert client.data.startswith(data)
    assert move(client, means).kind == "reloaded"
    assert len(moves_made(client.home, client.transcript)) == 1
    means.refuses = "a key was pressed"


def test_after_some_refusals_the_person_is_told(client: Client) -> None:
    means = Typed(client, refuses="a key was pressed")
    kinds = [move(client, means).kind for _ in range(5)]
    assert kinds == ["waits"] * 4 + ["not seen"]
    assert moves_of(client.home, client.session, 0).tell
    assert means.asked == []


def _dies_in(client: Client, wish: Wish, step: str) -> None:
    """Make the move in a process that dies at a step, as by kill -9."""
    child = os.fork()
    if child == 0:
        _fatal(client, step)
        try:
            act(client.guarded, wish, GUARD, client.hands(Typed(client)))
        finally:
            os._exit(3)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9, step


def _fatal(client: Client, step: str) -> None:
    def die(*_: Any, **__: Any) -> Any:
        os._exit(9)

    def after(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def then(*arguments: Any, **more: Any) -> Any:
            real(*arguments, **more)
            os._exit(9)

        setattr(owner, name, then)

    where, _, name = step.partition(" ")
    owner = next((each for each in (prune, exchange, exchange.Exchange) if hasattr(each, name)), None)
    if where == "before":
        setattr(owner, name, die)
    elif where == "behind":
        after(owner, name)
    else:
        reload = client.reload

        def typed() -> None:
            if name == "seen":
                reload()
            os._exit(9)

        client.reload = typed  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("step", "status", "ends", "reloads"),
    [
        ("before write_checked", [], "reloaded", 1),
        ("behind write_checked", [], "reloaded", 1),
        ("before back_up", ["failed"], "reloaded", 1),
        ("behind back_up", ["failed"], "reloaded", 1),
        ("behind swap", ["done"], "reloaded", 1),
        ("behind close", ["done"], "reloaded", 1),
        ("typing nothing", ["done"], "not seen", 0),
        ("typing seen", ["done"], "reloaded", 0),
    ],
)
def test_the_next_one_ends_the_story_of_one_that_was_killed(
    client: Client, step: str, status: list[str], ends: str, reloads: int
) -> None:
    before = client.data
    _dies_in(client, TRIM, step)
    means = Typed(client)
    move(client, means)
    made = moves_made(client.home, client.transcript)
    assert [each.status for each in made if each is not made[0] or status == ["done"]] == status
    assert (outcome(made[0]), len(means.asked)) == (ends, reloads)
    assert Path(made[0].data["backup"]).read_bytes() == before
    rules = made[0].data["tail_uuid"]  # a client that read nothing anew hangs on what stands before them
    shown = [each for each in client.view() if each != rules]
    client.turn(60_000)
    assert [each for each in client.view() if each != rules][: len(shown)] == shown
    assert move(client, means).kind in ("left alone", "futile", "reloaded")
    assert len(means.asked) <= reloads + 1


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8])
def test_a_disk_that_is_full_anywhere_on_the_way_costs_nothing(client: Client, share: float) -> None:
    """No file may grow beyond this share of the transcript: whatever is refused, the next move ends the story."""
    before, size = client.data, client.transcript.stat().st_size
    keep_state(client.home, client.session, told="x")
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size * share), resource.RLIM_INFINITY))
        try:
            move(client, Typed(client))
            os._exit(7)
        except CofferError:
            os._exit(8)
        finally:
            os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (7, 8)
    done = [one for one in moves_made(client.home, client.transcript) if one.status != "failed"]
    if not done:
        assert client.data == before
    means = Typed(client)
    moves_path(client.home, client.session).unlink(missing_ok=True)  # type: ignore[union-attr]  # after a rest
    move(client, means)
    made = [one for one in moves_made(client.home, client.transcript) if one.status == "done"]
    assert [outcome(one) for one in made] == ["reloaded"]
    assert Path(made[0].data["backup"]).read_bytes() == before
    assert [path.name for path in client.transcript.parent.iterdir()] == [client.transcript.name]


def test_late_lines_of_a_killed_swap_are_carried_over(client: Client) -> None:
    client.age(0.3)
    os.utime(client.transcript, None)
    client.age(3_600)
    _dies_in(client, TRIM, "behind swap")
    backup = Path(moves_made(client.home, client.transcript)[0].data["backup"])
    client.made.note("queue-operation", operation="enqueue", content="late")
    late = client.made.lines[-1] + b"\n"
    with backup.open("ab") as file:
        file.write(late)
    move(client, Typed(client, obstacle="x"))
    assert client.data.count(late) == 1
    move(client, Typed(client, obstacle="x"))
    assert client.data.count(late) == 1


def undone(client: Client, means: Typed | None, receipt: Receipt) -> Move:
    return undo_open(receipt, client.guarded, GUARD, client.hands(means))


def test_a_prune_is_undone_in_the_open_session_and_what_came_since_stays(client: Client) -> None:
    """After the reload the client's next record hangs on the rules that the prune put at the end."""
    means, before, shown = Typed(client), client.data, client.view()
    move(client, means)
    receipt, pruned = newest(client), client.data
    client.back = -30  # more than 5 s later: a missing parent would cost all that came before
    client.turn(60_000)
    client.back = 0
    appended = client.data.removeprefix(pruned)
    client.says("busy")
    assert undone(client, means, receipt).kind == "waits"
    assert client.data == pruned + appended
    client.says("idle", statusUpdatedAt=int((time.time() + 60) * 1000))
    done = undone(client, means, receipt)
    assert (done.kind, len(means.asked)) == ("reloaded", 2)
    assert client.data.startswith(before)
    assert client.data.endswith(appended)
    assert [uuid for uuid in client.view() if uuid in shown] == shown
    assert uid("at13") in client.view()
    assert guard_state(client.home, client.session).mode == "paused"
    assert [each.status for each in moves_made(client.home, client.transcript)] == ["done", "undone"]


def test_an_undo_where_only_the_person_reloads(client: Client) -> None:
    before = client.data
    move(client, None, settings=Guard(write="idle"))
    done = undone(client, None, newest(client))
    assert (done.kind, client.data) == ("by hand", before)
    assert moves_of(client.home, client.session, 0).tell_of == newest(client).id


def test_an_undo_whose_reload_was_refused_is_owed_although_the_guard_pauses(client: Client) -> None:
    """By the command that waits on, or by the daemon where that was ended."""
    for way in ("command", "daemon"):
        means, before = Typed(client), client.data
        assert move(client, means).kind == "reloaded"
        receipt, means.refuses = newest(client), "a key was pressed"
        assert undone(client, means, receipt).kind == "waits"
        assert client.data == before
        means.refuses = ""
        if way == "command":
            assert undone(client, means, receipt).kind == "reloaded"
        else:
            _looked_after(client, means)
            assert undone(client, means, receipt).kind == "reloaded", "the command that still waited says so"
        assert (outcome(newest(client)), len(means.asked)) == ("reloaded", 2)
        _looked_after(client, means)
        assert (at(client, 50), len(means.asked)) == (None, 2)
        keep_state(client.home, client.session, mode="on")
        keep_moves(client.home, client.session, 0, reloads=())


def _looked_after(client: Client, means: Typed) -> None:
    found = at(client, 50)
    assert found is not None
    attend(client.guarded, found, time.time(), client.hands(means))


@pytest.mark.parametrize(
    ("step", "status", "reloads"),
    [("before swap", "failed", 0), ("behind swap", "done", 1), ("behind back_up", "failed", 0)],
)
def test_an_undo_that_was_killed_is_ended_by_the_next_one(
    client: Client, step: str, status: str, reloads: int
) -> None:
    means, before = Typed(client), client.data
    move(client, means)
    receipt, pruned = newest(client), client.data
    _undo_dies(client, receipt, step)
    _looked_after(client, means)
    made = moves_made(client.home, client.transcript)
    assert made[0].status == status
    assert made[1].status == ("undone" if reloads else "done")
    assert len(means.asked) == 1 + reloads
    assert client.data == (before if reloads else pruned)
    assert guard_state(client.home, client.session).mode == ("paused" if reloads else "on")


def _undo_dies(client: Client, receipt: Receipt, step: str) -> None:
    where, _, name = step.partition(" ")
    child = os.fork()
    if child == 0:
        try:
            real = getattr(exchange, name)

            def dies(*arguments: Any, **more: Any) -> None:
                if where == "behind":
                    real(*arguments, **more)
                os._exit(9)

            setattr(exchange, name, dies)
            undone(client, Typed(client), receipt)
        finally:
            os._exit(3)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9, step


def test_a_session_that_was_compacted_needs_no_reload_any_more(client: Client) -> None:
    """Pruned, told to be reloaded by hand, and then the client compacted: it may be pruned again."""
    assert move(client, None, settings=WRITES).kind == "by hand"
    assert move(client, None, settings=WRITES).why == "it is pruned, and waits for you to reload it"
    client.hook("SessionStart", source="compact")
    client.says("idle")
    assert move(client, None, settings=WRITES).kind != "left alone"
    (receipt, *_) = [one for one in moves_made(client.home, client.transcript) if outcome(one) == "compacted"]
    assert receipt.status == "done"
    moves = moves_of(client.home, client.session, 0)
    assert moves.tell_of != receipt.id or not moves.tell


def test_a_reload_before_which_nothing_can_be_mended_is_no_loop(tmp_path: Path) -> None:
    """The folder of the backups is gone bad: that is a failure, which is tried again after a rest."""
    client = _polled(tmp_path)
    assert move(client, Typed(client, refuses="a key was pressed")).kind == "waits"
    gone = next(uuid for uuid in newest(client).data["removed"] if uuid.startswith("rt3"))
    backups = client.home.backups
    backups.rename(backups.with_name("elsewhere"))
    backups.write_bytes(b"")
    client.made.leaf = gone
    client.turn(30_000, said="again")
    means = Typed(client)
    assert (move(client, means).kind, means.asked) == ("failed", [])
    assert len(moves_of(client.home, client.session, 0).failures) == 1


def at(client: Client, used: float, settings: Guard = WRITES) -> Due | None:
    tokens = int(used * WINDOW / 100)
    return due(client.guarded, used, tokens, settings, time.time())


def test_what_is_due(client: Client) -> None:
    assert [at(client, used) for used in (10, 30, 54)] == [None] * 3
    assert at(client, 56) == Due(Wish("standard", "trim"), ("trim", "watch"))
    assert at(client, 85) == Due(Wish("aggressive", "deep"), ("deep", "trim", "watch"))
    assert at(client, 95) == Due(Wish("aggressive", "last call"), ("deep", "last call", "trim", "watch"))
    assert at(client, 95, GUARD) is None, "nothing could reload it"
    keep_state(client.home, client.session, mode="paused")
    assert at(client, 95) is None
    keep_order(client.home, client.session, Order("gentle", time.time()))
    assert at(client, 10) == Due(Wish("gentle", by="person"))
    keep_order(client.home, client.session, Order("gentle", time.time() - 4_000))
    assert at(client, 10) is None


@pytest.mark.parametrize(
    ("late", "why"), [(0, "there is nothing to take out"), (3_700, "there was no idle moment within an hour")]
)
def test_of_an_order_that_came_to_nothing_the_person_is_told(tmp_path: Path, late: float, why: str) -> None:
    client = Client(tmp_path)
    client.turn(20_000)
    client.turn(30_000)
    keep_order(client.home, client.session, Order("standard", time.time() - late))
    found = at(client, 15)
    if found is not None:
        attend(client.guarded, found, time.time(), client.hands(Typed(client)))
    assert order_of(client.home, client.session) is None
    asked = Asked("claude", "UserPromptSubmit", "", tmp_path, client.session, client.transcript, "", 1, {})
    assert nudge(asked, client.home) == f"Coffer: nothing was pruned, as you had ordered: {why}"
    assert nudge(asked, client.home) == ""


def test_a_tier_is_acted_upon_once_until_the_use_fell(client: Client) -> None:
    found = at(client, 56)
    assert found is not None
    done = attend(client.guarded, found, time.time(), client.hands(Typed(client)))
    assert done.kind == "reloaded"
    assert at(client, 57) == Due(None), "what it saved is still to be measured"
    client.turn(64_000)
    assert attend(client.guarded, Due(None), time.time(), client.hands(None)).why == "measured"
    assert [at(client, used) for used in (57, 49, 57)] == [None] * 3
    assert at(client, 47) is None
    assert at(client, 56) is not None


def test_what_was_futile_is_planned_again_when_more_has_come(client: Client) -> None:
    keep_moves(client.home, client.session, time.time(), stopped="it would save 2%", stopped_at=112_000)
    assert at(client, 56) is None
    assert at(client, 60) is not None


@pytest.mark.parametrize(
    "words",
    [
        "API Error: 400 prompt is too long: 208310 tokens > 200000 maximum",
        "Prompt is too long",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
        "Context limit reached · /compact or /clear to continue",
        "Conversation too long. Press esc twice to go up a few messages and try again.",
    ],
)
def test_a_refusal_for_the_length_is_answered_once(client: Client, words: str) -> None:
    client.refused(words)
    found = at(client, 30)
    assert found is not None
    assert found.wish is not None
    assert (found.wish.prescription, found.wish.overflow) == ("aggressive", uid("e12"))
    done = attend(client.guarded, found, time.time(), client.hands(Typed(client)))
    assert done.kind == "reloaded"
    assert at(client, 30) == Due(None)
    client.turn(40_000)
    client.turn(60_000, said="I read “prompt is too long” somewhere")
    attend(client.guarded, Due(None), time.time(), client.hands(None))
    assert at(client, 30) is None


def test_an_error_of_another_kind_is_none(client: Client) -> None:
    client.refused("API Error: 529 overloaded")
    assert at(client, 30) is None


def _polled(root: Path) -> Client:
    """A session of which a prune drops records, not only their content."""
    client = Client(root)
    client.back = 600  # over a gap of more than 5 s nothing is bridged
    for number in range(12):
        client.turn(20_000 + 7_500 * number, 30_000, polls=4)
    client.back = 0
    return client


def test_a_record_whose_parent_was_pruned_is_hung_on_its_ancestor_first(tmp_path: Path) -> None:
    """A prune that nobody reloaded, then a rewind: the client's memory still names what went."""
    client = _polled(tmp_path)
    assert move(client, None, settings=Guard(write="idle")).kind == "by hand"
    gone = next(uuid for uuid in newest(client).data["removed"] if uuid.startswith("rt3"))
    assert newest(client).data["removed"][gone]
    client.made.leaf = gone
    client.turn(30_000, said="again")
    assert len(client.view()) < 4, "all that came before is lost to a reload"
    client.hook("SessionStart", source="resume")
    client.says("idle")
    assert move(client, Typed(client)).kind in ("reloaded", "futile")
    assert client.view()[0] == uid("ut1")
    assert {uid("ut13"), uid("at13")} <= set(client.view())
