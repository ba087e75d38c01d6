"""Capture the instants that the guard's gate is judged by: `python -m tests.lab.make_harness_fixtures`.

    --only SCENE  just this one (may be repeated)
    --jobs N      so many at once (default 2)

Each scene is played with the real client in a home of its own; its shots go to `tests/fixtures/harness`, one
folder an instant. The home becomes /home/dev, long listings are cut; nothing else is changed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.lab import (
    clients,
    harness_around,
    harness_changes,
    harness_edges,
    harness_ends,
    harness_rare,
    harness_screen,
    harness_turns,
    harness_work,
)
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.harness import Harness
from tests.lab.make_claude_fixtures import redactions

if TYPE_CHECKING:
    from collections.abc import Callable

TARGET = clients.PROJECT / "tests" / "fixtures" / "harness"
SCENES: dict[str, Callable[[Harness], None]] = {
    **harness_work.SCENES,
    **harness_turns.SCENES,
    **harness_ends.SCENES,
    **harness_screen.SCENES,
    **harness_edges.SCENES,
    **harness_rare.SCENES,
    **harness_changes.SCENES,
    **harness_around.SCENES,
}


def play(name: str, target: Path) -> list[str]:
    """Play one scene; return the names of the instants that it left."""
    with (
        tempfile.TemporaryDirectory(prefix="lab-") as folder,
        AnthropicServer({}) as server,
        Harness.at(Path(folder), server, target, redactions(Path(folder).resolve())) as harness,
    ):
        SCENES[name](harness)
    return harness.taken


def main() -> int:
    """Capture what is asked for. Exit code 1 names the scenes that failed; the others are there nevertheless."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", action="append", choices=sorted(SCENES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--to", type=Path, default=TARGET)
    options = parser.parse_args()
    failed = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, result in [(n, pool.submit(play, n, options.to)) for n in options.only or list(SCENES)]:
            error = result.exception()
            print(
                f"{name}: {', '.join(result.result()) if error is None else f'FAILED: {error}'}", flush=True
            )
            failed += [name] if error is not None else []
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
