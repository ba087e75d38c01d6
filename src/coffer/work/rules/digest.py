"""What the digest's judgements look like to a program, and the check of a digest file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coffer.core.classify.decide import classify
from coffer.core.similar import compare
from coffer.core.wording import word
from coffer.errors import DigestBroken
from coffer.work.rules.lines import reading
from coffer.work.rules.understood import understood

_MOST_TEXTS = 64


def judge(turn: str, before: str, tools: Sequence[str]) -> dict[str, Any]:
    """The label, persistence, rule, scope, confidence, certainty and reason of a turn; rule None: none is safe."""
    judged = classify(turn, before, tools)
    worded = word(turn, before, tools, judged)
    return {
        "label": judged.label,
        "persistence": judged.persistence,
        "rule": worded.text or None,
        "scope": judged.scope,
        "confidence": round(judged.confidence, 3),
        "certainty": judged.certainty,
        "reason": judged.reason
        if worded.text or judged.certainty == "none"
        else f"{judged.reason}; {worded.why}",
    }


def tools_of(said: Any) -> list[str]:
    """The names in a list of tools; what is no text is passed over."""
    return [name for name in said[:_MOST_TEXTS] if isinstance(name, str)] if isinstance(said, list) else []


def relate(a: str, b: str) -> dict[str, str]:
    """Label (DUPLICATE, DISTINCT, CONTRADICTORY) and reason of two rule texts."""
    found = compare(a, b)
    return {"label": found.label, "reason": found.reason}


def check(path: Path) -> dict[str, Any]:
    """What stands in a digest file: path, rules (how many by state), refused [{line, rule, reason}].

    loose: the numbers of lines that belong to no rule.

    Raises DigestBroken with the line, TranscriptMissing, TranscriptUnreadable. Nothing is written.
    """
    with reading(path):
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    digest = understood(path, text)
    if not any(segment.section for segment in digest.segments) and "cozempic: behavioral-digest" not in text:
        raise DigestBroken(
            str(path), 1, "this is no digest: it has neither its first comment nor one of its headings"
        )
    return {
        "path": str(path),
        "rules": dict(Counter(rule.state for rule in digest.rules.all)),
        "refused": [{"line": r.line, "rule": r.rule, "reason": r.reason} for r in digest.refused],
        "loose": list(digest.loose),
    }
