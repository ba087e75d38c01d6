"""The command line: a group whose commands are imported when they are called.

`coffer --help` must not pay for what it does not run, so each command's one-line help stands here.
"""

from __future__ import annotations

import gc
import io
import sys

import click

from coffer.cli.lazy import LazyGroup
from coffer.cli.renew import renewing
from coffer.errors import CofferError

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Set up": {
        "up": ("coffer.cli.up", "See what is here, and set Coffer up for your agents after one question."),
        "down": ("coffer.cli.down", "Take all of that out again."),
        "doctor": ("coffer.cli.doctor", "See whether everything works, by trying it; mend it with --fix."),
        "status": ("coffer.cli.status", "Show whether the rules arrive: daemon, hooks, open sessions."),
        "hooks": ("coffer.cli.hooks", "Connect your agents: put Coffer's hooks in, take them out, see them."),
        "native-memory": ("coffer.cli.native_memory", "Switch the agents' own memory off, and put it back."),
        "daemon": ("coffer.cli.daemon", "The process that answers hooks and learns: start, stop, see it."),
        "completion": ("coffer.cli.completion", "Print the completion script of a shell."),
    },
    "Rules": {
        "digest": (
            "coffer.cli.digest",
            "Your rules: learn them from your corrections, see, accept and change them.",
        ),
        "trust": ("coffer.cli.trust", "Let rule texts that Coffer did not write be delivered."),
        "bundle": ("coffer.cli.bundle", "Show what a session is sent of the rules, and what is left out."),
    },
    "Sessions": {
        "sessions": ("coffer.cli.sessions", "List sessions with their tokens and how full they are."),
        "show": ("coffer.cli.show", "Show what fills a session."),
        "view": ("coffer.cli.view", "Print what the model would be sent after a resume."),
        "check": ("coffer.cli.check", "Tell what is odd in a transcript, and what it means for a resume."),
        "prune": ("coffer.cli.prune", "Make a session smaller: a dry run, or with --apply for real."),
        "restore": ("coffer.cli.restore", "Print pruned content by the id in its stub."),
    },
    "Open sessions": {
        "guard": (
            "coffer.cli.guard",
            "Open sessions: how full, whether one may be touched; `now` prunes at the next idle moment.",
        ),
        "run": ("coffer.cli.run", "Run an agent so that its session can be reloaded in place."),
        "reload": ("coffer.cli.reload", "Reload a session that runs under `coffer run`, or say why not now."),
        "checkpoint": (
            "coffer.cli.checkpoint",
            "Save what a compaction would lose: team, tasks, running work.",
        ),
        "statusline": (
            "coffer.cli.statusline",
            "One line below Claude Code's prompt; it tells Coffer the window.",
        ),
    },
    "Memory": {
        "remember": ("coffer.cli.remember", "Keep a fact or a decision, for you and your agents to recall."),
        "recall": ("coffer.cli.recall", "Ask what was decided and done: in notes and journal."),
        "handoff": ("coffer.cli.handoff", "Where work on a branch stands, and what happened since."),
        "journal": ("coffer.cli.journal", "What was done in which session: read it, write it now."),
        "project": ("coffer.cli.project", "Which project a folder belongs to, and whose memory it has."),
        "organize": ("coffer.cli.organize", "Put notes in order: repeated ones once, topics together."),
        "index": ("coffer.cli.index", "Make the index anew by which recall finds entries."),
        "export": ("coffer.cli.export", "Write notes, journal, handoffs and rules lanes into one file."),
        "import": ("coffer.cli.import_archive", "Add what such a file holds to this vault."),
        "forget": (
            "coffer.cli.forget",
            "Take entries or words out of everything that Coffer keeps, for good.",
        ),
    },
    "What was done": {
        "receipts": ("coffer.cli.receipts", "List what Coffer wrote."),
        "undo": ("coffer.cli.undo", "Take back what a receipt says."),
        "gc": ("coffer.cli.gc", "Let go of old backups and pruned content."),
    },
}
"""Section of the help → command → module and one line of help; each module has a click command named `command`."""

REFUSED = 18
INTERRUPTED = 130
GONE = 141
"""The reader of our output has gone (`| head`): what a shell says of a program that SIGPIPE ended."""


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from coffer.cli.version import version  # noqa: PLC0415  (only this needs it)

        click.echo(f"coffer {version()}")
        ctx.exit()


def _print_exit_codes(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from coffer.cli.exit_codes import EXIT_CODES  # noqa: PLC0415  (only this needs it)

        for code, said in EXIT_CODES.items():
            click.echo(f"{code:>3}  {said}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    table={name: said for section in SECTIONS.values() for name, said in section.items()},
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="SESSION is an id, the unique start of one, a path, or `current`. Exit codes: --exit-codes.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version.",
)
@click.option(
    "--exit-codes",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_exit_codes,
    help="Print what each exit code means.",
)
def cli() -> None:
    """Say it once: your corrections become rules that reach every session of your coding agents.

    Coffer also keeps long sessions of Claude Code lean, with proof and undo, and hands work over between sessions and
    agents: handoff, notes, journal. Begin with `coffer up`. It sends nothing anywhere unless you configure a model.
    """


cli.result_callback()(renewing({"trust", "undo", "project", "organize", "import", "forget"}))


def main() -> None:
    """Run the command line and turn errors into their sentence and exit code."""
    gc.disable()  # a command lives for a second; looking for cycles among its records would cost a third of it
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows "?"
    try:
        cli.main(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo(
            "Interrupted. No file is half written: a command changes one whole or not at all.", err=True
        )
        sys.exit(INTERRUPTED)
    except CofferError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except MemoryError:
        _complain(
            "There is not enough memory for this. No file is half written; `coffer undo` takes back what was written."
        )
        sys.exit(REFUSED)
    except BrokenPipeError:
        sys.stdout = None
        sys.exit(GONE)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "the output can't be written: "
        _complain(f"{where}{error.strerror or error}.")
        sys.stdout = None  # it can't be flushed at exit either
        sys.exit(REFUSED)
    except SystemExit:
        if type(sys.stdout).__name__.endswith(
            "PacifyFlushWrapper"
        ):  # click's mark for a reader that has gone
            sys.exit(GONE)
        raise


def _complain(sentence: str) -> None:
    from coffer.cli.plain import visible  # noqa: PLC0415  (only an error needs it)

    click.echo(f"coffer: {visible(sentence)}", err=True)


if __name__ == "__main__":
    main()
