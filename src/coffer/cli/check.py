"""`coffer check`: what is odd in a transcript."""

from __future__ import annotations

import json
import sys

import click

from coffer.cli import plain
from coffer.cli.session import World, open_session, session_argument
from coffer.core.check import Finding, Level, check
from coffer.core.view import View
from coffer.store.home import Home
from coffer.work.pruning.repair import Repaired, repair
from coffer.work.sessions.read import Opened

FOUND = 1
_SHOWN_PLACES = 5
_MARKS = {Level.FATAL: ("✗", "red"), Level.WARNING: ("!", "yellow"), Level.NORMAL: ("·", "")}


@click.command()
@session_argument
@click.option("--fix", is_flag=True, help="Repair what can be repaired without loss; undo with the receipt.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(session: str, fix: bool, as_machine: bool) -> None:
    """Tell what is odd in a transcript, and what each oddity means for a resume.

    Changes nothing without --fix. Exit code 0: a resume loses nothing. 1: something is lost or changed, or the
    client can't resume at all.
    """
    world = World.now()
    if fix:
        with open_session(session, world) as opened:
            _report_repair(repair(opened, Home.of(world.environment), world.places), as_machine=as_machine)
    with open_session(session, world) as opened:
        view = opened.agent.view(opened.transcript, "")
        findings = check(opened.transcript, view)
        if as_machine:
            click.echo(json.dumps(_as_json(opened, view, findings), indent=2))
        else:
            _print(opened, findings)
    if any(finding.level is not Level.NORMAL for finding in findings):
        sys.exit(FOUND)


def _report_repair(done: Repaired, *, as_machine: bool) -> None:
    """On stderr where JSON is wanted, so that stdout stays one document."""
    for fix in done.fixes:
        click.echo(f"✓ {fix.what} (byte {fix.start})", err=as_machine)
    if done.receipt is not None:
        click.echo(
            f"Receipt {done.receipt.id}; `coffer undo {done.receipt.id}` takes it back.", err=as_machine
        )
    else:
        click.echo("Nothing that can be repaired without loss.", err=as_machine)


def _as_json(opened: Opened, view: View, findings: list[Finding]) -> dict[str, object]:
    return {
        "session": opened.transcript.about.session,
        "agent": opened.agent.name,
        "path": str(opened.source.path),
        "records": len(opened.transcript.records),
        "live": len(view.branch.records),
        "findings": [
            {
                "kind": finding.kind,
                "level": finding.level.value,
                "count": finding.count,
                "meaning": finding.meaning,
                "offsets": list(finding.places),
            }
            for finding in findings
        ],
        "warnings": opened.warnings,
    }


def _print(opened: Opened, findings: list[Finding]) -> None:
    records = len(opened.transcript.records)
    click.echo(
        plain.visible_line(f"{opened.source.path}: {records} records, {plain.size(opened.source.size)}")
    )
    for finding in findings:
        mark, colour = _MARKS[finding.level]
        click.echo(click.style(f"{mark} {finding.count} × {finding.kind}", fg=colour or None))
        click.echo(f"    {finding.meaning}")
        if finding.level is not Level.NORMAL and finding.places:
            places = ", ".join(str(place) for place in finding.places[:_SHOWN_PLACES])
            more = (
                f" and {len(finding.places) - _SHOWN_PLACES} more"
                if len(finding.places) > _SHOWN_PLACES
                else ""
            )
            click.echo(f"    at byte {places}{more}")
    for warning in opened.warnings:
        click.echo(plain.visible(f"! {warning}"), err=True)
    if all(finding.level is Level.NORMAL for finding in findings):
        click.echo("A resume loses nothing.")
