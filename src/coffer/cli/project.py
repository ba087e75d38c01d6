"""`coffer project`: whose memory a folder has part in."""

from __future__ import annotations

from coffer.cli.lazy import DefaultGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "show": ("coffer.cli.project_verbs:show", "Show a folder's project, why it is that one, and its memory."),
    "list": ("coffer.cli.project_verbs:list_command", "List the projects that have a memory."),
    "label": ("coffer.cli.project_verbs:label_command", "Call a project something."),
    "alias": ("coffer.cli.project_verbs:alias_command", "Let a folder's project have the memory of another."),
    "separate": (
        "coffer.cli.project_apart:separate_command",
        "Keep the memory of this worktree, or clone, apart.",
    ),
    "join": ("coffer.cli.project_apart:join_command", "Let one that is kept apart share again."),
    "merge": ("coffer.cli.project_verbs:merge_command", "Move one project's memory into another's."),
}

command = DefaultGroup(
    "project",
    table=COMMANDS,
    default="show",
    help="""Which project a folder belongs to: `coffer project [PATH]`.

    A repository is known by its origin, so that clones, worktrees and a moved folder share one memory; without an
    origin by its place. The home folder and / are no project. `separate` keeps one worktree, or one clone, apart.
    """,
)
