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
from typing import Any, Literal, cast

from coffer.core.events import Settings as Digest
from coffer.core.plan import Form
from coffer.core.redact import redact
from coffer.core.regex import regex
from coffer.core.rule import Weights
from coffer.core.settings_table import SettingsWrong, Table, Told
from coffer.core.tiers import TIERS, Tier, tiers_at

Provider = Literal["none", "anthropic", "openai"]
"""Who answers: nobody, the Anthropic API, or any server with OpenAI's chat completions."""
HOMES: dict[str, str] = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
"""Where a provider is asked if nothing else is set."""


@dataclass(frozen=True, slots=True)
class Model:
    """Which model is asked. timeout: seconds for one request, from connecting to its last byte.

    base_url: without a slash at its end, "" for the provider's own. key_env: name of the environment variable
    that holds the key, key_file: a file that does, for where the variable is not set (the daemon has none of a
    person's); "" for none, for a server that wants no key. retries: requests after the first. calls_a_day: requests
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
    key_file: str = ""

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


@dataclass(frozen=True, slots=True)
class Journal:
    """auto: whether the daemon writes down closed sessions by itself. model: whether a configured model words them."""

    auto: bool = True
    model: bool = False


@dataclass(frozen=True, slots=True)
class Recall:
    """embeddings: whether entries are found by their meaning too, with the extra of that name."""

    embeddings: bool = False


Write = Literal["never", "idle"]
"""When the guard may write by itself where it can't reload: never, or at an idle safe point."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What the guard does by itself. tiers: from the lowest to the highest. nudge: a line at the next prompt.

    act: whether it prunes and reloads by itself where it can reload. tmux: whether it may type there.
    """

    tiers: tuple[Tier, ...] = TIERS
    write: Write = "never"
    nudge: bool = True
    act: bool = True
    tmux: bool = False


@dataclass(frozen=True, slots=True)
class Http:
    """tcp: whether the daemon also listens on a port of this machine's own address, with a token."""

    tcp: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. warnings: a sentence each, for the person.

    native_memory: by agent, whether its own memory is to be off; one that is not named is left alone.
    projects: what the guard does in a project, by its root, where that differs.
    """

    digest: Digest = field(default_factory=Digest)
    model: Model = field(default_factory=Model)
    warnings: tuple[str, ...] = ()
    prune: Prune = field(default_factory=Prune)
    learn: Learn = field(default_factory=Learn)
    http: Http = field(default_factory=Http)
    guard: Guard = field(default_factory=Guard)
    journal: Journal = field(default_factory=Journal)
    recall: Recall = field(default_factory=Recall)
    native_memory: Mapping[str, bool] = field(default_factory=dict)
    projects: Mapping[str, Guard] = field(default_factory=dict)

    def guard_in(self, root: str) -> Guard:
        """What the guard does in a project. root: as it stands in the file, "" for no project."""
        return self.projects.get(root, self.guard)


def settings_of(config: Mapping[str, Any]) -> Settings:
    """The settings in a decoded config.toml; what isn't there has its default. Raises SettingsWrong."""
    told = Told()
    tables = Table(config, "", told)
    guard = _guard(tables.table("guard"), told, Guard())
    found = Settings(
        _digest(tables.table("digest"), told),
        _model(tables.table("model"), told),
        prune=_prune(tables.table("prune")),
        learn=Learn(**_switches(tables.table("learn"), auto=True, ask=True)),
        journal=Journal(**_switches(tables.table("journal"), auto=True, model=False)),
        recall=Recall(**_switches(tables.table("recall"), embeddings=False)),
        http=Http(**_switches(tables.table("http"), tcp=False)),
        guard=guard,
        native_memory=_native_memory(tables.table("agents")),
        projects=_projects(tables.table("projects"), told, guard),
    )
    tables.done()
    if told.problems:
        raise SettingsWrong(told.problems)
    return replace(found, warnings=tuple(told.warnings))


# --- the table `digest`


def _digest(table: Table, told: Told) -> Digest:
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


def _weights(table: Table) -> Weights:
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


def _shares(table: Table, plain: Iterable[tuple[Any, float]]) -> tuple[tuple[Any, float], ...]:
    found = tuple((name, table.number(name, share, 0, 1)) for name, share in plain)
    table.done()
    return found


# --- the table `prune`


def _prune(table: Table) -> Prune:
    form = table.text("tail", re.compile("attachment|user"), '"attachment" or "user"') or Prune().tail
    table.done()
    return Prune(cast("Form", form))


# --- the table `guard`


def _guard(table: Table, told: Told, plain: Guard) -> Guard:
    """plain: what holds where the table says nothing."""
    shares = table.table("tiers")
    keys = {each.name: each.name.replace(" ", "_") for each in TIERS}
    found: dict[str, float] = {
        each.name: shares.number(keys[each.name], each.share, 1, 100) for each in plain.tiers
    }
    shares.done()
    tiers = tiers_at(found)
    for lower, higher in itertools.pairwise(tiers):
        if lower.share >= higher.share:
            told.problems.append(
                f"`{shares.name}{keys[lower.name]}` ({lower.share:g}) must be lower than "
                f"`{shares.name}{keys[higher.name]}` ({higher.share:g})."
            )
    write = table.text("write", re.compile("never|idle"), '"never" or "idle"') or plain.write
    guard = Guard(
        tiers,
        cast("Write", write),
        nudge=table.switch("nudge", default=plain.nudge),
        act=table.switch("act", default=plain.act),
        tmux=table.switch("tmux", default=plain.tmux),
    )
    table.done()
    return guard


def _projects(table: Table, told: Told, plain: Guard) -> dict[str, Guard]:
    """`[projects."/path/to/root".guard]`: by root, over what `[guard]` says."""
    found = {}
    for root in table.values:
        if not root.startswith("/"):
            told.problems.append("A table below `projects` must be named by the project's whole path.")
            continue
        own = table.table(root)
        found[root.rstrip("/") or "/"] = _guard(own.table("guard"), told, plain)
        own.done()
    return found


# --- the tables of `agents`


def _native_memory(table: Table) -> dict[str, bool]:
    found = {}
    for agent in ("claude", "codex"):
        own = table.table(agent)
        if "disable_native_memory" in own.values:
            found[agent] = own.switch("disable_native_memory", default=False)
        own.done()
    table.done()
    return found


# --- the tables `learn`, `http`, `journal` and `recall`


def _switches(table: Table, **defaults: bool) -> dict[str, bool]:
    found = {key: table.switch(key, default=default) for key, default in defaults.items()}
    table.done()
    return found


# --- the table `model`

_URL = regex(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9._-]{0,252}))(?::\d{1,5})?"
    r"(?:/[\w.~%-]+)*/?",
    re.IGNORECASE | re.ASCII,
)
_MODEL_NAME = regex(r"[A-Za-z0-9][\w.:/@+-]{0,199}", re.ASCII)
_VARIABLE = regex(r"[A-Z_][A-Z0-9_]{0,99}")
_PATH = regex(r"(?:~?/[^\x00-\x1f\x7f]{1,1000})", re.ASCII)
_PROVIDERS = regex("none|anthropic|openai")
_UNSURE = {"random string"}


def _model(table: Table, told: Told) -> Model:
    plain = Model()
    provider = table.text("provider", _PROVIDERS, '"none", "anthropic" or "openai"') or plain.provider
    found = Model(
        provider=cast("Provider", provider),
        base_url=_secretless(table, "base_url", _URL, "an address such as https://host:8080/v1").rstrip("/"),
        model=_secretless(table, "model", _MODEL_NAME, "the name of a model, as its provider writes it"),
        key_env=_secretless(table, "key_env", _VARIABLE, "the NAME of an environment variable in capitals"),
        key_file=_secretless(table, "key_file", _PATH, "the path of a file, from / or ~/ on"),
        timeout=table.number("timeout", plain.timeout, 1, 600),
        retries=table.whole("retries", plain.retries, 0, 5),
        calls_a_day=table.whole("calls_a_day", plain.calls_a_day, 0, 100_000),
        allow_http=table.switch("allow_http", default=plain.allow_http),
    )
    table.done()
    if not told.problems:  # what is missing because it was wrong has been said
        told.problems += _unfit(found)
    return found


def _secretless(table: Table, key: str, allowed: re.Pattern[str], what: str) -> str:
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
    if not model.key_env and not model.key_file and (model.provider == "anthropic" or not model.base_url):
        problems.append(
            "`model.key_env` must be the NAME of the environment variable that holds the key for "
            f"{model.address}, or `model.key_file` the path of a file that does."
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
