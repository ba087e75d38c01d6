"""The live branch: which records a resume loads. What must not change it stands first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coffer.core.chain import Branch, live_branch, seconds
from tests.lab.mutations import Damage
from tests.transcripts import LARGE, Claude, call, encode, name_of, names, read, text, thinking, time, uid

BOTH = pytest.mark.parametrize("size", [0, LARGE], ids=["small", "large"])


def branch(source: Claude, size: int = 0) -> Branch:
    return live_branch(read(source, size=size))


def live(source: Claude, size: int = 0) -> list[str]:
    return names(branch(source, size).records)


def talk(turns: int = 2) -> Claude:
    """u1 → a1 → u2 → a2 …"""
    made = Claude()
    for turn in range(1, turns + 1):
        made.user(f"question {turn}", f"u{turn}")
        made.answer(text(f"answer {turn}"), name=f"a{turn}")
    return made


TALK = ["u1", "a1", "u2", "a2"]


def _snapshots(made: Claude) -> None:
    made.snapshot("u2")  # its messageId is the uuid of the next record: no record of its own


def _side_branch(made: Claude) -> None:
    made.last_prompt("a2")
    made.user("beside", "x1", parent="a1")


def _subagent(made: Claude) -> None:
    made.user("inside", "s1", parent=None, isSidechain=True)
    made.answer(text("inside"), name="s2", isSidechain=True)


def _title(made: Claude) -> None:
    made.note("ai-title", aiTitle="a title")
    made.note("summary", summary="a title", leafUuid=uid("a1"))


def _junk(made: Claude) -> None:
    for line in (b"\0" * 300, b"{torn", b"[]", b'"x"'):
        made.raw(line)


def _unknown(made: Claude) -> None:
    made.note("pr-link", uuid=uid("z"), parentUuid=uid("a2"), prNumber=1)


def _pointer_to_nothing(made: Claude) -> None:
    made.last_prompt("gone")


def _pointer_without_leaf(made: Claude) -> None:
    made.last_prompt(None)


def _pointer_above(made: Claude) -> None:
    made.last_prompt("a1")


def _orphan_progress(made: Claude) -> None:
    made.progress("p1", parent="a2")


NO_CHANGE = [
    _snapshots,
    _side_branch,
    _subagent,
    _title,
    _junk,
    _unknown,
    _pointer_to_nothing,
    _pointer_without_leaf,
    _pointer_above,
    _orphan_progress,
]


@BOTH
@pytest.mark.parametrize("add", NO_CHANGE, ids=lambda add: add.__name__)
def test_what_does_not_move_the_live_branch(add: Callable[[Claude], None], size: int) -> None:
    made = talk()
    add(made)
    assert live(made, size) == TALK


@BOTH
def test_file_order_is_not_chain_order(size: int) -> None:
    made = talk()
    made.lines.reverse()
    made.last_prompt("a2")
    assert live(made, size) == TALK


# --- the leaf


@BOTH
@pytest.mark.parametrize(
    ("leaf", "fields", "expected"),
    [
        pytest.param("x1", {}, ["u1", "a1", "x1"], id="the pointer names another branch"),
        pytest.param("a1", {"explicit": True}, ["u1", "a1"], id="explicit: not even a descendant"),
        pytest.param("a1", {"explicit": True, "rewound": True}, ["u1", "a1"], id="rewound"),
        pytest.param(None, {"explicit": True}, [], id="cleared"),
    ],
)
def test_where_the_last_prompt_says_the_session_stood(
    leaf: str | None, fields: dict[str, bool], expected: list[str], size: int
) -> None:
    made = Claude()
    made.user("question", "u1")
    made.answer(text("answer"), name="a1")
    made.user("dead", "x1")
    made.user("asked again", "u2", parent="a1")
    made.answer(text("answer 2"), name="a2")
    made.last_prompt(leaf, **fields)
    assert live(made, size) == expected


def test_a_word_after_an_explicit_pointer_ends_it() -> None:
    made = talk()
    made.last_prompt("a1", explicit=True, rewound=True)
    made.user("on", "u3", parent="a2")
    assert live(made) == [*TALK, "u3"]


def test_a_word_after_a_clear_starts_anew() -> None:
    made = talk()
    made.last_prompt(None, explicit=True)
    made.user("new", "n1", parent=None)
    assert live(made) == ["n1"]


def test_where_a_rewind_ended_is_kept_for_the_request() -> None:
    made = talk()
    made.last_prompt("u2", explicit=True, rewound=True)
    assert name_of(branch(made).rewound_to) == "u2"
    made.user("on", "u3", parent="u2")
    assert branch(made).rewound_to == ""


def test_the_pointer_is_repeated_without_explicit() -> None:
    # the client repeats last-prompt when it exits, without the flag of the first
    made = talk()
    made.last_prompt("a1", explicit=True)
    made.last_prompt("a1")
    assert live(made) == ["u1", "a1"]


def test_a_pointer_at_an_attachment_means_the_message_above_it() -> None:
    made = talk()
    made.attachment("hook_success", "h1")
    made.last_prompt("h1")
    assert live(made) == [*TALK, "h1"]


def test_a_session_of_subagent_records_only_has_no_leaf() -> None:
    made = Claude()
    made.user("inside", "s1", isSidechain=True)
    assert branch(made).leaf is None


def test_of_many_leaves_only_the_live_one_counts() -> None:
    # 375 leaves in one file; a resume that anchors on a stale one compounds
    made = talk(1)
    for number in range(375):
        made.user(f"try {number}", f"t{number}", parent="a1")
    assert live(made) == ["u1", "a1", "t374"]


# --- missing parents


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (0.0, ["u1", "a1", "u2"]),
        (5.0, ["u1", "a1", "u2"]),
        (5.001, ["u2"]),
        (-0.001, ["u2"]),
        (60.0, ["u2"]),
    ],
)
@BOTH
def test_a_missing_parent_is_bridged_over_five_seconds(age: float, expected: list[str], size: int) -> None:
    made = Claude()
    made.user("question", "u1", at=0)
    made.answer(text("answer"), name="a1", at=100)
    made.user("on", "u2", parent="gone", at=100 + age)
    found = branch(made, size)
    assert names(found.records) == expected
    (gap,) = found.gaps
    assert (gap.child.uuid, gap.missing, gap.bridged is None) == (uid("u2"), uid("gone"), expected == ["u2"])


def test_the_bridge_takes_the_closest_and_never_a_subagents_record() -> None:
    made = Claude()
    made.user("far", "u1", at=100)
    made.user("near", "u2", parent=None, at=102)
    made.user("inside", "s1", parent=None, at=102.9, isSidechain=True)
    made.user("on", "u3", parent="gone", at=103)
    assert live(made) == ["u2", "u3"]


def test_a_record_without_a_time_is_not_bridged() -> None:
    made = talk(1)
    made.user("on", "u2", parent="gone", timestamp="yesterday")
    made.answer(text("yes"), name="a2")
    assert live(made) == ["u2", "a2"]


def test_a_leaf_without_a_time_is_no_leaf() -> None:
    # the client compares the times of the possible leaves, and none is greater than nothing
    made = talk(1)
    made.user("on", "u2", timestamp="yesterday")
    assert live(made) == []


def test_ten_missing_parents_are_ten_gaps() -> None:
    made = Claude()
    for number in range(10):
        made.user("on", f"u{number}", parent=f"gone{number}", at=number)
    found = branch(made)
    assert names(found.records) == [f"u{number}" for number in range(10)]
    assert len(found.gaps) == 10
    assert found.gaps[-1].bridged is None


def test_the_first_prompt_after_a_compaction_may_lack_its_parent() -> None:
    made = talk()
    made.compact()
    made.user("on", "u3", parent="gone")
    assert live(made) == ["u3"]


# --- circles


@BOTH
def test_a_circle_of_parents_ends(size: int) -> None:
    made = Claude()
    made.user("one", "u1", parent="u3")
    made.user("two", "u2", parent="u1")
    made.user("three", "u3", parent="u2")
    found = branch(made, size)
    assert found.cycle
    assert names(found.records) == ["u1", "u2", "u3"]


@BOTH
def test_a_record_that_is_its_own_parent_ends(size: int) -> None:
    made = Claude()
    made.user("one", "u1", parent="u1")
    found = branch(made, size)
    assert found.cycle
    assert names(found.records) == ["u1"]


def test_a_circle_of_progress_records_ends() -> None:
    made = Claude()
    made.progress("p1", parent="p2")
    made.progress("p2", parent="p1")
    made.user("one", "u1", parent="p2")
    made.answer(text("two"), name="a1")
    assert live(made)[-1] == "a1"


# --- compaction


@BOTH
def test_a_compaction_leaves_its_summary(size: int) -> None:
    made = talk()
    made.compact()
    made.user("on", "u3")
    assert live(made, size) == ["b", "bs", "u3"]


@BOTH
def test_preserved_messages_move_behind_the_summary(size: int) -> None:
    made = talk(3)
    made.compact(preservedMessages={"anchorUuid": uid("bs"), "uuids": [uid("u3"), uid("a3")]})
    made.user("on", "u4")
    found = branch(made, size)
    assert names(found.records) == ["b", "bs", "u3", "a3", "u4"]
    assert name_of(found.kept) == "a3"


@BOTH
def test_a_preserved_segment_moves_behind_the_summary(size: int) -> None:
    made = talk(3)
    segment = {"headUuid": uid("a2"), "anchorUuid": uid("bs"), "tailUuid": uid("a3")}
    made.compact(preservedSegment=segment)
    made.user("on", "u4")
    assert live(made, size) == ["b", "bs", "a2", "u3", "a3", "u4"]


def test_only_the_last_compaction_counts() -> None:
    made = talk(2)
    made.compact(name="b", preservedMessages={"anchorUuid": uid("bs"), "uuids": [uid("a2")]})
    made.user("on", "u3")
    made.answer(text("yes"), name="a3")
    made.compact(name="c", preservedMessages={"anchorUuid": uid("cs"), "uuids": [uid("u3"), uid("a3")]})
    assert live(made) == ["c", "cs", "u3", "a3"]


def test_a_later_compaction_that_preserves_nothing_drops_all() -> None:
    made = talk(2)
    made.compact(name="b", preservedMessages={"anchorUuid": uid("bs"), "uuids": [uid("a2")]})
    made.compact(name="c")
    assert live(made) == ["c", "cs"]


@BOTH
def test_a_preserved_message_that_is_missing_keeps_the_summary_alone(size: int) -> None:
    made = talk(2)
    made.compact(preservedMessages={"anchorUuid": uid("bs"), "uuids": [uid("gone"), uid("a2")]})
    found = branch(made, size)
    assert names(found.records) == ["b", "bs"]
    assert found.broken == (uid("gone"),)
    assert found.kept == ""


def test_a_segment_whose_head_is_not_above_its_tail_keeps_the_summary_alone() -> None:
    made = talk(2)
    made.compact(preservedSegment={"headUuid": uid("gone"), "anchorUuid": uid("bs"), "tailUuid": uid("a2")})
    assert live(made) == ["b", "bs"]


def test_a_segment_in_a_circle_ends() -> None:
    made = Claude()
    made.user("one", "u1", parent="u2")
    made.user("two", "u2")
    made.compact(preservedSegment={"headUuid": uid("x"), "anchorUuid": uid("bs"), "tailUuid": uid("u2")})
    assert live(made) == ["b", "bs"]


# --- progress


@BOTH
def test_progress_is_bridged_out_of_the_chain(size: int) -> None:
    # 80 % of a session was lost where a progress record was the parent of an answer
    made = Claude()
    made.user("question", "u1")
    made.progress("p1")
    made.progress("p2")
    made.answer(text("answer"), name="a1")
    assert live(made, size) == ["u1", "a1"]


# --- what hangs beside the chain


def test_blocks_of_one_message_and_results_of_parallel_calls_are_gathered() -> None:
    made = Claude()
    made.user("question", "u1")
    made.answer(thinking(), call("c1"), call("c2"), name="a", message="m1")
    made.result("c1", name="r1", parent="ab")
    made.result("c2", name="r2", parent="ac")
    made.answer(text("done"), name="e", parent="r2")
    assert live(made) == ["u1", "aa", "ab", "ac", "r1", "r2", "e"]


def test_a_sibling_that_is_no_parent_of_the_rest_is_gathered() -> None:
    made = Claude()
    made.user("question", "u1")
    made.answer(call("c1"), name="a1", message="m1")
    made.answer(call("c2"), name="a2", message="m1", parent="u1")
    made.result("c1", name="r1", parent="a1")
    made.answer(text("done"), name="e", parent="r1")
    made.result("c2", name="r2", parent="a2")
    made.last_prompt("e")
    assert live(made) == ["u1", "a1", "a2", "r2", "r1", "e"]


def test_above_5_mib_results_beside_the_chain_are_lost() -> None:
    # the client streams such a file and reads only the chain of its last record
    made = Claude()
    made.user("question", "u1")
    made.answer(call("c1"), call("c2"), name="a", message="m1")
    made.result("c1", name="r1", parent="aa")
    made.result("c2", name="r2", parent="ab")
    made.answer(text("done"), name="e", parent="r2")
    assert live(made) == ["u1", "aa", "ab", "r1", "r2", "e"]
    assert live(made, LARGE) == ["u1", "aa", "ab", "r2", "e"]


def test_above_5_mib_a_missing_parent_makes_the_client_read_all() -> None:
    made = Claude()
    made.user("question", "u1", parent="gone")
    made.answer(call("c1"), call("c2"), name="a", message="m1")
    made.result("c1", name="r1", parent="aa")
    made.result("c2", name="r2", parent="ab")
    made.answer(text("done"), name="e", parent="r2")
    assert live(made, LARGE) == ["u1", "aa", "ab", "r1", "r2", "e"]


def test_above_5_mib_a_torn_record_still_links_its_neighbours() -> None:
    made = talk(2)
    made.lines[1] = made.lines[1][: made.lines[1].index(b'"cwd"')]
    made.last_prompt("a2")
    assert live(made) == ["u2", "a2"]
    assert branch(made, LARGE).gaps[0].bridged is None


def test_records_that_trail_behind_the_leaf_come_along() -> None:
    made = talk(1)
    made.attachment("hook_success", "h1", parent="a1")
    made.attachment("hook_success", "h2", parent="a1")
    made.attachment("hook_success", "h3", parent="h1")
    assert live(made) == ["u1", "a1", "h1", "h2", "h3"]


def test_a_uuid_that_stands_twice_is_one_record() -> None:
    made = talk(1)
    made.lines.append(made.lines[0].replace(b"question 1", b"question!"))
    made.last_prompt("a1")
    assert live(made) == ["u1", "a1"]


def test_two_files_that_share_their_history_show_it_once_each() -> None:
    # a resumed session's file holds the whole history of the first
    first = talk(1)
    second = Claude(lines=list(first.lines), leaf=first.leaf, clock=first.clock)
    second.user("on", "u2")
    assert live(second) == [*live(first), "u2"]


@pytest.mark.parametrize("size", [0, LARGE], ids=["small", "large"])
def test_no_damage_makes_the_walk_fail_or_repeat(size: int) -> None:
    made = talk(8)
    made.compact(preservedMessages={"anchorUuid": uid("bs"), "uuids": [uid("u8"), uid("a8")]})
    made.user("on", "u9")
    made.answer(call("c1"), call("c2"), name="a", message="m1")
    made.result("c1", name="r1", parent="aa")
    for seed in range(300):
        damage = Damage(made.data, seed)
        walked = [record.uuid for record in live_branch(read(damage.data, size=size)).records]
        assert len(walked) == len(set(walked)), damage.names


@pytest.mark.parametrize("said", ["", "yesterday", "2026-13-01T00:00:00Z", "9999999999", "0000-01-01"])
def test_a_time_that_is_none(said: str) -> None:
    assert seconds(said) is None


def test_a_chain_of_20_000_records_needs_no_deep_stack() -> None:
    made = Claude()
    for number in range(20_000):
        made.raw(
            encode(
                {
                    "type": "user",
                    "uuid": f"u{number}",
                    "parentUuid": f"u{number - 1}" if number else None,
                    "timestamp": time(0),
                    "message": {"role": "user", "content": "x"},
                }
            )
        )
    assert len(branch(made).records) == 20_000
