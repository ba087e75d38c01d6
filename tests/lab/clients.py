"""The real clients the lab drives: which versions, and where their native binaries lie.

Nothing here starts a client or touches the network; `install.py` puts them there.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ClientName = Literal["claude", "codex"]

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Client:
    """One pinned client: its npm package, the version, and the binary below `<package>-<platform>`."""

    package: str
    version: str
    binary: str  # a glob, relative to the platform package
    musl: bool  # publishes own `-musl` packages (else one static binary serves both C libraries)


CLIENTS: dict[ClientName, Client] = {
    "claude": Client("@anthropic-ai/claude-code", "2.1.197", "claude", musl=True),
    "codex": Client("@openai/codex", "0.171.0", "vendor/*/bin/codex", musl=False),
}


def folder() -> Path:
    """Where the clients are installed: COFFER_LAB_CLIENTS, else `.lab/clients` in the project."""
    chosen = os.environ.get("COFFER_LAB_CLIENTS")
    return Path(chosen) if chosen else PROJECT / ".lab" / "clients"


def platform_name(*, musl: bool) -> str | None:
    """Name this machine as npm's platform packages do (`linux-x64`, `darwin-arm64`, …); None elsewhere."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(
        platform.machine().lower()
    )
    if machine is None or sys.platform not in ("linux", "darwin"):
        return None
    on_musl = musl and sys.platform == "linux" and platform.libc_ver()[0] != "glibc"
    return f"{sys.platform}-{machine}" + ("-musl" if on_musl else "")


def find(name: ClientName, root: Path | None = None) -> Path | None:
    """Return the native binary of the pinned version, or None when it is not installed."""
    client = CLIENTS[name]
    where = platform_name(musl=client.musl)
    if where is None:
        return None
    package = (root or folder()) / "node_modules" / f"{client.package}-{where}"
    try:
        version = json.loads((package / "package.json").read_bytes())["version"]
    except FileNotFoundError:
        return None
    # Codex publishes its platform packages under one name, told apart by a version suffix.
    if version not in (client.version, f"{client.version}-{where}"):
        return None
    found = sorted(path for path in package.glob(client.binary) if os.access(path, os.X_OK))
    return found[0] if found else None
