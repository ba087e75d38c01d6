"""Who may do what only the person may: make, activate or trust a rule (DESIGN section 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coffer.disk.ancestors import agent_above


@dataclass(frozen=True, slots=True)
class Allowed:
    """The person is there, or has said yes."""


@dataclass(frozen=True, slots=True)
class Propose:
    """Only a proposal may be made. by: who asks, for the person to read. reason: a phrase for who asks."""

    by: str
    reason: str


def may(environment: Mapping[str, str], *, terminal: bool, yes: bool) -> Allowed | Propose:
    """Whether a privileged verb may act. terminal: a person can be asked. yes: `--yes` was given.

    Under an agent never, also with --yes: a text that an agent read may have told it to run the command.
    """
    agent = agent_above(environment)
    if agent:
        return Propose(agent, f"this runs under {agent}, and only you may decide this")
    if terminal or yes:
        return Allowed()
    return Propose("a program", "there is no terminal to ask you on, and no --yes")
