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
from coffer.disk.sessions import MAIN, find_sessions
from coffer.errors import CofferError
from coffer.store.db import DONE, Receipt
from coffer.store.guard_state import Mode, mode_of
from coffer.store.home import Home
from coffer.store.windows import merge_report, read_report
from coffer.work.guarding.gate import as_json as answer_as_json
from coffer.work.guarding.gate import judge_session
from coffer.work.guarding.means import Sought, means_for
from coffer.work.guarding.move_story import BY_HAND, NOT_SEEN, OWED, moves_made, outcome
from coffer.work.guarding.nudge import LINE, planned
from coffer.work.pruning.prune import propose
from coffer.work.pruning.prune_report import price_of
from coffer.work.rules.effective import guard_at
from coffer.work.sessions.holders import Holders
from coffer.work.sessions.listing import Listed, Stood, listing
from coffer.work.sessions.read import opened
from coffer.work.settings import load


@dataclass(frozen=True, slots=True)
class Saving:
    """What the next prune would save. tokens: estimated. futile: why it is not worth it, "" where it is."""

    tokens: int
    futile: str


@dataclass(frozen=True, slots=True)
class Watched:
    """An open session. verdict, saving: None where there is none to have; next_step: a sentence or a line to type.

    moved: the receipt of the guard's last move.
    """

    listed: Listed
    mode: Mode
    tier: Tier | None
    verdict: Verdict | None
    saving: Saving | None
    next_step: str
    moved: Receipt | None = None


def watched(
    home: Home, places: Places, environment: Mapping[str, str], known: Mapping[Path, Stood] | None = None
) -> list[Watched]:
    """Every session that a client has open. known: as for `listing`. Raises SettingsBroken."""
    settings = load(home)
    every, held = find_sessions(places), Holders(places)
    live = [one for one in every if one.kind == MAIN and held.of(one.agent, one.id)]
    return [
        _watched(one, guard_at(settings, one.folder, environment), home, places, environment)
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
    made = next((one for one in moves_made(home, listed.found.path) if one.status == DONE), None)
    if made is not None and outcome(made) in (BY_HAND, NOT_SEEN, *([OWED] if mode == "paused" else [])):
        what = "pruned" if made.kind == "prune" else "as it was before its prune"
        step = f"on disk it is {what} (receipt {made.id}); type in it: /resume {listed.found.id}"
    else:
        sought = Sought(listed.found.id, home, environment, settings)
        step = _next(sought, mode, tier, verdict, saving)
    return Watched(listed, mode, tier, verdict, saving, step, made)


def _next(sought: Sought, mode: Mode, tier: Tier | None, verdict: Verdict, saving: Saving | None) -> str:
    if mode == "paused":
        return "nothing: paused by you"
    if tier is None or not tier.prescription:
        return "nothing yet"
    if saving is not None and saving.futile:
        return f"nothing: {saving.futile}"
    blockers = ", ".join(dict.fromkeys(each.kind for each in verdict.write.blockers))
    if sought.settings.act and means_for(sought) is not None:
        return f"pruned and reloaded by itself once it is idle{f' (now: {blockers})' if blockers else ''}"
    return f"{'once it is idle, ' if blockers else ''}type in it: {LINE}"


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


def _move_as_json(receipt: Receipt) -> dict[str, Any]:
    told = ("forecast", "measured", "tier", "by", "reload")
    return {"receipt": receipt.id, "time": receipt.time, **{key: receipt.data.get(key) for key in told}}


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
        "last_move": _move_as_json(item.moved) if item.moved is not None else None,
    }
