"""docs/delivery.md, written from what the tests of delivery found: `python -m tests.lab.delivery_page FOLDER`."""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.lab import clients
from tests.lab.matrix_cells import EVENTS, IMPOSSIBLE, NOTES, OUTCOMES, STATES, Result

PAGE = Path(__file__).resolve().parents[2] / "docs" / "delivery.md"
TITLES = {"claude": "Claude Code", "codex": "Codex"}
HEAD = """\
# Delivery, measured

Written by `make delivery` from what the tests found; `tests/lab/test_delivery_matrix.py` compares it with what it
finds. The real clients (Claude Code {claude}, Codex {codex}) ran against scripted models, set up by
`coffer up --yes`, with three hard and two soft rules. In each cell the next request to the model held **each hard
rule exactly once** (*later*: the first one that a daemon answered; until then it held all but what had changed), and
the receipt ended as the cell says.

The daemon: **up**: it runs. **down**: there is none and none can be started. **cold**: there is none, and the hook
starts it. **hanging**: something accepts on its socket and never answers.
"""


def cells_of(text: str) -> dict[tuple[str, str, str], str]:
    """The cells that a page has."""
    found: dict[tuple[str, str, str], str] = {}
    agent = ""
    for line in text.splitlines():
        if line.startswith("## "):
            agent = next((name for name, title in TITLES.items() if line == f"## {title}"), "")
        parts = [part.strip() for part in line.strip("|").split("|")]
        if agent and line.startswith("| ") and (agent, parts[0]) in EVENTS:
            found |= {
                (agent, parts[0], state): said
                for state, said in zip(STATES, parts[2:], strict=True)
                if said != "impossible"
            }
    return found


def page(results: Iterable[Result], figures: Mapping[str, Any]) -> str:
    """The whole page."""
    told = {one.name: one for one in results}
    versions = {name: client.version for name, client in clients.CLIENTS.items()}
    parts = [HEAD.format(**versions)]
    for agent, title in TITLES.items():
        rows = [
            f"| {event} | {what} | " + " | ".join(_cell(told, agent, event, state) for state in STATES) + " |"
            for (mine, event), what in EVENTS.items()
            if mine == agent
        ]
        parts.append(
            "\n".join(
                [
                    f"## {title}",
                    "",
                    f"| event | what | {' | '.join(STATES)} |",
                    "|---|---|---|---|---|---|",
                    *rows,
                ]
            )
            + "\n"
        )
    parts.append("\n".join(f"- *{name}*: {said}." for name, said in NOTES.items()) + "\n")
    reasons = [f"- {TITLES[agent]}, {event}: {why}." for (agent, event), why in IMPOSSIBLE.items()]
    parts.append("\n".join(["## Not possible", "", *reasons]) + "\n")
    parts.append(_times(told.values()))
    parts.append(_figures(figures))
    return "\n".join(parts)


def _cell(told: Mapping[tuple[str, str, str], Result], agent: str, event: str, state: str) -> str:
    if (agent, event) in IMPOSSIBLE:
        return "impossible"
    return told[agent, event, state].outcome


def _times(results: Iterable[Result]) -> str:
    rows = []
    for state in STATES:
        spent = sorted(one.milliseconds for one in results if one.state == state and one.milliseconds)
        rows.append(f"| {state} | {len(spent)} | {statistics.median(spent):.0f} ms | {spent[-1]:.0f} ms |")
    return (
        "\n".join(
            [
                "## How long a session waits",
                "",
                "The longest run of the hook in each cell, from its first line to its last; starting Python comes on",
                "top. Two cores, two workers at once. With the daemon up the limits were raised, to see what it takes;",
                "in the other states they are those that it ships with (0.3 s for the daemon, 0.7 s in all).",
                "",
                "| daemon | cells | median | longest |",
                "|---|---|---|---|",
                *rows,
            ]
        )
        + "\n"
    )


def _figures(figures: Mapping[str, Any]) -> str:
    rows = [f"| {what} | {figures[name]} |" for name, what in FIGURES.items()]
    head = ["## From one session to another, and faults", "", "| what | found |", "|---|---|"]
    return "\n".join([*head, *rows]) + "\n"


FIGURES = {
    "inbox": "a correction typed in Claude Code is in the inbox or pending: after Enter (the limit is 2 s)",
    "other": "the third one, typed in Claude Code: in the digest as an active rule, after Enter",
    "other_request": "the same, in the next request of a Codex thread that was open, with nobody running a command",
    "killed": "kill -9 of the daemon every five seconds while sessions of both agents run",
    "startup": "`claude -p` to its end, without a hook → with the hook and a cold daemon",
}


def figure(name: str, said: str) -> None:
    """Keep a figure for the page, where a run is to write it."""
    kept = os.environ.get("COFFER_MATRIX_FOLDER")
    if kept:
        (Path(kept) / f"figure-{name}.json").write_text(json.dumps({name: said}))


def read(folder: Path) -> tuple[list[Result], dict[str, Any]]:
    """What a run of the tests left."""
    results = [
        Result(**json.loads(line))
        for path in sorted(folder.glob("cells-*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    figures: dict[str, Any] = {}
    for path in sorted(folder.glob("figure-*.json")):
        figures |= json.loads(path.read_text())
    return results, figures


def main() -> int:
    """Write the page; each cell must have been run."""
    results, figures = read(Path(sys.argv[1]))
    wanted = {(*event, state) for event in set(OUTCOMES) - set(IMPOSSIBLE) for state in STATES}
    missing = wanted - {one.name for one in results}
    if missing or set(FIGURES) - set(figures):
        sys.stderr.write(
            f"not everything was run: {sorted(missing)}, {sorted(set(FIGURES) - set(figures))}\n"
        )
        return 1
    PAGE.write_text(page(results, figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
