"""`coffer guard now`: prune an open session at its next idle moment, and have it read again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import click

from coffer.cli.counter import json_option
from coffer.cli.plain import visible_line
from coffer.cli.session import World, session_argument
from coffer.cli.version import version
from coffer.core.settings import Guard
from coffer.core.strategies.table import PRESCRIPTIONS
from coffer.core.tiers import GUARDED, tier_of
from coffer.daemon import life
from coffer.disk.ancestors import pids_above
from coffer.store.guard_moves import Order, keep_order
from coffer.store.home import Home
from coffer.work.guarding.gate import as_json, judge_session
from coffer.work.guarding.guard import Hands, Move, Wish, act
from coffer.work.guarding.guard_errors import LeftAlone, MoveFailed, NotSafe, ReloadNotSeen
from coffer.work.guarding.guarded import Guarded, why_not
from coffer.work.guarding.means import MeansName
from coffer.work.guarding.move_story import unread
from coffer.work.guarding.nudge import last_answer, window_now
from coffer.work.guarding.senses import Senses, plan_now
from coffer.work.sessions.find import find
from coffer.work.sessions.window import report_of

LOOK_SECONDS = 1.0
_HOW: dict[MeansName, str] = {
    "typed": "`coffer run` types /resume in it, and it goes on with the pruned file",
    "tmux": "/resume is typed into its tmux pane, and it goes on with the pruned file",
    "restart": "`coffer run` ends the agent and starts it again in the same session",
    "none": "you type in it: /resume {}",
}
"""How a session comes to be read again."""


@click.command("now")
@session_argument
@click.option(
    "-rx",
    "--prescription",
    type=click.Choice(list(PRESCRIPTIONS)),
    default=None,
    help="As of `coffer prune`; by default what the session's tier asks for, else standard.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would go, and whether it may be done now.")
@click.option(
    "--wait",
    default=600.0,
    show_default=True,
    type=click.FloatRange(0, 86_400),
    metavar="SECONDS",
    help="How long to wait for an idle moment.",
)
@json_option
def command(session: str, prescription: str | None, dry_run: bool, wait: float, as_machine: bool) -> None:
    """Prune an open session at its next idle moment, and reload it, or print the line that does.

    From another terminal it waits for that moment. In the session itself, as `! coffer guard now`, the client is busy
    while a command runs: there the daemon takes the order, and this returns at once. The prune can be undone by `coffer
    undo`, like any other.
    """
    world = World.now()
    home = Home.of(world.environment)
    transcript = find(session, world.places, world.environment, world.folder, GUARDED)
    found = Guarded(transcript, home, world.places, world.environment)
    settings = found.settings()
    if reason := why_not(found, "person", settings, None):
        raise LeftAlone(found.id, reason)
    chosen = prescription or usual(found, settings)
    senses = Senses(found)
    if dry_run:
        _show(found, chosen, senses.hands(settings), as_machine=as_machine)
        return
    if is_inside(found):
        if len(found.entries()) > 1:
            raise LeftAlone(found.id, "several clients have it open: close all but one")
        keep_order(home, found.id, Order(chosen, time.time()))
        life.start(home, world.environment, version())
        _ordered(found, chosen, senses.hands(settings), as_machine=as_machine)
        return
    wish = Wish(chosen, by="person")
    move = waited(lambda: act(found, wish, settings, senses.hands(settings)), wait, quiet=as_machine)
    _tell(found, move, as_machine=as_machine)


def usual(session: Guarded, settings: Guard) -> str:
    """The prescription of the tier that a session is in; standard below them."""
    last = last_answer(session.transcript)
    if last is None or last.usage is None:
        return "standard"
    window = window_now(last, report_of(session.id, session.environment), session.environment)
    tier = tier_of(last.usage.context / window.tokens * 100, settings.tiers)
    return (tier.prescription if tier is not None else "") or "standard"


def is_inside(session: Guarded) -> bool:
    """Whether the session's own client runs us, and so can't become idle before we end."""
    above = set(pids_above())
    return any(said.get("pid") in above for said in session.entries())


def waited(attempt: Callable[[], Move], seconds: float, *, quiet: bool) -> Move:
    """Try until it is no longer to be waited for, or the time is over; what is waited for is shown on stderr."""
    until, shown = time.monotonic() + seconds, ""
    while True:
        move = attempt()
        if move.kind not in ("waits", "rests") or time.monotonic() >= until:
            return move
        reasons = "; ".join(dict.fromkeys(each.evidence for each in move.blockers)) or move.why
        if reasons != shown and not quiet:
            click.echo(f"Waiting: {visible_line(reasons)}.", err=True)
            shown = reasons
        time.sleep(min(LOOK_SECONDS, max(0.05, until - time.monotonic())))


def _tell(session: Guarded, move: Move, *, as_machine: bool) -> None:
    if as_machine:
        click.echo(json.dumps({"session": session.id, **move.as_json()}, indent=2))
    receipt = move.receipt.id if move.receipt is not None else ""
    match move.kind:
        case "waits" | "rests":
            raise NotSafe(
                session.id, [(each.kind, each.evidence) for each in move.blockers] or [("wait", move.why)]
            )
        case "left alone":
            raise LeftAlone(session.id, move.why)
        case "failed":
            raise MoveFailed(session.id, move.why)
        case "not seen":
            raise ReloadNotSeen(session.id, receipt, move.why)
    if as_machine:
        return
    if move.receipt is None:
        click.echo(f"Nothing was written: {visible_line(move.why)}.")
        if (waits := unread(session.home, session.transcript)) is not None:
            click.echo(
                f"What receipt {waits.id} changed, it has not read yet. Type in it: /resume {session.id}"
            )
        return
    saved = f"about {move.receipt.data.get('forecast', 0):,} tokens less (receipt {receipt})"
    if move.kind == "reloaded":
        click.echo(
            f"Session {session.id} was pruned and reloaded: {saved}. `coffer undo {receipt}` takes it back."
        )
    else:
        click.echo(f"Session {session.id} is pruned: {saved}. Type in it: /resume {session.id}")


def _ordered(session: Guarded, prescription: str, hands: Hands, *, as_machine: bool) -> None:
    by_itself = hands.means is not None
    if as_machine:
        said = {"session": session.id, "kind": "ordered", "prescription": prescription, "reloads": by_itself}
        click.echo(json.dumps(said, indent=2))
    elif by_itself:
        click.echo("Coffer prunes this session and reloads it as soon as it is idle, in a few seconds.")
    else:
        click.echo(
            "Coffer prunes this session as soon as it is idle, in a few seconds. "
            f"Then type: /resume {session.id}"
        )


def _show(session: Guarded, prescription: str, hands: Hands, *, as_machine: bool) -> None:
    tokens, futile = plan_now(session, prescription)
    verdict = judge_session(session.transcript, session.places, session.home)
    obstacles = hands.means.obstacles() if hands.means is not None else []
    name: MeansName = hands.means.name if hands.means is not None else "none"
    if as_machine:
        said = {"session": session.id, "prescription": prescription, **tokens, "futile": futile}
        said |= {"write": as_json(verdict.write), "means": name, "obstacles": obstacles}
        click.echo(json.dumps(said, indent=2))
        return
    before, after = tokens["tokens_before"], tokens["tokens_after"]
    click.echo(f"{prescription}: about {before:,} → {after:,} tokens{f' ({futile})' if futile else ''}.")
    click.echo(f"Then {_HOW[name].format(session.id)}.")
    reasons = [f"{each.kind}: {each.evidence}" for each in verdict.write.blockers] + obstacles
    click.echo(f"It may be done now: {'no' if reasons else 'yes'}.")
    for reason in reasons:
        click.echo(f"  {visible_line(reason)}")
