"""`coffer digest`: the person's rules."""

from __future__ import annotations

import click

from coffer.cli.lazy import LazyGroup
from coffer.cli.renew import renewing

COMMANDS: dict[str, tuple[str, str]] = {
    "show": ("coffer.cli.digest_show:show", "List the rules of this project and your own."),
    "inbox": (
        "coffer.cli.digest_inbox",
        "Decide what was noticed: accept, edit, merge or reject, one key each.",
    ),
    "why": ("coffer.cli.digest_show:why", "Show the turns behind a rule, and what happened to it."),
    "learn": ("coffer.cli.digest_learn", "Learn from sessions; --dry-run shows what would be learned."),
    "add": ("coffer.cli.digest_verbs:add", "Add a rule; it is active at once."),
    "edit": ("coffer.cli.digest_verbs:edit", "Word a rule anew."),
    "promote": ("coffer.cli.digest_verbs:promote", "Make a rule active, or with --hard a hard one."),
    "demote": ("coffer.cli.digest_verbs:demote", "Take a rule out of delivery; it waits in pending."),
    "upvote": ("coffer.cli.digest_verbs:upvote", "One more for a rule."),
    "downvote": ("coffer.cli.digest_verbs:downvote", "One less for a rule; at nought it is deleted."),
    "remove": ("coffer.cli.digest_verbs:remove", "Delete a rule."),
    "merge": ("coffer.cli.digest_verbs:merge", "Let one rule take over what another has counted."),
    "check": ("coffer.cli.digest_judge:check_command", "Tell whether a digest file can be understood."),
    "classify": ("coffer.cli.digest_judge:classify_command", "Say what a turn is: a correction, or not."),
    "compare": (
        "coffer.cli.digest_judge:compare_command",
        "Say whether two rules are the same, or opposites.",
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def command() -> None:
    """Your rules: corrections that you would not say twice, in a Markdown file that you may edit.

    A project's rules stand in its .cozempic/behavioral-digest.md, those for all projects in
    ~/.cozempic/behavioral-digest.md. What you order or accept is a rule at once, else what was seen three times.
    Every change has a receipt: `coffer undo` takes it back.
    """


command.result_callback()(
    renewing({"inbox", "learn", "add", "edit", "promote", "demote", "upvote", "downvote", "remove", "merge"})
)
