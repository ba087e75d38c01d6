"""`coffer receipts`: what Coffer did."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.store.db import DONE, Receipt
from coffer.store.home import Home
from coffer.work.receipts import all_receipts, audited

_SHOWN = 20
_WIDE = 100
_BESIDE_FILE = 66
_LONGEST = 4096


@click.command()
@click.option("--all", "-a", "everything", is_flag=True, help="All receipts, not only the newest.")
@click.option("--audit", is_flag=True, help="Only what was done to your agents' own settings.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(everything: bool, audit: bool, as_machine: bool) -> None:
    """List what Coffer wrote: when, where, what it brought, and whether it can still be undone."""
    found = all_receipts(Home.of(World.now().environment))
    if audit:
        found = audited(found)
    shown = found if everything else found[:_SHOWN]
    if as_machine:
        click.echo(json.dumps([asdict(receipt) for receipt in shown], indent=2))
        return
    if not found:
        what = "nothing to your agents' settings" if audit else "nothing"
        click.echo(f"No receipts: Coffer has written {what}.")
        return
    if audit:
        _draw_events(shown)
        return
    from coffer.cli.screen import cell, console, keep_whole, table, text  # noqa: PLC0415  (rich is imported when something is drawn)

    rows = table(
        "",
        "receipt",
        "time",
        "what",
        "state",
        "tokens",
        "saved",
        "bytes",
        "about",
        right=("tokens", "saved", "bytes"),
    )
    for receipt in shown:
        data = receipt.data
        change = ("tokens_before", "tokens_after")
        tokens = "→".join(plain.tokens(data[key]) for key in change) if change[0] in data else ""
        size = (
            f"{plain.size(data['bytes_before'])}→{plain.size(data['bytes_after'])}"
            if "bytes_after" in data
            else ""
        )
        rows.add_row(
            receipt.id,
            plain.moment(receipt.time)[5:],
            text(_what(receipt)),
            _state(receipt),
            tokens,
            _saved(receipt),
            size,
            cell(_about(receipt), _WIDE),
        )
    screen = console()
    if screen.width < _WIDE:
        rows.columns = [column for column in rows.columns if column.header != "bytes"]
    rows.columns = [column for column in rows.columns if any(map(str, column.cells))]
    keep_whole(rows, screen.width, "receipt", "time", "what", "state", "tokens")
    screen.print(rows)


def _saved(receipt: Receipt) -> str:
    """Of a prune of an open session: what was measured, of what was forecast; the forecast alone until then."""
    data = receipt.data
    if data.get("by") is None or not isinstance(data.get("forecast"), int):
        return ""
    forecast, measured = data["forecast"], data.get("measured")
    if isinstance(measured, int):
        return f"{'-' if measured < 0 else ''}{plain.tokens(abs(measured))} of {plain.tokens(forecast)}"
    return f"? of {plain.tokens(forecast)}"


def _state(receipt: Receipt) -> str:
    """Its state; of a move in an open session what became of the reload."""
    reload = receipt.data.get("reload")
    outcome = reload.get("outcome") if isinstance(reload, dict) and receipt.status == DONE else ""
    return f"{receipt.status}, {outcome}" if outcome else receipt.status


def _what(receipt: Receipt) -> str:
    """What was done, in a word or two."""
    more = receipt.data.get("prescription", receipt.data.get("undoes", receipt.data.get("verb", "")))
    kind = receipt.kind.lower().replace("_", " ")
    if receipt.data.get("tier"):
        more = f"{more}, {receipt.data['tier']}"
    return kind if more == kind else f"{kind} {more}".rstrip()


def _about(receipt: Receipt) -> str:
    """What it was done to: the rule, else the session, else the file."""
    changes = receipt.data.get("changes") or []
    rules = [change.get("after") or change.get("before") for change in changes]
    said = [f"{rule['id']} {rule['text']}" for rule in rules if rule]
    if said:
        return said[0] if len(said) == 1 else f"{said[0]} (and {len(said) - 1} more)"
    return receipt.session[:8] or _short(receipt.path)


def _short(path: str, room: int = 0) -> str:
    """A path by its end where there is no room for all of it: its beginning tells nobody which file it is."""
    return path if len(path) <= room else "/".join(Path(path).parts[-2:])


def _draw_events(shown: Sequence[Receipt]) -> None:
    from coffer.cli.screen import cell, console, keep_whole, table, text  # noqa: PLC0415  (as above)

    screen = console()
    room = screen.width - _BESIDE_FILE

    rows = table("", "receipt", "time", "event", "state", "agent", "file")
    for receipt in shown:
        time = plain.moment(receipt.time)[5:]
        undoes = receipt.data.get("undoes", "")
        what = f"{receipt.kind} {undoes}".rstrip()
        rows.add_row(
            receipt.id,
            time,
            text(what),
            receipt.status,
            text(receipt.agent),
            cell(_short(receipt.path, room), _LONGEST),
        )
    keep_whole(rows, screen.width, "receipt", "time", "event", "state", "agent")
    screen.print(rows)
