"""General tables: things of one kind that exclude each other, and words that mean the same."""

from __future__ import annotations

import re

from coffer.core.regex import regex
from coffer.core.verbs import word_set

KINDS: dict[str, frozenset[str]] = {
    "package managers": word_set(
        "npm pnpm yarn bun uv pip pip3 poetry pipenv conda pdm rye hatch cargo gem bundler composer mamba"
    ),
    "test frameworks": word_set(
        "pytest unittest nose jest vitest mocha jasmine ava rspec minitest junit testng testify "
        "phpunit kotest"
    ),
    "formatters": word_set("black yapf autopep8 prettier biome gofmt goimports rustfmt clang-format dprint"),
    "linters": word_set(
        "eslint tslint flake8 pylint ruff golangci-lint clippy rubocop oxlint vale markdownlint"
    ),
    "type checkers": word_set("mypy pyright pytype pyre"),
    "search tools": word_set("grep rg ripgrep ag ack"),
    "http clients": word_set("request requests httpx aiohttp urllib urllib3 axios fetch got superagent ky"),
    "date libraries": word_set("moment dayjs date-fns luxon arrow pendulum"),
    "data frame libraries": word_set("pandas polars dask modin"),
    "databases": word_set("postgres postgresql mysql mariadb sqlite mongodb oracle duckdb"),
    "state libraries": word_set("redux mobx zustand recoil jotai"),
    "bundlers": word_set("webpack vite rollup esbuild parcel turbopack"),
    "container tools": word_set("docker podman buildah"),
    "editors of files": word_set("edit write multiedit sed"),
    "indentation": word_set("tabs spaces"),
    "languages": word_set("python bash rust go typescript javascript kotlin java ruby perl"),
    "logging": word_set("print println console.log logger logging printf"),
    "styles of naming": word_set("camelcase snake_case pascalcase kebab-case"),
    "ways to join branches": word_set("rebase merge squash"),
    "quotes": frozenset(("single quotes", "double quotes")),
}
"""Within one row a choice of one excludes the others."""

_KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}


def kind_of(thing: str) -> str:
    """The kind of a named thing, if it is in the tables."""
    low = re.sub(r"[`'\"()]", "", thing.lower()).strip()
    low = re.sub(r"^(?:the|a|an)\s+|\s+(?:tool|command|library|instead|here)$", "", low)
    if low in _KIND_OF:
        return _KIND_OF[low]
    words = low.split()
    return _KIND_OF.get(" ".join(words[:2]), "") or _KIND_OF.get(words[0] if words else "", "")


_SYNONYMS = """
commit: commits committing commited
reply: answer response respond
emoji: emojis emoticon emoticons smiley smileys 🎉 ✅ 🚀 ✨
test: spec specs unittest-file testing
alter: edit modify change patch touch adjust amend-file
delete: remove erase rm
show: display print-out
dependency: dependencies deps dep package packages library libraries
documentation: docs doc
directory: folder folders dir directories
function: functions fn func method methods
argument: parameter param params arguments parameters
pr: prs mr pull-request
repository: repo repositories repos
secret: secrets credential credentials password passwords token tokens key keys
typescript: ts tsx
javascript: js
python: py
typehint: annotation annotations annotated
db: database databases
config: configuration settings
error: exception exceptions errors
name: naming named
large: big huge
fast: quick
bug: defect defects bugs
ask: asks asking
co-author: co-authored-by coauthor co-authored coauthored-by
log: logging logger logs
format: reformat formatting formatted auto-format
hardcode: hard-code hardcoded hard-coded hardcoding
repeat: restate
ignore: suppress silence swallow
start: launch spawn
add: install include insert paste
guess: assume
production: prod
lower: reduce decrease loosen
stage: add-to-git
spaces: leerzeichen espacios espaces espaços spazi пробелы
tabs: tab tabulaciones tabulations tabulações табы
ripgrep: rg
postgres: postgresql
"""
SAME: dict[str, str] = {
    word: line.split(":")[0] for line in _SYNONYMS.strip().splitlines() for word in line.split(":")[1].split()
}
"""Words that name the same thing when two rules are compared."""

LIGHT = word_set(
    """
    a an the of for to and or on by with from at as is are be been it its this that these those you your
    me my i we our us them they their any some all every each only just
    always ever use uses using used make makes making put write writes writing do does doing have has
    having create creates call calls pass passes run runs give keep let get go in into when if then than
    there
    please instead one also first again own directly explicitly manually anything method methods lines
    line style tool command commands here now new over under via per must should would could can may will
    want need prefer such so too very really exactly current simply user users say-so before after until
    unless without not no never nothing stick put user's hand
    yourself directo directa directement directamente direkt anywhere
    的 了 在 里 到 把 就 也 都 地 个 些 用 使 会 去 来 上 你 我 让 谁 要 这 们
    direct against
    chat conversation git benutze используй utilizza nutze verwende nimm verwenden benutzen utilise
    utilisez utiliser
    der die das den dem ein eine einen im in mit und zu auf für von es sie wir ist nicht bitte direkt
    einfach vor dem immer
    le la les un une des du de et en sur dans pour ne pas est toujours avec
    el los las una del y en para por con que se siempre antes a hagas haz usa usar use usas
    o os as um uma e do da no na em para com sempre faça il lo gli di da per con sempre
    """
)
"""Words that distinguish no rule from another."""

ADDING = word_set("add show leave")
"""With the name of a thing these say no more than "use"."""

WEAK = word_set("alter show paste add create say get install print include open set start place insert leave")
"""Verbs that a person may say or leave out without meaning another rule."""

IMPLIED = word_set("commit")
OF_COMMITS = word_set("amend squash rebase co-author")
"""One squashes commits, and co-author lines stand in them: people leave that word out."""

LANGUAGES = word_set("python javascript typescript go rust java swift css html sql bash")
"""They tell rules apart where both name one, and else where a rule holds."""

OTHER = "otherkind"
"""Stands for "other package managers" and their like."""

PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (regex(pattern, re.IGNORECASE), concept)
    for pattern, concept in (
        (rf"\b(?:any )?other (?:{'|'.join(KINDS)})\b", OTHER),
        (r"\bforce[- ]?push(?:es|ing)?\b|\bpush(?:ing)? (?:with )?--force\b|\bgit push -f\b", "force-push"),
        (r"\bpull[- ]requests?\b|\bmerge[- ]requests?\b", "pr"),
        (r"\bcommit(?:s|ting)? messages?\b|\bgit messages?\b|\bcommit texts?\b", "commitmessage"),
        (r"\bsingle[- ]quot\w+", "singlequote"),
        (r"\bdouble[- ]quot\w+", "doublequote"),
        (r"\bem[- ]?dash(?:es)?\b", "emdash"),
        (r"\bco-?author(?:ed)?(?:-by)?(?: lines?| trailers?| tags?)?\b", "co-author"),
        (r"\btype[- ](?:hints?|annotations?)\b", "typehint"),
        (r"\bdoc[- ]?strings?\b", "docstring"),
        (r"\btest coverage\b|\bcoverage\b", "coverage"),
        (r"\bstraight to\b|\bdirectly to\b", "to"),
        (r"\bany\b(?=\W*(?:types?\b|in typescript|casts?))|\bas any\b", "anytype"),
        (r"\bgoogle[- ]style\b", "google"),
        (r"\bnumpy[- ]style\b", "numpy"),
        (r"\bthat (?:already )?exists?\b|\bexisting\b|\balready there\b", "existing"),
        (r"提交信息", " commitmessage "),
        (r"推送到?|推到|推上去|推", " push "),
        (r"提交", " commit "),
        (r"依赖", " dependency "),
        (r"注释", " comment "),
        (r"测试", " testing "),
        (r"删除|删掉|删", " delete "),
        (r"添加|新增|加", " add "),
        (r"修改|更改|改动|改", " alter "),
        (r"\b(?:borr(?:es|ar|aras|ado|a|e)|lösch(?:e|en|t)|supprim(?:e|er|é|ez))\b", "delete"),
        (r"直接|分支|以后|请|一定|使用|采用|再|随便|任何", " "),
        (r"表情符号", " emoji "),
        (r"\b(?:pousser?|poussé|pushen|pushe|gepusht|pushear)\b", "push"),
        (r"\bindent(?:ed|ing)? with\b", " "),
        (r"\b(?:turn(?:ed|ing)?|switch(?:ed|ing)?) off\b", "disable"),
        (r"\bcheck(?:ed|ing)? in(?:to git)?\b|\bput\b(?=.{3,30} (?:in|into) git\b)", "commit"),
        (r"\bglobal (?:variables?|state)\b|\bglobals\b", "globalvar"),
        (r"\bsay(?:ing)? (?:you are |you're )?sorry\b|\bapologi[sz]\w*\b|\bapologies\b", "apology"),
        (r"\babbreviat\w+\b", "abbreviation"),
        (r"\bmake a commit\b|\bcreate a commit\b", "commit"),
    )
)

PLACES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, regex(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "replies",
            (
                r"\b(?:in|into|to|of|open|your)\b[^.;]{0,25}\b(?:repl(?:y|ies)|answers?|responses?"
                r"|messages? to me|chat|conversation)\b|\bwhen you (?:answer|talk|reply|respond)\b"
                r"|\btalk to me\b|回答|回复|返信"
            ),
        ),
        (
            "commits",
            (
                r"\b(?:in|into|to|for)\b[^.;]{0,20}\bcommit(?:s| messages?| subjects?)?\b"
                r"|\bcommit (?:messages?|subjects?|bod)|\bgit (?:messages?|history)\b|提交信息|コミットメッセージ"
            ),
        ),
        ("code", r"\bin (?:the )?(?:source )?code\b|\bcode comments?\b|\bim code\b|代码里|コード"),
        ("tests", r"\bin (?:the )?(?:unit |integration |e2e )?(?:tests?|specs?)\b|\ba spec\b"),
        ("prs", r"\bin (?:the )?(?:prs?|pull requests?)\b|\bpr descriptions?\b"),
        ("docs", r"\bin (?:the )?(?:docs?|documentation|readme|reports?|guide)\b"),
        ("main", r"\b(?:to|on|onto|into|auf|a|sur|dans) (?:the )?(?:main|master)\b"),
        ("frontend", r"\b(?:in|on) the front-?end\b"),
        ("backend", r"\b(?:in|on) the back-?end\b"),
        ("production", r"\bprod(?:uction)?\b"),
        ("staging", r"\bstaging\b"),
    )
)
"""Where a rule holds; rules for different places are different rules."""

TONGUES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, regex(pattern, re.IGNORECASE))
    for name, pattern in (
        ("python", r"\bpython\b|\.py\b|\bpandas\b|\bpytest\b|\bpip\b"),
        ("javascript", r"\bjavascript\b|\bjs\b|\bnode\b"),
        ("typescript", r"\btypescript\b|\bts\b|\btsx\b"),
        ("go", r"\bgo(?:lang)?\b(?! to)|\bin go\b"),
        ("rust", r"\brust\b|\bcargo\b|\bcrate\b"),
        ("java", r"\bjava\b"),
        ("c#", r"\bc#"),
        ("c++", r"c\+\+"),
        ("swift", r"\bswift\b"),
        ("css", r"\bcss\b"),
        ("html", r"\bhtml\b"),
        ("sql", r"\bsql\b"),
        ("bash", r"\bbash\b|\bshell scripts?\b"),
        ("docker", r"\bdocker\w*\b"),
    )
)

EXCLUSIVE: tuple[frozenset[str], ...] = (
    *(names for names in KINDS.values()),
    frozenset(("singlequote", "doublequote")),
    frozenset(("length", "alphabetically", "alphabetical")),
    frozenset(
        ("english", "german", "french", "spanish", "chinese", "japanese", "italian", "portuguese", "russian")
    ),
    frozenset(("named", "default")),
    frozenset(("paragraph", "bullet")),
    frozenset(("camelcase", "snake_case", "kebab-case", "pascalcase")),
    frozenset(("short", "long")),
    frozenset(("amend", "rebase", "squash")),
    frozenset(("draft", "ready")),
    frozenset(("squash", "merge", "rebase")),
    frozenset(("public", "private")),
    frozenset(("sync", "async")),
)
"""Values of which a rule can want only one."""
