"""`coffer digest classify`, `compare` and `check`: judgements on what is handed over. Nothing here writes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.counter import loose
from coffer.work.rules.digest import check, judge, relate, tools_of
from coffer.work.rules.lines import read_objects

_FILE = click.Path(path_type=Path, allow_dash=True)
_REFUSED = 1


@click.command("classify")
@click.argument("turn", required=False)
@click.option("--before", default="", metavar="TEXT", help="What the agent had just said or done.")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="A tool it had just used; repeatable.")
@click.option(
    "--jsonl", type=_FILE, metavar="FILE", help='{"id", "before", "tools", "turn"} a line, - for stdin.'
)
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def classify_command(
    turn: str | None,
    before: str,
    tools: tuple[str, ...],
    jsonl: Path | None,
    as_machine: bool,
) -> None:
    """Say what a person's TURN is: a correction, a preference, a wish for this once, or none of these.

    *certain* may count as evidence for a rule by itself, *possible* only asks. The rule is what it would say, where
    that can be worded safely. The number is how sure the label is, 1 for entirely.
    """
    if (turn is None or not turn.strip()) == (jsonl is None):
        raise click.UsageError("Give either a TURN, which is not empty, or --jsonl FILE.")
    if jsonl is not None:
        _answer(
            {"id": said.get("id")}
            | judge(said["turn"], _text(said.get("before")), tools_of(said.get("tools")))
            for said in read_objects(_path(jsonl), "turn")
        )
        return
    found = judge(turn or "", before, tools)
    if as_machine:
        click.echo(json.dumps(found, indent=2))
        return
    click.echo(f"{found['label']}, {found['certainty']} ({found['confidence']:.2f}): {found['reason']}")
    if found["rule"]:
        click.echo(plain.visible(f"Rule ({found['scope']}, {found['persistence']}): {found['rule']}"))


@click.command("compare")
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option("--jsonl", type=_FILE, metavar="FILE", help='{"id", "a", "b"} a line, - for stdin.')
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def compare_command(a: str | None, b: str | None, jsonl: Path | None, as_machine: bool) -> None:
    """Say whether rules A and B are DUPLICATE, DISTINCT or CONTRADICTORY."""
    if (b is None) == (jsonl is None) or (a is not None and jsonl is not None):
        raise click.UsageError("Give either two rules or --jsonl FILE.")
    if jsonl is not None:
        _answer(
            {"id": said.get("id")} | relate(said["a"], said["b"])
            for said in read_objects(_path(jsonl), "a", "b")
        )
        return
    found = relate(a or "", b or "")
    click.echo(json.dumps(found, indent=2) if as_machine else f"{found['label']}: {found['reason']}")


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def check_command(file: Path, as_machine: bool) -> None:
    """Read a digest FILE and tell whether every rule in it can be understood, and what would not be delivered."""
    found = check(file)
    if as_machine:
        click.echo(json.dumps(found, indent=2))
    else:
        counts = ", ".join(f"{count} {state}" for state, count in found["rules"].items()) or "none"
        click.echo(plain.visible(f"{found['path']}: rules: {counts}."))
        for item in found["refused"]:
            click.echo(
                plain.visible(f"line {item['line']}: rule {item['rule']} is not delivered: {item['reason']}")
            )
        if found["loose"]:
            click.echo(loose(found["loose"]))
    if found["refused"]:
        sys.exit(_REFUSED)


def _answer(found: Iterator[dict[str, Any]]) -> None:
    for item in found:
        click.echo(json.dumps(item))


def _path(said: Path) -> Path:
    return Path("/dev/stdin") if str(said) == "-" else said


def _text(said: Any) -> str:
    return said if isinstance(said, str) else ""
