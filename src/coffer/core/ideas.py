"""Rules that many people give, in the words that they give them: two rules of one idea may say the same.

A clause that forbids the bad or asks for the good keeps an idea; one that does the opposite breaks it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from coffer.core.ideas_of_work import WORK, Idea
from coffer.core.slots import clauses, plain

CODE: tuple[Idea, ...] = (
    Idea(
        "secrets in logs",
        (
            r"(?=.*\b(?:secrets?|credentials?|passwords?|api keys?|tokens?)\b)(?=.*\b(?:log|logs"
            r"|logged|logging|print\w*|stdout|log files?)\b)"
        ),
    ),
    Idea(
        "commented-out code",
        (
            r"commented[- ]out|\bdead (?:code|lines)\b(?!.{0,20}\bdelet)"
            r"|code (?:that is )?commented(?: out)?"
        ),
        (
            r"\b(?:dead|unused|commented) (?:code|lines?)\b.{0,25}\b(?:delet|remov|go)|(?:delete"
            r"|remove) (?:dead|unused|commented)"
        ),
    ),
    Idea(
        "magic numbers",
        (
            r"magic (?:number|constant|value)s?|bare literals?|unnamed (?:constant|number)s?"
            r"|hard-?coded numbers?"
        ),
        r"named? constants?|name for (?:every|each) (?:number|constant)",
    ),
    Idea("wildcard import", r"(?:wildcard|star|glob) imports?|import \*"),
    Idea("select star", r"select \*", r"\b(?:list|name|spell out)\b.{0,25}\bcolumns?\b"),
    Idea(
        "print debugging",
        (
            r"(?!.*\b(?:secret|password|token)s?\b)(?:print|println|console\.log"
            r"|printf)(?:\(\))?\b.{0,40}\b(?:diagnos\w+|debug\w*|logging|log)|\b(?:debug\w*"
            r"|log)\b.{0,20}\b(?:print|println|console\.log)"
        ),
    ),
    Idea(
        "sleep in tests",
        (
            r"(?=.*\b(?:sleep|sleeps|sleeping|fixed (?:delay|wait)s?|time\.sleep)\b)(?=.*\b(?:tests?"
            r"|specs?)\b)"
        ),
        r"(?=.*\b(?:poll|wait (?:on|for))\b)(?=.*\b(?:tests?|specs?)\b)",
    ),
    Idea(
        "type hints",
        (
            r"\bunannotated\b|without (?:type[- ])?(?:hints?|annotations?)"
            r"|\buntyped\b.{0,20}\bfunctions?|missing type"
        ),
        r"\b(?:type[- ](?:hints?|annotations?)|annotate)\b",
    ),
    Idea(
        "documented functions",
        (
            r"(?:public|exported|pub)\b.{0,30}\b(?:without|lacking|missing)\b.{0,12}\b(?:docstrings?"
            r"|comments?|docs?)|undocumented (?:public|exported|pub)"
        ),
        (
            r"(?:document|docstring|comment|///)\w*\b.{0,30}\b(?:public|exported|pub)\b|(?:public"
            r"|exported|pub)\b.{0,30}(?:docstring|documented|comment|///)"
        ),
    ),
    Idea(
        "regression test",
        (
            r"(?=.*\b(?:fix|close|resolve)\b)(?=.*\b(?:bug|defect|issue)\b)(?=.*\b(?:without|until"
            r"|before|@ask)\b)(?=.*\b(?:test|spec)\b)"
        ),
        (
            r"(?=.*\b(?:bug|defect)s?\b)(?=.*\b(?:regression|failing|reproduc\w+) (?:test|spec))"
            r"|every bug ?fix\b.{0,30}\btest"
        ),
    ),
    Idea(
        "test first",
        (
            r"(?:implement\w*|code)\b.{0,25}\b(?:before|without|until)\b.{0,15}\b(?:a )?tests?"
            r"|没有测试.{0,6}(?:写|动手)|没有测试"
        ),
        r"tests? first|test-driven|\btdd\b|先写测试|write (?:the |a )?(?:failing )?tests? before",
    ),
    Idea(
        "applied migrations",
        (
            r"(?:edit|change|modify|alter|touch)\b.{0,30}\bmigrations?\b.{0,30}\b(?:applied|run|merged"
            r"|shipped|released|deployed)|\b(?:applied|existing|old|merged) migrations?"
            r"(?! (?:are|is) (?:immutable|final|frozen))"
        ),
        r"(?:add|write|create)\b.{0,15}\bnew migrations?|migrations? (?:are|is) (?:immutable|final|frozen)",
    ),
    Idea(
        "seeds",
        (
            r"(?:unseeded|without (?:a |fixing the |fixed )?seed"
            r"|random\w*\b.{0,40}\bwithout\b.{0,15}\bseed|unset seed)|seed unset"
        ),
        r"(?:fix|set|fixed)\b.{0,12}\b(?:random )?seeds?",
        placed=True,
    ),
    Idea(
        "string paths",
        (
            r"(?:paths?|file ?names?)\b.{0,30}\b(?:concat\w*|string|\+|os\.path)|(?:concat\w*"
            r"|os\.path)\b.{0,20}\bpaths?"
        ),
        r"\bpathlib\b|\bpath objects?\b",
    ),
    Idea(
        "obvious comments",
        (
            r"comments?\b.{0,30}\b(?:restat\w+|repeat\w*|obvious|what the code|explain the code)"
            r"|(?:obvious|redundant|explain the obvious)\b.{0,20}\bcomments?|explain the obvious"
        ),
        r"comments? (?:only )?(?:explain|say|for)? ?(?:the )?why",
    ),
    Idea("camel case", r"camel ?case\b", r"snake[_ ]?case", placed=True),
    Idea(
        "raw pointers",
        r"(?:new and delete|raw (?:owning )?pointers?|manual memory|manage memory)",
        r"smart pointers?|unique_ptr|\braii\b",
    ),
    Idea(
        "row loops",
        r"(?:loop|iterat\w+)\b.{0,20}\b(?:rows?|dataframe)|iterrows|itertuples",
        r"vectori[sz]\w+",
    ),
    Idea(
        "data leakage",
        (
            r"(?:fit|comput\w+|scal\w+)\b.{0,30}\b(?:scal\w+|statistics|normali\w+)\b.{0,40}\b(?:full"
            r"|whole|entire|all|test|anything but|outside)\b"
        ),
        r"(?:fit|comput\w+)\b.{0,25}\b(?:scal\w+|statistics)\b.{0,30}\b(?:training|train)\b",
    ),
    Idea(
        "bare except",
        (
            r"(?:bare|blanket|catch-all|broad) (?:except|catch|exceptions?)"
            r"|swallow\w*\b.{0,20}\b(?:errors?|exceptions?)|silent\w*\b.{0,20}\b(?:errors?|exceptions?"
            r"|catch)|empty catch|except:? pass|ignor\w+ (?:errors?|exceptions?)"
        ),
    ),
    Idea(
        "any type",
        (
            r"\bany\b.{0,15}\b(?:typescript|types?|casts?)|(?:type|cast to|typed as"
            r"|annotate\w* .{0,12}as) any\b|typescript\b.{0,15}\bany\b|\bas any\b"
        ),
    ),
    Idea("barrel files", r"barrel (?:files?|imports?)|index\.ts re-?exports?|re-?export\w*.{0,20}\bindex"),
    Idea(
        "mocked database",
        r"(?:mock|stub|fake)\w*\b.{0,15}\b(?:db|database)\b",
        r"\btestcontainers?\b|real (?:db|database)\b",
        placed=True,
    ),
    Idea("nested ternaries", r"nested ternar\w+|ternar\w+\b.{0,15}\bnest\w+"),
    Idea(
        "string sql",
        (
            r"(?:f-?strings?|concat\w*|interpolat\w+|format\w*)\b.{0,25}\b(?:sql|quer\w+)|(?:sql"
            r"|quer\w+)\b.{0,30}\b(?:f-?strings?|concat\w*|interpolat\w+)"
        ),
        r"parameteri[sz]ed quer\w+|bind (?:parameters|variables)|prepared statements?",
    ),
    Idea("todo comments", r"\b(?:todo|fixme)s?\b.{0,20}\bcomments?|leave\b.{0,12}\b(?:todo|fixme)s?\b"),
    Idea("default exports", r"default exports?", r"named exports?"),
    Idea("time zone", r"local time|naive (?:dates?|datetimes?|timestamps?)", r"\butc\b"),
    Idea(
        "let and const",
        r"^\W*(?:use |using )?var\b(?! in (?:java|c#|go|kotlin|swift)\b)",
        r"\b(?:const|let) (?:or|and) (?:let|const)\b",
    ),
    Idea(
        "mutation",
        r"mutat\w+\b.{0,15}\b(?:props?|state|arguments?)",
        r"(?:props?|state|arguments?)\b.{0,15}\bimmutable",
    ),
    Idea("inline styles", r"inline styles?|style attributes?", r"css modules?|style ?sheets?|tailwind"),
    Idea(
        "public api",
        r"(?:chang\w+|break\w*|alter)\b.{0,20}\bpublic (?:api|interface|signatures?)",
        r"public (?:api|interface|signatures?)\b.{0,20}\b(?:stable|unchanged|compatible)",
    ),
    Idea(
        "controllers",
        r"(?:business )?logic\b.{0,15}\b(?:controllers?|views?|handlers?)",
        r"thin controllers?|controllers? thin|logic (?:belongs|goes|lives) in(?:to)? services?",
    ),
)
"""About the code itself."""

IDEAS = (*WORK, *CODE)


@dataclass(frozen=True)
class Stance:
    """A rule's idea and whether it keeps it."""

    idea: Idea
    keeps: bool


@cache
def _compiled() -> tuple[tuple[Idea, re.Pattern[str], re.Pattern[str] | None], ...]:
    return tuple(
        (
            idea,
            re.compile(idea.bad, re.IGNORECASE),
            re.compile(idea.good, re.IGNORECASE) if idea.good else None,
        )
        for idea in IDEAS
    )


@lru_cache(maxsize=2_048)
def stances(rule: str, prepared: str = "") -> tuple[Stance, ...]:
    """The ideas that a rule speaks of."""
    parts = clauses(prepared or plain(rule))
    found = []
    for idea, bad, good in _compiled():
        keeps: bool | None = None
        for clause, forbids in parts:
            if bad.search(clause):
                keeps = forbids
                break
            if good is not None and good.search(clause):
                keeps = not forbids
                break
        if keeps is not None:
            found.append(Stance(idea, keeps))
    return tuple(found)
