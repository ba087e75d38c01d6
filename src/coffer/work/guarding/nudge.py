"""The nudge: one line for the person at the next prompt, once a tier, and never a word for the model.

It is a hook's `systemMessage`, which the client shows and does not send. It names what the person can type; where the
guard can reload a session by itself, it acts instead, and tells what it did. Only Claude Code's transcripts are pruned,
so only its sessions are nudged; a program's session (`-p`) has no person who would read it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coffer.agents.table import CLAUDE
from coffer.core.dialect import SYNTHETIC
from coffer.core.record import Record
from coffer.core.settings import Guard
from coffer.core.tiers import Tier, step
from coffer.core.usage import Reported, WindowMeasure, overridden, reported_window, window_of
from coffer.disk.live import holders
from coffer.disk.places import Places
from coffer.disk.tail_lines import last_lines
from coffer.disk.tmux import Pane
from coffer.errors import SettingsBroken
from coffer.store.guard_moves import moves_of
from coffer.store.guard_state import guard_state, keep_state, mode_of
from coffer.store.home import Home
from coffer.store.windows import read_report
from coffer.work.delivery.deliver import REHEARSAL, Asked
from coffer.work.guarding.move_story import was_read
from coffer.work.guarding.runs import RUN
from coffer.work.rules.effective import guard_at
from coffer.work.sessions.window import report_of
from coffer.work.settings import load

TAIL = 1 << 20
"""Bytes of the transcript's end in which the last answer stands: a hook has no time for all of it."""


def nudge(asked: Asked, home: Home) -> str:
    """The line for this prompt; "" where nothing is due. What is said counts as said. Raises WriteFailed."""
    if asked.agent != CLAUDE.name or asked.child or asked.transcript is None or not _has_person(asked):
        return ""
    try:
        settings = _settings(asked, home)
    except SettingsBroken:
        return ""  # a person may have switched it off in there
    session = asked.transcript.stem
    if not settings.nudge or mode_of(home, session) != "on":
        return ""
    if told := _told(home, session):
        return told
    last = last_answer(asked.transcript)
    if last is None or last.usage is None:
        return ""
    reported = report_of(session, asked.environment)
    window = window_now(last, reported, asked.environment)
    before = frozenset(guard_state(home, session).fired)
    done = step(last.usage.context / window.tokens * 100, before, settings.tiers)
    if done.fired != before:
        keep_state(home, session, fired=tuple(sorted(done.fired)))
    if done.fires is None or not done.fires.prescription:
        return ""
    clients, acts = holders(Places.of(asked.environment)).get(session, ()), _acts(asked, settings)
    if acts and len(clients) < 2:
        return ""
    report = read_report(home.root, session)
    if not is_planned_for(report, last.usage.context, done.fires):
        report = {}  # of a smaller context: what was futile there may be worth it here
    if report.get("futile"):
        return ""
    if len(clients) > 1:
        return used(done.fires, last.usage.context, window) + crowded(len(clients), acts=acts)
    return sentence(done.fires, last.usage.context, window, report)


def _settings(asked: Asked, home: Home) -> Guard:
    """What the guard does in this project. Raises SettingsBroken."""
    return guard_at(load(home), asked.folder, asked.environment)


def _told(home: Home, session: str) -> str:
    """What became of the last move, if the person was not told of it."""
    moves = moves_of(home, session, 0.0)
    if not moves.tell or moves.tell_of == guard_state(home, session).told:
        return ""
    if was_read(home, session, moves.tell_of):
        return ""  # it was resumed this moment, with a prompt, before the daemon looked
    keep_state(home, session, told=moves.tell_of)
    return moves.tell


def _acts(asked: Asked, settings: Guard) -> bool:
    """Whether the guard prunes this session by itself, so that no prune has to be ordered."""
    in_pane = settings.tmux and Pane.of(asked.environment) is not None
    return settings.act and (bool(asked.environment.get(RUN)) or in_pane or settings.write == "idle")


NEAR = 0.05
"""Part of the tokens by which a context may have grown for a plan to hold still."""


def planned(tokens: int, tier: Tier) -> str:
    """What a plan was made for, as it is kept."""
    return f"{tokens} {tier.name}"


def is_planned_for(report: Mapping[str, Any], tokens: int, tier: Tier) -> bool:
    """Whether what is kept of a plan holds for this context: the same tier, and about as many tokens."""
    count, _, name = str(report.get("planned", "")).partition(" ")
    fits = count.isascii() and count.isdigit() and len(count) < 12 and name == tier.name
    return fits and abs(int(count) - tokens) <= NEAR * tokens


LINE = "! coffer guard now"
"""What a person types into the session: the client runs it itself, without the model."""


def sentence(tier: Tier, tokens: int, window: WindowMeasure, report: Mapping[str, Any]) -> str:
    """What the person reads."""
    saves = report.get("saves")
    known = isinstance(saves, int) and not isinstance(saves, bool) and 0 < saves <= tokens
    what = f"; it would save about {saves:,} tokens" if known else ""
    return f"{used(tier, tokens, window)}: {tier.what}{what}. At a quiet point type: {LINE}"


def used(tier: Tier, tokens: int, window: WindowMeasure) -> str:
    """How full it is, to begin a sentence with."""
    return f"Coffer: {tokens / window.tokens:.0%} of {window.tokens:,} tokens are used ({tier.name})"


def crowded(clients: int, *, acts: bool) -> str:
    """The rest of the sentence where several clients have the session open, and so none of them is pruned."""
    then = "" if acts else f", then type: {LINE}"
    return f". {clients} clients have this session open, so it is not pruned: close all but one{then}"


def window_now(last: Record, reported: Reported | None, environment: Mapping[str, str]) -> WindowMeasure:
    """The window by what is known without reading the whole transcript; larger than what is in it."""
    said = overridden(environment)
    if said is None and reported is not None:
        said = reported_window(reported, [last])
    return said or window_of([last], [last], {})


def last_answer(path: Path) -> Record | None:
    """The last answer of the session's own model that counts its tokens, from the end of the file."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            found = (
                record
                for offset, line in last_lines(file.fileno(), size, TAIL)
                if b'"usage"' in line
                for record in reversed(CLAUDE.translate(line, offset))
            )
            return next((each for each in found if isinstance(each, Record) and _counts(each)), None)
    except OSError:
        return None  # not there yet, or gone: there is nothing to tell of


def _counts(record: Record) -> bool:
    usage = record.usage
    return usage is not None and bool(usage.prompt) and not record.sidechain and record.model != SYNTHETIC


def _has_person(asked: Asked) -> bool:
    entrypoint = asked.environment.get("CLAUDE_CODE_ENTRYPOINT", "cli")
    return entrypoint == "cli" and asked.session not in ("", REHEARSAL)
