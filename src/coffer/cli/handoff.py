"""`coffer handoff`: where work on a branch stands, for whoever goes on with it."""

from __future__ import annotations

from coffer.cli.lazy import DefaultGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "show": ("coffer.cli.handoff_verbs:show", "Show the handoff of a branch, and what happened since."),
    "list": ("coffer.cli.handoff_verbs:list_command", "List the handoffs of this project."),
    "set": (
        "coffer.cli.handoff_verbs:set_command",
        "Write or edit it: in your editor, by options, from stdin.",
    ),
    "history": ("coffer.cli.handoff_verbs:history", "List those that were replaced, or print one."),
    "diff": ("coffer.cli.handoff_verbs:diff", "Show what changed from the one before."),
    "draft": ("coffer.cli.handoff_verbs:draft_command", "Draft one from a session that wrote none."),
    "drop": ("coffer.cli.handoff_verbs:drop_command", "Take a branch's handoff away, into its history."),
}

command = DefaultGroup(
    "handoff",
    table=COMMANDS,
    default="show",
    words=False,
    help="""Where work on a branch stands: goal, state, next steps, files in flight, open questions.

    Agents write it with `set_handoff` and read it with `resume`; it is never put into a session unasked. One file a
    project and branch, Markdown that you may edit; `coffer undo RECEIPT` takes a write back.
    """,
)
