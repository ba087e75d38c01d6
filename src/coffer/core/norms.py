"""Statements of how things are done, kept in the person's own words: "plans go in the chat, not in files".

Nothing here is turned round, so the polarity is the person's. A statement is a norm only if it is about what
developers and agents produce (commits, tests, replies, …) and uses a verb of order; "the build always fails" has
the same words as "secrets always go into the vault", and is a report.
"""

from __future__ import annotations

import re

from coffer.core.regex import regex

_THINGS = (
    r"(?:commits?|commit (?:messages?|subjects?|bod(?:y|ies))|prs?|pull requests?|pr (?:descriptions?"
    r"|titles?)|branch(?:es)?"
    r"|branch names?|(?:unit |integration )?tests?|test (?:files?|names?)|specs?|(?:code )?comments?"
    r"|docstrings?|columns?"
    r"|column names|tables?|dependencies|deps|migrations?|imports?|types|docs|documentation|plans?"
    r"|replies|answers|summaries"
    r"|explanations|variables?|variable names|function names|names|file ?names|classes|secrets?"
    r"|credentials|api keys|defaults"
    r"|logs|log messages|error messages|changelog entries|notebooks?|plots?|charts?|fixtures?"
    r"|test data|config(?:uration)?"
    r"|constants|enums|routes|endpoints|queries|scripts|metrics|dates|timestamps|(?:raw|prod"
    r"|production|customer) data"
    r"|bug ?fix(?:es)?|releases?|tickets?|issues?|todos?|adrs?|changes|features|deploys|deployments"
    r"|reviews?|style changes"
    r"|refactorings?|generated (?:code|files)|third[- ]party code)"
)
_WHOLE = r"(?:(?:all|every|each|any|our|new|the) (?:of (?:the|our|my) )?)?(?:new |my |your )?(?:[\w-]+ )?"
_PLACE = r"(?: (?:in|for|of|to|on) (?:this|the|our|a|an) [\w-]+)?"
_ORDERS = (
    r"(?:must(?: not| never)?|should(?: not| never| always)?|ha(?:s|ve) to|need(?:s)? (?:to )?"
    r"|go(?:es)? (?:in|into|to|under"
    r"|through|on|next to)|belongs? (?:in|into|to|under|next to)|lives? (?:in|under|next to)"
    r"|stays? (?:in|out of|under|short"
    r"|small|flat|as)|gets? (?:a|an|their|its)|(?:are|is) (?:always|never|written|named|kept"
    r"|formatted|ordered|sorted)"
    r"|(?:always|never) (?:go|goes|live|lives|leave|leaves|get|gets|use|uses|come|comes|start|starts"
    r"|end|ends|have|has|carry"
    r"|carries)|end (?:in|with)|ends (?:in|with)|starts? with|uses?|carry|carries)"
)
STATEMENT = regex(
    rf"^{_WHOLE}{_THINGS}{_PLACE} (?:also |all |always )?(?:{_ORDERS}\b.{{3,}}"
    r"|(?:is|are) (?:in )?(?:snake_case|camelcase|pascalcase|kebab-case|screaming_case|upper ?case"
    r"|lower ?case|plural|singular"
    r"|imperative|english|drafts?|flat)\b.{0,40})$",
    re.IGNORECASE,
)
MASS = regex(
    r"^[a-z][\w-]* (?:data|code|changes|files|secrets|tokens) (?:is |are )?(?:always|never) "
    r"(?:leaves?|goes|go|lives?|comes? with|gets?|stays?|ha(?:s|ve)|breaking|part of|committed|logged"
    r"|stored)\b.{3,}$",
    re.IGNORECASE,
)
EVERY = regex(
    r"^(?:every|each) [\w -]{3,50}? (?:also )?(?:needs?|must|gets?|carries|has to|comes with) .{3,}$",
    re.IGNORECASE,
)
WHENEVER = regex(
    r"^(?:whenever|every time|each time|any time|when(?P<once>)) (?:you|we|i) [^,]{3,70}?(?:, ?| )(?P<verb>run|add"
    r"|write|paste|show|tell|ask"
    r"|update|check|use|put|say|give|include|mention|bump|rebuild|regenerate|keep|make|open|link|list"
    r"|explain|report)\b.{3,}$",
    re.IGNORECASE,
)
WISH = regex(
    r"^(?:i|we) (?:want|expect|need|would like) (?:all|every|my|our|any) [\w -]{2,50} to (?!be able)[a-z]+ .{3,}$",
    re.IGNORECASE,
)
ONE_BY_ONE = regex(
    r"^(?:a |only )?(?:one|single) (?:logical )?(?:question|change|commit|test file|thing|topic|class"
    r"|assertion|idea|ticket)"
    r"(?: (?:at a time|per (?:[\w-]+ ?){1,2}|each)){1,2}$",
    re.IGNORECASE,
)
FRAGMENT = regex(
    rf"^{_WHOLE}{_THINGS} (?:in|as|with|without|through|into|under) [\w '-]{{3,60}}$", re.IGNORECASE
)
"""Without a verb it is a norm only where the person says that it holds always."""
HABIT = regex(
    r"^i (?:always )?(?P<verb>name|write|number|keep|prefer|format|spell|sort) [\w./*-]+ .{3,}$",
    re.IGNORECASE,
)
"""What the person does themselves is a norm where they say that it is for the future."""
ON_REQUEST = regex(
    r"^(?:[\w-]+ ){0,3}[\w-]+ only (?:when|if) (?:i|the user) (?:asks?|says?|tells?|requests?)\b.{0,40}$"
    r"|^only (?:comment|log|mock|document|catch|abstract) .{3,60}$",
    re.IGNORECASE,
)
FIRST = regex(
    r"^(?:write )?(?:the )?(?:failing )?(?:tests?|specs?|plan) (?:first|before (?:the )?(?:code"
    r"|implementation))\b.{0,40}$"
)
TROUBLE = regex(
    r"\b(?:fail\w*|errors? (?:out|again)|crash\w*|broken?|breaks?|wrong|slow|empty|null|undefined"
    r"|timeouts?|hang\w*|flaky"
    r"|missing|weird|users?|customers?|clients?|button|page|screen|modal|form|field|response|api returns?)\b",
    re.IGNORECASE,
)
"""A report, or what the product shall do."""


SEEN = regex(r"^the [\w -]{2,40}? (?:always|never) ", re.IGNORECASE)
"""An observation, and perhaps a complaint: "the tests never use the real database"."""


def norm(sentence: str, *, standing: bool) -> str:
    """The statement as one line without a full stop, or nothing. standing: the person says that it holds always."""
    text = " ".join(sentence.split()).strip(" .!,;:")
    if not text or len(text) > 180 or "?" in text or TROUBLE.search(text) or SEEN.match(text):
        return ""
    when = WHENEVER.match(text)
    if when and when["once"] is not None and not standing:
        return ""
    if any(form.match(text) for form in (STATEMENT, MASS, EVERY, WHENEVER, ONE_BY_ONE, ON_REQUEST)):
        return text
    if WISH.match(text):
        return re.sub(r"^(?:i|we) (want|expect|need)\b", r"the user \1s", text, flags=re.IGNORECASE).replace(
            "would like", "wants"
        )
    habit = HABIT.match(text)
    if standing and habit:
        return re.sub(
            rf"^i (?:always )?{habit['verb']}", f"the user {habit['verb']}s", text, flags=re.IGNORECASE
        )
    if standing and (FRAGMENT.match(text) or FIRST.match(text)):
        return text
    return ""
