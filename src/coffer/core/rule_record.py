"""Rules and changes as a receipt keeps them: JSON objects, and rules again."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from typing import Any

from coffer.core.events import Change
from coffer.core.rule import Rule

_LEFT_OUT = ("evidence", "handle")
"""Evidence is kept apart, and a handle holds for one reading of the file only."""
_DAYS = ("first_seen", "last_seen")


def rule_as_json(rule: Rule) -> dict[str, Any]:
    """All that the file says of a rule."""
    said = {field.name: getattr(rule, field.name) for field in fields(rule) if field.name not in _LEFT_OUT}
    return said | {name: said[name].isoformat() if said[name] else None for name in _DAYS}


def rule_from(said: dict[str, Any]) -> Rule:
    """The rule that `rule_as_json` wrote, without evidence."""
    days = {name: date.fromisoformat(said[name]) if said[name] else None for name in _DAYS}
    return Rule(**(said | days))


def change_as_json(change: Change) -> dict[str, Any]:
    """Kind, rule, why, before and after; a rule that was not there, or is gone, is null."""
    return {
        "kind": change.kind,
        "rule": change.rule,
        "why": change.why,
        "before": rule_as_json(change.before) if change.before else None,
        "after": rule_as_json(change.after) if change.after else None,
    }
