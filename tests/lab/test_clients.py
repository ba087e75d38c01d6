from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.lab import clients

if TYPE_CHECKING:
    from pathlib import Path


def install(root: Path, name: clients.ClientName, version: str) -> Path:
    """Lay out a client's platform package as npm would."""
    client = clients.CLIENTS[name]
    package = root / "node_modules" / f"{client.package}-{clients.platform_name(musl=client.musl)}"
    binary = package / client.binary.replace("*", "some-triple")
    binary.parent.mkdir(parents=True)
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    (package / "package.json").write_text(json.dumps({"version": version}))
    return binary


@pytest.mark.parametrize("name", clients.CLIENTS)
def test_only_the_pinned_version_is_found(tmp_path: Path, name: clients.ClientName) -> None:
    client = clients.CLIENTS[name]
    assert clients.find(name, tmp_path) is None
    install(tmp_path / "old", name, "0.0.1")
    assert clients.find(name, tmp_path / "old") is None
    binary = install(tmp_path / "right", name, client.version)
    assert clients.find(name, tmp_path / "right") == binary
    suffixed = install(
        tmp_path / "suffix", name, f"{client.version}-{clients.platform_name(musl=client.musl)}"
    )
    assert clients.find(name, tmp_path / "suffix") == suffixed


def test_the_folder_may_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFFER_LAB_CLIENTS", str(tmp_path))
    assert clients.folder() == tmp_path
    monkeypatch.delenv("COFFER_LAB_CLIENTS")
    assert clients.folder() == clients.PROJECT / ".lab" / "clients"


def test_nothing_is_installed_when_all_is_there(tmp_path: Path) -> None:
    for name, client in clients.CLIENTS.items():
        install(tmp_path, name, client.version)
    done = subprocess.run(
        [sys.executable, "tests/lab/install.py"],
        cwd=clients.PROJECT,
        env={**os.environ, "COFFER_LAB_CLIENTS": str(tmp_path), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "clients are there" in done.stdout
