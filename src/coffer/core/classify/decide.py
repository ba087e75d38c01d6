"""What a human turn says about the agent's behaviour: one of six classes, and how sure that is.

Three judges, from narrow to wide. The linear model over all features names the class. A turn is *certain* only
if the model and the form agree: the person forbids, states a standing rule, or asks why something was done, in
a short turn of their own. It is *possible* if a second, coarser model (cues only, no words) or one of the
polite signs says so. Certain may count as evidence; possible only asks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from coffer.core.classify.features import MANNER, features
from coffer.core.classify.model import asking, probabilities
from coffer.core.classify.reach import persistence, scope
from coffer.core.classify.signs import sign
from coffer.core.classify.spoken import Heard, hear
from coffer.core.norms import norm
from coffer.core.phrases import clauses, statements
from coffer.core.phrases_abroad import foreign_rule, is_foreign
from coffer.core.regex import regex
from coffer.core.tables import kind_of
from coffer.core.verbs import word_set

Certainty = Literal["certain", "possible", "none"]

WORTH_A_RULE = ("EXPLICIT_CORRECTION", "IMPLICIT_CORRECTION", "PREFERENCE")
CERTAIN_FROM = 0.62
POSSIBLE_FROM = 0.48
PLAIN_FROM = 0.3
STANDING_FROM = 0.5
"""A clause that can only forbid or choose, or says how it is always done, needs less of the model: it knows few of
its words."""
NEVER = 2.0
ABOUT_HOW = word_set(
    "we lasting standing who_asked why_did why_you again undo note learn prefer you_did ask_first to_me"
)
WORK = regex(
    r"(?:^|[\s`(])(?:\.{0,2}/?[\w-]+/[\w./*-]+|\.?[\w-]*\.(?:py|ts|js|tsx|go|rs|md|json|ya?ml|toml"
    r"|java|kt|rb|lock|env|sh|cfg))\b"
    r"|(?:^|\s)\.\w{3,}|\b(?:rm|git|npx|docker|podman|kubectl|helm|cargo|terraform|brew|apt|ssh|psql"
    r"|make)\b|\b(?:files?|folders?|director(?:y|ies)|code|codebase|repo(?:sitory)?|project"
    r"|scripts?|config\w*|ci"
    r"|workflows?|hooks?|vendor\w*|third_party|install\w*|sudo|dev servers?|background|subagents?"
    r"|tools?|read tool|edit tool"
    r"|asserts?\w*|exceptions?|var|let|const|eval|unwrap|unsafe|lambdas?|functions?|methods?"
    r"|variables?|modules?|public api"
    r"|refactor\w*|renam\w+|reformat\w*|rewrit\w+|secrets?|credentials?|api keys?|prod(?:uction)?"
    r"|staging|deploy\w*|lib(?:rary"
    r"|raries)?|packages?|framework|lodash|jquery|lombok|numpy|flatter\w*|prais\w+|apolog\w+"
    r"|estimat\w+|repl(?:y|ies)|answers?|explanations?|guess\w*"
    r"|assum\w+|latest|regressions?|coverage|deutsch|englisch|anglais|inglés|rückfrage|absprache|main"
    r"|dateien?|fichiers?|archivos?"
    r"|ficheros?|código|dépendances?|dependencias?)\b"
    r"|文件|代码|依赖|推送|提交|分支|重写|ファイル|コード|依存|プッシュ|コミット|同意|код\w*|файл\w*|ветк\w*|мерж\w*|пуш\w*|спроса|разрешени",
    re.IGNORECASE,
)
"""Things of the work itself, beside the cues for git, tools and style."""
PLAIN_LONGEST = 120
CERTAIN_LONGEST = 320
UNDOING_LONGEST = 220

PHRASES: tuple[tuple[str, str], ...] = (
    ("who_asked", "says that it was not asked for, or was said before"),
    ("dont", "forbids something"),
    ("never", "says never"),
    ("no_noun", "rules something out"),
    ("why_did", "asks why it was done"),
    ("standing", "speaks of every time"),
    ("undo", "undoes the work"),
    ("not_x", "names one thing and not another"),
    ("instead", "names what to do instead"),
    ("you_did", "says what the agent did"),
    ("why_you", "asks why"),
    ("again", "says again or still"),
    ("we", "says how it is done here"),
    ("prefer", "states a liking"),
    ("learn", "wants it remembered"),
    ("wrong", "calls it wrong"),
    ("one_off", "speaks of this time only"),
    ("meant", "corrects their own words"),
    ("option", "picks an option"),
    ("approve", "approves"),
    ("report", "reports an outcome"),
    ("request", "asks for work"),
    ("question", "asks something"),
)

ALSO_PLAIN = word_set(
    "arrow got fetch request black gem hatch nose parcel rust oracle merge write edit tabs spaces"
)
"""Names of tools that are words of products as well."""


@dataclass(frozen=True)
class Judged:
    """A turn's class; persistence and scope only where the turn may be worth a rule."""

    label: str
    persistence: str | None
    certainty: Certainty
    confidence: float
    reason: str
    scope: str | None


def classify(turn: str, before: str, tools: Sequence[str] = ()) -> Judged:
    """The class of what a person said, given the agent's last words and tools."""
    heard = hear(turn)
    if not heard.text:
        return Judged("NONE", None, "none", 0.0, "no words of a person", None)
    before = before if len(before) <= 1_400 else before[:200] + "\n" + before[-1_200:]
    return judged(heard, before, features(heard, before, tools))


def judged(
    heard: Heard,
    before: str,
    values: Mapping[str, float],
    weights: Mapping[str, tuple[float, ...]] | None = None,
    ask_weights: Mapping[str, tuple[float, ...]] | None = None,
) -> Judged:
    """The decision over ready features; the measuring script brings weights of its own."""
    odds = probabilities(values, weights)
    worth = sum(odds[name] for name in WORTH_A_RULE)
    seen = {name[2:] for name in values if name.startswith("c:")}
    label = max(odds, key=odds.__getitem__)
    reason = _reason(seen)
    printed = NOTHING_THERE.search(heard.text) is not None
    sure = worth >= CERTAIN_FROM and _has_the_form(heard, seen, values)
    plain = sure or worth >= _plain_from(heard, seen, values)
    if plain and not printed and _about_work(heard.text, seen):
        label = max(WORTH_A_RULE, key=odds.__getitem__)
        return _worth(label, "certain", max(worth, CERTAIN_FROM), reason, heard, before)
    polite = "" if heard.document else sign(heard.text)
    ask = asking(values, ask_weights)
    if polite or ask >= POSSIBLE_FROM:
        return _worth(label, "possible", min(max(ask, worth), 0.99), polite or reason, heard, before)
    certainty: Certainty = "none"
    if label in WORTH_A_RULE:
        return _worth(label, certainty, worth, reason, heard, before)
    return Judged(label, None, certainty, odds[label], reason, None)


NOTHING_THERE = regex(
    r"(?:^|[.!?\n]\s*)(?:no|0) (?:[\w./-]+ ){1,4}(?:found|detected|available|returned|matched|present|changed|specified"
    r"|configured|provided|remaining|left|exists?|to (?:sync|commit|push|show|do))\b",
    re.IGNORECASE,
)
"""What programs print: "No matching commits found". It has the form of a ban and forbids nothing."""


def _worth(  # noqa: PLR0913  (the fields of what it makes)
    label: str, certainty: Certainty, sure: float, reason: str, heard: Heard, before: str
) -> Judged:
    return Judged(
        label, persistence(heard.text), certainty, round(sure, 3), reason, scope(heard.text, before)
    )


def _has_the_form(heard: Heard, seen: set[str], values: Mapping[str, float]) -> bool:
    size = len(heard.text)
    if heard.document or size > CERTAIN_LONGEST or ("one_off" in seen and "standing" not in seen):
        return False
    if {"one_off", "request"} <= seen:
        return False
    asks = "ends_q" in seen
    pointed = bool(seen & {"why_did", "who_asked"}) or {"why_you", "again"} <= seen
    forbids = seen & {"dont", "never", "no_noun", "who_asked", "standing"} or {"not_x", "use"} <= seen
    vague = seen & {"report", "system_must"} and not seen & {"dont", "who_asked"}
    if (pointed or (forbids and not asks)) and not vague:
        return True
    if size > UNDOING_LONGEST or asks or "one_off" in seen:
        return False
    if "undo" in seen and "b:did" in values and "request" not in seen:
        return True
    if (
        seen & {"we", "here"}
        and seen & {"use", "not_x", "instead", "should", "always"}
        and "report" not in seen
    ):
        return True
    habit = seen & {"style_word", "git_word", "tool_word"} and seen & {"lasting", "always", "note", "should"}
    return "prefer" in seen and bool(habit)


def _about_work(text: str, seen: set[str]) -> bool:
    """Whether it is about how the agent works, and not about what is built: "no border" has the form of a rule."""
    if seen & (MANNER | ABOUT_HOW) or WORK.search(text):
        return True
    return any(
        kind_of(word) for word in re.findall(r"[a-z][\w.-]{2,}", text.lower()) if word not in ALSO_PLAIN
    )


def _plain_from(heard: Heard, seen: set[str], values: Mapping[str, float]) -> float:
    """How sure the model must be of a turn that is little more than one rule, said after the agent did something."""
    text = heard.text
    if heard.document or heard.masked or len(text) > PLAIN_LONGEST or "b:did" not in values:
        return NEVER
    if (
        "?" in text
        or "？" in text
        or seen & {"one_off", "meant", "option", "report", "system_must", "add_also"}
    ):
        return NEVER
    if "product" in seen and not seen & MANNER:
        return NEVER  # "no rounded corners" is about what is built
    if is_foreign(text):
        return PLAIN_FROM if foreign_rule(text)[0] else NEVER
    found = clauses(text)
    if found and all(clause.kind in ("ban", "choice") for clause in found):
        return PLAIN_FROM
    if len(found) == 1 and found[0].standing:
        return STANDING_FROM
    norms = [text for text, standing in statements(text) if norm(text, standing=standing)]
    return STANDING_FROM if not found and len(norms) == 1 else NEVER


def _reason(seen: set[str]) -> str:
    said = [phrase for name, phrase in PHRASES if name in seen][:2]
    return "; ".join(said) or "nothing in the words points to a rule"
