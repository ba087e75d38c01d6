"""`coffer project separate` and `join`: one worktree, or one clone, with a memory of its own."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.project_verbs import Ground, draw, merge_as_json
from coffer.work.project.apart import join, separate, to_join, tree_of

_PLACE = click.Path(path_type=Path)


@click.command("separate")
@click.argument("path", required=False, type=_PLACE)
@json_option
def separate_command(path: Path | None, as_machine: bool) -> None:
    """Give the worktree that you are in, or PATH, notes, journal and handoffs of its own from now on.

    In a main worktree it is the whole clone that is kept apart from other clones of its origin. What was kept until now
    stays where it is; rules and digest stay those of the repository. `join` lets it share again.
    """
    ground = Ground.here()
    ground.require_person()
    folder = ground.folder(path)
    receipt = separate(ground.home, ground.user, folder, ground.now)
    tree = tree_of(ground.home, ground.user, folder)
    if as_machine:
        said = {"verb": "separate", "receipt": receipt.id, "id": tree.own, "shared": tree.shared}
        click.echo(json.dumps(said, indent=2))
        return
    click.echo(plain.visible_path(f"{tree.checkout.top} has a memory of its own from now on, {tree.own}."))
    click.echo(plain.visible(f"What was kept until now stays in {tree.shared}, which the others share."))
    click.echo(f"`coffer undo {receipt.id}` takes it back.", err=True)


@click.command("join")
@click.argument("path", required=False, type=_PLACE)
@click.option("--apply", "really", is_flag=True, help="Do it; without this it is only shown.")
@json_option
def join_command(path: Path | None, really: bool, as_machine: bool) -> None:
    """Move the memory of a worktree that is kept apart to the others', and share theirs from then on. Shown first.

    No file is put over another one: where both have one of a name, the worktree's is kept beside it.
    """
    ground = Ground.here()
    folder = ground.folder(path)
    if really:
        ground.require_person()
        done = join(ground.home, ground.user, folder, ground.now)
    else:
        _, done = to_join(ground.home, ground.user, folder)
    if as_machine:
        click.echo(json.dumps(merge_as_json(done), indent=2))
        return
    draw(done)
