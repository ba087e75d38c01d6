"""The current rules at the end of a transcript that is being pruned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from coffer.agents.delivered import DELIVERED, NEEDLE
from coffer.core.items import Context
from coffer.core.plan import Form, Plan
from coffer.core.scene import Scene
from coffer.core.state_text import state_in
from coffer.core.tail import Copy, Wish, with_tail
from coffer.errors import SettingsBroken
from coffer.store.home import Home
from coffer.work.delivery.bundles import bundle_for
from coffer.work.sessions.read import Opened
from coffer.work.settings import load


def at_the_end(session: Opened, looked: Scene, plan: Plan, environment: Mapping[str, str]) -> Plan:
    """The plan with the bundle of the session's folder moved to the end; unchanged where there is no bundle.

    An environment without HOME is nobody's: there are no rules in it. Coffer's own two rules alone are put into no
    session that has none: they name tools, which an agent that was never connected does not have.
    """
    if plan.is_empty or not environment.get("HOME"):
        return plan
    home = Home.of(environment)
    made = bundle_for(Path(session.transcript.about.cwd or "/"), home, environment)
    there = copies(session, looked)
    if not made.persons and not there:
        return plan
    # what came back behind a compaction stands in the same record: it goes with the rules, and stays dated
    state = next((found for copy in reversed(there) if (found := state_in(copy.text))), "")
    text = "\n\n".join(part for part in (made.text, state) if part) if made.text else ""
    return with_tail(plan, looked.view, Wish(text, _form(home), session.line), there, looked.nameable)


def copies(session: Opened, looked: Scene) -> list[Copy]:
    """The blocks that the view holds, in its order, each record once."""
    found: dict[int, Copy] = {}
    for entry in looked.entries:
        item = entry.item
        record = item.record
        if record is None or record.start in found:
            continue
        may = (
            item.attached.bundle if isinstance(item, Context) else item.role == "user" and item.kind == "text"
        )
        line = session.line(record) if may else b""
        if NEEDLE in line:
            texts = list(DELIVERED[session.agent.name](record, line))
            if texts:
                found[record.start] = Copy(record, texts[0], entry.tokens)
    return list(found.values())


def _form(home: Home) -> Form:
    """As set; a file of settings that is broken is complained of elsewhere, and must not stop a prune."""
    try:
        return load(home).prune.tail
    except SettingsBroken:
        return "attachment"
