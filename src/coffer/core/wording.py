"""From a turn to a rule: a prohibition in one or two sentences that says what the person said, or nothing.

The polarity is never guessed. A rule is formed only from a clause that forbids, that names one thing and not
another, or that orders something for every time; it keeps the person's words. Questions, pronouns without a
referent, several rules at once, and conditions that would be lost end as "not safe", and the caller keeps a
quoted observation that a person can word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coffer.core.classify.decide import NOTHING_THERE, WORTH_A_RULE, Judged
from coffer.core.classify.spoken import hear
from coffer.core.norms import norm
from coffer.core.phrase_forms import DID_THAT, PASTS
from coffer.core.phrases import Clause, clauses, statements
from coffer.core.phrases_abroad import foreign_rule, is_foreign
from coffer.core.regex import regex
from coffer.core.tables import kind_of
from coffer.core.verbs import BASE, base_of

LONGEST_RULE = 220
LONGEST_SAID = 500
QUOTED = 160
TITLE = 64

TRIGGERS = {
    "git": "Any git operation",
    "testing": "Writing, changing or running tests",
    "dependencies": "Any package installation or change of dependencies",
    "security": "Anything that touches secrets, production or private data",
    "docs": "Writing documentation",
    "communication": "Any message to the user",
    "files": "Any change of files",
    "tools": "Choosing a tool or command",
    "planning": "Planning and starting work",
    "code-style": "Writing or changing code",
    "other": "Any work",
}
LOST = regex(
    r"(?:^|[.!?]\s+)only (?:the|those|that|what|for|in|on|with|big|small)\b|\b(?:unless|except"
    r"|only (?:if|when|for|in)|if (?:you|it|there|we|i)|otherwise|until"
    r"|normally|usually|mostly|this (?:time|once|one|pr|branch|ticket|task)"
    r"|for (?:now|this|today|the (?:moment|time being))|today|not yet|right now|in this (?:pr"
    r"|branch|ticket|round)|later|tomorrow|next ones? you can)\b",
    re.IGNORECASE,
)
"""A condition or a limit in time; outside the rule's own clause it would be lost."""

ALTERNATIVE = regex(
    r"^(?:if you (?:need|want|must|have to)\b(?!.*\b(?:ok(?:ay)?|fine|can|may|allowed|ask|then|unless"
    r"|except|only)\b).*"
    r"|(?:use|look at|read|ask|see) .{3,60} if you (?:need|want|must|have to)\b.{0,40})$",
    re.IGNORECASE,
)
POINTING = regex(
    (
        r"(?:^|\s)(?:it|that|this|these|those|them|they|one|ones|such|like that|like this|so|here"
        r"|there|above|below|again|he|she|him|her|same|stuff like)(?=$|[\s,.;:!)])"
    ),
    re.IGNORECASE,
)
BOUND = regex(
    r"\b(?:this|that|these|those) (?:repo(?:sitory)?|project|code ?base|team|app|company"
    r"|library|package|monorepo|engine|machine|computer)\b|\bsays so\b|\bthe same (?=\w)"
    r"|\bone (?=\w)|\bsuch as\b|\bso that (?=\w)"
    r"|(?<=\w )that (?=(?:have|has|had|are|is|were|was|you|do|does|need|needs|already|belong"
    r"|restate|say)\b)|\b(?:which|who) (?=\w)",
    re.IGNORECASE,
)
"""Uses of those words that point at nothing outside the clause."""

UNDONE = regex(
    r"\b(?:that |which )?(?:you|nobody|no one|the user) (?:(?:did|have|do|are)(?: not|n['’]?t)|never)? ?"
    r"(?:chang\w*|touch\w*|creat\w*|writ\w*|wrote|edit\w*|ask\w*(?: for)?|want\w*|own|made|add\w*|need\w*)\b",
    re.IGNORECASE,
)
"""A relative clause with a negation of its own, which turns nothing: "code you didn't change"."""

PERSON = (
    (r"\bi (ask|say|tell|approve|confirm|request|agree)\b", r"the user \1s"),
    (r"\bi(?:'ve| have) (asked|said|told|approved|confirmed|requested|agreed|seen)\b", r"the user has \1"),
    (r"\bi (didn['’]?t|did not|never) (ask\w*|want\w*|request\w*)\b", r"the user \1 \2"),
    (r"\bi(?:'m| am)\b", "the user is"),
    (r"\bi (wrote|created|made|wanted|saw|own)\b", r"the user \1"),
    (r"\bmy\b", "the user's"),
    (r"\bme\b", "the user"),
    (r"\bmyself\b", "the user"),
    (r"\bmine\b", "the user's"),
)
SUBJECT = regex(r"\b(?:i|i'm|i'll|i've|i'd|we|we're|we've|us|ours|he|she|they)\b", re.IGNORECASE)
IMPERATIVE = regex(
    rf"(?:please )?(?:always |never |only |don['’]?t |do not |no |before |after |when(?:ever)? |for |in )"
    rf"|(?:{'|'.join(sorted(BASE))})\b|[\w ,/-]+ (?:must|should|has to|have to|need to|needs to|goes?|belongs?) ",
    re.IGNORECASE,
)
"""How an instruction begins."""
UNFIT = regex(r"[:;]-?[()]|[\x00-\x1f\x7f<>#|]|<!--|…|```|\?")


@dataclass(frozen=True)
class Worded:
    """A rule and what belongs to it in the digest; when it is not safe, `text` is empty and `why` says the reason."""

    text: str
    title: str
    scope: str
    trigger: str
    before: str
    after: str
    signal: str
    safe: bool
    why: str


def word(turn: str, before: str, tools: Sequence[str], judged: Judged) -> Worded:
    """The rule of a judged turn, if it can be worded safely."""
    heard = hear(turn)
    text, title, why = "", "", ""
    if judged.label not in WORTH_A_RULE:
        why = "not worth a rule"
    elif len(heard.text) > LONGEST_SAID:
        why = "said at length"
    elif heard.document or not heard.text:
        why = "pasted or written by a program"
    elif NOTHING_THERE.search(heard.text):
        why = "reports that nothing was there"
    else:
        text, title, why = _rule(heard.text)
    scope = judged.scope or "other"
    return Worded(
        text=text,
        title=title,
        scope=scope,
        trigger=TRIGGERS.get(scope, TRIGGERS["other"]),
        before=_doing(before, tools),
        after=quoted(turn),
        signal=f"The user {judged.reason.split(';')[0]}." if judged.reason and text else "",
        safe=bool(text),
        why=why,
    )


def quoted(turn: str) -> str:
    """What the person said, as `After` quotes it: one line, shortened."""
    return f'User said "{_shortened(_line(hear(turn).text).replace(chr(34), chr(39)), QUOTED)}"'


def own_words(said: str) -> tuple[str, str, str]:
    """A rule that is the person's own words, its title, and why there is none.

    Only for what was ordered outright. One sentence that is complete without the talk around it; nothing is
    turned round, so the polarity is the person's.
    """
    text = _named(_line(said)).strip(" .!。")
    if not text or len(re.findall(r"[.!?;。！？；](?:\s|$)", text)):
        return "", "", "not one sentence"
    if _loose(text):
        return "", "", _loose(text)
    if not is_foreign(text) and not IMPERATIVE.match(text):
        return "", "", "not an instruction"
    full = "。" if re.search(r"[぀-ヿ一-鿿]", text) else "."
    return _checked(text[:1].upper() + text[1:] + full, text)


def _rule(said: str) -> tuple[str, str, str]:
    """Text, title, and why there is none."""
    if is_foreign(said):
        text, why = foreign_rule(said)
        return (text, _shortened(text.rstrip(".。!"), TITLE), "") if text else ("", "", why)
    found = clauses(said)
    bans = [clause for clause in found if clause.kind == "ban"]
    orders = [clause for clause in found if clause.kind == "order"]
    choices = [clause for clause in found if clause.kind == "choice"]
    if len(bans) + len(choices) + sum(order.standing for order in orders) > 1:
        return _pair(bans, choices, orders)
    if any(LOST.search(_without_alternative(clause)) for clause in found):
        return "", "", "a condition would be lost"
    if choices:
        return _choice(choices[0])
    if bans:
        paired = _pair(bans, choices, orders) if orders else ("", "", "")
        return paired if paired[0] else _ban(bans[0], None)
    standing = [order for order in orders if order.standing]
    if standing and len(orders) > 1:
        return "", "", "several orders in one turn"
    return _order(standing[0]) if standing else _norm(said)


def _deed(said: str) -> tuple[str, str, str]:
    """A ban of what the agent did: "you edited the lockfile. never do that"."""
    match = DID_THAT.search(said)
    verb = (match["base"] or match["past"]).lower() if match else ""
    base = PASTS.get(verb) or base_of(verb) if verb else None
    if match is None or base is None or (match["base"] and verb not in BASE) or LOST.search(said):
        return "", "", "nothing that forbids or orders in so many words"
    return _ban(Clause("ban", base, re.sub(r"\s+again$", "", match["thing"])), None)


def _without_alternative(clause: Clause) -> str:
    """What else was said, without a sentence that says what to do where one would need the banned thing.

    "Don't open .env. If you need names look at .env.example" takes nothing back; "if tests pass you can" does.
    """
    kept = []
    for part in re.split(r"(?<=[.!?])\s+", clause.rest):
        away = ALTERNATIVE.match(part) if clause.kind == "ban" else None
        if away is None or re.search(rf"\b{re.escape(clause.verb)}\w*\b", part, re.IGNORECASE):
            kept.append(part)
    return " ".join(kept)


def _norm(said: str) -> tuple[str, str, str]:
    """A statement of how things are done, in the person's words."""
    found, lost = [], ""
    for sentence, standing in statements(said):
        text = norm(sentence, standing=standing)
        if text and not _loose(_named(text)):
            found.append(_named(text))
        elif found and (
            LOST.search(sentence) or re.match(r"(?:only|just|except|but|unless)\b", sentence, re.IGNORECASE)
        ):
            lost = "a condition would be lost"
    if lost:
        return "", "", lost
    if not found:
        return _deed(said)
    if len(found) != 1:
        return "", "", "several rules in one turn"
    return _checked(f"{found[0][:1].upper()}{found[0][1:]}.", found[0])


def _pair(bans: list[Clause], choices: list[Clause], orders: list[Clause]) -> tuple[str, str, str]:
    """A ban and what to use instead of what it bans is one rule; all else is several."""
    if len(bans) == 1 and not choices and len(orders) == 1 and orders[0].verb == "use":
        ban, order = bans[0], orders[0]
        kinds = {kind_of(part) for part in re.findall(r"[\w.-]+", ban.object)}
        if ban.verb != "use" and kind_of(order.object) in kinds - {""} and order.object not in ban.object:
            return _ban(ban, f"use {order.object}")
        if (
            ban.verb == "use"
            and not LOST.search(ban.rest + " " + order.rest)
            and kind_of(ban.object) == kind_of(order.object) != ""
        ):
            return _choice(Clause("choice", "use", order.object, against=ban.object))
    return "", "", "several rules in one turn"


def _choice(clause: Clause) -> tuple[str, str, str]:
    use, avoid = _named(clause.object), _named(clause.against)
    why = _unsafe(use) or _unsafe(avoid)
    if why or not use or not avoid:
        return "", "", why or "nothing named"
    return _checked(f"Do not use {avoid}; use {use}.", f"{use}, not {avoid}")


def _ban(clause: Clause, instead: str | None) -> tuple[str, str, str]:
    thing = _named(clause.object)
    why = _unsafe(thing)
    if why:
        return "", "", why
    if not thing and clause.verb not in {
        "push",
        "commit",
        "force-push",
        "merge",
        "rebase",
        "amend",
        "squash",
        "stash",
        "guess",
        "apologise",
        "apologize",
        "force-merge",
    }:
        return "", "", "nothing named"
    after = instead or clause.instead
    if after:
        after = _named(after)
        if LOST.search(after):
            return "", "", "what to do instead is not clear"
        if _unsafe(re.sub(r"\b(?:a new|the existing) one\b", "", after)):
            after = ""
    said = f"{clause.verb} {thing}".strip()
    return _checked(f"Do not {said}; {after}." if after else f"Do not {said}.", f"Do not {said}")


def _order(clause: Clause) -> tuple[str, str, str]:
    thing = _named(clause.object)
    why = _unsafe(thing)
    if why == "a second negation" and clause.verb != "use":
        return own_words(f"{clause.verb} {thing}")  # "fix the code, not the test" stays as it was said
    if re.search(
        r"\bor\b.*\b(?:stops?|breaks?|fails?|will|is|are|get|have)\b|\b(?:is|are|was|were) \w+", thing
    ):
        why = why or "holds a whole sentence"
    if why or not thing:
        return "", "", why or "nothing named"
    if clause.verb == "use":
        kind = kind_of(thing)
        if kind:
            return _checked(f"Do not use other {kind}; use {thing}.", f"Only {thing}")
        return _checked(f"Do not use anything other than {thing}.", f"Only {thing}")
    return _checked(f"Do not forget to {clause.verb} {thing}.", f"{clause.verb.capitalize()} {thing}")


def _checked(text: str, title: str) -> tuple[str, str, str]:
    if len(text) > LONGEST_RULE:
        return "", "", "too long for a rule"
    if UNFIT.search(text):
        return "", "", "holds a quote or signs that a rule must not have"
    return text, _shortened(title[:1].upper() + title[1:], TITLE), ""


def _named(thing: str) -> str:
    for pattern, other in PERSON:
        thing = re.sub(pattern, other, thing, flags=re.IGNORECASE)
    thing = re.sub(
        r"(?:\s+(?:here|please|pls|btw|instead|everywhere|(?:in|on) this (?:repo|project|codebase|team)))+$",
        "",
        thing,
        flags=re.IGNORECASE,
    )
    return thing.strip(" ,;:!-–—").rstrip(" .")


def _unsafe(thing: str) -> str:
    if re.fullmatch(r"(?:any|some|every|no)(?:thing|one|body)", thing, re.IGNORECASE):
        return "nothing named"
    if _loose(thing):
        return _loose(thing)
    loose = UNDONE.sub(" ", BOUND.sub(" ", thing))
    if re.search(
        r"\b(?:not|never|no|don'?t|isn'?t|can'?t|nothing|none|nobody)\b|n't\b", loose, re.IGNORECASE
    ):
        return "a second negation"
    if re.search(
        r"\b(?:today|this time|for now|yet|right now|this once|at the moment)\b", loose, re.IGNORECASE
    ):
        return "holds for this time only"
    return ""


def _loose(thing: str) -> str:
    """What in the words points out of the sentence."""
    loose = BOUND.sub(" ", thing)
    if POINTING.search(loose):
        return "points at something outside the sentence"
    return "speaks of persons" if SUBJECT.search(loose) else ""


def _doing(before: str, tools: Sequence[str]) -> str:
    """What the agent had just done: its last words, or its last tool and what that was used on."""
    line = _line(before)
    if line:
        return _shortened(line, QUOTED) if len(line) <= QUOTED else "…" + line[-QUOTED:].lstrip()
    if not tools:
        return ""
    name, _, target = _line(tools[-1]).partition(" ")
    return _shortened(f"Used {name} on {target}" if target else f"Used {name}", QUOTED)


def _line(text: str) -> str:
    return " ".join(text.split())


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0] + "…" if " " in text[: most - 1] else text[: most - 1] + "…"
