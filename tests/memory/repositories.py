"""Real git repositories for tests, made without anything of this machine's settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

MOMENT = "2026-11-30T10:00:00+00:00"


def git(folder: Path, *words: str, check: bool = True) -> str:
    """Run git; what it says."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false", *words],
        cwd=folder,
        check=check,
        capture_output=True,
        text=True,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_EDITOR": "true",
            **{f"GIT_{who}_NAME": "t" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "t@example.org" for who in ("AUTHOR", "COMMITTER")},
        },
    )
    return done.stdout.strip()


def repository(folder: Path, origin: str = "", *, branch: str = "main") -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", branch)
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    if origin:
        git(folder, "remote", "add", "origin", origin)
    return folder


def commit(folder: Path, name: str, text: str, subject: str) -> str:
    """Write a file and commit it; the commit."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)
    return git(folder, "rev-parse", "HEAD")
