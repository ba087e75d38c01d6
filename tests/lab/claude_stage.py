"""A stage for the lab's own transcripts: a home, a server, and short ways to play a part on them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.lab.anthropic_server import AnthropicServer
    from tests.lab.claude import ClaudeHome, Finished, Tmux

Json = dict[str, Any]
SUMMARY = """\
<analysis>
The user asked for two small things.
</analysis>

<summary>
1. Primary request: greet fruit.
2. Current work: all of it is done.
</summary>"""
FRUIT = ("apple", "pear", "fig", "plum")
GREETINGS: dict[str, list[Json]] = {f"greet the {w}": [{"text": f"Greeted {w}."}] for w in FRUIT}
COMPACT_RULE = {
    "name": "compact",
    "match": {"last_user_text": "Your task is to create a detailed summary"},
    "reply": {"text": SUMMARY},
}


@dataclass(frozen=True, slots=True)
class Stage:
    """A home and a server for one fixture."""

    home: ClaudeHome
    server: AnthropicServer

    def play(self, scripts: Mapping[str, Sequence[Mapping[str, Any]]], *rules: Json) -> None:
        """Give the model its scripts; a name with a space is a phrase of the prompt."""
        kept = self.server.model.scenario
        self.server.play(
            {
                "scripts": scripts,
                "rules": [*rules, COMPACT_RULE],
                "chars_per_token": kept.chars_per_token,
                "title": kept.title,
            }
        )

    def ask(self, prompt: str, *args: str, extra: Mapping[str, str] | None = None) -> Finished:
        """Run one prompt with `-p`; RuntimeError when the client fails."""
        done = self.home.run("-p", prompt, *args, extra=extra)
        if done.rc != 0:
            raise RuntimeError(f"the client ended with {done.rc}: {done.stdout} {done.stderr}")
        return done

    def say(self, screen: Tmux, prompt: str, answer: str, timeout: float = 60) -> None:
        """Send one prompt on the screen and wait for the answer and the end of the turn."""
        screen.send(prompt)
        screen.wait(answer, timeout)
        self.home.wait_status("idle")

    def add_settings(self, settings: Json) -> None:
        """Change the user settings of the home before the client starts."""
        path = self.home.config / "settings.json"
        self.home.set_settings({**json.loads(path.read_bytes()), **settings})

    def script(self, name: str, text: str) -> Path:
        """Write a program into the home's bin folder."""
        path = self.home.root / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path


def bash(command: str, description: str = "Run a command", **more: Any) -> Json:
    """Make a Bash call."""
    return {"name": "Bash", "input": {"command": command, "description": description, **more}}


def pause(seconds: float) -> None:
    """Give the client time for something that leaves no trace on the screen."""
    time.sleep(seconds)
