"""Sessions to prune: written by hand, call by call, or drawn by Hypothesis as a list of steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.transcripts import Claude, Json, call, encode, image, result, text, thinking, uid

REMINDER = "\n\n<system-reminder>\nBe careful with this file.\n</system-reminder>\n"
UNCHANGED = "File unchanged since last read. The content from the earlier Read tool_result is still current."
LAUNCHED = "Command running in background with ID: bg1. Output is being written to: /tmp/tasks/bg1.output."


def words(size: int, seed: str = "x") -> str:
    """Text of about this many characters, another one for each seed."""
    line = f"{seed} says something of its own here\n"
    return (line * (size // len(line) + 1))[:size]


@dataclass
class Talk:
    """A session as a person and an agent have it: prompts, calls and answers, each on the one before."""

    made: Claude = field(default_factory=Claude)
    count: int = 0

    def ask(self, said: str | list[Json] = "go on", name: str = "", **fields: Any) -> str:
        return self.made.user(said, name, **fields)

    def say(self, said: str = "done", name: str = "") -> str:
        return self.made.answer(text(said), name=name)

    def use(
        self,
        tool: str,
        content: object = "done",
        name: str = "",
        /,
        *,
        failed: bool = False,
        before: Sequence[Json] = (),
        side: object = None,
        input_of: Json | None = None,
        **given: Any,
    ) -> str:
        """A call and its result; their records are named `<name>c` (a, b … with blocks before) and `<name>r`."""
        self.count += 1
        name = name or f"t{self.count}"
        given = given if input_of is None else input_of
        self.made.answer(*before, call(f"call_{name}", tool, **given), name=f"{name}c")
        more: Json = {"is_error": True} if failed else {}
        block = result(f"call_{name}", content, **more)
        self.made.user([block], f"{name}r", toolUseResult={"stdout": "ok"} if side is None else side)
        return name

    def read(self, path: str = "/w/a.py", size: int = 3_000, name: str = "", **more: Any) -> str:
        content = more.pop("content", None) or words(size, f"{path} {self.count}")
        return self.use("Read", content, name, file_path=path, **more)

    def edit(self, path: str = "/w/a.py", name: str = "", **more: Any) -> str:
        more = {"old_string": f"old {self.count}", "new_string": f"new {self.count}", **more}
        return self.use("Edit", "The file was updated.", name, file_path=path, **more)

    def bash(self, command: str = "", content: object = "ok", name: str = "", **more: Any) -> str:
        return self.use("Bash", content, name, command=command or f"run {self.count}", **more)

    def fill(self, calls: int = 24) -> None:
        """Calls that nothing is to be taken from: short, each another one."""
        for _ in range(calls):
            self.bash(f"echo fill {self.count}")

    def end(self) -> None:
        """A last turn, so that all before it is outside the protected tail."""
        self.ask("and now the last thing", "last")
        self.say("it is done", "lasta")

    @property
    def data(self) -> bytes:
        return self.made.data


def begun(said: str = "please look") -> Talk:
    talk = Talk()
    talk.ask(said, "first")
    return talk


def rich(turns: int = 3, seed: str = "s") -> Talk:
    """A session from which every strategy of the standard prescription takes something."""
    talk = begun()
    talk.say(words(60_000, "a long answer"))
    made = talk.made
    for turn in range(turns):
        mark = f"{seed}{turn}"
        made.progress(f"p{mark}")
        talk.read("/w/a.py", 4_000, f"ra{mark}", side={"file": words(2_000, mark)})
        talk.edit("/w/a.py", f"ea{mark}")
        talk.bash("pytest -q", "1 failed", f"fa{mark}", failed=True)
        for poll in range(3):
            talk.bash("git status", f"clean {mark} {poll}", f"po{mark}{poll}")
        talk.bash("pytest -q", "1 passed", f"pa{mark}")
        talk.read("/w/doc.md", 2_000, f"rd{mark}", content=words(2_000, "the same document"))
        talk.use("Read", [image("AAAA" * 40)], f"im{mark}", file_path=f"/w/{mark}.png")
        talk.bash(f"make {mark}", words(9_000, mark), f"lo{mark}")
        talk.read(f"/w/r{mark}.py", 300, f"re{mark}", content=f"short {mark}" + REMINDER)
        made.attachment("task_reminder", f"tr{mark}", {"content": [{"subject": f"do {mark}"}]})
        made.attachment(
            "hook_additional_context", f"hc{mark}", {"hookEvent": "SessionStart", "content": ["be kind"]}
        )
        made.answer(thinking(f"hm {mark}"), text("next"), name=f"th{mark}")
        made.snapshot("first")
        talk.ask(f"and then {mark}", f"ask{mark}")
    talk.fill(14)
    talk.bash("make all", words(9_000, "all"), "big")
    talk.fill(8)
    talk.end()
    return talk


# --- drawn sessions -------------------------------------------------------------------------------------

Step = tuple[Any, ...]

_TEXTS = st.sampled_from(
    [
        "plain words",
        "Grüße 日本語 \u2028 \u0000 end",
        "🎈" * 40,
        'with "parentUuid":"x" and [coffer: no stub]',
        "<system-reminder>\nnot at the end\n</system-reminder> of it",
    ]
)
_HALVES = st.sampled_from(["half \ud83c an emoji", "\udc00 lone low", "\ud83c" * 9])
_SIZES = st.sampled_from([0, 20, 450, 1_100, 3_000, 9_000])
_PATHS = st.sampled_from(["/w/a.py", "/w/b.py", "/w/ü c.md"])
_COMMANDS = st.sampled_from(["git status", "pytest -q", "ls"])

_PLAIN_STEPS = st.one_of(
    st.tuples(st.just("ask"), _TEXTS),
    st.tuples(st.just("ask parts"), _TEXTS, st.booleans()),
    st.tuples(st.just("say"), _TEXTS),
    st.tuples(st.just("think"), _TEXTS, st.booleans()),
    st.tuples(st.just("read"), _PATHS, _SIZES, st.booleans(), st.booleans(), st.booleans()),
    st.tuples(st.just("edit"), _PATHS, _SIZES, st.booleans()),
    st.tuples(st.just("write"), _PATHS, _SIZES),
    st.tuples(st.just("multi edit"), _PATHS, _SIZES),
    st.tuples(st.just("bash"), _COMMANDS, _SIZES, st.booleans()),
    st.tuples(st.just("same"), _SIZES),
    st.tuples(st.just("odd result"), _TEXTS, st.sampled_from([10, 80, 400])),
    st.tuples(st.just("image"), st.booleans()),
    st.tuples(st.just("reminded"), _PATHS),
    st.tuples(st.just("fill"), st.sampled_from([1, 6, 21])),
)
_SPECIAL_STEPS = st.one_of(
    st.tuples(st.just("parallel"), st.integers(2, 4), _SIZES, st.booleans()),
    st.tuples(st.just("one record"), _TEXTS, _SIZES),
    st.tuples(st.just("attachment"), st.sampled_from(["task_reminder", "hook", "file", "bundle"])),
    st.tuples(st.just("progress"), st.booleans()),
    st.tuples(st.just("snapshot"), st.integers(0, 3)),
    st.tuples(st.just("compact"), st.sampled_from(["plain", "listed", "segment"])),
    st.tuples(st.just("rewind"), st.integers(1, 9), st.booleans()),
    st.tuples(st.just("background"), st.booleans()),
    st.tuples(
        st.just("cron"),
    ),
    st.tuples(st.just("odd line"), st.sampled_from(["torn", "null list", "garbage", "nul", "spaced"])),
    st.tuples(
        st.just("crlf"),
    ),
    st.tuples(
        st.just("open call"),
    ),
)
LINEAR_STEPS = st.lists(_PLAIN_STEPS, min_size=1, max_size=18)
STEPS = st.lists(st.one_of(_PLAIN_STEPS, _PLAIN_STEPS, _SPECIAL_STEPS), min_size=1, max_size=22)
HALF_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("odd result"), _HALVES, st.sampled_from([10, 80, 400])),
        st.tuples(st.just("one record"), _HALVES, _SIZES),
        st.tuples(st.just("ask"), _HALVES),
        st.tuples(st.just("fill"), st.just(21)),
    ),
    min_size=2,
    max_size=8,
)
"""Sessions with half a surrogate pair in what is pruned, and beside it."""
PRESCRIBED = st.sampled_from(["gentle", "standard", "aggressive"])


def build(steps: Sequence[Step], *, ends: bool = True) -> Talk:
    """The session that the steps make."""
    talk = begun()
    for step in steps:
        STEP_MAKERS[step[0]](talk, *step[1:])
    if ends:
        talk.end()
    return talk


def _ask_parts(talk: Talk, said: str, pasted: bool) -> None:  # noqa: FBT001
    parts = [text(said), *([image("BBBB" * 30)] if pasted else [])]
    talk.ask(parts, origin={"kind": "human"})


def _think(talk: Talk, said: str, alone: bool) -> None:  # noqa: FBT001
    blocks = [thinking(said)] if alone else [thinking(said), text("so it is")]
    talk.made.answer(*blocks)


def _read(talk: Talk, path: str, size: int, failed: bool, part: bool, sided: bool) -> None:  # noqa: FBT001
    more: Json = {"offset": 3, "limit": 5} if part else {}
    side = {"file": words(900, path)} if sided else None
    talk.read(path, size, failed=failed, content=words(size, f"{path} {talk.count}"), side=side, **more)


def _edit(talk: Talk, path: str, size: int, failed: bool) -> None:  # noqa: FBT001
    talk.edit(path, failed=failed, new_string=words(size, "new"))


def _bash(talk: Talk, command: str, size: int, failed: bool) -> None:  # noqa: FBT001
    talk.bash(command, words(size, f"{command} {talk.count}"), failed=failed)


def _parallel(talk: Talk, calls: int, size: int, answered: bool) -> None:  # noqa: FBT001
    names = [f"par{talk.made.counted}{number}" for number in range(calls)]
    blocks = [call(name, "Bash", command=f"par {name}") for name in names]
    talk.made.answer(thinking("all at once"), *blocks)
    for name in names if answered else names[:-1]:
        talk.made.user([result(name, words(size, name))], toolUseResult={"stdout": "ok"})


def _one_record(talk: Talk, said: str, size: int) -> None:
    """Several blocks in one record, as older clients and other tools write them."""
    name = f"one{talk.made.counted}"
    blocks = [thinking(said), text(said), call(name, "Read", file_path="/w/a.py")]
    message = {"id": f"msg_{name}", "role": "assistant", "model": talk.made.model, "content": blocks}
    talk.made.add("assistant", message=message)
    talk.made.user([result(name, words(size, "one")), text("and a word beside the result")])


def _attachment(talk: Talk, kind: str) -> None:
    payloads: dict[str, tuple[str, Json]] = {
        "task_reminder": ("task_reminder", {"content": [{"subject": "do it"}]}),
        "hook": ("hook_additional_context", {"hookEvent": "SessionStart", "content": ["be kind"]}),
        "bundle": (
            "hook_additional_context",
            {
                "hookEvent": "SessionStart",
                "content": [f"<!-- __cozempic_behavioral_digest__: true -->\nrule {talk.count}"],
            },
        ),
        "file": ("file", {"filename": "/w/a.py", "content": {"file": {"content": words(800)}}}),
    }
    kind, payload = payloads[kind]
    talk.made.attachment(kind, payload=payload)


def _progress(talk: Talk, beside: bool) -> None:  # noqa: FBT001
    above = talk.made.leaf
    talk.made.progress()
    if beside:
        talk.made.leaf = above


def _spoken(talk: Talk) -> list[Json]:
    found = []
    for line in talk.made.lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("uuid") and record.get("type") in ("user", "assistant"):
            found.append(record)
    return found


def _snapshot(talk: Talk, back: int) -> None:
    spoken = _spoken(talk)
    talk.made.note(
        "file-history-snapshot",
        messageId=spoken[-1 - back % len(spoken)]["uuid"],
        snapshot={"files": words(100)},
        isSnapshotUpdate=True,
    )


def _compact(talk: Talk, form: str) -> None:
    """A compaction that preserves nothing, the last records as a list, or as a segment."""
    name = f"cb{talk.made.counted}"
    kept = [record["uuid"] for record in _spoken(talk)][-2:]
    more: Json = {}
    if form == "listed":
        more = {"preservedMessages": {"anchorUuid": uid(f"{name}s"), "uuids": kept, "allUuids": kept}}
    elif form == "segment":
        more = {
            "preservedSegment": {"headUuid": kept[0], "anchorUuid": uid(f"{name}s"), "tailUuid": kept[-1]}
        }
    talk.made.compact(name=name, **more)
    talk.say("I go on from the summary")


def _rewind(talk: Talk, back: int, explicit: bool) -> None:  # noqa: FBT001
    spoken = _spoken(talk)
    leaf = spoken[-1 - back % len(spoken)]["uuid"]
    talk.made.leaf = leaf
    if explicit:
        talk.made.note("last-prompt", leafUuid=leaf, explicit=True)
    talk.ask("another way")
    talk.say("as you wish")


def _background(talk: Talk, ends: bool) -> None:  # noqa: FBT001
    name = talk.use(
        "Bash", LAUNCHED, command="npm run dev", run_in_background=True, side={"backgroundTaskId": "bg1"}
    )
    if ends:
        said = f"<task-notification>\n<task-id>bg1</task-id>\n<tool-use-id>call_{name}</tool-use-id>\n"
        talk.ask(
            said + "<status>completed</status>\n</task-notification>", origin={"kind": "task-notification"}
        )
        talk.say("it ended")


def _odd_line(talk: Talk, kind: str) -> None:
    match kind:
        case "torn":
            talk.made.raw(b'{"type":"queue-operation","content":"torn off he')
        case "null list":
            talk.made.raw(b"[]")
        case "garbage":
            talk.made.raw(b"\xff\xfe no json")
        case "nul":
            talk.made.raw(b"\0" * 64)
        case _:
            talk.ask("spaced")
            talk.made.lines[-1] = json.dumps(json.loads(talk.made.lines[-1])).encode()


def _crlf(talk: Talk) -> None:
    talk.made.lines[-1] += b"\r"


STEP_MAKERS: dict[str, Callable[..., object]] = {
    "ask": lambda talk, said: talk.ask(said),
    "ask parts": _ask_parts,
    "say": lambda talk, said: talk.say(said),
    "think": _think,
    "read": _read,
    "edit": _edit,
    "write": lambda talk, path, size: talk.use(
        "Write", "File created.", file_path=path, content=words(size, f"{path} {talk.count}")
    ),
    "multi edit": lambda talk, path, size: talk.use(
        "MultiEdit", "ok", file_path=path, edits=[{"old_string": "a", "new_string": words(size, "m")}]
    ),
    "bash": _bash,
    "same": lambda talk, size: talk.bash(content=words(size, "the very same")),
    "odd result": lambda talk, said, times: talk.bash(content=said * times),
    "image": lambda talk, alone: talk.use(
        "Read",
        [image("AAAA" * 30), *([] if alone else [text("its caption")])],
        file_path=f"/w/{talk.count}.png",
    ),
    "reminded": lambda talk, path: talk.read(path, content=f"short {talk.count}" + REMINDER),
    "fill": lambda talk, calls: talk.fill(calls),
    "parallel": _parallel,
    "one record": _one_record,
    "attachment": _attachment,
    "progress": _progress,
    "snapshot": _snapshot,
    "compact": _compact,
    "rewind": _rewind,
    "background": _background,
    "cron": lambda talk: talk.use(
        "CronCreate", "Scheduled job c1. " + words(600), cron="7 3 * * *", prompt="x"
    ),
    "odd line": _odd_line,
    "crlf": _crlf,
    "open call": lambda talk: talk.made.answer(call(f"open{talk.made.counted}", "Bash", command="wait")),
}


def queue_line(number: int) -> bytes:
    """A line that a client appends and no view holds, with a number to find it by."""
    return encode({"type": "queue-operation", "operation": "enqueue", "content": f"late {number:06}"}) + b"\n"
