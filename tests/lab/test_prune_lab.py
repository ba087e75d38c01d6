"""A pruned session in the real client: what it sends is what the plan says, and the session lives on.

The transcripts: all of the lab's (tests/corpus/claude) and twelve of the shared corpus where it lies beside the
project; all of that with COFFER_LAB_WHOLE_CORPUS=1. The server is as strict as the API, and the client hides a
refusal by asking again in other words: so each test looks at what the server refused, not at exit codes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from coffer.core.strategies.table import PRESCRIPTIONS
from coffer.core.strategies.table import STRATEGIES as TABLE
from coffer.errors import SessionLive
from coffer.store.home import Home
from coffer.work.pruning.restore import restore
from tests.lab.anthropic_server import AnthropicServer, Request
from tests.lab.claude import ClaudeHome
from tests.lab.claude_stage import Stage
from tests.lab.conformance import PROBE, differences
from tests.lab.prune_lab import (
    PROMPTS,
    STRATEGIES,
    THOUGHTS,
    Json,
    append_exit,
    coffer,
    persons_words,
    pieces_of,
    place_at_rest,
    plan_of,
    prune,
    refused,
    rewind,
    said_by_users,
    stubs_of,
    surprises,
    tamperings,
    texts_of,
    worked,
    worked_on_screen,
)
from tests.lab.test_view_conformance import session_id

pytestmark = pytest.mark.lab

ROOT = Path(__file__).parents[2]
OWN = sorted((ROOT / "tests/corpus/claude").glob("*.jsonl"))
SHARED = sorted((ROOT.parent / "shared/corpus/claude").glob("*.jsonl"))
TWELVE = (
    "2.0.64-entire-plain",
    "2.1.12-entire-badline",
    "2.1.14-entire-microcompact",
    "2.1.29-entire-orphans",
    "2.1.33-entire-learner",
    "2.1.37-entire-bigresults",
    "2.1.38-cipherbox-unpaired",
    "2.1.49-cipherbox-images",
    "2.1.205-omp-rejected",
    "2.1.215-omp-tasknotif",
    "2.1.219-omp-compact",
    "2.1.229-nomos-workflow",
)
WHOLE = bool(os.environ.get("COFFER_LAB_WHOLE_CORPUS"))
CHOSEN = [*OWN, *(path for path in SHARED if WHOLE or path.stem in TWELVE)]


def resumed(home: ClaudeHome, session: str) -> Request:
    """The one request of a resume; a second one would be the client's way out of a refusal."""
    done = home.run("-p", PROBE, "--resume", session)
    assert done.rc == 0, done.stdout + done.stderr
    assert refused(done.requests) == []
    assert len(done.requests) == 1
    return done.requests[0]


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_a_resume_sends_what_the_plan_says(
    path: Path, tmp_path: Path, claude_binary: Path, anthropic_server: AnthropicServer
) -> None:
    """Twice over: against the view of the pruned file, and against what is sent for the original."""
    original = path.read_bytes()
    session = session_id(original)
    before: Request | None = None
    sent: dict[bytes, Request] = {}
    for prescription in PRESCRIPTIONS:
        with ClaudeHome(tmp_path / prescription, anthropic_server, binary=claude_binary) as home:
            placed = place_at_rest(home, path, session)
            said = prune(home, placed, prescription)
            plan = plan_of(path, prescription, said["left_out"])
            pruned = placed.read_bytes()
            if plan.is_empty:
                assert pruned == original
                assert said["receipt"] is None
                continue
            assert pruned != original
            if before is None:
                before = _of_the_original(path, session, tmp_path, claude_binary, anthropic_server)
            if pruned not in sent:  # prescriptions often agree
                sent[pruned] = resumed(home, session)
                copy = home.root / "as-pruned.jsonl"
                copy.write_bytes(pruned)
                assert differences(copy, sent[pruned].body or {}) == []
            after = sent[pruned]
            assert surprises(before, after, plan, original) == []
            assert _lost_words(original, before, after) == []
            _assert_restored(home, before, after)


def _of_the_original(path: Path, session: str, root: Path, binary: Path, server: AnthropicServer) -> Request:
    with ClaudeHome(root / "original", server, binary=binary) as home:
        place_at_rest(home, path, session)
        return resumed(home, session)


def _lost_words(original: bytes, before: Request, after: Request) -> list[str]:
    said, says = said_by_users(before), said_by_users(after)
    return [text for text in persons_words(original) if says[text.rstrip()] != said[text.rstrip()]]


def _assert_restored(home: ClaudeHome, before: Request, after: Request) -> None:
    """Each stub names an id that brings back what stood there."""
    was = {piece.key: piece.block for piece in pieces_of(before)}
    for key, name in stubs_of(after).items():
        block: Json = was.get(key) or {}
        content = block.get("content")
        if isinstance(content, str):
            assert restore(Home(home.home / ".coffer"), name).text == content


def copied(home: ClaudeHome, path: Path) -> Path:
    """The transcript as it is before a run appends to it."""
    copy = home.root / "as-it-was.jsonl"
    copy.write_bytes(path.read_bytes())
    return copy


def test_a_pruned_session_lives_on(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> None:
    path = worked(claude_home, anthropic_server)
    said = prune(claude_home, path)
    assert {row["name"] for row in said["strategies"]} >= STRATEGIES
    pruned = path.read_bytes()
    further = claude_home.run("-p", "Please greet the fig.", "--resume", path.stem)
    assert further.stdout == "Greeted fig.\n"
    assert path.read_bytes().startswith(pruned)
    grown = copied(claude_home, path)
    last = resumed(claude_home, path.stem)
    assert differences(grown, last.body or {}) == []
    users = said_by_users(last)
    assert [users[prompt] for prompt in (*PROMPTS, "Please greet the fig.")] == [1, 1, 1, 1]
    assert "Greeted fig." in texts_of(last)
    assert anthropic_server.breaches == []


@pytest.mark.parametrize(("back", "make"), [(1, worked_on_screen), (2, worked)], ids=["screen", "headless"])
def test_a_rewind_after_a_prune_loses_nothing(
    back: int,
    make: Callable[[ClaudeHome, AnthropicServer], Path],
    claude_home: ClaudeHome,
    anthropic_server: AnthropicServer,
) -> None:
    """A rewound prompt hangs on a record that the prune left; else all history would be lost in silence."""
    path = make(claude_home, anthropic_server)
    original = path.read_bytes()
    said = prune(claude_home, path)
    names = {row["name"] for row in said["strategies"]}
    # On the screen the client notes its place in mid-turn, now here, now there; such a record stays, and its pair.
    assert names >= STRATEGIES - {"failed-retries", "poll-loops"}
    pruned = path.read_bytes()
    exited = b"<command-name>/exit<" in original  # the list has it too, where the client came to write it
    for _ in range(3):  # a client that leaves at once may have written nothing of its last turn
        with claude_home.interactive("--resume", path.stem) as screen:
            rewind(screen, back + exited)
            Stage(claude_home, anthropic_server).say(screen, "Please greet the plum.", "● Greeted plum")
            screen.exit()
        if b"greet the plum" in path.read_bytes():
            break
    grown = copied(claude_home, path)
    request = resumed(claude_home, path.stem)
    assert differences(grown, request.body or {}) == []
    users = said_by_users(request)
    kept = PROMPTS[: len(PROMPTS) - back]
    assert [users[prompt] for prompt in PROMPTS] == [int(prompt in kept) for prompt in PROMPTS]
    assert users["Please greet the plum."] == 1
    assert "I have looked around." in texts_of(request)
    assert anthropic_server.breaches == []
    appended = path.read_bytes().removeprefix(pruned)
    assert coffer(claude_home, "undo", "--json").json["appended"] == len(appended)
    assert path.read_bytes() == original + appended


def test_undo_brings_back_the_bytes_and_keeps_what_came_since(
    claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    path = worked(claude_home, anthropic_server)
    original = path.read_bytes()
    prune(claude_home, path, "aggressive")
    pruned = path.read_bytes()
    assert coffer(claude_home, "undo").code == 0
    assert path.read_bytes() == original
    prune(claude_home, path, "aggressive")
    assert path.read_bytes() == pruned
    claude_home.run("-p", "Please greet the fig.", "--resume", path.stem)
    appended = path.read_bytes().removeprefix(pruned)
    assert appended
    assert coffer(claude_home, "undo").code == 0
    assert path.read_bytes() == original + appended
    grown = copied(claude_home, path)
    request = resumed(claude_home, path.stem)
    assert differences(grown, request.body or {}) == []
    assert stubs_of(request) == {}
    assert "Greeted fig." in texts_of(request)
    assert "1\\\\n2\\\\n3" in json.dumps(texts_of(request))
    assert anthropic_server.breaches == []


def test_a_live_session_is_refused(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> None:
    """Until the last client that has it open has gone."""
    path = worked(claude_home, anthropic_server)
    original = path.read_bytes()
    with claude_home.interactive("--resume", path.stem) as first:
        _assert_refused(claude_home, path, {first.pid}, original)
        with claude_home.interactive("--resume", path.stem) as second:
            _assert_refused(claude_home, path, {first.pid, second.pid}, original)
            first.exit()
            _assert_refused(claude_home, path, {second.pid}, original)
            second.exit()
    prune(claude_home, path)
    assert path.read_bytes() != original
    assert anthropic_server.breaches == []


def _assert_refused(home: ClaudeHome, path: Path, pids: set[int], original: bytes) -> None:
    home.wait_status("idle")
    assert {entry["pid"] for entry in home.registry() if entry["sessionId"] == path.stem} == pids
    done = coffer(home, "prune", str(path), "--apply")
    assert done.code == SessionLive.exit_code == 10
    assert any(f"process {pid} holds it, idle" in done.err for pid in pids)
    assert path.read_bytes().startswith(original)
    assert b"[coffer: " not in path.read_bytes()


def test_what_was_pruned_can_be_read_and_edited_again(
    claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    """The client does not answer "unchanged since your last Read", nor "read it first"."""
    path = worked(claude_home, anthropic_server)
    prune(claude_home, path)
    mended = claude_home.run("-p", "Please mend the notes.", "--resume", path.stem)
    assert "notes.md has been updated successfully" in texts_of(mended.requests[-1])
    for prompt, line in (("Please read the notes.", "99. The line"), ("Please read the table.", "23:00")):
        read = claude_home.run("-p", prompt, "--resume", path.stem)
        result = [piece for piece in pieces_of(read.requests[-1]) if piece.block["type"] == "tool_result"][-1]
        assert line in result.block["content"]
    assert anthropic_server.breaches == []


def test_the_last_turn_stays_also_where_exit_follows_it(
    claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    """`/exit` and its farewell stand as the person's words, and are no turn."""
    path = worked(claude_home, anthropic_server, PROMPTS[:2])
    append_exit(path)
    original = path.read_bytes().splitlines()
    prune(claude_home, path, "aggressive")
    pruned = path.read_bytes().splitlines()
    first = next(n for n, line in enumerate(original) if PROMPTS[1].encode() in line)
    assert [line for line in original[first:] if line not in pruned] == []


BOUND = ("--model", "claude-opus-5-5")
"""A model of core/dialect.BOUND_THINKING; the client takes any name."""


@pytest.mark.parametrize("prescription", PRESCRIPTIONS)
def test_bound_thinking_is_never_sent_behind_a_change(
    prescription: str, tmp_path: Path, claude_binary: Path
) -> None:
    """Else the API refuses it, and the client asks again without any thinking, at each request from then on."""
    with (
        AnthropicServer(preserved_thinking=True) as server,
        ClaudeHome(tmp_path, server, binary=claude_binary, model_args=BOUND) as home,
    ):
        path = worked(home, server)
        assert server.breaches == []
        prune(home, path, prescription)
        resumed(home, path.stem)


def test_bound_thinking_is_sent_again_where_nothing_was_pruned(tmp_path: Path, claude_binary: Path) -> None:
    """The system prompt and the tools are the same in each `-p` run; so what breaks it is the prune."""
    with (
        AnthropicServer(preserved_thinking=True) as server,
        ClaudeHome(tmp_path, server, binary=claude_binary, model_args=BOUND) as home,
    ):
        request = resumed(home, worked(home, server).stem)
    kinds = [piece.block["type"] for piece in pieces_of(request)]
    assert kinds.count("thinking") == THOUGHTS


def test_the_comparison_finds_what_it_must(
    claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    """Each block of a request, left out, doubled or changed by a word, is a surprise; so is a stub unmade."""
    path = worked(claude_home, anthropic_server)
    original = copied(claude_home, path)
    before = resumed(claude_home, path.stem)
    path.write_bytes(original.read_bytes())
    prune(claude_home, path)
    after = resumed(claude_home, path.stem)
    plan, data = plan_of(original, "standard", {}), original.read_bytes()
    assert surprises(before, after, plan, data) == []
    assert surprises(before, before, plan, data) != []
    for tampered in tamperings(after):
        assert surprises(before, tampered, plan, data) != [], tampered.how


def test_the_transcripts_show_every_strategy() -> None:
    """Else a resume that is as expected would say nothing; the other strategies act on the worked session.

    `snapshots` acts on none: the client names another record with each update of a snapshot.
    """
    found = {
        item.strategy
        for path in CHOSEN
        for prescription in PRESCRIPTIONS
        for item in plan_of(path, prescription, {}).actions
    }
    expected = {strategy.name for strategy in TABLE} - STRATEGIES - {"snapshots"}
    if not SHARED:
        expected = {"before-compaction", "bundles", "thinking"}
    assert found >= expected
