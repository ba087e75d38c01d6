"""The first look of `coffer up`: the agents and sessions of this machine, and what fills the fullest one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import click

from coffer.cli.session import World
from coffer.cli.show import draw
from coffer.disk.places import Places
from coffer.disk.sessions import SUBAGENT, WORKFLOW, Found, find_sessions, thread_names
from coffer.store.home import Home
from coffer.work.pruning.prune import apply, propose
from coffer.work.pruning.undo import undo
from coffer.work.sessions.find import thread_paths
from coffer.work.sessions.holders import Holders
from coffer.work.sessions.inspect import inspect
from coffer.work.sessions.listing import Listed, listing
from coffer.work.sessions.read import opened

_TOP = 8
_SAMPLE = "claude-session.jsonl"


def show_fullest(world: World, rows: int) -> None:
    """Count what is here and show the fullest of the newest sessions; the sample where there is none."""
    found = find_sessions(world.places)
    sessions = [item for item in found if item.kind not in (SUBAGENT, WORKFLOW)]
    for title, agent, folder in (
        ("Claude Code", "claude", world.places.claude),
        ("Codex", "codex", world.places.codex),
    ):
        click.echo(f"{title}: {_counted([item for item in found if item.agent == agent], folder)}")
    fullest = _fullest(sessions[:rows], found, world)
    if fullest is None:
        click.echo("\nNothing to show yet, so here is a sample session that ships with Coffer.\n")
        with as_file(files("coffer") / "sample" / _SAMPLE) as sample:
            _show(sample, found, world)
            _show_prune(sample)
        return
    looked = min(rows, len(sessions))
    click.echo(f"\nThe fullest of the {looked} newest sessions:\n" if looked > 1 else "")
    _show(fullest.found.path, found, world)
    name = fullest.found.id[:8] if fullest.found.agent == "claude" else fullest.found.id
    prune = f" · coffer prune {name} (a dry run)" if fullest.found.agent == "claude" else ""
    click.echo(f"\nMore: coffer sessions · coffer view {name} · coffer check {name}{prune}")


def _show(path: Path, found: Sequence[Found], world: World) -> None:
    with opened(path, parents=thread_paths(found)) as session:
        report = inspect(session, world.environment, thread_names(world.places), _TOP)
    draw(report, Holders(world.places).of(report.agent, report.session), _TOP)


def _show_prune(sample: Path) -> None:
    """Prune a copy of the sample, prove it, and undo it: in a folder that is gone afterwards."""
    from coffer.cli import prune_picture  # noqa: PLC0415  (rich is imported when something is drawn)

    with TemporaryDirectory(prefix="coffer-") as folder:
        home = Home(Path(folder) / "home")
        places = Places(Path(folder) / "claude", Path(folder) / "codex")
        copy = Path(folder) / sample.name
        copyfile(sample, copy)
        os.utime(copy, (0, 0))
        click.echo("\nWhat `coffer prune` does with a copy of it:\n")
        with opened(copy) as session:
            proposal = propose(session, {}, "standard")
            receipt, written = apply(proposal, home, places)
        prune_picture.draw(proposal, written, receipt)
        assert receipt is not None
        undo(receipt, home, places)
        same = copy.read_bytes() == sample.read_bytes()
        click.echo(f"And `coffer undo` brings it back: {'the same bytes' if same else 'NOT the same bytes'}.")


def _counted(found: Sequence[Found], folder: Path) -> str:
    if not found and not _is_folder(folder):
        return f"not found ({folder})"
    own = [item for item in found if item.kind not in (SUBAGENT, WORKFLOW)]
    rest = len(found) - len(own)
    return f"{len(own)} sessions" + (f" and {rest} files of subagents" if rest else "") + f" in {folder}"


def _is_folder(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:
        return False  # it may not be looked at


def _fullest(sessions: Sequence[Found], everything: Sequence[Found], world: World) -> Listed | None:
    from coffer.cli.screen import counting  # noqa: PLC0415  (rich is imported when something is drawn)

    readable: list[Listed] = []
    with counting(len(sessions), "Reading sessions") as step:
        for item in listing(sessions, world.places, world.environment, everything):
            step()
            if not item.problem:
                readable.append(item)
    return max(readable, key=lambda item: item.fill, default=None)
