"""A handoff that is drafted from what happened in a session, where its agent wrote none.

Nothing is made up: prompts, the to-do list, files, outcomes and the end of the last answer, as the transcript has them.
"""

from __future__ import annotations

from collections.abc import Sequence

from coffer.core.handoff import MOST_GOAL, MOST_ITEM, MOST_ITEMS, MOST_STATE, Handoff, over, written
from coffer.core.journal import Journal, journal_of
from coffer.core.journal_work import files_of
from coffer.core.redact import kept
from coffer.core.sentences import quoted, sentences
from coffer.core.steps import AGENT, DELETED, Committed, Failed, Planned, Said, Step, Stopped, Story, Touched

_LAST_PROMPTS = 3
_LONGEST_PROMPT = 200
_LONGEST_END = 500
"""Characters of the end of the last answer: results and offers stand there."""
_LONGEST_STEP = 160
_MOST_FILES = 12
_MOST_CHECKS = 3


def is_work(story: Story) -> bool:
    """Whether something was made or planned, so that there is something to go on with."""
    kinds = (Touched, Committed)
    return any(isinstance(one.step, kinds) for one in story.steps) or bool(_planned(_steps(story)))


def draft_of(story: Story) -> Handoff | None:
    """The draft; None where nobody asked for anything. Every text is redacted, and all of it within the limits."""
    if story.subagent:
        return None
    journal = journal_of(story)
    if journal.empty:
        return None
    steps = _steps(story)
    made = Handoff(
        quoted(journal.goal, MOST_GOAL - 20),
        kept("\n".join(_state(journal, steps)), MOST_STATE - 20),
        tuple(_next(journal, steps))[:MOST_ITEMS],
        tuple(_in_flight(story, steps))[:_MOST_FILES],
        tuple(_questions(steps))[:2],
    )
    return _fitting(made)


def _steps(story: Story) -> list[Step]:
    return [one.step for one in story.steps]


def _state(journal: Journal, steps: Sequence[Step]) -> list[str]:
    """What was asked for last, decided, checked and committed, and how the last answer ended."""
    lines = []
    prompts = [step.text for step in steps if isinstance(step, Said) and step.by != AGENT and not step.title]
    asked = [f"- {quoted(text, _LONGEST_PROMPT)}" for text in prompts[-_LAST_PROMPTS:] if text.strip()]
    if asked and len(prompts) > 1:
        lines += ["Asked last:", *asked, ""]
    if journal.decisions:
        lines += ["Decided:", *(f"- {one}" for one in journal.decisions[-4:]), ""]
    checks = [one for one in journal.commands if one.check][-_MOST_CHECKS:]
    lines += [f"`{one.command}`: {'passed' if one.ok else 'failed'} last." for one in checks]
    if journal.commits:
        last = journal.commits[-1]
        lines.append(f"{len(journal.commits)} committed, the last: {last.subject}")
    if lines and lines[-1]:
        lines.append("")
    if end := _end(steps):
        lines += ["The last answer ended:", f"> {end}"]
    return lines


def _end(steps: Sequence[Step]) -> str:
    """The last sentences of the last answer, as many as fit."""
    answer = next((step.text for step in reversed(steps) if isinstance(step, Said) and step.by == AGENT), "")
    found: list[str] = []
    for sentence in reversed(list(sentences(answer))):
        if sum(map(len, found)) + len(sentence) > _LONGEST_END:
            break
        found.append(sentence)
    return quoted(" ".join(reversed(found)) or answer, _LONGEST_END)


def _planned(steps: Sequence[Step]) -> tuple[str, ...]:
    return next((step.open for step in reversed(steps) if isinstance(step, Planned)), ())


def _next(journal: Journal, steps: Sequence[Step]) -> list[str]:
    """The rest of the to-do list, and what broke off at the end."""
    items = [quoted(item, _LONGEST_STEP) for item in _planned(steps)]
    end = steps[-1] if steps else None
    if isinstance(end, Stopped):
        items.insert(0, "The person interrupted: ask how to go on.")
    elif isinstance(end, Failed):
        items.insert(0, f"It broke off by an error: {quoted(end.text, _LONGEST_STEP)}")
    for one in reversed([one for one in journal.commands if one.check]):
        if one.ok:
            break  # a wider check that passed later says that it was mended
        items.append(quoted(f"`{one.command}` failed last", MOST_ITEM - 20))
    return [item for item in items if item]


def _in_flight(story: Story, steps: Sequence[Step]) -> list[str]:
    """The files that were written since the last commit, the last one first."""
    last = max((at for at, step in enumerate(steps) if isinstance(step, Committed) and step.sha), default=-1)
    files = files_of(steps[last + 1 :], list(story.folders))
    found = []
    for one in reversed(files):
        path = one.path if " " not in one.path else f"`{one.path}`"
        if one.what != DELETED and len(path) < MOST_ITEM:
            found.append(path)
    return found


def _questions(steps: Sequence[Step]) -> list[str]:
    """What the agent asked at its end, where nobody has answered it."""
    end = next((step for step in reversed(steps) if isinstance(step, Said)), None)
    if end is None or end.by != AGENT:
        return []
    last = list(sentences(end.text))[-3:]
    return [quoted(one, MOST_ITEM - 20) for one in last if one.endswith(("?", "？"))]


def _fitting(made: Handoff) -> Handoff:
    """The draft within the limit of bytes: the state gives way first, since much of it is said elsewhere too."""
    while over(written(made)):
        if len(made.state) > 200:
            state = kept(made.state, len(made.state) * 2 // 3)
            made = Handoff(made.goal, state, made.next_steps, made.files, made.open_questions)
        else:
            goal = kept(made.goal, len(made.goal) // 2 + 1)
            made = Handoff(goal, made.state, made.next_steps[:-1], made.files[:-1], made.open_questions[:-1])
    return made
