"""Make the lab's own Claude Code transcripts: `python tests/lab/make_claude_fixtures.py`.

    --only NAME   just this one (may be repeated); `sample` is the larger one that ships with the package
    --jobs N      so many at once (default 2)

Each transcript is made with the real client in a home of its own and written to `tests/corpus/claude`, with
the folder beside it. The only change is a substitution of text: the home becomes /home/dev, so the project is
/home/dev/work. `tests/corpus/INDEX.md` is written anew from what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.lab import claude_fixtures as work
from tests.lab import claude_fixtures_around as around
from tests.lab import claude_fixtures_live as live
from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.claude_sample import sample
from tests.lab.claude_stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

CORPUS = clients.PROJECT / "tests" / "corpus"
SAMPLE = clients.PROJECT / "src" / "coffer" / "sample" / "claude-session.jsonl"
SAMPLE_TITLE = "Tide tables: a parser and a chart"
MAX_BYTES = 60_000  # of a transcript
VERSION = clients.CLIENTS["claude"].version


@dataclass(frozen=True, slots=True)
class Fixture:
    """One row: how it is made, and what is different on its stage."""

    make: Callable[[Stage], None]
    permissions: tuple[str, ...] | None = None  # tools allowed without a question; None: the lab's usual ones
    breaches: tuple[str, ...] = ()  # rules that the client itself breaks here
    chars_per_token: float = 4.0
    title: str = "Scripted session"
    model: str = "claude-opus-4-8[1m]"

    @property
    def shows(self) -> str:
        """What it shows: the first sentence of its function."""
        return (self.make.__doc__ or "").partition("\n")[0].rstrip(".")


FIXTURES: dict[str, Fixture] = {
    "plain": Fixture(work.plain),
    "parallel": Fixture(work.parallel),
    "failing": Fixture(work.failing),
    "edits": Fixture(work.edits),
    "big-output": Fixture(work.big_output),
    "subagent": Fixture(work.subagent),
    "subagent-background": Fixture(work.subagent_background),
    "background-bash": Fixture(work.background_bash),
    "background-stop": Fixture(work.background_stop),
    "workflow": Fixture(work.workflow),
    "team": Fixture(work.team),
    "compact": Fixture(work.compact),
    "compact-auto": Fixture(work.compact_auto),
    "compact-from-here": Fixture(live.compact_from_here),
    "compact-up-to-here": Fixture(live.compact_up_to_here),
    "rewind": Fixture(live.rewind),
    "interrupt": Fixture(live.interrupt),
    "reject": Fixture(live.reject, permissions=("Read",)),
    "queued": Fixture(live.queued),
    "bash-mode": Fixture(live.bash_mode),
    "slash-command": Fixture(live.slash_command),
    "hooks": Fixture(around.hooks),
    "hook-errors": Fixture(around.hook_errors),
    "file-mention": Fixture(around.file_mention),
    "image": Fixture(around.image),
    "mcp": Fixture(around.mcp, permissions=("mcp__letters",)),
    "api-errors": Fixture(around.api_errors),
    "fork": Fixture(live.fork),
    "resumes": Fixture(live.resumes),
    "todos": Fixture(around.todos),
    "cron": Fixture(around.cron),
    "killed": Fixture(live.killed),
    "question": Fixture(live.question),
    "plan": Fixture(live.plan),
    "skill": Fixture(around.skill, permissions=("Skill",)),
    "sample": Fixture(
        sample, chars_per_token=3.6, title=SAMPLE_TITLE, model="claude-opus-4-8"
    ),  # a window of 200K
}


def redactions(root: Path) -> list[tuple[str, str]]:
    """Return the substitutions that move a home to /home/dev, the longest first."""

    def slug(path: Path | str) -> str:
        return re.sub(r"[^A-Za-z0-9]", "-", str(path))

    moved = {root / "home": "/home/dev", root: "/home/dev"}
    pairs = [(str(old), new) for old, new in moved.items()]
    pairs += [(slug(old), slug(new)) for old, new in moved.items()]
    pairs.append((f"claude-{os.getuid()}/", "claude-1000/"))
    pairs.append((sys.executable, "/home/dev/.venv/bin/python"))
    if sys.prefix != sys.base_prefix:
        pairs.append((sys.prefix, "/home/dev/.venv"))
    return pairs


def redact(data: bytes, pairs: list[tuple[str, str]]) -> bytes:
    """Substitute text, nothing else."""
    for old, new in pairs:
        data = data.replace(old.encode(), new.encode())
    return data


def save(transcript: Path, target: Path, pairs: list[tuple[str, str]]) -> None:
    """Write a transcript and its folder to the corpus, moved to /home/dev."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside, sidecar = transcript.with_suffix(""), target.with_suffix("")
    shutil.rmtree(sidecar, ignore_errors=True)
    for path in sorted(beside.rglob("*")):
        if path.is_file() and path.stat().st_size:
            copy = sidecar / path.relative_to(beside)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(redact(path.read_bytes(), pairs))
    part = target.with_suffix(".part")
    part.write_bytes(redact(transcript.read_bytes(), pairs))
    part.replace(target)


def make(name: str) -> None:
    """Make one fixture; raises when the client, the rules or the size limits object."""
    fixture = FIXTURES[name]
    settings: dict[str, Any] = {}
    if fixture.permissions is not None:
        settings["permissions"] = {"allow": list(fixture.permissions)}
    with (
        tempfile.TemporaryDirectory(prefix="lab-") as folder,
        AnthropicServer({"chars_per_token": fixture.chars_per_token, "title": fixture.title}) as server,
        ClaudeHome(Path(folder), server, settings=settings, model_args=("--model", fixture.model)) as home,
    ):
        fixture.make(Stage(home, server))
        unexpected = [b for b in server.breaches if b.rule not in fixture.breaches]
        if unexpected:
            raise RuntimeError(f"the client broke a rule: {unexpected}")
        transcript = home.transcripts()[-1]
        target = SAMPLE if name == "sample" else CORPUS / "claude" / f"{name}.jsonl"
        save(transcript, target, redactions(home.root))
    if name != "sample" and target.stat().st_size > MAX_BYTES:
        raise RuntimeError(f"{target.name} has {target.stat().st_size} bytes")


def record_types(path: Path) -> Counter[str]:
    """Count the record types of a transcript (`system` and `attachment` with their kind)."""
    found: Counter[str] = Counter()
    for line in path.read_bytes().splitlines():
        record = json.loads(line)
        kind = record.get("subtype") or (record.get("attachment") or {}).get("type")
        found[record["type"] + (f"/{kind}" if kind else "")] += 1
    return found


def index() -> str:
    """Return the manifest of the files that are there."""
    lines = [
        "# The lab's own transcripts",
        "",
        f"Made by `tests/lab/make_claude_fixtures.py` with Claude Code {VERSION} and a scripted model.",
        "",
        "| name | shows | KB | beside it | records |",
        "|---|---|--:|---|---|",
    ]
    for name, fixture in FIXTURES.items():
        path = CORPUS / "claude" / f"{name}.jsonl"
        if not path.exists():
            continue
        beside = sorted(
            p.relative_to(path.with_suffix("")).parts[0] for p in path.with_suffix("").rglob("*.*")
        )
        kinds = ", ".join(f"{kind} {count}" for kind, count in record_types(path).most_common())
        folders = ", ".join(f"{n} {count}" for n, count in Counter(beside).items())
        lines.append(f"| {name} | {fixture.shows} | {path.stat().st_size / 1000:.0f} | {folders} | {kinds} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Make what is asked for. Exit code 1 names what failed; everything else is written nevertheless."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", action="append", choices=sorted(FIXTURES))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names = options.only or list(FIXTURES)
    failed = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, result in [(name, pool.submit(make, name)) for name in names]:
            error = result.exception()
            print(f"{name}: {'made' if error is None else f'FAILED: {error!r}'}", flush=True)
            failed += [name] if error is not None else []
    CORPUS.mkdir(parents=True, exist_ok=True)
    part = CORPUS / f"INDEX.{os.getpid()}.part"
    part.write_text(index())
    part.replace(CORPUS / "INDEX.md")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
