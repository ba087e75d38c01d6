"""Following a transcript by its new bytes: whatever is appended, cut or replaced, no person's word is passed over."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from coffer.disk.follow import Followed, follow, peek

PERSON = b'{"type":"user","message":{"role":"user","content":"never push"}}\n'
RETURNED = b'{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]}}\n'
REFUSED = (
    b'{"type":"user","message":{"content":[{"type":"tool_result","content":"The user doesn\'t want to proceed with '
    b'this tool use. The user said: no"}]}}\n'
)
QUEUED = b'{"type":"attachment","attachment":{"type":"queued_command","prompt":"no"}}\n'
OTHER = b'{"type":"assistant","message":{"content":[{"type":"text","text":"done"}]}}\n'
CODEX = b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage"}}}\n'


def test_whose_lines_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for line, person in ((PERSON, True), (RETURNED, False), (REFUSED, True), (QUEUED, True), (OTHER, False)):
        path.write_bytes(OTHER)
        before, _ = follow("claude", path, None)
        with path.open("ab") as file:
            file.write(line)
        _, growth = follow("claude", path, before)
        assert (growth.grew, growth.person) == (True, person)
    path.write_bytes(CODEX)
    assert follow("codex", path, None)[1].person


def test_what_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    assert follow("claude", path, None)[1].exists is False
    assert peek(path) is None
    (tmp_path / "folder.jsonl").mkdir()
    assert follow("claude", tmp_path / "folder.jsonl", None)[1].exists is False
    path.write_bytes(PERSON)
    (tmp_path / "link.jsonl").symlink_to(path)
    assert follow("claude", tmp_path / "link.jsonl", None)[1].exists is False
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert follow("claude", tmp_path / "pipe.jsonl", None)[1].exists is False


def test_a_line_without_an_end_that_grows_beyond_all_measure(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(OTHER + b"x" * (9 << 20))
    after, growth = follow("claude", path, None)
    assert growth.person
    assert after is not None
    assert after.offset > 8 << 20


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(st.sampled_from([PERSON, RETURNED, OTHER]), max_size=4)),
        st.tuples(st.just("torn"), st.just([PERSON])),
        st.tuples(st.just("replace"), st.lists(st.sampled_from([PERSON, OTHER]), max_size=3)),
        st.tuples(st.just("cut"), st.just([])),
        st.tuples(st.just("look"), st.just([])),
    ),
    max_size=14,
)


@settings(max_examples=120, deadline=None)
@given(STEPS)
def test_no_persons_word_is_passed_over(steps: list[tuple[str, list[bytes]]]) -> None:
    """A whole line of a person's that came since the last look makes this look say so; nothing new says nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        path.write_bytes(OTHER)
        state: Followed | None
        state, _ = follow("claude", path, None)
        owed = torn = False
        looked = path.read_bytes()
        for kind, lines in steps:
            if kind == "append":
                with path.open("ab") as file:
                    file.write(b"".join(lines))
                owed = owed or PERSON in lines
                owed, torn = owed or (torn and bool(lines)), torn and not lines
            elif kind == "torn":
                with path.open("ab") as file:
                    file.write(PERSON[:-1])
                torn = True
            elif kind == "replace":
                new = path.with_suffix(".new")
                new.write_bytes(b"".join(lines))
                new.replace(path)
                owed, torn = PERSON in lines, False
            elif kind == "cut":
                os.truncate(path, 0)
                owed = torn = False
            else:
                if path.read_bytes() == looked:
                    owed = False  # cut and written again as it was: every word in it was seen
                looked = path.read_bytes()
                state, growth = follow("claude", path, state)
                assert growth.exists
                assert growth.person or not owed
                owed = False
                again, growth = follow("claude", path, state)
                assert (again, growth.grew, growth.person) == (state, False, False)
