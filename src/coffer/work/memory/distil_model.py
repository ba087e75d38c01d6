"""Let a configured model word a journal entry: in pieces, within its budget, and never at the price of the entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from coffer.core.journal import Journal
from coffer.core.journal_ask import (
    MOST_TOKENS,
    entry_prompt,
    given_of,
    merged,
    notes_prompt,
    parse_entry,
    parse_notes,
    pieces,
)
from coffer.core.journal_text import text_of
from coffer.core.settings import Settings
from coffer.core.steps import Story
from coffer.store.home import Home
from coffer.work.rules.ask import Asker

BY_MODEL = "_Goal, decisions, done and open were worded by {model}; the rest is from the transcript._"


@dataclass(frozen=True, slots=True)
class Narrated:
    """A model's text, or "" and why there is none: a sentence for the ledger, and one for the entry."""

    text: str = ""
    why: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A run that asks one question at most, so that it soon makes room for others, who wait for the same worker.

    again: a request that brought nothing is left to another run.
    """

    again: bool


class Narrator:
    """One for a run: what failed too often is not asked again in it. step: None for a run that asks all it needs."""

    def __init__(
        self, settings: Settings, home: Home, environment: Mapping[str, str], step: Step | None = None
    ) -> None:
        again = step is not None and step.again
        self._asker = Asker(
            settings, home, environment, one=step is not None, again=again, instead="the extractive entry"
        )
        self._model = settings.model.model

    def told(
        self, journal: Journal, story: Story, plain: str, local: Callable[[datetime], datetime]
    ) -> Narrated:
        """The entry of a journal in the model's words. plain: the extractive one. Raises NotYet in a step."""
        if not self._asker.on:
            return Narrated()
        before = len(self._asker.problems)
        found = pieces(story)
        given = found[0] if len(found) == 1 else self._noted(found, plain)
        written = (
            self._asker.put(
                entry_prompt(given), lambda answer: parse_entry(answer, f"{given}\n{plain}"), MOST_TOKENS
            )
            if given
            else None
        )
        if written is None:
            told = self._asker.problems[before:] or self._asker.problems[-1:]
            why = told[-1] if told else "the model gave no answer that could be taken"
            return Narrated(
                "", why, "_The configured model could not word this entry: it is taken from the transcript._"
            )
        text = text_of(merged(journal, written), local, BY_MODEL.format(model=f"`{self._model}`"))
        return Narrated(text)

    def _noted(self, found: list[str], plain: str) -> str:
        """The notes of each piece, with the extractive entry; "" where a piece could not be noted."""
        notes = []
        for at, piece in enumerate(found, 1):
            said = self._asker.put(
                notes_prompt(piece, at, len(found)),
                lambda answer, given=piece: parse_notes(answer, given),  # type: ignore[misc]
            )
            if said is None:
                return ""
            notes.append(said)
        return given_of(notes, plain)
