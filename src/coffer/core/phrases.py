"""Clauses that forbid, choose or order, as people write them to an agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from coffer.core.tables import kind_of
from coffer.core.verbs import BASE, IDLE, gerunds, word_set

SENTENCES = re.compile(r"(?<=[!?;。！？])\s*|(?<=\.)\s+|\n+|\s+[-–—]+\s+")
LEAD = re.compile(
    r"""^(?:\W*(?:no+|nope|nah|ok(?:ay)?|yes|yep|hey|hm+|ugh|lol|dude|man|omg|and|but|so|also|just|please|pls
  |plz|btw|by\ the\ way|fyi|well|oh|then|thanks|thank\ you
      |great|good|nice|fine|perfect|seriously|honestly|look|listen|guys|again|really|sorry|in\ general
        |generally|for\ the\ future|one\ thing|small\ thing|remember|note
      |as\ (?:i|we)\ said|i\ said|like\ i\ said|heads\ up|in\ this\ (?:repo|project|codebase)|in\ (?:the
        |our)\ (?:repo|project)|here|in\ here|you\ (?:should|must))\b[\s,:;.!–—-]*)+""",
    re.IGNORECASE | re.VERBOSE,
)
STANDING = re.compile(
    r"""^(?:\W*(?:from\ (?:now|here)\ on(?:wards)?|going\ forward|in\ (?:the\ )?future
      |(?:next|every)\ time(?!\ (?:you|we|i|it|the|there)\b)
  |always|please\ always|make\ sure\ (?:to\ always|you\ always)|(?:i|we)\ (?:always\ )?want\ you\ to|we\ always
      |in\ all\ my\ projects|everywhere|for\ (?:every|all)\ \w+)\b[\s,:;]*(?:please\b[\s,]*)?)+""",
    re.IGNORECASE | re.VERBOSE,
)
TRAIL = re.compile(
    r"""[\s,]*\b(?:please|pls|plz|ok|okay|thanks|thank\ you|thx|any\ ?more|ever\ again|again|ever|btw|man|dude
  |here|around\ here|at\ all|from\ now\ on|in\ (?:the\ )?future|going\ forward|too|instead|
      in\ general)\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
NOT = (
    r"(?:do\s?n['’o]?t|don’t|do not|never(?: ever)?|must(?: not|n'?t)|should(?: not|n'?t)"
    r"|may not|(?:i )?(?:do not|don'?t) want you to)"
)
BAN = re.compile(rf"^(?:we |you (?=must|should|may))?(?:{NOT})\s+(?:ever )?(?P<vp>.+)$", re.IGNORECASE)
"""Never "you never test this": that is a complaint, and the rule is its opposite."""
NEGATIVE = re.compile(rf"(?:we |you )?{NOT}\b|(?:stop|quit|avoid|no|not)\b", re.IGNORECASE)
STOP = re.compile(
    r"^(?:stop|quit|avoid|no more|refrain from|no)\s+(?P<vp>[\w-]+ing\b.*|force.push.*)$", re.IGNORECASE
)
NO = re.compile(
    r"^(?:no|zero|absolutely no)\s+(?P<np>[\w@.`/*'’-]+(?:\s+[\w@.`/*'’-]+){0,5})$", re.IGNORECASE
)
OFF = re.compile(
    (
        r"^(?P<np>[\w@.`/*-]+(?:\s+[\w@.`/*-]+){0,3})\s+(?:is|are)\s+(?:off limits|forbidden"
        r"|banned|not allowed|taboo|a no.go)$"
    ),
    re.IGNORECASE,
)
LEAVE = re.compile(
    (
        r"^(?:leave|keep your hands off"
        r"|hands off)\s+(?P<np>[\w@.`/*-]+(?:\s+[\w@.`/*-]+){0,5}?)(?:\s+(?:alone|as (?:is|it is"
        r"|they are)|untouched|be))$"
    ),
    re.IGNORECASE,
)
USE = (
    r"(?:we (?:only |always |just )?use|we're on|we are on|use|stick (?:to|with)|go with"
    r"|prefer|i (?:prefer|want|use)|switch to)"
)
BARE = re.compile(r"^(?P<use>[\w@./`-]+(?: [\w@./`-]+)?)(?:,)? not (?P<against>[\w@./`-]+)$", re.IGNORECASE)
CHOICE = (
    re.compile(
        (
            rf"^{USE}\s+(?P<use>[^,]+?)(?:,\s*|\s+(?:and|but)\s+|\s+)(?:not|never|no|instead of"
            rf"|rather than|in place of)\s+(?:use\s+|using\s+)?(?P<against>[^,]+)$"
        ),
        re.IGNORECASE,
    ),
    re.compile(
        (
            rf"^(?:do\s?n['’o]?t|do not|never|not)\s+use\s+(?P<against>[^,;]+?)[,;]\s*(?:but\s+"
            rf"|please\s+)?{USE}\s+(?P<use>[^,]+)$"
        ),
        re.IGNORECASE,
    ),
    re.compile(
        (
            r"^no\s+(?P<against>[\w@.`/-]+(?:\s[\w@.`/-]+)?)[,;]\s*(?:but\s+|only\s+)?(?:use|we use"
            r"|we only use|please use)\s+(?P<use>[^,]+)$"
        ),
        re.IGNORECASE,
    ),
    BARE,
    re.compile(r"^instead of\s+(?P<against>[^,]+),\s*(?:please\s+)?use\s+(?P<use>[^,]+)$", re.IGNORECASE),
)
NO_THING = re.compile(
    r"(?:because|only|just|sure|yet|for|in|on|at|when|as|to|that|necessarily|always|every|all|until|before|after|if|need|problem"
    r"|worries|idea|rush|matter|longer|more|so|too|very|really|even|like|the way|how|what|why)\b",
    re.IGNORECASE,
)
"""What may stand after "not" without being an alternative."""
WE_USE = re.compile(
    (
        r"^(?:we (?:only |always )?use|we're on|always use|only use"
        r"|use only)\s+(?P<use>[^,]+?)(?:\s+(?:here|in this (?:repo|project)|for everything"
        r"|everywhere))?$"
    ),
    re.IGNORECASE,
)
WANTED = re.compile(
    r"(?:\w+ )?(?:tests?|docs?|documentation|docstrings?|types?|annotations?|logs?|logging|validation|checks?|readme"
    r"|changelog|entry|error handling|comments?|commits?|output|response|review|backup|migration|sign|trace|summary)$",
    re.IGNORECASE,
)
ADDED = re.compile(
    (
        r"\b(?:deps?|dependenc\w+|packages?|comments?|docstrings?|files?|headers?|trailers?|lines?"
        r"|tests?|badges?|readmes?|attribution|footers?|annotations?|prints?)\b"
    ),
    re.IGNORECASE,
)

LISTED = re.compile(r"[\w -]{1,30}(?:, [\w -]{1,30})*,? (?:or|and) [\w -]{1,30}")
ADVERB = re.compile(r"(?:automatically|directly|blindly|silently|manually|proactively)\s+", re.IGNORECASE)
REASON = re.compile(
    (
        r"\s*,?\s*\b(?:because|since|cause|'cause|as (?:it|that|this|they|we|i)|so that (?:it|we"
        r"|i)|otherwise|or (?:it|they|we|i|you|else)|it(?:'s| is| will| just)|that(?:'s| is| will"
        r"| just)|they (?:are|will|get))\b.*$"
    ),
    re.IGNORECASE | re.DOTALL,
)
MIXED = re.compile(
    rf"\b(?:and|but|then)\s+(?:please |then |just |instead )*(?:{'|'.join(sorted(BASE))})\b", re.IGNORECASE
)
"""A ban and an order in one breath: what is forbidden ends somewhere that we can't see."""
EVERY_TIME = re.compile(
    r"\b(?:every time|each time|always|all the time|everything|just|only)\b", re.IGNORECASE
)
"""Under a negation these turn "all" into "not all"."""
LIMIT = re.compile(r"\W*(?:only|just)\b", re.IGNORECASE)
COMMAND = re.compile(
    r"^`?(?:git|npm|npx|pnpm|yarn|pip|docker|kubectl|helm|cargo|curl|sudo|rm|sed|make|terraform|brew|apt)\s+[\w.-]"
)
LASTING_VERBS = word_set(
    "use put keep write ask add make show leave run open create prefer call give let start stick"
)
"""What to do instead is kept if it is a way of working, and not the task in hand ("fix pricing.py")."""


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


def _read(sentence: str, rest: str) -> Iterator[Clause]:
    text = sentence.rstrip(" .!:")
    whole = _choice(_bare(text)[0], rest)
    if whole:
        yield whole
        return
    parts = re.split(
        (
            r",\s+(?=(?:and |but |so |please |then )*(?:do\s?n[o'’]?t|do not|never|no|use|stop|leave"
            r"|just|always|we|only|it|that|i|you|the)\b)|\s+(?:but"
            r"|and)\s+(?=(?:please )?(?:do\s?n[o'’]?t|do not|never|stop|always)\b)"
        ),
        text,
    )
    for index, part in enumerate(parts):
        around = " ".join([*parts[:index], *parts[index + 1 :], rest])
        clause = _one(part, around, " ".join(parts[index + 1 :]))
        if clause:
            yield clause


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
            r"^\W*(?:(?:please|pls|ugh|and|but|also|from now on|ok)\b[\s,.:]*)+", "", raw, flags=re.IGNORECASE
        ),
    ).strip(" .!,:;")
    match = STOP.match(plain)
    if match:
        return _ban(match["vp"], rest, after)
    match = NO.match(plain)
    if match and not re.match(
        (
            r"no\s+(?:idea|worries|problems?|need|longer|one|errors?|luck|dialogs?|rush|way|thanks|wait|sir|bugs?|issues?|warnings?"
            r"|failures?|crash\w*|changes?|differences?|effect|reaction|results?|internet|connection|clue|doubt|matter|wonder"
            r"|reason|time|access|data|such|conflicts?|surprises?|hurry|stress|that|it|this|just|use|not|we|i|you|the|don)\b"
        ),
        plain,
        re.IGNORECASE,
    ):
        asked = re.search(
            r"\b(?:please|pls|ever|from now on|any ?more|anywhere|more)\b", f"{part} {rest}", re.IGNORECASE
        )
        # "no tests" may well be a complaint
        return None if WANTED.match(match["np"]) and not asked else _without(match["np"], rest)
    for pattern in (OFF, LEAVE):
        match = pattern.match(text)
        if match:
            path = pattern is LEAVE or re.search(r"[/._]", match["np"])
            return Clause("ban", "touch" if path else "use", match["np"], rest=rest)
    match = WE_USE.match(text)
    plain_use = match and re.match(r"we use|we're on", text, re.IGNORECASE)
    if match and len(match["use"].split()) <= 6 and (kind_of(match["use"]) or not plain_use):
        return Clause("order", "use", match["use"], standing=True, rest=rest)
    first, _, after = text.partition(" ")
    if first.lower() in BASE and after:
        return Clause("order", first.lower(), after, standing=standing, rest=rest)
    return None


def _ban(phrase: str, rest: str, after: str = "") -> Clause | None:
    phrase = re.sub(r"^force[ -]push", "force-push", phrase, flags=re.IGNORECASE)
    phrase = COMMAND.sub(r"run \g<0>", phrase)
    phrase = REASON.sub("", re.sub(r"\s*\([^)]*\)?", "", phrase))
    if MIXED.search(phrase) or EVERY_TIME.search(re.split(r"[,;]", phrase)[0]) or LIMIT.match(after):
        return None
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
