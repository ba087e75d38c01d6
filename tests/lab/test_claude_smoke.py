from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lab.anthropic_script import inline

if TYPE_CHECKING:
    from tests.lab.anthropic_server import AnthropicServer
    from tests.lab.claude import ClaudeHome

pytestmark = pytest.mark.lab

COMPACT = {
    "match": {"last_user_text": "Your task is to create a detailed summary"},
    "reply": {"text": "<analysis>all of it</analysis>\n<summary>1. SUMMARY-MARK</summary>"},
}
ECHO = inline(
    {
        "thinking": "one command will do",
        "tools": [{"name": "Bash", "input": {"command": "echo out-$((40+2))", "description": "echo"}}],
    },
    {"text": "the answer is there"},
)


def client_temp() -> set[str]:
    """The folder that the client makes in the system's temporary folder when it is not told otherwise."""
    folder = Path(tempfile.gettempdir()) / f"claude-{os.getuid()}"
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def test_a_run_answers_and_leaves_nothing(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> None:
    before = client_temp()
    done = claude_home.run("-p", f"go {ECHO}")
    assert (done.rc, done.stdout) == (0, "the answer is there\n")
    assert [request.how for request in done.requests] == ["inline[0]", "inline[1]"]
    assert "out-42" in json.dumps(done.requests[1].messages)
    assert claude_home.transcript(done.session_id).exists()
    assert anthropic_server.breaches == []
    assert claude_home.leftovers() == []
    assert client_temp() == before


def test_a_background_command_writes_below_the_root(claude_home: ClaudeHome) -> None:
    before = client_temp()
    call = {"command": "echo from-behind; sleep 0.2", "description": "behind", "run_in_background": True}
    turns = inline({"tools": [{"name": "Bash", "input": call}]}, {"text": "started"}, {"text": "finished"})
    done = claude_home.run("-p", f"go {turns}")
    assert "<task-notification>" in json.dumps(done.requests[-1].messages)
    assert [path.read_text() for path in claude_home.tmp.rglob("*.output")] == ["from-behind\n"]
    assert client_temp() == before


def test_a_resume_shows_the_model_what_was_said(
    claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    first = claude_home.run("-p", f"go {ECHO}")
    second = claude_home.run("-p", "and now?", "--resume", first.session_id)
    seen = json.dumps(second.requests[0].messages)
    assert second.session_id == first.session_id
    assert "out-42" in seen
    assert "one command will do" in seen
    assert anthropic_server.breaches == []


def test_a_placed_transcript_resumes(claude_home: ClaudeHome) -> None:
    first = claude_home.run("-p", f"go {ECHO}")
    bytes_of_it = claude_home.transcript(first.session_id).read_bytes()
    placed = claude_home.place(bytes_of_it)
    again = claude_home.run("-p", "and now?", "--resume", placed)
    assert "out-42" in json.dumps(again.requests[0].messages)


def test_compaction_on_the_screen(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> None:
    anthropic_server.play({"rules": [COMPACT]})
    with claude_home.interactive() as screen:
        for word in ("apple", "pear"):
            screen.send(f"say {word} {inline({'text': f'here is {word}'})}")
            screen.wait(f"● here is {word}")
            claude_home.wait_status("idle")
        screen.send("/compact")
        screen.wait("Compacted")
        screen.send(f"still there? {inline({'text': 'yes indeed'})}")
        screen.wait("● yes indeed")
        screen.exit()
    assert "SUMMARY-MARK" in json.dumps(anthropic_server.messages_requests()[-1].messages)
    assert anthropic_server.breaches == []
    assert claude_home.leftovers() == []
