"""What `coffer hooks` shows: a diff, a state, and the same for programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from coffer.agents.codex_hooks import TRUST_STEPS
from coffer.agents.hook_table import HOOK_AGENTS
from coffer.agents.memory_switch import SwitchRefused
from coffer.cli import plain
from coffer.core.json_edit import JsonRefused
from coffer.core.redact import redact
from coffer.store.db import Receipt
from coffer.work.agent_settings.codex_trust import Trust
from coffer.work.agent_settings.config_write import (
    ADDED,
    DISABLED,
    FORBIDDEN,
    FORGOTTEN,
    INSTALLED,
    PERMITTED,
    REMOVED,
    RESTORED,
    TRUSTED,
    UNINSTALLED,
)
from coffer.work.agent_settings.hook_status import HookStatus
from coffer.work.agent_settings.install import InstallPlan, diff_together

_LONGEST = 400
"""Characters of a line of a diff: a minified file is one line."""
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
DONE = {
    INSTALLED: "Entries written",
    UNINSTALLED: "Entries taken out",
    PERMITTED: "Coffer's tools allowed",
    FORBIDDEN: "Coffer's tools no longer allowed",
    DISABLED: "Its own memory switched off",
    RESTORED: "Its own memory put back",
    ADDED: "MCP server added",
    REMOVED: "MCP server removed",
    TRUSTED: "Codex trusts the entries",
    FORGOTTEN: "Codex trusts them no more",
    "undo": "Put back as it was",
}
"""Kind of receipt → what was done."""
_SHORT = {
    INSTALLED: "+ {count} entries for {events}",
    UNINSTALLED: "- Coffer's entries",
    PERMITTED: "+ a permission for Coffer's tools",
    FORBIDDEN: "- the permission for Coffer's tools",
    DISABLED: "its own memory off",
    RESTORED: "its own memory as it was",
}
_PARTS = {
    PERMITTED: "permission",
    FORBIDDEN: "permission",
    DISABLED: "its own memory",
    RESTORED: "its own memory",
}


def say(sentence: str) -> None:
    """A sentence, its foreign parts made safe."""
    click.echo(plain.visible(sentence))


def coloured(text: str, colour: str | None, *, bold: bool = False) -> str:
    """A text in a colour, unless NO_COLOR asks for none. What is no terminal gets none by click."""
    return text if os.environ.get("NO_COLOR") else click.style(text, fg=colour, bold=bold or None)


def show_plan(plan: InstallPlan) -> None:
    """The change as a coloured diff, or why there is none."""
    title = _title(plan)
    if plan.problems:
        say(f"{title}: {plan.problems[0]}")
        if plan.snippet:
            say(f"To do it by hand, put this into the file, behind what stands there:\n\n{plan.snippet}\n")
        return
    if not plan.changed:
        nothing = {
            INSTALLED: "the entries are there",
            PERMITTED: "Coffer's tools are allowed",
            DISABLED: "its own memory is off",
        }
        say(f"{title}: {nothing.get(plan.kind, 'nothing of ours is there')} ({plan.path}). Nothing to write.")
    else:
        _draw_diff(f"{title}, {_PARTS.get(plan.kind, 'hooks')}:", shown_diff(plan))
    for note in plan.notes:
        say(note)


def show_short(plans: Sequence[InstallPlan]) -> None:
    """Changes of one agent, for each file what is put in or taken out, and by how many lines; problems in full."""
    for path, mine in _by_file(plans).items():
        for one in mine:
            if one.problems:
                show_plan(one)
        changed = [one for one in mine if one.changed]
        lines = _together(changed) or [line for one in changed for line in one.diff]
        more, less = (sum(line[:1] == sign and line[:3] != sign * 3 for line in lines) for sign in "+-")
        if changed:
            said = "; ".join(
                _SHORT[one.kind].format(count=len(one.entries), events=", ".join(one.entries))
                for one in changed
            )
            say(f"{path}: {said}; nothing else changes ({more} lines more, {less} less).")


def _by_file(plans: Sequence[InstallPlan]) -> dict[Path, list[InstallPlan]]:
    files: dict[Path, list[InstallPlan]] = {}
    for one in plans:
        files.setdefault(one.path, []).append(one)
    return files


def _together(plans: Sequence[InstallPlan]) -> list[str]:
    """The plans of one file as one diff; nothing where there is but one, or each must stand for itself."""
    try:
        return diff_together(plans) if len(plans) > 1 and all(one.edit is not None for one in plans) else []
    except (JsonRefused, SwitchRefused):
        return []


def show_plans(plans: Sequence[InstallPlan]) -> None:
    """Changes of one agent, in the order in which they are made: those of one file as one diff."""
    for mine in _by_file(plans).values():
        together = [one for one in mine if one.changed and one.edit is not None]
        lines = _together(together)
        if lines:
            parts = [_PARTS.get(one.kind, "hooks") for one in together]
            _draw_diff(f"{_title(mine[0])}, {', '.join(parts[:-1])} and {parts[-1]}:", safe_lines(lines))
            for note in (note for one in together for note in one.notes):
                say(note)
        for one in mine if not lines else [one for one in mine if one not in together]:
            show_plan(one)


def _title(plan: InstallPlan) -> str:
    return HOOK_AGENTS[plan.agent].dialect.title


def _draw_diff(title: str, lines: Sequence[str]) -> None:
    say(title)
    for line in lines:
        bold = line.startswith(("--- ", "+++ "))
        click.echo(coloured(line, None if bold else _COLOURS.get(line[:1]), bold=bold))


def shown_diff(plan: InstallPlan) -> list[str]:
    """The lines of a plan's diff, safe to print."""
    return safe_lines(plan.diff)


def safe_lines(diff: Sequence[str]) -> list[str]:
    """The lines of a diff without secrets, cut where they are long, safe to print.

    Settings hold keys, and this may be shown where an agent reads along.
    """
    lines = redact("\n".join(diff)).text.split("\n") if diff else []
    return [plain.visible(line if len(line) <= _LONGEST else line[:_LONGEST] + "…") for line in lines]


def written(receipt: Receipt) -> str:
    """What was done, and where the former file is."""
    bak = receipt.data.get("bak")
    kept = f" The former file is {bak}." if bak else ""
    return f"{DONE.get(receipt.kind, receipt.kind)}: {receipt.path}. Receipt {receipt.id}.{kept}"


def show_trust(trust: Trust | None) -> None:
    """Whether Codex will run the entries, and what to do where it won't."""
    if trust is None:
        say(TRUST_STEPS)
        return
    for problem in trust.problems:
        say(f"Codex says: {problem}")
    say("Codex trusts the entries." if trust.trusted else TRUST_STEPS)


def show_status(found: HookStatus) -> None:
    """One agent's state in a line, then what is wrong."""
    title = HOOK_AGENTS[found.agent].dialect.title
    say(f"{title}: {_state(found)} ({found.path}).")
    if found.missing and found.installed:
        say(f"  No entry in: {', '.join(found.missing)}.")
    for one in found.problems:
        say(f"  {one}")
    if found.installed and not found.current:
        say(f"  `coffer hooks install {found.agent}` brings it up to date.")


def _state(found: HookStatus) -> str:
    if not found.installed:
        return "not installed"
    if not found.current:
        return f"installed, not up to date: {found.copies} entries, {found.stale} of them stale"
    if found.agent != "codex":
        return f"installed, {found.copies} entries"
    if found.trust is None:
        return f"installed, {found.copies} entries; trust unknown"
    if found.trusted:
        return f"installed and trusted, {found.copies} entries"
    return "installed, not trusted: run /hooks in Codex, or `coffer hooks install codex --trust`"


def status_json(found: HookStatus) -> dict[str, Any]:
    """The same for programs."""
    return {
        "agent": found.agent,
        "path": str(found.path),
        "installed": found.installed,
        "current": found.current,
        "copies": found.copies,
        "stale": found.stale,
        "missing": list(found.missing),
        "trusted": found.trusted,
        "trust": None if found.trust is None else trust_json(found.trust),
        "problems": list(found.problems),
    }


def trust_json(trust: Trust) -> dict[str, Any]:
    """What Codex says of the entries."""
    return {"trusted": trust.trusted, "states": dict(trust.states), "problems": list(trust.problems)}


def plan_json(plan: InstallPlan, receipt: Receipt | None) -> dict[str, Any]:
    """A plan, and what became of it."""
    return {
        "agent": plan.agent,
        "what": plan.kind,
        "path": str(plan.path),
        "changed": plan.changed,
        "receipt": None if receipt is None else receipt.id,
        "bak": None if receipt is None else receipt.data.get("bak"),
        "events": list(plan.entries),
        "diff": shown_diff(plan),
        "notes": list(plan.notes),
        "problems": [str(problem) for problem in plan.problems],
        "snippet": plan.snippet if plan.problems else "",
    }
