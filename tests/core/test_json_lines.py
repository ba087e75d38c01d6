"""Lines in any state: what becomes a record, what an oddity, and that no byte is lost between them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coffer.agents.table import CLAUDE, CODEX, Agent
from coffer.core.json_lines import FOREIGN, GARBAGE, GLUED, NUL, NULL, SECOND, TORN, Oddity
from coffer.core.record import ALWAYS, LARGE_FILES, NEVER, SMALL_FILES, Record
from tests.effort import examples
from tests.lab.mutations import MUTATIONS, Damage
from tests.transcripts import uid

CORPUS = Path(__file__).parents[1] / "corpus"
SMALL = sorted(
    path
    for path in CORPUS.glob("*/*.jsonl")
    if path.stat().st_size < 30_000 and "session_index" not in path.name
)

WHOLE = b'{"type":"user","uuid":"u1","parentUuid":"p1","message":{"role":"user","content":"hi"}}'
OTHER = b'{"type":"assistant","uuid":"u2"}'
SPACE = b" \t\r\n\xef\xbb\xbf"
"""What may stand outside every span: white space, and the byte order mark."""


def translate(line: bytes, agent: Agent = CLAUDE) -> list[Record | Oddity]:
    found = agent.translate(line, 100)
    return [item for item in found if not (isinstance(item, Record) and item.nested >= 0)]


def seen(line: bytes, agent: Agent = CLAUDE) -> list[tuple[str, bytes]]:
    """What a line is made of: (type or oddity, the bytes of its span)."""
    return [
        (item.type if isinstance(item, Record) else item.kind, line[item.start - 100 : item.end - 100])
        for item in translate(line, agent)
    ]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(WHOLE, id="as written"),
        pytest.param(b'{"parentUuid": "p1", "uuid": "u1", "type": "user"}', id="Python's separators"),
        pytest.param(b'{"type":"user","uuid":"u1","parentUuid":"p1","x":"a\xe2\x80\xa8b"}', id="U+2028"),
        pytest.param(b'{"type":"user","uuid":"u1","parentUuid":"p1","x":"\xf0\x9f\x98\x80"}', id="emoji"),
        pytest.param(b'{"type":"user","uuid":"u1","parentUuid":"p1","x":"\\ud83c"}', id="half, escaped"),
        pytest.param(b'{"type":"user","uuid":"u1","parentUuid":"p1","x":"\xed\xa0\xbc"}', id="half, raw"),
        pytest.param(b'{"type":"user","uuid":"u1","parentUuid":"p1","x":"\xff\xfe"}', id="no UTF-8"),
        pytest.param(b'{"type":"user","uuid":"u1","parentUuid":"p1","x":"\\u0000"}', id="NUL, escaped"),
        pytest.param(b'{"type":"user","uuid":"u0","uuid":"u1","parentUuid":"p1"}', id="a key twice"),
        pytest.param(
            b'{"type":"user","uuid":"u1","parentUuid":"p1","x":' + b"9" * 400 + b"}", id="long number"
        ),
    ],
)
def test_a_whole_record_stays_whole(line: bytes) -> None:
    (record,) = translate(line)
    assert isinstance(record, Record)
    assert (record.start, record.end, record.read) == (100, 100 + len(line), ALWAYS)
    assert (record.type, record.uuid, record.parent) == ("user", "u1", "p1")


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        pytest.param(b"\0" * 512, [(NUL, b"\0" * 512)], id="NUL line"),
        pytest.param(b"\0 \0\r", [(NUL, b"\0 \0\r")], id="NUL and spaces"),
        pytest.param(b"\0\0" + WHOLE, [(NUL, b"\0\0"), ("user", WHOLE)], id="NUL prefix"),
        pytest.param(WHOLE[:40], [(TORN, WHOLE[:40])], id="torn"),
        pytest.param(WHOLE[:40] + OTHER, [(GLUED, WHOLE[:40] + OTHER)], id="glued"),
        pytest.param(WHOLE + OTHER, [("user", WHOLE), (SECOND, OTHER)], id="two objects"),
        pytest.param(WHOLE + b" " + OTHER, [("user", WHOLE), (SECOND, OTHER)], id="two objects, a space"),
        pytest.param(WHOLE + OTHER[:12], [("user", WHOLE), (GARBAGE, OTHER[:12])], id="second one torn"),
        pytest.param(WHOLE + b" }]x", [("user", WHOLE), (GARBAGE, b"}]x")], id="garbage after"),
        pytest.param(b"garbage", [(GARBAGE, b"garbage")], id="garbage"),
        pytest.param(b"\xff\xfe\x00\x01", [(GARBAGE, b"\xff\xfe\x00\x01")], id="binary"),
        pytest.param(b"null", [(NULL, b"null")], id="null"),
        pytest.param(b" null\r", [(NULL, b"null")], id="null, spaces"),
        pytest.param(b"[]", [(FOREIGN, b"[]")], id="a list"),
        pytest.param(b'"x"', [(FOREIGN, b'"x"')], id="a text"),
        pytest.param(b"12", [(FOREIGN, b"12")], id="a number"),
        pytest.param(b'{"a":1}', [(FOREIGN, b'{"a":1}')], id="an object without type"),
        pytest.param(b'{"type":7}', [(FOREIGN, b'{"type":7}')], id="a type that is no text"),
        pytest.param(b"\xef\xbb\xbf" + WHOLE, [("user", WHOLE)], id="byte order mark"),
        pytest.param(b'{"type":"x","n":NaN}', [(TORN, b'{"type":"x","n":NaN}')], id="NaN is no JSON"),
        pytest.param(b'{"type":"x","n":Infinity}', [(TORN, b'{"type":"x","n":Infinity}')], id="Infinity"),
        pytest.param(b'{"type":"x","n":"\x01"}', [(TORN, b'{"type":"x","n":"\x01"}')], id="raw control"),
        pytest.param(b"", [], id="empty"),
        pytest.param(b" \t\r", [], id="white space"),
    ],
)
@pytest.mark.parametrize("agent", [CLAUDE, CODEX], ids=["claude", "codex"])
def test_an_odd_line_costs_only_itself(line: bytes, parts: list[tuple[str, bytes]], agent: Agent) -> None:
    assert seen(line, agent) == parts


def test_a_carriage_return_belongs_to_no_oddity() -> None:
    # CRLF files would otherwise be reported as broken from the first line to the last
    (record,) = translate(WHOLE + b"\r")
    assert isinstance(record, Record)
    assert record.read == ALWAYS


@pytest.mark.parametrize(
    ("line", "read"),
    [(b"\0\0" + WHOLE, LARGE_FILES), (WHOLE + OTHER, SMALL_FILES), (WHOLE, ALWAYS)],
)
def test_which_files_the_client_reads_such_a_record_in(line: bytes, read: int) -> None:
    record = next(item for item in translate(line) if isinstance(item, Record))
    assert record.read == read


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"response_item","payload":{"type":"message","role":"user","content":"\\ud83c"}}',
        b'{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"\\ud83c"}}',
        b"\0" + b'{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}',
        b'{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}} x',
    ],
)
def test_codex_skips_a_line_that_is_odd_anywhere(line: bytes) -> None:
    record = next(item for item in translate(line, CODEX) if isinstance(item, Record))
    assert record.read == NEVER


@pytest.mark.parametrize("field", [b"output", b"arguments", b"name", b"junk"])
@pytest.mark.parametrize("value", [b'"\xff"', b'"\\ud83c"', b"5", b"null", b'{"a":[1]}', b"[null]"])
def test_codex_survives_any_field_of_any_shape(field: bytes, value: bytes) -> None:
    for kind in (b"function_call", b"function_call_output", b"message", b"reasoning", b"other"):
        line = b'{"type":"response_item","payload":{"type":"%s","call_id":"c","%s":%s}}' % (
            kind,
            field,
            value,
        )
        (record,) = translate(line, CODEX)
        assert isinstance(record, Record)


def test_the_glued_record_can_be_found_again() -> None:
    # killed in mid-write, the next append was glued on: the second record is whole
    line = b'{"type":"pr-link","prNu' + WHOLE
    (oddity,) = translate(line)
    assert isinstance(oddity, Oddity)
    assert line[oddity.rescue - 100 : oddity.end - 100] == WHOLE


def test_a_torn_record_still_says_what_it_linked() -> None:
    # above 5 MiB the client follows parents by these bytes
    line = f'{{"parentUuid":"{uid("p")}","type":"user","uuid":"{uid("u")}","timestamp":"2026'.encode()
    (oddity,) = translate(line)
    assert isinstance(oddity, Oddity)
    assert (oddity.kind, oddity.uuid, oddity.parent) == (TORN, uid("u"), uid("p"))


FOREIGN_SHAPES = ["5", "true", "[1]", '{"a":1}', '"x"', "null", "-1.5", "1e999", "[" * 50 + "]" * 50]
FIELDS = [
    "uuid",
    "parentUuid",
    "timestamp",
    "isSidechain",
    "isMeta",
    "message",
    "attachment",
    "toolUseResult",
    "content",
    "compactMetadata",
    "leafUuid",
    "customTitle",
    "messageId",
    "retractedMessageUuids",
    "replacements",
    "origin",
    "subtype",
]


@pytest.mark.parametrize("shape", FOREIGN_SHAPES)
@pytest.mark.parametrize("kind", ["user", "assistant", "system", "attachment", "last-prompt", "ai-title"])
def test_a_field_of_a_foreign_shape_costs_only_itself(shape: str, kind: str) -> None:
    for field in FIELDS:
        other = "parentUuid" if field == "uuid" else "uuid"
        line = f'{{"type":"{kind}","{other}":"{uid("k")}","{field}":{shape}}}'.encode()
        (record,) = translate(line)
        assert isinstance(record, Record)
        assert uid("k") in (record.uuid, record.parent), field


@pytest.mark.parametrize("shape", ["1e999", "-1e999", "9" * 5000, "0." + "1" * 5000])
def test_a_number_that_python_cannot_hold_costs_nothing(shape: str) -> None:
    # a second oddity on the line sends it through Python's parser, which knows less of numbers
    line = f'{{"type":"user","uuid":"{uid("k")}","isMeta":5,"x":{shape}}}'.encode()
    (record,) = translate(line)
    assert isinstance(record, Record)
    assert record.uuid == uid("k")


@pytest.mark.parametrize("depth", [100, 500, *range(850, 1_000, 6), 1_100, 3_000, 20_000])
@pytest.mark.parametrize("pair", ['{"a":|}', "[|]"], ids=["objects", "lists"])
@pytest.mark.parametrize("odd", ["", '"isMeta":5,'], ids=["", "with a foreign field"])
def test_nesting_beyond_any_parser_keeps_the_chain(depth: int, pair: str, odd: str) -> None:
    opening, closing = pair.split("|")
    nested = opening * depth + "1" + closing * depth
    for field in ("toolUseResult", "attachment", "message", "unknown"):
        kind = "attachment" if field == "attachment" else "user"
        line = f'{{"type":"{kind}","uuid":"u1",{odd}"parentUuid":"p1","{field}":{nested}}}'.encode()
        (record,) = translate(line)
        assert isinstance(record, Record)
        assert (record.uuid, record.parent, record.end) == ("u1", "p1", 100 + len(line))


@pytest.mark.parametrize("depth", [300, 450, 600, *range(850, 1_000, 10), 3_000])
def test_nesting_in_the_texts_of_an_attachment_keeps_the_chain(depth: int) -> None:
    nested = "[" * depth + '"x"' + "]" * depth
    said = f'{{"type":"hook_additional_context","hookEvent":"SessionStart","content":{nested}}}'
    line = f'{{"type":"attachment","uuid":"u1","parentUuid":"p1","attachment":{said}}}'.encode()
    (record,) = translate(line)
    assert isinstance(record, Record)
    assert (record.uuid, record.parent) == ("u1", "p1")


@pytest.mark.parametrize("depth", [*range(850, 1_000, 6), 3_000])
def test_nesting_in_a_codex_line_ends_in_no_error(depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    line = f'{{"type":"response_item","payload":{{"type":"message","role":"user","x":{nested}}}}}'.encode()
    assert seen(line, CODEX) == [("response_item", line)]


def test_a_line_of_13_megabytes() -> None:
    content = json.dumps("x" * 13_000_000)
    line = f'{{"type":"user","uuid":"u1","message":{{"role":"user","content":{content}}}}}'.encode()
    (record,) = translate(line)
    assert isinstance(record, Record)
    assert record.blocks[0].size == 13_000_000
    assert seen(line[:-1]) == [(TORN, line[:-1])]


def spans_hold(data: bytes, agent: Agent) -> None:
    """No error, spans in order, apart and in range; outside them only white space; records carried whole."""
    at = end = 0
    for line in data.split(b"\n"):
        for item in agent.translate(line, at):
            if isinstance(item, Record) and item.nested >= 0:
                continue  # an item of a compaction's history: it has its line's span
            assert end <= item.start < item.end <= at + len(line)
            assert not data[end : item.start].strip(SPACE)
            end = item.end
            if isinstance(item, Record):
                said = data[item.start : item.end].strip(b" \t\r")
                assert said.startswith(b"{")
                assert said.endswith(b"}")
        at += len(line) + 1
    assert not data[end:].strip(SPACE)


AGENTS = st.sampled_from([CLAUDE, CODEX])
PIECES = st.one_of(
    st.binary(max_size=8),
    st.sampled_from(
        [
            *(
                WHOLE,
                OTHER,
                b"\n",
                b"\r\n",
                b"\0\0",
                b"null",
                b"[]",
                b'"',
                b"\\",
                b"{",
                b"}",
                b'{"type":"x"}',
            ),
            *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\\ud83c", b"NaN", b'{"type":"user","uuid":5}', b" ", b","),
            *(
                b'{"type":"response_item","payload":{"type":"message","content":"\xff"}}',
                b"\xc2\xa0",
                b"\x0b",
            ),
        ]
    ),
)


@settings(max_examples=examples(150, 400), deadline=None)
@given(st.lists(PIECES, max_size=12), AGENTS)
def test_no_bytes_are_lost_in_any_mixture(pieces: list[bytes], agent: Agent) -> None:
    spans_hold(b"".join(pieces), agent)


@settings(max_examples=examples(120, 300), deadline=None)
@given(st.binary(max_size=200), AGENTS)
def test_no_bytes_are_lost_in_random_bytes(data: bytes, agent: Agent) -> None:
    spans_hold(data, agent)


def damaged(path: Path, seed: int) -> bytes:
    """A real transcript with records swapped, torn and glued, and bytes of it flipped, cut and doubled."""
    draw = random.Random(seed)
    data = bytearray(path.read_bytes())
    if seed % 2 and path.parent.name == "claude":
        data = bytearray(Damage(bytes(data), seed).data)
    for _ in range(draw.randint(0, 12)):
        at = draw.randrange(len(data))
        match draw.randrange(4):
            case 0:
                data[at] = draw.choice(b'\0\n"\\{}[],:\xff \x80')
            case 1:
                del data[at : at + draw.choice([1, 3, 200])]
            case 2:
                data[at:at] = data[at : at + draw.choice([1, 40, 400])]
            case _:
                data[at:at] = bytes(draw.choice([1, 300]))
    return bytes(data)


@pytest.mark.parametrize("path", SMALL, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_bytes_are_lost_in_damaged_transcripts(path: Path) -> None:
    for seed in range(12):
        spans_hold(damaged(path, seed), CLAUDE if path.parent.name == "claude" else CODEX)


def test_each_kind_of_damage_ends_in_no_error() -> None:
    data = SMALL[0].read_bytes()
    assert len(MUTATIONS) > 20
    for seed in range(60):
        spans_hold(Damage(data, seed).data, CLAUDE)


@settings(max_examples=examples(120, 300), deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=3)), max_size=3))
def test_the_fast_parser_takes_nothing_that_is_no_json(changes: list[tuple[int, bytes]]) -> None:
    # a line that the client skips must not stand in a view because our parser is more patient
    line = bytearray(WHOLE)
    for at, put in changes:
        line[at : at + 1] = put.replace(b"\n", b"")
    found = translate(bytes(line))
    if len(found) == 1 and isinstance(found[0], Record) and found[0].read == ALWAYS:
        said = bytes(line)[found[0].start - 100 : found[0].end - 100]
        assert isinstance(json.loads(said.decode("utf-8", "replace")), dict)
