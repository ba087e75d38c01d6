"""What `coffer up`, `down` and `doctor` show of a set-up: what would be done, what was done, what a session gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.hooks_picture import DONE, plan_json, say, show_plans, show_short
from coffer.core.bundle import Bundle
from coffer.store.db import Receipt
from coffer.work.agent_settings.config_write import DISABLED, FORBIDDEN, INSTALLED, PERMITTED, UNINSTALLED
from coffer.work.agent_settings.install import InstallPlan
from coffer.work.delivery.rehearse import Rehearsal
from coffer.work.setup.setup import AgentSetup, Outcome
from coffer.work.setup.takedown import AgentTakedown

_LABEL = 12
_SERVER = {
    "there": "there",
    "wanted": "to be added by `{agent} mcp add`: tools by which the agent proposes rules and gets pruned content back",
    "taken": "left out: somebody else's server has the name “coffer”",
    "no client": "left out: there is no `{agent}` on the PATH that could add it",
    "left out": "",
}
_TRUST = {
    "there": "Codex trusts the entries",
    "wanted": "Codex is to trust these entries, which it else asks you for in its next session",
    "no client": "yours to give: there is no `codex` on the PATH that could be told",
    "unknown": "unknown: Codex gave no answer",
    "left out": "",
}


def line(label: str, said: str) -> None:
    """A labelled line."""
    if said:
        say(f"  {label:<{_LABEL}}{said}")


def show_setup(one: AgentSetup) -> None:
    """What would be done for an agent, a line each."""
    version = ".".join(map(str, one.version)) if one.version else ""
    say(f"{one.title} {version}".rstrip())
    if one.problems:
        for problem in one.problems:
            line("not possible", str(problem))
        return
    entries = len(one.hooks.entries)
    line("hooks", f"{entries} entries for {one.hooks.path}" if one.hooks.changed else "there")
    line("MCP server", _SERVER[one.server].format(agent=one.agent))
    if one.permission is not None:
        line(
            "permission",
            "its tools to be allowed, so that no call asks" if one.permission.changed else "there",
        )
    line("trust", _TRUST[one.trust])
    if one.memory is not None:
        line("its own memory", "to be switched off" if one.memory.kind == DISABLED else "to be put back")
    for note in (*one.hooks.notes, *one.notes):
        line("", note)


def show_changes(plans: Sequence[InstallPlan], *, whole: bool) -> None:
    """The changes to the agents' own files, and what is to be put in by hand where they can't be made.

    whole: as diffs; else in a sentence for each file.
    """
    agents: dict[str, list[InstallPlan]] = {}
    for one in plans:
        if one.changed or one.problems:
            agents.setdefault(one.agent, []).append(one)
    if agents and not whole:
        click.echo("\nYour agents' own files (without `--brief`: every line):\n")
    for mine in agents.values():
        if whole:
            click.echo()
            show_plans(mine)
        else:
            show_short(mine)


def show_takedown(one: AgentTakedown, *, gone: bool) -> None:
    """What would be taken out of an agent, a line each. gone: its command is not there any more."""
    say(one.title)
    for problem in one.problems:
        line("not possible", str(problem))
    if one.hooks.changed:
        line("hooks", f"our entries in {one.hooks.path}")
    if one.permission is not None and one.permission.changed:
        line("permission", "our tools")
    if one.server:
        line("MCP server", "our entry")
    if one.keys:
        line("trust", f"of our {len(one.keys)} entries in Codex")
    if one.memory is not None:
        line("its own memory", "put back as it was")
    if not one.wants and not one.problems:
        line("", "nothing of ours is there")
    if gone:
        line(
            "",
            f"There is no `{one.agent}` on the PATH: what only it can write is put back only if it is unchanged.",
        )


def show_outcome(one: Outcome) -> None:
    """What was done for an agent. Problems are said by the caller, who also knows the exit code."""
    for receipt in one.receipts:
        say(written(receipt))


def written(receipt: Receipt) -> str:
    """A write in a sentence."""
    what = DONE.get(receipt.kind, receipt.kind)
    if receipt.status == "undone":
        return f"As before, byte for byte: {receipt.path}. (It was: {what.lower()}.)"
    return f"{what}: {receipt.path}. Receipt {receipt.id}."


def show_delivery(title: str, ran: Sequence[Rehearsal], made: Bundle) -> bool:
    """What the installed hook answered for an agent; whether it is what a session should get."""
    worst = next((one for one in ran if one.problem), None)
    if worst is not None:
        say(f"{title}: the hook does not work ({worst.form}): {worst.problem}. `coffer doctor` looks closer.")
        return False
    forms = ", ".join(f"{one.form} {one.milliseconds} ms" for one in ran)
    count = len(made.persons)
    rules = f"{count} rule{'' if count == 1 else 's'}, {len(ran[0].context.encode()):,} bytes"
    given = f"is given {rules}" if count else "is given no rule of yours, only how to use Coffer's memory"
    say(f"{title}: a session in this folder {given} (exit code 0; {forms}).")
    if any(one.context != made.text for one in ran):
        say("  This is not what `coffer bundle` shows. `coffer doctor` looks closer.")
        return False
    return True


def show_context(text: str) -> None:
    """The text that a session is given, indented."""
    for each in text.split("\n"):
        click.echo(f"  │ {plain.visible(each)}")


def setup_json(one: AgentSetup, done: Outcome | None) -> dict[str, Any]:
    """An agent's part for programs, and what became of it."""
    receipts = {receipt.kind: receipt for receipt in done.receipts} if done else {}
    return {
        "agent": one.agent,
        "client": str(one.client) if one.client else None,
        "version": ".".join(map(str, one.version)) if one.version else None,
        "wants": one.wants,
        "hooks": plan_json(one.hooks, receipts.get(INSTALLED)),
        "permission": plan_json(one.permission, receipts.get(PERMITTED)) if one.permission else None,
        "mcp": one.server,
        "trust": one.trust,
        "notes": list(one.notes),
        **_done_json(done, one.problems),
    }


def takedown_json(one: AgentTakedown, done: Outcome | None) -> dict[str, Any]:
    """The same of a take-down."""
    receipts = {receipt.kind: receipt for receipt in done.receipts} if done else {}
    return {
        "agent": one.agent,
        "wants": one.wants,
        "hooks": plan_json(one.hooks, receipts.get(UNINSTALLED)),
        "permission": plan_json(one.permission, receipts.get(FORBIDDEN)) if one.permission else None,
        "mcp": one.server,
        "trust": len(one.keys),
        **_done_json(done, one.problems),
    }


def _done_json(done: Outcome | None, problems: Sequence[Exception]) -> dict[str, Any]:
    said = [*problems, *done.problems] if done else problems
    return {
        "problems": list(dict.fromkeys(str(problem) for problem in said)),
        "failed": list(done.failed) if done else [],
        "receipts": [receipt.id for receipt in done.receipts] if done else [],
    }


def delivery_json(one: Rehearsal) -> dict[str, Any]:
    """A run of the hook for programs."""
    return {
        "agent": one.agent,
        "form": one.form,
        "code": one.code,
        "bytes": len(one.context.encode()),
        "milliseconds": one.milliseconds,
        "problem": one.problem,
    }
