"""`coffer daemon`: the one process that answers hooks and learns by itself."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.session import World
from coffer.cli.version import version
from coffer.core.usage import overridden
from coffer.daemon import client, life
from coffer.daemon.errors import DaemonSilent
from coffer.store.home import Home
from coffer.work.sessions.listing import Stood

_STOPPED = 3
"""Exit code of `status` where no daemon runs, as of `systemctl status`."""
_LOOK_SECONDS = 0.5
_STEP = 0.05
_BECOMING_SECONDS = 5.0
"""For a daemon that gives way to what is installed by now: it is the same process, and has to load anew."""


@click.group()
def command() -> None:
    """The one process that answers hooks, follows your sessions and learns from them.

    Hooks start it by themselves. Without it they answer from files that it wrote.
    """


@command.command()
@json_option
def start(as_machine: bool) -> None:
    """Start the daemon, unless it runs."""
    home, environment = _home(), World.now().environment
    known, new = life.start(home, environment, version())
    if as_machine:
        click.echo(json.dumps({"pid": known.pid, "started": new, "version": known.version}, indent=2))
        return
    click.echo(f"The daemon {'runs now' if new else 'runs already'}, process {known.pid}.")


@command.command()
@json_option
def stop(as_machine: bool) -> None:
    """End the daemon; what it is writing is finished. The next hook starts it again."""
    known = life.stop(_home())
    if as_machine:
        click.echo(json.dumps({"pid": known.pid if known else None}, indent=2))
    elif known is None:
        click.echo("No daemon runs.")
    else:
        click.echo(f"The daemon, process {known.pid}, has ended. The next hook starts one again.")


@command.command()
@json_option
def status(as_machine: bool) -> None:
    """Tell whether the daemon runs, and what it is doing. Exit code 3 where it doesn't."""
    found = picture(_home())
    if as_machine:
        click.echo(json.dumps(found, indent=2))
    else:
        _draw(found)
    if found["state"] != "running":
        sys.exit(_STOPPED)


@command.command()
def run() -> None:
    """Be the daemon, in the foreground, until Ctrl-C."""
    from coffer.daemon.run import main  # noqa: PLC0415  (the daemon's own libraries)

    sys.argv[1:] = []
    main()


@command.command()
@click.option("-n", "lines", default=40, show_default=True, type=click.IntRange(1), help="How many lines.")
@click.option("--follow", "-f", is_flag=True, help="Go on with what comes.")
@json_option
def logs(lines: int, follow: bool, as_machine: bool) -> None:
    """Print the end of the daemon's log."""
    path = life.log_path(_home())
    if not path.exists():
        click.echo(json.dumps({"path": str(path), "lines": []}) if as_machine else "No daemon has run yet.")
        return
    with path.open("r", encoding="utf-8", errors="replace") as file:
        last = [line.rstrip("\n") for line in deque(file, lines)]
        if as_machine:
            click.echo(json.dumps({"path": str(path), "lines": last}, indent=2))
            return
        for line in last:
            click.echo(plain.visible_line(line))
        while follow:
            line = file.readline()
            if line:
                click.echo(plain.visible_line(line.rstrip("\n")))
            else:
                time.sleep(_LOOK_SECONDS)


def picture(home: Home) -> dict[str, Any]:
    """The daemon as it is now. state: running, stopped, silent (there, and gives no answer), foreign.

    foreign: something listens in its place that is no daemon of Coffer's. outdated: why one that runs should be
    renewed, "" where it need not. One that is just becoming another is waited for.
    """
    until = time.monotonic() + _BECOMING_SECONDS
    while (found := _picture(home)) and found.pop("silent", False) and time.monotonic() < until:
        time.sleep(_STEP)
    return found


def _picture(home: Home) -> dict[str, Any]:
    """One look. silent: its process is there, and nobody listens."""
    known = life.running(home)
    found: dict[str, Any] = {"state": "stopped", "pid": known.pid if known else None, "problem": ""}
    try:
        said = client.ask(home, "/api/v1/status") if Path(home.root).is_dir() else None
    except DaemonSilent as error:
        state = "silent" if known is not None else "foreign"
        return found | {"state": state, "problem": str(error)}
    if isinstance(said, dict) and isinstance(said.get("pid"), int):
        return (
            found | said | {"state": "running", "outdated": life.outdated(known, version()) if known else ""}
        )
    if known is not None:
        why = "Its process is there and does not listen yet, or no more."
        found |= {"state": "silent", "problem": why, "silent": True}
    elif life.json_path(home).exists():
        found["problem"] = "It left daemon.json behind, so it was killed; the next start cleans up."
    return found


def stood(found: Mapping[str, Any], environment: Mapping[str, str]) -> dict[Path, Stood]:
    """What a daemon that runs knows of sessions for certain, by real path; nothing where none does.

    environment: of this command; a window that is set there is not the daemon's. Of a transcript that it meets the
    daemon reads only the end: what stands nowhere in that may stand before it.
    """
    known: dict[Path, Stood] = {}
    for row in found.get("sessions", ()) if overridden(environment) is None else ():
        said = row.get("standing") or {}
        certain = not said.get("unsure") and (said.get("whole") or said.get("window_source") != "default")
        if certain and said.get("tokens") is not None:
            folder, model = str(row["folder"]), str(said["model"])
            known[Path(row["path"])] = Stood(said["size"], folder, model, said["tokens"], said["window"])
    return known


def _draw(found: dict[str, Any]) -> None:
    said = {
        "stopped": "No daemon runs. The next hook, or `coffer daemon start`, starts it.",
        "silent": f"The daemon, process {found['pid']}, does not answer.",
        "foreign": "Something listens in the daemon's place that is no daemon of Coffer's.",
    }
    if found["state"] != "running":
        click.echo(said[found["state"]])
        if found["problem"]:
            click.echo(plain.visible(found["problem"]))
        return
    worker = found["worker"]
    click.echo(
        f"The daemon runs, process {found['pid']}, version {plain.visible_line(found['version'])}, since "
        f"{plain.visible_line(found['started'])}, {plain.size(found['memory'])}."
    )
    click.echo(
        f"{len(found['sessions'])} sessions of the last day followed, {found['learned_turns']} turns learned from, "
        f"{worker['jobs']} jobs of the worker ({worker['failures']} failed), "
        f"{found['unconfirmed']} contexts with something not yet confirmed."
    )
    if found["outdated"]:
        click.echo(plain.visible(f"`coffer daemon start` renews it: {found['outdated']}."))
    if found["problem"]:
        click.echo(plain.visible(f"It can't do all of its work: {found['problem']}"))


def _home() -> Home:
    return Home.of(World.now().environment)
