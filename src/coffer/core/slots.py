"""A rule taken apart: what it forbids, what it wants, where, in which language, and on what condition."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from coffer.core.regex import regex
from coffer.core.tables import LIGHT, PHRASES, PLACES, SAME, TONGUES, kind_of
from coffer.core.verbs import BASE, base_of, word_set

TOKEN = regex(
    r"--?[\w-]+(?:=\S+)?|\$\([^)]*\)|[\w.@/*+#%-]*[\w*+#%](?:=\w+)?(?:\(\))?|[぀-ヿ一-鿿]|[\U0001F300-\U0001FAFF✅✨]"
)
NEGATOR = regex(
    r"""^(?:please\ )?(?:(?:you\ |we\ )?(?:do\s?n['’]?t|do\ not|never(?:\ ever)?|must\ not|should\ not|may\ not
  |cannot|can't)|no\ more|stop|avoid|quit|refrain\ from|without|not|no|nothing
      |arr[êe]te[zr]?\ (?:d(?:e\ |['’])|avec\ )|deja\ de|para\ de|smetti\ di|ni\ se\ te\ ocurra
      |sin|sans|ohne|sem|senza|без
      |nicht|kein\w*|nie(?:mals)?|ne\ |n['’]|no\ |nunca|jam[áa]s|não|non|mai|не|никогда)(?=\W|\b)""",
    re.IGNORECASE | re.VERBOSE,
)
INNER_NEGATOR = regex(
    (
        r"\b(?:should|must|may|can|do|does|are|is|get|gets|have|has|need|needs)\s+(?:not|never"
        r"|no)\b|n['’]t\b|\b(?:nicht|nie|niemals|kein\w*|never|pas|jamais|nunca|не|никогда)\b|不要"
        r"|禁止|别|不|(?:し|わ)?ない|禁止"
    ),
    re.IGNORECASE,
)
AGAINST = regex(
    (
        r",?\s*(?:\binstead of\b|\brather than\b|\bin place of\b|\bstatt\b|\bau lieu de?\b"
        r"|\ben lugar de\b|\ben vez de\b|\bem vez de\b|\binvece di\b|\bвместо\b|而不是|,\s*(?:and\s+"
        r"|а\s+)?(?:not|never|no|nicht|kein\w*|pas(?: de)?|não|non|не)\s+)"
    ),
    re.IGNORECASE,
)
ASKING = (
    (
        regex(
            (
                r"\b(?:do not|don't|never|no need to|stop)\s+ask(?:ing)?(?: me| the user"
                r"| first)* before (?:you )?(\w+)"
            ),
            re.IGNORECASE,
        ),
        r"\1 @noask",
    ),
    (
        regex(
            r"^(?:just )?(push|commit|merge|delete|install|rebase|deploy|go ahead)\b(.{0,30})\bwithout asking\b",
            re.IGNORECASE,
        ),
        r"\1\2 @noask",
    ),
    (
        regex(
            r"\b([\w ./-]{3,40}?) (?:is|are) (?:immutable|off limits)\b",
            re.IGNORECASE,
        ),
        r"do not alter \1",
    ),
    (regex(r"\bprefer\s+(.{1,40}?)\s+(?:over|to)\s+(.{1,40})$", re.IGNORECASE), r"use \1 instead of \2"),
    (regex(r"\blieber\s+(.{1,40}?)\s+als\s+(.{1,40})$", re.IGNORECASE), r"use \1 statt \2"),
    (
        regex(
            (
                r"^(?:new |any |every |all )*(.{3,40}?) needs? (?:my |the user's |an? )(?:approval"
                r"|permission|ok|okay|consent)\b"
            ),
            re.IGNORECASE,
        ),
        r"do not add \1 @ask",
    ),
    (
        regex(r"^(?:only )?one (\w+) (?:per|for each|in each|a|at a)\b", re.IGNORECASE),
        r"never @several \1",
    ),
    (
        regex(
            r"\bask(?: me| the user| first| us)*(?: for (?:permission|approval))? before (?:you )?(\w+)",
            re.IGNORECASE,
        ),
        r"do not \1 @ask",
    ),
    (
        regex(
            (
                r"\b(?:get|wait for) (?:my |the user's |an? )?(?:ok|okay|approval|permission|consent"
                r"|go-ahead)(?: first)? before (?:you )?(\w+)"
            ),
            re.IGNORECASE,
        ),
        r"do not \1 @ask",
    ),
)
CONDITIONS = (
    (
        regex(
            r"\b(?:unless|until|before|without)\s+(?:i(?:'ve| have)?|you(?:'re| are)?|being"
            r"|the user(?: has)?|it was|my|me|they were|explicitly|first|prior)?\s*(?:explicitly "
            r"|first |have |was |were )*"
            r"(?:ask(?:ed|s|ing)?|told|tell(?:s|ing)?|say(?:s|ing)?(?: so)?|said so|approv\w+|ok|okay"
            r"|permission|consent|request(?:ed)?|instructed|confirm\w*|agree\w*|go-ahead"
            r"|approval)(?:\s+(?:me|the user|us|for (?:one|it|them)|it|to|so|first|explicitly|you to"
            r"|for permission|beforehand))*",
            re.IGNORECASE,
        ),
        " @ask ",
    ),
    (
        regex(r"\b(?:on your own(?: initiative)?|unasked|unprompted|of your own accord)\b", re.IGNORECASE),
        " @ask ",
    ),
    (
        regex(
            (
                r"\bsin (?:preguntar(?:me)?|mi permiso)(?: (?:antes|primero))?|\bohne (?:r[üu]ckfrage"
                r"|zu fragen|meine zustimmung)|\bsans (?:me )?demander|\bsem (?:me )?perguntar"
                r"|\bsenza chiedere(?:mi)?|без (?:спроса|разрешения)|未经(?:我)?(?:同意|允许)|没有我的同意"
            ),
            re.IGNORECASE,
        ),
        " @ask ",
    ),
    (
        regex(
            (
                r"\b(?:that |which )?you (?:did ?n[o']?t|are ?n[o']?t|have ?n[o']?t|were ?n[o']?t|do not"
                r"|are not|have not|did not) (?:asked to )?(?:chang\w+|touch\w*|modif\w+|edit\w*)"
                r"|\bunrelated\b|\buntouched\b"
            ),
            re.IGNORECASE,
        ),
        " @unchanged ",
    ),
    (regex(r"\bno more than one\b", re.IGNORECASE), " never @several "),
    (regex(r"\bmore than one\b|\bseveral\b|\bmultiple\b", re.IGNORECASE), " @several "),
)
REWRITTEN = (
    (
        regex(r"^(?:always )?(?:keep|leave) (.{3,40}?) (?:out of|outside) (?!it\b)(.{3,40})$", re.IGNORECASE),
        r"do not put \1 in \2",
    ),
    (
        regex(r"^only (\w+) (.{3,40}?) (?:inside|within|under|in) (?!case\b)([\w./-]{2,30})$", re.IGNORECASE),
        r"do not \1 \2 outside \3",
    ),
    (
        regex(
            r"^(?:always )?(?:remove|delete|take out) (.{3,40}?) (?:when you(?:'re| are) done|before you finish"
            r"|before you are done|before committing|afterwards)\b.*$",
            re.IGNORECASE,
        ),
        r"do not leave \1",
    ),
    (
        regex(r"\b(\w+) (\w+?s?)(,? (?:not|never|instead of|rather than)(?: \w+ing)?) (\w+) ones\b"),
        r"\1 \2\3 \4 \2",
    ),
    (regex(r"\bin (?:what|anything|everything|texts?|all) (?:that )?you (?:write|post|say)\b"), " "),
    (regex(r"\bwhen an existing one (?:will do|exists|is there)\b"), " "),
    (
        regex(
            r"^(?:do not|don't|never) skip (the )?(linter|linting|type ?check(?:er|ing)?|formatter|build|review)$"
        ),
        r"always run \1\2",
    ),
)
"""Other words for the same: what is kept out of a place is not put there."""
FIRST_THEN = regex(
    r"^(?:do not forget to |don't forget to "
    r"|always )?(?P<first>(?P<verb>[a-z-]+) [^;.]{2,40}?) before (?:you |each |every |any |a )"
    r"(?P<then>[^;.]{3,40})$"
)
"""First the one, then the other: the other is forbidden without the one."""
PURPOSE = regex(r"\bto\s+(\w+)\s", re.IGNORECASE)

REQUESTS = "requests"
"""A client library, and the plural of a request."""

IN_CODE = regex(
    r"\b(?:debug(?:ging)? (?:code|output|lines)|comments?|prints?|console\.log|todos?|docstrings?|type hints?)\b|注释"
)
OF_CODE = word_set("comment print console.log todo docstring typehint")
"""These stand in code, whether one says so or not."""
DEEDS = (
    ("make", regex(r"\b(?:creat|generat)\w*\b")),
    ("change", regex(r"\b(?:edit|modif(?:y|ie)|patch|chang|rewrit|overwrit)\w*\b")),
    ("read", regex(r"\b(?:read|look at)\b")),
)
TURNS = word_set("without until unless before after while sin sans ohne sem senza без außer")
"""What stands after one of these is a condition: "without a migration" is no "migration"."""


@dataclass(frozen=True)
class Part:
    """One clause: whether it forbids, and the concepts that it names."""

    forbids: bool
    words: frozenset[str]


@dataclass(frozen=True)
class Slots:
    """A rule's clauses, and what holds for the whole."""

    parts: tuple[Part, ...]
    places: frozenset[str] = field(default=frozenset())
    tongues: frozenset[str] = field(default=frozenset())
    conditions: frozenset[str] = field(default=frozenset())
    numbers: frozenset[str] = field(default=frozenset())
    choices: tuple[str, ...] = ()
    """Things of which one excludes the other, in the order of the text: who wins shows there."""
    deeds: frozenset[str] = field(default=frozenset())
    """Whether it speaks of making things or of changing them, where it says so."""
    inside: frozenset[str] = field(default=frozenset())
    """What the rule says it holds in: "in tests", "in shaders"."""

    @property
    def forbidden(self) -> frozenset[str]:
        """All that it forbids."""
        return frozenset().union(*(part.words for part in self.parts if part.forbids))

    @property
    def wanted(self) -> frozenset[str]:
        """All that it asks for."""
        return frozenset().union(*(part.words for part in self.parts if not part.forbids))


@lru_cache(maxsize=2_048)
def slots(rule: str, *, reordered: bool = True) -> Slots:
    """The rule taken apart. reordered: what is to be done first is read as a condition of what comes then."""
    text = prepared(rule, reordered=reordered)
    places = frozenset(name for name, pattern in PLACES if pattern.search(text))
    if IN_CODE.search(text):
        places -= {"code"}
    tongues = frozenset(name for name, pattern in TONGUES if pattern.search(text))
    parts = []
    seen: set[str] = set()
    for clause, forbids in _clauses(text):
        words = frozenset(_concepts(clause))
        if words & OF_CODE:
            words |= {"code"}
        seen |= words
        parts.append(
            Part(forbids, frozenset(word for word in words if not word.startswith("@") or word == "@several"))
        )
    return Slots(
        tuple(part for part in parts if part.words),
        places,
        tongues,
        frozenset(word for word in seen if word.startswith("@") and word != "@several"),
        frozenset(re.findall(r"\b\d+\b", text)),
        tuple(SAME.get(word, word) for word in TOKEN.findall(text) if kind_of(SAME.get(word, word))),
        frozenset(name for name, pattern in DEEDS if pattern.search(text)),
        frozenset(
            SAME.get(_stem(word), _stem(word))
            for word in re.findall(r"\b(?:in|for) (?:the |a |an )?([\w-]{3,})", text)
        ),
    )


@lru_cache(maxsize=2_048)
def prepared(rule: str, *, reordered: bool = True) -> str:
    """The plain text with its conditions named."""
    text = plain(rule)
    order = FIRST_THEN.match(text) if reordered else None
    if order and order["verb"] in BASE and order["verb"] not in ("ask", "get", "wait", "stop", "avoid"):
        text = f"do not {order['then']} without {order['first']}"
    for pattern, form in (*REWRITTEN, *ASKING, *CONDITIONS):
        text = pattern.sub(form, text)
    return text


def plain(rule: str) -> str:
    """Lower case, without quotes and the last full stop."""
    text = re.sub(r"[`\"“”„«»「」]|(?<!\w)'|'(?!\w)", " ", rule.strip().lower().replace("’", "'"))
    text = re.sub(r"\b(?:the )?user's\b", "my", text)
    return " ".join(text.rstrip(" .!。！").split())


def clauses(text: str) -> list[tuple[str, bool]]:
    """Clauses of a plain text, each with whether it forbids."""
    return _clauses(text)


def _clauses(text: str) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    for piece in re.split(
        (
            r"[;:；]|\.\s+|,\s+(?=(?:but |and )?(?:use|do not|don't|never|no|stop|instead)\b)"
            r"|,?\s+and\s+(?=(?:never|not|do not|don't)\b)|，(?=(?:不要|别|禁止|用))|。|\s—\s"
        ),
        text,
    ):
        chosen, *against = AGAINST.split(piece, maxsplit=1)
        found.append(_signed(chosen))
        if against:
            words, forbids = _signed(against[0])
            found.append((words, forbids or not found[-1][1]))
    return [(clause.strip(), forbids) for clause, forbids in found if clause.strip()]


def _signed(clause: str) -> tuple[str, bool]:
    clause = clause.strip(" ,，")
    clause = re.sub(
        r"^(?:but|and|please|pls|so|always|bitte|por favor|请|immer|toujours|siempre|sempre)\s*", "", clause
    )
    forbids = False
    match = NEGATOR.match(clause)
    if match:
        clause, forbids = clause[match.end() :], True
        if match[0].strip().startswith("n"):
            clause = re.sub(r"\b(?:pas|jamais|plus)\b(?: d(?:e |'))?", " ", clause, count=1)
    else:
        inner = INNER_NEGATOR.search(clause)
        if inner:
            clause, forbids = (
                clause[: inner.start()] + " " + re.sub(r"^\s*(?:never|not|no)\b", "", clause[inner.end() :]),
                True,
            )
    skipped = re.match(
        r"\s*(?:ever\s+)?(?:omit|forget(?: to)?|neglect(?: to)?|leave out|fail to|omitting|forgetting)\s+",
        clause,
    )
    if skipped:
        return clause[skipped.end() :], not forbids
    spared = re.match(r"(?:skip|drop)\s+(?:the\s+)?", clause)
    if spared and not forbids:
        return clause[spared.end() :], True
    return clause, forbids


def _concepts(clause: str) -> list[str]:
    for pattern, concept in PHRASES:
        clause = pattern.sub(f" {concept} ", clause)
    words = []
    mark = ""
    for token in TOKEN.findall(clause):
        if token in TURNS:
            mark = "~"
        if token.startswith("@"):
            words.append(token)
            continue
        word = _stem(token)
        word = SAME.get(word, word)
        if word and word not in LIGHT:
            words.append(mark + word)
    return words


def _stem(token: str) -> str:
    token = token.removesuffix("()").strip(".,")
    if token in SAME or token in LIGHT or (kind_of(token) and token != REQUESTS):
        return token
    verb = base_of(token)
    if verb and token.isalpha():
        return verb
    if len(token) > 4 and token.isalpha():
        for end, form in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("xes", "x"), ("s", "")):
            if token.endswith(end) and not token.endswith("ss"):
                return token[: -len(end)] + form
    return token
