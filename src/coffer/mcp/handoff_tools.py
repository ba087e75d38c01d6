"""The tools for work that goes from one session to the next: set_handoff, resume."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct, field

from coffer.core.chain import seconds
from coffer.core.handoff import MOST_GOAL, MOST_ITEM, MOST_ITEMS, MOST_STATE, Handoff, ago, called
from coffer.core.since import told
from coffer.errors import Busy, FileMoved
from coffer.mcp.caller import Caller, House
from coffer.mcp.tool import Advice, Answer, Tool
from coffer.store.project_errors import ProjectNotFound
from coffer.work.memory.handoff import By, set_handoff
from coffer.work.memory.handoff_errors import HandoffRefused
from coffer.work.memory.handoff_place import Place, place_of
from coffer.work.memory.resume import resume_of

_Item = Annotated[str, Meta(min_length=1, max_length=MOST_ITEM)]


class Handover(Struct):
    """Arguments of set_handoff."""

    goal: Annotated[
        str,
        Meta(
            min_length=3,
            max_length=MOST_GOAL,
            description="What the person wants in the end, in a sentence or two.",
        ),
    ]
    state: Annotated[
        str,
        Meta(
            max_length=MOST_STATE,
            description="What is done and proven, what is half done, what was tried and failed, and what was decided.",
        ),
    ] = ""
    next_steps: Annotated[
        list[_Item], Meta(max_length=MOST_ITEMS, description="What to do next, the first thing first.")
    ] = field(default_factory=list)
    files: Annotated[
        list[_Item],
        Meta(max_length=2 * MOST_ITEMS, description="Files in flight: paths from the top of the work tree."),
    ] = field(default_factory=list)
    open_questions: Annotated[
        list[_Item], Meta(max_length=MOST_ITEMS, description="What only the person can answer.")
    ] = field(default_factory=list)


class Wanted(Struct):
    """Arguments of resume."""

    branch: Annotated[
        str,
        Meta(
            max_length=255,
            description="Another branch than the one that is checked out; leave it out otherwise.",
        ),
    ] = ""


def hand_over(said: Handover, caller: Caller, house: House) -> Answer:
    """Write the handoff of the branch that the caller's folder stands on."""
    place = _place(caller, house)
    handoff = Handoff(said.goal, said.state, *map(tuple, (said.next_steps, said.files, said.open_questions)))
    done = set_handoff(place, handoff, By("agent", caller.agent, caller.session), house.now())
    text = f"Written: the handoff of {called(place.branch)} in project {place.identity.name}."
    if done.before is not None:
        then = seconds(done.before.time) if done.before.time else None
        age = f" from {ago(house.now().timestamp() - then)}" if then is not None else ""
        text += f" It replaces the one{age}, which `coffer handoff history` keeps."
    return Answer(f"{text} The next session reads it with `resume`, whichever agent it is of.")


def go_on(wanted: Wanted, caller: Caller, house: House) -> Answer:
    """The handoff of a branch with what happened since."""
    resumed = resume_of(_place(caller, house), wanted.branch.strip())
    return Answer(told(resumed, house.now().timestamp()))


def _place(caller: Caller, house: House) -> Place:
    return place_of(house.home, house.user, Path(caller.folder), house.environment)


_ADVICE: tuple[Advice, ...] = (
    (HandoffRefused, "Shorten it to what the next session can't see for itself, and call set_handoff again."),
    (Busy, "Call again in a few seconds."),
    (FileMoved, "Call again."),
    (ProjectNotFound, "There is nothing to hand over here: go on with your work."),
)

HANDOFF_TOOLS = (
    Tool(
        "set_handoff",
        "Hand the work over",
        "Leave where the work on this branch stands for whoever goes on with it: the next session, of any agent. Call "
        "it when the person stops, wants to go on elsewhere, or asks for a handoff; and before you end with work half "
        "done. "
        "It replaces the branch's former one. Only what can't be seen in the code: goal, state, next steps, open "
        "questions. In all at most 3,600 bytes.",
        Handover,
        hand_over,
        advice=_ADVICE,
    ),
    Tool(
        "resume",
        "Go on with prior work",
        "Read where the work on this branch stands: the handoff that a former session left, how old it is, and what "
        "changed since (commits, files, the branch). Call it first when the person says “continue”, “go on”, “where "
        "were we”, or speaks of work that this session has not seen. What happened since is newer than what it says.",
        Wanted,
        go_on,
        reads=True,
        advice=_ADVICE,
    ),
)
