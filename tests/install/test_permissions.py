"""`mcp__coffer` in permissions.allow."""

from __future__ import annotations

import json

import pytest

from coffer.agents.claude_permissions import Allowed, allow, forbid
from coffer.core.json_edit import JsonRefused

TEXTS = [
    "",
    " \n",
    "\ufeff",
    "{}",
    "{ }\n",
    '{"permissions": {}}',
    '{\n  "permissions": {\n  }\n}\n',
    '{"permissions":{"allow":[]}}',
    '{\n\t"permissions": {\n\t\t"allow": [\n\t\t]\n\t}\n}\n',
    '{\r\n  "permissions": {\r\n    "allow": ["Bash"],\r\n    "deny": []\r\n  },\r\n  "model": "opus"\r\n}',
    '{\n  "permissions": {"allow": ["Bash", "Read"]}\n}\n',
    '{\n  "model": "opus"\n}\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_forbid_undoes_allow_byte_for_byte(text: str) -> None:
    after, done = allow(text)
    assert after is not None
    assert json.loads(after.lstrip("\ufeff"))["permissions"]["allow"][-1] == "mcp__coffer"
    assert allow(after) == (after, Allowed())
    assert forbid(after, [done]) == text


def test_no_file() -> None:
    after, done = allow(None)
    assert forbid(after, [done]) is None
    assert forbid(None, [done]) is None


def test_what_others_add_stays_and_what_they_wrote_is_theirs() -> None:
    after, done = allow("{}")
    assert after is not None
    grown = after.replace('"mcp__coffer"', '"mcp__coffer", "Bash"')
    assert json.loads(forbid(grown, [done]) or "") == {"permissions": {"allow": ["Bash"]}}
    assert forbid(after, []) == after


@pytest.mark.parametrize("text", ["[]", '{"permissions": []}', '{"permissions": {"allow": {}}}', "{'a': 1}"])
def test_what_is_not_sound_is_refused(text: str) -> None:
    with pytest.raises(JsonRefused):
        allow(text)
