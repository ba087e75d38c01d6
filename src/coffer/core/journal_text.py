"""A journal as Markdown: short, made to be read and to be found again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from coffer.core.journal import Journal
from coffer.core.journal_work import Command, File
from coffer.core.steps import CREATED, DELETED, EDITED, Committed

LONGEST_TITLE = 90
_FEW = 6
MOST_FILES, MOST_COMMANDS, MOST_COMMITS = 14, 8, 12
_AGENTS = {"claude": "Claude Code", "codex": "Codex"}


Local = Callable[[datetime], datetime]
"""Turns a moment into the person's time."""


def as_utc(moment: datetime) -> datetime:
    """The same moment in UTC."""
    return moment.astimezone(UTC)


def text_of(journal: Journal, local: Local = as_utc, note: str = "") -> str:
    """The entry's text. note: a sentence about how it was made, at its end."""
    sections = [
        f"# {title(journal)}",
        header(journal, local),
        _goal(journal),
        _list("Decisions", journal.decisions),
        _list("Done", journal.done),
        _files(journal.files),
        _list(
            "Commits",
            [
                f"`{one.sha}` {one.subject}" if one.sha else one.subject
                for one in journal.commits[-MOST_COMMITS:]
            ],
        ),
        _list("Commands and tests", list(_commands(journal.commands))),
        _list("Corrections by the person", [f"“{said}”" for said in journal.corrections]),
        _list("Open", journal.open),
        note,
    ]
    return "\n\n".join(filter(None, sections)).replace("\n---", "\n\\---")


def title(journal: Journal) -> str:
    """The goal's beginning, on one line."""
    said = journal.goal.lstrip("# ").split("…")[0] or journal.goal
    for end in (". ", "! ", "? ", "。"):
        head, found, _ = said.partition(end)
        if found and len(head) > 20:
            said = head
    said = said.rstrip(".")
    if len(said) <= LONGEST_TITLE:
        return said
    head, _, _ = said[:LONGEST_TITLE].rpartition(" ")
    return (head or said[:LONGEST_TITLE]).rstrip(" ,;:–-(") + "…"


def header(journal: Journal, local: Local) -> str:
    """Which agent, when and how long, where, how much."""
    story = journal.story
    said = [_AGENTS.get(story.agent, story.agent), when(story.started, story.ended, local)]
    if story.branch and story.branch != "HEAD":
        said.append(f"branch `{story.branch}`")
    prompts = "1 prompt" if journal.asked == 1 else f"{journal.asked} prompts"
    if journal.asked:
        said.append(prompts)
    if story.context:
        said.append(f"{_thousands(story.context)} tokens of context")
    return " · ".join(filter(None, said))


def when(started: str, ended: str, local: Local) -> str:
    """From when to when and how long that is; "" where one is no time."""
    try:
        begin, end = local(datetime.fromisoformat(started)), local(datetime.fromisoformat(ended))
    except ValueError:
        return ""
    minutes = max(0, int((end - begin).total_seconds() // 60))
    lasted = (
        f"{minutes // 1440} d {minutes % 1440 // 60} h"
        if minutes >= 1440
        else f"{minutes // 60} h {minutes % 60} min".removeprefix("0 h ")
    )
    offset = f"{end:%z}"
    zone = "UTC" if offset == "+0000" else f"UTC{offset[:3]}:{offset[3:5]}"
    if minutes == 0:
        return f"{end:%H:%M} {zone} (under a minute)"
    if begin.date() == end.date():
        return f"{begin:%H:%M}–{end:%H:%M} {zone} ({lasted})"
    return f"{begin:%Y-%m-%d %H:%M} to {end:%m-%d %H:%M} {zone} ({lasted})"


def _thousands(tokens: int) -> str:
    return f"{round(tokens / 1000)}k" if tokens >= 1000 else str(tokens)


def _goal(journal: Journal) -> str:
    lines = [f"**Goal.** {journal.goal}"]
    if journal.points:
        lines += ["Then:", *(f"- {said}" for said in journal.points)]
    return "\n".join(lines)


def _commit(one: Committed) -> str:
    return f"`{one.sha}` {one.subject}" if one.sha else one.subject


def _list(name: str, items: list[str]) -> str:
    if not items:
        return ""
    if len(items) == 1:
        return f"**{name}.** {items[0]}"
    return "\n".join((f"**{name}**", *(f"- {item}" for item in items)))


def _files(files: list[File]) -> str:
    """Files by what became of them, those with most changes first."""
    if not files:
        return ""
    by_size = sorted(files, key=lambda one: -(one.added + one.removed + one.times))
    groups = {what: [one for one in by_size if one.what == what] for what in (CREATED, EDITED, DELETED)}
    together = {what: _common(found) for what, found in groups.items()}
    shown = [one for one in by_size if not together[one.what]][:MOST_FILES]
    said = []
    for what, found in groups.items():
        if together[what]:
            said.append(f"{what} {len(found)} files in `{together[what]}`")
            shown += found
            continue
        of_it = [one for one in shown if one.what == what]
        if of_it:
            said.append(f"{what} {_named(of_it)}")
    more = len(files) - len(shown)
    return f"**Files.** {'; '.join(said)}{f'; and {more} more' if more else ''}"


def _common(files: list[File]) -> str:
    """The folder that many files were written to at once; "" where naming them is as short."""
    if len(files) <= _FEW:
        return ""
    parts = [one.path.split("/")[:-1] for one in files]
    shared = []
    for names in zip(*parts, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return "/".join(shared) + "/" if shared and shared != [""] else ""


def _named(files: list[File]) -> str:
    return ", ".join(map(_file, files))


def _file(one: File) -> str:
    counts = []
    if one.what != DELETED and (one.added or one.removed):
        counts.append(f"+{one.added}" if not one.removed else f"+{one.added} −{one.removed}")
    return f"`{one.path}`{f' ({counts[0]})' if counts else ''}"


def _commands(commands: list[Command]) -> Iterable[str]:
    """Checks, then what failed for good, then what worked; what failed once and worked later says so."""
    commands = [
        one for one in commands if not (one.ok and one.command == "git commit")
    ]  # they have their own list
    checks = [one for one in commands if one.check]
    failed = [one for one in commands if not one.check and not one.ok]
    others = [one for one in commands if not one.check and one.ok and one.lasting]
    shown = [*checks[-MOST_COMMANDS:], *failed[-3:], *others[-3:]]
    for one in shown:
        yield f"`{one.command}`: {_outcome(one)}"
    left = len(commands) - len(shown)
    if left > 0 and shown:
        yield f"and {left} other commands" if left > 1 else "and one other command"


def _outcome(one: Command) -> str:
    failures = one.outcomes.count(False)
    bad = f" ({one.bad or one.why})" if one.bad or one.why else ""
    good = f" ({one.good})" if one.good else ""
    works = "passed" if one.check else "worked"
    if not failures:
        times = f" {len(one.outcomes)}×" if len(one.outcomes) > 1 else ""
        return f"{works}{times}{good}"
    times = f" {failures}×" if failures > 1 else ""
    if one.ok:
        return f"failed{times}{bad}, then {works}{good}"
    return f"failed{times}{bad}"
