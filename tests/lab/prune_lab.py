"""A prune against the real client: place a transcript, prune it by the command, resume it, compare.

`surprises(before, after, plan)` compares two requests, of the original and of the pruned file. It knows the
plan and the bytes of the original, and nothing of Coffer's views, laws or rewrites: the client says twice what
it sends, and what differs must be what the plan says.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coffer.core.plan import Action, Cut, Drop, Plan, Strip, Stub
from coffer.core.strategies.table import DISK
from coffer.core.strategies.table import STRATEGIES as TABLE
from coffer.work.pruning.prune import propose
from coffer.work.sessions.read import opened
from tests.lab.anthropic_script import text_of
from tests.lab.anthropic_server import AnthropicServer, Request
from tests.lab.claude import ClaudeHome, Tmux
from tests.lab.claude_stage import FRUIT, Stage, bash, pause

Json = dict[str, Any]
COMMAND = (sys.executable, "-m", "coffer.cli.main")
RESTED = 7200.0  # seconds since the last write; below 600 the sessions of older clients are refused


@dataclass(frozen=True, slots=True)
class Done:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Json:
        assert self.code == 0, self.err
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


def coffer(home: ClaudeHome, *arguments: str) -> Done:
    """Run the real command as the person whose home this is."""
    environment = {
        "HOME": str(home.home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TMPDIR": str(home.tmp),
        "PYTHONDONTWRITEBYTECODE": "1",
        **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
    }
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=home.cwd,
        env=environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=30,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def prune(home: ClaudeHome, path: Path, prescription: str = "standard") -> Json:
    """Prune a transcript by the command; its JSON."""
    return coffer(home, "prune", str(path), "-rx", prescription, "--apply", "--json").json


def plan_of(path: Path, prescription: str, left_out: Mapping[str, str]) -> Plan:
    """The plan of a prescription for a file that is as it was before the prune."""
    with opened(path) as session:
        plan = propose(session, {}, prescription).plan
    return Plan([item for item in plan.actions if item.strategy not in left_out])


def place_at_rest(home: ClaudeHome, source: Path, session: str) -> Path:
    """A transcript in the home, last written to some hours ago; its path."""
    path = home.transcript(home.place(source, session))
    then = time.time() - RESTED
    os.utime(path, (then, then))
    return path


@dataclass(frozen=True, slots=True)
class Piece:
    """A content block of a request."""

    role: str
    block: Json

    @property
    def key(self) -> str:
        return key_of(self.block)

    @property
    def is_context(self) -> bool:
        """Whether it is the client's wording of attachments."""
        said = self.block.get("text")
        reminder = isinstance(said, str) and said.startswith("<system-reminder>")
        return self.role == "system" or (self.role == "user" and reminder)


def key_of(block: Json) -> str:
    """What a block is told by: the ids that the client keeps, else its text."""
    match block.get("type"):
        case "tool_use":
            return f"call {block['id']}"
        case "tool_result":
            return f"result {block['tool_use_id']}"
        case "thinking":
            return f"thinking {block.get('signature')}"
        case "text":
            return f"text {str(block['text']).rstrip()}"
        case kind:
            return f"{kind} {json.dumps(block, sort_keys=True)}"


def pieces_of(request: Request) -> list[Piece]:
    """All blocks of a request, in order, without the marks for the prompt cache."""
    found = []
    for message in request.messages:
        said = message["content"]
        for block in [{"type": "text", "text": said}] if isinstance(said, str) else said:
            bare = {name: value for name, value in block.items() if name != "cache_control"}
            found.append(Piece(message["role"], bare))
    return found


DISK_ONLY = frozenset(strategy.name for strategy in TABLE if strategy.saves == DISK)
"""Strategies that say to touch nothing that reaches the model; what they do must not show."""


@dataclass(slots=True)
class Changes:
    """What a plan does, by the keys of blocks; read from the original's bytes, not from its view.

    gone: blocks that are removed. changed: stubs and strips. texts: how many stubs of texts there are (a text
    that is repeated is told from its copies by nothing). contexts: texts of dropped attachments. What
    DISK_ONLY does is in none of them: nothing in the request may change for it.
    """

    gone: set[str] = field(default_factory=set)
    changed: dict[str, Stub | Strip] = field(default_factory=dict)
    texts: int = 0
    contexts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, plan: Plan, original: bytes) -> Changes:
        found = cls()
        for item in plan.actions:
            if item.strategy not in DISK_ONLY:
                record = json.loads(original[item.action.record.start : item.action.record.end])
                found.take(item.action, record)
        return found

    def take(self, action: Action, record: Json) -> None:
        """Add what one action does to a record."""
        content = record.get("message", {}).get("content", [])
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        match action:
            case Drop() if record["type"] == "attachment":
                self.contexts.update(_words_of(record["attachment"]))
            case Drop():
                self.gone.update(key_of(block) for block in blocks)
            case Cut(index=index):
                self.gone.add(key_of(blocks[index]))
            case Stub(index=index) | Strip(index=index) as change:
                self.changed[key_of(blocks[index])] = change
                self.texts += blocks[index]["type"] == "text"
            case _:
                pass


CLIENT_WORDS = {
    "task_reminder": "The task tools haven't been used recently.",
    "todo_reminder": "The TodoWrite tool hasn't been used recently.",
    "date_change": "The date has changed.",
    "total_tokens_reminder": "",
}
"""Attachments whose text is the client's alone, with how it begins; "" for those that say nothing."""


def _words_of(attachment: Json) -> list[str]:
    kind = str(attachment["type"])
    if kind in CLIENT_WORDS:
        return [CLIENT_WORDS[kind]] if CLIENT_WORDS[kind] else []
    said = attachment.get("content") or attachment.get("stdout") or ""
    return [text for text in (said if isinstance(said, list) else [said]) if text]


def surprises(before: Request, after: Request, plan: Plan, original: bytes) -> list[str]:
    """What the request after a prune says that the plan does not; nothing: only the plan was carried out."""
    changes = Changes.of(plan, original)
    rest = iter([*pieces_of(after), None])
    awaited = next(rest)
    found = []
    for piece in pieces_of(before):
        if awaited is not None and not _unlike(piece, awaited, changes):
            awaited = next(rest)
        elif not (piece.key in changes.gone or (piece.is_context and _dropped(piece, changes))):
            why = _unlike(piece, awaited, changes) if awaited else "nothing follows"
            return [f"{why}: {_short(piece)} became {_short(awaited)}"]
    if awaited is not None:
        found.append(f"added: {_short(awaited)}")
    there = {piece.key for piece in pieces_of(after) if piece.block["type"] != "text"}
    found += [f"not removed: {key}" for key in sorted(there & changes.gone)]
    stubbed = sum(key.startswith("text ") for key in stubs_of(after))
    if stubbed != changes.texts:
        found.append(f"{changes.texts} stubs of texts planned, {stubbed} found")
    said, says = (" ".join(_context_texts(request)) for request in (before, after))
    for text, count in changes.contexts.items():
        if said.count(text) - says.count(text) != count:
            found.append(f"attachment {text[:60]!r}: {said.count(text)} before, {says.count(text)} after")
    return found


def _short(piece: Piece | None) -> str:
    if piece is None:
        return "nothing"
    return f"{piece.role}: {json.dumps(piece.block, ensure_ascii=True)[:300]}"


def _context_texts(request: Request) -> Iterator[str]:
    return (str(piece.block["text"]) for piece in pieces_of(request) if piece.is_context)


def _unlike(piece: Piece, other: Piece, changes: Changes) -> str:
    """Why the other block is not what the plan makes of this one; "" when it is."""
    change = changes.changed.get(piece.key)
    if piece.role != other.role:
        return "another role"
    if change is not None and not (piece.block["type"] == "text" and piece.block == other.block):
        return _unlike_changed(piece.block, other.block, change)
    if piece.block == other.block:
        return ""
    if piece.is_context and other.is_context:
        return "" if _is_reduced(piece, other, changes) else "another attachment"
    return "an untouched block differs"


def _dropped(piece: Piece, changes: Changes) -> bool:
    """Whether all that a wording of attachments says was dropped."""
    return all(_is_dropped(part, changes) for part in _parts(piece))


def _is_reduced(piece: Piece, other: Piece, changes: Changes) -> bool:
    """Whether the other wording says the same in the same order, but for dropped attachments."""
    kept = _parts(other)
    for part in _parts(piece):
        if kept and kept[0] == part:
            kept.pop(0)
        elif not _is_dropped(part, changes):
            return False
    return not kept


def _parts(piece: Piece) -> list[str]:
    return [part.strip("\n") for part in str(piece.block["text"]).split("\n\n") if part.strip("\n")]


def _is_dropped(part: str, changes: Changes) -> bool:
    return any(line in part for text in changes.contexts for line in text.split("\n\n") if line.strip())


CHANGED_FIELDS = {"tool_result": "content", "tool_use": "input", "text": "text"}
STUB = re.compile(r"\[coffer: (?P<note>[^\n]*), [\d.]+ K?B, removed; coffer restore (?P<id>[0-9a-f]{10})\]")


def _unlike_changed(before: Json, after: Json, change: Stub | Strip) -> str:
    name = CHANGED_FIELDS[before["type"]]
    if {**before, name: None} != {**after, name: None}:
        return "more than the content changed"
    was, now = before[name], after[name]
    if isinstance(change, Strip):
        return "" if _is_stripped(was, now) else "more than a reminder went"
    if isinstance(was, dict):
        fine = list(was) == list(now) and was != now
        same = all(now[key] == was[key] or _is_stub(now[key], change) for key in was)
        return "" if fine and same else "an input is neither as it was nor a stub"
    return "" if _is_shortened(was, now, change) else "neither a stub nor beginning, stub and end"


def _is_stripped(was: Any, now: Any) -> bool:
    if not isinstance(was, str) or not isinstance(now, str):
        return False
    kept, mark, gone = was.rpartition("<system-reminder>")
    return (
        bool(mark)
        and gone.rstrip().endswith("</system-reminder>")
        and now in (kept.rstrip("\n"), "(reminder)")
    )


def _is_shortened(was: Any, now: Any, stub: Stub) -> bool:
    if not isinstance(now, str):
        return False
    if _is_stub(now.removesuffix("\n"), stub):
        return True
    text = was if isinstance(was, str) else text_of(was)
    head, tail = stub.keep
    middle = now[head : len(now) - tail]
    return (
        head + tail > 0
        and now[:head] == text[:head]
        and now[len(now) - tail :] == text[len(text) - tail :]
        and _is_stub(middle.strip("\n"), stub)
    )


def _is_stub(said: Any, stub: Stub) -> bool:
    found = STUB.fullmatch(said) if isinstance(said, str) else None
    return found is not None and found["note"] == stub.note


def stubs_of(request: Request) -> dict[str, str]:
    """The restore id of each stub in a request, by the key of its block."""
    found = {}
    for piece in pieces_of(request):
        name = CHANGED_FIELDS.get(piece.block["type"])
        said = json.dumps(piece.block.get(name or ""), ensure_ascii=False)
        for stub in STUB.finditer(said):
            found[piece.key] = stub["id"]
    return found


def persons_words(original: bytes) -> list[str]:
    """What a person typed, as the file has it: user records that are neither the client's nor a result."""
    found = []
    for line in original.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # the malformed line of one of the transcripts
        if record.get("type") == "user" and not any(record.get(name) for name in _NOT_A_PERSONS):
            content = record["message"]["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            found += [block["text"] for block in blocks if block["type"] == "text"]
    return found


_NOT_A_PERSONS = ("isMeta", "isCompactSummary", "isSidechain", "toolUseResult", "sourceToolAssistantUUID")


def said_by_users(request: Request) -> Counter[str]:
    """Texts of the user in a request, with how often each stands there."""
    return Counter(
        str(piece.block["text"]).rstrip()
        for piece in pieces_of(request)
        if piece.role == "user" and piece.block["type"] == "text"
    )


def refused(requests: Sequence[Request]) -> list[str]:
    """Rules that requests broke."""
    return [request.rule for request in requests if request.rule]


SEED = "Here is the tide table.\n" + "".join(
    f"{hour:02}:00 the water stands at {hour % 12} m\n" for hour in range(240)
)
NOTES = "".join(
    f"{number}. a line of the notes, so that reading it costs something\n" for number in range(120)
)
PROMPTS = ("Please look around.", "Please read the table.", "Please greet the pear.")
_POLL = bash("cat state.txt", "Look whether it is done")
_RETRY = bash("test -f ready || { touch ready; false; }", "Look whether it is ready")


def _edit(path: str, line: int) -> Json:
    given = {"file_path": path, "old_string": f"{line}. a line", "new_string": f"{line}. The line"}
    return {"name": "Edit", "input": given}


def work_of(folder: Path) -> dict[str, list[Json]]:
    """What the model does for PROMPTS, and for what the tests ask later. folder: where the files lie."""
    notes = str(folder / "notes.md")
    read: Json = {"name": "Read", "input": {"file_path": notes}}
    table = {"name": "Read", "input": {"file_path": str(folder / "table.md")}}
    calls = (
        bash("seq 1 3000", "Count"),
        read,
        _edit(notes, 57),
        _edit(notes, 77),
        _RETRY,
        _RETRY,
        _POLL,
        _POLL,
        _POLL,
    )
    steps: list[Json] = [
        {"thinking": f"Step {number}.", "tools": [call]} for number, call in enumerate(calls)
    ]
    return {
        "look around": [*steps, {"thinking": "That was all.", "text": "I have looked around."}],
        "read the table": [{"thinking": "The table.", "tools": [table]}, {"text": "I have read the table."}],
        "read the notes": [{"tools": [read]}, {"text": "The notes again."}],
        "mend the notes": [
            {"tools": [_edit(notes, 99)]},
            {"text": "The notes are mended."},
        ],
        **{f"greet the {word}": [{"thinking": word, "text": f"Greeted {word}."}] for word in FRUIT},
    }


STRATEGIES = {"failed-retries", "poll-loops", "superseded-reads", "large-blocks", "sidecars"}
"""What `standard` finds in a worked session."""
THOUGHTS = 12
"""Thinking blocks in it."""


def worked(home: ClaudeHome, server: AnthropicServer, prompts: Sequence[str] = PROMPTS) -> Path:
    """A session of several turns with something to prune in it, made by the real client; its transcript."""
    stage = _set(home, server)
    session = ""
    for prompt in prompts:
        session = stage.ask(prompt, *(("--resume", session) if session else ())).session_id
    return home.transcript(session)


def worked_on_screen(home: ClaudeHome, server: AnthropicServer) -> Path:
    """The same session, typed at the interactive client."""
    stage = _set(home, server)
    with home.interactive() as screen:
        for prompt, answer in zip(PROMPTS, ("I have looked", "I have read", "Greeted pear"), strict=True):
            stage.say(screen, prompt, f"● {answer}", 30)
        screen.exit()
    return home.transcripts()[-1]


def append_exit(path: Path) -> None:
    """What `/exit` leaves behind, in the client's form; it comes to write it only where it is quick enough."""
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    last = [record for record in records if record["type"] == "assistant"][-1]
    parent = last["uuid"]
    said = (
        (
            "<local-command-caveat>Caveat: The messages below were generated by the user</local-command-caveat>",
            True,
        ),
        ("<command-name>/exit</command-name>\n            <command-message>exit</command-message>", False),
        ("<local-command-stdout>Goodbye!</local-command-stdout>", False),
    )
    with path.open("a") as file:
        for text, meta in said:
            envelope = {name: last[name] for name in ("cwd", "sessionId", "version", "timestamp")}
            record = {
                "parentUuid": parent,
                "isSidechain": False,
                "type": "user",
                "message": {"role": "user", "content": text},
                **({"isMeta": True} if meta else {}),
                "uuid": (parent := str(uuid.uuid4())),
                **envelope,
            }
            file.write(json.dumps(record, separators=(",", ":")) + "\n")


def _set(home: ClaudeHome, server: AnthropicServer) -> Stage:
    (home.cwd / "notes.md").write_text(NOTES)
    (home.cwd / "table.md").write_text(SEED)
    (home.cwd / "state.txt").write_text("not yet\n")
    stage = Stage(home, server)
    stage.play(work_of(home.cwd))
    return stage


def rewind(screen: Tmux, prompts: int) -> None:
    """Esc Esc, and back to before the last prompts; the prompt that comes back into the input line is deleted."""
    pause(0.5)
    screen.key("Escape")
    pause(0.3)
    screen.key("Escape")
    screen.wait("Restore the code and/or conversation")
    for _ in range(prompts):
        screen.key("Up")
        pause(0.3)
    screen.key("Enter")
    screen.wait("Restore conversation")
    screen.key("Enter")
    _wait_for_row(screen, empty=False)
    screen.key("C-u")
    _wait_for_row(screen, empty=True)


def _wait_for_row(screen: Tmux, *, empty: bool) -> None:
    """Wait until the input row holds something, or nothing, and the screen stands still."""
    until, before = time.monotonic() + 30, ""
    while time.monotonic() < until:
        shown = screen.capture()
        if shown == before and (row := _input_row(shown)) is not None and (row == "") is empty:
            return
        before = shown
        pause(0.7)
    raise TimeoutError(before)


def _input_row(shown: str) -> str | None:
    """What stands in the row under the last but one rule, where the client has such a row: a dialog has none.

    Prompts of the past begin alike, and stand there alone while the client draws.
    """
    lines = shown.splitlines()
    rules = [place for place, line in enumerate(lines) if line.startswith("───")]
    rows = [lines[place + 1] for place in rules[:-1] if lines[place + 1].startswith("❯")]
    return rows[-1].strip("❯ \xa0") if rows and "Restore" not in shown else None


def texts_of(request: Request) -> str:
    """All that a request says, as one text."""
    return json.dumps(request.messages, ensure_ascii=False)


def tamperings(request: Request) -> Iterator[Request]:
    """The request with one thing wrong, each block in turn; `how` says what."""
    pieces = pieces_of(request)
    for place, piece in enumerate(pieces):
        word = {name: _another_word(value) for name, value in piece.block.items() if name in _CARRIES}
        wrong = {
            "left out": [],
            "doubled": [piece, piece],
            "another word": [Piece(piece.role, {**piece.block, **word})],
        }
        for how, instead in wrong.items():
            messages = [
                {"role": each.role, "content": [each.block]}
                for each in (*pieces[:place], *instead, *pieces[place + 1 :])
            ]
            yield Request(0, "POST", "", {}, {"messages": messages}, how=f"{how}: {_short(piece)}")


_CARRIES = ("text", "thinking", "content", "input", "signature")


def _another_word(value: Any) -> Any:
    return f"{value}x" if isinstance(value, str) else [value]
