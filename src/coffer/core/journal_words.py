"""Which sentences a journal is made of: those that choose, those that leave something open, and those that say nothing.

English and German, and the plain ways to say it in French, Spanish, Portuguese, Chinese and Japanese
(`journal_words_abroad`). A sentence of another language is no choice and no open end; it is still quoted as a goal, as
work done and as a correction.
"""

from __future__ import annotations

import re

from coffer.core.journal_words_abroad import chooses_abroad, leaves_open_abroad
from coffer.core.regex import regex

_CHOOSES = regex(
    r"\b(?:decided|chose|opted|settled on|going with|go with|went with|let'?s (?:use|keep|go|do|stick|drop)"
    r"|we(?:'ll| will| should) (?:use|keep|go|stick|drop|reuse|avoid|skip|group|not (?:use|copy|add|keep"
    r"|support|change))"
    r"|agreed ?[—–:-] ?\w+|in favou?r of|prefer(?:red)?|stick with|accepted"
    r"|entschied\w*|entschloss\w*|beschlossen|gewählt|nehmen wir|bleiben (?:wir )?bei|lieber)\b"
    r"|\b(?:statt|anstatt|anstelle)\b[^.]{0,80}\b(?:verwendet|genommen|benutzt|genutzt|gewählt|eingesetzt)\b"
    r"|\b(?:re-?us(?:e|ed|es|ing)|us(?:e|ed|es|ing)|ke(?:ep|pt)|switch\w*|replac\w+|mov\w+|made|stor\w+|put"
    r"|dropp?\w*|accept\w*"
    r"|verwend\w+|nutz\w+"
    r"|benutz\w+|nimm|nehmen?)\b[^.]{0,80}\b(?:instead|rather than|statt|anstatt|anstelle|stattdessen)\b",
    re.IGNORECASE,
)
_AS_YOU = regex(r"\bas (?:you|we) (?:chose|decided|preferred|wanted|asked|agreed)\b", re.IGNORECASE)
"""It was chosen before; that is where it stands."""
_REASON = regex(
    r"\b(?:because|since|so that|so (?:we|it|the|that)|as (?:it|the|this|that|we)|due to|to avoid|in order to"
    r"|otherwise|which "
    r"(?:means|avoids|keeps|makes)|this (?:way|avoids|keeps)|weil|da (?:es|die|der|das|wir|sonst)|damit|denn|sonst|"
    r"um .{3,60} zu)\b|[—–:]\s",
    re.IGNORECASE,
)
_FIRM = regex(
    r"\b(?:decided|chose|opted|settled on|agreed(?= ?[—–:-])|we should (?:avoid|not)|entschied\w*"
    r"|entschloss\w*|beschlossen)\b",
    re.IGNORECASE,
)
_UNSURE = regex(
    r"\?\s*$|^(?:if|when|should|could|would|falls|wenn|ob|sollte|let me|i'll|i will|i'm going|now i|now let|i can"
    r"|i could|i would|next)\b|\b(?:if you"
    r"|let me know|would you|do you want|möchtest|sag bescheid|or should|would prefer|you could|we could|might)\b",
    re.IGNORECASE,
)
_OPEN = regex(
    r"\b(?:not (?:yet |been )?(?:done|implemented|tested|verified|fixed|covered|run|pushed|committed|merged|deployed"
    r"|released|published)|(?:haven't|have not|didn't|did not) (?:yet )?(?:verif|test|run|check)\w*"
    r"|still (?:needs?|missing|open|fails?"
    r"|to do|todo|have to"
    r"|pending)|remain(?:s|ing)\b.{0,40}\b(?:work|task|issue|step|todo|failure|problem)s?|next steps?|todo|to-do"
    r"|follow-?up"
    r"|left (?:open|undone|to do|for later)|couldn'?t|could not|was unable|were unable|not able to|out of scope"
    r"|needs? to be (?:done|fixed|tested|added)"
    r"|noch (?:offen|nicht|zu tun|fehl\w+)|steht noch aus|stehen noch aus|nächste[rn]? schritte?|offen (?:ist"
    r"|bleibt|sind)"
    r"|konnte .{0,60}nicht|konnten .{0,60}nicht)\b",
    re.IGNORECASE,
)
_INTENT = regex(
    r"^(?:(?:and |but |so |ok(?:ay)?,? |good[,.] |now,? |next,? |first,? |then,? )*(?:let me|let's|i'll|i will"
    r"|i'm going to|i need to|i am "
    r"going to|we need to)|now i(?:'ll| have| need| can| understand| see)?|ich (?:werde|muss|will|schaue|prüfe)"
    r"|jetzt|als "
    r"nächstes|lass(?:t)? (?:mich|uns))\b",
    re.IGNORECASE,
)
_FILLER = regex(
    r"^(?:perfect|great|good|excellent|done|all (?:set|done)|sure|ok(?:ay)?|here(?:'s| is| are)|the following|summary"
    r"|understood|got it|you(?:'re| are) (?:right|absolutely)|as requested|that'?s it|if you|feel free"
    r"|you can (?:now )?"
    r"(?:also )?(?:run|use|test|try)|fertig|erledigt|alles klar|gut|perfekt|verstanden|hier (?:ist|sind))\b"
    r"[^.:;,–—]{0,60}[.:!…]*$|^(?:if you (?:want|like|need)|let me know|feel free|sag bescheid|wenn du)\b",
    re.IGNORECASE,
)
_DONE = regex(
    r"\b(?:added|fixed|created|updated|implemented|removed|deleted|changed|committed|pushed|moved|renamed"
    r"|refactored|replaced"
    r"|wrote|written|merged|migrated|configured|enabled|disabled|extracted|passe?[sd]?|passing|works?|working"
    r"|succeed(?:s|ed)"
    r"|resolved|found|identified|verified|confirmed|opened|closed|released|deployed|installed|shipped|built"
    r"|documented"
    r"|hinzugefügt|behoben|erstellt|geändert|entfernt|umgesetzt|eingebaut|getestet|läuft|laufen|bestanden|gelöscht"
    r"|ersetzt"
    r"|gefunden|ergänzt|angepasst|committet)\b",
    re.IGNORECASE,
)
_LEADS = regex(
    r"\b(?:here(?:'s| is) (?:what|the|a)|summary of|what (?:i |has |was )?changed|the following"
    r"|as follows)\b.{0,60}:$",
    re.IGNORECASE,
)
_PATH = regex(r"^[`'\"(]?[\w./\\@-]+\.\w{1,6}(?::\d+)?[`'\")]?[.:,]?$")
"""A file alone: the entry has its own line for those."""
_NOD = regex(
    r"\s*(?:(?:yes|yep|yeah|yup|ok(?:ay)?|sure|go|go (?:on|ahead|for it)|continue|proceed|do it|please(?: do"
    r"| continue)?"
    r"|thanks?(?: you)?|thx|great|good|nice|perfect|cool|lgtm|looks good|sounds good|correct|right|exactly"
    r"|agreed|done"
    r"|no|nope|hi|hello|hey|resume|next|try again|again|retry|keep going|carry on|ready|stop|wait|hmm?"
    r"|ja|jo|nein|weiter|mach(?: weiter| das| mal)?|bitte|danke|gut|super|passt|genau|hallo|los)\b[\s,.!…:)]*)+$",
    re.IGNORECASE,
)
_OUTPUT = regex(
    r"\s*(?:(?:remote|fatal|error(?:\[\w+\])?|warning|hint|info|debug|npm err!|npm warn)\b ?[:!]"
    r"|Traceback \(most|at \S+\(\S*\)"
    r"|commit [0-9a-f]{7,}|Author: |create mode |[+-]{3} [ab]/|@@ |[❯$%] \S|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\[[\w/.-]+ [0-9a-f]{7,}\]|(?:fetching|download(?:ing)?|cloning|pushing|compiling|installing|running|building"
    r"|resolving|unpacking|receiving|found|from|push|pull|current)\b.*(?:\.\.\.[ \t]*(?:\n|\Z)"
    r"|[0-9a-f]{7,40}\b|\d+/\d+\)|IDs?:[ \t]*(?:\n|\Z)))",
    re.IGNORECASE,
)
"""How a paragraph begins that a program printed."""
_BLANK = regex(r"\n[ \t]*\n")
_SHORTEST = 24
"""Characters below which a sentence of the agent says nothing by itself."""


def chooses(sentence: str, *, reason: bool = False) -> bool:
    """Whether it states a choice. reason: only one that says why, or that it is a decision."""
    if chooses_abroad(sentence, reason=reason):
        return True
    if len(sentence) < _SHORTEST or len(sentence) > 600 or _UNSURE.search(sentence):
        return False
    if not _CHOOSES.search(_AS_YOU.sub("", sentence.replace("’", "'"))):
        return False
    return not reason or bool(_REASON.search(sentence)) or bool(_FIRM.search(sentence))


def leaves_open(sentence: str) -> bool:
    """Whether it says that something is not done."""
    open_end = _OPEN.search(sentence.replace("’", "'")) or leaves_open_abroad(sentence)
    return bool(open_end) and not sentence.endswith(("?", ":", "？", "："))


def says_done(sentence: str) -> bool:
    """Whether it names a result."""
    return bool(_DONE.search(sentence))


def intends(sentence: str) -> bool:
    """Whether an agent's sentence says what comes next, and not what was done."""
    return bool(_INTENT.match(sentence.replace("’", "'")))


def is_filler(sentence: str) -> bool:
    """Whether an agent's sentence only leads over to something."""
    said = sentence.replace("’", "'")
    return bool(
        len(said) < _SHORTEST
        or _FILLER.match(said)
        or intends(said)
        or _PATH.match(said)
        or _LEADS.search(said)
    )


def without_output(words: str) -> str:
    """A person's words without the paragraphs that a program printed."""
    kept = [part for part in _BLANK.split(words) if not _OUTPUT.match(part)]
    return "\n\n".join(kept)


def is_nod(words: str) -> bool:
    """Whether words only greet, agree or say to go on."""
    return not words.strip() or bool(_NOD.fullmatch(words[:200].strip()) and len(words) < 60)
