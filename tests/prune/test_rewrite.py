"""Carrying out a plan: what is not touched keeps its bytes, whatever they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coffer.core.plan import Cut, Drop, Strip, Stub, Trim, Worth
from coffer.core.rewrite import encode, rewrite
from coffer.core.stub import stub_line
from tests.prune.generate import REMINDER, begun, rich, words
from tests.prune.world import plan_of, proposed, pruned, put, records_of, rewritten, side
from tests.transcripts import call, image, read, result, text, thinking, uid


@pytest.mark.parametrize("prescription", ["gentle", "standard", "aggressive"])
def test_lines_that_nothing_happens_to_are_carried_in_their_order(tmp_path: Path, prescription: str) -> None:
    talk = rich()
    talk.made.raw(b'{"type":"queue-operation",  "content" : "odd   spacing", "half":"\\ud83c"}')
    talk.made.raw(b"[]")
    talk.made.raw(b'{"type":"queue-operation","content":"torn')
    path = put(tmp_path, talk.data + b'{"type":"summary","n":1.0,"m":1E5}\n')
    after, proposal, _ = pruned(path, prescription)
    with proposed(path, prescription) as again:
        work = rewrite(again.session.transcript, proposal.plan)
        touched = {record.start for record in again.session.transcript.records if work.touches(record)}
    wanted, at = [], 0
    for line in path.read_bytes().splitlines(keepends=True):
        if at not in touched:
            wanted.append(line)
        at += len(line)
    assert touched
    rest = iter(after.splitlines(keepends=True))
    assert all(line in rest for line in wanted)


@pytest.mark.parametrize("prescription", ["gentle", "standard", "aggressive"])
def test_pruning_twice_is_pruning_once(tmp_path: Path, prescription: str) -> None:
    once, _, _ = pruned(put(tmp_path, rich().data), prescription)
    twice, proposal, _ = pruned(put(tmp_path, once, "again"), prescription)
    assert proposal.plan.is_empty
    assert twice == once


def test_pruning_twice_is_pruning_once_with_wide_characters(tmp_path: Path) -> None:
    talk = begun()
    talk.say(words(60_000))
    talk.bash("cat emoji", "🎈" * 4_000, "wide")
    talk.fill(8)
    talk.end()
    once, _, _ = pruned(put(tmp_path, talk.data))
    twice, proposal, _ = pruned(put(tmp_path, once, "again"))
    assert proposal.plan.is_empty
    assert twice == once


def test_at_the_limit_the_next_prune_goes_on(tmp_path: Path) -> None:
    """The loss limit is one prune's: what it left out the next one may take."""
    talk = begun()
    for number in range(120):
        talk.bash(f"make {number}", words(1_000, f"{number}"))
    talk.end()
    once, first, _ = pruned(put(tmp_path, talk.data))
    _, second, _ = pruned(put(tmp_path, once, "again"))
    assert 0 < len(second.plan.actions) < len(first.plan.actions)


def test_a_plan_of_nothing_changes_nothing(tmp_path: Path) -> None:
    talk = begun()
    talk.end()
    path = put(tmp_path, talk.data)
    after, proposal, written = pruned(path)
    assert proposal.plan.is_empty
    assert after == path.read_bytes()
    assert written.size == len(after)


def test_there_is_always_a_final_newline(tmp_path: Path) -> None:
    data = rich().data.rstrip(b"\n")
    after, _, _ = pruned(put(tmp_path, data))
    assert after.endswith(b"\n")
    after, _, _ = pruned(put(tmp_path, data + b'\n{"type":"torn', "torn"))
    assert after.endswith(b'{"type":"torn\n')


def test_children_of_the_dropped_hang_on_the_nearest_survivor() -> None:
    talk = begun()
    talk.made.progress("p1")
    talk.made.progress("p2")
    talk.say("child", "child")
    talk.made.add("attachment", "beside", "p2", attachment={"type": "todo"})
    talk.made.progress("p3", parent="p1")
    transcript, names = records_of(talk)
    plan = plan_of(Drop(names["p1"], Worth.NOTHING), Drop(names["p2"], Worth.NOTHING))
    work = rewrite(transcript, plan)
    assert work.removed == {uid("p1"): uid("first"), uid("p2"): uid("first")}
    after = [json.loads(line) for line in rewritten(talk.data, plan).splitlines()]
    parents = {record["uuid"].split("-")[0]: record["parentUuid"] for record in after}
    assert parents["child"] == parents["beside"] == parents["p3"] == uid("first")


def test_a_root_that_goes_leaves_roots() -> None:
    talk = begun()
    talk.say("child", "child")
    _, names = records_of(talk)
    after = json.loads(rewritten(talk.data, plan_of(Drop(names["first"], Worth.NOTHING))))
    assert after["parentUuid"] is None


def test_a_circle_of_dropped_records_ends() -> None:
    talk = begun()
    talk.made.add("system", "a", "b")
    talk.made.add("system", "b", "a")
    talk.say("child", "child")
    _, names = records_of(talk)
    plan = plan_of(Drop(names["a"], Worth.NOTHING), Drop(names["b"], Worth.NOTHING))
    assert json.loads(rewritten(talk.data, plan).splitlines()[-1])["parentUuid"] is None


def test_a_record_whose_uuid_stands_twice_keeps_its_children() -> None:
    talk = begun()
    talk.say("one", "twin")
    talk.made.raw(talk.made.lines[-1])
    talk.say("child", "child")
    transcript = read(talk.made)
    plan = plan_of(Drop(transcript.records[1], Worth.NOTHING))
    assert rewritten(talk.data, plan).splitlines()[-1] == talk.made.lines[-1]


def test_only_the_bytes_of_the_parent_change() -> None:
    talk = begun()
    talk.made.progress("p")
    talk.say('says "parentUuid":"x" and \ud83c', "child")
    _, names = records_of(talk)
    after = rewritten(talk.data, plan_of(Drop(names["p"], Worth.NOTHING))).splitlines()[-1]
    before = talk.made.lines[-1]
    assert after == before.replace(uid("p").encode(), uid("first").encode(), 1)


def test_a_parent_in_an_unusual_spelling_is_changed_too() -> None:
    talk = begun()
    talk.made.progress("p")
    talk.say("child", "child")
    talk.made.lines[-1] = json.dumps(json.loads(talk.made.lines[-1]), indent=None).encode()
    _, names = records_of(talk)
    after = json.loads(rewritten(talk.data, plan_of(Drop(names["p"], Worth.NOTHING))).splitlines()[-1])
    assert after == {**json.loads(talk.made.lines[-1]), "parentUuid": uid("first")}


def test_a_parent_that_a_tool_result_repeats_is_not_mistaken() -> None:
    talk = begun()
    talk.made.progress("p")
    talk.use("Read", "x", "r", side={})
    record = json.loads(talk.made.lines[-2]) | {"toolUseResult": {"parentUuid": uid("p")}}
    inner = json.dumps(record.pop("toolUseResult"), separators=(",", ":"))
    talk.made.lines[-2] = (json.dumps(record)[:-1] + f', "toolUseResult":{inner}}}').encode()
    _, names = records_of(talk)
    after = json.loads(rewritten(talk.data, plan_of(Drop(names["p"], Worth.NOTHING))).splitlines()[1])
    assert after["parentUuid"] == uid("first")


def test_windows_line_ends_stay_on_untouched_lines(tmp_path: Path) -> None:
    talk = rich()
    path = put(tmp_path, talk.data.replace(b"\n", b"\r\n"))
    after, _, _ = pruned(path)
    before = set(path.read_bytes().splitlines(keepends=True))
    kept = [line for line in after.splitlines(keepends=True) if line in before]
    assert len(kept) > 40
    assert after.count(b"\n\n") == after.count(b"\n\r\n") == 0


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param("half \ud83c"),
        pytest.param("\udc00"),
        "nul \x00",
        "\u2028",
        "🎈",
    ],
    ids=ascii,
)
def test_edits_beside_odd_characters_keep_them(odd: str) -> None:
    talk = begun()
    content = [result("c1", words(3_000)), text(odd)]
    talk.made.answer(call("c1", "Read", file_path="/w/a"))
    talk.made.user(content, "both", toolUseResult={"x": odd})
    talk.end()
    escaped = json.dumps(json.loads(talk.made.lines[2]), separators=(",", ":")).encode()
    talk.made.lines[2] = escaped
    _, names = records_of(talk)
    stub = Stub(names["both"], 0, Worth.STALE, "Read /w/a")
    after = json.loads(rewritten(talk.data, plan_of(stub)).splitlines()[2])
    assert after["message"]["content"][1] == text(odd)
    assert after["toolUseResult"] == {"x": odd}
    assert "toolUseResult" not in json.loads(
        rewritten(talk.data, plan_of(stub, Trim(names["both"]))).splitlines()[2]
    )


def test_a_stub_of_odd_characters_keeps_what_was_there() -> None:
    talk = begun()
    odd = "half \ud83c " * 300
    talk.bash("cat", odd, "odd")
    talk.made.lines[-1] = json.dumps(json.loads(talk.made.lines[-1])).encode()
    transcript, names = records_of(talk)
    work = rewrite(transcript, plan_of(Stub(names["oddr"], 0, Worth.STALE, "n", keep=(20, 9))))
    record = names["oddr"]
    line = work.line(record, talk.data[record.start : record.end])
    assert line is not None
    shown = json.loads(line)["message"]["content"][0]["content"]
    assert shown.startswith(odd[:20])
    assert shown.endswith(odd[-9:])
    (piece,) = work.pieces
    assert json.loads(piece.content) == odd


def test_cuts_and_stubs_in_one_record_keep_their_places() -> None:
    talk = begun()
    blocks = [
        thinking(),
        text("stays"),
        thinking("b"),
        call("c", "Write", file_path="/w/a", content=words(900)),
    ]
    talk.made.add("assistant", "a", message={"id": "m", "role": "assistant", "content": blocks})
    _, names = records_of(talk)
    plan = plan_of(
        Cut(names["a"], 0, Worth.STALE),
        Stub(names["a"], 3, Worth.STALE, "Write /w/a"),
        Cut(names["a"], 2, Worth.STALE),
    )
    after = json.loads(rewritten(talk.data, plan).splitlines()[-1])["message"]["content"]
    assert [block["type"] for block in after] == ["text", "tool_use"]
    assert after[1]["input"]["file_path"] == "/w/a"
    assert after[1]["input"]["content"].startswith("[coffer: Write /w/a, ")


def test_a_stub_of_a_call_keeps_its_path() -> None:
    talk = begun()
    path = "/w/" + "deep/" * 60 + "a.py"
    talk.made.answer(call("c", "Write", file_path=path, content=words(900)), name="a")
    _, names = records_of(talk)
    after = rewritten(talk.data, plan_of(Stub(names["a"], 0, Worth.STALE, "Write")))
    assert json.loads(after.splitlines()[-1])["message"]["content"][0]["input"]["file_path"] == path


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("text" + REMINDER, "text"),
        (REMINDER, "(reminder)"),
        (
            "a <system-reminder>\nfirst\n</system-reminder>\nb" + REMINDER,
            "a <system-reminder>\nfirst\n</system-reminder>\nb",
        ),
    ],
)
def test_a_strip_takes_the_last_reminder_only(content: str, wanted: str) -> None:
    talk = begun()
    talk.read(name="r", content=content)
    _, names = records_of(talk)
    after = json.loads(rewritten(talk.data, plan_of(Strip(names["rr"], 0))).splitlines()[-1])
    assert after["message"]["content"][0]["content"] == wanted


def test_a_plain_text_can_become_a_stub() -> None:
    talk = begun()
    talk.ask(words(2_000), "note", isMeta=True)
    _, names = records_of(talk)
    after = json.loads(
        rewritten(talk.data, plan_of(Stub(names["note"], 0, Worth.STALE, "n"))).splitlines()[-1]
    )
    assert after["message"]["content"].startswith("[coffer: n, 2.1 KB, removed; coffer restore ")


def test_a_result_of_images_becomes_one_line_and_is_kept() -> None:
    talk = begun()
    talk.use("Read", [image("Q" * 400), text("caption")], "im", file_path="/w/a.png")
    transcript, names = records_of(talk)
    work = rewrite(transcript, plan_of(Stub(names["imr"], 0, Worth.STALE, "Read /w/a.png")))
    record = names["imr"]
    line = work.line(record, talk.data[record.start : record.end])
    assert line is not None
    assert isinstance(json.loads(line)["message"]["content"][0]["content"], str)
    assert json.loads(work.pieces[0].content)[0]["source"]["data"] == "Q" * 400


def test_a_stub_line_is_short_and_says_how_to_get_it_back() -> None:
    assert (
        stub_line("Read a", 12_345, "3f9ac1d2")
        == "[coffer: Read a, 12.3 KB, removed; coffer restore 3f9ac1d2]"
    )
    assert stub_line("Read a", 999, "x").count("999 B") == 1


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"a": "é"}, '{"a":"é"}'.encode()),
        ({"a": "\ud83c"}, b'{"a":"\\ud83c"}'),
        ({"a": "\udcff"}, b'{"a":"\xff"}'),
    ],
    ids=["text", "half a pair", "a byte that is no UTF-8"],
)
def test_json_as_the_client_writes_it(value: object, wanted: bytes) -> None:
    assert encode(value) == wanted


def test_the_view_after_a_prune_is_read_from_the_file_itself(tmp_path: Path) -> None:
    after, proposal, _ = pruned(put(tmp_path, rich().data))
    items = side(after).view.items
    assert len(items) < len(proposal.scene.view.items)


@pytest.mark.parametrize("odd", [{"type": "text"}, {"type": "text", "text": 7}], ids=["no text", "a number"])
def test_a_long_result_with_a_part_that_has_no_text(tmp_path: Path, odd: dict[str, object]) -> None:
    talk = begun()
    talk.say(words(60_000))
    talk.bash("make", [text(words(9_000)), odd], "long")
    talk.fill(6)
    talk.end()
    _, proposal, _ = pruned(put(tmp_path, talk.data))
    assert proposal.plan.left_out == {}


def test_a_long_result_keeps_its_beginning_whatever_its_script(tmp_path: Path) -> None:
    talk = begun()
    talk.say(words(60_000))
    talk.bash("cat", "🎈" * 1_550, "wide")
    talk.fill(6)
    talk.end()
    after, _, _ = pruned(put(tmp_path, talk.data))
    assert "🎈".encode() in after
