"""`coffer doctor`: does it work? Each check looks at one thing and says what it found, how bad that is, and the remedy.

A check that can't look is a finding too, never an error: the one thing that is broken must not hide the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from coffer.errors import CofferError
from coffer.work.setup import doctor_agents, doctor_home
from coffer.work.setup.doctor_row import Patient, Row
from coffer.work.setup.setup import agents_here

OF_AGENT: tuple[tuple[str, Callable[[Patient, str], Iterator[Row]]], ...] = (
    ("client", doctor_agents.client),
    ("hooks", doctor_agents.entries),
    ("hook run", doctor_agents.runs),
    ("trust", doctor_agents.trust),
    ("MCP server", doctor_agents.server),
    ("deliveries", doctor_agents.deliveries),
    ("own memory", doctor_agents.own_memory),
)
"""Checks of each agent that is here, in the order of a delivery."""
OF_HOME: tuple[tuple[str, Callable[[Patient], Iterator[Row]]], ...] = (
    ("files", doctor_home.files),
    ("daemon", doctor_home.daemon),
    ("spool", doctor_home.spool),
    ("bundle", doctor_home.size),
    ("bundle files", doctor_home.bundle_files),
    ("digests", doctor_home.digests),
    ("settings", doctor_home.settings),
    ("database", doctor_home.database_file),
    ("journal", doctor_home.journal),
    ("modes", doctor_home.modes),
    ("disk", doctor_home.disk),
)
"""Checks of Coffer's own folder and of what a session would be sent."""


def examine(patient: Patient) -> list[Row]:
    """All rows. Writes nothing but what the agents' own commands write when asked. Never raises."""
    found: list[Row] = []
    for agent in agents_here(patient.ground):
        for name, check in OF_AGENT:
            found += _looked(name, agent, partial(check, patient, agent))
    for name, look in OF_HOME:
        found += _looked(name, "", partial(look, patient))
    return found


def _looked(name: str, agent: str, look: Callable[[], Iterator[Row]]) -> list[Row]:
    try:
        return list(look())
    except CofferError as error:
        return [Row(name, str(error), "fatal", "Mend what this says.", agent)]
    except OSError as error:
        said = f"it can't be looked at: {(error.strerror or str(error)).lower()}"
        return [Row(name, said, "warning", "See to the rights of the files.", agent)]
