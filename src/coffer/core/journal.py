"""What a session came to, taken from its own words: goal, decisions, work done, outcomes, what is open.

Nothing is made up: each sentence stands in the transcript, and each count comes from what the tools wrote. Texts are
redacted before they are cut. What Coffer itself brought into the session (its bundle, recalled entries) is no source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from coffer.core.classify.decide import WORTH_A_RULE, classify
from coffer.core.classify.spoken import hear
from coffer.core.journal_words import (
    chooses,
    intends,
    is_filler,
    is_nod,
    leaves_open,
    says_done,
    without_output,
)
from coffer.core.journal_work import Command, File, commands_of, commits_of, files_of, in_folders
from coffer.core.regex import regex
from coffer.core.sentences import paragraphs, quoted, sentences
from coffer.core.steps import (
    AGENT,
    PERSON,
    Chose,
    Committed,
    Failed,
    Planned,
    Ran,
    Recalled,
    Said,
    Step,
    Stopped,
    Story,
    Touched,
)
from coffer.core.turn import REJECTED, TYPED, normal

LONGEST_GOAL, LONGEST_POINT, LONGEST_DONE = 320, 200, 260
"""Characters of a goal, of any other quoted sentence, of a sentence about what was done."""
MOST_POINTS, MOST_DECISIONS, MOST_DONE, MOST_CORRECTIONS, MOST_OPEN = 5, 6, 7, 5, 6
_SAME = 30
"""Characters that begin two prompts of which one is the other, reworded."""
_ALIKE = 0.6
"""Share of their words from which a prompt for which the agent was stopped is the one before it, said better."""
_NUMBER = regex(r"\(?\d{1,2}[.)]")
_ENDS = ".!?…。！？:"
_HEADING = regex(r"[A-Z][a-z]+(?: [A-Za-z]+)?")
MOST_JUDGED = 80
"""Human turns that are looked at for corrections, from the last one back."""


_ADVISED = regex(r" \((?:Recommended|Empfohlen)\)")
"""What a client writes behind the answer that it would give; the person did not say it."""
_OTHER = regex(r"or\b|oder\b|ou\b|o\b|还是|それとも", re.IGNORECASE)
"""How a question begins that is the second half of the one before."""


@dataclass(slots=True)
class Journal:
    """A session as it is told. Every text is one line and redacted. asked: how many prompts there were."""

    story: Story
    goal: str = ""
    points: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    commits: list[Committed] = field(default_factory=list)
    corrections: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    asked: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to tell: nobody asked anything."""
        return not self.goal


@dataclass(slots=True)
class _Episode:
    """What was asked, and all that happened until the next prompt."""

    asked: Said | None
    steps: list[Step] = field(default_factory=list)

    @property
    def answer(self) -> str:
        """The agent's last words in it."""
        return next((step.text for step in reversed(self.steps) if isinstance(step, Said)), "")

    @property
    def work(self) -> int:
        """How much was written and run."""
        weight = {Touched: 2, Committed: 4, Ran: 1}
        return sum(weight.get(type(step), 0) for step in self.steps)


def journal_of(story: Story) -> Journal:
    """The journal of a story."""
    found = Journal(story)
    steps = [happened.step for happened in story.steps]
    episodes = _episodes(steps)
    known = {normal(line) for step in steps if isinstance(step, Recalled) for line in sentences(step.text)}
    asked = [one for one in episodes if one.asked is not None]
    found.asked = sum(not one.asked.title for one in asked if one.asked is not None)
    found.corrections, corrected = _corrections(asked)
    _goal(found, asked, corrected)
    found.decisions = _decisions(episodes, corrected, known)
    found.done = _done(episodes, known, found.decisions)
    found.files = files_of(steps, list(story.folders))
    found.commands = commands_of(steps, list(story.folders))
    found.commits = commits_of(steps)
    found.open = _open(episodes, found)
    for said in (found.decisions, found.done, found.open):
        said[:] = [in_folders(one, list(story.folders)) for one in said]
    return found


def _episodes(steps: Iterable[Step]) -> list[_Episode]:
    episodes = [_Episode(None)]
    for step in steps:
        if isinstance(step, Said) and step.by != AGENT:
            episodes.append(_Episode(step))
        else:
            episodes[-1].steps.append(step)
    return [one for one in episodes if one.asked is not None or one.steps]


def _words(said: Said) -> str:
    """A person's own sentences, without what was pasted; all of it where that is all there is."""
    heard = without_output(hear(said.text, quotes=True).text)
    return heard if heard.strip(' "…') else said.text


def _pasted(said: Said) -> bool:
    """Whether all of it is what a program printed."""
    return bool(said.text.strip()) and not without_output(said.text).strip()


def _first_sentences(text: str, most: int) -> str:
    """As many sentences from the beginning as fit, at most two; greetings do not count."""
    found: list[str] = []
    for sentence in sentences(text, headings=True):
        if (is_nod(sentence) and not found) or _NUMBER.fullmatch(sentence):
            continue
        if found and sentence[-1] not in _ENDS and _HEADING.fullmatch(sentence):
            break  # the heading of what was pasted below
        found.append(sentence)
        if len(found) == 2 or len(" ".join(found)) > most // 2:
            break
    return quoted(" ".join(found) or text, most)


# --- what was wanted


def _goal(found: Journal, asked: Sequence[_Episode], corrected: set[int]) -> None:
    """The first prompt that asks for something, and where it turned."""
    rest = list(enumerate(asked))
    while rest:
        _, episode = rest.pop(0)
        assert episode.asked is not None
        goal = _first_sentences(_words(episode.asked), LONGEST_GOAL)
        nothing = is_nod(goal) and any(not is_nod(_words(one.asked)) for _, one in rest if one.asked)
        if goal and not nothing:
            found.goal = goal
            break
    turns = []
    for at, episode in rest:
        assert episode.asked is not None
        words = _words(episode.asked)
        if at in corrected or is_nod(words) or len(words.split()) < 3 or _pasted(episode.asked):
            continue
        said = _first_sentences(words, LONGEST_POINT)
        if said and normal(said) != normal(found.goal):
            turns.append((at, episode.work, said))
    apart: list[tuple[int, int, str]] = []
    for turn in turns:  # said again, better: the last counts
        said_to = asked[turn[0]].asked
        reworded = said_to is not None and said_to.turn is not None and said_to.turn.reliability != TYPED
        apart = [one for one in apart if not _is_again(one[2], turn[2], reworded=reworded)] + [turn]
    heaviest = sorted(apart, key=lambda turn: (-turn[1], turn[0]))[:MOST_POINTS]
    found.points = list(dict.fromkeys(said for _, _, said in sorted(heaviest)))


def _is_again(one: str, other: str, *, reworded: bool) -> bool:
    """Whether two prompts say the same. reworded: the agent was stopped for the second, which may be a better first."""
    if normal(one)[:_SAME] == normal(other)[:_SAME]:
        return True
    first, second = (set(normal(said).split()) for said in (one, other))
    return reworded and len(first & second) >= _ALIKE * len(first | second)


def _corrections(asked: Sequence[_Episode]) -> tuple[list[str], set[int]]:
    """The person's corrections in their words, and which prompts they are."""
    found: list[str] = []
    which: set[int] = set()
    for at in range(max(0, len(asked) - MOST_JUDGED), len(asked)):
        said = asked[at].asked
        if said is None or said.turn is None or at == 0 or _pasted(said):
            continue
        judged = classify(said.text, said.turn.before, [action.tool for action in said.turn.actions])
        worth = judged.label in WORTH_A_RULE
        asks = said.text.rstrip().endswith("?")  # who asks learns first
        stopped = said.turn.reliability != TYPED and not asks
        corrects = worth and (judged.certainty == "certain" or stopped)
        if corrects or (said.turn.reliability == REJECTED and stopped):
            which.add(at)
            found.append(_first_sentences(_words(said), LONGEST_POINT))
    return list(dict.fromkeys(filter(None, found)))[-MOST_CORRECTIONS:], which


# --- what was decided and done


def _decisions(episodes: Sequence[_Episode], corrected: set[int], known: set[str]) -> list[str]:
    """Choices with their reasons: the person's answers and words, and what the agent says it chose."""
    found: list[str] = []
    count = -1
    for episode in episodes:
        if episode.asked is not None:
            count += 1
            if count not in corrected and count > 0 and episode.asked.by == PERSON:
                words = _words(episode.asked)
                found += [
                    f"{quoted(one, LONGEST_POINT)} (person)" for one in sentences(words) if chooses(one)
                ]
        for step in episode.steps:
            if isinstance(step, Chose):
                found.append(_choice(step))
        found += [
            quoted(one, LONGEST_POINT)
            for one in sentences(episode.answer)
            if chooses(one, reason=True) and normal(one) not in known
        ]
    return _spread(list(dict.fromkeys(found)), MOST_DECISIONS)


def _choice(step: Chose) -> str:
    if not step.asked:
        return f"Plan accepted: {quoted(step.answer, LONGEST_POINT)} (person)"
    return f"{quoted(step.asked, LONGEST_POINT)} → {quoted(_ADVISED.sub('', step.answer), LONGEST_POINT)} (person)"


def _done(episodes: Sequence[_Episode], known: set[str], decisions: Sequence[str]) -> list[str]:
    """What the agent says at the end of each piece of work, and all of what it says at the very end."""
    told = set(map(normal, decisions)) | known
    last = _last_report(episodes)
    if last is None:
        return []
    earlier = [one for one in episodes if one.answer and one.work and one is not last]
    heaviest = sorted(range(len(earlier)), key=lambda at: (-earlier[at].work, at))[:3]
    found = [said for at in sorted(heaviest) for said in _best(list(_telling(earlier[at].answer, told)), 1)]
    found += _best(list(_telling(last.answer, told)), MOST_DONE - len(found))
    if not found and not is_nod(last.answer):
        found = [quoted(last.answer, LONGEST_DONE)]  # a short answer is better than none
    return list(dict.fromkeys(found))


def _last_report(episodes: Sequence[_Episode]) -> _Episode | None:
    """What the session's last report ends; a few words after it, for which nothing was done, are no other report."""
    working = [one for one in episodes if one.answer]
    if not working:
        return None
    last = working[-1]
    if last.work or len(last.answer) >= 200:
        return last
    return next((one for one in reversed(working) if one.work), last)


def _best(said: list[str], most: int) -> list[str]:
    """Of too many, those that name a result, and then the first ones; in their order."""
    wanted = sorted(range(len(said)), key=lambda at: (not says_done(said[at]), at))[:most]
    return [said[at] for at in sorted(wanted)]


def _telling(answer: str, told: set[str]) -> Iterator[str]:
    """The parts of an answer that say something, without what asks or is left open."""
    for said in paragraphs(answer):
        ending = said.rstrip('*_ )”"')[-1:]
        leads = ending == ":"  # what it leads to are items of their own
        if normal(said) in told or is_filler(said) or ending == "?" or (leads and not says_done(said)):
            continue
        done = said
        if leaves_open(said):  # what is open stands there; what is done beside it stays here
            rest = [one for one in sentences(said) if not leaves_open(one) and normal(one) not in told]
            done = " ".join(rest)
        if done and not is_filler(done):
            yield _first_fitting(f"{done.rstrip(':')} …" if leads else done, LONGEST_DONE)


def _first_fitting(text: str, most: int) -> str:
    """As many whole sentences as fit; of one that is too long, its beginning."""
    found = ""
    for sentence in sentences(text):
        if intends(sentence) or (is_filler(sentence) and not found):
            continue
        if found and len(found) + len(sentence) + 1 > most:
            break
        found = f"{found} {sentence}".strip()
    return quoted(found or text, most)


def _spread(items: list[str], most: int) -> list[str]:
    """Of too many, the first ones and the last ones: a session's end weighs more."""
    if len(items) <= most:
        return items
    head = most // 3
    return items[:head] + items[head - most :]


# --- what is open


def _open(episodes: Sequence[_Episode], found: Journal) -> list[str]:
    """What the session left: an unanswered prompt or question, failures at the end, open to-do items."""
    items: list[str] = []
    last = episodes[-1] if episodes else _Episode(None)
    end = last.steps[-1] if last.steps else None
    if isinstance(end, Stopped):
        items.append("Interrupted by the person at the end.")
    elif isinstance(end, Failed):
        items.append(f"Ended by an error of the model's server: {quoted(end.text, LONGEST_POINT)}")
    elif last.asked is not None and not last.steps and not last.asked.title:
        items.append(f"Not answered: {_first_sentences(_words(last.asked), LONGEST_POINT)}")
    question = _question(last.answer)
    if question:
        items.append(f"The agent asked: {question}")
    items += [
        f"`{one.command}` failed last{_of(one)}." for one in found.commands if one.check and not one.ok
    ][-3:]
    plans = [step.open for one in episodes for step in one.steps if isinstance(step, Planned)]
    if plans and plans[-1]:
        shown = [quoted(item, 100) for item in plans[-1][:4]]
        more = f" and {len(plans[-1]) - 4} more" if len(plans[-1]) > 4 else ""
        items.append(f"On the to-do list: {'; '.join(shown)}{more}")
    report = _last_report(episodes)
    ends = [one.answer for one in (report, last) if one is not None]
    items += [quoted(one, LONGEST_POINT) for end in ends for one in sentences(end) if leaves_open(one)]
    return list(dict.fromkeys(items))[:MOST_OPEN]


def _question(answer: str) -> str:
    """The question that the agent's last words end with."""
    said = list(sentences(answer))
    if not said or not said[-1].endswith(("?", "？")):
        return ""
    first = len(said) - 1
    while first and _OTHER.match(said[first]) and said[first - 1].endswith(("?", "？")):
        first -= 1
    return quoted(" ".join(said[first:]), LONGEST_POINT)


def _of(command: Command) -> str:
    said = command.bad or command.why
    return f" ({said})" if said else ""
