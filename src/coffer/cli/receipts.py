"""`coffer receipts`: what Coffer did."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.store.home import Home
from coffer.work.receipts import all_receipts

_SHOWN = 20
_WIDE = 100


@click.command()
@click.option("--all", "-a", "everything", is_flag=True, help="All receipts, not only the newest.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(everything: bool, as_machine: bool) -> None:
    """List what Coffer wrote: when, where, what it brought, and whether it can still be undone."""
    found = all_receipts(Home.of(World.now().environment))
    shown = found if everything else found[:_SHOWN]
    if as_machine:
        click.echo(json.dumps([asdict(receipt) for receipt in shown], indent=2))
        return
    if not found:
        click.echo("No receipts: Coffer has written nothing.")
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
