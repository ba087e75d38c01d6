"""The forms of clauses that forbid, choose or order: the tables that `phrases` reads with."""

from __future__ import annotations

import re

from coffer.core.regex import regex
from coffer.core.verbs import BASE, word_set

SENTENCES = regex(r"(?<=[!?;。！？])\s*|(?<=\.)\s+|\n+|\s+[-–—]+\s+")
LEAD = regex(
    r"""^(?:\W*(?:no+|nope|nah|ok(?:ay)?|yes|yep|hey|hm+|ugh|lol|dude|man|omg|and|but|so|also|just|please|pls
  |plz|btw|by\ the\ way|fyi|well|oh|then|thanks|thank\ you
      |great|good|nice|fine|perfect|works|keep\ (?:it\ )?in\ mind(?:\ that)?
      |seriously|honestly|look|listen|guys|again|really|sorry|in\ general
        |generally|for\ the\ future|one\ thing|small\ thing|remember|note
      |as\ (?:i|we)\ said|i\ said|like\ i\ said|heads\ up|in\ this\ (?:repo|project|codebase)|in\ (?:the
        |our)\ (?:repo|project)|here|in\ here|you\ (?:should|must))\b[\s,:;.!–—-]*)+""",
    re.IGNORECASE | re.VERBOSE,
)
STANDING = regex(
    r"""^(?:\W*(?:from\ (?:now|here)\ on(?:wards)?|going\ forward|in\ (?:the\ )?future
      |(?:next|every)\ time(?!\ (?:you|we|i|it|the|there)\b)
  |always|please\ always|make\ sure\ (?:to\ always|you\ always)|(?:i|we)\ (?:always\ )?want\ you\ to|we\ always
      |in\ all\ my\ projects|everywhere|for\ (?:every|all)\ \w+)\b[\s,:;]*(?:please\b[\s,]*)?)+""",
    re.IGNORECASE | re.VERBOSE,
)
TRAIL = regex(
    r"""[\s,]*\b(?:please|pls|plz|ok|okay|thanks|thank\ you|thx|any\ ?more|ever\ again|again|ever|btw|man|dude
  |here|around\ here|at\ all|anywhere|from\ now\ on|in\ (?:the\ )?future|going\ forward|too|instead|
      in\ general)\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
NOT = (
    r"(?:do\s?n['’o]?t|don’t|do not|never(?: ever)?|must(?: not|n'?t)|should(?: not|n'?t)"
    r"|may not|(?:i )?(?:do not|don'?t) want you to)"
)
BAN = regex(rf"^(?:we |you (?=must|should|may))?(?:{NOT})\s+(?:ever )?(?P<vp>.+)$", re.IGNORECASE)
"""Never "you never test this": that is a complaint, and the rule is its opposite."""
NEGATIVE = regex(rf"(?:we |you )?{NOT}\b|(?:stop|quit|avoid|no|not)\b", re.IGNORECASE)
STOP = regex(
    r"^(?:stop|quit|avoid|no more|refrain from|no)\s+(?P<vp>[\w-]+ing\b.*|force.push.*)$", re.IGNORECASE
)
NO = regex(r"^(?:no|zero|absolutely no)\s+(?P<np>[\w@.`/*'’!+-]+(?:\s+[\w@.`/*'’!+-]+){0,5})$", re.IGNORECASE)
OFF = regex(
    (
        r"^(?P<np>[\w@.`/*()-]+(?:\s+[\w@.`/*()-]+){0,3})\s+(?:is|are)\s+(?:off[ -]limits|forbidden"
        r"|banned|not allowed|taboo|a no.go)(?P<where>\s+(?:in|under|on)\s+(?:our\s+|the\s+)?[\w./ -]{2,30}?)?"
        r"(?:,\s(?!.*\b(?:unless|except|only|but|until|if)\b).*)?$"
    ),
    re.IGNORECASE,
)
LEAVE = regex(
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
BARE = regex(
    r"^(?P<use>[\w@./`-]+(?: [\w@./`-]+)?)(?: here)?(?:,)? not (?P<against>[\w@./`-]+(?: quotes)?)$",
    re.IGNORECASE,
)
NAMED_AS = regex(
    r"^(?:our |all |the )?(?P<what>[\w-]+(?: names| [\w-]+)?) (?:are"
    r"|is) (?P<use>[\w.-]+)(?: here)?,? not (?P<against>[\w.-]+)$",
    re.IGNORECASE,
)
"""Of one kind, or it is a fact: "the ids are integers, not strings"."""
CHOICE = (
    regex(
        (
            rf"^{USE}\s+(?P<use>[^,]+?)(?:,\s*|\s+(?:and|but)\s+|\s+)(?:not|never|no|instead of"
            rf"|rather than|in place of)\s+(?:use\s+|using\s+)?(?P<against>[^,]+)$"
        ),
        re.IGNORECASE,
    ),
    regex(
        (
            rf"^(?:do\s?n['’o]?t|do not|never|not)\s+use\s+(?P<against>[^,;]+?)[,;]\s*(?:but\s+"
            rf"|please\s+)?{USE}\s+(?P<use>[^,]+)$"
        ),
        re.IGNORECASE,
    ),
    regex(
        (
            r"^no\s+(?P<against>[\w@.`/-]+(?:\s[\w@.`/-]+)?)[,;]\s*(?:but\s+|only\s+)?(?:use|we use"
            r"|we only use|please use)\s+(?P<use>[^,]+)$"
        ),
        re.IGNORECASE,
    ),
    BARE,
    regex(
        r"^we (?:don['’]?t|do not|never) use\s+(?P<against>[^,;]+?)(?: here)?[,;]\s*(?:just|only)\s+(?:use\s+)?"
        r"(?P<use>(?!on\b|in\b|for\b|when\b|if\b|at\b|the\b|as\b|with\b|to\b)[\w@./`-]+(?: [\w@./`-]+){0,2})$",
        re.IGNORECASE,
    ),
    regex(r"^(?:i )?(?:prefer|favou?r)\s+(?P<use>[^,]+?)\s+over\s+(?P<against>[^,]+)$", re.IGNORECASE),
    regex(r"^instead of\s+(?P<against>[^,]+),\s*(?:please\s+)?use\s+(?P<use>[^,]+)$", re.IGNORECASE),
)
NO_THING = regex(
    r"(?:because|only|just|sure|yet|for|in|on|at|when|as|to|that|necessarily|always|every|all|until"
    r"|before|after|if|need|problem"
    r"|worries|idea|rush|matter|longer|more|so|too|very|really|even|like|the way|how|what|why)\b",
    re.IGNORECASE,
)
"""What may stand after "not" without being an alternative."""
WE_USE = regex(
    (
        r"^(?:we (?:only |always )?use|we're on|always use|only use|stick (?:to|with)"
        r"|use only)\s+(?P<use>[^,]+?)(?:\s+(?:here|in this (?:repo|project)|for everything"
        r"|everywhere))?$"
    ),
    re.IGNORECASE,
)
WANTED = regex(
    r"(?:\w+ )?(?:tests?|docs?|documentation|docstrings?|types?|annotations?|logs?|logging|validation|checks?|readme"
    r"|changelog|entry|error handling|comments?|commits?|output|response|review|backup|migration|sign"
    r"|trace|summary)$",
    re.IGNORECASE,
)
ADDED = regex(
    (
        r"\b(?:deps?|dependenc\w+|packages?|comments?|docstrings?|files?|headers?|trailers?|lines?"
        r"|tests?|badges?|readmes?|attribution|footers?|annotations?|prints?)\b"
    ),
    re.IGNORECASE,
)

LISTED = regex(r"[\w -]{1,30}(?:, [\w -]{1,30})*,? (?:or|and) [\w -]{1,30}")
ADVERB = regex(r"(?:automatically|directly|blindly|silently|manually|proactively)\s+", re.IGNORECASE)
REASON = regex(
    (
        r"\s*,?\s*\b(?:because|since|cause|'cause|as (?:it|that|this|they|we|i)|so that (?:it|we"
        r"|i)|otherwise|or (?:it|they|we|i|you|else)|it(?:'s| is| will| just)|that(?:'s| is| will"
        r"| just)|they (?:are|will|get))\b.*$"
    ),
    re.IGNORECASE | re.DOTALL,
)
MIXED = regex(
    rf"\b(?:and|but|then)\s+(?:please |then |just |instead )*(?:{'|'.join(sorted(BASE))})\b", re.IGNORECASE
)
"""A ban and an order in one breath: what is forbidden ends somewhere that we can't see."""
EVERY_TIME = regex(
    r"\b(?:every time|each time|always|all the time|everything|everywhere|just|only)\b", re.IGNORECASE
)
"""Under a negation these turn "all" into "not all"."""
LIMIT = regex(r"\W*(?:only|just)\b", re.IGNORECASE)
NOUN_LIMIT = regex(r"^(?:only|just) (?:the|those|what) [^,;]{3,80}$", re.IGNORECASE)
COMMAND = regex(
    r"^`?(?:git|npm|npx|pnpm|yarn|pip|docker|kubectl|helm|cargo|curl|sudo|rm|sed|make|terraform|brew|apt)\s+[\w.-]"
)
LASTING_VERBS = word_set(
    "use put keep write ask add make show leave run open create prefer call give let start stick"
)
"""What to do instead is kept if it is a way of working, and not the task in hand ("fix pricing.py")."""


INSTEAD = word_set("use ask put keep stick call leave prefer run")
"""Orders that after a ban say what to do instead of what it bans, and are no new task."""
SPLITS = regex(
    r",\s+(?=(?:and |but |so |please |then )*(?:do\s?n[o'’]?t|do not|never|no|use|stick|stop|leave"
    r"|just|always|we|only|it|that|i|you|the)\b)|\s+(?:but"
    r"|and)\s+(?=(?:please )?(?:do\s?n[o'’]?t|do not|never|stop|always)\b)"
    r"|,?\s+so\s+(?=(?:please |just )*(?:no|never|do\s?n[o'’]?t|do not|always|use|keep|all|every|plots|tests)\b)"
    r"|,\s+(?=ask (?:me |us )?(?:first )?before\b)",
    re.IGNORECASE,
)
HEAD = regex(
    r"^\W*(?:(?:in|for|on) )?(?:(?:this|the|our|my|new|all) )?(?:new |of my )?(?:repos?|repository"
    r"|project|codebase|code base"
    r"|team)(?: here)?$|^\W*(?:(?:a |one |new |house |the )?(?:rules?|conventions?|notes?|reminder)\b.{0,30}"
    r"|(?:fyi|heads up|remember|again|no|please|always|generally|seriously|look|listen)\b.{0,20}"
    r"|(?:one|small|another) (?:more )?thing\b.{0,30}|(?:for|in) (?:the )?future|(?:whatever"
    r"|for everything|in general)\b"
    r".{0,40}|(?:as |like )?i (?:said|told you)\b.{0,20}|.{0,20}(?:every|all my) \w+)$",
    re.IGNORECASE,
)
"""Heads that narrow nothing: without one of these "in the tests: no mocks" would lose its place."""
ASKING_FIRST = regex(
    r"^(?:(?:could|can|would) you (?:please )?)?(?P<how>ask|check with|tell|consult)(?: me| us)?(?: first)?"
    r"(?: for (?:permission|approval))? before (?:you |ever )*(?P<vp>[\w-]+.*)$",
    re.IGNORECASE,
)
HOW_ASKED = {"ask": "asking", "check with": "asking", "tell": "telling", "consult": "asking"}
MANNER = regex(
    r"^(?:(?:drop|lose|cut|skip|enough(?: with| of)?|leave out|spare me|get rid of|ditch)(?: all"
    r"| out)? (?:the |your |all )*)"
    r"(?P<np>(?:emojis?|emoticons|flattery|praise|compliments|apologies|pleasantries|preambles?"
    r"|disclaimers?|fluff|filler"
    r"|exclamation marks?|em[- ]dash(?:es)?|small talk|cheerleading|sycophancy|time estimates"
    r"|boilerplate)(?: in [\w ]{3,30})?)$",
    re.IGNORECASE,
)
"""Things of which nobody orders a single one to be dropped; a column or a test may well be a task."""
STYLE = regex(
    r"^(?:keep|write|make) (?:your |the |all )(?:final |closing )?(?:answers|replies|responses"
    r"|summaries|messages|explanations"
    r"|commit messages|commits|comments|prs|functions|diffs|plans|titles|subjects)\b",
    re.IGNORECASE,
)
REASONED = regex(
    r"^(?P<said>[^,]+),\s+(?:(?:we|they|it|i|that|this|the|my|our|[\w-]+)(?: \w+)? (?:is|are|has|have"
    r"|was|were|breaks?|makes?|depends?|needs?|expects?"
    r"|already|looks?|reads?)\b|(?:we|they|it|i|that|this|there)['’](?:s|re|ve)\b|because\b"
    r"|since\b)(?!.*\b(?:unless|except"
    r"|only|if|but|until)\b).*$",
    re.IGNORECASE,
)

ALWAYS = regex(
    r"\b(?:always|every time|from now on|in (?:the )?future|for (?:the )?future|going forward"
    r"|in general|everywhere|as a rule"
    r"|in (?:all|every) (?:of )?(?:my|our) [\w ]+|for later|at all times)\b",
    re.IGNORECASE,
)
EACH = regex(
    r"\b(?:whenever|every time|each time|any time) (?:you|we|i)\b"
    r"|\b(?:for|on|in|after|before|with) (?:each|every)\b|\bin all (?:of )?(?:my|our)\b|\bin (?:all )?my other\b",
    re.IGNORECASE,
)
"""What makes an order one for every time."""
ASIDES = regex(r",?\s+so\s+(?=[a-z]+ )|,\s+(?=in (?:this|our) (?:codebase|repo|project)\b)", re.IGNORECASE)
AFTERTHOUGHT = regex(
    r",\s+(?:that['’]?s|it['’]?s|it is|it just|they|because|since|takes|company policy|that is"
    r"|like (?:literally|the|every)"
    r"|as (?:in|you|we|it)|see|e\.g\.|for example|not sure|we['’]ve)\b(?!.*\b(?:unless|except|only|until|if)\b).*$"
    r"|\s*\([^)]*\)",
    re.IGNORECASE,
)
"""A reason or an example, which the rule doesn't need; never a condition."""

ALWAYS_TOO = regex(r"^\W*(?:always|every time|from now on|no exceptions)\W*$", re.IGNORECASE)
"""Said after an order, on its own, it makes the order one for every time."""
AVOID = regex(
    r"^avoid (?:using |the use of |any )?(?P<np>[\w@.`/*'’-]+(?:\s+[\w@.`/*'’-]+){0,4})$", re.IGNORECASE
)
NOTHING = regex(
    r"^nothing (?:gets|is|may be|should be|must be|shall be|is to be) (?P<done>installed|committed"
    r"|pushed|merged|deployed"
    r"|deleted|published|released) (?P<how>(?:globally|on my machine|without|unless|before|directly"
    r"|straight).{0,60})$",
    re.IGNORECASE,
)
FINITE = regex(
    r"(?:is|are|was|were|has|have|had|does|did|will|can|seems?|looks?|fails?|works?|takes?)\b", re.IGNORECASE
)
"""What follows a name, as in "grep is slow", and never an order."""
COMPOUND = regex(
    r"^(?:commit|test|branch|log|release|plan|name|comment|file|error|build|tag|type|query|script"
    r"|cache|call|change|import"
    r"|review|request|report|merge|patch|plot|schedule|store|format|link|list|print|export|return"
    r"|search|set|start|state"
    r"|track|wait)s? (?:messages?|subjects?|bod(?:y|ies)|files?|names?|cases?|requests?|notes?|levels?|lines?|output"
    r"|titles?|conflicts?|scripts?|errors?|results?|data|hooks?|coverage|suites?|types?|hints?|statements?|keys?"
    r"|comments?|entr(?:y|ies)|logs?|values?|times?)\b",
    re.IGNORECASE,
)
"""Names whose first word could be an order: "commit messages in English" orders no commit."""
PASTS = {
    "put": "put",
    "wrote": "write",
    "made": "make",
    "ran": "run",
    "left": "leave",
    "read": "read",
    "sent": "send",
    "set": "set",
    "hid": "hide",
    "threw": "throw",
    "broke": "break",
    "overwrote": "overwrite",
    "rewrote": "rewrite",
    "cut": "cut",
    "took": "take",
    "gave": "give",
    "kept": "keep",
    "told": "tell",
    "built": "build",
    "dropped": "drop",
    "skipped": "skip",
    "committed": "commit",
    "stopped": "stop",
    "stubbed": "stub",
    "reset": "reset",
    "shipped": "ship",
}
DID_THAT = regex(
    r"(?:^|[.!,;]\s+|\W)(?P<deed>(?:you(?:['’]ve| have)? (?:just |again |also |even )*(?P<past>\w+)"
    r"|did you (?:just |really |seriously )*(?P<base>\w+)) (?P<thing>[^.!?;,]{3,80}))[.!?;,]+\s*"
    r"(?:not (?:acceptable|ok|okay|good|cool)[,.!]\s*)?(?:please |and )?(?:never|don['’]?t|do not|stop)\s+(?:ever )?"
    r"(?:do(?:ing)?)\s+(?:that|this)\b(?! (?:yet|now|today|here|this time|for now))",
    re.IGNORECASE,
)
"""What the agent did, and that it must not: "you edited the lockfile. never do that"."""
