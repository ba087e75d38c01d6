"""Signs by which a turn is worth asking about: forms in which people correct politely.

Each is transparent and says why; none is evidence by itself. They widen what is *possible*, never what is
*certain*. All are read only in short turns, where the person speaks in their own voice.
"""

from __future__ import annotations

import re
from functools import cache

LONGEST = 420

_LEAD = r"^\W*(?:(?:ok(?:ay)?|hmm*|wait|um|so|and|but|hey|oh|yes|no|q)\W+)*"

TABLE: tuple[tuple[str, str], ...] = (
    (
        "an observation put as a question",
        _LEAD + r"(?:there(?:'s|\ is|\ are)\b.{2,60}\b(?:here|in\ (?:this|the|my|it|there))"
        r"|(?:we|you)\ (?:did\ ?n[o']?t|have\ ?n[o']?t|never|still|again)\b.{2,70}|no\ (?:tests?"
        r"|docs?|changelog|comments?)\b.{0,40}"
        r"|(?:this|that|it|these)\ (?:still|again|also)\b.{2,60})\?\s*$",
    ),
    (
        "about how the agent writes or works",
        (
            r"\byour\ (?:\w+\ )?(?:repl(?:y|ies)|answers?|comments?|messages?|plans?|commits?|tests?|summar(?:y|ies)"
            r"|responses?|wording|texts?|code|explanations?)\b"
        ),
    ),
    (
        "harm that the agent did",
        (
            r"\b(?:amend|rebase|commit|squash|edit|change|script|merge|that|this|you|it)(?:'s|'ve"
            r"|\ has|\ have|\ had)?\ (?:now\ |just"
            r"\ |also\ )?(?:broken|broke|lost|dropped|removed|deleted|destroyed|overwritten|overwrote|wiped|ruined)\b"
            r"|\bhave\ we\ lost\b|\bdid\ (?:we|you)\ (?:lose|drop|remove|delete)\b"
        ),
    ),
    (
        "work left to the person",
        (
            r"\bcan\ (?:all\ )?be\ (?:\w+\ )?(?:done|tested|checked|verified|run|automated)\b|\b(?:do"
            r"|run|check|test|fix)\ (?:it|that|this)\ yourself\b"
            r"|\bautomatically\ (?:with|by|using)\b"
        ),
    ),
    (
        "too much of something",
        (
            r"\btoo\ (?:hard|much|many|long|specific|tight\w*|big|verbose|generic|complicated)\b"
            r"|\boverkill\b|\bover-?engineer\w*"
            r"|\b(?:doubt|not\ (?:so|very|really)\ useful|pointless|useless|what(?:'s|\ is)\ the\ point)\b"
        ),
    ),
    ("a liking", r"\bi(?:'d)?\ (?:actually\ |really\ |would\ |much\ )*(?:prefer|rather)\b"),
    (
        "a prohibition",
        (
            r"(?:^|[.!,;:\n]|\b(?:and|but|please|so|then))\s*(?:do\ not|don'?t|never|stop"
            r"|avoid)\ (?!know|think|see|understand|have"
            r"|worry|get|mind|believe|like|need|want|remember|forget|work)\w+"
        ),
    ),
    (
        "a polite objection",
        (
            r"\b(?:can|could|should)\ (?:we|you)\ (?:\w+\ )?not\b|\bshould(?:n'?t|\ not)\ (?:this|that"
            r"|it|we|you|these|there)\b|\b(?:do|does)\ (?:we|it|this)\ (?:really|even)\ need\b"
            r"|\bdo\ we\ need\b.{0,60}\bat\ all\b|\bbetter\ (?:not|to)\b"
        ),
    ),
    (
        "why you did that",
        (
            r"\bwhy\ (?:are|did|do|have|would|were|does|is|was|aren'?t|don'?t|didn'?t|couldn'?t"
            r"|wouldn'?t)\ (?:you|we)\b|\bhow\ come\b"
            r"|\bwhat\ made\ you\b|\bwho\ (?:asked|told)\b|\bdid\ i\ (?:ask|say|tell)\b|\bi\ (?:said"
            r"|told\ you|asked\ (?:for|you))\b"
        ),
    ),
    (
        "to be remembered",
        (
            r"\b(?:so\ (?:that\ )?you\ (?:remember|know)|remember\ this|memori[sz]e|never\ (?:happens|repeats)"
            r"|(?:add|put|note|update|mention).{0,40}\b(?:claude|agents|guidelines?|rules)(?:\.md)?)\b"
            r"|\b(?:from\ now\ on|going\ forward|next\ time|in\ (?:the\ )?future)\b"
        ),
    ),
    (
        "a standing way of working",
        (
            r"\bthat'?s\ (?:why|what|how)\ we\b|\bwe\ (?:never|always|explicitly|only|don'?t"
            r"|should\ be)\b|\bwherever\ (?:we|you|possible)\b"
            r"|\b(?:is|are)\ (?:never|always)\b.{3,60}\bonly\b"
        ),
    ),
    (
        "somebody else is at it",
        (
            r"\b(?:some\ ?(?:one|body)(?:\ else)?|another\ (?:agent|person)|a\ colleague"
            r"|my\ colleague)\b.{0,20}\b(?:edit|work|chang|touch|us)\w*"
        ),
    ),
    ("something else instead", r"\binstead\W*$|\brather\ than\b|\binstead\ of\ (?:\w+ing|the)\b"),
    (
        "undoing",
        r"\b(?:revert|undo|restore|roll\ ?back)\b|\b(?:put|bring)\b.{1,30}\bback\b|\bremove\b.{1,40}\bagain\b",
    ),
)


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(part, re.VERBOSE)) for name, part in TABLE)


def sign(text: str) -> str:
    """The first sign that a short turn shows, or nothing."""
    if len(text) > LONGEST:
        return ""
    text = text.lower()
    for name, pattern in _compiled():
        if pattern.search(text):
            return name
    return ""
