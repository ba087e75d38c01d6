"""Secrets taken out of a text before it is stored anywhere (DESIGN section 10).

Three looks, from sure to unsure: what known vendors issue and what is a secret by its form (`PATTERNS`), what
stands where a secret stands (`password=…`), and what only looks random. What looks random and is none (hashes,
uuids, ids of messages, paths, names, pictures) has its own tests.

Every look reads the text once: repeats are bounded and a run of characters is begun only at its left end, so that
megabytes of bait cost no more than megabytes of prose. What was redacted stays redacted: twice is once.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from coffer.core.regex import regex
from coffer.core.secret_forms import PATTERNS, Pattern, has_digit, stands_in

LONGEST_SECRET = 256
"""Characters. What looks random and is longer is data: a picture, a signature, an archive."""
LONGEST_KEY_BLOCK = 64_000
"""Characters between the lines that begin and end a key block."""
ROUNDS = 6
"""How often what is left is looked at again after something was taken out."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets. found: what each was, in the order of the looks, not the secret itself."""

    text: str
    found: tuple[str, ...] = ()


# --- what stands where a secret stands

_NAMES = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token|api[ _.-]?key|access[ _.-]?key"
    r"|private[_.-]?key|client[_.-]?secret|signing[_.-]?key|encryption[_.-]?key|account[_.-]?key|credentials?)"
)
_ASSIGNED = regex(
    rf"(?P<name>(?i:{_NAMES})(?i:[_-]?(?:key|value|hash|base|id|1|2)){{0,2}})"
    r"(?P<sep>\\?[\"']?\]?[ \t]{0,4}(?::=|=>|={1,2}|:)[ \t]{0,4}|[ \t]{1,4}is[ \t]{1,4})"
    r"(?:[rbuf]{0,2}(?P<quote>\\?[\"'`])(?P<quoted>[^\s\"'`\\]{4,300})(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;&(){}<>|\\]{4,300}))"
)
_FLAG = regex(
    rf"--(?:[a-z]{{1,20}}-){{0,2}}(?P<name>(?i:{_NAMES}))(?P<sep>[ \t]{{1,4}})[\"']?"
    r"(?P<bare>(?!-)[^\s\"'`,;&(){}<>|\\]{4,300})"
)
_ASSIGNED_HINTS = ("pass", "pwd", "secret", "token", "key", "credential")
_TYPE_WORDS = frozenset(
    [
        "string",
        "str",
        "bytes",
        "none",
        "null",
        "true",
        "false",
        "undefined",
        "required",
        "optional",
        "any",
        "object",
        "number",
        "text",
        "boolean",
        "secretstr",
        "bearer",
        "basic",
        "input",
        "value",
        "default",
        "hidden",
        "missing",
        "invalid",
        "expired",
        "empty",
        "changed",
        "unset",
    ]
)
_IDENTIFIER = regex(r"[A-Za-z_][A-Za-z0-9_]*$")
_CODE = regex(r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)\w+)*[(\[]|[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+$")
_WORDS = regex(r"[A-Za-z_-]+$")
_PLACE = regex(r"\.{0,2}/|~|--|https?:")
_WORD = regex(r"pass|pwd|secret|token|key|credential|user|config|auth|name", re.IGNORECASE)


def _is_assigned(match: re.Match[str]) -> bool:
    """Whether what stands after a name like `password` is a secret and not code, a type or a stand-in."""
    found = match.groupdict()
    value = found.get("quoted") or found["bare"].rstrip(".:!?")
    name, after = found["name"].lower(), match.string[match.end() : match.end() + 1]
    passes = name.startswith("p") and "key" not in name
    if stands_in(value) or value.lower().rstrip(",!])}") in _TYPE_WORDS:
        return False
    if "..." in match[0] or "***" in value or (name == "pwd" and "=" not in found["sep"]):
        return False
    if value.isdigit():
        return passes and len(value) >= 6
    if found.get("quoted"):
        return not _IDENTIFIER.match(value) or has_digit(value) or (passes and not _WORD.search(value))
    if _CODE.match(value + after.strip(" \t\r\n);,")) or _PLACE.match(value):
        return False
    if has_digit(value) or not (_WORDS.match(value) or found["sep"].strip() == "is"):
        return sum(map(str.isdigit, value)) >= 2 or not (_IDENTIFIER.match(value) and _WORD.search(value))
    shell = found["sep"] == "=" and after in " \r\n&;\"'"
    return shell and len(value) >= 8 and value.isalpha() and not _WORD.search(value)


# --- what begins and ends as a key

_KEY_BEGINS = regex(
    r"-----BEGIN (?P<what>(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?)-----"
    r"|---- BEGIN (?P<ssh2>SSH2 ENCRYPTED PRIVATE KEY) ----|(?P<putty>PuTTY-User-Key-File-\d):"
)
_KEY_ENDS = regex(
    r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----|---- END [A-Z0-9 ]{1,40} ----"
    r"|Private-MAC: \w{1,128}"
)
_KEY_BODY = regex(
    r"(?:\s|\\[nr]|[A-Za-z0-9+/]{16,}+={0,2}|[A-Za-z0-9+/]{2,15}={1,2}|[A-Z][A-Za-z-]{2,20}: [^\n]{0,100}\n)*"
)


def _key_blocks(text: str, found: list[str]) -> str:
    """The text without private keys; one that is cut off goes as far as it looks like one."""
    if "PRIVATE KEY" not in text and "PuTTY-User-Key" not in text:
        return text
    ends = [match.span() for match in _KEY_ENDS.finditer(text)]
    starts = [start for start, _ in ends]
    kept: list[str] = []
    place = 0
    while begin := _KEY_BEGINS.search(text, place):
        after = bisect_right(starts, begin.end() - 1)
        body = _KEY_BODY.match(text, begin.end(), begin.end() + LONGEST_KEY_BLOCK)
        assert body is not None
        stop = body.end()
        if after < len(ends) and ends[after][0] - begin.end() <= LONGEST_KEY_BLOCK:
            stop = ends[after][1]
        kept += [text[place : begin.start()], "[redacted: private key]"]
        found.append("private key")
        place = stop
    return "".join([*kept, text[place:]])


# --- what looks random

_RUN = regex(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-][A-Za-z0-9+/_=-]{19,}+")
_WORDLIKE = regex(r"[A-Z]?[a-z]{3,}|[A-Z]{6,}")
_ALIKE = regex(r"[0-9a-fA-F]+(?:-[0-9a-fA-F]+)*|0x[0-9a-fA-F]+|[A-Z0-9_-]+|[0-9_/+=-]+")
_KNOWN = regex(
    r"(?:toolu|srvtoolu|msg|req|call|chatcmpl|resp|rs|fc|item|session|sess?|file|thread|run|step|asst|batch|evt|cs|cus|pi|prod|price"
    r"|sub|in|ch|pm|env|proj|org|user|container|wf|task|agent|conv)_[A-Za-z0-9]"
    r"|sha\d{1,3}-|[A-Z]{1,5}_kw[A-Z]|_+Z[A-Z0-9]|_R[A-Z]|AAAA[BCE][23]Nz|AAAAE2Vj|iVBORw0KGgo|/9j/|R0lGOD|UklGR|JVBERi0|PHN2Zy|PD94bWw|UEsDB|H4sI|d09G|T2dnUw|AGFzb"
)
"""Ids of messages and calls, mangled symbols, public keys, and how pictures, documents and archives begin."""
_BEFORE = regex(
    r"(?:sha(?:1|224|256|384|512)[-:]|md5[-:]|h1:|base64,|/nix/store/|integrity[\"']?\s?[:=]\s?[\"']?"
    r"|ssh-[a-z0-9]{2,10} |blob/|commit/|tree/)$",
    re.IGNORECASE,
)
_PATH_AFTER = regex(r"\.[A-Za-z][A-Za-z0-9]{0,7}\b")


_SMALL, _LARGE, _SEPARATOR = regex("[a-z]"), regex("[A-Z]"), regex("[^A-Za-z0-9]")
_JUMP = regex(r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])|[A-Za-z0-9](?=[^A-Za-z0-9])")
_UUID = regex(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def _is_random(match: re.Match[str]) -> bool:
    """Whether a run of characters is a secret by its looks alone."""
    run, text = _UUID.sub("", match[0].rstrip("=")), match.string
    if not 24 <= len(run) <= LONGEST_SECRET or _ALIKE.fullmatch(run) or _KNOWN.match(run):
        return False
    if _BEFORE.search(text[max(0, match.start() - 24) : match.start()]) or _PATH_AFTER.match(
        text, match.end()
    ):
        return False
    if any(_ALIKE.fullmatch(part) for part in re.split(r"[/_=]", run) if len(part) >= 24):
        return False
    return _looks_random(
        run, path="/" in run and text[max(0, match.start() - 1) : match.start()] in "./~:@$}"
    )


def _looks_random(run: str, *, path: bool) -> bool:
    """Whether a run is neither a path nor made of words, has small letters and digits, and mixes them well."""
    large = _LARGE.search(run) is not None
    if path or not _SMALL.search(run) or not has_digit(run) or len(_SEPARATOR.findall(run)) > 0.15 * len(run):
        return False
    words = sum(map(len, _WORDLIKE.findall(run))) / len(run)
    if words >= (0.4 if large else 0.2) or len(_JUMP.findall(run)) < len(run) // 6:
        return False
    counts = Counter(run).values()
    return -sum(count / len(run) * math.log2(count / len(run)) for count in counts) >= 3.6


# --- the three looks


def redact(text: str) -> Redacted:
    """The text with `[redacted: kind]` where a secret was. Redacting what comes out again changes nothing."""
    found: list[str] = []
    for _ in range(ROUNDS):
        once, new = _once(text)
        if not new:
            break
        text = once
        found += new
    return Redacted(text, tuple(found))


def kept(text: str, most: int, *, tail: bool = False) -> str:
    """A text for keeping: redacted first and then cut, since half a secret would not be known as one.

    most: characters. tail: its end is what matters. Half surrogates, which can't be stored, become "?".
    """
    safe = redact(text).text.encode("utf-8", "replace").decode()
    if len(safe) <= most:
        return safe
    return "…" + safe[-most:] if tail else safe[:most] + "…"


def _once(text: str) -> tuple[str, list[str]]:
    found: list[str] = []
    text = _key_blocks(text, found)
    lower = text.lower()
    for pattern in PATTERNS:
        if any(hint in lower for hint in pattern.hints):
            text = pattern.form.sub(lambda match, which=pattern: _taken(match, which, found), text)  # type: ignore[misc]
    if any(hint in lower for hint in _ASSIGNED_HINTS):
        for form in (_ASSIGNED, _FLAG):
            text = form.sub(lambda match: _unassigned(match, found), text)
    text = _RUN.sub(lambda match: _unrandom(match, found), text)
    return text, found


def _taken(match: re.Match[str], pattern: Pattern, found: list[str]) -> str:
    group = "secret" if "secret" in match.re.groupindex else 0
    if not pattern.check(match[group]):
        return match[0]
    return _without(match, group, pattern.kind, found)


def _unassigned(match: re.Match[str], found: list[str]) -> str:
    if not _is_assigned(match):
        return match[0]
    name = match["name"].lower()
    kind = (
        "password" if name.startswith("p") and "key" not in name else "token" if "token" in name else "secret"
    )
    return _without(match, "quoted" if match.groupdict().get("quoted") else "bare", kind, found)


def _unrandom(match: re.Match[str], found: list[str]) -> str:
    return _without(match, 0, "random string", found) if _is_random(match) else match[0]


def _without(match: re.Match[str], group: str | int, kind: str, found: list[str]) -> str:
    found.append(kind)
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return f"{match[0][:start]}[redacted: {kind}]{match[0][end:]}"


def kinds(found: Iterable[str]) -> dict[str, int]:
    """How often each kind was found, for a sentence to the person."""
    return dict(Counter(found))
