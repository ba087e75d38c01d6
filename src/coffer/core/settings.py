"""What a person may set in `~/.coffer/config.toml`, as typed values.

A wrong value is an error that names its key and what is allowed: a number that is quietly replaced would let
rules in or out that nobody meant. An unknown key is only a warning, so that a file written for a later version
still works. A key that looks like a secret is never repeated in a sentence.
"""

from __future__ import annotations

import ipaddress
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Literal, cast

from coffer.core.events import Settings as Digest
from coffer.core.plan import Form
from coffer.core.redact import redact
from coffer.core.rule import Weights
from coffer.core.tiers import TIERS, Tier, tiers_at

Provider = Literal["none", "anthropic", "openai"]
"""Who answers: nobody, the Anthropic API, or any server with OpenAI's chat completions."""
HOMES: dict[str, str] = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
"""Where a provider is asked if nothing else is set."""
LONGEST_SHOWN = 40
"""Characters of a wrong value that an error repeats."""


@dataclass(frozen=True, slots=True)
class Model:
    """Which model is asked. timeout: seconds for one request, from connecting to its last byte.

    base_url: without a slash at its end, "" for the provider's own. key_env: name of the environment variable
    that holds the key, "" for a server that wants none. retries: requests after the first. calls_a_day: requests
    in one UTC day, each retry counted. allow_http: plain HTTP to another machine.
    """

    provider: Provider = "none"
    base_url: str = ""
    model: str = ""
    key_env: str = ""
    timeout: float = 20.0
    retries: int = 2
    calls_a_day: int = 200
    allow_http: bool = False

    @property
    def address(self) -> str:
        """Where it is asked: `https://host[:port][/path]`; "" for none."""
        return self.base_url or HOMES.get(self.provider, "")


@dataclass(frozen=True, slots=True)
class Prune:
    """How transcripts are pruned. tail: in which form the rules are put at the end of one (`core.tail`)."""

    tail: Form = "attachment"


@dataclass(frozen=True, slots=True)
class Learn:
    """auto: whether the daemon learns from sessions by itself; if not, only `coffer digest learn` does.

    ask: whether the agent in the room is asked to word a rule where Coffer can't.
    """

    auto: bool = True
    ask: bool = True


Write = Literal["never", "idle"]
"""When the guard may write by itself where it can't reload: never, or at an idle safe point."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What the guard does by itself. tiers: from the lowest to the highest. nudge: a line at the next prompt."""

    tiers: tuple[Tier, ...] = TIERS
    write: Write = "never"
    nudge: bool = True


@dataclass(frozen=True, slots=True)
class Http:
    """tcp: whether the daemon also listens on a port of this machine's own address, with a token."""

    tcp: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. warnings: a sentence each, for the person."""

    digest: Digest = field(default_factory=Digest)
    model: Model = field(default_factory=Model)
    warnings: tuple[str, ...] = ()
    prune: Prune = field(default_factory=Prune)
    learn: Learn = field(default_factory=Learn)
    http: Http = field(default_factory=Http)
    guard: Guard = field(default_factory=Guard)


class SettingsWrong(ValueError):
    """Values that can't be meant. problems: a sentence each, which names the key and what is allowed."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(self.problems))


def settings_of(config: Mapping[str, Any]) -> Settings:
    """The settings in a decoded config.toml; what isn't there has its default. Raises SettingsWrong."""
    told = _Told()
    tables = _Table(config, "", told)
    found = Settings(
        _digest(tables.table("digest"), told),
        _model(tables.table("model"), told),
        prune=_prune(tables.table("prune")),
        learn=Learn(**_switches(tables.table("learn"), auto=True, ask=True)),
        http=Http(**_switches(tables.table("http"), tcp=False)),
        guard=_guard(tables.table("guard"), told),
    )
    tables.done()
    if told.problems:
        raise SettingsWrong(told.problems)
    return replace(found, warnings=tuple(told.warnings))


@dataclass(slots=True)
class _Told:
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Table:
    """One table of the file, and which of its keys were asked for. name: `digest.` for `[digest]`."""

    values: Mapping[str, Any]
    name: str
    told: _Told
    known: list[str] = field(default_factory=list)

    def table(self, key: str) -> _Table:
        self.known.append(key)
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.told.problems.append(f"`{self.name}{key}` must be a table: write `[{self.name}{key}]`.")
            value = {}
        return _Table(value, f"{self.name}{key}.", self.told)

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self._refuse(key, value, f"a whole number from {least} to {most}")
            return default
        return value

    def number(self, key: str, default: float, least: float, most: float) -> float:
        value = self._value(key, default)
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        if not fits or not least <= value <= most:  # nan lies nowhere
            self._refuse(key, value, f"a number from {least:g} to {most:g}")
            return default
        return float(value)

    def switch(self, key: str, *, default: bool) -> bool:
        value = self._value(key, default)
        if not isinstance(value, bool):
            self._refuse(key, value, "true or false")
            return default
        return value

    def text(self, key: str, allowed: re.Pattern[str], what: str) -> str:
        value = self._value(key, "")
        if not isinstance(value, str) or (value and not allowed.fullmatch(value)):
            self._refuse(key, value, what)
            return ""
        return value

    def done(self) -> None:
        """Warn of what nobody asked for."""
        names = {known.lower(): known for known in self.known}
        for key in self.values:
            if key not in self.known:
                near = get_close_matches(key.lower(), names, 1, 0.5)
                hint = f" Did you mean `{self.name}{names[near[0]]}`?" if near else ""
                self.told.warnings.append(
                    f"The setting `{self.name}{_shown(key)}` is not known and has no effect.{hint}"
                )

    def _value(self, key: str, default: Any) -> Any:
        self.known.append(key)
        return self.values.get(key, default)

    def _refuse(self, key: str, value: object, allowed: str) -> None:
        self.told.problems.append(f"`{self.name}{key}` is {_shown(value)}, but must be {allowed}.")


def _shown(value: object) -> str:
    """A wrong value for a sentence: short, on one line, and nothing that may be a secret."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and value.bit_length() > 64:  # Python refuses to write out very long ones
        return "a number beyond all measure"
    said = str(value).lower() if isinstance(value, bool) else str(value)
    if redact(said).found:
        return "something that looks like a secret"
    said = "".join(char if char.isprintable() else " " for char in said[: LONGEST_SHOWN + 1])
    said = said if len(said) <= LONGEST_SHOWN else said[: LONGEST_SHOWN - 1] + "…"
    return said if said.strip() else "empty"


# --- the table `digest`


def _digest(table: _Table, told: _Told) -> Digest:
    plain = Digest()
    found = Digest(
        promote_at=table.whole("promote_at", plain.promote_at, 1, 100),
        threshold=table.number("threshold", plain.threshold, 0, 1),
        cap=table.whole("cap", plain.cap, 1, 20),
        forget_days=table.whole("forget_days", plain.forget_days, 1, 3650),
        forget_importance=table.whole("forget_importance", plain.forget_importance, 0, 1000),
        archive_days=table.whole("archive_days", plain.archive_days, 1, 3650),
        pending_cap=table.whole("pending_cap", plain.pending_cap, 1, 1000),
        weights=_weights(table.table("weights")),
    )
    table.done()
    if found.weights.ceiling >= found.threshold:
        told.problems.append(
            f"`digest.weights.ceiling` ({found.weights.ceiling:g}) must be lower than `digest.threshold` "
            f"({found.threshold:g}): else guesses alone would make a rule."
        )
    return found


def _weights(table: _Table) -> Weights:
    plain = Weights()
    found = Weights(
        share=table.number("share", plain.share, 0, 1),
        half_life=table.number("half_life", plain.half_life, 1, 36500),
        possible=table.number("possible", plain.possible, 0, 1),
        ceiling=table.number("ceiling", plain.ceiling, 0, 1),
        reliability=_shares(table.table("reliability"), plain.reliability),
        label=_shares(table.table("label"), plain.label),
    )
    table.done()
    return found


def _shares(table: _Table, plain: Iterable[tuple[Any, float]]) -> tuple[tuple[Any, float], ...]:
    found = tuple((name, table.number(name, share, 0, 1)) for name, share in plain)
    table.done()
    return found


# --- the table `prune`


def _prune(table: _Table) -> Prune:
    form = table.text("tail", re.compile("attachment|user"), '"attachment" or "user"') or Prune().tail
    table.done()
    return Prune(cast("Form", form))


# --- the table `guard`


def _guard(table: _Table, told: _Told) -> Guard:
    shares = table.table("tiers")
    keys = {each.name: each.name.replace(" ", "_") for each in TIERS}
    found: dict[str, float] = {
        each.name: shares.number(keys[each.name], each.share, 1, 100) for each in TIERS
    }
    shares.done()
    tiers = tiers_at(found)
    for lower, higher in itertools.pairwise(tiers):
        if lower.share >= higher.share:
            told.problems.append(
                f"`guard.tiers.{keys[lower.name]}` ({lower.share:g}) must be lower than "
                f"`guard.tiers.{keys[higher.name]}` ({higher.share:g})."
            )
    write = table.text("write", re.compile("never|idle"), '"never" or "idle"') or Guard().write
    nudge = table.switch("nudge", default=True)
    table.done()
    return Guard(tiers, cast("Write", write), nudge)


# --- the tables `learn` and `http`


def _switches(table: _Table, **defaults: bool) -> dict[str, bool]:
    found = {key: table.switch(key, default=default) for key, default in defaults.items()}
    table.done()
    return found


# --- the table `model`

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9._-]{0,252}))(?::\d{1,5})?"
    r"(?:/[\w.~%-]+)*/?",
    re.IGNORECASE | re.ASCII,
)
_MODEL_NAME = re.compile(r"[A-Za-z0-9][\w.:/@+-]{0,199}", re.ASCII)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_PROVIDERS = re.compile("none|anthropic|openai")
_UNSURE = {"random string"}


def _model(table: _Table, told: _Told) -> Model:
    plain = Model()
    provider = table.text("provider", _PROVIDERS, '"none", "anthropic" or "openai"') or plain.provider
    found = Model(
        provider=cast("Provider", provider),
        base_url=_secretless(table, "base_url", _URL, "an address such as https://host:8080/v1").rstrip("/"),
        model=_secretless(table, "model", _MODEL_NAME, "the name of a model, as its provider writes it"),
        key_env=_secretless(table, "key_env", _VARIABLE, "the NAME of an environment variable in capitals"),
        timeout=table.number("timeout", plain.timeout, 1, 600),
        retries=table.whole("retries", plain.retries, 0, 5),
        calls_a_day=table.whole("calls_a_day", plain.calls_a_day, 0, 100_000),
        allow_http=table.switch("allow_http", default=plain.allow_http),
    )
    table.done()
    if not told.problems:  # what is missing because it was wrong has been said
        told.problems += _unfit(found)
    return found


def _secretless(table: _Table, key: str, allowed: re.Pattern[str], what: str) -> str:
    """A text whose wrong values are never repeated: a key pasted in its place, a password in an address."""
    value = table.values.get(key, "")
    # long names of models look random to `redact`; a key of a known form is never one
    if (
        isinstance(value, str)
        and value
        and (not allowed.fullmatch(value) or {*redact(value).found} - _UNSURE)
    ):
        table.known.append(key)
        table.told.problems.append(f"`{table.name}{key}` must be {what}, without any key or password in it.")
        return ""
    return table.text(key, allowed, what)


def _unfit(model: Model) -> list[str]:
    """What is missing or unsafe in settings that are each allowed."""
    if model.provider == "none":
        return []
    problems = []
    if not model.model:
        problems.append(f'`model.model` must name a model, since `model.provider` is "{model.provider}".')
    if not model.key_env and (model.provider == "anthropic" or not model.base_url):
        problems.append(
            "`model.key_env` must be the NAME of the environment variable that holds the key for "
            f"{model.address}."
        )
    if model.address.lower().startswith("http:") and not (model.allow_http or is_loopback(model.address)):
        problems.append(
            "`model.base_url` must begin with https:// or lead to this machine; `model.allow_http = true` "
            "sends key and texts over the network unencrypted."
        )
    return problems


def is_loopback(address: str) -> bool:
    """Whether an address leads to this machine and nowhere else: localhost, 127.0.0.0/8, ::1."""
    match = _URL.fullmatch(address)
    host = match["host"].strip("[]").lower() if match else ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
