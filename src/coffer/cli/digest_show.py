"""`coffer digest show` and `coffer digest why`."""

from __future__ import annotations

import json
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.counter import Counter, json_option, loose, rule_argument
from coffer.work.rules.rule_list import listing
from coffer.work.rules.rule_list import why as reasons

_WHOLE = 10_000
"""Characters of a rule: one that is cut can't be judged, so it goes on in the next line."""
_STYLES = {"hard": "bold red", "active": "bold", "pending": "dim", "archived": "dim"}


@click.command("show")
@click.option("--all", "-a", "everything", is_flag=True, help="Archived rules too.")
@click.option("--effective", is_flag=True, help="What a session here would be given, and what is left out.")
@json_option
def show(everything: bool, effective: bool, as_machine: bool) -> None:
    """List the rules of this project and your own: how important, how sure, when last seen."""
    counter = Counter.now()
    if effective:
        _effective(counter, as_machine=as_machine)
        return
    found = listing(counter.desk)
    if as_machine:
        click.echo(json.dumps(found, indent=2))
        return
    for one in found["digests"]:
        _draw_digest(one, counter.settings.digest.cap, everything=everything)


def _effective(counter: Counter, *, as_machine: bool) -> None:
    from coffer.work.rules.effective import effective_of  # noqa: PLC0415  (only --effective needs it)

    found = effective_of(counter.world.folder, counter.home, counter.world.environment)
    if as_machine:
        click.echo(json.dumps(found, indent=2))
        return
    from coffer.cli.screen import cell, console, table, wrapped  # noqa: PLC0415  (rich is imported when something is drawn)

    count = len(found["rules"])
    click.echo(f"A session here is given {count} rule{'' if count == 1 else 's'}.")
    if found["rules"]:
        rows = table("", "rule", "", "from", "")
        for rule in found["rules"]:
            style = _STYLES["hard"] if rule["priority"] == "hard" else ""
            place = _place(rule["file"], found)
            rows.add_row(rule["id"], rule["priority"], place, cell(rule["text"], _WHOLE), style=style)
        console().print(wrapped(rows))
    if found["left_out"]:
        click.echo("\nLeft out:")
        for rule in found["left_out"]:
            name = f"{rule['id']} " if rule["id"] else ""
            click.echo(plain.visible(f"  {name}{rule['text']}: {rule['reason']}".rstrip(": ")))
    for problem in found["problems"]:
        click.echo(f"\nNo rule comes from there: {plain.visible(problem['reason'])}")


def _place(path: str, found: dict[str, Any]) -> str:
    return "project" if found["project"] and path.startswith(found["project"] + "/") else "yours"


def _draw_digest(one: dict[str, Any], cap: int, *, everything: bool) -> None:
    from coffer.cli.screen import cell, console, keep_whole, table, wrapped  # noqa: PLC0415  (rich is imported when something is drawn)

    title = "This project" if one["where"] == "project" else "All your projects"
    click.echo(f"{title}: {plain.visible_path(one['path'])}")
    if "problem" in one:
        click.echo(plain.visible(f"  {one['problem']}"))
        return
    shown = [rule for rule in one["rules"] if everything or rule["state"] != "archived"]
    active = sum(rule["state"] == "active" for rule in one["rules"])
    if not shown:
        click.echo("  no rules yet" if not one["exists"] else "  no rules")
    else:
        others = len(one["rules"]) - active
        click.echo(f"  {active} active of at most {cap}, {others} other{'' if others == 1 else 's'}")
        rows = table(
            "", "rule", "state", "imp.", "conf.", "turns", "last seen", "", right=("imp.", "conf.", "turns")
        )
        for rule in sorted(shown, key=_rank):
            state = rule["priority"] if rule["state"] == "active" else rule["state"]
            untrusted = rule["state"] == "active" and not rule["trusted"]
            rows.add_row(
                rule["id"],
                "untrusted" if untrusted else state,
                str(rule["importance"]),
                f"{rule['confidence']:.2f}" if rule["evidence"] else "",
                str(rule["evidence"] or ""),
                rule["last_seen"] or "",
                cell(rule["text"], _WHOLE),
                style=_STYLES.get(state, "bold"),
            )
        screen = console()
        keep_whole(rows, screen.width, "rule", "state", "imp.", "conf.", "turns", "last seen")
        screen.print(wrapped(rows))
        if any(rule["state"] == "active" and not rule["trusted"] for rule in one["rules"]):
            click.echo(
                "  untrusted: written by somebody else or by hand, and not delivered before `coffer trust`"
            )
    if one["loose"]:
        click.echo(f"  {loose(one['loose'])}")
    for each in one["refused"]:
        click.echo(
            plain.visible(f"  line {each['line']}: rule {each['rule']} is not delivered: {each['reason']}")
        )


def _rank(rule: dict[str, Any]) -> tuple[int, bool, int, str]:
    return (
        ("active", "pending", "archived").index(rule["state"]),
        rule["priority"] != "hard",
        -rule["importance"],
        rule["id"],
    )


@click.command("why")
@rule_argument()
@json_option
def why(rule: str, as_machine: bool) -> None:
    """Show the turns behind RULE, with date and session, and all that happened to it."""
    found = reasons(Counter.now().desk, rule)
    if as_machine:
        click.echo(json.dumps(found, indent=2))
        return
    about = found["rule"]
    click.echo(plain.visible(f"{about['id']} {about['title']}\n  {about['text']}"))
    sure = f"{about['confidence']:.2f} (active from {found['threshold']} and {found['promote_at']} corrections on)"
    times = f"{about['corrections']} correction{'' if about['corrections'] == 1 else 's'}"
    proof = f", confidence {sure}" if found["turns"] else ""
    click.echo(f"  {about['state']}, {about['priority']}, importance {about['importance']}, {times}{proof}")
    if about["state"] == "active" and not about["trusted"]:
        click.echo("  not delivered: its text is not trusted yet; `coffer trust` shows it")
    source = about["source"] or "written by hand"
    click.echo(f"  {plain.visible_line(source)}, in {plain.visible_path(found['path'])}")
    if about["superseded"]:
        click.echo(plain.visible(f"  superseded by {about['superseded']}"))
    click.echo("\nTurns behind it:" if found["turns"] else "\nNo turn stands behind it.")
    for turn in found["turns"]:
        kind = turn["label"].lower().replace("_", " ")
        click.echo(
            f"  {plain.moment(turn['time'])}  session {turn['session'][:8]}  {kind}, {turn['certainty']}"
        )
        if turn["before"]:
            click.echo(f"  agent: {plain.visible_line(turn['before'][-160:])}")
        if turn["text"]:
            click.echo(f"    you: {plain.visible_line(turn['text'])}")
    if found["changes"]:
        click.echo("\nWhat happened:")
        for change in found["changes"]:
            undone = " (undone)" if change["status"] == "undone" else ""
            when = plain.moment(change["time"])
            click.echo(
                plain.visible(
                    f"  {when}  {change['kind']} as {change['rule']}: {change['why']}{undone}  [{change['receipt']}]"
                )
            )
