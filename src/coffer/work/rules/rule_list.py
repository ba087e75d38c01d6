"""What stands in the digests of a place, and why: for tables and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coffer.core.rule import Evidence, Rule, confidence
from coffer.core.rule_record import rule_as_json
from coffer.errors import CofferError
from coffer.store import trust
from coffer.store.db import database, receipts
from coffer.store.evidence import HeardTurn
from coffer.store.evidence import turn as kept_turn
from coffer.work.rules.desk import Desk, Where
from coffer.work.rules.draft import KIND, Draft


def listing(desk: Desk) -> dict[str, Any]:
    """{project, digests: [{where, path, exists, rules, refused, loose, problem}]}; rules as `rule_row` gives them."""
    found = []
    for where, name in _shelves(desk):
        path = desk.shelf.path(name)
        one: dict[str, Any] = {"where": where, "path": str(path), "exists": False, "rules": [], "refused": []}
        one["loose"] = []
        try:
            draft = desk.shelf.of(name)
        except CofferError as error:
            found.append(one | {"exists": True, "problem": str(error)})
            continue
        one["exists"] = draft.loaded is not None
        one["rules"] = [rule_row(rule, draft) for rule in draft.rules.all]
        one["refused"] = [
            {"line": each.line, "rule": each.rule, "reason": each.reason} for each in draft.digest.refused
        ]
        one["loose"] = list(draft.digest.loose)
        found.append(one)
    return {"project": desk.project, "digests": found}


def _shelves(desk: Desk) -> Iterator[tuple[Where, str]]:
    if desk.project:
        yield "project", desk.project
    yield "user", ""


def rule_row(rule: Rule, draft: Draft) -> dict[str, Any]:
    """All fields of a rule, how sure its evidence makes us, how many turns there are, and whether it is trusted."""
    return rule_as_json(rule) | {
        "confidence": round(confidence(rule.evidence, draft.now, draft.settings.weights), 3),
        "evidence": len(rule.evidence),
        "trusted": trust.key(rule.text) in draft.trusted,
    }


def why(desk: Desk, name: str, where: Where | None = None) -> dict[str, Any]:
    """A rule, the turns behind it with date and session, and every change that a receipt tells of.

    Raises RuleNotFound, RuleAmbiguous.
    """
    draft, rule = desk.named(name, where)
    home = desk.shelf.home
    turns: list[dict[str, Any]] = [_piece(piece) for piece in rule.evidence]
    changes: list[dict[str, Any]] = []
    if home.database.exists():
        with database(home, write=False) as connection:
            turns = [one | _words(kept_turn(connection, one["turn"])) for one in turns]
            changes = [
                {
                    "receipt": receipt.id,
                    "time": receipt.time,
                    "verb": receipt.data["verb"],
                    "status": receipt.status,
                }
                | {key: change[key] for key in ("kind", "rule", "why")}
                for receipt in reversed(receipts(connection, str(draft.path)))
                if receipt.kind == KIND
                for change in receipt.data["changes"]
                if _is_about(change, rule)
            ]
    return {
        "where": "project" if draft.project else "user",
        "path": str(draft.path),
        "rule": rule_row(rule, draft),
        "threshold": draft.settings.threshold,
        "promote_at": draft.settings.promote_at,
        "turns": turns,
        "changes": changes,
    }


def _words(kept: HeardTurn | None) -> dict[str, str]:
    return {"text": kept.text, "before": kept.before} if kept else {"text": "", "before": ""}


def _is_about(change: dict[str, Any], rule: Rule) -> bool:
    """Whether a change is of this rule, also under the number that it had while it was pending."""
    names = {change["rule"], *(said["id"] for key in ("before", "after") if (said := change[key]))}
    if rule.id in names:
        return True
    return any(said["text"] == rule.text for key in ("before", "after") if (said := change[key]))


def _piece(piece: Evidence) -> dict[str, Any]:
    return {
        "turn": piece.uuid,
        "time": piece.time.isoformat(),
        "session": piece.session,
        "project": piece.project,
        "label": piece.label,
        "certainty": piece.certainty,
        "reliability": piece.reliability,
        "weight": piece.weight,
    }
