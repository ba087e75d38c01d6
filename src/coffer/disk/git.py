"""Questions to git in a work tree, so that nothing which a repository's settings name is run.

A repository that was unpacked brings its own config: a file system monitor, hooks, filters, a pager, a helper that
fetches what is missing. All of them are off; git only reads, and writes nothing, not even its index.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 3.0
"""How long one question may take; on a network disk even the state of a small repository can take minutes."""
_MOST = 4 << 20
"""Bytes of an answer that are used."""
_SAFE = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "submodule.recurse=false"),
)
_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LANG")
_FILTER = ("clean", "smudge", "process")


@dataclass(slots=True)
class Git:
    """git in one work tree.

    failed: a question had no answer in time, no git is there to ask, or it refuses this repository as a whole: one of
    another owner, or with a config that it can't read.
    """

    top: Path
    environment: Mapping[str, str]
    seconds: float = SECONDS
    failed: bool = field(default=False, init=False)
    _filters: tuple[str, ...] | None = field(default=None, init=False)

    def ask(self, *words: str, filters: tuple[str, ...] = ()) -> str | None:
        """What a command of git answers, surrogates for what is no UTF-8; None where it refuses or takes too long."""
        command = ["git", *_SAFE, *filters, *words]
        try:
            with subprocess.Popen(
                command,
                cwd=self.top,
                env=self._variables(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            ) as run:
                try:
                    said, _ = run.communicate(timeout=self.seconds)
                except subprocess.TimeoutExpired:
                    self.failed = True
                    with suppress(ProcessLookupError):
                        os.killpg(run.pid, signal.SIGKILL)  # its own session: helpers that it started go too
                    return None
        except (OSError, ValueError):
            self.failed = True
            return None
        return os.fsdecode(said[:_MOST]) if run.returncode == 0 else None

    def works(self) -> bool:
        """Whether git answers here at all."""
        if not self.failed and self.ask("rev-parse", "--git-dir") is None:
            self.failed = True
        return not self.failed

    def holds(self, *words: str) -> bool:
        """Whether a command of git says yes by its exit code."""
        return self.ask(*words) is not None

    def status(self) -> list[tuple[str, str]] | None:
        """State and path of each file that differs from HEAD, ignored ones left out; None where git does not say.

        Files of a submodule count as one. Filters that the repository itself names are not run.
        """
        said = self.ask(
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=normal",
            "--ignore-submodules=dirty",
            filters=self._without_filters(),
        )
        if said is None:
            return None
        return [(line[:2], line[3:]) for line in said.split("\0") if len(line) > 3]

    def _without_filters(self) -> tuple[str, ...]:
        """Options that turn off each filter which the repository's own config names.

        The state of a file is told by its content, and that goes through `filter.<name>.clean`.
        """
        if self._filters is None:
            said = self.ask(
                "config", "--includes", "--show-scope", "--name-only", "-z", "--get-regexp", r"^filter\."
            )
            words = (said or "").split("\0")
            names = {
                name.removeprefix("filter.").rpartition(".")[0]
                for scope, name in zip(words[::2], words[1::2], strict=False)
                if scope in ("local", "worktree")
            }
            off = [f"filter.{name}.{what}=" for name in sorted(names) for what in _FILTER]
            off += [f"filter.{name}.required=false" for name in sorted(names)]
            self._filters = tuple(word for setting in off for word in ("-c", setting))
        return self._filters

    def _variables(self) -> dict[str, str]:
        """A small environment: GIT_DIR and its like of whoever started us speak of another repository."""
        kept = {name: self.environment[name] for name in _KEPT if name in self.environment}
        return kept | {
            "LC_ALL": "C",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_CEILING_DIRECTORIES": str(self.top.parent),
            "GIT_ATTR_NOSYSTEM": "1",
        }
