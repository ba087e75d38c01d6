"""Which records of Claude Code are a person's turn, and what a turn looks back on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coffer.agents.table import CLAUDE
from coffer.core.dialect import MARKER
from coffer.core.turn import Action, Turn
from tests.transcripts import PARENT, SESSION, Claude, Json, call, encode, image, result, text, uid

REJECTION = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). "
)
SAID = REJECTION + "To tell you how to proceed, the user said:\n"
STOP = REJECTION + "STOP what you are doing and wait for the user to tell you how to proceed."
NOTE = (
    "\n\nNote: The user's next message may contain a correction or preference. Pay close attention — if they "
    "explain what went wrong, consider saving that to memory."
)
RULE = "Do not add Co-Authored-By lines."
BUNDLE = f"{MARKER}\n[BEHAVIORAL CONTRACT]\n\n**Always apply:**\n{RULE}\n\n[End of behavioral contract — x]"
HUMAN = {"origin": {"kind": "human"}}


def heard(source: Claude | bytes) -> list[Turn]:
    data = source if isinstance(source, bytes) else source.data
    listener, turns, at = CLAUDE.listener(), [], 0
    for line in data.splitlines(keepends=True):
        turns += listener.hear(line, at)
        at += len(line)
    return turns


def words(source: Claude | bytes) -> list[str]:
    return [turn.text for turn in heard(source)]


def talk() -> Claude:
    """A prompt, an answer with two calls, its end."""
    made = Claude()
    made.user("Set it up.", "u1")
    made.answer(text("I install it."), call("c1", command="pip install x"), name="a1")
    made.result("c1", "done", "r1")
    made.answer(call("c2", "Edit", file_path="/p/a.py"), name="a2")
    made.result("c2", "done", "r2")
    made.answer(text("It is set up. Shall I commit?"), name="a3")
    return made


def test_a_typed_prompt_and_what_it_looks_back_on() -> None:
    made = talk()
    made.user("No, use uv here.", "u2", promptSource="typed", entrypoint="cli", **HUMAN)
    first, second = heard(made)
    assert (first.text, first.before, first.actions) == ("Set it up.", "", ())
    assert second.id == uid("u2")
    assert (second.agent, second.session, second.folder) == ("claude", SESSION, "/work/tide")
    assert second.time.startswith("2026-01-02T03:")
    assert second.before == "It is set up. Shall I commit?"
    assert second.actions == (Action("Bash", "pip install x"), Action("Edit", "/p/a.py"))
    assert (second.reliability, second.delivered) == ("typed", ())
    assert made.data[second.start : second.end] == made.lines[-1]


def test_list_content_with_an_image() -> None:
    made = Claude()
    made.user([text("<ide_opened_file>x</ide_opened_file>"), text("Make it blue."), image()], "u1")
    made.user([image()], "u2")
    made.user([text("[Image #1]"), image()], "u3")
    assert words(made) == ["Make it blue."]


NOT_PERSONS: list[Json] = [
    {"isMeta": True},
    {"isSidechain": True},
    {"isCompactSummary": True},
    {"isVisibleInTranscriptOnly": True},
    {"isVirtual": True},
    {"isSynthetic": True},
    {"planContent": "# Plan"},
    {"promptSource": "sdk", "entrypoint": "sdk-cli"},
    {"promptSource": "sdk"},
    {"promptSource": "system"},
    {"promptSource": "suggestion_accepted", **HUMAN},
    {"entrypoint": "sdk-py"},
    {"entrypoint": "claude-code-github-action"},
    {"origin": {"kind": "task-notification"}},
    {"origin": {"kind": "channel"}},
    {"origin": {"kind": "peer"}},
    {"origin": {"kind": "auto-continuation"}},
]


@pytest.mark.parametrize("marks", NOT_PERSONS, ids=str)
def test_marks_of_records_that_no_person_sent(marks: Json) -> None:
    made = Claude()
    made.user("Never use npm.", **marks)
    made.user("Hello.")
    assert words(made) == ["Hello."]


@pytest.mark.parametrize(
    "marks",
    [
        {},
        {"promptSource": "typed", "entrypoint": "cli", **HUMAN},
        {"promptSource": "queued", "entrypoint": "cli", **HUMAN},
        {"promptSource": "sdk", "entrypoint": "claude-desktop", **HUMAN},
        {"origin": None, "isMeta": False, "planContent": None},
    ],
    ids=str,
)
def test_marks_of_records_that_a_person_sent(marks: Json) -> None:
    made = Claude()
    made.user("Never use npm.", **marks)
    assert words(made) == ["Never use npm."]


def test_a_rejection_with_words() -> None:
    made = talk()
    made.answer(text("I commit."), call("c3", command="git commit"), name="a4")
    made.result("c3", SAID + "no commits, show me the diff" + NOTE, "r3")
    turn = heard(made)[-1]
    assert (turn.id, turn.text, turn.reliability) == (uid("r3"), "no commits, show me the diff", "rejected")
    assert turn.before == "I commit."
    assert turn.actions[-1] == Action("Bash", "git commit")


def test_two_rejections_in_one_record() -> None:
    made = Claude()
    made.answer(call("c1", command="one"), call("c2", command="two"), name="a1")
    made.user([result("c1", SAID + "not one"), result("c2", [text(SAID + "nor two")])], "r1")
    first, second = heard(made)
    assert [(turn.id, turn.text) for turn in (first, second)] == [
        (uid("r1"), "not one"),
        (uid("r1") + "-2", "nor two"),
    ]
    assert first.actions == (Action("Bash", "two"), Action("Bash", "one"))
    assert second.actions == (Action("Bash", "two"),)


@pytest.mark.parametrize(
    "content",
    [
        "the log says: " + "x" * 300 + SAID + "never do that",
        SAID + "The user wants to clarify these questions.\n    This means they may have …",
        "Permission to use Bash has been denied.",
    ],
)
def test_results_that_hold_no_words_of_a_person(content: str) -> None:
    made = talk()
    made.result("c9", content)
    made.user("Go on.")
    assert [turn.reliability for turn in heard(made)] == ["typed", "typed"]


def test_a_program_that_rejects_is_no_person() -> None:
    made = Claude()
    made.result("c1", SAID + "never do that", entrypoint="sdk-ts")
    assert heard(made) == []


@pytest.mark.parametrize("wordless", [True, False])
def test_the_first_words_after_an_interruption(wordless: bool) -> None:  # noqa: FBT001
    made = talk()
    made.answer(call("c3", command="git push"), name="a4")
    if wordless:
        made.result("c3", STOP + NOTE, toolUseResult="User rejected tool use")
    else:
        made.user([text("[Request interrupted by user for tool use]")])
    made.user("Don't push.")
    made.user("And tell me why.")
    assert [turn.reliability for turn in heard(made)] == ["typed", "interrupted", "typed"]


def test_words_that_go_with_an_allowed_call() -> None:
    made = Claude()
    made.answer(call("c1", command="touch a"))
    made.user([result("c1", "done"), text("and never touch b")], "r1")
    assert [(turn.id, turn.text, turn.reliability) for turn in heard(made)] == [
        (uid("r1"), "and never touch b", "typed")
    ]


QUESTION = {"question": "Which fruit?", "options": [{"label": "apple"}, {"label": "pear, ripe"}]}


def asked(answer: str, *, sidecar: bool = True, **more: Any) -> Claude:
    made = Claude()
    made.answer(text("I ask."), call("c1", "AskUserQuestion", questions=[QUESTION]))
    content = f'Your questions have been answered: "Which fruit?"="{answer}". You can now continue.'
    given = {"questions": [QUESTION], "answers": {"Which fruit?": answer}, **more}
    made.result("c1", content, "r1", toolUseResult=given if sidecar else None)
    return made


@pytest.mark.parametrize("sidecar", [True, False])
def test_an_answer_counts_where_it_was_typed(sidecar: bool) -> None:  # noqa: FBT001
    [turn] = heard(asked("neither, use plums", sidecar=sidecar))
    assert (turn.id, turn.text, turn.reliability) == (uid("r1"), "neither, use plums", "typed")
    assert turn.before == "I ask.\n\nWhich fruit?"
    assert turn.actions == (Action("AskUserQuestion"),)
    for picked in ("apple", "pear, ripe", "apple, pear, ripe", ""):
        assert words(asked(picked, sidecar=sidecar)) == []
    assert words(asked("apple, and plums", sidecar=sidecar)) == ["and plums"]


def test_notes_to_an_answer_are_typed() -> None:
    made = asked("apple", annotations={"Which fruit?": {"notes": "only green ones"}})
    assert words(made) == ["only green ones"]


def test_a_queued_prompt_taken_in_mid_turn() -> None:
    made = talk()
    made.attachment("queued_command", "q1", {"prompt": "mind the tests", "commandMode": "prompt", **HUMAN})
    machine = {"origin": {"kind": "task-notification"}}
    made.attachment("queued_command", "q2", {"prompt": "never", "commandMode": "task-notification"})
    made.attachment("queued_command", "q3", {"prompt": "never", "commandMode": "prompt", **machine})
    made.attachment("queued_command", "q4", {"prompt": "never", "isMeta": True})
    made.attachment("queued_command", "q5", {"prompt": "<task-notification>x</task-notification>"})
    made.attachment("queued_command", "q6", {"prompt": "/fruit apple", **HUMAN})
    made.attachment("queued_command", "q7", {"prompt": "never", **HUMAN}, entrypoint="sdk-cli")
    made.attachment("queued_command", "q8", {"prompt": [text("and these"), image()], **HUMAN})
    assert [(turn.id, turn.text) for turn in heard(made)][1:] == [
        (uid("q1"), "mind the tests"),
        (uid("q8"), "and these"),
    ]


def queue(made: Claude, operation: str, **more: Any) -> None:
    made.note("queue-operation", operation=operation, timestamp="2026-02-07T04:05:57.222Z", **more)


def test_before_attachments_a_queued_prompt_stands_only_in_the_queue() -> None:
    made = talk()
    queue(made, "enqueue", content='{"task_id":"a","description":"never"}')
    queue(made, "enqueue", content="it began with an e")
    queue(made, "remove")
    queue(made, "remove")
    made.answer(text("I see."))
    queue(made, "enqueue", content="taken back")
    queue(made, "popAll")
    queue(made, "enqueue", content="sent as a prompt")
    queue(made, "dequeue")
    made.user("sent as a prompt")
    made.answer(text("Yes."))
    turns = heard(made)
    assert [turn.text for turn in turns] == ["Set it up.", "it began with an e", "sent as a prompt"]
    assert turns[1].id.startswith("queue-")
    assert turns[1].before == "It is set up. Shall I commit?"
    assert turns[1].time == "2026-02-07T04:05:57.222Z"


def test_a_removed_prompt_with_a_record_is_heard_once() -> None:
    made = talk()
    queue(made, "enqueue", content="mind the tests")
    queue(made, "remove")
    made.attachment("queued_command", "q1", {"prompt": "mind the tests", **HUMAN})
    made.answer(text("I do."))
    assert [turn.id for turn in heard(made)] == [uid("u1"), uid("q1")]


def test_a_rewound_and_an_interrupted_prompt_asked_again_is_one() -> None:
    made = talk()
    made.user("use uv", "u2")
    made.answer(text("I beg"), name="a9")
    made.user([text("[Request interrupted by user]")], "i1")
    made.user("Use  uv", "u3")
    made.answer(text("With uv."), name="a10")
    made.user("use uv", "u4", parent="a3")
    made.answer(text("Yes."), name="a11")
    made.user("use npm", "u5", parent="a3")
    assert [turn.id for turn in heard(made)] == [uid("u1"), uid("u2"), uid("u5")]


def test_a_rewind_looks_back_from_its_parent() -> None:
    made = talk()
    made.user("use uv", "u2")
    made.answer(text("With uv now."), call("c9", command="uv sync"))
    made.user("use npm", "u3", parent="a3")
    turn = heard(made)[-1]
    assert turn.before == "It is set up. Shall I commit?"
    assert turn.actions == (Action("Bash", "pip install x"), Action("Edit", "/p/a.py"))


def test_an_answer_that_was_written_before_its_prompt() -> None:
    made = Claude()
    made.answer(text("Hi."), name="a1", parent="u1")
    made.user("Hello.", "u1", parent=None)
    made.user("And now?", "u2", parent="a1")
    assert [(turn.text, turn.before) for turn in heard(made)] == [("Hello.", ""), ("And now?", "Hi.")]


def test_an_error_of_the_client_is_no_text_of_the_agent() -> None:
    made = talk()
    made.answer(text("API Error: 500"), isApiErrorMessage=True)
    made.answer(text("No response requested."), model="<synthetic>")
    made.user("Go on.")
    assert heard(made)[-1].before == "It is set up. Shall I commit?"


def test_delivered_rules_until_the_context_ends() -> None:
    made = Claude()
    made.attachment("hook_additional_context", payload={"content": [BUNDLE], "hookEvent": "SessionStart"})
    made.user("One.")
    made.attachment("hook_additional_context", payload={"content": ["not ours"], "hookEvent": "SessionStart"})
    made.user(BUNDLE.replace(RULE, "Do not use npm."))
    made.user("Two.")
    leaf = made.leaf
    made.compact()
    made.user("Three.")
    turns = heard(made)
    assert [(turn.text, turn.delivered) for turn in turns] == [
        ("One.", (RULE,)),
        ("Two.", (RULE, "Do not use npm.")),
        ("Three.", ()),
    ]
    assert leaf is not None


def test_a_boundary_looks_back_to_what_was_on_the_screen() -> None:
    made = talk()
    made.add("system", "b", None, subtype="compact_boundary", logicalParentUuid=uid("a3"))
    made.user("SUMMARY", "s", isCompactSummary=True)
    made.user("Yes, commit.", "u2")
    assert heard(made)[-1].before == "It is set up. Shall I commit?"


def test_resumed_and_forked_copies_share_their_ids() -> None:
    first = talk()
    second = Claude(lines=list(first.lines), leaf=first.leaf, clock=first.clock)
    second.user("No, use uv here.", "u2")
    third = Claude(lines=[x.replace(SESSION.encode(), b"9" * 36) for x in second.lines], leaf=second.leaf)
    third.user("And pin it.", "u3", at=9_000.0)
    ids = [[turn.id for turn in heard(made)] for made in (first, second, third)]
    assert ids == [[uid("u1")], [uid("u1"), uid("u2")], [uid("u1"), uid("u2"), uid("u3")]]
    echoes = [[turn.echo for turn in heard(made)] for made in (first, second, third)]
    assert echoes[2][:2] == echoes[1]


def test_a_record_that_is_copied_within_its_file_is_heard_once() -> None:
    made = talk()
    assert len(heard(made.data + made.data)) == 1


ODD: dict[str, bytes] = {
    "torn": b'{"parentUuid":"x","type":"user","mess',
    "nul": b"\0" * 700,
    "null": b"null",
    "list": b'[{"type":"user"}]',
    "no type": b'{"uuid":"x","message":{"content":"never"}}',
    "deep": b'{"type":"user","uuid":"d","message":{"content":' + b"[" * 5_000 + b"]" * 5_000 + b"}}",
    "foreign content": b'{"type":"user","uuid":"f","message":{"role":"user","content":7}}',
    "foreign message": b'{"type":"user","uuid":"f","message":[1]}',
    "foreign part": b'{"type":"user","uuid":"f","message":{"content":[7,{"type":"text","text":{}}]}}',
    "foreign attachment": b'{"type":"attachment","uuid":"f","attachment":["queued_command"]}',
    "foreign queue": b'{"type":"queue-operation","operation":"enqueue","content":{}}',
    "latin": '{"type":"user","uuid":"l","message":"ä"}'.encode("latin-1"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_line_costs_no_other_turn(name: str) -> None:
    made = talk()
    made.raw(ODD[name])
    made.user("No, use uv here.", "u2")
    assert words(made) == ["Set it up.", "No, use uv here."]


def test_two_objects_on_a_line_and_a_glued_one_are_heard() -> None:
    made = Claude()
    made.user("One.", "u1")
    made.user("Two.", "u2")
    one, two = made.lines
    assert words(one + two + b"\n") == ["One.", "Two."]
    assert words(one[:50] + two + b"\n") == ["Two."]
    assert words(b"\0" * 9 + one + b"\r\n") == ["One."]


def test_half_an_emoji_costs_one_character() -> None:
    line = encode({"type": "user", "uuid": "u", "message": {"role": "user", "content": "never X npm"}})
    assert words(line.replace(b"X", rb"\ud83c")) == ["never ? npm"]
    part = {"type": "user", "uuid": "u", "message": {"role": "user", "content": [text("never X npm")]}}
    assert words(encode(part).replace(b"X", rb"\ud83c")) == ["never ? npm"]


def test_one_foreign_part_costs_only_itself() -> None:
    made = Claude()
    made.user([{"type": "text", "text": "Hello."}, {"type": "tool_use", "id": None}], "u1")
    assert words(made) == ["Hello."]


def test_a_line_of_13_megabytes() -> None:
    made = talk()
    made.result("c9", "x" * 13_000_000)
    made.user("Short, please.")
    assert words(made)[-1] == "Short, please."


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 12), st.sampled_from([b"\0\0", b"\n", b"{", b'"', b"\xff", b"\\ud83c", b"}{"])
        ),
        max_size=6,
    ),
    st.integers(0, 3_000),
)
def test_damage_never_stops_the_hearing(places: list[tuple[int, bytes]], cut: int) -> None:
    made = talk()
    made.user("No, use uv here.", "u2")
    data = bytearray(made.data)
    for place, junk in places:
        at = place * len(data) // 13
        data[at : at + len(junk)] = junk
    whole = bytes(data[:cut] + b"\n") + made.data
    assert words(whole)[-1] == "No, use uv here."


def test_places_are_forgotten_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coffer.agents.claude_turns._MOST_PLACES", 8)
    made = talk()
    for number in range(30):
        made.user(f"Prompt {number}.", f"p{number}", parent=PARENT)
        made.answer(text(f"Answer {number}."))
    turns = heard(made)
    assert len(turns) == 31
    assert turns[-1].before == "Answer 28."
