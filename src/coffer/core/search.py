"""How texts are indexed and questions are put to the index: words, parts of identifiers, pairs of characters.

A text is folded (case, width, ß) and given to SQLite's FTS5, which takes off accents and English endings. Writing
without spaces (Chinese, Japanese, Korean, Thai …) is indexed as pairs of characters, so that a question of two
characters finds what it names; trigrams, of which SQLite has a tokenizer, can't answer less than three. Of
identifiers like `retryPolicy` the parts stand in a column of their own; `retry_policy` and paths fall apart
anyhow.

A question is plain words: nothing in it is syntax of FTS5's, except that a quoted part must occur as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coffer.core.regex import regex
from coffer.core.verbs import word_set

MOST_TERMS = 24
BROAD = 3_000
"""A question is answered from about so many entries; words that occur in more of them only help to rank."""
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u3130-\u318f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_RUN = regex(f"[{_UNSPACED}]+")
_PLAIN = regex(f"[^{_UNSPACED}]+|[{_UNSPACED}]+")
_HUMP = regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = regex(r"[A-Za-z0-9]+")
_QUOTED = regex(r"\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」")
_EDGES = regex(r"^[^\w]+|[^\w]+$")
_LONGEST_PHRASE = 4
"""Characters of a run that must occur together; a longer one is a sentence, of which any pair may occur."""


def folded(text: str) -> str:
    """A text as it is indexed and asked for."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", plain)


def parts(text: str) -> str:
    """The parts of identifiers with humps, "" of a text without one."""
    words = (word for word in _WORD.findall(text) if not word.islower() and _HUMP.search(word))
    return " ".join(_HUMP.sub(" ", word) for word in words).lower()


def same(text: str) -> str:
    """What is the same for two texts that differ in nothing but case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _pairs(run: str) -> Iterator[str]:
    """Each character with the next one, the last alone: any character of a run begins one of them."""
    for at in range(len(run)):
        yield run[at : at + 2]


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that is asked for. match: in FTS5's language. words: folded, to find it in a text.

    required: it was quoted.
    """

    match: str
    words: tuple[str, ...]
    required: bool = False


def terms_of(question: str) -> tuple[Term, ...]:
    """What a question asks for, each thing once; words that say nothing are left out, unless there are no others."""
    question = "".join(char if char.isprintable() else " " for char in question)
    found = [
        Term(_string(folded(said)), tuple(folded(said).split()), required=True)
        for said in (next(filter(None, groups)) for groups in _QUOTED.findall(question))
        if re.search(r"\w", said)
    ]
    rest = _QUOTED.sub(" ", question).replace('"', " ")
    words = [word for word in (_EDGES.sub("", word) for word in rest.split()) if word]
    telling = [word for word in words if same(word) not in SILENT]
    for word in telling or ([] if found else words):
        found += _terms(word)
    return tuple(dict.fromkeys(found))[:MOST_TERMS]


def _terms(word: str) -> Iterator[Term]:
    """A word as terms: one, or several where it is a sentence without spaces."""
    for piece in _PLAIN.findall(unicodedata.normalize("NFKC", word)):
        if not _RUN.fullmatch(piece):
            if re.search(r"\w", piece):
                yield _word(piece)
        elif len(piece) == 1:
            yield Term(_string(piece) + "*", (piece,))
        elif len(piece) <= _LONGEST_PHRASE:
            yield Term(_string(" ".join(_whole_pairs(piece))), (piece,))
        else:
            for pair in _whole_pairs(piece):
                yield Term(_string(pair), (pair,))


def _whole_pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _word(word: str) -> Term:
    """A word, also as the parts or the whole of an identifier."""
    plain = folded(word)
    forms = [plain]
    if _HUMP.search(word):
        forms.append(_HUMP.sub(" ", word).lower())
    joined = re.sub(r"[_\-]", "", plain)
    if joined != plain and joined:
        forms.append(joined)
    match = " OR ".join(_string(form) for form in dict.fromkeys(forms))
    return Term(f"({match})" if len(forms) > 1 else match, tuple(re.findall(r"\w+", plain)))


def _string(said: str) -> str:
    return '"' + said.replace('"', '""') + '"'


def match_of(counts: Sequence[tuple[Term, int]]) -> str:
    """What to ask FTS5 for, "" where nothing can be found. counts: in how many entries each term occurs.

    A rare word says more about what is meant than a common one, and costs less: the rare ones decide which entries
    are looked at, all of them how they rank. Where all are common, an entry must have all of them.
    """
    required = [term for term, _ in counts if term.required]
    if any(term.required and not count for term, count in counts):
        return ""
    free = sorted(
        ((term, count) for term, count in counts if count and not term.required), key=lambda one: one[1]
    )
    every = " OR ".join(term.match for term, _ in free)
    if required:
        must = " AND ".join(term.match for term in required)
        return (
            f"{must} AND ({' OR '.join([*(term.match for term in required), *([every] if every else [])])})"
        )
    few, total = [], 0
    for term, count in free:
        if total + count > BROAD:
            break
        few.append(term.match)
        total += count
    if len(few) == len(free):
        return every
    if few:
        return f"({' OR '.join(few)}) AND ({every})"
    return " AND ".join(term.match for term, _ in free)


def covered(text: str, terms: Sequence[Term]) -> float:
    """The share of the things asked for that a text holds, 0 to 1; endings count little, and how names are joined."""
    plain = folded(text).replace("_", "")
    held = sum(all(_stem(word.replace("_", "")) in plain for word in term.words) for term in terms)
    return held / max(1, len(terms))


def excerpt(text: str, terms: Sequence[Term], most: int) -> str:
    """The part of a text that answers best, on one line, of at most `most` characters."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    stems = {_stem(word) for term in terms for word in term.words if word}
    folded_text = _same_length(plain)
    places = sorted(
        {match.start() for stem in stems for match in re.finditer(rf"(?<!\w){re.escape(stem)}", folded_text)}
        | {match.start() for stem in stems if _RUN.match(stem) for match in re.finditer(stem, folded_text)}
    )
    start = _densest(places, folded_text, stems, most) if places else 0
    start = _at_a_word(plain, start)
    end = start + most - 2
    if end < len(plain):
        space = plain.rfind(" ", start + most * 2 // 3, end)
        end = space if space > 0 else end
    shown = plain[start:end].strip()
    return f"{'…' if start else ''}{shown}{'…' if end < len(plain) else ''}"


def _densest(places: Sequence[int], text: str, stems: set[str], most: int) -> int:
    """Where the stretch begins that holds the most different words."""
    best, begin = -1, 0
    for place in places[:200]:
        stretch = text[place : place + most * 4 // 5]
        count = sum(stem in stretch for stem in stems)
        if count > best:
            best, begin = count, place
    return max(0, begin - most // 6)


def _at_a_word(text: str, start: int) -> int:
    if not start:
        return 0
    space = text.find(" ", start, start + 30)
    return space + 1 if space >= 0 else start


def _same_length(text: str) -> str:
    """A text in small letters, character for character."""
    return "".join(lower if len(lower := char.lower()) == 1 else char for char in text)


def _stem(word: str) -> str:
    return word if len(word) < 5 or not word.isascii() else word[: max(4, len(word) - 3)]


SILENT = word_set(
    """
    a about again all also am an and any are as at be because been before being but by can could did do does doing
    done each ever for from get got had has have having he her here him his how i if in into is it its just let
    like me more most much my no not now of off on one only or other our out over please s same she should so some
    such t than that the their them then there these they this those through to too under until up us use used
    very was we were what when where whether which while who whom why will with would you your
    remember recall tell know find show say said decide decided decision
    aber alle als am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des dich die dies
    doch du durch ein eine einem einen einer eines er es etwas für gab haben hat hatte hatten hier ich ihr im in
    ist ja kann kein keine man mein mit nach nicht noch nur ob oder sein sich sie sind so über um und uns unser vom
    von vor war waren warum was weil wenn wer wie wieso wir wird wo wollte wollten wurde wurden zu zum zur
    au aux avec avons avait ce ces cette comment dans de des du elle en est et fait il ils je la le les leur lui
    mais ne nos notre nous on ont où ou par pas pour pourquoi qu quand que quel quelle qui sa se ses son sont sur
    tu un une vous
    al como con cual cuando del donde el ella en era es esta este fue ha hemos la las lo los más no nos para pero
    por porque qué que quien se sin sobre su sus te un una y
    """
)
"""Words that any text may hold, and those with which one asks."""
