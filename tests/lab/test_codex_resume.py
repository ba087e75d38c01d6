"""What the real Codex makes of a rollout that was edited or damaged: the facts of `docs/formats-codex.md`.

Each case plants a corpus file in an empty home, resumes it, and looks at the ids that the model saw again.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab import clients
from tests.lab.codex import CodexHome, Finished
from tests.lab.openai_checks import Json
from tests.lab.openai_server import OpenAIServer

pytestmark = pytest.mark.lab

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "codex"
Lines = list[bytes]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[CodexHome]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    with OpenAIServer({"default": {"text": "Noted."}}) as server, CodexHome(tmp_path, server) as home:
        yield home


def rollout(name: str) -> Lines:
    return (CORPUS / f"{name}.jsonl").read_bytes().splitlines(keepends=True)


def payload(line: bytes) -> Json:
    found: Json = json.loads(line)["payload"]
    return found


def place(lines: Lines, kind: str) -> int:
    """Find the first line whose record or item is of this type."""
    return next(
        n for n, line in enumerate(lines) if kind in (json.loads(line)["type"], payload(line).get("type"))
    )


def items(lines: Lines) -> list[Json]:
    return [payload(line) for line in lines if json.loads(line)["type"] == "response_item"]


def view(lines: Lines) -> list[str]:
    """The ids that a resume sends: the last replacement_history, and the items behind it."""
    found: list[Json] = []
    for line in lines:
        if json.loads(line)["type"] == "compacted":
            found = payload(line)["replacement_history"]
        elif json.loads(line)["type"] == "response_item":
            found = [*found, payload(line)]
    return [item["id"] for item in found]


def seen(done: Finished, *sources: Lines) -> list[str]:
    """The ids of those items in the first request that stand in these files."""
    known = {i["id"] for lines in sources for i in items(lines)} | {
        i for lines in sources for i in view(lines)
    }
    return [item["id"] for item in done.requests[0].items if item["id"] in known]


def compacted(lines: Lines, change: Callable[[Json], object]) -> Lines:
    at = place(lines, "compacted")
    record = json.loads(lines[at])
    change(record["payload"])
    return [*lines[:at], json.dumps(record).encode() + b"\n", *lines[at + 1 :]]


def drop_both(compaction: Json) -> None:
    del compaction["replacement_history"][0]
    del compaction["replacement_history_metadata"][0]


def put(lines: Lines, at: int, *new: bytes) -> Lines:
    return [*lines[:at], *new, *lines[at:]]


def glue(lines: Lines, at: int) -> Lines:
    return [*lines[:at], lines[at].rstrip() + lines[at + 1], *lines[at + 2 :]]


def without(*kinds: str) -> Callable[[Lines], Lines]:
    def cut(lines: Lines) -> Lines:
        return [x for x in lines if not {json.loads(x)["type"], payload(x).get("type")} & set(kinds)]

    return cut


@dataclass(frozen=True)
class Case:
    """`damage` is done to that file; the model sees the file's view without items of a type in `lost`."""

    name: str
    damage: Callable[[Lines], Lines]
    lost: tuple[str, ...] = ()
    file: str = "mcp"


UNKNOWN = b'{"timestamp":"2026-01-02T03:04:05.006Z","ordinal":9,"type":"never_heard_of","payload":{"x":1}}\n'
ODD = (b"\n", b"[]\n", b'"x"\n', b"null\n", b"\0" * 512 + b"\n", UNKNOWN)
CALLS = ("function_call", "function_call_output")
HISTORY = "replacement_history"

CASES = (
    Case("as it is", list),
    Case("torn last line", lambda x: [*x[:-1], x[-1][:40]]),
    Case("no final newline", lambda x: [*x[:-1], x[-1].rstrip()]),
    Case("NUL, empty, foreign and unknown lines", lambda x: put(x, place(x, "function_call"), *ODD)),
    Case("half a record, then the whole", lambda x: put(x, 9, x[9][:60] + b"\n")),
    Case("CRLF", lambda x: [line.rstrip() + b"\r\n" for line in x]),
    Case("call glued to the next line", lambda x: glue(x, place(x, "function_call")), lost=CALLS),
    Case("call without its line", without("function_call"), lost=CALLS),
    Case("output without its line", without("function_call_output"), lost=("function_call_output",)),
    Case("a pair removed", without(*CALLS), lost=CALLS),
    Case("no events", without("event_msg", "token_usage_record")),
    Case("a lone surrogate", lambda x: [y.replace(b'"lookup"', b'"\\ud83c"') for y in x], lost=CALLS),
    Case("nothing before the compaction", lambda x: [x[0], *x[place(x, "compacted") :]], file="compact-auto"),
    Case("another message", lambda x: compacted(x, lambda c: c.update(message="-")), file="compact-auto"),
    Case("no metadata", lambda x: compacted(x, lambda c: c.pop(f"{HISTORY}_metadata")), file="compact-auto"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_resume_of_a_damaged_rollout_sends_the_rest(case: Case, home: CodexHome) -> None:
    whole = rollout(case.file)
    raw = b"".join(case.damage(whole))
    done = home.resume(home.plant(raw), prompt="Go on.")
    assert done.rc == 0, done.stderr
    lost = {item["id"] for item in items(whole) if item["type"] in case.lost}
    assert seen(done, whole) == [i for i in view(whole) if i not in lost]
    assert home.rollouts()[0].read_bytes().startswith(raw)
    assert done.requests[0].rule is None


def test_an_open_call_is_answered_for_the_model_only(home: CodexHome) -> None:
    whole = rollout("open-tail")
    done = home.resume(home.plant(b"".join(whole)), prompt="Go on.")
    [call] = [item for item in items(whole) if item["type"] == "function_call"]
    [answer] = [item for item in done.requests[0].items if item["type"] == "function_call_output"]
    assert (answer["call_id"], answer["output"]) == (call["call_id"], "aborted")


def test_a_compaction_whose_lists_differ_in_length_is_ignored(home: CodexHome) -> None:
    whole = rollout("compact-auto")
    shorter = compacted(whole, lambda c: c["replacement_history"].pop(0))
    done = home.resume(home.plant(b"".join(shorter)), prompt="Go on.")
    assert seen(done, whole) == [item["id"] for item in items(whole)]


def test_a_prompt_dropped_from_both_lists_is_gone(home: CodexHome) -> None:
    whole = rollout("compact-auto")
    done = home.resume(home.plant(b"".join(compacted(whole, drop_both))), prompt="Go on.")
    assert seen(done, whole) == view(whole)[1:]


@pytest.mark.parametrize("kind", ["world_state", "turn_context"])
def test_without_its_state_the_context_is_sent_again(kind: str, home: CodexHome) -> None:
    whole = rollout("plain")
    for times, lines in ((1, whole), (2, without(kind)(whole))):
        done = home.resume(home.plant(b"".join(lines)), prompt="Go on.")
        assert json.dumps(done.requests[0].items).count("<permissions instructions>") == times


REFUSED: dict[str, Callable[[Lines], Lines]] = {
    "does not start with session metadata": lambda x: [x[1], x[0], *x[2:]],
    "failed to read session metadata": lambda x: x[1:],
    "missing an ordinal": lambda x: [*x[:-1], x[-1].replace(b'"ordinal":', b'"was":')],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_rollout_without_its_head_or_last_ordinal_is_refused_untouched(
    reason: str, home: CodexHome
) -> None:
    whole = rollout("plain")
    raw = b"".join(REFUSED[reason](whole))
    done = home.resume(home.plant(raw, payload(whole[0])["id"]), prompt="Go on.")
    assert done.rc == 1
    assert reason in done.stderr
    assert done.requests == ()
    assert home.rollouts()[0].read_bytes() == raw


def shortened(line: bytes, least: int) -> bytes:
    """Cut at least so many bytes, and hardly more, from the instructions in line 0."""
    record = json.loads(line)
    text = record["payload"]["base_instructions"]["text"]
    for cut in range(len(text)):
        record["payload"]["base_instructions"]["text"] = text[cut:]
        new = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if len(line) - len(new) >= least:
            return new
    raise AssertionError("the instructions are too short")


def test_a_fork_reads_the_first_bytes_of_its_parent_whatever_their_ordinals(home: CodexHome) -> None:
    parent, child = rollout("fork-parent"), rollout("fork-child")
    until = payload(child[0])["history_base"]["end_byte_offset"]
    ends = [sum(map(len, parent[: n + 1])) for n in range(len(parent))]
    kept = ends.index(until) + 1
    leak = next(n for n in range(kept, len(parent)) if json.loads(parent[n])["type"] == "response_item")
    shorter = [shortened(parent[0], ends[leak] - until), *parent[1:]]
    for lines, read in ((parent, kept), (shorter, leak + 1)):
        for path in home.rollouts():
            path.unlink()
        home.plant(b"".join(lines))
        done = home.resume(home.plant(b"".join(child)), prompt="Go on.")
        assert seen(done, parent, child) == [*view(parent[:read]), *view(child)]
