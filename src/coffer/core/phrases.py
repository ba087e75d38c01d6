"""Clauses that forbid, choose or order, as people write them to an agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from coffer.core.norms import STATEMENT
from coffer.core.phrase_forms import (
    ADDED,
    ADVERB,
    AFTERTHOUGHT,
    ALWAYS,
    ALWAYS_TOO,
    ASIDES,
    ASKING_FIRST,
    AVOID,
    BAN,
    BARE,
    CHOICE,
    COMMAND,
    COMPOUND,
    EACH,
    EVERY_TIME,
    FINITE,
    HEAD,
    HOW_ASKED,
    INSTEAD,
    LASTING_VERBS,
    LEAD,
    LEAVE,
    LIMIT,
    LISTED,
    MANNER,
    MIXED,
    NAMED_AS,
    NEGATIVE,
    NO,
    NO_THING,
    NOTHING,
    NOUN_LIMIT,
    OFF,
    REASON,
    REASONED,
    SENTENCES,
    SPLITS,
    STANDING,
    STOP,
    STYLE,
    TRAIL,
    WANTED,
    WE_USE,
)
from coffer.core.tables import kind_of
from coffer.core.verbs import BASE, IDLE, base_of, gerunds


@dataclass(frozen=True)
class Clause:
    """One thing that was forbidden, chosen or ordered; `rest` is what else was said."""

    kind: Literal["ban", "choice", "order"]
    verb: str
    object: str
    against: str = ""
    instead: str = ""
    standing: bool = False
    rest: str = ""


def clauses(said: str) -> list[Clause]:
    """Every clause of a text that could carry a rule; questions carry none."""
    parts = [part.strip() for part in SENTENCES.split(said) if part and part.strip()]
    found: list[Clause] = []
    for index, part in enumerate(parts):
        rest = " ".join(parts[:index] + parts[index + 1 :])
        if not part.endswith("?"):
            found.extend(_read(part, rest))
    return found


def statements(said: str) -> list[tuple[str, bool]]:
    """Every sentence that is no question, without the talk around it, and whether it is meant for every time."""
    found = []
    for part in SENTENCES.split(said):
        if not part or not part.strip() or part.strip().endswith("?"):
            continue
        text = _headed(part.strip().rstrip(" .!:"))[1]
        whole = bool(STANDING.search(text) or ALWAYS.search(part))
        for piece in ASIDES.split(text):
            bare, standing = _bare(AFTERTHOUGHT.sub("", piece))
            found.append((bare, standing or whole))
    return found


def _read(sentence: str, rest: str) -> Iterator[Clause]:
    head, text = _headed(sentence.rstrip(" .!:"))
    rest = f"{rest} {head}"
    whole = _choice(_bare(text)[0], rest)
    if whole:
        yield whole
        return
    parts = SPLITS.split(text)
    found = []
    for index, part in enumerate(parts):
        around = " ".join([*parts[:index], *parts[index + 1 :], rest])
        clause = _one(part, around, " ".join(parts[index + 1 :]))
        if clause:
            found.append(clause)
    if (
        found
        and found[0].verb in ("use", "add")
        and STATEMENT.match(_bare(text)[0])
        and not STANDING.match(text)
    ):
        return  # "error messages must be neutral, no exclamation marks": the ban holds in error messages only
    yield from _joined(found)


def _headed(sentence: str) -> tuple[str, str]:
    """A head before a colon that narrows the rule, as something that may not be lost, and what follows it."""
    head, colon, text = sentence.partition(": ")
    if not colon or not text.strip():
        return "", sentence
    if HEAD.match(LEAD.sub("", head.split(", so ")[-1])):
        return "", text
    return ("unless " if NEGATIVE.search(text) or re.search(r"\buse\b", text) else ""), sentence


def _joined(found: list[Clause]) -> list[Clause]:
    """One rule in one breath: a ban and what to do instead, or several things that are banned alike."""
    if [clause.kind for clause in found] == ["ban", "order"]:
        ban, order = found
        alike = kind_of(ban.object) == kind_of(order.object) != "" and ban.verb == order.verb == "use"
        if not (ban.instead or order.standing or order.verb not in INSTEAD or alike):
            return [replace(ban, instead=f"{order.verb} {order.object}")]
    same = {(clause.kind, clause.verb) for clause in found} == {("ban", "use")}
    if 1 < len(found) <= 4 and same and not any(clause.instead for clause in found):
        things = [clause.object for clause in found]
        return [replace(found[0], object=f"{', '.join(things[:-1])} or {things[-1]}")]
    return found


def _bare(text: str) -> tuple[str, bool]:
    """Without the words around the clause, and whether it is meant for every time."""
    standing = False
    for _ in range(4):
        text = LEAD.sub("", text)
        shorter = STANDING.sub("", text)
        standing = standing or shorter != text
        if shorter == text:
            break
        text = shorter
    standing = standing or bool(
        re.search(
            r"\b(?:always|every time|from now on|in (?:the )?future|going forward)\W*$", text, re.IGNORECASE
        )
    )
    for _ in range(3):
        text = TRAIL.sub("", text).strip(" .!,:;")
        if not NEGATIVE.match(text):  # "don't run it every time" is not "don't run it"
            text = re.sub(r",?\s+(?:always|every time)$", "", text, flags=re.IGNORECASE)
    return text, standing


def _choice(text: str, rest: str) -> Clause | None:
    match = NAMED_AS.match(text)
    if match and kind_of(match["use"]) and kind_of(match["use"]) == kind_of(match["against"]):
        against = f"{match['against']} for {match['what']}"
        return Clause("choice", "use", match["use"], against=against, standing=True, rest=rest)
    for pattern in CHOICE:
        match = pattern.match(text)
        if match and pattern is BARE and kind_of(match["use"]) != kind_of(match["against"]):
            continue
        if match and pattern is BARE and not kind_of(match["use"]):
            continue
        if match and NO_THING.match(match["against"]):
            continue
        if match and len(match["use"].split()) <= 8 and len(match["against"].split()) <= 6:
            return Clause("choice", "use", match["use"], against=match["against"], standing=True, rest=rest)
    return None


def _one(part: str, rest: str, after: str) -> Clause | None:
    raw = part.strip(" .!,:;")
    text, standing = _bare(raw)
    standing = standing or ALWAYS_TOO.search(after) is not None or ALWAYS_TOO.search(rest) is not None
    chosen = _choice(text, rest)
    if chosen:
        return chosen
    for pattern in (BAN, STOP):
        match = pattern.match(text)
        if match:
            return _ban(match["vp"], rest, after)
    # LEAD takes a "no" away as an answer; here it is the rule itself
    plain = TRAIL.sub(
        "",
        re.sub(
            r"^\W*(?:(?:please|pls|ugh|and|but|so|also|from now on|ok)\b[\s,.:]*)+",
            "",
            raw,
            flags=re.IGNORECASE,
        ),
    ).strip(" .!,:;")
    match = STOP.match(plain)
    if match:
        return _ban(match["vp"], rest, after)
    return _ruled_out(part, plain, rest) or _told(text, standing, rest)


def _ruled_out(part: str, plain: str, rest: str) -> Clause | None:
    """Nouns with a no: "no lodash", "no prints please, we have a logger"."""
    reasoned = REASONED.match(plain)
    if reasoned:
        plain = TRAIL.sub("", reasoned["said"])
    match = NO.match(plain)
    if match and not re.match(
        (
            r"no\s+(?:idea|worries|problems?|need|longer|one|errors?|luck|dialogs?|rush|way|thanks"
            r"|wait|sir|bugs?|issues?|warnings?"
            r"|failures?|crash\w*|changes?|differences?|effect|reaction|results?|internet|connection"
            r"|clue|doubt|matter|wonder"
            r"|reason|time(?!\s+(?:estimates?|predictions?))|access|data|such|conflicts?|surprises?"
            r"|hurry|stress|that|it|this|just|use"
            r"|not|we|i|you|the|don)\b"
        ),
        plain,
        re.IGNORECASE,
    ):
        asked = re.search(
            r"\b(?:please|pls|ever|from now on|any ?more|anywhere|more)\b", f"{part} {rest}", re.IGNORECASE
        )
        # "no tests" may well be a complaint
        return None if WANTED.match(match["np"]) and not asked else _without(match["np"], rest)
    return None


def _told(text: str, standing: bool, rest: str) -> Clause | None:  # noqa: FBT001  (two words of one reading)
    """What is put off limits, what is used here, and what is ordered."""
    reasoned = REASONED.match(text)
    match = AVOID.match(text)
    if match:
        return _without(match["np"], rest)
    match = NOTHING.match(text)
    if match and base_of(match["done"]):
        thing = f"anything {match['how']}".strip()
        return Clause("ban", str(base_of(match["done"])), thing, standing=True, rest=rest)
    for pattern in (OFF, LEAVE):
        match = pattern.match(reasoned["said"] if reasoned else text)
        if match:
            path = pattern is LEAVE or re.search(r"[/._](?!.*\()", match["np"])
            where = match.groupdict().get("where") or ""
            return Clause("ban", "touch" if path else "use", match["np"] + where, standing=True, rest=rest)
    match = MANNER.match(text)
    if match:
        return Clause("ban", "use", match["np"], standing=True, rest=rest)
    match = ASKING_FIRST.match(text)
    if match:
        ban = _ban(match["vp"], rest)
        how = f" without {HOW_ASKED[match['how'].lower()]} the user"
        return replace(ban, object=ban.object + how) if ban and not ban.instead else None
    match = WE_USE.match(text)
    plain_use = match and re.match(r"we use|we're on|stick", text, re.IGNORECASE)
    if match and len(match["use"].split()) <= 6 and (kind_of(match["use"]) or not plain_use):
        return Clause("order", "use", match["use"], standing=True, rest=rest)
    first, _, after = text.partition(" ")
    if first.lower() in BASE and after and not FINITE.match(after) and not COMPOUND.match(text):
        standing = standing or STYLE.match(text) is not None or EACH.search(text) is not None
        return Clause("order", first.lower(), after, standing=standing, rest=rest)
    return None


def _ban(phrase: str, rest: str, after: str = "") -> Clause | None:
    phrase = re.sub(r"^force[ -]push", "force-push", phrase, flags=re.IGNORECASE)
    phrase = COMMAND.sub(r"run \g<0>", phrase)
    phrase = REASON.sub("", re.sub(r"\s*\([^)]*\)?", "", phrase))
    if MIXED.search(phrase) or EVERY_TIME.search(re.split(r"[,;]", phrase)[0]):
        return None
    limit = LIMIT.match(after)
    if limit:
        return _limited(phrase, rest, after.strip(" .!"), limit.end())
    adverb = ADVERB.match(phrase)
    phrase = phrase[adverb.end() :] if adverb else phrase
    verb, _, thing = re.sub(r"^([^\s,;]+)[\s]+", r"\1\0", phrase).partition("\0")
    if re.search(r"[,;]", verb):  # "don't rebase, history is append only": nothing follows the verb
        verb, thing = re.split(r"[,;]", verb, maxsplit=1)[0], ""
    low = verb.lower()
    if low in IDLE:
        return None
    base = low if low in BASE else gerunds().get(low)
    if base is None or base in ("forget", "let"):
        return None
    instead = ""
    match = re.search(
        r"[,;]\s*(?:but |just |please |instead )*(?P<instead>(?P<verb>[a-z'-]+).*)$", thing, re.IGNORECASE
    )
    if match:
        if LISTED.fullmatch(match["instead"]) and match["verb"].lower() not in BASE:
            pass  # "tokens, passwords or emails" is one thing
        elif match["verb"].lower() not in LASTING_VERBS:
            thing = thing[: match.start()]
            rest = f"{rest} {match['instead']}"
        else:
            thing, instead = thing[: match.start()], match["instead"]
    if re.search(r"\b(?:use|but)\b", thing, re.IGNORECASE):
        return None
    said = f"{adverb[0].strip().lower()} {base}" if adverb else base
    return Clause("ban", said, thing.strip(), instead=instead, standing=True, rest=rest)


def _limited(phrase: str, rest: str, after: str, end: int) -> Clause | None:
    """A ban with a limit keeps it, "don't run all, only the tests you changed"; "just answer" after one is none."""
    verb = after[end:].strip().split(" ", 1)[0].lower()
    ban = _ban(phrase, rest.replace(after, " "))
    if ban is None or ban.instead or "," in after:
        return None
    if verb in BASE and verb != ban.verb:
        return (
            replace(ban, instead=after[end:].strip())
            if verb in INSTEAD or " " not in after[end:].strip()
            else ban
        )
    return (
        replace(ban, object=f"{ban.object}, {after}")
        if NOUN_LIMIT.match(after) and verb not in BASE
        else None
    )


def _without(thing: str, rest: str) -> Clause | None:
    first = thing.split(maxsplit=1)[0].lower()
    if first in gerunds():
        return _ban(thing, rest)
    if re.match(r"force[ -]push\w*", thing, re.IGNORECASE):
        return _ban(thing, rest)
    if re.search(
        r"\b(?:is|are|was|were|has|have|will|can|does|do|did|should|appear\w*|in sight|found|changes?)\b",
        thing,
        re.IGNORECASE,
    ):
        return None
    return Clause("ban", "add" if ADDED.search(thing) else "use", thing, standing=True, rest=rest)
