"""Asking a configured model about a turn or two rules. It may fail; learning goes on without it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from coffer.core.ask import (
    MOST_TOKENS,
    ONCE_MORE,
    Answered,
    AnswerUnreadable,
    classification_prompt,
    comparison_prompt,
    inverts,
    parse_classification,
    parse_comparison,
)
from coffer.core.redact import redact
from coffer.core.settings import Settings
from coffer.core.similar import Label as Relation
from coffer.errors import ModelUnavailable, StoreFailed
from coffer.store.answers import keep_answer, kept_answer, question_of, take_call
from coffer.store.db import database
from coffer.store.home import Home

if TYPE_CHECKING:
    from coffer.models.table import Backend

MOST_FAILURES = 3
"""Questions in a row that may fail, each for itself, before a run asks no more."""

_Read = TypeVar("_Read")


class NotYet(Exception):
    """A run has asked its one question, and needs the answer to another. wait: seconds to leave in between.

    answered: it got one, which is kept; else the same request has to be made again.
    """

    def __init__(self, *, answered: bool, wait: float = 0.0) -> None:
        super().__init__("another run asks on")
        self.answered, self.wait = answered, wait


class Asker:
    """The configured model, with its budget and its kept answers, for one run.

    Every text is redacted before it is asked, and every answer before it is kept. A question that was answered
    before costs nothing. Whatever goes wrong, the answer is None and `problems` says why, each reason once.
    Not to be used inside an open `database()` of the same home: it waits for that one to end.
    """

    def __init__(  # noqa: PLR0913  (two of them only tests set)
        self,
        settings: Settings,
        home: Home,
        environment: Mapping[str, str],
        *,
        only_kept: bool = False,
        one: bool = False,
        again: bool = False,
        instead: str = "the built-in classifier",
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """environment: where the key stands. sleep: waits so many seconds. now: the present, aware.

        only_kept: nobody is asked and nothing is written; what was not answered before is None. one: at most one
        question is asked, with one request, and NotYet raised where that is not enough; again: also where that request
        failed and another may do better. instead: who does what the model could not.
        """
        self.problems: list[str] = []
        self._only_kept, self._instead = only_kept, instead
        self._model = replace(settings.model, retries=0) if one else settings.model
        self._home, self._environment = home, environment
        self._one, self._again, self._answers = one, again, 0
        self._sleep, self._now = sleep, now
        self._made: Backend | None = None
        self._failures = 0

    @property
    def on(self) -> bool:
        """Whether a model is configured at all."""
        return self._model.provider != "none"

    def classify(self, turn: str, before: str, tools: Sequence[str]) -> Answered | None:
        """What the model makes of a human turn. before: the agent's last words. tools: what it used, newest last."""
        if not self.on:
            return None
        turn = redact(turn).text

        def read(answer: str) -> Answered:
            answered = parse_classification(answer)
            if answered.rule is not None and inverts(turn, answered.rule):
                raise AnswerUnreadable("its rule forbids what the person asked for")
            return answered

        names = [redact(name).text for name in tools]
        return self._asked(classification_prompt(turn, redact(before).text, names), read)

    def compare(self, a: str, b: str) -> Relation | None:
        """DUPLICATE, DISTINCT or CONTRADICTORY."""
        if not self.on:
            return None
        return self._asked(comparison_prompt(redact(a).text, redact(b).text), parse_comparison)

    def put(self, prompt: str, read: Callable[[str], _Read], most_tokens: int = MOST_TOKENS) -> _Read | None:
        """What a question of another kind is answered. read: raises AnswerUnreadable for what is no answer."""
        return self._asked(redact(prompt).text, read, most_tokens) if self.on else None

    def _asked(
        self, prompt: str, read: Callable[[str], _Read], most_tokens: int = MOST_TOKENS
    ) -> _Read | None:
        question = question_of(self._model.provider, self._model.model, prompt)
        try:
            kept = self._kept(question)
            if kept is not None:
                return _from_kept(kept, read)
            if self._only_kept or self._failures >= MOST_FAILURES:
                return None
            if self._one and self._answers:
                raise NotYet(answered=True)
            return self._answered(question, prompt, read, most_tokens)
        except AnswerUnreadable as error:
            self._tell(
                f"An answer of the model {self._model.model} could not be taken: {error}. It is left to "
                f"{self._instead}."
            )
        except ModelUnavailable as error:
            if self._again and error.wait is not None:
                raise NotYet(answered=False, wait=error.wait) from None
            self._failures += MOST_FAILURES if error.final else 1
            self._tell(str(error))
        except StoreFailed as error:
            self._failures = MOST_FAILURES  # what can't be counted isn't asked
            self._tell(str(error))
        return None

    def _answered(self, question: str, prompt: str, read: Callable[[str], _Read], most_tokens: int) -> _Read:
        """A fresh answer; one that can't be read is asked for once more, and then never again."""
        model = self._backend()
        answer = redact(model.ask(prompt, most_tokens)).text
        try:
            found = read(answer)
        except AnswerUnreadable:
            answer = redact(model.ask(prompt + ONCE_MORE, most_tokens)).text
            self._failures = 0
            self._keep(question, "")  # without its text: whatever it is, it is no answer
            found = read(answer)
        self._failures = 0
        self._keep(question, answer)
        return found

    def _kept(self, question: str) -> str | None:
        if self._only_kept and not self._home.database.exists():
            return None
        with database(self._home, write=not self._only_kept) as connection:
            return kept_answer(connection, question)

    def _keep(self, question: str, answer: str) -> None:
        self._answers += 1
        with database(self._home) as connection:
            keep_answer(connection, question, answer, self._now())

    def _backend(self) -> Backend:
        if self._made is None:
            from coffer.models.table import backend  # noqa: PLC0415  (only a configured model needs it)

            self._made = backend(self._model, self._environment, self._spend, self._sleep)
        return self._made

    def _spend(self) -> None:
        """Count a request before it is made. Raises ModelUnavailable where the day has none left."""
        with database(self._home) as connection:
            taken = take_call(connection, self._now(), self._model.calls_a_day)
        if not taken:
            raise ModelUnavailable(
                self._model.model,
                f"the {self._model.calls_a_day} requests of this day (UTC) are used up",
                "`model.calls_a_day` sets how many there are.",
            )

    def _tell(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def _from_kept(answer: str, read: Callable[[str], _Read]) -> _Read:
    if not answer:
        raise AnswerUnreadable("an earlier asking brought none that could be read")
    return read(answer)
