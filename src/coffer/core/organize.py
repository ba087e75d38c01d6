"""Notes put in order: which say the same, which belong together, which read as rules.

Nothing here words anything. Notes are the same only where they have the same words in them, in the same order; they
belong together where their telling words do, weighed by how rare they are. Topics that exist
keep their names, so a vault that is in order stays as it is.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coffer.core.entry import Entry
from coffer.core.regex import regex
from coffer.core.search import SILENT, folded, parts, same

ALIKE = 0.2
"""Part of a note's words, weighed, from which it belongs to a topic: notes are short, and on one subject share few."""
_WORD = regex(r"[^\W_]{2,}")
_MARKUP = regex(r"^\s*(?:#{1,6}|[-*+>])\s|[*_`]", re.MULTILINE)
_POINTS = ".,;:!?…\"'“”‘’()[]"
_RULE = regex(
    r"^(?:please\s+)?(?:do not|don['’]t|never|always|must(?: not)?|you (?:must|should)(?: not| never| always)?"
    r"|make sure|avoid|stop|use \S+(?: \S+){0,3} (?:instead of|not|rather than)|prefer|immer|niemals?"
    r"|bitte (?:nie|immer|nicht))\b",
    re.IGNORECASE,
)
_LONGEST_RULE = 220
_DATED = regex(r"\d{4}-\d\d-\d\d")


@dataclass(slots=True)
class Topic:
    """Notes that belong together. name: of its file, without `.md`. known: ids that are in that file already."""

    name: str
    notes: list[Entry] = field(default_factory=list)
    known: frozenset[str] = frozenset()

    @property
    def fresh(self) -> list[Entry]:
        """Those that are not in its file yet."""
        return [one for one in self.notes if one.id not in self.known]


def is_fresh(file: str) -> bool:
    """Whether notes in a file of this name are as they came: a file a day, which nobody put in order."""
    return _DATED.match(file) is not None


def repeated(notes: Sequence[Entry]) -> dict[str, str]:
    """Ids of notes that say what a newer one says, each with the id of that. notes: oldest first."""
    newest: dict[object, str] = {}
    found: dict[str, str] = {}
    for one in reversed(notes):
        if not one.text.strip():
            continue
        key = _said(one.text)
        if key in newest and newest[key] != one.id:
            found[one.id] = newest[key]
        else:
            newest[key] = one.id
    return found


def _said(text: str) -> object:
    """What two texts must have in common to say the same: every word, number and sign, in their order.

    “from A to B” is not “from B to A”, “on” not “off”, “C” not “C++”, “1” not “-1”.
    """
    plain = same(_MARKUP.sub(" ", text))
    return tuple(said for word in plain.split() if (said := word.strip(_POINTS))) or plain


def reads_as_rule(text: str) -> bool:
    """Whether a note is an instruction for every session rather than something to know."""
    plain = " ".join(re.sub(r"^[#\-*\s]+", "", line) for line in text.strip().splitlines()).strip()
    sentences = [part for part in re.split(r"(?<=[.!])\s+", plain) if part]
    return (
        bool(plain) and len(plain) <= _LONGEST_RULE and len(sentences) <= 2 and _RULE.match(plain) is not None
    )


def grouped(fresh: Sequence[Entry], topics: Mapping[str, Sequence[Entry]]) -> list[Topic]:
    """Fresh notes with the topics that they belong to; a topic of one note is none and is left out.

    fresh: oldest first. topics: the files that exist, by name, with their notes.
    """
    every = [one for notes in topics.values() for one in notes] + list(fresh)
    rare = _rarity([_words(one) for one in every])
    groups: list[_Group] = []
    for name, notes in topics.items():
        groups.append(_Group(Topic(name, [], frozenset(one.id for one in notes))))
        for one in notes:
            groups[-1].take(one, _weighed(one, rare))
    found = _Shelf(groups)
    for one in fresh:
        found.put(one, _weighed(one, rare))
    taken = {group.topic.name for group in groups if group.topic.name}
    chosen = []
    for group in found.groups:
        if not group.topic.fresh or (not group.topic.name and len(group.topic.notes) < 2):
            continue
        if not group.topic.name:
            group.topic.name = _free(group.name(), taken)
            taken.add(group.topic.name)
        chosen.append(group.topic)
    return chosen


class _Group:
    """A topic while notes are sorted into it, and the weighed words of each of them."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.members: list[Mapping[str, float]] = []

    def likeness(self, words: Mapping[str, float]) -> float:
        """How much of a note, or of those in here, the two have in common, on average; at least two words."""
        return (
            sum(_shared(words, member) for member in self.members) / len(self.members)
            if self.members
            else 0.0
        )

    def take(self, one: Entry, words: Mapping[str, float]) -> None:
        """Put a note in."""
        self.topic.notes.append(one)
        self.members.append(words)

    def name(self) -> str:
        """Its most telling words that more than one note has."""
        seen: Counter[str] = Counter(word for member in self.members for word in member if not word.isdigit())
        shared = [word for word, count in seen.items() if count > 1]
        weight = {
            word: seen[word] * max(member.get(word, 0) for member in self.members) for word in shared or seen
        }
        chosen: list[str] = []
        for word in sorted(weight, key=lambda word: (-weight[word], -len(word), word)):
            if not any(word in other for other in chosen):  # “hub” beside “github” tells nothing
                chosen.append(word)
        return "-".join(self._written(word) for word in chosen[:3]) or "notes"

    def _written(self, stem: str) -> str:
        """A word as the notes have it most often: “create”, not the “creat” that it is sorted by."""
        words = (word for one in self.topic.notes for word in _telling(one) if _stem(word) == stem)
        return min(Counter(words).items(), key=lambda item: (-item[1], len(item[0]), item[0]))[0]


class _Shelf:
    """The topics, with where each word occurs: of a thousand topics few have a word of a note."""

    def __init__(self, groups: list[_Group]) -> None:
        self.groups = groups
        self._with: dict[str, dict[int, None]] = {}
        for at, group in enumerate(groups):
            for member in group.members:
                self._note(member, at)

    def put(self, one: Entry, words: Mapping[str, float]) -> None:
        """Put a note into the topic that it is most like, or into one of its own."""
        near = Counter(at for word in words for at in self._with.get(word, ()))
        likely = [at for at, count in near.items() if count > 1]
        best = max(likely, key=lambda at: (self.groups[at].likeness(words), -at), default=None)
        if best is None or self.groups[best].likeness(words) < ALIKE:
            best = len(self.groups)
            self.groups.append(_Group(Topic("")))
        self.groups[best].take(one, words)
        self._note(words, best)

    def _note(self, words: Mapping[str, float], at: int) -> None:
        for word in words:
            self._with.setdefault(word, {})[at] = None


def _shared(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The weight of the words that two notes share, as a part of the shorter one's; 0 where it is a single word."""
    common = [word for word in one if word in other]
    least = min(sum(one.values()), sum(other.values()))
    return sum(one[word] for word in common) / least if len(common) > 1 and least else 0.0


def _free(name: str, taken: Iterable[str]) -> str:
    known = {each.casefold() for each in taken}
    return next(
        each
        for number in range(1, 10_000)
        if (each := name if number == 1 else f"{name}-{number}") not in known
    )


def _words(one: Entry) -> frozenset[str]:
    """The telling words of a note, without their endings."""
    return frozenset(map(_stem, _telling(one)))


def _telling(one: Entry) -> list[str]:
    found = _WORD.findall(folded(one.text)) + _WORD.findall(parts(one.text))
    return [word for word in found if word not in SILENT]


def _stem(word: str) -> str:
    """A word without the ending of a plural or a form of the verb, as far as a rule of thumb goes."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
            return word[: -len(ending)] + instead
    return word


def _rarity(texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """How much a word tells: the rarer, the more."""
    seen: Counter[str] = Counter(word for words in texts for word in words)
    return {word: math.log(1 + len(texts) / count) for word, count in seen.items()}


def _weighed(one: Entry, rare: Mapping[str, float]) -> dict[str, float]:
    return {word: rare[word] for word in sorted(_words(one))}
