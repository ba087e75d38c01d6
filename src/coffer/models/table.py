"""Which back end a provider has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from coffer.core.settings import Model
from coffer.errors import ModelUnavailable
from coffer.models.anthropic import Anthropic
from coffer.models.exchange import Line
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
    key = environment.get(model.key_env, "").strip() if model.key_env else ""
    line = Line(model, key, before_each, sleep)
    if model.key_env and not key:
        raise ModelUnavailable(
            line.name,
            f"the environment variable {model.key_env}, which `model.key_env` names, is not set here",
            'Set it, or set `model.provider = "none"`.',
        )
    # the HTTP library would repeat the whole value in its error
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ModelUnavailable(
            line.name,
            f"what the environment variable {model.key_env} holds is no key: it has blanks or signs in it that "
            "no header may have",
            "Set it to the key alone.",
        )
    return BACKENDS[model.provider](line)
