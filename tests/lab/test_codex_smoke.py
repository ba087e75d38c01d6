"""The real Codex against the scripted server: what every other lab test of Codex stands on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import clients
from tests.lab.codex import CodexHome, records, thread_of, wait_until
from tests.lab.openai_checks import Json
from tests.lab.openai_server import OpenAIServer, Request

pytestmark = pytest.mark.lab

SCRIPTS = {
    "look": [
        {"items": [{"reasoning": "Look first."}, {"call": "exec_command", "args": {"cmd": "echo one"}}]},
        {"text": "There is one."},
    ],
    "slow": [{"items": [{"call": "exec_command", "args": {"cmd": "sleep 20", "yield_time_ms": 20000}}]}],
    "full": [{"text": "That was much.", "usage": {"input": 60000, "output": 20}}],
}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer({"scripts": SCRIPTS, "default": {"text": "Noted."}}) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, server: OpenAIServer) -> Iterator[CodexHome]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    with CodexHome(tmp_path, server, config_extra="model_auto_compact_token_limit = 50000") as home:
        yield home
    assert home.processes() == []
    assert not home.codex_home.exists()
    assert server.breaches == []


def texts(request: Request, role: str = "user") -> list[str]:
    said = [item["content"] for item in request.items if item.get("role") == role]
    return ["".join(part.get("text", "") for part in content) for content in said]


def told(item: Json) -> tuple[str, str]:
    return item["type"], item.get("role") or item.get("name") or ""


def test_exec_runs_the_tool_and_writes_what_the_model_saw(home: CodexHome) -> None:
    done = home.exec(prompt="@@look@@ What is there?")
    assert done.rc == 0, done.stderr
    assert done.stdout.strip() == "There is one."
    assert [r.how for r in done.requests] == ["script:look[0]", "script:look[1]"]
    assert [told(i) for i in done.requests[1].items[-4:]] == [
        ("message", "user"),
        ("reasoning", ""),
        ("function_call", "exec_command"),
        ("function_call_output", ""),
    ]
    kinds = [(r["type"], r["payload"].get("type")) for r in records(home.rollouts()[0])]
    assert kinds[0] == ("session_meta", None)
    assert kinds[-1] == ("event_msg", "task_complete")
    assert ("response_item", "function_call_output") in kinds


def test_resume_sends_the_whole_thread_again_and_appends_to_its_file(home: CodexHome) -> None:
    first = home.exec(prompt="@@look@@ What is there?")
    before = home.rollouts()[0].read_bytes()
    again = home.resume(home.thread(), prompt="And now?")
    assert again.rc == 0, again.stderr
    sent = again.requests[0].items
    assert sent[: len(first.requests[1].items)] == first.requests[1].items
    assert texts(again.requests[0])[-1] == "And now?"
    [rollout] = home.rollouts()
    assert rollout.read_bytes().startswith(before)
    assert [r["ordinal"] for r in records(rollout)] == list(range(len(records(rollout))))


def test_compaction_keeps_the_prompts_and_the_summary(home: CodexHome) -> None:
    home.exec(prompt="@@full@@ Read it all.")
    after = home.resume(home.thread(), prompt="Go on.")
    assert after.requests[0].how == "compact"
    kept = texts(after.requests[1])
    assert "@@full@@ Read it all." in kept
    assert any("SUMMARY: what was done so far." in text for text in kept)
    assert kept[-1] == "Go on."
    assert not any(item.get("role") == "assistant" for item in after.requests[1].items)
    [compacted] = [r["payload"] for r in records(home.rollouts()[0]) if r["type"] == "compacted"]
    assert [i["id"] for i in compacted["replacement_history"]] == [
        i["id"] for i in after.requests[1].items[1:-1]
    ]


def test_a_fork_writes_only_the_delta_and_reads_its_parent(home: CodexHome) -> None:
    home.exec(prompt="@@look@@ What is there?")
    parent = home.rollouts()[0]
    size = parent.stat().st_size
    done = home.fork(thread_of(parent), prompt="Another way.")
    assert done.rc == 0, done.stderr
    [child] = [path for path in home.rollouts() if path != parent]
    head = records(child)[0]["payload"]
    assert head["forked_from_id"] == thread_of(parent)
    assert head["history_base"]["end_byte_offset"] == size
    assert "There is one." in texts(done.requests[0], "assistant")
    assert b"There is one." not in child.read_bytes()


def test_the_writer_lock_is_held_while_the_thread_is_open(home: CodexHome, server: OpenAIServer) -> None:
    with home.running(prompt="@@slow@@ Wait.") as run:
        assert server.wait_for(1, 60)
        thread = home.thread()
        assert home.lock(thread).exists()
        assert home.locked(thread)
        run.kill()
        run.wait(10)
    assert wait_until(lambda: not home.locked(thread), 5)


def test_the_tui_answers_names_the_thread_and_leaves_nothing(home: CodexHome, server: OpenAIServer) -> None:
    with home.tui() as terminal:
        assert terminal.wait_for("Ask Codex to do anything"), terminal.screen()
        terminal.submit("Hello there.")
        assert terminal.wait_for("Noted"), terminal.screen()
        assert wait_until(lambda: any(r.how == "title" for r in server.requests), 10)
        assert home.locked(home.thread())
        index = home.codex_home / "session_index.jsonl"
        assert wait_until(lambda: index.exists() and "A lab thread" in index.read_text(), 10)
        terminal.submit("/quit")
        assert terminal.wait_end(10), terminal.screen()
    assert not home.locked(home.thread())


def test_new_and_resume_read_an_edited_thread_from_disk_again(home: CodexHome, server: OpenAIServer) -> None:
    with home.tui() as terminal:
        assert terminal.wait_for("Ask Codex to do anything"), terminal.screen()
        terminal.submit("The word is heron.")
        assert wait_until(
            lambda: bool(home.rollouts()) and b"task_complete" in home.rollouts()[0].read_bytes()
        )
        [rollout] = home.rollouts()
        terminal.submit("/new")
        assert wait_until(lambda: "heron" not in terminal.screen())
        edited = rollout.with_suffix(".new")
        edited.write_bytes(rollout.read_bytes().replace(b"heron", b"otter"))
        edited.replace(rollout)
        terminal.submit(f"/resume {thread_of(rollout)}")
        assert terminal.wait_for("heron"), terminal.screen()  # the screen comes from the client's database
        terminal.submit("Which word?")
        assert wait_until(lambda: b"Which word?" in rollout.read_bytes())
        assert wait_until(lambda: any("Which word?" in texts(r) for r in server.requests))
    told = next(r for r in server.requests if "Which word?" in texts(r))
    assert texts(told)[-2:] == ["The word is otter.", "Which word?"]


def test_hooks_run_after_they_were_trusted(tmp_path: Path, home: CodexHome, server: OpenAIServer) -> None:
    hook = {"type": "command", "command": "echo RULES FROM A HOOK"}
    hooks = {"SessionStart": [{"hooks": [hook]}]}
    with CodexHome(tmp_path / "hooked", server, hooks=hooks) as hooked:
        hooked.bypass_trust = False
        assert "RULES FROM A HOOK" not in str(hooked.exec(prompt="One.").requests[0].items)
        assert [h["trustStatus"] for h in hooked.trust_hooks()] == ["trusted"]
        assert "RULES FROM A HOOK" in texts(hooked.exec(prompt="Two.").requests[0], "developer")
    assert home.processes() == []
