"""What a resume repairs, and how the request is formed. A tidy conversation must come out as it is."""

from __future__ import annotations

import pytest

from coffer.agents.table import CLAUDE
from coffer.core.dialect import (
    CONTINUE,
    INTERRUPTED_CALL,
    INTERRUPTIONS,
    MISSING_RESULT,
    NO_CONTENT,
    NO_RESPONSE,
    SYNTHETIC,
)
from coffer.core.items import Edit, Item
from coffer.core.view import view
from tests.transcripts import (
    MODEL,
    Claude,
    Json,
    call,
    image,
    name_of,
    names,
    read,
    result,
    text,
    thinking,
    told,
    uid,
)

MISSING = f": {MISSING_RESULT}"


def contents(made: Claude) -> list[Json]:
    seen = view(read(made)).items
    return [
        CLAUDE.content(item, made.data[item.record.start : item.record.end] if item.record else b"")
        for item in seen
        if isinstance(item, Item)
    ]


# --- what must not change


def test_a_tidy_conversation_comes_out_as_it_is() -> None:
    made = Claude()
    made.user("question")
    made.answer(thinking("hm"), text("I look"), call("c1", "Read", file_path="/a"))
    made.result("c1", "content")
    made.answer(text("answer"))
    made.user([text("and"), image(), text("this?")])
    made.answer(text("yes"))
    assert told(made) == [
        *("user: question", "thinking: hm", "assistant: I look", "call c1", "result c1: content"),
        *("assistant: answer", "user: and", "image", "user: this?", "assistant: yes"),
    ]


def test_content_is_not_touched() -> None:
    made = Claude()
    question = '  spaces \n\t "quotes" \\ <b> \u2028 😀 \x00 end '
    made.user(question)
    given: Json = {"command": "ls", "n": 1.5, "deep": [{"a": None}]}
    made.answer(text("ok"), call("c1", **given))
    made.result("c1", [{"type": "text", "text": " out \r\n"}])
    made.answer(text("."))
    said = contents(made)
    assert said[0] == {"type": "text", "text": question}
    assert said[2]["input"] == given
    assert said[3]["content"] == [{"type": "text", "text": " out \r\n"}]


def test_results_of_a_tool_that_nobody_knows_any_more_stay() -> None:
    # pairs are judged by their ids: a renamed MCP tool is no orphan
    made = Claude()
    made.user("question")
    made.answer(call("c1", "mcp__gone__tool"))
    made.result("c1")
    made.answer(text("answer"))
    assert told(made) == ["user: question", "call c1", "result c1: done", "assistant: answer"]


# --- pairs


def test_an_open_call_at_the_end_is_left_out() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    assert told(made) == ["user: question", f"assistant: {NO_RESPONSE}"]


def test_two_parallel_calls_and_one_result() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"), call("c2"), name="a")
    made.result("c1", parent="aa")
    made.last_prompt("ab")
    made.user("go on")
    assert f"result c2{MISSING}" not in told(made)
    assert "call c2" not in told(made)


def test_a_call_without_a_result_in_a_record_with_an_answered_one_gets_one() -> None:
    # older clients wrote all blocks of a message into one record
    made = Claude()
    made.user("question")
    said = {"id": "m", "role": "assistant", "model": MODEL, "content": [call("c1"), call("c2")]}
    made.add("assistant", "a", message=said)
    made.result("c1")
    made.answer(text("answer"))
    assert told(made) == [
        *("user: question", "call c1", "call c2", f"result c2{MISSING}", "result c1: done"),
        "assistant: answer",
    ]


def test_a_call_whose_result_comes_too_late_gets_a_made_up_one() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.answer(text("I go on"))
    made.user([result("c1", "late"), text("here")])
    made.answer(text("thanks"))
    assert told(made) == [
        *("user: question", "call c1", f"result c1{MISSING}", "assistant: I go on", "user: here"),
        "assistant: thanks",
    ]


def test_a_result_without_a_call_goes_and_no_message_stays_empty() -> None:
    made = Claude()
    made.user("question")
    made.answer(text("I look"))
    made.result("gone")
    made.answer(text("answer"))
    assert told(made) == [
        *("user: question", "assistant: I look", f"user: {NO_CONTENT}", "assistant: answer"),
    ]


def test_eleven_results_whose_answers_were_removed() -> None:
    made = Claude()
    made.user("question")
    made.user([result(f"c{number}") for number in range(11)])
    made.user("go on")
    made.answer(text("answer"))
    assert told(made) == ["user: question", "user: go on", "assistant: answer"]


def test_the_fifth_result_of_a_message_is_unknown() -> None:
    made = Claude()
    made.user("question")
    made.answer(*(call(f"c{number}") for number in range(1, 5)))
    made.user([result(f"c{number}") for number in range(1, 6)])
    made.answer(text("answer"))
    assert "result c5: done" not in told(made)
    assert [line for line in told(made) if line.startswith("result")] == [
        f"result c{number}: done" for number in range(1, 5)
    ]


def test_a_doubled_call_is_sent_once() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.result("c1")
    made.answer(text("again"), call("c1"))
    made.result("c1", "again")
    made.answer(text("answer"))
    assert told(made) == [
        *("user: question", "call c1", "result c1: done", "assistant: again", f"user: {NO_CONTENT}"),
        "assistant: answer",
    ]


def test_an_answer_of_a_doubled_call_only_gets_a_sentence() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.result("c1")
    made.answer(call("c1"))
    made.result("c1", "again")
    made.answer(text("answer"))
    assert f"assistant: {INTERRUPTED_CALL}" in told(made)


# --- thinking and blank answers


def test_thinking_without_any_other_block_of_its_message_goes() -> None:
    made = Claude()
    made.user("question")
    made.answer(thinking("cut off"))
    made.user("again")
    made.answer(thinking("hm"), text("answer"))
    assert told(made) == ["user: question", "user: again", "thinking: hm", "assistant: answer"]


def test_thinking_of_a_removed_open_call_goes_with_it() -> None:
    # else the request ends with thinking that may not be the last block
    made = Claude()
    made.user("question")
    made.answer(thinking("hm"), call("c1"))
    assert told(made) == ["user: question", f"assistant: {NO_RESPONSE}"]


@pytest.mark.parametrize("resumed_as", [MODEL, f"{MODEL}[1m]"])
def test_a_model_takes_back_its_own_thinking(resumed_as: str) -> None:
    made = Claude()
    made.user("question")
    made.answer(thinking("hm"), text("answer"))
    assert told(made, resumed_as) == ["user: question", "thinking: hm", "assistant: answer"]


def test_thinking_of_another_model_goes_if_it_is_signed() -> None:
    made = Claude()
    made.user("question")
    made.answer(thinking("signed"), text("one"), model="claude-haiku-4-5")
    made.user("on")
    made.answer(thinking("unsigned", ""), text("two"), model="claude-haiku-4-5")
    assert told(made, MODEL) == [
        *("user: question", "assistant: one", "user: on", "thinking: unsigned", "assistant: two"),
    ]


def test_a_resume_takes_the_model_of_the_last_answer() -> None:
    made = Claude()
    made.user("question")
    made.answer(thinking("a"), text("one"), model="claude-haiku-4-5")
    made.answer(thinking("b"), text("two"), model=MODEL)
    made.answer(text("an error"), model=SYNTHETIC)
    assert view(read(made)).model == MODEL
    assert "thinking: a" not in told(made)


def test_empty_thinking_with_its_signature_stays() -> None:
    # clients from 2.1.153 on store only the signature; it must come back as it is
    made = Claude()
    made.user("question")
    made.answer(thinking("", "x" * 4_000), text("answer"))
    assert contents(made)[1] == {"type": "thinking", "thinking": "", "signature": "x" * 4_000}


@pytest.mark.parametrize("blank", ["\n\n", " ", NO_CONTENT])
def test_an_answer_of_white_space_goes(blank: str) -> None:
    made = Claude()
    made.user("question")
    made.answer(text(blank))
    made.user("again")
    made.answer(text("answer"))
    assert told(made) == ["user: question", "user: again", "assistant: answer"]


def test_white_space_beside_other_blocks_of_the_message_goes_alone() -> None:
    made = Claude()
    made.user("question")
    made.answer(text("\n\n"), text("answer"))
    assert told(made) == ["user: question", "assistant: answer"]


# --- the end of the branch


def test_words_without_an_answer_get_one() -> None:
    made = Claude()
    made.user("question")
    assert told(made) == ["user: question", f"assistant: {NO_RESPONSE}"]


def test_a_turn_that_was_cut_after_a_result_goes_on() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.result("c1")
    assert told(made)[-2:] == [f"user: {CONTINUE}", f"assistant: {NO_RESPONSE}"]


@pytest.mark.parametrize("words", INTERRUPTIONS)
def test_an_interruption_is_no_cut(words: str) -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.result("c1")
    made.user([text(words)])
    assert f"user: {CONTINUE}" not in told(made)


def test_a_summary_is_no_cut() -> None:
    made = Claude()
    made.user("question")
    made.answer(text("answer"))
    made.compact()
    assert told(made) == ["user: SUMMARY", f"assistant: {NO_RESPONSE}"]


def test_a_result_of_a_tool_that_only_tells_is_no_cut() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1", "SendUserMessage"))
    made.result("c1")
    assert f"user: {CONTINUE}" not in told(made)


def test_a_rewind_to_a_result_is_no_cut() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.result("c1", name="r1")
    made.last_prompt("r1", explicit=True, rewound=True)
    assert f"user: {CONTINUE}" not in told(made)


def test_attachments_behind_a_prompt_count_as_a_cut() -> None:
    made = Claude()
    made.user("question")
    made.attachment("hook_additional_context", payload={"content": ["context"], "hookEvent": "SessionStart"})
    assert told(made)[-1] == f"assistant: {NO_RESPONSE}" or "+hook_additional_context" in told(made)[-1]


# --- what the client took back


def test_retracted_messages_go() -> None:
    made = Claude()
    made.user("question")
    made.answer(text("no"), name="a1")
    made.add(
        "system",
        "s1",
        subtype="model_refusal_fallback",
        retractedMessageUuids=[uid("a1")],
        content="fallback",
    )
    made.answer(text("yes"), name="a2")
    assert told(made) == ["user: question", "assistant: yes"]


def test_an_error_note_of_the_client_is_not_sent() -> None:
    made = Claude()
    made.user("question")
    made.answer(text("API Error: 500"), model=SYNTHETIC, isApiErrorMessage=True)
    made.user("again")
    made.answer(text("answer"))
    assert told(made) == ["user: question", "user: again", "assistant: answer"]


def test_a_virtual_record_is_not_sent() -> None:
    made = Claude()
    made.user("question")
    made.user("shown only", isVirtual=True)
    made.answer(text("answer"))
    assert told(made) == ["user: question", "assistant: answer"]


def test_meta_records_are_sent() -> None:
    made = Claude()
    made.user("question")
    made.user("a caveat", isMeta=True)
    made.answer(text("answer"))
    assert told(made) == ["user: question", "user: a caveat", "assistant: answer"]


def test_a_text_that_is_no_string_goes() -> None:
    made = Claude()
    made.user([text("question"), {"type": "text", "text": 5}])
    made.answer(text("answer"))
    assert told(made) == ["user: question", "assistant: answer"]


# --- forming messages


def test_calls_go_last_in_their_message() -> None:
    made = Claude()
    made.user("question")
    said = {"id": "m", "role": "assistant", "model": MODEL, "content": [call("c1"), text("I look")]}
    made.add("assistant", "a", message=said)
    made.result("c1")
    made.answer(text("answer"))
    assert told(made)[1:3] == ["assistant: I look", "call c1"]


def test_calls_stay_where_thinking_follows_thinking_across_them() -> None:
    # moving them would change the order of signed blocks
    made = Claude()
    made.user("question")
    content = [thinking("a"), call("c1"), thinking("b"), text("x")]
    made.add("assistant", "a", message={"id": "m", "role": "assistant", "model": MODEL, "content": content})
    made.result("c1")
    made.answer(text("answer"))
    assert told(made)[1:5] == ["thinking: a", "call c1", "thinking: b", "assistant: x"]


def test_results_stand_first_among_neighbouring_user_messages() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.user("by the way")
    made.result("c1")
    made.answer(text("answer"))
    assert told(made) == [
        "user: question",
        "call c1",
        "result c1: done",
        "user: by the way",
        "assistant: answer",
    ]


def test_records_of_one_message_become_one_across_results() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"), message="m1", name="a1")
    made.result("c1", name="r1")
    made.answer(call("c2"), message="m1", name="a2")
    made.result("c2", name="r2")
    made.answer(text("answer"))
    assert told(made)[1:5] == ["call c1", "call c2", "result c1: done", "result c2: done"]


def test_attachments_go_up_behind_the_answer_or_result_before_them() -> None:
    made = Claude()
    made.user("question", "u1")
    made.answer(call("c1"))
    made.result("c1")
    made.user("more")
    made.attachment("file", payload={"filename": "/a", "content": {"file": {"content": "text"}}})
    made.answer(text("answer"))
    assert told(made) == [
        *("user: question", "call c1", "result c1: done", "user: more", "+file", "assistant: answer"),
    ]


def test_silent_and_forgotten_attachments_are_not_sent() -> None:
    made = Claude()
    made.user("question")
    made.answer(text("answer"))
    for kind in ("hook_success", "todo", "verify_plan_reminder", "hook_cancelled"):
        made.attachment(kind, payload={"content": "x", "hookEvent": "PostToolUse"})
    made.attachment("hook_success", payload={"content": "spoken", "hookEvent": "UserPromptSubmit"})
    assert told(made) == ["user: question", "assistant: answer", "+hook_success"]


def test_a_local_command_is_sent_as_the_persons_words() -> None:
    made = Claude()
    made.user("question")
    made.answer(text("answer"))
    made.add("system", subtype="local_command", content="<local-command-stdout>out</local-command-stdout>")
    made.user("on")
    made.answer(text("yes"))
    assert told(made)[2:4] == ["user: <local-command-stdout>out</local-command-stdout>", "user: on"]


# --- how blocks change on their way


def test_former_tool_names_are_sent_as_the_present_ones() -> None:
    made = Claude()
    made.user("question")
    for number, (former, present) in enumerate([("Task", "Agent"), ("KillShell", "TaskStop")]):
        made.answer(call(f"c{number}", former))
        made.result(f"c{number}")
        assert {"type": "tool_use", "id": f"c{number}", "name": present, "input": {}} in contents(made)


def test_a_plan_is_not_sent_twice() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1", "ExitPlanMode", plan="the plan", planFilePath="/p", other=1))
    made.result("c1")
    made.answer(text("answer"))
    assert contents(made)[1]["input"] == {"other": 1}


def test_an_edit_with_a_list_of_edits_loses_the_single_ones() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1", "Edit", file_path="/a", edits=[1], old_string="a", new_string="b"))
    made.result("c1")
    made.answer(call("c2", "Edit", file_path="/a", old_string="a", new_string="b"))
    made.result("c2")
    said = contents(made)
    assert said[1]["input"] == {"file_path": "/a", "edits": [1]}
    assert said[3]["input"] == {"file_path": "/a", "old_string": "a", "new_string": "b"}


@pytest.mark.parametrize("given", [None, [], 5, "x", {}])
@pytest.mark.parametrize("tool", ["Edit", "ExitPlanMode", "Task", "Bash"])
def test_an_input_of_a_foreign_shape_is_shown_as_it_is(tool: str, given: object) -> None:
    made = Claude()
    made.user("question")
    made.answer({"type": "tool_use", "id": "c1", "name": tool, "input": given})
    made.result("c1")
    assert contents(made)[1]["input"] == given


@pytest.mark.parametrize(
    "said",
    [
        *(None, 5, "", "x", [], {}, {"a": 1}, [None], [5], ["x"], [{}], [{"type": 5}], [{"type": "text"}]),
        *([{"type": "text", "text": 5}], [{"type": "image"}], [{"type": "image", "source": 5}], [[["x"]]]),
        *("\ud83c", [{"type": "text", "text": "\ud83c"}]),
    ],
)
@pytest.mark.parametrize("failed", [False, True])
def test_a_result_of_any_shape_ends_in_no_error(said: object, failed: bool) -> None:  # noqa: FBT001
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.user([result("c1", said, is_error=failed)], "r1")
    made.answer(text("answer"))
    assert names(view(read(made)).branch.records)[2] == "r1"
    assert contents(made)[-1] == text("answer")


def test_a_failed_result_keeps_its_texts_only() -> None:
    made = Claude()
    made.user("question")
    made.answer(call("c1"))
    made.user([result("c1", [text("one"), image(), text("two")], is_error=True)])
    made.answer(text("answer"))
    assert contents(made)[2]["content"] == [{"type": "text", "text": "one\n\ntwo"}]
    assert [item.edit for item in view(read(made)).blocks()][2] is Edit.TEXT_ONLY


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        (b"\\ud83c end", "\ufffd end"),
        (b"\xff end", "\ufffd end"),
        (b"\\ud83d\\ude00", "😀"),
        (b"a\\u0000", "a\0"),
    ],
)
def test_half_a_character_is_sent_as_a_replacement(said: bytes, sent: str) -> None:
    # a truncated emoji made every resume fail with 400
    made = Claude()
    made.user("MARK")
    made.answer(text("answer"))
    made.lines[0] = made.lines[0].replace(b"MARK", said)
    assert contents(made)[0]["text"] == sent


def test_bookkeeping_of_a_block_is_not_sent() -> None:
    made = Claude()
    made.user([{**text("question"), "cache_control": {"type": "ephemeral"}, "citations": None}])
    made.answer(text("answer"))
    assert contents(made)[0] == text("question")


def test_items_of_records_name_their_record() -> None:
    made = Claude()
    made.user("question", "u1")
    made.answer(text("answer"), name="a1")
    seen = view(read(made))
    assert [name_of(item.record.uuid) for item in seen.blocks() if item.record] == ["u1", "a1"]
    assert len(seen.records()) == 2


def test_nothing_to_resume_is_an_empty_view() -> None:
    made = Claude()
    made.note("ai-title", aiTitle="nothing said")
    assert told(made) == []
