"""What a move sees of the real world, and what it would bring: for whoever asks again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coffer.core.safepoint import Answer, Blocker, Verdict
from coffer.core.settings import Guard
from coffer.core.tiers import futile
from coffer.errors import CofferError
from coffer.work.guarding.gate import Gate
from coffer.work.guarding.guard import EMPTY, Hands
from coffer.work.guarding.guarded import Guarded
from coffer.work.guarding.means import Sought, means_for
from coffer.work.guarding.reread import reread
from coffer.work.pruning.prune import propose
from coffer.work.pruning.prune_report import price_of
from coffer.work.sessions.read import opened


class Senses:
    """The real world of a session, looked at again and again: its transcript is read anew only where it changed."""

    def __init__(self, session: Guarded) -> None:
        self._session = session
        self._gate = Gate(session.transcript, session.places, session.home)
        self._words, self._seen = "", (0, 0)

    def hands(self, settings: Guard) -> Hands:
        """The hands of a move that is made now."""
        session = self._session
        sought = Sought(session.id, session.home, session.environment, settings)
        means = means_for(sought)
        if means is not None and (words := self._last_words()):
            means = means_for(replace(sought, words=words))  # on the screen: no rewind took them off
        return Hands(lambda: self._gate.verdict().write, means)

    def _last_words(self) -> str:
        try:
            found = self._session.transcript.stat()
            if (found.st_mtime_ns, found.st_size) != self._seen:
                self._words = reread(self._session.transcript).words
                self._seen = (found.st_mtime_ns, found.st_size)
        except (OSError, CofferError):
            return ""  # the gate says what is wrong with it
        return self._words


def with_means(session: Guarded, settings: Guard, verdict: Verdict) -> Verdict:
    """The verdict with what sees the screen of an open session: its launcher, or its pane; unchanged without one."""
    means = Senses(session).hands(settings).means
    if means is None:
        return verdict
    found = (Blocker("input", why, EMPTY) for why in means.obstacles())
    return Verdict(verdict.write, Answer((*verdict.write.blockers, *found)))


def plan_now(session: Guarded, prescription: str) -> tuple[Mapping[str, int], str]:
    """What a move would bring now: tokens before and after, and why it would be futile for the guard, "" if not."""
    with opened(session.transcript) as found:
        proposal = propose(found, session.environment, prescription)
        before, after = proposal.report.tokens, proposal.tokens_after
        empty = "there is nothing to take out" if proposal.plan.is_empty else ""
        return {"tokens_before": before, "tokens_after": after}, empty or futile(
            before, after, price_of(proposal)
        )
