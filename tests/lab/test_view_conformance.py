"""What Coffer says a resume sends is what the real client sends, for every transcript that we have.

The transcripts: the lab's own (tests/corpus/claude), the shared corpus where it lies beside the project, and
damaged ones drawn from seeds, below and above the size at which the client changes its way of reading.
`make conformance` takes more seeds (COFFER_CONFORMANCE_SEEDS).
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.conformance import PROBE, differences
from tests.lab.mutations import Damage, enlarge

pytestmark = pytest.mark.lab

ROOT = Path(__file__).parents[2]
OWN = sorted((ROOT / "tests/corpus/claude").glob("*.jsonl"))
SHARED = sorted((ROOT.parent / "shared/corpus/claude").glob("*.jsonl"))
SEEDS = int(os.environ.get("COFFER_CONFORMANCE_SEEDS", "24"))
SMALL_ENOUGH = 700_000


def resumed_body(
    home: ClaudeHome, server: AnthropicServer, transcript: bytes | Path
) -> tuple[Path, dict[str, object]]:
    """Place a transcript, resume it with a prompt, and give its path and the body of the request."""
    data = transcript if isinstance(transcript, bytes) else transcript.read_bytes()
    session = home.place(transcript, session_id(data))
    home.run("-p", PROBE, "--resume", session)
    asked = server.messages_requests()
    assert asked, "the client asked the model nothing"
    body = asked[0].body
    assert isinstance(body, dict)
    copy = home.root / "as-placed.jsonl"
    copy.write_bytes(data)
    return copy, body


def session_id(data: bytes) -> str:
    found = ""
    for line in data.splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and record.get("sessionId"):
            found = record["sessionId"]
    return found


@pytest.mark.parametrize("path", OWN + SHARED, ids=lambda path: path.stem)
def test_the_view_is_what_the_client_sends(
    path: Path, claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    placed, body = resumed_body(claude_home, anthropic_server, path)
    assert differences(placed, body) == []


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_view_of_a_damaged_transcript_is_what_the_client_sends(
    seed: int,
    size: str,
    claude_home: ClaudeHome,
    anthropic_server: AnthropicServer,
) -> None:
    sources = [path for path in OWN + SHARED if path.stat().st_size < SMALL_ENOUGH]
    damage = Damage(sources[seed * 7 % len(sources)].read_bytes(), seed)
    data = enlarge(damage.data) if size == "large" else damage.data
    placed, body = resumed_body(claude_home, anthropic_server, data)
    assert differences(placed, body) == [], damage.names
