"""What the model sees of a turn: cues, shape, what came before, and words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from coffer.core.classify.cues import cues
from coffer.core.classify.spoken import Heard
from coffer.core.regex import regex

WORD = regex(r"[a-zà-ÿа-яё]+(?:['’][a-z]+)?|[぀-ヿ一-鿿]|\d+|[?!]")
CJK = regex(r"[぀-ヿ一-鿿]")
IDEA = regex(r"[a-z_][\w.-]{3,}")
ASKED = regex(
    r"[?？]\W*$|\b(?:shall i|should i|want me|would you like|do you want|which (?:one|of"
    r"|approach|scope)|let me know|soll ich|dois-je)\b"
    r"[^.]{0,160}$",
    re.IGNORECASE,
)
START = regex(
    (
        r"^\W*(?:$|\(?(?:session start|sitzungsbeginn|début de session|inicio de sesión"
        r"|início da sessão|inizio sessione|начало сессии|会话开始|セッション開始))"
    ),
    re.IGNORECASE,
)
DEEDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, regex(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "wrote",
            (
                r"\b(?:edit|write|wrote|rewr\w+|added|created|changed|updated|renamed|replaced|implemented"
                r"|refactor\w*|converted|fixed)\b|ich habe|j'ai|he \w+ado|fiz|ho \w+to|我|しました|я "
            ),
        ),
        ("git", r"\b(?:git|commit\w*|push\w*|merged?|branch|pr|rebase\w*|amend\w*)\b"),
        ("ran", r"\bbash\(|\bran\b|running"),
        ("removed", r"\b(?:delet\w+|remov\w+|drop\w*|clean\w*|rm|prune)\b"),
        ("installed", r"\b(?:install\w*|upgrad\w+|bump\w*|dependenc\w+|npm|pip)\b"),
        (
            "extra",
            (
                r"\b(?:also|while i was|in addition|as well|along the way|took the liberty|auch gleich"
                r"|también|também|заодно|顺便|ついで)\b"
            ),
        ),
        ("plan", r"\b(?:i'll|i will|plan|going to|next i|let me|i'd|about to|i would)\b"),
        ("done", r"\b(?:done|finished|complete\w*|all (?:tests )?pass\w*|works? now|ready)\b"),
        ("answered", r"\b(?:here(?:'s| is| are)|because|the reason|means|so the)\b"),
    )
)
STOP_OVERLAP = frozenset(
    [
        "this",
        "that",
        "with",
        "from",
        "have",
        "there",
        "which",
        "what",
        "when",
        "where",
        "will",
        "would",
        "should",
        "could",
        "also",
        "into",
        "them",
        "they",
        "your",
        "just",
        "been",
        "here",
        "then",
        "than",
        "only",
        "does",
        "make",
        "made",
        "more",
        "some",
        "after",
        "before",
        "because",
        "about",
        "other",
        "first",
        "these",
        "those",
    ]
)
PAIRED = (
    "dont",
    "undo",
    "why_you",
    "why_did",
    "question",
    "ends_q",
    "approve",
    "one_off",
    "instead",
    "not_x",
    "use",
    "we",
    "lasting",
    "should_q",
    "observed_q",
    "request",
    "no_first",
    "you_did",
    "again",
    "prefer",
    "scope_lim",
    "report",
    "neg_q",
    "can_not",
    "lost",
    "thought",
    "wherever",
    "learn",
    "standing",
    "wrong",
    "better",
)

MANNER = frozenset({"style_word", "git_word", "tool_word"})
POINTED = frozenset(
    {
        "dont",
        "never",
        "no_noun",
        "why_did",
        "why_you",
        "who_asked",
        "again",
        "undo",
        "should_q",
        "neg_q",
        "observed_q",
        "can_not",
        "lost",
        "thought",
        "wrong",
        "better",
        "instead",
        "standing",
        "learn",
        "note",
        "prefer",
        "not_x",
    }
)


def features(heard: Heard, before: str, tools: Sequence[str]) -> dict[str, float]:
    """Named values; a name that the model does not know weighs nothing."""
    text = heard.text
    found = list(cues(text))
    context = _context(before, tools)
    names: list[str] = [f"c:{name}" for name in found]
    names += [f"b:{name}" for name in context]
    names += _shape(heard)
    names += [
        f"x:{cue}+{where}"
        for cue in found
        if cue in PAIRED
        for where in context
        if where in ("start", "asked", "did")
    ]
    names += _pairs(found)
    names += _pointed(set(found))
    value = dict.fromkeys(names, 1.0)
    value["overlap"] = _overlap(text, before)
    words = list(_words(text[:700]))
    weight = 0.55 if len(words) < 30 else 0.4 if len(words) < 90 else 0.25
    for word in words:
        value[f"w:{word}"] = weight
    value["bias"] = 1.0
    return value


def _pairs(found: list[str]) -> Iterator[str]:
    main = [
        name
        for name in found
        if name in PAIRED or name in ("style_word", "git_word", "tool_word", "product", "reason", "wrong")
    ]
    for index, name in enumerate(main):
        for other in main[index + 1 :]:
            yield f"p:{name}+{other}"


def _pointed(found: set[str]) -> Iterator[str]:
    """A pointed form about the manner of work, rather than about the product."""
    manner = found & MANNER
    for form in found & POINTED:
        if manner:
            yield f"m:{form}"
    if manner and found & POINTED:
        yield "m:any"
        if "product" not in found and "report" not in found:
            yield "m:pure"


def _context(before: str, tools: Sequence[str]) -> list[str]:
    if START.match(before):
        return ["start"]
    tail = before[-700:].lower()
    names = [name for name, pattern in DEEDS if pattern.search(tail)]
    if ASKED.search(tail[-260:]):
        names.append("asked")
    else:
        names.append("did")
    kinds = {re.split(r"[ (]", tool, maxsplit=1)[0] for tool in tools[-6:]}
    if kinds & {"Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch"}:
        names.append("wrote")
    if len(before) > 400:
        names.append("long")
    return names


def _shape(heard: Heard) -> Iterator[str]:
    text = heard.text
    size = len(text)
    if CJK.search(text):
        size = size * 3
    edges = (25, 60, 110, 200, 400, 900)
    yield f"s:len{sum(size > edge for edge in edges)}"
    if heard.interrupted:
        yield "s:interrupted"
    if heard.rejected:
        yield "s:rejected"
    if heard.masked:
        yield "s:masked"
    if heard.document:
        yield "s:document"
    if "\n" in text:
        yield "s:lines"
    if text.count("\n") > 4:
        yield "s:many_lines"
    sentences = len(re.findall(r"[.!?。！？]+(?:\s|$)|\n", text))
    yield f"s:sent{min(sentences, 4)}"
    if re.search(r"\b[A-Z]{4,}\b", text):
        yield "s:caps"
    if re.search(r"https?://|@\S+/\S+|\w+\.\w{1,4}:\d+", text):
        yield "s:link"
    if not text.isascii():
        yield "s:foreign"


def _words(text: str) -> Iterator[str]:
    tokens = WORD.findall(text.lower().replace("’", "'"))
    yield from tokens
    for left, right in pairwise(tokens):
        yield f"{left} {right}"


def _overlap(text: str, before: str) -> float:
    """How much of what the person names was in the agent's last words."""
    mine = _ideas(text[:500])
    theirs = _ideas(before[-900:])
    return min(3, len(mine & theirs)) / 3


def _ideas(text: str) -> set[str]:
    return set(_stems(IDEA.findall(text.lower())))


def _stems(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if word not in STOP_OVERLAP:
            yield word.rstrip(".-")[:7].removesuffix("s")
