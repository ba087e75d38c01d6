"""The guard's live view as a picture."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from coffer.cli.daemon import picture as daemon
from coffer.cli.daemon import stood
from coffer.cli.screen import cell, keep_whole, stacked_bar, table, text
from coffer.cli.session import World
from coffer.store.home import Home
from coffer.work.guarding.watch import Watched, watched

_GAUGE = 12
_STYLES = {"trim": "yellow", "deep": "bold yellow", "last call": "bold red"}


def picture(world: World, home: Home, width: int) -> RenderableType:
    """Every open session, a row each, and below it what the person can do where there is something."""
    found = watched(home, world.places, world.environment, stood(daemon(home), world.environment))
    if not found:
        return Text("No session is open.", style="dim")
    rows = table("", "session", "agent", "project", "window", "", "tier", "writable", "prune saves")
    for one in found:
        listed = one.listed
        rows.add_row(
            cell(_short(one)),
            listed.found.agent,
            cell(Path(listed.folder).name if listed.folder else "", 24),
            stacked_bar([("your words", min(listed.tokens, listed.window))], listed.window or 1, _GAUGE),
            text("can't be read" if listed.problem else f"{listed.fill:.0%}"),
            _tier(one),
            _verdict(one),
            text(f"{one.saving.tokens:,}" if one.saving else ""),
        )
    keep_whole(rows, width, "session", "tier")
    steps = [text(f"{_short(one)}: {one.next_step}{_moved(one)}") for one in found if one.next_step]
    return Group(rows, Text(""), *steps)


def _short(one: Watched) -> str:
    found = one.listed.found
    return found.id[:8] if found.agent == "claude" else found.id[-8:]


def _moved(one: Watched) -> str:
    """What the last prune of an open session brought."""
    data = one.moved.data if one.moved is not None else {}
    if not isinstance(data.get("forecast"), int):
        return ""
    measured = data.get("measured")
    said = f"{measured:,} measured" if isinstance(measured, int) else "not measured yet"
    return f". Its last prune: {data['forecast']:,} tokens forecast, {said}"


def _tier(one: Watched) -> Text:
    if one.mode != "on":
        return Text(one.mode, style="dim")
    return Text(one.tier.name, style=_STYLES.get(one.tier.name, "")) if one.tier else Text("")


def _verdict(one: Watched) -> Text:
    if one.verdict is None:
        return Text("")
    if one.verdict.write.safe:
        return Text("yes", style="green")
    return cell("no: " + ", ".join(dict.fromkeys(each.kind for each in one.verdict.write.blockers)), 40)
