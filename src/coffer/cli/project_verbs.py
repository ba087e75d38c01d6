"""The verbs of `coffer project`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.session import World
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.store.projects import all_known, folder, standing
from coffer.work.project.projects import About, Merge, about, alias, find, label, lanes_of, merge, planned
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson

_MOST_SHOWN = 20
_APART = (
    "notes, journal and handoffs are its own; rules are its repository's (`coffer project join` ends that)"
)
_PLACE = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class Ground:
    """What the commands take from outside."""

    world: World
    home: Home
    user: Path
    now: datetime

    @classmethod
    def here(cls) -> Ground:
        """That of this process."""
        world = World.now()
        user = Path(world.environment.get("HOME") or Path.home())
        return cls(world, Home.of(world.environment), user, datetime.now(UTC))

    def folder(self, path: Path | None) -> Path:
        """A folder as it was named, else the one here."""
        return self.world.folder / path if path is not None else self.world.folder

    def require_person(self) -> None:
        """Refuse an agent: which memory it reads is not its to decide. Raises OnlyThePerson."""
        allowed = may(self.world.environment, terminal=True, yes=False)
        if isinstance(allowed, Propose):
            raise OnlyThePerson(allowed.reason)


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(page.id, help=page.label or None)
        for page in all_known(Ground.here().home)
        if page.id.startswith(incomplete) and not page.into
    ]


@click.command("show")
@click.argument("path", required=False, type=_PLACE)
@json_option
def show(path: Path | None, as_machine: bool) -> None:
    """Show which project a folder belongs to, which rule decided, and what its memory holds."""
    ground = Ground.here()
    found = about(ground.home, ground.user, ground.folder(path))
    if as_machine:
        click.echo(json.dumps(_as_json(found), indent=2))
        return
    identity = found.identity
    if identity is None:
        lines = [("project", "none"), ("why", found.why), ("memory", f"{found.memory} (of all projects)")]
    else:
        lines = [
            ("project", identity.name),
            ("root", str(identity.root)),
            ("origin", identity.origin or "none"),
            ("why", found.why),
            ("id", identity.id),
            ("memory", str(found.memory)),
            ("apart", _APART if identity.apart else ""),
            ("merged", ", ".join(identity.aliases)),
            ("also at", ", ".join(root for root in found.roots if root != str(identity.root))),
        ]
    lines.append(
        ("holds", ", ".join(f"{lane} {count}" for lane, count in found.lanes.items() if count) or "nothing")
    )
    for name, said in lines:
        if said:
            click.echo(plain.visible_line(f"{name}:").ljust(10) + plain.visible_path(said))
    for page in found.maybe:
        last = plain.visible_path(page.roots[0])
        click.echo(f"\nA project of this name was worked on in {last}, which is gone. If it is this one:")
        click.echo(f"  coffer project alias {page.id}")


def _as_json(found: About) -> dict[str, Any]:
    identity = found.identity
    return {
        "folder": str(found.folder),
        "project": identity.name if identity else None,
        "id": identity.id if identity else None,
        "root": str(identity.root) if identity else None,
        "origin": identity.origin if identity else "",
        "why": found.why,
        "memory": str(found.memory),
        "apart": bool(identity and identity.apart),
        "lanes": dict(found.lanes),
        "aliases": list(identity.aliases) if identity else [],
        "roots": list(found.roots),
        "maybe": [{"id": page.id, "roots": list(page.roots)} for page in found.maybe],
    }


@click.command("list")
@json_option
def list_command(as_machine: bool) -> None:
    """List the projects that have a memory."""
    ground = Ground.here()
    pages = all_known(ground.home)
    rows: list[dict[str, Any]] = [
        {
            "id": page.id,
            "label": page.label,
            "origin": page.origin,
            "roots": list(page.roots),
            "into": standing(ground.home, page.id) if page.into else "",
            "lanes": lanes_of(folder(ground.home, page.id)),
        }
        for page in pages
    ]
    if as_machine:
        click.echo(json.dumps({"projects": rows}, indent=2))
        return
    if not rows:
        click.echo("No project has a memory yet.")
        return
    from coffer.cli.screen import cell, console, keep_whole, table  # noqa: PLC0415  (rich is imported when drawn)

    shown = table("", "id", "label", "holds", "origin or folder")
    for page, row in zip(pages, rows, strict=True):
        lanes: dict[str, int] = row["lanes"]
        holds = ", ".join(f"{lane} {count}" for lane, count in lanes.items() if count)
        shown.add_row(
            cell(page.id),
            cell(page.label),
            f"→ {row['into']}" if row["into"] else holds or "nothing",
            cell(page.origin or (page.roots[0] if page.roots else "")),
        )
    screen = console()
    keep_whole(shown, screen.width, "id", "label")
    screen.print(shown)


@click.command("label")
@click.argument("name")
@click.argument("path", required=False, type=_PLACE)
@json_option
def label_command(name: str, path: Path | None, as_machine: bool) -> None:
    """Call the project of a folder NAME. An empty one takes the label away."""
    ground = Ground.here()
    receipt = label(ground.home, ground.user, ground.folder(path), name, ground.now)
    _say(
        receipt,
        f"It is called “{name}” from now on." if name else "Its label is gone.",
        as_machine=as_machine,
    )


@click.command("alias")
@click.argument("project", shell_complete=_complete)
@click.argument("path", required=False, type=_PLACE)
@json_option
def alias_command(project: str, path: Path | None, as_machine: bool) -> None:
    """Let the project of a folder have the memory of PROJECT: an id, the start of one, a label, or a folder.

    For a repository that moved and has no origin, or whose origin has another name. A project that has a memory of
    its own is merged instead.
    """
    ground = Ground.here()
    ground.require_person()
    receipt = alias(ground.home, ground.user, ground.folder(path), project, ground.now)
    _say(receipt, "It has that memory from now on.", as_machine=as_machine)


@click.command("merge")
@click.argument("old", shell_complete=_complete)
@click.argument("new", shell_complete=_complete)
@click.option("--apply", "really", is_flag=True, help="Do it; without this it is only shown.")
@json_option
def merge_command(old: str, new: str, really: bool, as_machine: bool) -> None:
    """Move the memory of project OLD into that of NEW; from then on NEW stands for both. Shown first.

    No file is put over another one: where both have one of a name, OLD's is kept beside it.
    """
    ground = Ground.here()
    old, new = (find(ground.home, ground.user, name) for name in (old, new))
    if really:
        ground.require_person()
        done = merge(ground.home, old, new, ground.now)
    else:
        done = planned(ground.home, old, new)
    if as_machine:
        click.echo(json.dumps(merge_as_json(done), indent=2))
        return
    draw(done)


def draw(done: Merge) -> None:
    """Show what a merge moves."""
    verb = "Moved" if done.receipt is not None else "Would move"
    count = len(done.moves)
    click.echo(f"{verb} {count} file{'' if count == 1 else 's'} from {done.old} to {done.new}.")
    for move in done.moves[:_MOST_SHOWN]:
        click.echo(plain.visible_path(f"  {move.source} → {move.target}"))
    if count > _MOST_SHOWN:
        click.echo(f"  and {count - _MOST_SHOWN} more")
    if done.receipt is None:
        click.echo("Nothing was moved. --apply does it.")
    else:
        click.echo(f"`coffer undo {done.receipt.id}` takes it back.", err=True)


def merge_as_json(done: Merge) -> dict[str, Any]:
    """The same for programs."""
    return {
        "old": done.old,
        "new": done.new,
        "applied": done.receipt is not None,
        "receipt": done.receipt.id if done.receipt is not None else "",
        "moves": [{"from": move.source, "to": move.target} for move in done.moves],
    }


def _say(receipt: Receipt, sentence: str, *, as_machine: bool) -> None:
    pages: Sequence[str] = list(receipt.data["pages"])
    if as_machine:
        click.echo(
            json.dumps({"verb": receipt.data["verb"], "receipt": receipt.id, "projects": pages}, indent=2)
        )
        return
    click.echo(plain.visible(f"{pages[0]}: {sentence}"))
    click.echo(f"`coffer undo {receipt.id}` takes it back.", err=True)
