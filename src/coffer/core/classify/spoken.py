"""What a person said in a turn: without the texts of harnesses, and with pasted matter masked.

Nothing is looked at beyond `LONGEST` characters, so the cost does not grow with the turn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coffer.core.regex import regex

LONGEST = 6_000
HEARD = 1_200
"""Of what remains after masking, this much is weighed: the beginning and the end."""

HARNESS = regex(
    r"""\s*(?:
      <(?:task-notification|teammate-message|command-|local-command|system-reminder|user-prompt-submit-hook
         |bash-|user-memory|environment_context|user_instructions|instructions|turn_aborted|skill\b|hook)
    | <!--\s*\w*cozempic | \[behavioral\ contract\]
    | this\ session\ is\ being\ continued\ from\ a\ previous | base\ directory\ for\ this\ skill:
    | caveat:\ the\ messages\ below | operation\ stopped\ by\ hook
    | (?:stop|pretooluse|posttooluse|sessionstart|sessionend|userpromptsubmit|subagentstop|notification)
      (?::\w+)?\ hook | \[(?:hook|cron|system\b|scheduled|automated)[^\]]*\]
    | \#\ (?:agents|claude)\.md\ instructions | please\ analyze\ this\ codebase\ and\ create\ a
    | api\ error: | no\ response\ requested
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How texts begin that no person typed."""

COMMAND = regex(r"\s*/[a-z][\w:.-]*(?:\s+[^\n]{0,200})?\s*$", re.IGNORECASE)
INTERRUPTED = regex(r"\[request interrupted by user[^\]]*\]", re.IGNORECASE)
REJECTED = regex(
    r"\s*the user doesn't want to (?:proceed with|take) this (?:tool use|action)|"
    r"\s*the tool use was rejected",
    re.IGNORECASE,
)
SAID = regex(
    r"(?:the user said|reason for the rejection|user provided the following reason[^:]*):\s*", re.IGNORECASE
)
BLOCK = regex(
    r"<([a-z][\w-]{1,40})(?:\s[^<>]{0,200})?>.*?</\1>|<[a-z]+-[\w-]+>.*\Z", re.IGNORECASE | re.DOTALL
)
FENCE = regex(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|\"\"\".*?(?:\"\"\"|\Z)", re.DOTALL)
QUOTE = regex(r'"[^"\n]{16,}"|“[^”]{8,}”|„[^“”]{8,}[“”]|«[^»]{8,}»|「[^」]{6,}」')
CODE = regex(r"`[^`\n]*`")
LONGEST_CODE = 60
"""Characters between two backticks from which they are no name any more."""
PASTED_LINE = regex(
    r"""^(?:
      \s*> | \s*\$\  | \s*at\ [\w.$<>]+\s*\( | \s*File\ " | \s*\#\d+\s+0x | \s*Traceback | \s*Caused\ by:
    | \s*\[?\d{1,4}[-:/]\d\d[-:]?\d{0,2} | \s+\d+:\d+\s | \s*(?:npm\ (?:WARN|ERR)|WARN|INFO|DEBUG|ERROR|FATAL)\b
    | \s*(?:\w+)?(?:Error|Exception|Warning)(?:\(|:\ ) | (?:error|warning|fatal|hint|note|panic)(?:\[\w+\])?:
    | \s*\|.*\| | \s*-->\  | @@ | diff\ --git | \+{1,3}\s.* | (?:---|===) | \s*[{}\]\[();]+,?\s*$ | .*;\s*$
    | \s*(?!(?i:rule|regel|règle|regla|regra|regola|remember|memori[sz]e|note|reminder|again|please|also|and|but|ok|no
        |future|time|mind|memory|rules)\b)(?:user|bot|assistant|dev\d?|\w{2,12}):\ .*\bdo(?:n't|\ not)\b
    )""",
    re.VERBOSE,
)
INTRODUCED = regex(
    r"""(?:here(?:'s|\ is|\ are)|this\ is|these|following|below|from|docs?|datasheet|wiki|review|feedback|comments?
      |said|says?|sent|wrote|thread|convo|translate|summari[sz]e|explain|implement|plan|policy|error|prompt
        |rules\ are
      |hier\ (?:ist|sind)|voici|aquí|aqui|ecco)\b[^\n]{0,120}(?::|\?|\bthis\b)?\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
LISTED = regex(r"\s*(?:\d+[.)]|[-*•])\s|\s*[\"“]")
ROLE = regex(r"\s*you are (?:a|an|the) [^\n.]{2,60}[.,:!\n]", re.IGNORECASE)
HEADING = regex(r"^#{1,4} ", re.MULTILINE)


@dataclass(frozen=True)
class Heard:
    """What the person said, and how it came."""

    text: str
    interrupted: bool = False
    rejected: bool = False
    masked: bool = False
    """Something pasted was taken out."""
    document: bool = False
    """The whole reads like a document: a plan, a system prompt, a skill."""


def hear(turn: str, *, quotes: bool = False) -> Heard:
    """The words of the person; empty when a program wrote the turn. quotes: keep what stands in quotation marks."""
    text = turn if len(turn) <= LONGEST else turn[: LONGEST // 2] + "\n" + turn[-LONGEST // 2 :]
    interrupted = INTERRUPTED.search(text) is not None
    text = INTERRUPTED.sub(" ", text)
    rejected = REJECTED.match(text) is not None
    if rejected:
        said = SAID.search(text)
        text = text[said.end() :] if said else ""
    if HARNESS.match(text) or COMMAND.match(text):
        return Heard("", interrupted, rejected)
    document = ROLE.match(text) is not None or (len(HEADING.findall(text)) > 1 and len(text) > 120)
    clean = _masked(text, quotes=quotes)
    masked = len(clean) < len(text) * 0.9
    if len(clean) > HEARD:
        clean = clean[: HEARD - 400] + " … " + clean[-400:]
    return Heard(clean.strip(), interrupted, rejected, masked, document)


def _short(code: re.Match[str]) -> str:
    return code[0] if len(code[0]) < LONGEST_CODE + 2 else "`code`"


def _masked(text: str, *, quotes: bool) -> str:
    if "<" in text:
        text = BLOCK.sub(" ", text)
    text = CODE.sub(_short, FENCE.sub(" ", text))
    text = text if quotes else QUOTE.sub('"…"', text)
    if "\n" not in text:
        return "" if PASTED_LINE.match(text) and not text.startswith(("+", "-")) else text
    kept: list[str] = []
    foreign = False
    for line in text.split("\n"):
        if not line.strip():
            kept.append(line)
            continue
        if foreign and LISTED.match(line):
            continue
        foreign = bool(INTRODUCED.search(line)) or (foreign and not line.strip())
        if not PASTED_LINE.match(line) and len(line) < 1_200:
            kept.append(line)
    return "\n".join(kept)
