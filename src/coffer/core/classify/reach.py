"""How far a correction reaches: this project or this person everywhere, and which kind of work it is about."""

from __future__ import annotations

import re

from coffer.core.regex import regex

LOOKED_AT = 600

PERSON = regex(
    r"""\b(?:all\ (?:of\ )?my|any\ project|every\ project|all\ projects|in\ every\ project|whatever\ machine
  |every(?:where|\ task)|anywhere
      |(?:for|with|to|tell|ask|show|give|let)\ me\b|\bmy\b|\bi(?:'m|'d|'ve)?\b|myself|you(?:'re|r)?\b|again
      |reply|replies|answers?|emoji\w*|summar\w+|essays?|explain\w*|apolog\w+|flattery|co-author\w*|trailer
        |attribution|ask(?:ing)?\ (?:me|first|before)|push|force|unasked
      |undo|revert|restore|put\ it\ back|lockfile|junk|test(?:s)?\ green|assert\w*|skip\w*|secrets?|\.env
        |credentials?
      |ich|mir|mich|dir|du|je|moi|tu|mí|me|eu|mim|io|mi|мне|меня|я|ты)\b|我|谁|私|なぜ|ください""",
    re.IGNORECASE | re.VERBOSE,
)
PROJECT = regex(
    r"""\b(?:this|the|our|that)\ (?:\w+\ )?(?:repo(?:sitory)?|project|codebase|code\ base|team|app|engine
  |lib(?:rary)?|monorepo|product|company|package|crate|service|system|schema|db|database|table)\b
      |\b(?:we(?:'re|'ve)?|our|us|here|team|company)\b|\b\w+/[\w/.-]*|\b\w+\.(?:py|ts|js|tsx|go|rs|md|json
        |ya?ml|toml|java|kt|rb|lock)\b|\b[A-Z]{2,}-\d+
      |\b(?:projekt|repo|bei\ uns|wir|projet|d[ée]p[ôo]t|on\ (?:utilise|est|n)|proyecto|aqu[íi]|projeto
        |progetto|qui|проект\w*|у\ нас|мы)\b|项目|仓库|我们|公司|プロジェクト|リポジトリ""",
    re.IGNORECASE | re.VERBOSE,
)
EVERYWHERE = regex(
    r"\b(?:(?:all|any|every|each)(?: of)?(?: my| your)? (?:\w+ )?(?:projects?"
    r"|repos?(?:itories)?|python|tasks?|machines?)|in all projects|always with me|for me"
    r"|my other repos|whatever machine|in allen|tous mes|todos los proyectos|"
    r"todos quero|в(?:о)? всех)\b|所有项目",
    re.IGNORECASE,
)

SCOPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, regex(pattern))
    for name, pattern in (
        (
            "git",
            (
                r"\b(?:git|commit\w*|push\w*|branch\w*|merge[sd]?|rebas\w+|amend\w*|squash\w*|stash\w*"
                r"|pull requests?|prs?|co-author\w*|trailer|force|tags?|main|reviewers?|worktree|history"
                r"|коммит\w*|пуш\w*|commite\w*)\b|提交|推送|コミット|プッシュ"
            ),
        ),
        (
            "testing",
            (
                r"\b(?:tests?|testing|mock\w*|assert\w*|pytest|unittest|vitest|jest|fixtures?|snapshot"
                r"|coverage|e2e|flaky|tdd|benchmark\w*|pruebas|тест\w*|cassettes|skip(?:ping|ped)?)\b|测试"
                r"|テスト"
            ),
        ),
        (
            "dependencies",
            (
                r"\b(?:dependenc\w+|deps|packages?|install\w*|upgrad\w+|npm|pnpm|yarn|pip|uv|poetry|bun"
                r"|lock ?files?|package(?:-lock)?\.json|gemfile\S*|cargo\.lock|librar(?:y|ies)|axios"
                r"|lodash|moment|version bump|bump\w*|numpy|react)\b|依赖|依存"
            ),
        ),
        (
            "security",
            (
                r"\b(?:secrets?|credentials?|passwords?|tokens?|api keys?|\.env\S*|pii"
                r"|prod(?:uction)?(?: data)?|vault|private|public repo|auth\w*)\b|密钥|本番"
            ),
        ),
        (
            "docs",
            (
                r"\b(?:readme|docs?|documentation|changelog|docstrings?|adrs?|markdown|guide|license|wiki"
                r"|release notes)\b|文档|ドキュメント"
            ),
        ),
        (
            "communication",
            (
                r"\b(?:emoji\w*|repl(?:y|ies)|answers?|summar\w+|essays?|explain\w*|explanations?|tone"
                r"|flattery|apolog\w+|bullets?|prose|short|verbose|language|questions?|tell me|deutsch"
                r"|français|español|italiano|lines max|em dashes|dashes|praise|units)\b|回答|日本語|по-русски"
            ),
        ),
        (
            "files",
            (
                r"\b(?:files?|folders?|director(?:y|ies)|write|overwrit\w+|edit|rewrit\w+|delete[ds]?|rm"
                r"|repo root|root|temp|generated|gen/|vendored?|third_party|generated|csv|schema)\b|文件"
                r"|ファイル|datei\w*|fichier\w*"
            ),
        ),
        (
            "tools",
            (
                r"\b(?:cat|grep|sed|bash|curl|make|docker|helm|kubectl|terraform|argo|tool|command|script"
                r"|linter|lint|prettier|black|ruff|eslint|hooks?|read tool|edit tool|gh|shell|alembic|gpu"
                r"|npm audit)\b"
            ),
        ),
        (
            "planning",
            (
                r"\b(?:plans?|planning|steps?|todo(?:s)?|before (?:you|any)|ask(?:ed)?|first|asking"
                r"|only asked|task|overcomplicat\w+|over-?engineer\w*|assum\w+|guess\w*|proceed|wait"
                r"|ticket|approval)\b|计划|計画|план"
            ),
        ),
        (
            "code-style",
            (
                r"\b(?:comments?|nam(?:e|es|ing)|style|format\w*|imports?|types?|hints?|tabs|spaces|quotes"
                r"|var|any|class(?:es)?|functions?|ternar\w+|snake_case|camelcase|enums?|loops?"
                r"|exceptions?|errors?|refactor\w*|helpers?|logger|print\w*|console\S*|"
                r"sleep\w*|inline|hooks|globals?|singletons?|constants?|sql|columns?|nullable|ts-ignore"
                r"|unwrap|pointers?)\b|注释|代码|コメント"
            ),
        ),
    )
)


def persistence(turn: str) -> str:
    """`session` for what holds in this project, `persistent` for what this person wants everywhere."""
    turn = turn[:LOOKED_AT]
    if EVERYWHERE.search(turn):
        return "persistent"
    project = len(PROJECT.findall(turn))
    person = len(PERSON.findall(turn))
    return "session" if project > 0 and project * 2 >= person else "persistent"


def scope(turn: str, before: str) -> str:
    """One word for the kind of work: the person's own words weigh more than what the agent had just done."""
    turn, before = turn[:LOOKED_AT].lower(), before[-400:].lower()
    best, most = "other", 0.0
    for place, (name, pattern) in enumerate(SCOPES):
        weight = 2.0 * len(set(pattern.findall(turn))) + 0.5 * len(set(pattern.findall(before)))
        weight -= place * 0.01
        if weight > most + 0.2:
            best, most = name, weight
    return best if most >= 0.4 else "other"
