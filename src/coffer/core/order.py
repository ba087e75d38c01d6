"""The person's direct order of a rule: "remember: never push to main", "new rule: …".

A direct order is active at once (DESIGN section 7), so only words that can't be meant otherwise are one: a
reminder of a task ("remember to add tests for X"), a memory ("remember that bug?") and rules of the product ("add
a rule to the linter: …") are none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from coffer.core.classify.decide import WORTH_A_RULE, Judged
from coffer.core.regex import regex
from coffer.core.rule import is_hard
from coffer.core.wording import Worded, own_words, quoted, word

LONGEST = 400
"""An order longer than this is a document."""


@dataclass(frozen=True, slots=True)
class Order:
    """words: of the rule, one line, without the words that order it. hard: they ask for a hard rule."""

    words: str
    hard: bool


_POLITE = (
    r"(?:\W*(?:please|pls|hey|ok(?:ay)?|and|also|oh|so|yes|no|great|good|nice|thanks|btw|bitte|por favor)\b"
    r"[\s,.:!]*)*"
)
_NOT_OR_ALWAYS = (
    r"(?:never|always|don['’]?t|do not|not to|no\s|only|immer|nie(?:mals)?|kein\w*|nicht|toujours|jamais"
    r"|ne\s|siempre|nunca|no\s|sempre|mai|non\s|n[ãa]o\s|всегда|никогда|не\s)"
)
MARKERS: tuple[re.Pattern[str], ...] = tuple(
    regex(rf"^{_POLITE}(?:{marker})(?P<words>.+)$", re.IGNORECASE | re.DOTALL)
    for marker in (
        # a mark and a colon: what follows is the rule
        (
            r"(?:remember(?: (?:this|that))?(?: for (?:next time|later|the future))?|memori[sz]e(?: this)?"
            r"|write (?:this|that) down|keep (?:this )?in mind(?: for (?:the future|next time|later))"
            r"|(?:save|put|commit|add|store)(?: this)? (?:in|to|into) (?:your |the )?memory"
            r"|add to (?:your |the )?memory)\s*[:–—-]\s*"
        ),
        (
            r"(?:from now on[,:]? )?(?:(?:here(?:'s| is) )?(?:a |one |another )?(?:new|standing|general|house) rule"
            r"|(?:here(?:'s| is) )?(?:a|one more|another|one) rule(?: (?:for you|from me|for (?:the )?future))?|rule"
            r"|add (?:this|that|the following) (?:as a rule|to (?:your|the|my) rules)|add to (?:your|my|the) rules"
            r"|make (?:this|it|that) a rule|add a rule(?: for yourself)?)\s*[:–—-]\s*"
        ),
        r"(?:(?:a )?note )?for (?:the future|future reference|next time|all future (?:tasks|sessions))\s*[:–—-]\s*",
        (
            r"(?:merk(?:e)? dir(?: bitte)?(?: (?:das|für die zukunft))?|(?:neue |eine neue )?regel|notier dir"
            r"|ab (?:jetzt|sofort) gilt|für die zukunft)\s*[:–—-]\s*"
        ),
        (
            r"(?:retiens(?: bien)?(?: (?:ça|ceci))?|(?:nouvelle )?règle|(?:note )?pour l['’]avenir|à retenir"
            r"|souviens-toi)\s*[:–—-]\s*"
        ),
        (
            r"(?:recuerda(?: esto)?|(?:nueva )?regla|(?:nota )?para el futuro|apunta|lembre-se|(?:nova )?regra"
            r"|(?:nota )?para o futuro|anota|ricorda(?:ti)?|(?:nuova )?regola|per il futuro)\s*[:–—-]\s*"
        ),
        r"(?:запомни|(?:новое )?правило|на будущее)\s*[:–—,-]\s*",
        r"(?:请?记住|新规则|规则|新规定|覚えておいて|覚えて|新しいルール|ルール)(?:[:：,，、。]|\s-)\s*",
        # no colon: then the words must forbid or hold for always, or it is a reminder
        (
            r"(?:remember|keep in mind|memori[sz]e)(?:[,:]| that)?\s+(?:(?:to|you|we|must|should)\s+)*"
            rf"(?={_NOT_OR_ALWAYS})"
        ),
        (
            r"(?:merk(?:e)? dir|retiens|recuerda|lembre-se|ricorda(?:ti)?|запомни)[, ]+"
            rf"(?:que |che |dass |de |di |что )?(?={_NOT_OR_ALWAYS})"
        ),
    )
)
PRODUCT = regex(
    r"^(?:allow|deny|block|redirect|match|permit|drop|accept|reject|if|all (?:users|requests|traffic)|users?\b"
    r"|max|min|alert|on|every (?:user|request))\b",
    re.IGNORECASE,
)
"""How rules of a firewall, a form or a linter begin; none of them is about the agent."""
NEXT_TASK = regex(
    r"^\W*(?:now|next|then|ok(?:ay)?|and now|anyway|back to|so|can you|could you|please|jetzt|maintenant|ahora|现在)\b",
    re.IGNORECASE,
)


def order(text: str) -> Order | None:
    """The rule that the person orders outright, or None. text: the person's own words (`spoken.hear`)."""
    head = text[: 2 * LONGEST].strip()
    if len(text) > 2 * LONGEST:
        return None
    for marker in MARKERS:
        match = marker.match(head)
        if match:
            return _ordered(match["words"])
    return None


def order_wording(words: str, turn: str, before: str, tools: tuple[str, ...], judged: Judged) -> Worded:
    """The wording of an order: the safe wording, or else the person's own words, if they are one clean sentence.

    words: `Order.words`; turn: the whole turn, which is quoted. `safe` is False and `why` says the reason where
    neither can be had.
    """
    forced = judged if judged.label in WORTH_A_RULE else replace(judged, label="EXPLICIT_CORRECTION")
    worded = replace(word(words, before, tools, forced), after=quoted(turn))
    if worded.safe:
        return replace(worded, signal="The user ordered it.")
    text, title, why = own_words(words)
    if not text:
        return replace(worded, why=why or worded.why)
    return replace(worded, text=text, title=title, safe=True, why="", signal="The user ordered it.")


def _ordered(words: str) -> Order | None:
    lines = [line.strip(" -*•\t") for line in words.strip().splitlines() if line.strip()]
    if not lines:
        return None
    sentences = [part for part in re.split(r"(?<=[.!;])\s+|(?<=[。！；])\s*", lines[0]) if part]
    kept = [sentences[0]]
    for sentence in sentences[1:]:
        if NEXT_TASK.match(sentence):
            break
        kept.append(sentence)
    said = " ".join(part.strip() for part in kept).strip(" \"'“”")
    if not said or len(said) > LONGEST or "?" in said or "？" in said or PRODUCT.match(said):
        return None
    if len(said.split()) < 2 and said.isascii():
        return None
    return Order(said, is_hard(said))
