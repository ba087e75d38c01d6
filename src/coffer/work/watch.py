"""What the guard sees of every open session: how full, which tier, the gate's verdict, and what a person can do."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coffer.agents.table import CLAUDE
from coffer.core.safepoint import Verdict
from coffer.core.settings import Guard
from coffer.core.tiers import Tier, futile, tier_of
from coffer.disk.places import Places
from coffer.disk.sessions import MAIN, Found, find_sessions
from coffer.errors import CofferError
from coffer.store.guard_state import Mode, mode_of
from coffer.store.home import Home
from coffer.store.windows import merge_report, read_report
from coffer.work.gate import as_json as answer_as_json
from coffer.work.gate import judge_session
from coffer.work.holders import Holders
from coffer.work.listing import Listed, Stood, listing
from coffer.work.nudge import line_to_type, planned
from coffer.work.prune import propose
from coffer.work.prune_report import price_of
from coffer.work.read import opened
from coffer.work.settings import load
from coffer.work.window import report_of


@dataclass(frozen=True, slots=True)
class Saving:
    """What the next prune would save. tokens: estimated. futile: why it is not worth it, "" where it is."""

    tokens: int
    futile: str


@dataclass(frozen=True, slots=True)
class Watched:
    """An open session. verdict, saving: None where there is none to have; next_step: a sentence or a line to type."""

    listed: Listed
    mode: Mode
    tier: Tier | None
    verdict: Verdict | None
    saving: Saving | None
    next_step: str


def watched(
    home: Home, places: Places, environment: Mapping[str, str], known: Mapping[Path, Stood] | None = None
) -> list[Watched]:
    """Every session that a client has open. known: as for `listing`. Raises SettingsBroken."""
    settings = load(home).guard
    every, held = find_sessions(places), Holders(places)
    live = [one for one in every if one.kind == MAIN and held.of(one.agent, one.id)]
    return [
        _watched(one, settings, home, places, environment)
        for one in listing(live, places, environment, every, known)
    ]


def _watched(
    listed: Listed, settings: Guard, home: Home, places: Places, environment: Mapping[str, str]
) -> Watched:
    mode = mode_of(home, listed.found.id)
    tier = tier_of(listed.fill * 100, settings.tiers)
    if listed.found.agent != CLAUDE.name:
        return Watched(listed, mode, tier, None, None, "nothing: Codex's sessions are only read")
    if listed.problem or mode == "off":
        return Watched(listed, mode, tier, None, None, listed.problem or "nothing: switched off by you")
    verdict = judge_session(listed.found.path, places, home)
    saving = _saving(listed, tier, home, environment) if tier is not None else None
    return Watched(
        listed, mode, tier, verdict, saving, _next(listed.found, mode, tier, verdict, saving, environment)
    )


def _next(  # noqa: PLR0913  (one value of a row each)
    found: Found,
    mode: Mode,
    tier: Tier | None,
    verdict: Verdict,
    saving: Saving | None,
    environment: Mapping[str, str],
) -> str:
    if mode == "paused":
        return "nothing: paused by you"
    if tier is None or not tier.prescription:
        return "nothing yet"
    if saving is not None and saving.futile:
        return f"nothing: {saving.futile}"
    line = line_to_type(found.id, tier, report_of(found.id, environment))
    return f"{'' if verdict.write.safe else 'once it is idle: '}/exit, then: {line}"


def _saving(listed: Listed, tier: Tier, home: Home, environment: Mapping[str, str]) -> Saving | None:
    """What a prune would save: planned once for as many tokens, since a plan takes seconds in a large session."""
    session = listed.found.id
    known = read_report(home.root, session)
    key = planned(listed.tokens, tier)
    saves, why = known.get("saves"), known.get("futile")
    if known.get("planned") == key and isinstance(saves, int) and isinstance(why, str):
        return Saving(saves, why)
    try:
        with opened(listed.found.path) as session_read:
            proposal = propose(session_read, environment, tier.prescription or "standard")
            before, after = proposal.report.tokens, proposal.tokens_after
            cost = price_of(proposal)
    except CofferError:
        return None  # it is being written to, or can't be pruned: the row is told without
    found = Saving(before - after, futile(before, after, cost, tier.name))
    with suppress(OSError):  # it is only kept for the statusline, and to be quick the next time
        kept = {"saves": found.tokens, "futile": found.futile, "planned": key, "session": session}
        merge_report(home.root, session, kept)
    return found


def as_json(item: Watched) -> dict[str, Any]:
    """A row for programs (docs/formats.md)."""
    listed = item.listed
    verdict = item.verdict
    return {
        "session": listed.found.id,
        "agent": listed.found.agent,
        "folder": listed.folder,
        "model": listed.model,
        "tokens": listed.tokens,
        "window": listed.window,
        "window_used": round(listed.fill, 4),
        "mode": item.mode,
        "tier": item.tier.name if item.tier else None,
        "write": answer_as_json(verdict.write) if verdict else None,
        "type": answer_as_json(verdict.type) if verdict else None,
        "saves": item.saving.tokens if item.saving else None,
        "futile": item.saving.futile if item.saving else None,
        "next": item.next_step,
    }
