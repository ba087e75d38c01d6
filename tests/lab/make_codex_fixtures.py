"""Make the small Codex rollouts in `tests/corpus/codex/` with the real client: one row a file.

    python -m tests.lab.make_codex_fixtures [--only NAME]

What the client wrote stays as it is, but for the paths of the machine (text substitution) and the byte offset
by which a fork points into its parent, which moves with them. `tests/corpus/INDEX-codex.md` lists them.
"""

import argparse
import json
import os
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.lab import clients
from tests.lab.codex import CodexHome, records, wait_until
from tests.lab.openai_server import OpenAIServer

CORPUS: Final = Path(__file__).resolve().parents[1] / "corpus"
FOLDER, INDEX = CORPUS / "codex", CORPUS / "INDEX-codex.md"
WORK, CODEX_HOME = "/home/dev/work", "/home/dev/.codex"
SIZE_LIMIT = 100_000
PATCH = "*** Begin Patch\n*** Add File: notes.txt\n+first line\n*** End Patch"

SCRIPTS: Final[Mapping[str, list[dict[str, Any]]]] = {
    "tools": [
        {"items": [
            {"message": "I look first.", "phase": "commentary"},
            {"call": "exec_command", "args": {"cmd": "ls"}},
        ]},
        {"items": [
            {"call": "exec_command", "args": {"cmd": "cat README.md"}},
            {"call": "exec_command", "args": {"cmd": "wc -l README.md"}},
        ]},
        {"text": "There is a README of two lines."},
    ],
    "failing": [
        {"items": [{"call": "exec_command", "args": {"cmd": "cat missing.txt"}}]},
        {"items": [{"call": "no_such_tool", "args": {"x": 1}}]},
        {"items": [{"call": "exec_command", "args": "{not json"}]},
        {"text": "None of the three worked."},
    ],
    "patch": [
        {"items": [{"call": "exec_command", "args": {"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"}}]},
        {"text": "The file is there."},
    ],
    "think": [
        {"items": [
            {"reasoning": "The person wants a number."},
            {"reasoning": "I can count files."},
            {"call": "exec_command", "args": {"cmd": "ls | wc -l"}},
        ], "usage": {"input": 9000, "cached": 4000, "output": 300, "reasoning": 240}},
        {"items": [{"reasoning": "One."}, {"message": "One file."}]},
    ],
    "full": [
        {
            "items": [{"call": "exec_command", "args": {"cmd": "cat README.md"}}],
            "usage": {"input": 60000, "output": 40},
        },
        {"text": "Read."},
    ],
    "spawn": [
        {"items": [
            {"call": "spawn_agent", "namespace": "multi_agent_v1", "args": {"message": "@@child@@ Count."}},
        ]},
        {"delay": 1.5, "items": [{"call": "exec_command", "args": {"cmd": "echo waiting"}}]},
        {"text": "The child counted."},
    ],
    "child": [{"items": [{"call": "exec_command", "args": {"cmd": "ls | wc -l"}}]}, {"text": "One."}],
    "mcp": [
        {"items": [{"call": "lookup", "namespace": "mcp__shelf", "args": {"word": "tabs"}}]},
        {"text": "The shelf says: use tabs."},
    ],
    "sleep": [{"items": [{"call": "exec_command", "args": {"cmd": "sleep 30", "yield_time_ms": 30000}}]}],
}  # fmt: skip

MCP_SERVER: Final = """
import json, sys

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    tool = {"name": "lookup", "description": "Look a word up.", "inputSchema": schema}
    text = [{"type": "text", "text": "use tabs"}]
    result = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "shelf", "version": "1"},
        },
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": text, "isError": False},
    }.get(asked["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Lab:
    """One home with its server, for one fixture."""

    home: CodexHome
    server: OpenAIServer


Made = dict[str, bytes]


def rollouts(lab: Lab) -> list[bytes]:
    return [path.read_bytes() for path in lab.home.rollouts()]


def prompted(name: str, *prompts: str) -> Callable[[Lab], Made]:
    """Make one rollout from prompts: the first is a new thread, the others resume it."""

    def make(lab: Lab) -> Made:
        done = lab.home.exec(prompt=prompts[0])
        for prompt in prompts[1:]:
            done = lab.home.resume(lab.home.thread(), prompt=prompt)
        assert done.rc == 0, done.stderr
        return {f"{name}.jsonl": rollouts(lab)[0]}

    return make


def manual(lab: Lab) -> Made:
    """Compact by hand, in the TUI; its title request names the thread."""
    with lab.home.tui() as terminal:
        assert terminal.wait_for("Ask Codex to do anything")
        terminal.submit("Remember the word heron.")
        assert terminal.wait_for("Noted")
        index = lab.home.codex_home / "session_index.jsonl"
        assert wait_until(index.exists)
        terminal.submit("/compact")
        assert terminal.wait_for("ontext compacted")
        terminal.submit("Which word?")
        assert wait_until(
            lambda: lab.server.requests[-1].body["input"][-1]["content"][0]["text"] == "Which word?"
        )
        time.sleep(0.5)
        terminal.submit("/quit")
        assert terminal.wait_end()
    return {
        "compact-manual.jsonl": rollouts(lab)[0],
        "compact-manual.session_index.jsonl": index.read_bytes(),
    }


def fork(lab: Lab) -> Made:
    lab.home.exec(prompt="Remember the word heron.")
    lab.home.resume(lab.home.thread(), prompt="And the word otter.")
    done = lab.home.fork(lab.home.thread(), prompt="Which words, in the fork?")
    assert done.rc == 0, done.stderr
    lab.home.resume(lab.home.thread(0), prompt="Only the parent hears this.")
    parent, child = rollouts(lab)
    return {"fork-parent.jsonl": parent, "fork-child.jsonl": child}


def spawn(lab: Lab) -> Made:
    done = lab.home.exec(prompt="@@spawn@@ Let somebody count.")
    assert done.rc == 0, done.stderr
    parent, child = rollouts(lab)
    return {"subagent-parent.jsonl": parent, "subagent-child.jsonl": child}


def aborted(lab: Lab) -> Made:
    """Interrupt a turn while its tool runs (what Esc and Ctrl-C do)."""
    with lab.home.running(prompt="@@sleep@@ Wait.") as run:
        assert wait_until(lambda: b'"function_call"' in b"".join(rollouts(lab)), 20)
        time.sleep(0.5)
        run.interrupt()
        run.wait(20)
    return {"aborted.jsonl": rollouts(lab)[0]}


def open_tail(lab: Lab) -> Made:
    """Kill the client while its tool runs: a turn without an end, a call without an output."""
    with lab.home.running(prompt="@@sleep@@ Wait.") as run:
        assert wait_until(lambda: b'"token_usage_record"' in b"".join(rollouts(lab)), 20)
        run.kill()
        run.wait(20)
    return {"open-tail.jsonl": rollouts(lab)[0]}


def compressed(lab: Lab) -> Made:
    """Let the client compress a rollout not touched for eight days (a feature that is off by default)."""
    lab.home.exec(prompt="@@tools@@ What is here?")
    [plain] = lab.home.rollouts()
    plain.write_bytes(redact(lab, plain.read_bytes()))
    then = time.time() - 8 * 86400
    os.utime(plain, (then, then))
    lab.home.exec("--enable", "local_thread_store_compression", prompt="Something else.")
    packed = plain.with_name(plain.name + ".zst")
    assert wait_until(packed.exists), "the client did not compress"
    return {"compressed.jsonl.zst": packed.read_bytes()}


def hook(text: str, event: str) -> list[dict[str, Any]]:
    told = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return [{"hooks": [{"type": "command", "command": f"echo '{json.dumps(told)}'"}]}]


EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse")
MCP_CONFIG = 'mcp_servers.shelf = {{ command = "{python}", args = ["{root}/shelf.py"], required = true }}\n'


@dataclass(frozen=True, slots=True)
class Fixture:
    name: str
    shows: str
    make: Callable[[Lab], Made]
    config: str = ""
    hooks: Mapping[str, Any] | None = None


# fmt: off
FIXTURES: Final[tuple[Fixture, ...]] = (
    Fixture("plain", "one prompt, one answer", prompted("plain", "Say hello.")),
    Fixture("tools", "commentary, a call, two calls in one answer, an answer",
            prompted("tools", "@@tools@@ What is here?")),
    Fixture("tool-failed", "a command that fails, an unknown tool, arguments that are no JSON",
            prompted("tool-failed", "@@failing@@ Try.")),
    Fixture("apply-patch", "a patch through the shell tool: FileChange",
            prompted("apply-patch", "@@patch@@ Write it.")),
    Fixture("reasoning", "reasoning before a call and before an answer; cached and reasoning tokens",
            prompted("reasoning", "@@think@@ How many files?")),
    Fixture("compact-auto", "a turn whose context passes the limit: compacted in its middle, then resumed",
            prompted("compact-auto", "Remember the word heron.", "@@full@@ Read it all.", "Which word?"),
            config="model_auto_compact_token_limit = 50000\n"),
    Fixture("compact-manual", "/compact in the TUI, a prompt after it; its name is in the session_index",
            manual),
    Fixture("resume", "three processes, one file", prompted("resume", "One.", "Two.", "@@tools@@ Three.")),
    Fixture("fork", "parent that goes on after the fork, child that holds only the delta", fork),
    Fixture("subagent", "parent that spawns, child with its own file", spawn),
    Fixture("mcp", "a call of an MCP tool", prompted("mcp", "@@mcp@@ Look it up."), config=MCP_CONFIG),
    Fixture("aborted", "turn interrupted while a tool runs", aborted),
    Fixture("open-tail", "client killed while a tool runs: no output, no end of the turn", open_tail),
    Fixture("hooks", "contexts of four hook events",
            prompted("hooks", "@@tools@@ What is here?", "And again."),
            hooks={event: hook(f"CONTEXT OF {event}", event) for event in EVENTS}),
    Fixture("compressed", "a cold rollout as the client compresses it (zstd)", compressed),
)
# fmt: on


def redact(lab: Lab, raw: bytes) -> bytes:
    """Put invented paths in the place of the machine's."""
    home = lab.home
    raw = raw.replace(str(home.codex_home).encode(), CODEX_HOME.encode())
    return raw.replace(str(home.project.parent).encode(), WORK.encode())


def move_offset(before: Made, after: Made) -> None:
    """Let a fork point to the same record of its redacted parent."""
    parent, child = "fork-parent.jsonl", "fork-child.jsonl"
    if child in after:
        base = json.loads(after[child].splitlines()[0])["payload"]["history_base"]
        lines = before[parent][: base["end_byte_offset"]].count(b"\n")
        now = sum(map(len, after[parent].splitlines(keepends=True)[:lines]))
        was = b'"end_byte_offset":%d' % base["end_byte_offset"]
        after[child] = after[child].replace(was, b'"end_byte_offset":%d' % now)


def make(fixture: Fixture) -> list[str]:
    """Make one fixture's files and return their rows of the index."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "shelf.py").write_text(textwrap.dedent(MCP_SERVER))
        config = (
            fixture.config.format(python=sys.executable, root=root)
            if "{" in fixture.config
            else fixture.config
        )
        scenario = {"scripts": SCRIPTS, "default": {"text": "Noted."}}
        with (
            OpenAIServer(scenario) as server,
            CodexHome(root, server, hooks=fixture.hooks, config_extra=config) as home,
        ):
            (home.project / "README.md").write_text("# A project\nfor the lab\n")
            lab = Lab(home, server)
            before = fixture.make(lab)
            assert server.breaches == [], server.breaches
            after = {name: redact(lab, raw) for name, raw in before.items()}
    move_offset(before, after)
    rows = []
    for name, raw in after.items():
        assert len(raw) < SIZE_LIMIT, f"{name}: {len(raw)} bytes"
        path = FOLDER / name
        path.write_bytes(raw)
        rows.append(f"| {name} | {fixture.shows} | {clients.CLIENTS['codex'].version} | {kinds(path)} |")
    return rows


def kinds(path: Path) -> str:
    """Count the record types of a plain rollout, with the payload's type where it has one."""
    if not path.name.endswith(".jsonl") or path.name.endswith("session_index.jsonl"):
        return "-"
    found = Counter("/".join(filter(None, (r["type"], r["payload"].get("type")))) for r in records(path))
    return ", ".join(f"{kind} {n}" for kind, n in sorted(found.items()))


def write_index(rows: list[str]) -> None:
    """Put the rows into the index, in the place of older ones of the same file."""
    old = INDEX.read_text().splitlines() if INDEX.exists() else []
    known = {
        line.split("|")[1].strip(): line for line in [*old, *rows] if line.count("|") > 3 and ".jsonl" in line
    }
    head = [
        "# Codex rollouts of the lab",
        "",
        "Made by `python -m tests.lab.make_codex_fixtures` with the real client and a scripted model. Only",
        "paths were replaced; the byte offset by which fork-child points into fork-parent moved with them.",
        "",
        "| file | shows | client | records |",
        "|---|---|---|---|",
    ]
    INDEX.write_text("\n".join([*head, *(known[name] for name in sorted(known))]) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the Codex fixtures with the real client.")
    parser.add_argument("--only", choices=[fixture.name for fixture in FIXTURES])
    chosen = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = []
    for fixture in FIXTURES:
        if chosen.only in (None, fixture.name):
            sys.stdout.write(f"{fixture.name}\n")
            rows += make(fixture)
    write_index(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
