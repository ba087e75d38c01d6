"""The sample session that ships with the package: a person and a model work on a small imaginary program.

The program lies in `sample_project` (each file with `.txt` behind its name, so nobody takes it for ours);
`play.json` there says what the two say. Everything else is real: the client, the files, the failing tests.
"""

from __future__ import annotations

import json
import math
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.lab.anthropic_images import png
from tests.lab.claude_stage import pause

if TYPE_CHECKING:
    from tests.lab.claude_stage import Stage

PROJECT = Path(__file__).parent / "sample_project"
STATIONS = ("buesum", "cuxhaven", "delfzijl", "esbjerg", "harlingen", "helgoland", "husum")
YEARS = range(2024, 2027)
WIDTH, HEIGHT = 720, 240  # of the picture, pixels
TRACKER = """\
import json
import sys

FIELDS = {
    "project": "Key of the project, such as TIDE. Keys are listed by list_projects.",
    "issue": "Number of the issue within its project.",
    "text": "Text in Markdown. Names are written with @, issues with #, commits by their first eight digits.",
    "assignee": "Login of the person, as list_people returns it; empty to take the assignment away.",
    "label": "Name of a label that exists in the project; create_label makes a new one.",
    "since": "Only what changed after this moment, as an ISO 8601 time with zone.",
    "limit": "At most so many results (default 20, at most 100).",
}
VERBS = "get list search create update close reopen comment_on assign label link".split()
THINGS = "issue milestone release board sprint person report page template webhook file checklist".split()
HELP = (
    " Answers with JSON. Use it when the person speaks of the tracker, of a reported problem or of planned "
    "work. Never guess a number: look it up first. Changes are visible to everybody at once and cannot be "
    "undone here."
)


def tool(verb, thing):
    properties = {name: {"type": "string", "description": text} for name, text in FIELDS.items()}
    schema = {"type": "object", "properties": properties, "required": ["project"]}
    description = f"{verb.replace('_', ' ').capitalize()} {thing}s of the tracker." + HELP
    return {"name": f"{verb}_{thing}", "description": description, "inputSchema": schema}


for line in sys.stdin:
    call = json.loads(line)
    match call.get("method"):
        case "initialize":
            answer = {
                "protocolVersion": call["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tracker", "version": "3"},
            }
        case "tools/list":
            answer = {"tools": [tool(verb, thing) for verb in VERBS for thing in THINGS]}
        case "tools/call":
            answer = {"content": [{"type": "text", "text": open(sys.argv[1]).read()}]}
        case _:
            answer = {}
    if "id" in call:
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": answer}), flush=True)
"""


def set_up(stage: Stage) -> None:
    """Lay out the program, its data, its git history and the tools around it."""
    cwd = stage.home.cwd
    for source in PROJECT.rglob("*.txt"):
        target = cwd / source.relative_to(PROJECT).with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    for year in YEARS:
        for month in range(1, 13):
            for station in STATIONS:
                path = cwd / "data" / str(year) / f"{station}-{month:02d}.csv"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(table(station, year, month))
    (cwd / "docs" / "chart.png").write_bytes(chart_picture())
    (cwd / ".gitignore").write_text("__pycache__/\n")
    stage.script(
        "pytest", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -B -m pytest -p no:cacheprovider "$@"\n'
    )
    (stage.home.home / ".gitconfig").write_text(
        "[user]\n\tname = Dana Reyes\n\temail = dana@example.com\n[init]\n\tdefaultBranch = main\n"
    )
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Take over tidepool 1.4.0")):
        subprocess.run(["git", *words], cwd=cwd, env=stage.home.env(), check=True)


def table(station: str, year: int, month: int) -> str:
    """Write a month of tides as the office would (the first 27 days are enough)."""
    lines = [f"# STATION {station}", "# UNIT m"]
    for n in range(26 * 4 - 3):
        minute = 97 + n * 372 + (month * 53 + year * 7) % 300
        day, rest = divmod(minute, 1440)
        high = n % 2 == 0
        height = (2.5 if high else 0.4) + 0.2 * math.sin(n / 9)
        lines.append(
            f"{year}-{month:02d}-{day + 1:02d};{rest // 60:02d}:{rest % 60:02d};{'LH'[high]};{height:.2f}"
        )
    return "\n".join(lines) + "\n"


def chart_picture() -> bytes:
    """Draw a day's chart, white on black, with grey lines for the half metres."""
    pixels = bytearray(WIDTH * HEIGHT)
    for x in range(WIDTH):
        level = HEIGHT / 2 + HEIGHT * 0.4 * math.cos(x / WIDTH * 4 * math.pi)
        for y in range(HEIGHT):
            at = y * WIDTH + x
            if y >= level:
                pixels[at] = 230
            elif y % 40 == 0:
                pixels[at] = 90
    return png(WIDTH, HEIGHT, pixels=bytes(pixels))


def sample(stage: Stage) -> None:
    """Twenty-five prompts on a small program: reading, failing tests, repairs, a picture, a subagent."""
    set_up(stage)
    story = json.loads((PROJECT / "play.json").read_text().replace("{root}", str(stage.home.cwd)))
    stage.play({**{prompt["says"]: prompt["turns"] for prompt in story["prompts"]}, **story["helper"]})
    issue = stage.home.root / "bin" / "issue.json"
    issue.write_text(json.dumps(story["issue"], indent=2))
    server = {
        "type": "stdio",
        "command": sys.executable,
        "args": [str(stage.script("tracker.py", TRACKER)), str(issue)],
    }
    stage.add_settings({"permissions": {"allow": ["Bash", "Read", "Edit", "Write", "Agent", "mcp__tracker"]}})
    path = f"{stage.home.root / 'bin'}:{stage.home.env()['PATH']}"
    extra = {"MCP_CONNECTION_NONBLOCKING": "0", "PATH": path}
    config = json.dumps({"mcpServers": {"tracker": server}})
    with stage.home.interactive("--mcp-config", config, extra=extra, height=200) as screen:
        asked = 0
        for prompt in story["prompts"]:
            screen.send(prompt["says"])
            asked += len(prompt["turns"])
            stage.server.wait_for(asked, 60, until=lambda request: request.agent_id is None)
            stage.home.wait_status("idle")
            pause(0.2)
        screen.exit()
