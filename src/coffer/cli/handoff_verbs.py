"""The verbs of `coffer handoff`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.session import World, session_argument
from coffer.core.entry import Entry
from coffer.core.handoff import Handoff, called
from coffer.core.since import MOST_OTHERS, told
from coffer.disk.ancestors import agent_above
from coffer.errors import CofferError
from coffer.store.home import Home
from coffer.work.memory.handoff import (
    MOST_KEPT,
    By,
    Written,
    branches,
    current,
    drop,
    kept,
    put_text,
    set_handoff,
)
from coffer.work.memory.handoff_errors import HandoffRefused, NoHandoff
from coffer.work.memory.handoff_place import Place, place_of
from coffer.work.memory.resume import as_json, entry_as_json, resume_of

_TEMPLATE = """## Goal



## State



## Next steps

-

## Files in flight

-

## Open questions

-
"""
_AGENTS = {"Claude Code": "claude", "Codex": "codex"}


@dataclass(frozen=True, slots=True)
class Ground:
    """The place that a command speaks of."""

    world: World
    home: Home
    user: Path
    place: Place
    now: datetime

    @classmethod
    def here(cls, folder: Path | None = None) -> Ground:
        """That of this process. Raises ProjectNotFound."""
        world = World.now()
        home = Home.of(world.environment)
        user = Path(world.environment.get("HOME") or Path.home())
        place = place_of(home, user, folder or world.folder, world.environment)
        return cls(world, home, user, place, datetime.now(UTC))

    @property
    def by(self) -> By:
        """Who runs the command: an agent's shell is the agent."""
        agent = agent_above(self.world.environment)
        return By("agent", _AGENTS.get(agent, agent.lower())) if agent else By("person")


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    try:
        found = branches(Ground.here().place)
    except CofferError:
        return []  # outside of a project there is nothing to offer
    return [CompletionItem(one.branch) for one in found if one.branch.startswith(incomplete)]


def branch_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The --branch option."""
    return click.option(
        "--branch",
        "-b",
        default="",
        metavar="NAME",
        shell_complete=_complete,
        help="Another branch than the one here.",
    )(command)


@click.command("show")
@branch_option
@json_option
def show(branch: str, as_machine: bool) -> None:
    """Show the handoff of the branch here, how old it is, and what happened since: commits, files, the branch."""
    ground = Ground.here()
    resumed = resume_of(ground.place, branch)
    if as_machine:
        click.echo(json.dumps(as_json(resumed, ground.now), indent=2))
        return
    click.echo(plain.visible(told(resumed, ground.now.timestamp())))
    if resumed.found:
        click.echo(f"\n{plain.visible_path(resumed.path)}", err=True)


@click.command("list")
@json_option
def list_command(as_machine: bool) -> None:
    """List the handoffs of this project, the newest first."""
    ground = Ground.here()
    resumed = resume_of(ground.place)
    states = {one.entry.id: one.state for one in resumed.others}
    found = branches(ground.place)
    if as_machine:
        rows = [entry_as_json(one, text=False) | {"state": states.get(one.id, "here")} for one in found]
        click.echo(json.dumps({"project": ground.place.identity.name, "handoffs": rows}, indent=2))
        return
    if not found:
        click.echo(f"Project {plain.visible(ground.place.identity.name)} has no handoffs.")
        return
    from coffer.cli.screen import cell, console, table  # noqa: PLC0415  (rich is imported when something is drawn)

    shown = table("", "branch", "written", "by", "state", "goal")
    for one in found:
        goal = next((line for line in one.text.splitlines() if line.strip() and not line.startswith("#")), "")
        state = states.get(one.id, "")
        shown.add_row(
            cell(one.branch or "-"),
            plain.moment(one.time),
            _author(one),
            "" if state == "here" else state,
            cell(goal),
        )
    console().print(shown)
    if len(found) > MOST_OTHERS:
        click.echo(f"{len(found)} in all; `coffer handoff --branch NAME` shows one.")


@click.command("set")
@branch_option
@click.option("--goal", "-g", default="", help="What is wanted in the end.")
@click.option("--state", "-s", default="", help="What is done, half done, tried, decided.")
@click.option("--next", "-n", "steps", multiple=True, metavar="STEP", help="A next step; may be given again.")
@click.option(
    "--file", "-f", "files", multiple=True, metavar="PATH", help="A file in flight; may be given again."
)
@click.option(
    "--question", "-q", "questions", multiple=True, metavar="TEXT", help="An open question; the same."
)
@json_option
def set_command(
    branch: str,
    goal: str,
    state: str,
    steps: tuple[str, ...],
    files: tuple[str, ...],
    questions: tuple[str, ...],
    as_machine: bool,
) -> None:
    """Write the handoff of the branch here: by options, from stdin (Markdown), or on a terminal in your editor."""
    ground = Ground.here()
    branch = branch or ground.place.branch
    handoff = Handoff(goal, state, steps, files, questions)
    if handoff != Handoff():
        done = set_handoff(ground.place, handoff, ground.by, ground.now, branch)
    elif not sys.stdin.isatty():
        done = put_text(ground.place, sys.stdin.read(), ground.by, ground.now, branch)
    else:
        edited = _edited(ground, branch)
        if edited is None:
            click.echo("Nothing was changed.")
            return
        done = edited
    _say(ground, done, branch, "written", as_machine=as_machine)


def _edited(ground: Ground, branch: str) -> Written | None:
    """What the person made of the handoff in an editor; None where they left it as it was.

    One that is refused comes back into the editor: nobody types it twice.
    """
    there = current(ground.place, branch)
    before = there.text + "\n" if there is not None else _TEMPLATE
    said = click.edit(before, extension=".md")
    while said is not None and said.strip() != before.strip():
        try:
            return put_text(ground.place, _without_empty(said), ground.by, ground.now, branch)
        except HandoffRefused as error:
            click.echo(str(error))
            if not click.confirm("Edit it again?", default=True):
                return None
            said = click.edit(said, extension=".md") or said
    return None


def _without_empty(text: str) -> str:
    """A text without the headings and bullets of the template that were left empty."""
    lines = [line for line in text.splitlines() if line.strip() not in ("-", "*")]
    kept_lines: list[str] = []
    for at, line in enumerate(lines):
        rest = next((other for other in lines[at + 1 :] if other.strip()), "## ")
        if not (line.startswith("## ") and rest.startswith("## ")):
            kept_lines.append(line)
    return "\n".join(kept_lines)


@click.command("history")
@click.argument("name", required=False, default="")
@branch_option
@json_option
def history(name: str, branch: str, as_machine: bool) -> None:
    """List the handoffs that were replaced, newest first, or print the one of a NAME (the start of one does)."""
    ground = Ground.here()
    branch = branch or ground.place.branch
    found = kept(ground.place, branch)
    if name:
        _, entry = _named(found, name, branch)
        if as_machine:
            click.echo(json.dumps(entry_as_json(entry), indent=2))
        else:
            click.echo(plain.visible(entry.text))
        return
    if as_machine:
        rows = [{"name": stem} | entry_as_json(entry, text=False) for stem, entry in found]
        click.echo(json.dumps({"branch": branch, "most": MOST_KEPT, "handoffs": rows}, indent=2))
        return
    if not found:
        click.echo(plain.visible(f"No handoff of {called(branch)} was ever replaced."))
        return
    for stem, entry in found:
        first = next(
            (line for line in entry.text.splitlines() if line.strip() and not line.startswith("#")), ""
        )
        click.echo(plain.visible_line(f"{stem}  {plain.moment(entry.time)}  {_author(entry)}  {first[:60]}"))
    click.echo(f"The newest {MOST_KEPT} of a branch are kept.", err=True)


@click.command("diff")
@click.argument("name", required=False, default="")
@branch_option
def diff(name: str, branch: str) -> None:
    """Show what changed from the handoff before, or from the one of a NAME in the history, to the present one."""
    ground = Ground.here()
    branch = branch or ground.place.branch
    found = kept(ground.place, branch)
    now = current(ground.place, branch)
    if now is None or not found:
        raise NoHandoff(f"{called(branch)} with one before it", [])
    stem, before = _named(found, name, branch) if name else found[0]
    lines = list(
        unified_diff(
            before.text.splitlines(),
            now.text.splitlines(),
            f"history/{stem}",
            ground.place.file(branch).name,
            lineterm="",
        )
    )
    click.echo(plain.visible("\n".join(lines)) if lines else "They say the same.")


@click.command("draft")
@session_argument
@json_option
def draft_command(session: str, as_machine: bool) -> None:
    """Draft the handoff of a SESSION's branch from its transcript.

    Nothing that was written on purpose since the session began is replaced, and no later draft.
    """
    from coffer.work.memory.handoff_draft import draft  # noqa: PLC0415
    from coffer.work.sessions.find import find  # noqa: PLC0415  (only a draft reads transcripts)

    world = World.now()
    home, user = Home.of(world.environment), Path(world.environment.get("HOME") or Path.home())
    found = find(session, world.places, world.environment, world.folder)
    done = draft(home, user, found, world.environment)
    if as_machine:
        receipt = done.receipt.id if done.receipt is not None else ""
        path = str(done.path) if done.path is not None else ""
        said = {"outcome": done.outcome, "branch": done.branch, "path": path, "receipt": receipt}
        click.echo(json.dumps(said, indent=2))
        return
    words = {
        "written": f"Drafted: the handoff of {called(done.branch)}, {done.path}.",
        "same": "The draft of this session says that already.",
        "kept": f"Nothing was written: {called(done.branch)} has a handoff that this draft may not replace.",
        "nothing": "Nothing was written: nobody asked for anything in this session.",
        "past": "Nothing was written: this session is long over, or its branch is gone. The journal tells of it.",
        "no_project": "Nothing was written: this session worked in no project.",
    }
    click.echo(plain.visible(words[done.outcome]))
    if done.receipt is not None:
        click.echo(f"`coffer undo {done.receipt.id}` takes it back.", err=True)


@click.command("drop")
@branch_option
@json_option
def drop_command(branch: str, as_machine: bool) -> None:
    """Take the handoff of a branch away. It goes to the history; `coffer forget` removes things for good."""
    ground = Ground.here()
    branch = branch or ground.place.branch
    done = drop(ground.place, branch, ground.now)
    _say(ground, done, branch, "dropped", as_machine=as_machine)


def _say(ground: Ground, done: Written, branch: str, verb: str, *, as_machine: bool) -> None:
    path = str(ground.place.file(branch))
    if as_machine:
        said = {
            "verb": verb,
            "branch": branch,
            "path": path,
            "receipt": done.receipt.id,
            "let_go": done.let_go,
        }
        click.echo(json.dumps(said | {"replaced": done.before is not None and verb == "written"}, indent=2))
        return
    click.echo(plain.visible(f"The handoff of {called(branch)} is {verb}: {path}"))
    if done.let_go:
        click.echo(
            f"Of its history {done.let_go} of the oldest were let go; the newest {MOST_KEPT} are kept."
        )
    click.echo(f"`coffer undo {done.receipt.id}` takes it back.", err=True)


def _named(found: list[tuple[str, Entry]], name: str, branch: str) -> tuple[str, Entry]:
    fitting = [one for one in found if one[0].startswith(name)]
    if len(fitting) != 1:
        many = f"{len(fitting)} of" if fitting else "none of"
        raise NoHandoff(f"{called(branch)} called “{name}”: it fits {many} the history", [])
    return fitting[0]


def _author(entry: Entry) -> str:
    who = "you" if entry.source == "person" else entry.agent or "an agent"
    return f"{who} (draft)" if entry.source == "distil" else who
