"""Which back end a provider has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from coffer.core.settings import Model
from coffer.errors import ModelUnavailable
from coffer.models.anthropic import Anthropic
from coffer.models.exchange import Line
from coffer.models.key import key_of
from coffer.models.openai import OpenAI


class Backend(Protocol):
    """Something that answers a prompt."""

    def ask(self, prompt: str, most_tokens: int) -> str:
        """The answer in full, without blanks around it. Raises ModelUnavailable."""


BACKENDS: Mapping[str, Callable[[Line], Backend]] = {"anthropic": Anthropic, "openai": OpenAI}


def backend(
    model: Model,
    environment: Mapping[str, str],
    before_each: Callable[[], None],
    sleep: Callable[[float], None],
) -> Backend:
    """The back end of a configured model. before_each: called before every request; what it raises ends the asking.

    sleep: waits so many seconds. Raises ModelUnavailable where the key is missing: nothing else is tried in its
    place, least of all an agent's command line, which would bill its owner and hear its own hooks.
    """
    key = key_of(model, environment)
    line = Line(model, key.text, before_each, sleep, key.source)
    if key.problem:
        raise ModelUnavailable(line.name, key.problem, key.advice)
    return BACKENDS[model.provider](line)
