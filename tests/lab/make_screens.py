"""Make tests/launch/screens again: what the real Claude Code shows, by scene, and what its input line is then.

python -m tests.lab.make_screens
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.claude_stage import GREETINGS, bash
from tests.launch.pane import Pane

FOLDER = Path(__file__).parents[1] / "launch" / "screens"
CTRL_A, CTRL_O, CTRL_R, CTRL_S, CTRL_T, CTRL_U = "\x01", "\x0f", "\x12", "\x13", "\x14", "\x15"
ESC, UP, LEFT, SHIFT_TAB = "\x1b", "\x1b[A", "\x1b[D", "\x1b[Z"
SCRIPTS: dict[str, Any] = {
    **GREETINGS,
    "be slow please": [{"text": "slow", "delay_s": 8}],
    "fetch it please": [
        {"tools": [{"name": "WebFetch", "input": {"url": "http://x.invalid/", "prompt": "a"}}]}
    ],
    "run it please": [{"tools": [bash("sleep 30")]}],
}
SUGGESTED = {"match": {"last_user_text": "SUGGESTION MODE"}, "reply": {"text": "greet the plum too"}}
Keep = Callable[..., None]


def main() -> int:
    """Capture each scene."""
    FOLDER.mkdir(exist_ok=True)
    with AnthropicServer({"scripts": SCRIPTS, "rules": [SUGGESTED]}) as server:
        usual(server)
        suggested(server)
        menus(server)
        modes(server)
    return 0


@contextmanager
def stage(server: AnthropicServer, extra: Mapping[str, str], **settings: Any) -> Iterator[tuple[Pane, Keep]]:
    """A client, and a function that keeps its screen."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        ClaudeHome(Path(folder), server, settings=settings) as home,
        Pane(home.command(), env=home.env(extra), cwd=home.cwd, rows=30, columns=100) as pane,
    ):
        pane.wait(lambda look: any(look.rows) and bool(home.registry()))

        def keep(name: str, kind: str, text: str = "", pause: float = 0.7) -> None:
            look = asdict(pane.settle(pause))
            for field in ("rows", "solid"):
                look[field] = [row.replace(str(home.cwd), "/home/dev/work") for row in look[field]]
            status = [entry.get("status") for entry in home.registry()]
            said = {
                "client": clients.CLIENTS["claude"].version,
                "registry": status,
                "kind": kind,
                "text": text,
            }
            path = FOLDER / f"{name}.json"
            path.write_text(json.dumps(said | {"look": look}, indent=1, ensure_ascii=False) + "\n", "utf-8")

        yield pane, keep


def usual(server: AnthropicServer) -> None:
    """The input line, what it may hold, and what a turn leaves in it."""
    with stage(server, {}) as (pane, keep):
        keep("start", "empty", pause=1.5)
        pane.submit("greet the apple")
        pane.wait("Greeted apple")
        keep("empty", "empty", pause=2)
        pane.type("a draft")
        keep("draft", "draft", "a draft")
        pane.type(CTRL_A)
        keep("draft_cursor_first", "draft", "a draft")
        pane.type("\x05\x1b\r")
        pane.type("second line")
        keep("draft_of_two_lines", "draft", "a draft\nsecond line")
        pane.type(CTRL_U * 4)
        keep("after_ctrl_u", "empty")
        pane.type("/resume 00000000-0000-4000-8000-000000000000")
        keep("typed_line", "draft", "/resume 00000000-0000-4000-8000-000000000000")
        pane.type(CTRL_U)
        pane.type(UP)
        keep("history", "absent")
        pane.type(CTRL_U)
        pane.type("put me aside")
        pane.settle()
        pane.type(CTRL_S)
        keep("put_aside", "stashed")
        pane.type(CTRL_S)
        pane.settle()
        pane.type(CTRL_U)
        pane.submit("be slow please")
        time.sleep(0.7)
        keep("busy", "empty", pause=0.05)
        pane.type(ESC)
        keep("put_back", "draft", "be slow please")
        pane.type(CTRL_U)
        pane.submit("fetch it please")
        pane.wait("Do you want")
        keep("permission", "absent")
        pane.type(ESC)
        pane.settle()
        pane.submit("run it please")
        pane.wait("Running|sleep 30")
        keep("tool_runs", "empty", pause=0.05)


def suggested(server: AnthropicServer) -> None:
    """What the client suggests stands in an empty input line, until somebody types."""
    with stage(server, {"CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "1"}) as (pane, keep):
        for word in ("apple", "pear"):
            pane.submit(f"greet the {word}")
            pane.wait(f"Greeted {word}")
            pane.settle()
        pane.wait("greet the plum too")
        keep("suggestion", "empty")
        pane.type("g")
        keep("suggestion_typed_over", "draft", "g")


def menus(server: AnthropicServer) -> None:
    """What opens below the input line, or takes its place."""
    with stage(server, {}) as (pane, keep):
        pane.submit("greet the apple")
        pane.wait("Greeted apple")
        pane.settle(1)
        for keys, name, kind, text, back in (
            ("/", "slash_menu", "draft", "/", CTRL_U),
            ("@", "at_completion", "draft", "@", CTRL_U),
            (CTRL_R, "ctrl_r", "search", "", ESC),
            ("!", "shell_mode", "absent", "", "\x7f"),
            ("?", "shortcuts", "empty", "", "\x7f"),
            (CTRL_O, "transcript", "absent", "", CTRL_O),
            (SHIFT_TAB, "accept_edits", "empty", "", SHIFT_TAB),
        ):
            pane.type(keys)
            keep(name, kind, text)
            pane.type(back)
            pane.settle()
        pane.type(CTRL_R)
        pane.settle()
        pane.type("zz")
        keep("ctrl_r_nothing", "search")
        pane.type(ESC)
        pane.settle(1.5)
        pane.type(ESC)
        pane.settle(0.2)
        pane.type(ESC)
        keep("rewind", "absent")
        pane.type(ESC)
        pane.settle()
        pane.submit("/resume")
        keep("resume_picker", "absent", pause=1)
        pane.type(ESC)
        pane.settle()
        pane.submit("/rename my session")
        keep("renamed", "empty", pause=1)
        pane.submit("/model")
        keep("model_picker", "absent", pause=1)
        pane.type(ESC)
        pane.settle()
        pane.submit("/config")
        keep("config", "absent", pause=1)
        pane.type(ESC)
        pane.settle()
        pane.type(LEFT)
        keep("agents", "absent", pause=1.5)


def modes(server: AnthropicServer) -> None:
    """vim, screen reader, full screen."""
    with stage(server, {}, editorMode="vim") as (pane, keep):
        keep("vim_insert", "vim", pause=1)
        pane.type("abc")
        keep("vim_insert_draft", "vim", "abc")
        pane.type(CTRL_U)
        pane.type(ESC)
        keep("vim_normal", "empty")
        pane.type("/")
        keep("vim_normal_slash", "search")
    with stage(server, {"CLAUDE_AX_SCREEN_READER": "1"}) as (pane, keep):
        keep("screen_reader", "absent", pause=2)
        pane.type("draft")
        keep("screen_reader_draft", "absent")
    with stage(server, {"CLAUDE_CODE_NO_FLICKER": "1"}) as (pane, keep):
        keep("full_screen", "empty", pause=2)
        pane.type("draft")
        keep("full_screen_draft", "draft", "draft")
        pane.type(CTRL_U)
        pane.settle()
        pane.type("/")
        keep("full_screen_menu", "draft", "/")


if __name__ == "__main__":
    sys.exit(main())
