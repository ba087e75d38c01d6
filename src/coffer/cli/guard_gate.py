"""`coffer guard why`, `judge` and `capture`: the gate's verdict with every blocker."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coffer.cli.plain import visible_line, visible_path
from coffer.cli.session import World, session_argument
from coffer.core.safepoint import Answer, Verdict
from coffer.core.tiers import GUARDED
from coffer.store.home import Home
from coffer.work.guarding.gate import as_json, capture, judge_folder, judge_session
from coffer.work.guarding.instant import from_disk
from coffer.work.sessions.find import find

_screen = click.option(
    "--screen",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with the screen's text.",
)
_json = click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
_typed = click.option(
    "--typed", is_flag=True, help="May a reload be typed? Without it: may the file be written?"
)


@click.command()
@session_argument
@_screen
@_json
def why(session: str, screen: Path | None, as_machine: bool) -> None:
    """Say whether a live session may be touched now, and for each blocker what clears it.

    Two answers: may the file be written, and may a reload be typed. The second needs the screen.
    """
    world = World.now()
    transcript = find(session, world.places, world.environment, world.folder, GUARDED)
    home = Home.of(world.environment)
    from coffer.work.guarding.guard_errors import LeftAlone  # noqa: PLC0415  (a captured folder needs none of it)
    from coffer.work.guarding.guarded import Guarded, is_main  # noqa: PLC0415

    found = Guarded(transcript, home, world.places, world.environment)
    if not is_main(found):  # else it would be told to wait for what never comes
        raise LeftAlone(found.id, "it is no main session of Claude Code")
    verdict = judge_session(transcript, world.places, home, _read(screen))
    if screen is None:
        from coffer.work.guarding.senses import with_means  # noqa: PLC0415

        verdict = with_means(found, found.settings(), verdict)
    _tell(verdict, as_machine=as_machine, session=transcript.stem)


@click.command("judge")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_typed
@_json
def judge_command(folder: Path, typed: bool, as_machine: bool) -> None:
    """Judge a captured folder; its files are described in docs/guard.md."""
    verdict = judge_folder(folder)
    answer = verdict.type if typed else verdict.write
    if as_machine:
        click.echo(json.dumps(as_json(answer), indent=2))
    else:
        _print("A reload may be typed" if typed else "The file may be written", answer)


@click.command("capture")
@session_argument
@click.option(
    "--to", "target", type=click.Path(path_type=Path), help="The folder; by default below the current."
)
@_screen
def capture_command(session: str, target: Path | None, screen: Path | None) -> None:
    """Keep this instant of a session as a folder that `judge` reads, to report a wrong verdict.

    Secrets, your home's path and long texts are taken out; the rest of the conversation is in it. Look before you
    send it to anybody.
    """
    world = World.now()
    transcript = find(session, world.places, world.environment, world.folder, GUARDED)
    folder = target or Path(f"coffer-instant-{transcript.stem[:8]}")
    user = Path(world.environment.get("HOME") or Path.home())
    taken = from_disk(transcript, world.places, Home.of(world.environment), _read(screen))
    verdict = capture(taken, folder, user)
    click.echo(f"Kept in {visible_path(str(folder))}.")
    _tell(verdict, as_machine=False)
    if judge_folder(folder).write.safe != verdict.write.safe:
        click.echo("The folder is judged otherwise than the session: say so in a report.", err=True)


def _read(screen: Path | None) -> str | None:
    return None if screen is None else screen.read_bytes().decode("utf-8", "replace")


def _tell(verdict: Verdict, *, as_machine: bool, session: str = "") -> None:
    """session: of one that lives, in which a person can take a blocker for over."""
    if as_machine:
        click.echo(json.dumps({"write": as_json(verdict.write), "type": as_json(verdict.type)}, indent=2))
        return
    if session:
        click.echo(f"Session {visible_line(session)}")
    _print("The file may be written", verdict.write)
    _print("A reload may be typed", verdict.type)
    found = verdict.write.blockers
    if session and found and all(each.id for each in found):  # nothing else would end it
        click.echo("If it is over and nothing shows it, take it for over:")
        for name in dict.fromkeys(each.id for each in found):
            click.echo(f"  coffer guard clear {session} {visible_line(name)}")


def _print(sentence: str, answer: Answer) -> None:
    click.echo(f"{sentence}: {'yes' if answer.safe else 'no'}.")
    for each in answer.blockers:
        click.echo(f"  {each.kind}: {visible_line(each.evidence)}. Clears: {visible_line(each.clears)}.")
