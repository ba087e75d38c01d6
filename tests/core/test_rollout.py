"""What Codex sends after a resume: linear, with replacements (docs/formats-codex.md)."""

from __future__ import annotations

import pytest

from coffer.agents.table import CODEX
from coffer.core.composition import Mark, compose
from coffer.core.parts import parts_of
from coffer.core.rollout import ABORTED
from coffer.core.usage import OVERRIDE
from tests.transcripts import THREAD, Codex, Json, codex_message, encode, read, spoken, told


def started(*, ids: bool = True) -> Codex:
    made = Codex(ids=ids)
    made.meta()
    made.turn()
    made.message("developer", "context")
    made.message("user", "question")
    return made


def work(made: Codex) -> None:
    made.call("c1")
    made.output("c1")
    made.message("assistant", "answer")


TOLD = ["developer: context", "user: question", "call c1", "result c1: done", "assistant: answer"]
HISTORY = [codex_message("user", "question"), codex_message("user", "SUMMARY")]


# --- what must not change it


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"type":"event_msg","payload":{"type":"agent_message","message":"x"}}', id="event"),
        pytest.param(b'{"type":"token_usage_record","payload":{"usage":{}}}', id="token_usage_record"),
        pytest.param(b'{"type":"world_state","payload":{"full":true}}', id="world_state"),
        pytest.param(b'{"type":"brand_new","payload":{"content":"x"}}', id="unknown type"),
        pytest.param(b'{"type":"compacted","payload":{"message":"m"}}', id="compacted without history"),
        pytest.param(
            b'{"type":"compacted","payload":{"message":"m","replacement_history":[]}}', id="empty history"
        ),
        pytest.param(
            encode(
                {
                    "type": "compacted",
                    "payload": {"replacement_history": HISTORY, "replacement_history_metadata": [{}]},
                }
            ),
            id="metadata of another length",
        ),
        pytest.param(b"\0" * 300, id="NUL"),
        pytest.param(b"", id="empty line"),
        pytest.param(b"null", id="null"),
        pytest.param(b"[]", id="list"),
        pytest.param(b'{"type":"response_item","payload":{"type":"mess', id="torn"),
        pytest.param(
            b'{"type":"response_item","payload":{"type":"message","role":"user","content":"\\ud83c"}}',
            id="half a character: the line is skipped",
        ),
        pytest.param(
            2 * encode({"type": "response_item", "payload": codex_message("user", "twice")}),
            id="two on a line: both are skipped",
        ),
    ],
)
def test_what_sends_nothing(line: bytes) -> None:
    made = started()
    work(made)
    made.lines.append(line)
    assert told(made) == TOLD
    made.lines.insert(2, made.lines.pop())
    assert told(made) == TOLD


def test_items_are_sent_whole_in_file_order() -> None:
    made = started()
    made.reasoning()
    made.add(
        "response_item",
        **codex_message("assistant", "answer"),
        internal_chat_message_metadata_passthrough={"content_item_kinds": ["x"]},
    )
    made.add("response_item", type="web_search_call", id="ws_1", status="completed", action={"query": "q"})
    seen = CODEX.view(read(made), "")
    data = made.data
    sent = [
        CODEX.content(item, data[item.record.start : item.record.end])
        for item in seen.blocks()
        if item.record
    ]
    assert sent[2] == {"type": "reasoning", "summary": [], "encrypted_content": "gAAA", "id": "item_4"}
    assert sent[3] == {"type": "output_text", "text": "answer"}
    assert sent[4]["id"] == "ws_1"
    assert len(sent) == 5


# --- pairs


def test_a_call_without_an_output_gets_one() -> None:
    made = started()
    made.call("c1")
    made.message("user", "on")
    assert told(made)[2:] == ["call c1", f"result c1: {ABORTED}", "user: on"]


def test_an_output_without_a_call_goes() -> None:
    made = started()
    made.output("gone")
    assert told(made) == TOLD[:2]


def test_an_output_whose_call_stood_on_a_skipped_line_goes() -> None:
    made = started()
    made.call("c1")
    made.lines[-1] += made.lines[-1]
    made.output("c1")
    assert told(made) == TOLD[:2]


def test_a_search_that_the_api_answers_itself_gets_no_output() -> None:
    made = started()
    made.add("response_item", type="web_search_call", status="completed", action={"query": "q"})
    assert not any(line.startswith("result") for line in told(made))


# --- compaction


@pytest.mark.parametrize("metadata", [None, [{}, {}]], ids=["without metadata", "with metadata"])
def test_a_compaction_replaces_all_before_it(metadata: list[Json] | None) -> None:
    made = started()
    work(made)
    made.compacted(HISTORY, metadata)
    made.message("user", "on")
    assert told(made) == ["user: question", "user: SUMMARY", "user: on"]


def test_of_two_compactions_the_last_accepted_one_counts() -> None:
    made = started()
    made.compacted([codex_message("user", "one")])
    made.message("user", "between")
    made.compacted([codex_message("user", "two")])
    made.compacted(HISTORY, [{}])
    made.message("user", "on")
    assert told(made) == ["user: two", "user: on"]


def test_a_history_of_odd_items_is_still_a_history() -> None:
    made = started()
    made.compacted([*HISTORY, {"type": 5}])
    seen = CODEX.view(read(made), "")
    assert len(seen.items) >= 2
    assert spoken(seen, made.data, CODEX)[:2] == ["user: question", "user: SUMMARY"]


# --- tokens and window


def test_the_servers_own_total_is_the_context() -> None:
    made = started()
    made.count(1_000, 50, total=9_999, cached=400)
    measure = CODEX.measure(CODEX.view(read(made), ""))
    assert measure is not None
    assert measure.usage is not None
    assert (measure.tokens, measure.usage.prompt, measure.usage.cache_read) == (9_999, 1_000, 400)


def test_after_a_compaction_the_clients_estimate_counts() -> None:
    made = started()
    made.count(150_000, 50)
    made.compacted(HISTORY)
    made.count(0, 0, total=4_000)
    measure = CODEX.measure(CODEX.view(read(made), ""))
    assert measure is not None
    assert measure.tokens == 4_000


def test_counts_of_before_a_compaction_are_past() -> None:
    made = started()
    made.count(150_000, 50)
    made.compacted(HISTORY)
    assert CODEX.measure(CODEX.view(read(made), "")) is None


IDS = pytest.mark.parametrize("ids", [True, False], ids=["with ids", "without, as before 0.142"])


@IDS
def test_a_repeated_count_is_one_mark(ids: bool) -> None:  # noqa: FBT001
    made = started(ids=ids)
    made.message("assistant", "answer")
    made.count(1_000, 50)
    made.count(1_000, 50)
    made.message("user", "on")
    made.message("assistant", "yes")
    made.count(1_100, 40)
    seen = CODEX.view(read(made), "")
    assert CODEX.marks(seen, parts_of(seen.items)) == [Mark(2, 1_000, 50), Mark(4, 1_100, 40)]


@IDS
def test_a_count_behind_the_results_of_its_answer_stands_before_the_answer(ids: bool) -> None:  # noqa: FBT001
    made = started(ids=ids)
    made.call("c1")
    made.output("c1")
    made.count(1_000, 50)
    seen = CODEX.view(read(made), "")
    assert CODEX.marks(seen, parts_of(seen.items)) == [Mark(2, 1_000, 50)]


@IDS
def test_all_items_of_a_counted_answer_are_counted(ids: bool) -> None:  # noqa: FBT001
    # each item has an id of its own; the count holds them all, so none is still to come
    made = started(ids=ids)
    made.reasoning("hm")
    made.message("assistant", "I look " * 40)
    made.call("c1")
    made.count(1_000, 50)
    made.output("c1", "out " * 100)
    seen = CODEX.view(read(made), "")
    parts = parts_of(seen.items)
    found = compose(parts, CODEX.marks(seen, parts), 1_050)
    assert [part.label for part, _ in found.parts][2:] == ["thinking", "answers", "tool calls"]
    assert found.pending == pytest.approx(parts[-1].guess)


def test_the_window_is_what_the_client_states() -> None:
    made = started()
    transcript = read(made)
    seen = CODEX.view(transcript, "")
    assert CODEX.window(transcript, seen, {}).source == "default"
    made.count(1_000, window=95_000)
    made.count(1_000, window=258_400)
    transcript = read(made)
    assert CODEX.window(transcript, seen, {}).tokens == 258_400
    assert CODEX.window(transcript, seen, {OVERRIDE: "7"}).tokens == 7


@pytest.mark.parametrize(
    "info",
    [None, {}, 5, {"last_token_usage": None}, {"last_token_usage": {"input_tokens": "many"}}, {"x": [1]}],
)
def test_a_count_of_a_foreign_shape_counts_nothing(info: object) -> None:
    made = started()
    made.count(1_000, 50)
    made.add("event_msg", type="token_count", info=info)
    measure = CODEX.measure(CODEX.view(read(made), ""))
    assert measure is not None
    assert measure.tokens == 1_050


# --- what the records say


def test_whose_words_a_message_is() -> None:
    made = Codex()
    made.meta()
    kinds = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]}}
    made.message("user", "# AGENTS.md instructions quoted by a person", **kinds)
    made.message("user", "<environment_context>x</environment_context>")
    made.message("user", "question")
    made.message("developer", "context")
    labels = [part.label for part in parts_of(CODEX.view(read(made), "").items)]
    assert labels == ["your words", "client notes", "your words", "client notes"]


@pytest.mark.parametrize(
    ("arguments", "path", "command"),
    [
        ('{"command":["bash","-lc","ls"]}', "", "bash -lc ls"),
        ('{"cmd":"ls"}', "", "ls"),
        ('{"path":"/a"}', "/a", ""),
        ("no json", "", ""),
        ("*** Begin Patch\n*** Update File: src/a.py\n@@\n", "src/a.py", ""),
        ('{"command":5}', "", ""),
        ("", "", ""),
        ('{"k' + "x" * 20_000 + '":1}', "", ""),
    ],
)
def test_what_a_call_is_about(arguments: str, path: str, command: str) -> None:
    made = started()
    made.call("c1", arguments)
    block = CODEX.view(read(made), "").blocks()[2].block
    assert (block.path, block.command) == (path, command)


def test_a_tool_name_with_a_nul_stays_as_it_is() -> None:
    # the API refuses it at each resume; a reader that cleaned it would hide why
    made = started()
    made.call("c1", name="shell\0")
    assert CODEX.view(read(made), "").blocks()[2].block.name == "shell\0"


def test_about_a_thread() -> None:
    made = Codex()
    made.meta(git={"branch": "main"}, source={"subagent": {"x": 1}}, forked_from_id="parent")
    made.turn("gpt-6")
    about = read(made).about
    assert (about.session, about.cwd, about.version, about.branch) == (
        THREAD,
        "/work/tide",
        "0.171.0",
        "main",
    )
    assert (about.model, about.parent, about.subagent, about.inherited) == ("gpt-6", "parent", True, 0)
