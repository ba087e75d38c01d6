"""Whether a reload would end at the newest message: captured files, every captured instant, and drawn ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coffer.core.chain import live_branch
from coffer.core.inflight import conversation
from coffer.core.left_out import LeftOut, left_out, pointer
from coffer.work.sessions.read import opened
from tests.transcripts import LARGE, SESSION, Claude, call, name_of, read, text

FIXTURES = Path(__file__).parents[1] / "fixtures"
CAPTURED = FIXTURES / "left_out"
"""Of Claude Code 2.1.197. first-turn: on a busy machine. behind-the-pointer: `/resume`, a rewind, one more turn.
beside-the-pointer: several calls at once, one of which the client names, then a turn that is at work."""
HARNESS = sorted(path for path in (FIXTURES / "harness").iterdir() if (path / "transcript.jsonl").is_file())
MISSED = {"prompt-queued": True}
"""Instants in which a reload would leave something out → cut: a first turn whose prompt came behind its answer."""


def missed(data: bytes, size: int = 0) -> LeftOut | None:
    return left_out(read(data, size=size))


def mended(data: bytes, size: int = 0) -> bytes:
    found = missed(data, size)
    assert found is not None
    return data + pointer(found, SESSION)


@pytest.mark.parametrize("folder", HARNESS, ids=lambda folder: folder.name)
def test_every_captured_instant(folder: Path) -> None:
    found = missed((folder / "transcript.jsonl").read_bytes())
    assert (None if found is None else found.cut) == MISSED.get(folder.name)


def test_there_are_instants_of_rewinds_and_of_prompts_put_back() -> None:
    names = {folder.name for folder in HARNESS}
    assert {"rewound", "rewound-and-gone-on", "prompt-put-back", "resumed", "compacted"} <= names


@pytest.mark.parametrize(
    ("name", "cut", "said"),
    [
        ("first-turn", True, "Greeted apple."),
        ("behind-the-pointer", False, "Greeted plum."),
        ("beside-the-pointer", False, "until [ -e"),
    ],
)
def test_captured_files_are_found_out_and_mended(name: str, said: str, *, cut: bool) -> None:
    data = (CAPTURED / f"{name}.jsonl").read_bytes()
    found = missed(data)
    assert found is not None
    assert found.cut == cut
    assert said.encode() in data[found.newest.start : found.newest.end]
    after = mended(data)
    assert missed(after) is None
    leaf = live_branch(read(after)).leaf
    assert leaf is not None
    assert leaf.uuid == found.newest.uuid


def test_a_call_that_waits_is_seen_where_a_reload_would_end_elsewhere() -> None:
    """The gate named no tool for as long as it ran."""
    path = CAPTURED / "beside-the-pointer.jsonl"
    with opened(path) as session:
        found = conversation(session.transcript, session.line)
    assert [call.tool for call in found.open] == ["Bash"]
    assert found.left_out


# --- drawn


def _begun() -> Claude:
    made = Claude()
    made.user("question", "u1")
    made.answer(text("answer"), name="a1")
    made.user("and", "u2")
    made.answer(text("more"), name="a2")
    return made


def _rewound(made: Claude) -> None:
    made.user("instead", "u3", parent="a1")
    made.answer(text("other"), name="a3")


def _rewound_to_the_start(made: Claude) -> None:
    made.user("anew", "u3", parent=None)
    made.answer(text("other"), name="a3")


def _interrupted(made: Claude) -> None:
    made.user("left alone", "u3")


def _side_leaf(made: Claude) -> None:
    """An attachment of a hook hangs beside the chain, and is not the last record."""
    made.answer(call("c1"), name="t")
    made.attachment("hook_success", "h")
    made.result("c1", name="r1", parent="t")
    made.answer(text("done"), name="e")


def _parallel(made: Claude) -> None:
    made.answer(call("c1"), call("c2"), name="t")
    made.result("c1", name="r1", parent="ta")
    made.result("c2", name="r2", parent="tb")


def _appended_by_another(made: Claude) -> None:
    """What another program put into the file, and the client went on from its memory."""
    made.user("a stranger's", "s1")
    made.user("next", "u3", parent="a2")
    made.answer(text("done"), name="a3")


def _stranger_at_the_end(made: Claude) -> None:
    """Appended with an old time, beside the branch that the pointer names."""
    made.last_prompt("a2")
    made.user("a stranger's", "s1", parent="a1", at=1)


def _clock_set_back(made: Claude) -> None:
    made.user("instead", "u3", parent="a1", at=-3600)
    made.answer(text("other"), name="a3")


def _named_by_the_client(made: Claude) -> None:
    """A rewind that the client tells: nothing is missing, since it is what the person wants."""
    made.last_prompt("a1", explicit=True, rewound=True)


def _cleared(made: Claude) -> None:
    made.last_prompt(None, explicit=True)


def _subagent(made: Claude) -> None:
    made.last_prompt("a2")
    made.user("to a subagent", "s1", parent="u1", isSidechain=True)


def _compacted(made: Claude) -> None:
    made.compact()
    made.user("on", "u3")


SHOWN = [
    _rewound,
    _rewound_to_the_start,
    _interrupted,
    _side_leaf,
    _parallel,
    _appended_by_another,
    _stranger_at_the_end,
    _clock_set_back,
    _named_by_the_client,
    _cleared,
    _subagent,
    _compacted,
]


@pytest.mark.parametrize("size", [0, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("add", SHOWN, ids=lambda add: add.__name__.strip("_"))
def test_nothing_is_missing(add: Callable[[Claude], None], size: int) -> None:
    made = _begun()
    add(made)
    assert missed(made.data, size) is None


def _answer_first(made: Claude) -> None:
    made.answer(text("early"), name="a3", parent="u3", at=1000)
    made.user("late", "u3", parent="a2", at=900)


def _answer_first_and_pointed(made: Claude) -> None:
    _answer_first(made)
    made.last_prompt("u3")


def _hook_last(made: Claude) -> None:
    """The last line is an attachment of the prompt."""
    _answer_first(made)
    made.attachment("hook_success", "h", at=900)


def _rewound_behind_the_pointer(made: Claude) -> None:
    made.last_prompt("a2")
    _rewound(made)


def _twice_behind_the_pointer(made: Claude) -> None:
    _rewound_behind_the_pointer(made)
    made.user("again", "u4", parent="u1")
    made.answer(text("at last"), name="a4")


@pytest.mark.parametrize("size", [0, LARGE], ids=["small", "large"])
@pytest.mark.parametrize(
    ("add", "newest", "cut"),
    [
        (_answer_first, "a3", True),
        (_answer_first_and_pointed, "a3", True),
        (_hook_last, "a3", True),
        (_rewound_behind_the_pointer, "a3", False),
        (_twice_behind_the_pointer, "a4", False),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_what_is_missing_is_named_and_mended(
    add: Callable[[Claude], None], newest: str, size: int, *, cut: bool
) -> None:
    made = _begun()
    add(made)
    found = missed(made.data, size)
    assert found is not None
    assert (name_of(found.newest.uuid), found.cut) == (newest, cut)
    assert missed(mended(made.data, size), size) is None


def test_no_pointer_where_a_parent_is_missing() -> None:
    """A reload would show the newest message and lose all that came before."""
    made = _begun()
    made.last_prompt("a2")
    made.user("on", "u3", parent="gone")
    assert missed(made.data) is not None
    assert mended(made.data) == made.data
