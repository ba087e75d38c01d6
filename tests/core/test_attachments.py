"""Which texts of an attachment reach the model."""

from __future__ import annotations

import pytest

from coffer.core.attachments import PAYLOADS, SILENT, SPOKEN_HOOK_EVENTS, WORDED, is_known, is_silent, texts
from tests.transcripts import Json

ODD: list[Json] = [
    {},
    {"content": None},
    {"content": 5},
    {"content": {"file": 5}},
    {"content": [None, 5, [["x"]], {"a": {"b": "y"}}]},
    {"prompt": 5},
    {"prompt": [None, 5, {"text": 5}, {"text": "x"}]},
    {"files": "x", "skills": {"a": 1}, "memories": [5], "response": []},
]


def test_no_type_is_in_two_tables() -> None:
    assert not SILENT & PAYLOADS.keys()
    assert not SILENT & WORDED
    assert not WORDED & PAYLOADS.keys()


@pytest.mark.parametrize("kind", [*sorted(SILENT | WORDED | PAYLOADS.keys()), "brand_new", ""])
def test_no_payload_ends_in_an_error(kind: str) -> None:
    for payload in ODD:
        said = texts(kind, payload)
        assert all(isinstance(text, str) and text for text in said)
        assert isinstance(is_silent(kind, payload), bool)


@pytest.mark.parametrize(
    ("kind", "payload", "said"),
    [
        ("file", {"filename": "/a", "content": {"file": {"content": "text"}}}, ["/a", "text"]),
        ("hook_additional_context", {"content": ["one", "two"]}, ["one", "two"]),
        ("hook_success", {"content": "x"}, ["x"]),
        ("queued_command", {"prompt": "now"}, ["now"]),
        ("queued_command", {"prompt": [{"type": "text", "text": "now"}, {"type": "image"}]}, ["now"]),
        ("nested_memory", {"content": {"path": "/a", "content": "text"}}, ["text"]),
        ("task_reminder", {"content": [{"subject": "one", "id": 1}, {"subject": "two"}]}, ["one", "two"]),
        ("async_hook_response", {"response": {"hookSpecificOutput": {"additionalContext": "x"}}}, ["x"]),
        ("brand_new", {"content": "x"}, []),
    ],
)
def test_the_texts_of_a_payload(kind: str, payload: Json, said: list[str]) -> None:
    assert texts(kind, payload) == said


@pytest.mark.parametrize(
    ("kind", "payload", "silent"),
    [
        *((kind, {"content": "x"}, True) for kind in sorted(SILENT)),
        *(
            ("hook_success", {"hookEvent": event, "content": "x"}, False)
            for event in sorted(SPOKEN_HOOK_EVENTS)
        ),
        ("hook_success", {"hookEvent": "PostToolUse", "content": "x"}, True),
        ("hook_success", {"hookEvent": "SessionStart", "content": ""}, True),
        ("hook_success", {"content": "x"}, True),
        ("hook_additional_context", {"content": []}, True),
        ("hook_additional_context", {"content": ["x"]}, False),
        ("skill_listing", {"content": ""}, True),
        ("plan_mode", {}, False),
        ("brand_new", {}, False),
    ],
)
def test_what_leaves_no_word(kind: str, payload: Json, silent: bool) -> None:  # noqa: FBT001
    assert is_silent(kind, payload) is silent


def test_an_unknown_type_is_known_to_be_unknown() -> None:
    assert is_known("file")
    assert is_known("todo")
    assert is_known("plan_mode")
    assert not is_known("brand_new")
