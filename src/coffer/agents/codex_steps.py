"""The steps of a Codex thread, read from its rollout in one stream (facts/codex §3; 0.140 to 0.171).

A rollout is linear: what a rollback took away is dropped when it is met. Beside the human turns, which
`CodexListener` hears, it notes what the agent said and what came out of its calls.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from coffer.agents.codex_texts import texts_of
from coffer.agents.codex_turns import CodexListener
from coffer.agents.raw_text import REFUSALS, string
from coffer.core.commands import ended
from coffer.core.regex import regex
from coffer.core.steps import (
    AGENT,
    CREATED,
    DELETED,
    EDITED,
    LONGEST_SAID,
    PERSON,
    PROGRAM,
    Failed,
    Happened,
    Planned,
    Recalled,
    Said,
    Step,
    Stopped,
    Story,
    Touched,
)
from coffer.core.turn import Turn, own_words


class _Git(Struct, gc=False):
    branch: str | None = None
    repository_url: str | None = None


class _Passthrough(Struct, gc=False):
    content_item_kinds: list[Any] | None = None


class _Used(Struct, gc=False):
    total_tokens: int = 0
    output_tokens: int = 0


class _Info(Struct, gc=False):
    total_token_usage: _Used | None = None
    last_token_usage: _Used | None = None


class _Payload(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    role: str | None = None
    content: Raw = Raw(b"")
    name: str | None = None
    namespace: str | None = None
    arguments: Raw = Raw(b"")
    input: str | None = None
    call_id: str | None = None
    output: Raw = Raw(b"")
    cwd: str | None = None
    model: str | None = None
    git: _Git | None = None
    reason: str | None = None
    num_turns: int | None = None
    info: _Info | None = None
    error: Raw = Raw(b"")
    source: Raw = Raw(b"")
    internal_chat_message_metadata_passthrough: _Passthrough | None = None


class _Line(Struct, gc=False):
    type: str
    timestamp: str | None = None
    payload: _Payload | None = None


class _Arguments(Struct, gc=False):
    cmd: str | list[str] = ""
    command: str | list[str] = ""
    session_id: int | str = ""
    plan: list[dict[str, Any]] | None = None


class _Metadata(Struct, gc=False):
    exit_code: int | None = None


class _Output(Struct, gc=False):
    output: str = ""
    metadata: _Metadata | None = None


class _Call(Struct, frozen=True, gc=False):
    tool: str
    text: str = ""
    session: str = ""


_decoder = msgspec.json.Decoder(_Line)
_arguments_decoder = msgspec.json.Decoder(_Arguments)
_output_decoder = msgspec.json.Decoder(_Output)
_EXIT = regex(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_RUNNING = regex(r"^Process running with session ID (\w+)", re.MULTILINE)
_PATCH = regex(r"^\*\*\* (Update|Add|Delete) File: (.+)$")
_MOVED = "*** Move to: "
_WHAT = {"Update": EDITED, "Add": CREATED, "Delete": DELETED}
_SHELLS = ("exec_command", "shell", "local_shell", "shell_command", "container.exec")
_RECALLS = regex(r"(?:^|_)(?:recall|resume|list_memory)$")
_HEAD = 2_000
_LONGEST_PATCH = 400_000


class CodexScribe(CodexListener):
    """Hears one rollout and tells its steps."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: list[Happened] = []
        self._waiting: dict[str, _Call] = {}
        self._running: dict[str, str] = {}
        self._turns: list[int] = []  # how many steps there were before each turn
        self._story = Story("codex")
        self._times: list[tuple[int, str]] = []  # of the first line of each moment, in file order
        self._end = 0

    def hear(self, line: bytes, start: int) -> list[Turn]:
        """Take in a line; the human turns that it completes."""
        self._echoes.clear()  # what was said again after a rollback counts, what was rolled back does not
        turns = super().hear(line, start)
        try:
            parsed = _decoder.decode(line)
        except REFUSALS:
            return turns  # a torn line: what is whole in it was heard as turns
        if parsed.payload is not None:
            steps = self._steps_of(parsed, parsed.payload, turns)
            self._steps += [Happened(step, parsed.timestamp or "", start) for step in steps]
        self._end = start + len(line)
        time = parsed.timestamp or ""
        if time and (not self._times or time != self._times[-1][1]):
            self._times.append((start, time))
        story = self._story
        story.started = story.started or parsed.timestamp or ""
        story.ended = max(story.ended, parsed.timestamp or "")
        return turns

    def _steps_of(self, line: _Line, payload: _Payload, turns: list[Turn]) -> list[Step]:
        match line.type:
            case "response_item":
                return self._item(payload, turns)
            case "event_msg":
                return self._told(payload)
            case "turn_context":
                self._in(payload.cwd or "")
                self._story.model = payload.model or self._story.model
            case "session_meta" if not self._story.session:
                self._story.session = payload.id or ""
                self._in(payload.cwd or "")
                git = payload.git or _Git()
                self._story.branch, self._story.origin = git.branch or "", git.repository_url or ""
                self._story.branches[self._story.folder] = self._story.branch
                self._story.subagent = self._subagent
            case "compacted":
                last = self._steps[-1].step if self._steps else None
                if isinstance(last, Said) and last.by == AGENT:
                    self._steps.pop()  # the summary, which is written before the compaction that it is for
            case _:
                pass
        return []

    def _in(self, folder: str) -> None:
        if folder:
            self._story.folders[folder] = self._story.folders.pop(folder, 0) + 1

    def _item(self, payload: _Payload, turns: list[Turn]) -> list[Step]:
        match payload.type:
            case "message" if payload.role == "assistant":
                said = "\n".join(texts_of(payload.content)).strip()
                return [Said(AGENT, said[:LONGEST_SAID])] if said else []
            case "message" if turns:
                self._turns.append(len(self._steps))
                return [Said(PERSON, turn.text[:LONGEST_SAID], turn) for turn in turns]
            case "message" if payload.role == "user" and not self._subagent:
                return self._programs(payload)
            case "function_call" | "custom_tool_call" | "local_shell_call":
                return self._called(payload)
            case "function_call_output" | "custom_tool_call_output":
                return self._came(payload)
            case _:
                return []

    def _programs(self, payload: _Payload) -> list[Step]:
        """The prompt of `codex exec` or of another program."""
        said = payload.internal_chat_message_metadata_passthrough
        kinds = (said.content_item_kinds if said is not None else None) or []
        texts = texts_of(payload.content)
        if kinds and len(kinds) == len(texts):
            texts = [text for text, kind in zip(texts, kinds, strict=True) if _is_users(kind)]
        words = "\n".join(filter(None, map(own_words, texts)))
        if not words or words.lstrip().startswith(("<", "# AGENTS.md", "Another language model started")):
            return []
        self._turns.append(len(self._steps))
        return [Said(PROGRAM, words[:LONGEST_SAID], id=payload.id or "")]

    def _called(self, payload: _Payload) -> list[Step]:
        name, text = payload.name or "local_shell", payload.input or string(payload.arguments)
        call, steps = _Call(name, text[:_LONGEST_PATCH]), list[Step]()
        if name != "apply_patch" and text:
            try:
                given = _arguments_decoder.decode(text)
            except REFUSALS:
                given = _Arguments()
            if given.plan is not None:
                open_items = [str(item.get("step", "")) for item in given.plan if _is_open(item)]
                steps.append(Planned(tuple(filter(None, open_items))))
            command = given.cmd or given.command
            spoken = command if isinstance(command, str) else command[-1] if command else ""
            call = _Call(name, spoken[:_LONGEST_PATCH], str(given.session_id))
        self._waiting[payload.call_id or ""] = call
        return steps

    def _came(self, payload: _Payload) -> list[Step]:
        call = self._waiting.pop(payload.call_id or "", None)
        if call is None:
            return []
        text, code, running = _output(payload.output)
        if _RECALLS.search(call.tool):
            return [Recalled(text[:LONGEST_SAID])]
        command = call.text
        if call.tool == "write_stdin":
            command = self._running.pop(call.session, "")
        if running and command:
            self._running[running] = command
            return []
        if "*** Begin Patch" in command:
            return list(_patched(command)) if not code and "Success" in text[:_HEAD] else []
        if not command or (call.tool not in _SHELLS and call.tool != "write_stdin"):
            return []
        return ended(command, text, failed=bool(code))

    def _told(self, payload: _Payload) -> list[Step]:
        match payload.type:
            case "token_count" if payload.info is not None:
                last, total = payload.info.last_token_usage, payload.info.total_token_usage
                self._story.context = (last.total_tokens if last else 0) or self._story.context
                self._story.written = (total.output_tokens if total else 0) or self._story.written
            case "turn_aborted" if payload.reason in (None, "interrupted"):
                return [Stopped()]
            case "thread_rolled_back" if 0 < (back := payload.num_turns or 0) <= len(self._turns):
                del self._steps[self._turns[-back] :]
                del self._turns[-back:]
            case "error" | "stream_error":
                return [Failed(string(payload.error) or "the model could not be asked")]
            case _:
                pass
        return []

    def story(self) -> Story:
        """The steps of the thread."""
        self._story.steps = self._steps
        self._story.mark = self._times[-1][1] if self._times else ""
        return self._story

    def behind(self, mark: str) -> int:
        """Where the first line begins that comes after the marked moment: lines have no ids that last.

        A clock that was set back does not make them older. Where a prune took that moment away, time decides.
        """
        ends = [start for start, _ in self._times[1:]] + [self._end]
        after = [end for (_, time), end in zip(self._times, ends, strict=True) if time == mark]
        if after:
            return after[-1]
        return next((start for start, time in self._times if time > mark), self._end)


def _is_open(item: dict[str, Any]) -> bool:
    return item.get("status") not in ("completed", "cancelled")


def _is_users(kind: Any) -> bool:
    said = kind.get("kind") if isinstance(kind, dict) else kind
    return said == "user.text"


def _output(raw: Raw) -> tuple[str, int, str]:
    """An output's text and exit code, in the three forms that there were; and as what it runs on, "" for ended."""
    text = "\n".join(texts_of(raw))
    if text.startswith("{"):
        try:
            found = _output_decoder.decode(text)
        except REFUSALS:
            return text, 0, ""
        code = found.metadata.exit_code if found.metadata is not None else 0
        return found.output, code or 0, ""
    ended_with, running = _EXIT.search(text[:_HEAD]), _RUNNING.search(text[:_HEAD])
    said = text.partition("Output:\n")[2] or text
    return said, int(ended_with[1]) if ended_with else 0, running[1] if running else ""


def _patched(patch: str) -> list[Touched]:
    """The files of an `apply_patch`, each with its lines."""
    found: list[Touched] = []
    for line in patch.splitlines():
        begun = _PATCH.match(line)
        if begun is not None:
            found.append(Touched(begun[2].strip(), _WHAT[begun[1]]))
        elif found and line.startswith(_MOVED):
            found.append(Touched(line.removeprefix(_MOVED).strip(), CREATED))
        elif found and line[:1] in ("+", "-") and not line.startswith(("+++", "---")):
            last = found[-1]
            found[-1] = Touched(
                last.path, last.what, last.added + (line[0] == "+"), last.removed + (line[0] == "-")
            )
    return found
