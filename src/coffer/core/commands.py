"""Shell commands as a journal tells them: what they were for, without what only looks, filters or moves about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coffer.core.check_counts import counts
from coffer.core.redact import kept, redact
from coffer.core.regex import regex
from coffer.core.steps import DELETED, Committed, Ran, Step, Touched

LONGEST_SHOWN = 120
"""Characters of a command."""
LONGEST_READ = 4_000
LONGEST_WHY = 160
_LOOKS = regex(
    r"cd|ls|cat|head|tail|grep|rg|egrep|fgrep|find|fd|echo|printf|pwd|which|type|whoami|date|wc|sort|uniq|cut|"
    r"awk|jq|yq|tree|file|stat|ps|top|sleep|true|false|test|\[|\[\[|env|printenv|export|set|unset|source|\.|"
    r"xxd|hexdump|od|diff|cmp|less|more|du|df|id|uname|hostname|clear|history|man|tr|tee|xargs|column|basename|"
    r"dirname|realpath|readlink|mkdir|touch|chmod|for|while|until|if|do|done|then|fi|else|case|esac|\{|\}|\(|"
    r"\)|!|command|hash|alias|read|nl|strings|base64|md5sum|sha256sum|shasum|seq|yes|kill|pgrep|lsof|netstat|"
    r"ss|curl|wget|open|code|bat|exa|eza|dir|get-content|get-childitem|select-string|wait|jobs|pushd|popd|"
    r"sqlite3|psql|mkfifo|mktemp|rmdir|git-lfs|return|exit|local|function|break|continue|trap|ulimit|umask|"
    r"shift|let|declare|eval|exec|tput|stty|sed|rm|mv|cp|unlink|ln"
)
"""Commands that change nothing that a journal tells."""
_GIT_LOOKS = regex(
    r"status|log|diff|show|branch|blame|ls-files|ls-tree|ls-remote|rev-parse|rev-list|remote|fetch|config|"
    r"reflog|cat-file|describe|grep|shortlog|add|for-each-ref|merge-base|check-ignore|show-ref|symbolic-ref|"
    r"name-rev|count-objects|var|version|help|commit|hash-object|diff-tree|diff-index"
)
_GH_LOOKS = regex(
    r"gh (?:(?:pr|issue|run|repo|release|workflow) (?:view|list|diff|checks|status|watch|download)|api|search|auth)\b"
)
_INLINE = regex(
    r"(?:python[\d.]*|node|ruby|perl|php|bun|deno|bash|sh|zsh|pwsh|powershell)\s+(?:-\w+\s+)*(?:-c|-e|-|-[pn]e"
    r"|-Command)(?:\s|$)",
    re.IGNORECASE,
)
"""A script in the command itself: a look, nearly always."""
_CHECKS = regex(
    r"(?:^|[\s/])(?:pytest|py\.test|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|phpstan|ctest|ruff|mypy|pyright|flake8"
    r"|pylint|eslint|biome|tsc|rubocop|shellcheck|golangci-lint|bats|ktlint|detekt|swiftlint|stylelint|hadolint"
    r"|actionlint|yamllint|markdownlint\S*)(?:\s|$)"
    r"|-m (?:pytest|unittest|mypy|ruff|coverage|compileall|build)\b|\bunittest\b"
    r"|\b(?:playwright|cypress) (?:test|run)\b|\bprettier\b.*--check|\bblack\b.*--check|\bterraform (?:plan"
    r"|validate)\b"
    r"|\bgo (?:test|vet|build)\b|\bcargo (?:test|nextest|clippy|check|build|bench)\b|\bdotnet (?:test|build)\b"
    r"|\b(?:npm|pnpm|yarn|bun|deno|mise|just|make|task|rake|mix|uv|poetry|hatch|turbo|nx|composer|sbt|lein|swift|zig"
    r"|stack|cabal|meson|ninja|bazel|pre-commit|lefthook|invoke|pdm|cmake|gradlew?|\./gradlew|mvnw?|xcodebuild)\b"
    r"[^&;|]*?[\s:](?:test|tests|lint|check|build|typecheck|type-check|types|verify|spec|vet|ci|qa|clippy|compile)"
    r"(?:[\s:]|$)|^make(?:\s+-\S+)*$|^pre-commit run\b",
    re.IGNORECASE,
)
_GIT_COMMIT = regex(r"^\[([^\]\n]{1,200}?) ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_PULL = regex(r"https://[\w.-]+/[\w./-]+/(?:pull|merge_requests)/\d+")
_EXIT = regex(r"^(?:Exit code:? -?\d+|Process exited with code -?\d+|Wall time.*|Output:|Chunk ID.*)$")
_ASSIGNS = regex(r"[A-Za-z_]\w*=.*", re.DOTALL)
_ASSIGNMENT = regex(r"^(?:[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|[^\s'\"]*)\s+)+")
_WRAPPER = regex(r"^(?:sudo|time|nice|nohup|command|exec|timeout(?:\s+-\S+)*\s+\d+\w?|gtimeout\s+\d+\w?)\s+")
_REDIRECT = regex(r"\s*(?:\d|&)?>{1,2}\s*(?:&\d|[^\s&|;]+)|\s*<\s*[^\s<&|;]+|\s+&\s*$")


def ended(command: str, output: str, *, failed: bool) -> list[Step]:
    """What a command that ended came to: itself, unless it only looks; commits; files that it deleted."""
    text = command[:LONGEST_READ]
    pieces = list(_pieces(text))
    steps: list[Step] = []
    if "git" in text and "[" in output:
        steps += [
            Committed(sha, " ".join(subject.split()))
            for _, sha, subject in _GIT_COMMIT.findall(output[:20_000])
        ]
    if "pr create" in text or "mr create" in text:
        steps += [Committed("", url) for url in dict.fromkeys(_PULL.findall(output[-2_000:]))]
    if not failed:
        steps += [Touched(path, DELETED) for piece in pieces for path in _deleted(piece)]
    told = [piece for piece in pieces if _is_told(piece)]
    if any(isinstance(step, Committed) and not step.sha for step in steps):
        told = [piece for piece in told if " create" not in piece]  # its address says it
    committed = any(isinstance(step, Committed) and step.sha for step in steps)
    if not told and (failed or committed) and any(piece.startswith("git commit") for piece in pieces):
        told = ["git commit"]  # one that a hook refused is worth a line, a file that is not there is not
    if told:
        steps.append(_ran(told, output, failed=failed))
    return steps


_LASTS = regex(
    r"(?:^|&& )(?:git|gh|glab|npm|pnpm|yarn|bun|pip3?|uv|poetry|cargo|brew|apt(?:-get)?|docker(?:-compose)?|podman"
    r"|kubectl|helm"
    r"|terraform|systemctl|alembic|prisma|npx|supabase|vercel|fly|aws|gcloud|az|heroku|rails|rake|composer|gem|bundle"
    r"|mise|conda|go (?:install|get)|\w+mux|bd|python[\d.]* (?:-m|manage\.py))\b[^&]*?(?<![\w.-])"
    r"(?:push|publish|deploy|install|uninstall|upgrade|migrate|merge|rebase|cherry-pick|revert|reset|tag|release"
    r"|apply|init"
    r"|create|switch -[cC]|checkout -[bB]|clone|rollback|restart|up|down|seed|sync|add|remove|delete|close|edit|comment"
    r"|get)(?![\w.-])"
)


def lasts(command: str) -> bool:
    """Whether a command changes something that outlives the session: a branch, a package, a service, an issue."""
    return bool(_LASTS.search(command))


def _ran(told: list[str], output: str, *, failed: bool) -> Ran:
    shown = _short(" && ".join(dict.fromkeys(told)))
    check = any(_CHECKS.search(_LONG_WORDS.sub("", piece)) for piece in told)
    if not check:
        return Ran(shown, not failed, why=_why(output) if failed else "")
    found = counts(output)
    bad = failed or found.bad
    return Ran(shown, not bad, True, found.text(), _why(output) if bad and not found.text() else "")


_LONG_WORDS = regex(r"([\"'])(?:(?!\1).){40,}?\1", re.DOTALL)


_LONG_PATHS = regex(r"(?<!\S)[^\s'\"]{60,}/([^\s/'\"]+)")


def _short(command: str) -> str:
    """For one line: redacted first, then without long arguments, then cut; no backtick, which would end its code."""
    safe = _LONG_PATHS.sub(r"…/\1", redact(command).text)
    said = kept(_LONG_WORDS.sub("…", safe).replace("`", "'"), LONGEST_SHOWN)
    return said.removesuffix(" ……") if said.endswith(" ……") else said


def _is_told(piece: str) -> bool:
    words = piece.split(None, 2)
    first = words[0].lower().rsplit("/", 1)[-1] if words else ""
    if (
        len(piece) < 2
        or _LOOKS.fullmatch(first)
        or first.startswith(_NO_COMMAND)
        or _ASSIGNS.fullmatch(piece)
    ):
        return False
    if first == "git":
        looks = len(words) < 2 or _GIT_LOOKS.fullmatch(_git_verb(words))
        return not looks and not piece.startswith(("git stash list", "git worktree list", "git rm", "git -c"))
    looks = _GH_LOOKS.match(piece) or _INLINE.match(piece)
    return not looks and not piece.rstrip().endswith(("--help", "-h", "--version"))


_NO_COMMAND = ("#", "-", "$", '"', "'", "`", "(", ")")


def _git_verb(words: list[str]) -> str:
    return words[1] if words[1] != "-C" else ([*words[2].split(), "", ""])[1]


_UNPLAIN = frozenset("*?${}()`<>\\")


def _deleted(piece: str) -> Iterator[str]:
    """The files that an `rm` names, where they are plain names."""
    words = piece.split()
    if words[:2] == ["git", "rm"]:
        words = words[1:]
    if words[:1] != ["rm"]:
        return
    for word in words[1:]:
        path = word.strip("'\"")
        if not path.startswith(("-", "$", "~", "..")) and not set(path) & _UNPLAIN:
            yield path


def _why(output: str) -> str:
    """The last line that says something."""
    for line in reversed(output[-4_000:].splitlines()):
        said = " ".join(line.split())
        if (
            len(said) > 3
            and any(char.isalpha() for char in said)
            and not _EXIT.match(said)
            and "cwd was reset" not in said
        ):
            return kept(said, LONGEST_WHY)
    return ""


def _pieces(command: str) -> Iterator[str]:
    """The simple commands of a line, each without its environment, wrappers, filters and redirections."""
    for piece in _split(_without_documents(command)):
        text = _ASSIGNMENT.sub("", " ".join(piece.split()))
        while (wrapper := _WRAPPER.match(text)) is not None:
            text = _ASSIGNMENT.sub("", text[wrapper.end() :])
        text = _REDIRECT.sub("", text).strip()
        if text:
            yield text


_DOCUMENT = regex(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?(?:^\s*\2\s*$|\Z)", re.DOTALL | re.MULTILINE)


_STRING = regex(r"<<<?-?[^\n]*")


def _without_documents(command: str) -> str:
    return _STRING.sub(" ", _DOCUMENT.sub(" ", command))


def _split(command: str) -> Iterator[str]:
    """At `&&`, `||`, `;` and line ends outside of quotes and parentheses; what stands behind a `|` is left out."""
    piece: list[str] = []
    quote, depth, piped, at = "", 0, False, 0
    while at < len(command):
        char = command[at]
        two = command[at : at + 2]
        if char == "\\" and quote != "'":
            skipped = command[at : at + 2]
            piece.append(" " if skipped == "\\\n" else skipped)
            at += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char in "([{" and not (char == "{" and at and command[at - 1].isalnum()):
            depth += 1
        elif char in ")]}":
            depth = max(0, depth - 1)
        elif depth == 0 and (two in ("&&", "||") or char in ";\n"):
            yield "".join(piece)
            piece, piped = [], False
            at += 2 if two in ("&&", "||") else 1
            continue
        elif depth == 0 and char == "|":
            piped = True
        if not piped:
            piece.append(char)
        at += 1
    yield "".join(piece)
