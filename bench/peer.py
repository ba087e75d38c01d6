"""The peer that Coffer is measured against, in a virtual environment of its own.

Read in its sources (1.8.39) and seen with `strace -f -e trace=network`: with the variables below it opens no
socket, and writes nothing but a note of its version into the home it is given.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.files import STORE

REQUIREMENT = "cozempic==1.8.39"

QUIET = {
    "COZEMPIC_NO_TELEMETRY": "1",  # counters of installs and prunes, on by default
    "COZEMPIC_NO_AUTO_UPDATE": "1",  # asks the package index once a day and upgrades itself
    "COZEMPIC_PIN": "1.8.39",
    "COZEMPIC_NO_GLOBAL_INIT": "1",  # any command would write hooks into ~/.claude/settings.json
    "COZEMPIC_NO_AUTO_INIT": "1",  # and into the project's .claude
    "http_proxy": "http://127.0.0.1:9",  # where nothing listens: whatever was missed stays on this machine
    "https_proxy": "http://127.0.0.1:9",
}
_SETTINGS = (".claude/settings.json", ".claude/settings.local.json", ".cozempic_global_initialized")


class PeerNotQuiet(Exception):
    """The peer installed something in its home, so what was measured is not what was asked for."""


def installed() -> Path:
    """The peer's program, installed into `.bench/peer` if it is not there yet."""
    folder = STORE / "peer"
    program = folder / "bin" / "cozempic"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "install", "--no-deps", REQUIREMENT], check=True)
    return program


def check_quiet(home: Path) -> None:
    """Raise PeerNotQuiet where the peer wrote settings into the home."""
    found = [name for name in _SETTINGS if (home / name).exists()]
    if found:
        raise PeerNotQuiet(f"the peer wrote {', '.join(found)} into its home")
