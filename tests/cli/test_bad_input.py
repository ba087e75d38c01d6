"""Bad input: each its own sentence and exit code, no traceback, no change."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.cli.run import COMMAND, Machine, claude_project, conversation, put
from tests.transcripts import SESSION, Claude, Codex, call, encode, store, text, usage

COMMANDS = ("show", "view", "check")
EVERY = pytest.mark.parametrize("command", COMMANDS)


def make(machine: Machine) -> None:
    """All kinds of files that are no transcript, in the working folder."""
    folder = machine.folder
    (folder / "empty.jsonl").touch()
    (folder / "blank.jsonl").write_bytes(b"\n\n  \n")
    (folder / "zeros.jsonl").write_bytes(b"\0" * 5_000)
    (folder / "binary.jsonl").write_bytes(bytes(random.Random(1).randbytes(5_000)))
    (folder / "image.jsonl").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 100)
    (folder / "text.jsonl").write_text("Dear diary,\n")
    (folder / "foreign.jsonl").write_text('{"name":"coffer"}\n{"event":"x","type":"click"}\n')
    (folder / "list.jsonl").write_text('[{"type":"user","sessionId":"x"}]\n')
    (folder / "values.jsonl").write_text('null\n"x"\n[]\n5\n')
    (folder / "deep.jsonl").write_text("[" * 100_000 + "\n")
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    (folder / "nowhere.jsonl").symlink_to(folder / "gone")
    (folder / "broken.jsonl.zst").write_bytes(b"no zstd")


ERRORS = [
    ("./gone.jsonl", 5, "There is no file at"),
    ("nowhere.jsonl", 5, "There is no file at"),
    ("empty.jsonl", 6, "is empty"),
    ("empty.jsonl/x.jsonl", 7, "not a directory"),
    ("loop.jsonl", 7, "can't be read"),
    ("x" * 300 + ".jsonl", 7, "too long"),
    ("broken.jsonl.zst", 7, "compression is broken"),
    ("blank.jsonl", 8, "no transcript"),
    ("zeros.jsonl", 8, "it is binary"),
    ("binary.jsonl", 8, "it is binary"),
    ("image.jsonl", 8, "it is binary"),
    ("text.jsonl", 8, "no JSON lines"),
    ("foreign.jsonl", 8, "no record of theirs"),
    ("list.jsonl", 8, "no record of theirs"),
    ("values.jsonl", 8, "no transcript"),
    ("deep.jsonl", 8, "no transcript"),
    ("folder.jsonl", 9, "is a folder"),
    (".", 9, "is a folder"),
    ("/", 9, "is a folder"),
    ("pipe.jsonl", 9, "is a pipe"),
    ("/dev/null", 9, "is a device"),
    ("nobody", 3, "No session is named"),
]


ONE_OF_EACH = ("./gone.jsonl", "empty.jsonl", "loop.jsonl", "text.jsonl", "folder.jsonl", "nobody")


@EVERY
def test_each_kind_of_bad_input(machine: Machine, command: str) -> None:
    make(machine)
    for name, code, words in ERRORS:
        if command != "show" and name not in ONE_OF_EACH:
            continue  # the commands open a session by the same function
        done = machine.run(command, name)
        assert (done.code, done.out) == (code, ""), (name, done)
        assert words in done.err, (name, done)
        assert done.err.startswith("coffer: "), (name, done)
        assert done.err.count("\n") == 1, (name, done)


def test_an_empty_name_fits_several_sessions(machine: Machine) -> None:
    done = machine.run("show", "")
    assert (done.code, "fits 2 sessions" in done.err) == (4, True)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read(machine: Machine) -> None:
    path = put(machine, conversation(), "closed")
    path.chmod(0)
    try:
        done = machine.run("show", "./closed.jsonl")
    finally:
        path.chmod(0o600)
    assert done.code == 7


def test_an_ambiguous_name_lists_what_it_fits(machine: Machine) -> None:
    for number in range(8):
        put(machine, conversation(), f"abc-{number}")
    done = machine.run("show", "abc")
    assert done.code == 4
    assert "fits 8 sessions" in done.err
    assert "and 3 more" in done.err


def _nest(depth: int) -> str:
    return '[{"a":' * (depth // 2) + '"x"' + "}]" * (depth // 2)


def _with_input(value: str) -> list[bytes]:
    made = conversation()
    made.answer(call("deep", "Bash", command="DEEP"), counts=usage(60_000))
    made.result("deep")
    made.answer(text("done"), counts=usage(61_000))
    made.last_prompt(made.add("user", "end", message={"role": "user", "content": "end"}))
    return [line.replace(b'"DEEP"', value.encode()) for line in made.lines]


def _with_attachment(value: str) -> list[bytes]:
    made = conversation()
    made.attachment("file", payload={"filename": "/a", "content": "DEEP"})
    return [line.replace(b'"DEEP"', value.encode()) for line in made.lines]


def _cycle() -> bytes:
    made = Claude()
    made.user("one", "u1", parent="u2")
    made.user("two", "u2", parent="u1")
    return made.data


def _rollout() -> bytes:
    made = Codex()
    made.meta()
    made.message("user", "question")
    return made.data


def _codex_shapes() -> bytes:
    kinds = (
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "x",
        5,
        None,
    )
    shapes: tuple[object, ...] = (5, "x", None, [], [None], {"a": 1}, [{"type": "input_text", "text": 5}])
    lines = []
    for kind in kinds:
        for shape in shapes:
            fields = ("content", "summary", "output", "arguments", "input", "action", "role", "name")
            lines += [
                encode({"type": "response_item", "payload": {"type": kind, "call_id": "c", name: shape}})
                for name in fields
            ]
            lines.append(encode({"type": "compacted", "payload": {"replacement_history": shape}}))
            lines.append(encode({"type": "session_meta", "payload": shape}))
    return b"\n".join(lines) + b"\n"


def _foreign_fields() -> bytes:
    made = conversation()
    base = {
        "type": "user",
        "sessionId": SESSION,
        "parentUuid": made.leaf,
        "timestamp": "2027-01-01T00:00:00Z",
    }
    messages: list[object] = [5, "x", None, [], {"content": 5}, {"content": [None, 5, "x", {}]}]
    for number, message in enumerate(messages):
        made.raw(encode({**base, "uuid": f"{number}" * 36, "message": message}))
    for number, block in enumerate(
        ({"type": 5}, {"type": "tool_use", "input": [5]}, {"type": "tool_result"})
    ):
        said = {"role": "assistant", "content": [block, {"type": "text", "text": {"a": 1}}]}
        made.raw(encode({**base, "type": "assistant", "uuid": f"a{number}" * 18, "message": said}))
    return made.data


def odd_transcripts() -> dict[str, bytes]:
    nested = '{"a":' * 3_000 + "1" + "}" * 3_000
    return {
        "surrogate": b'{"type":"user","uuid":"q","sessionId":"s","timestamp":"2026-01-01T00:00:00Z",'
        b'"message":{"role":"user","content":"half \\ud83c \xed\xa0\xbc \xff"}}',
        "nested": conversation().data.splitlines()[0].replace(b'"cwd"', f'"x":{nested},"cwd"'.encode()),
        "deep-input": b"\n".join(_with_input(nested)),
        **{f"deep-{depth}": b"\n".join(_with_input(_nest(depth))) for depth in (150, 320, 480, 940, 985)},
        **{
            f"deep-list-{depth}": b"\n".join(_with_attachment(_nest(depth))) for depth in (320, 480, 940, 985)
        },
        "deep-attachment": b"\n".join(_with_attachment(nested)),
        "long-number": b"\n".join(_with_input("9" * 5_000)),
        "infinity": b"\n".join(_with_input("1e999")),
        "cycle": _cycle(),
        "torn": conversation().data[:-40],
        "nul": b"\0" * 512 + b"\n" + conversation().data,
        "crlf": conversation().data.replace(b"\n", b"\r\n"),
        "bom": b"\xef\xbb\xbf" + conversation().data,
        "null-first": b"null\n" + conversation().data,
        "long-first": b'{"type":"queue-operation","content":"'
        + b"Z" * 400_000
        + b'"}\n'
        + conversation().data,
        "torn-first": b'{"type":"user","sess\n' + conversation().data,
        "two-agents": conversation().data + _rollout(),
        "foreign-fields": _foreign_fields(),
        "codex-odd": _rollout() + b'{"type":"response_item","payload":{"type":"function_call_output",'
        b'"call_id":"c","output":"\xff \\ud83c"}}\n',
        "codex-shapes": _rollout() + _codex_shapes(),
    }


ODD = odd_transcripts()


@pytest.mark.parametrize("name", ODD)
def test_odd_transcripts_are_shown(machine: Machine, name: str) -> None:
    put(machine, ODD[name], "odd")
    assert machine.run("show", "odd").code == 0
    assert machine.run("view", "odd", "--json").json["items"] is not None
    assert machine.run("check", "odd").code in (0, 1)


def test_odd_transcripts_are_listed(machine: Machine) -> None:
    for name, data in ODD.items():
        put(machine, data, f"odd-{name}")
    rows = machine.run("sessions", "--all", "--json").json
    assert len(rows) == len(ODD) + 2
    assert {row["problem"] for row in rows} == {""}
    assert machine.run("up", "-n", "100").code == 0


def test_one_line_of_13_megabytes(machine: Machine) -> None:
    made = conversation()
    made.user("x" * 13_000_000)
    made.answer(text("long"), counts=usage(90_000))
    put(machine, made, "long-line")
    for command in COMMANDS:
        assert machine.run(command, "long-line").code == 0


def test_a_torn_line_of_13_megabytes_full_of_records(machine: Machine) -> None:
    # looking for a whole record inside a torn one must not read the rest of the line again and again
    inner = b'{"type":"text","text":"' + b"x" * 400 + b'"},'
    torn = b'{"type":"user","uuid":"u","toolUseResult":[' + inner * 30_000
    put(machine, conversation().data + torn + b"\n", "torn-line")
    before = os.times().children_user
    done = machine.begun("check", "torn-line")
    assert "torn line" in done.out
    assert os.times().children_user - before < 10  # seconds of work; it was 30, and grew with the square


def test_a_transcript_that_grows_while_it_is_read(machine: Machine) -> None:
    made = conversation()
    for number in range(300):
        made.user("x" * 20_000, f"late{number}")
    path = store(machine.folder, made, "growing")
    program = (
        "import sys, time\n"
        "while True:\n"
        "    with open(sys.argv[1], 'ab') as file: file.write(b'{\"type\":\"mode\"}\\n' * 50)\n"
        "    print('x', flush=True); time.sleep(0.002)\n"
    )
    with subprocess.Popen(
        [COMMAND[0], "-c", program, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        try:
            seen = [machine.run("show", "./growing.jsonl", "--json") for _ in range(3)]
        finally:
            writer.kill()
    assert [done.code for done in seen] == [0, 0, 0]
    assert any("grown" in warning for done in seen for warning in done.json["warnings"])


def test_nothing_is_written_beside_a_transcript(machine: Machine) -> None:
    folder = claude_project(machine)
    names = sorted(path.name for path in folder.rglob("*"))
    for arguments in (["up"], ["sessions"], *([command, SESSION] for command in COMMANDS)):
        machine.run(*arguments)
    assert sorted(path.name for path in folder.rglob("*")) == names
    assert not Path(machine.home / ".coffer").exists()


def test_names_that_no_file_can_have(machine: Machine) -> None:
    long = "x" * 300
    assert machine.run("show", long).code == 3
    assert machine.run("show", f"{long}/{long}.jsonl").code == 7
    assert machine.run("show", "~no-such-user-here/x.jsonl").code == 5
    assert machine.run("show", "\n").code == 3


@pytest.mark.parametrize("name", ["CLAUDE_CONFIG_DIR", "CODEX_HOME"])
def test_a_folder_of_an_agent_that_cannot_be_looked_at(machine: Machine, name: str) -> None:
    # as a folder of another user: the sessions of the other agent are shown all the same
    (machine.folder / "loop").symlink_to("loop")
    for folder in ("x" * 300, str(machine.folder / "loop"), "/dev/null", "relative"):
        done = machine.run("sessions", "--json", **{name: folder})
        assert (done.code, len(done.json)) == (0, 1)
        assert machine.run("up", **{name: folder}).code == 0
