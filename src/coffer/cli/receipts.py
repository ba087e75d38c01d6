"""`coffer receipts`: what Coffer did."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.receipts import all_receipts, audited

_SHOWN = 20
_WIDE = 100


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
    from coffer.cli.screen import console, keep_whole, table  # noqa: PLC0415  (rich is imported when something is drawn)

    rows = table(
        "", "receipt", "time", "what", "state", "tokens", "bytes", "session", right=("tokens", "bytes")
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
        what = f"{receipt.kind} {data.get('prescription', data.get('undoes', data.get('verb', '')))}"
        time = receipt.time[5:16].replace("T", " ")
        rows.add_row(receipt.id, time, what, receipt.status, tokens, size, receipt.session[:8])
    screen = console()
    if screen.width < _WIDE:
        rows.columns = [column for column in rows.columns if column.header != "bytes"]
    keep_whole(rows, screen.width, "receipt", "time", "what", "state", "tokens", "session")
    screen.print(rows)


def _draw_events(shown: Sequence[Receipt]) -> None:
    from coffer.cli.screen import console, keep_whole, table, text  # noqa: PLC0415  (as above)

    rows = table("", "receipt", "time", "event", "state", "agent", "file")
    for receipt in shown:
        time = receipt.time[5:16].replace("T", " ")
        undoes = receipt.data.get("undoes", "")
        what = f"{receipt.kind} {undoes}".rstrip()
        rows.add_row(receipt.id, time, text(what), receipt.status, text(receipt.agent), text(receipt.path))
    screen = console()
    keep_whole(rows, screen.width, "receipt", "time", "event", "state", "agent")
    screen.print(rows)
