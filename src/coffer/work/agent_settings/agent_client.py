"""The agents' own commands, asked for what only they know. Each run is bounded in time and marked as ours."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from coffer.agents.claude_hooks import version_of
from coffer.disk.agent_errors import ClientMissing, ClientRefused

SECONDS = 20.0
_VERSION_SECONDS = 5.0
_TITLES = {"claude": "Claude Code", "codex": "Codex"}


def find_client(agent: str, environment: Mapping[str, str]) -> Path | None:
    """Where the agent's command is, by PATH; its relative folders, which may be a repository's, do not count."""
    folders = environment.get("PATH", "").split(os.pathsep)
    found = shutil.which(agent, path=os.pathsep.join(filter(os.path.isabs, folders)))
    return Path(found) if found else None


def require_client(agent: str, environment: Mapping[str, str]) -> Path:
    """The same. Raises ClientMissing."""
    found = find_client(agent, environment)
    if found is None:
        raise ClientMissing(_TITLES[agent], agent)
    return found


def client_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a run gets: the person's environment, and the mark by which our hooks ignore it."""
    return {**environment, "COFFER_CHILD": "1"}


def run_client(agent: str, *arguments: str, environment: Mapping[str, str], seconds: float = SECONDS) -> str:
    """Run it and give its output. Raises ClientMissing, ClientRefused."""
    binary = require_client(agent, environment)
    shown = " ".join([agent, *arguments])
    try:
        done = subprocess.run(
            [str(binary), *arguments],
            env=client_environment(environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ClientRefused(shown, f"it gave no answer in {seconds:.0f} s") from error
    except OSError as error:
        raise ClientRefused(shown, (error.strerror or str(error)).lower()) from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise ClientRefused(shown, said[-1][:300] if said else f"exit code {done.returncode}")
    return done.stdout.decode("utf-8", "replace")


def claude_version(environment: Mapping[str, str]) -> tuple[int, ...] | None:
    """The version of Claude Code on the PATH; None where it can't be asked."""
    return client_version("claude", environment)


def client_version(agent: str, environment: Mapping[str, str]) -> tuple[int, ...] | None:
    """The version of an agent's command on the PATH; None where it can't be asked."""
    try:
        return version_of(run_client(agent, "--version", environment=environment, seconds=_VERSION_SECONDS))
    except (ClientMissing, ClientRefused):
        return None  # then nothing is assumed of it
