"""A turn that approves of a rule or withdraws it (DESIGN section 7: UPVOTE, DOWNVOTE).

Nothing is guessed: the form of the words must be one of a few, and the slots must point at exactly one rule. A
one-time permission ("ok, you can push now") and a report ("tests are fine now") withdraw nothing, an angry
repetition ("no, no co-author lines!!") approves of nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coffer.core.likeness import concepts, named, topic
from coffer.core.phrase_forms import PASTS
from coffer.core.regex import regex
from coffer.core.rule import Rule
from coffer.core.similar import compare
from coffer.core.slots import slots
from coffer.core.tables import IMPLIED, WEAK
from coffer.core.verbs import base_of

LONGEST = 240
"""A reaction is short; a longer turn has other business."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """rule: the id of the one rule that the turn speaks of. reason: the form of the words that says so."""

    kind: Literal["approves", "withdraws"]
    rule: str
    reason: str


PLEASED = regex(
    r"^\W*(?:(?:yes+|yep|yeah|exactly|right|correct|perfect|great|good|nice|lovely|excellent|awesome|cool|thanks"
    r"|thank you|much better|well done|that(?:'s| is) (?:right|it|better|how i (?:like|want) it)|glad|love"
    r"|i (?:really )?(?:like|love|appreciate)|👍|👏|ja|genau|super|danke|prima|oui|exactement|parfait|merci|s[íi]"
    r"|exacto|perfecto|gracias|isso|perfeito|obrigad[oa]|esatto|perfetto|grazie|да|точно|отлично|спасибо)\b"
    r"|👍|👏|对|很好|没错|好的|はい|いいね)[\s,.:;!–—-]*",
    re.IGNORECASE,
)
ANGRY = regex(
    r"!!|\?|\b(?:no,|nope|again|still|told you|i said|as i said|how many|but|however|except|unless|wrong"
    r"|instead|next time|schon wieder|encore une fois|otra vez|опять)\b|又",
    re.IGNORECASE,
)
"""A repetition with one of these is a correction, or has a condition."""
KEEP = regex(
    r"^(?:please )?(?:keep(?: on)?|continue|stick (?:with|to)|carry on|go on)\s+(?P<vp>(?:not )?[\w-]+(?:ing)?\b.*?)"
    r"(?:\s+(?:like (?:that|this)|that way|this way|so|please|as you did|everywhere))*$",
    re.IGNORECASE,
)
PRAISE = regex(
    r"^(?:(?:thanks|thank you|thx) for (?P<ing>.+)|(?:i )?(?:really )?(?:glad|good|nice|great|love|like"
    r"|appreciate|happy)(?: it)?(?: that)? you (?P<did>.+)|(?:good|nice|great) job (?P<job>(?:not )?\w+ing .+)"
    r"|(?:love|like|nice)(?: that)? there(?:'s| is| are) (?P<none>no .+))$",
    re.IGNORECASE,
)
LEFT_OUT = regex(
    r"^(?:did(?:n['’]?t| not)|are(?:n['’]?t| not)|not|avoid(?:ed|ing)|skipp(?:ed|ing)|left out|leaving out|no)\s+",
    re.IGNORECASE,
)
LASTING = (
    r"(?:again|from now on|in (?:the )?future|any ?more|any time|whenever you (?:like|want)|going forward)"
)
WITHDRAWS: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (regex(rf"^{pattern}\W*$", re.IGNORECASE), form, reason)
    for pattern, form, reason in (
        (
            (
                rf"(?:(?:you|we)(?:'re| are)? (?:can|may|(?:free|allowed|welcome) to)|feel free to"
                rf"|it(?:'s| is) (?:ok|okay|fine|all right) to) (?P<vp>.+?),? {LASTING}"
            ),
            "do not {vp}",
            "allows again what the rule forbids",
        ),
        (
            r"(?:there(?:'s| is) )?(?:no (?:longer any )?need to|you (?:don['’]?t|do not) (?:have|need) to"
            r"|you needn['’]?t|you no longer (?:have|need) to|stop having to) (?P<vp>.+?)(?:,? "
            + LASTING
            + r")(?: .{0,20})?",
            "{vp}",
            "says that it is no longer needed",
        ),
        (
            r"you no longer (?:have|need) to (?P<vp>.+?)",
            "{vp}",
            "says that it is no longer needed",
        ),
        (
            rf"(?:don['’]?t|do not|stop) (?P<vp>ask(?:ing)? .+?),? {LASTING}",
            "{vp}",
            "says that it is no longer needed",
        ),
        (
            r"du (?:darfst|kannst) (?:wieder|ab jetzt|künftig) (?P<vp>.+?)",
            "do not {vp}",
            "allows again what the rule forbids",
        ),
        (
            r"tu peux (?:de nouveau|à nouveau|désormais) (?P<vp>.+?)",
            "do not {vp}",
            "allows again what the rule forbids",
        ),
        (r"(?:ya )?puedes volver a (?P<vp>.+?)", "do not {vp}", "allows again what the rule forbids"),
        (
            r"(?P<vp>[\w.@-]+) (?:ist|sind) (?:wieder|ab jetzt) (?:erlaubt|ok|okay|in ordnung)",
            "do not {vp}",
            "calls it fine now",
        ),
    )
)
TOPICS: tuple[re.Pattern[str], ...] = tuple(
    regex(rf"^(?:please |you can |let's )?(?:{pattern})\W*$", re.IGNORECASE)
    for pattern in (
        (
            r"(?:forget|drop|remove|delete|scrap|lift|ignore|cancel|lose|ditch|retire)(?: about)? (?:the|that|my|your"
            r"|this) (?:rule|ban|thing|instruction|restriction)s? (?:about|on|against|for|with|that says|regarding)"
            r" (?P<topic>.+?)"
        ),
        r"(?:forget|drop|scrap|lift|cancel|ditch) (?:the|that|my) (?P<topic>.+?) (?:rule|ban|restriction)",
        r"(?:forget|ignore|never mind) (?:what i said|what i told you) about (?P<topic>.+?)",
        (
            r"(?:the|that|my) (?:rule|ban|restriction) (?:about|on|against|for|with|regarding) (?P<topic>.+?)"
            r" (?:no longer applies|(?:is|can be) (?:off|gone|lifted|over|dropped|removed|history|obsolete)"
            r"|doesn['’]?t apply any ?more|can go)"
        ),
        (
            r"(?:vergiss|streich|lösch)e? (?:die|meine) regel (?:mit|über|zu|für|wegen)(?: den| dem| der)?"
            r" (?P<topic>.+?)"
        ),
        r"(?:die|meine) regel (?:mit|über|zu|für|wegen)(?: den| dem| der)? (?P<topic>.+?) gilt nicht mehr",
        r"(?:oublie|supprime) (?:la|ma) règle (?:sur|concernant|pour)(?: les?| la)? (?P<topic>.+?)",
        r"(?:olvida|quita|borra) la regla (?:de|sobre|para)(?: los| las| el| la)? (?P<topic>.+?)",
        r"(?:esque[çc]a?|remove|apaga) a regra (?:de|sobre|d[oa]s?) (?P<topic>.+?)",
        r"(?:dimentica|togli) la regola (?:su|sui|sulle|sugli|di|per) (?P<topic>.+?)",
        r"(?:забудь|отмени|убери) правило (?:про|о|об|насч[её]т) (?P<topic>.+?)",
        r"(?:忘掉|取消|去掉|删掉)(?:那条|这条)?(?:关于)?(?P<topic>.+?)(?:的规则|的规定)",
    )
)
FINE_NOW = regex(
    r"^(?P<np>[\w@./-]+(?:[ -][\w@./-]+){0,4}?) (?P<many>is|are) (?:(?:now |again )?(?:allowed"
    r"|welcome|permitted)(?P<sure>)"
    r"|(?:fine|ok|okay|all right))(?P<where> in [\w ]{3,30}?)? ?(?:again|now|from now on|after all|these days)?\W*$",
    re.IGNORECASE,
)
LATER = regex(r"\b(?:now|again|from now on|after all|these days|allowed|welcome|permitted)\b", re.IGNORECASE)
STATUS = regex(
    r"\b(?:tests?|builds?|ci|types?|lint\w*|logs?|checks?|docs?|pipeline|server|migrations?|deploy\w*|branch|it|that"
    r"|this|everything|all|they|things?)\b",
    re.IGNORECASE,
)
"""That one of these "is fine now" is a report."""


def react(text: str, rules: Sequence[Rule], before: str, actions: Sequence[str]) -> Reaction | None:
    """What a turn says of a rule that stands; None in doubt.

    text: the person's own words (`spoken.hear`). before, actions: the agent's last words and its tools with
    their targets; an approval is none if the agent had just done what the rule forbids.
    """
    del before
    said = " ".join(text.split())
    if not said or len(said) > LONGEST:
        return None
    withdrawn = _withdrawn(said, [rule for rule in rules if rule.state != "archived"])
    if withdrawn is not None:
        return withdrawn
    return _approved(said, [rule for rule in rules if rule.state == "active"], actions)


def _withdrawn(said: str, rules: Sequence[Rule]) -> Reaction | None:
    words = re.sub(
        r"^\W*(?:(?:ok(?:ay)?|alright|fine|yes|actually|btw|by the way|hey|so|and|also|oh|hm+)\b[\s,.:!–-]*)+",
        "",
        said,
        flags=re.IGNORECASE,
    ).rstrip(" .!")
    for topics in TOPICS:
        match = topics.match(words)
        rule = named(match["topic"], rules) if match else None
        if rule is not None:
            return Reaction("withdraws", rule.id, "drops the rule")
    for pattern, form, reason in WITHDRAWS:
        match = pattern.match(words)
        if match:
            phrase = form.format(vp=match["vp"].strip(" ,"))
            allowed = phrase.removeprefix("do not ") if phrase.startswith("do not ") else ""
            found = [rule for rule in rules if _says(phrase, rule) or (allowed and _bans_just(allowed, rule))]
            return Reaction("withdraws", found[0].id, reason) if len(found) == 1 else None
    match = FINE_NOW.match(words)
    if match is None or not LATER.search(words):
        return None
    thing = match["np"] + (match["where"] or "")
    plain = match["sure"] is not None or (
        match["many"] == "are" or base_of(match["np"].split()[0]) is not None
    )
    if not plain or (match["sure"] is None and STATUS.search(match["np"])):
        return None
    found = [rule for rule in rules if _bans_just(thing, rule)]
    return Reaction("withdraws", found[0].id, "calls it fine now") if len(found) == 1 else None


def _approved(said: str, rules: Sequence[Rule], actions: Sequence[str]) -> Reaction | None:
    if not PLEASED.match(said) and not PRAISE.match(said.rstrip(" .!")):
        return None
    if ANGRY.search(said):
        return None
    wholes = [said.rstrip(" .!")]
    while PLEASED.match(wholes[-1]):
        wholes.append(PLEASED.sub("", wholes[-1], count=1).rstrip(" .!"))
    found: dict[str, str] = {}
    for words in wholes:
        for rule in rules:
            reason = _repeats(words, rule) if words else ""
            if reason:
                found.setdefault(rule.id, reason)
    if len(found) != 1:
        return None
    name, reason = next(iter(found.items()))
    rule = next(rule for rule in rules if rule.id == name)
    return None if _just_broken(rule, actions) else Reaction("approves", name, reason)


def _repeats(words: str, rule: Rule) -> str:
    """How approving words say the rule again, or nothing."""
    match = KEEP.match(words)
    if match:
        return "wants it kept up" if _asked(match["vp"], rule) else ""
    match = PRAISE.match(words)
    if match:
        done = match["ing"] or match["did"] or match["job"] or match["none"]
        return "praises that it was kept" if _asked(done, rule) else ""
    return "says it again approvingly" if _says(words, rule) else ""


def _asked(phrase: str, rule: Rule) -> bool:
    """Whether a thing done, or left undone, is what the rule asks for."""
    left = LEFT_OUT.match(phrase)
    if left:
        rest = phrase[left.end() :]
        return _says(f"do not {rest}", rule) or _bans_just(rest, rule)
    first, _, rest = phrase.partition(" ")
    deed = PASTS.get(first.lower()) or base_of(first)
    if deed and rest and _says(f"{deed} {rest}", rule):
        return True
    wanted = slots(rule.text)
    done = topic(re.sub(r"^(?:using|used|use)\s+", "", phrase)) - WEAK
    side = (
        frozenset(word for word in wanted.wanted - wanted.forbidden if not word.startswith(("@", "~"))) - WEAK
    )
    return bool(done) and done == side


def _says(words: str, rule: Rule) -> bool:
    return compare(words, rule.text).label == "DUPLICATE"


def _bans_just(thing: str, rule: Rule) -> bool:
    """Whether a rule forbids this thing, all of it, nothing else, and on no condition."""
    taken = slots(rule.text)
    things = topic(thing)
    banned = frozenset(word for word in taken.forbidden if not word.startswith(("@", "~")))
    missing = banned - taken.wanted - things - WEAK
    return bool(things - WEAK) and not taken.conditions and things - WEAK <= banned and missing <= IMPLIED


def _just_broken(rule: Rule, actions: Sequence[str]) -> bool:
    """Whether the last tools did what the rule forbids."""
    taken = slots(rule.text)
    banned = taken.forbidden - taken.wanted - WEAK
    return bool(banned) and any(banned <= concepts(slots(action)) for action in actions[-6:])
