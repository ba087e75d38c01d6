"""Which items of a Codex rollout are a person's turn, and what a turn looks back on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coffer.agents.table import CODEX
from coffer.core.dialect import MARKER
from coffer.core.turn import Action, Turn
from tests.transcripts import THREAD, Codex, Json, codex_message

LAB = Path(__file__).resolve().parents[1] / "corpus" / "codex"
RULE = "Do not add Co-Authored-By lines."
BUNDLE = f"{MARKER}\n[BEHAVIORAL CONTRACT]\n\n**Always apply:**\n{RULE}\n\n[End of behavioral contract — x]"


def heard(source: Codex | bytes) -> list[Turn]:
    data = source if isinstance(source, bytes) else source.data
    listener, turns, at = CODEX.listener(), [], 0
    for line in data.splitlines(keepends=True):
        turns += listener.hear(line, at)
        at += len(line)
    return turns


def words(source: Codex | bytes) -> list[str]:
    return [turn.text for turn in heard(source)]


def started(made: Codex, turn: str, trigger: str | None = "user") -> None:
    said = {} if trigger is None else {"turn_attribution": {"turn_trigger": trigger}}
    made.add("event_msg", type="task_started", turn_id=turn, **said)


def kinds(*names: str) -> Json:
    return {"internal_chat_message_metadata_passthrough": {"content_item_kinds": list(names)}}


def said(made: Codex, text: str, identity: str = "", *names: str, role: str = "user") -> None:
    more: Json = {"id": identity} if identity else {}
    made.add("response_item", **codex_message(role, text), **more, **(kinds(*names) if names else {}))


def talk(**meta: Any) -> Codex:
    made = Codex()
    made.meta(**({"originator": "codex-tui", "source": "cli"} | meta))
    made.turn(turn_id="t1")
    said(made, "<environment_context>\n</environment_context>", "m0", "environments.environment_context")
    said(made, "Set it up.", "m1", "user.text")
    made.message("assistant", "I install it.")
    made.call("c1", json.dumps({"cmd": ["pip", "install", "x"]}))
    made.output("c1")
    made.message("assistant", "It is set up. Shall I commit?")
    return made


def test_a_typed_prompt_and_what_it_looks_back_on() -> None:
    made = talk()
    said(made, "No, use uv here.", "m2", "user.text")
    first, second = heard(made)
    assert (first.id, first.text, first.before, first.actions) == ("m1", "Set it up.", "", ())
    assert (second.id, second.agent, second.session, second.folder) == ("m2", "codex", THREAD, "/work/tide")
    assert second.before == "It is set up. Shall I commit?"
    assert second.actions == (Action("shell", "pip install x"),)
    assert (second.reliability, second.delivered) == ("typed", ())
    assert made.data[second.start : second.end] == made.lines[-1]
    assert json.loads(made.lines[-1])["timestamp"] == second.time


@pytest.mark.parametrize(
    "kind",
    [
        "environments.environment_context",
        "generic.turn_aborted",
        "hooks.additional_context",
        "multi_agent.subagent_notification",
        "shell.user_command",
        "compaction.summary",
    ],
)
def test_kinds_of_items_that_no_person_typed(kind: str) -> None:
    made = talk()
    said(made, "Never use npm.", "m2", kind)
    assert words(made) == ["Set it up."]


def test_of_a_message_with_several_parts_the_typed_ones_are_taken() -> None:
    made = talk()
    parts = [{"type": "input_text", "text": "never"}, {"type": "input_text", "text": "Go on."}, {"type": "x"}]
    more = kinds("environments.environment_context", "user.text", "user.image")
    made.add("response_item", type="message", role="user", content=parts, id="m2", **more)
    assert words(made) == ["Set it up.", "Go on."]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
        "<user_instructions>\nnever\n</user_instructions>",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nnever\n</INSTRUCTIONS>",
        "<turn_aborted>\nThe user interrupted the previous turn on purpose.",
        "<skill>\n<name>worktree</name>\nnever\n</skill>",
        "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>",
        '<hook_prompt hook_run_id="1">never</hook_prompt>',
        "Another language model started to solve this problem and produced a summary: never",
        BUNDLE,
    ],
)
def test_texts_of_older_rollouts_that_no_person_typed(text: str) -> None:
    made = Codex(ids=False)
    made.meta(originator="codex-tui")
    made.message("user", text)
    made.message("user", "Hello.")
    made.message("developer", "Never mind.")
    assert words(made) == ["Hello."]


def test_what_an_editor_puts_before_the_request_is_cut() -> None:
    made = Codex()
    made.meta(originator="codex_vscode", source="vscode")
    made.message(
        "user", "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nUse uv.\n"
    )
    assert words(made) == ["Use uv."]


@pytest.mark.parametrize(
    "meta",
    [
        {"originator": "codex_exec", "source": "exec"},
        {"originator": "codex-tui", "source": "exec"},
        {"originator": "codex_sdk_ts"},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "x", "depth": 1}}}},
        {"source": {"internal": "memory_consolidation"}},
    ],
    ids=str,
)
def test_threads_of_programs(meta: Json) -> None:
    assert heard(talk(**meta)) == []


def test_what_started_a_turn_counts_more_than_who_made_the_thread() -> None:
    made = talk(originator="codex_exec", source="exec")
    started(made, "t2", "user")
    said(made, "No, use uv here.", "m2", "user.text")
    started(made, "t3", "exec")
    said(made, "Run the nightly job.", "m3", "user.text")
    assert words(made) == ["No, use uv here."]
    made = talk()
    started(made, "t2", "exec")
    said(made, "Run the nightly job.", "m2", "user.text")
    assert words(made) == ["Set it up."]


def test_a_subagents_thread_stays_one_whatever_started_it() -> None:
    made = talk(source={"subagent": "review"})
    started(made, "t2", "user")
    said(made, "Never.", "m2", "user.text")
    assert heard(made) == []


def test_the_first_words_after_an_interruption() -> None:
    made = talk()
    said(made, "<turn_aborted>\nstopped", "m2", "generic.turn_aborted")
    made.add("event_msg", type="turn_aborted", reason="interrupted")
    said(made, "Don't push.", "m3", "user.text")
    made.add("event_msg", type="turn_aborted", reason="replaced")
    said(made, "And why?", "m4", "user.text")
    assert [turn.reliability for turn in heard(made)] == ["typed", "interrupted", "typed"]


def test_delivered_rules_and_the_summary_of_a_compaction() -> None:
    made = talk()
    said(made, BUNDLE, "m2", "hooks.additional_context", role="developer")
    said(made, "Yes.", "m3", "user.text")
    made.message("assistant", "Committed.")
    made.message("assistant", "SUMMARY")
    made.compacted([codex_message("user", "Set it up.") | {"id": "m1"}, codex_message("user", "SUMMARY")])
    said(made, "And now?", "m4", "user.text")
    assert [(turn.id, turn.before, turn.delivered) for turn in heard(made)[1:]] == [
        ("m3", "It is set up. Shall I commit?", (RULE,)),
        ("m4", "Committed.", ()),
    ]


def test_a_thread_rolled_back_and_asked_again() -> None:
    made = talk()
    said(made, "use uv", "m2", "user.text")
    made.message("assistant", "With uv.")
    made.add("event_msg", type="thread_rolled_back", num_turns=1)
    said(made, "Use uv", "m3", "user.text")
    made.add("event_msg", type="thread_rolled_back", num_turns=1)
    said(made, "use npm", "m4", "user.text")
    assert [(turn.id, turn.before) for turn in heard(made)[1:]] == [
        ("m2", "It is set up. Shall I commit?"),
        ("m4", "It is set up. Shall I commit?"),
    ]


def old(thread: str, at: float) -> Codex:
    """Without ids of items; a copy keeps the ids of turns and not the times (0.140 to 0.142)."""
    made = Codex(ids=False, clock=at)
    made.meta(thread, originator="codex-tui")
    made.turn(turn_id="t1")
    made.message("user", "Set it up.")
    made.message("assistant", "Done.")
    made.message("user", "Steer left.")
    return made


def test_ids_of_older_rollouts_outlive_a_copy() -> None:
    first, copy = old(THREAD, 0.0), old(THREAD[:-1] + "0", 5_000.0)
    copy.turn(turn_id="t2")
    copy.message("user", "Set it up.")
    ids, copied = [[turn.id for turn in heard(made)] for made in (first, copy)]
    assert copied[:2] == ids
    assert len({*ids, *copied}) == 3


def test_without_ids_of_turns_the_texts_are_the_identity() -> None:
    def ancient(at: float) -> list[str]:
        made = Codex(ids=False, clock=at)
        made.meta()
        made.turn()
        made.message("user", "Set it up.")
        made.message("assistant", "Done. More?")
        made.message("user", "Yes, but use uv.")
        return [turn.id for turn in heard(made)]

    assert ancient(0.0)[1] == ancient(900.0)[1]
    assert ancient(0.0)[0] != ancient(900.0)[0]


def test_a_copied_history_does_not_rename_its_thread() -> None:
    made = talk()
    made.meta("another thread", originator="codex_exec", source="exec")
    said(made, "No, use uv here.", "m2", "user.text")
    assert [turn.session for turn in heard(made)] == [THREAD, THREAD]


ODD: dict[str, bytes] = {
    "torn": b'{"timestamp":"x","type":"response_item","payl',
    "nul": b"\0" * 700,
    "null": b"null",
    "list": b"[1]",
    "no type": b'{"payload":{"type":"message","role":"user","content":"never"}}',
    "foreign payload": b'{"type":"response_item","payload":[7]}',
    "foreign content": b'{"type":"response_item","payload":{"type":"message","role":"user","content":7}}',
    "foreign event": b'{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":null}}',
    "deep": b'{"type":"response_item","payload":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "unknown": b'{"type":"never_heard_of","payload":{"x":1}}',
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_line_costs_no_other_turn(name: str) -> None:
    made = talk()
    made.lines.append(ODD[name])
    said(made, "No, use uv here.", "m2", "user.text")
    assert words(made) == ["Set it up.", "No, use uv here."]


def test_two_records_on_a_line_and_half_an_emoji() -> None:
    made = talk()
    said(made, "never X npm", "m2", "user.text")
    said(made, "Go on.", "m3", "user.text")
    *before, one, two = made.lines
    head = b"\n".join(before) + b"\n"
    assert words(head + one + two + b"\n") == ["Set it up.", "never X npm", "Go on."]
    assert words(head + one[:70] + two + b"\n") == ["Set it up.", "Go on."]
    assert words(head + one.replace(b"X", rb"\ud83c") + b"\r\n") == ["Set it up.", "never ? npm"]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from([b"\0\0", b"\n", b"{", b'"', b"\xff", b"}{"])),
        max_size=5,
    ),
    st.integers(0, 2_000),
)
def test_damage_never_stops_the_hearing(places: list[tuple[int, bytes]], cut: int) -> None:
    made = talk()
    said(made, "No, use uv here.", "m2", "user.text")
    data = bytearray(made.data)
    for place, junk in places:
        at = place * len(data) // 13
        data[at : at + len(junk)] = junk
    assert "No, use uv here." in words(bytes(data[:cut] + b"\n") + made.data)


@pytest.mark.parametrize("name", ["plain", "resume", "fork-parent", "subagent-child", "hooks", "aborted"])
def test_the_labs_runs_of_codex_exec_hold_no_turn(name: str) -> None:
    assert heard((LAB / f"{name}.jsonl").read_bytes()) == []


def test_the_labs_interactive_thread() -> None:
    turns = heard((LAB / "compact-manual.jsonl").read_bytes())
    assert [(turn.text, turn.before) for turn in turns] == [
        ("Remember the word heron.", ""),
        ("Which word?", "Noted."),
    ]
    assert all(turn.id.startswith("msg_") for turn in turns)
