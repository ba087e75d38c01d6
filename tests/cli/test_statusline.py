"""`coffer statusline`: one line whatever comes, the window kept, the person's own command first."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from coffer.cli.statusline import _SHARES, line
from coffer.core.tiers import TIERS
from coffer.store.windows import read_report

SESSION = "bd102bc4-e00a-40d0-965d-24d47059a769"
SAID = {
    "session_id": SESSION,
    "model": {"id": "claude-opus-4-8[1m]", "display_name": "Opus 4.8 (1M context)"},
    "context_window": {
        "context_window_size": 1_000_000,
        "current_usage": {"input_tokens": 3, "output_tokens": 9, "cache_read_input_tokens": 599_988},
    },
}


def run(
    house: Path, said: bytes | dict[str, Any], *words: str, **more: str
) -> subprocess.CompletedProcess[bytes]:
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    environment = {"HOME": str(house), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **more}
    return subprocess.run(
        [sys.executable, "-m", "coffer.cli.main", "statusline", *words],
        input=data,
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_the_shares_are_those_of_the_guard() -> None:
    assert tuple((tier.name, tier.share) for tier in TIERS) == _SHARES


def test_one_line_and_the_window_is_kept(tmp_path: Path) -> None:
    done = run(tmp_path, SAID)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "Opus 4.8 (1M context) ██████░░░░ 60% · 600k/1M · trim\n"
    kept = read_report(tmp_path / ".coffer", SESSION)
    assert (kept["window"], kept["model"], kept["tokens"]) == (1_000_000, "claude-opus-4-8[1m]", 600_000)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"garbage",
        b"[]",
        b"{}",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"session_id": 5, "model": [], "context_window": "x"}',
        b'{"session_id": "../../up", "model": {"id": "m"}, "context_window": {"context_window_size": 9}}',
        b'{"model": {"display_name": "a\\u001b[31mb\\nc"}, "context_window": {"context_window_size": NaN}}',
    ],
)
def test_whatever_comes_it_is_one_line_and_no_error(tmp_path: Path, said: bytes) -> None:
    done = run(tmp_path, said)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1
    assert b"\x1b" not in done.stdout
    assert not (tmp_path / "up.window.json").exists()


def test_a_home_that_cant_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ".coffer").write_text("a file")
    done = run(tmp_path, SAID)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1


def test_the_persons_own_command_comes_first(tmp_path: Path) -> None:
    own = tmp_path / "own line"
    own.write_text("#!/bin/sh\nprintf '%s|' \"$@\"; wc -c\n")
    own.chmod(0o755)
    data = json.dumps(SAID).encode()
    for words in ((f"'{own}' -x '$(id)'",), (str(own), "-x", "$(id)")):
        first, second = run(tmp_path, data, "--wrap", *words).stdout.splitlines()
        assert first.replace(b" ", b"") == f"-x|$(id)|{len(data)}".encode()
        assert second.startswith(b"Opus")


@pytest.mark.parametrize("word", ["/no/such/command", "'unclosed", "", " "])
def test_a_wrapped_command_that_fails_leaves_our_line(tmp_path: Path, word: str) -> None:
    done = run(tmp_path, SAID, "--wrap", word)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 1


def test_a_daemon_that_is_silent_is_not_waited_for(tmp_path: Path) -> None:
    root = tmp_path / ".coffer"
    root.mkdir()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here = Path.cwd()
    try:
        os.chdir(root)
        listener.bind("daemon.sock")
        listener.listen(1)
        began = time.monotonic()
        assert run(tmp_path, SAID).returncode == 0
        assert time.monotonic() - began < 5
    finally:
        os.chdir(here)
        listener.close()
    assert read_report(root, SESSION)["window"] == 1_000_000


def test_what_the_line_tells() -> None:
    known = {"window": 200_000, "tokens": 165_000, "rules": 1, "saves": 60_000, "planned": "164000 deep"}
    assert line({"model": {"id": "m"}}, known, {}) == (
        "m ████████░░ 82% · 165k/200k · deep · 1 rule confirmed · a prune saves 60k"
    )
    assert "saves" not in line({}, {**known, "planned": "90000 trim"}, {})
    assert "16%" in line({"model": {"id": "m"}}, known, {"COZEMPIC_CONTEXT_WINDOW": "1000000"})
    assert " · near" in line({}, {**known, "shares": {"near": 82.0, "far": 95.0}}, {})
    assert line({}, {"window": True, "tokens": "x", "rules": True, "saves": -1, "shares": [1]}, {})


def test_it_loads_next_to_nothing(tmp_path: Path) -> None:
    """The client runs it at every redraw: a quarter of a second that an import costs is felt all day."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "coffer.cli.main", "statusline"],
        input=json.dumps(SAID).encode(),
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    foreign = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert {"coffer", "click"} <= foreign
    assert not foreign & {
        "fastapi",
        "httpx",
        "mcp",
        "msgspec",
        "platformdirs",
        "psutil",
        "pydantic",
        "rich",
        "tomlkit",
    }
    assert not loaded & {
        "asyncio",
        "concurrent.futures",
        "dataclasses",
        "http.client",
        "logging",
        "sqlite3",
        "ssl",
    }
    assert len([name for name in loaded if name.startswith("coffer")]) < 16
