"""The steps of a Claude Code session, read from its transcript in one stream (facts/claude-code §3, §7).

It hears human turns as `ClaudeListener` does and notes beside them what the agent said and did. Which records are
on the live branch is decided at the end: from the last record back to the root, over compactions too.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from coffer.agents.claude_turn_lines import Line, Message, Part, is_persons, is_program, parts, text_of
from coffer.agents.claude_turns import ClaudeListener
from coffer.agents.raw_text import REFUSALS, string
from coffer.core.commands import ended
from coffer.core.dialect import INTERRUPTIONS, SYNTHETIC
from coffer.core.regex import regex
from coffer.core.steps import (
    AGENT,
    CREATED,
    EDITED,
    LONGEST_SAID,
    PERSON,
    PROGRAM,
    Chose,
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


class _Hunk(Struct, gc=False):
    lines: list[str] = field(default_factory=list)


class _Patched(Struct, gc=False, rename="camel"):
    """A `toolUseResult` of an edit, of a to-do, of a question."""

    type: str | None = None
    structured_patch: list[_Hunk] | None = None
    content: Raw = Raw(b"")
    answers: dict[str, Any] | None = None
    task: dict[str, Any] | None = None


class _Given(Struct, gc=False):
    """A call's input, as far as a journal tells of it."""

    file_path: str = ""
    notebook_path: str = ""
    command: str = ""
    old_string: str = ""
    new_string: str = ""
    content: Raw = Raw(b"")
    edits: list[dict[str, Any]] | None = None
    todos: list[dict[str, Any]] | None = None
    plan: str = ""
    subject: str = ""
    taskId: str = ""  # noqa: N815  (the client's own name)
    status: str = ""


class _Call(Struct, frozen=True, gc=False):
    """A call that waits for its result: only what is needed then."""

    tool: str
    target: str = ""
    added: int = 0
    removed: int = 0
    plan: str = ""
    item: str = ""


class _Node(Struct, gc=False):
    """A record in the chain. result: it holds a call's result and nothing that anybody said."""

    uuid: str
    parent: str
    start: int
    time: str
    message: str = ""
    speaker: bool = False
    result: bool = False
    steps: tuple[Step, ...] = ()


_patched_decoder = msgspec.json.Decoder(_Patched)
_given_decoder = msgspec.json.Decoder(_Given)
_EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_SHELLS = ("Bash", "PowerShell")
_RECALLS = regex(r"coffer\w*__(?:recall|resume|list_memory)$")
_COMMAND = regex(r"<command-name>\s*(/?[\w:.-]+)\s*</command-name>")
_ARGUMENTS = regex(r"<command-args>(.*?)</command-args>", re.DOTALL)
_HEADING = regex(r"^#{1,3}\s+(.+)$", re.MULTILINE)
_BUILT_IN = regex(
    r"add-dir|agents|bashes|bug|clear|compact|config|context|cost|doctor|effort|exit|export|fast|feedback|help|"
    r"hooks|ide|login|logout|mcp|memory|model|output-style|permissions|plugin|privacy-settings|quit|"
    r"release-notes|rename|resume|rewind|stats|status|statusline|tasks|terminal-setup|theme|todos|upgrade|usage|"
    r"vim"
)
"""Slash commands of the client's own: they set something, and name no work."""
_NOT_RUN = (
    "<tool_use_error>",
    "The user doesn't want to proceed",
    "Permission to use",
    "Claude requested permissions",
)
"""How results begin of calls that were never made."""
_DONE = ("completed", "cancelled", "deleted")


class ClaudeScribe(ClaudeListener):
    """Hears one transcript of Claude Code and tells its steps."""

    def __init__(self) -> None:
        super().__init__()
        self._nodes: list[_Node] = []
        self._waiting: dict[str, _Call] = {}
        self._todo: dict[str, str] = {}
        self._tasks: dict[str, str] = {}
        self._written: dict[str, int] = {}
        self._story = Story("claude")
        self._end = 0

    def _record(self, line: Line, start: int, end: int) -> list[Turn]:
        self._end = end
        self._echoes.clear()  # what was said again after a rewind stands on the branch that counts
        turns = super()._record(line, start, end)
        if line.uuid and not line.is_sidechain:
            self._note(line, turns, start)
        return turns

    def _note(self, line: Line, turns: list[Turn], start: int) -> None:
        story = self._story
        story.session = line.session_id or story.session
        if line.cwd:
            story.folders[line.cwd] = story.folders.pop(line.cwd, 0) + 1
            story.branches[line.cwd] = line.git_branch or story.branches.get(line.cwd, "")
        story.branch = line.git_branch or story.branch
        logical = line.logical_parent_uuid if line.subtype == "compact_boundary" else ""
        node = _Node(line.uuid or "", line.parent_uuid or logical or "", start, line.timestamp or "")
        steps: list[Step] = [Said(PERSON, turn.text[:LONGEST_SAID], turn) for turn in turns]
        if line.message is not None and line.type == "assistant":
            node.message = line.message.id or ""
            steps += self._agent(line, line.message)
        elif line.message is not None and line.type == "user":
            steps = [*self._user_steps(line, line.message, node), *steps]
            if not turns:
                steps += _other_words(line, line.message)
        node.speaker = line.type in ("user", "assistant", "attachment")
        node.steps = tuple(steps)
        self._nodes.append(node)

    def _agent(self, line: Line, message: Message) -> list[Step]:
        steps: list[Step] = []
        for part in parts(message.content):
            if part.type == "text":
                said = string(part.text).strip()
                if line.is_api_error_message:
                    steps.append(Failed(said[:LONGEST_SAID]))
                elif said and message.model != SYNTHETIC and not line.is_virtual:
                    steps.append(Said(AGENT, said[:LONGEST_SAID]))
            elif part.type == "tool_use":
                self._waiting[part.id] = self._called(part, steps)
        used = message.usage
        if used is not None and message.model != SYNTHETIC:
            output = used.output_tokens or 0
            self._written[message.id or ""] = max(output, self._written.get(message.id or "", 0))
            request = (used.input_tokens or 0) + (used.cache_creation_input_tokens or 0)
            context = request + (used.cache_read_input_tokens or 0) + output
            self._story.context = context or self._story.context
            self._story.model = message.model or self._story.model
        return steps

    def _called(self, part: Part, steps: list[Step]) -> _Call:
        try:
            given = _given_decoder.decode(part.input)
        except REFUSALS:
            return _Call(part.name)
        if part.name == "TodoWrite":
            self._todo = {
                str(item.get("content", "")): str(item.get("status", "")) for item in given.todos or ()
            }
            steps.append(Planned(self._open()))
        added, removed = _lines(string(given.content)) + _lines(given.new_string), _lines(given.old_string)
        for edit in given.edits or ():
            added += _lines(str(edit.get("new_string", "")))
            removed += _lines(str(edit.get("old_string", "")))
        target = given.file_path or given.notebook_path or given.command[:LONGEST_SAID]
        return _Call(
            part.name,
            target,
            added,
            removed,
            given.plan[:LONGEST_SAID] or given.subject,
            f"{given.taskId}\n{given.status}",
        )

    def _open(self) -> tuple[str, ...]:
        return tuple(text for text, state in self._todo.items() if text and state not in _DONE)

    def _user_steps(self, line: Line, message: Message, node: _Node) -> list[Step]:
        steps: list[Step] = []
        for part in parts(message.content):
            if part.type == "tool_result":
                node.result = True
                call = self._waiting.pop(part.tool_use_id, None)
                if call is not None:
                    steps += self._came(line, part, call)
            elif part.type == "text" and string(part.text).strip() in INTERRUPTIONS:
                steps.append(Stopped())
        return steps

    def _came(self, line: Line, part: Part, call: _Call) -> list[Step]:
        """What a result says of its call."""
        failed = bool(part.is_error)
        if call.tool in _SHELLS:
            output = text_of(part.content)
            if failed and output.startswith(_NOT_RUN):
                return []
            return ended(call.target, output, failed=failed)
        if _RECALLS.search(call.tool):
            return [Recalled(text_of(part.content)[:LONGEST_SAID])]
        if failed:
            return []
        if call.tool in _EDITS:
            return [_touched(line.tool_use_result, call)]
        if call.tool in ("TaskCreate", "TaskUpdate"):
            return self._task(_patched(line.tool_use_result), call)
        if call.tool == "AskUserQuestion":
            answers = _patched(line.tool_use_result).answers or {}
            return [Chose(asked, str(answer)) for asked, answer in answers.items() if answer]
        if call.tool == "ExitPlanMode" and call.plan:
            return [Chose("", _first_heading(call.plan))]
        return []

    def _task(self, said: _Patched, call: _Call) -> list[Step]:
        """A to-do of the task tools. Their ids are known only from results."""
        if call.tool == "TaskCreate":
            name = str((said.task or {}).get("id", ""))
            self._tasks[name] = call.plan
            self._todo[call.plan] = "pending"
        else:
            name, _, status = call.item.partition("\n")
            if name in self._tasks and status:
                self._todo[self._tasks[name]] = status
        return [Planned(self._open())]

    def story(self) -> Story:
        """The steps of the live branch."""
        story = self._story
        alive = self._alive()
        nodes = [node for node, lives in zip(self._nodes, alive, strict=True) if lives]
        story.steps = [Happened(step, node.time, node.start) for node in nodes for step in node.steps]
        times = [node.time for node in nodes if node.time and node.speaker]
        story.started, story.ended = (times[0], max(times)) if times else ("", "")
        story.written = sum(self._written.values())
        story.mark = f"{nodes[-1].uuid} {nodes[-1].time}" if nodes else ""
        return story

    def behind(self, mark: str) -> int:
        """Where the first record begins that comes after the marked one; by its time where a prune took it away."""
        uuid, _, time = mark.rpartition(" ")
        known = next((node.start for node in self._nodes if node.uuid == uuid), None)
        for node in self._nodes:
            if node.start > known if known is not None else node.time > time:
                return node.start
        return self._end

    def _alive(self) -> list[bool]:
        """For each record whether it is on the live branch.

        A parent that is not in the file, as after a crash or a prune, is taken to be the record before: nothing
        that happened is lost for it. Blocks of one answer, and results of parallel calls, lie beside the chain.
        """
        nodes = self._nodes
        alive = [False] * len(nodes)
        place = {node.uuid: index for index, node in enumerate(nodes)}
        at = next((index for index in reversed(range(len(nodes))) if nodes[index].speaker), len(nodes) - 1)
        while at >= 0 and not alive[at]:
            alive[at] = True
            parent = nodes[at].parent
            at = place.get(parent, at - 1) if parent else -1
        messages = {node.message for node, lives in zip(nodes, alive, strict=True) if lives and node.message}
        for index, node in enumerate(nodes):
            alive[index] = alive[index] or node.message in messages
        for index, node in enumerate(nodes):
            if node.result and not alive[index]:
                call = place.get(node.parent, -1)
                alive[index] = call >= 0 and alive[call] and bool(nodes[call].message)
        return alive


def _other_words(line: Line, message: Message) -> list[Step]:
    """What stands as the user's and is no person's: a program's prompt, a slash command, a plan handed over."""
    if line.is_meta or line.is_compact_summary or line.is_visible_in_transcript_only:
        return []
    texts = [string(part.text) for part in parts(message.content) if part.type == "text"]
    text = "\n".join(texts).strip()
    if not text or text in INTERRUPTIONS:
        return []
    command = _COMMAND.search(text[:2_000])
    if command is not None:
        name = command[1].removeprefix("/")
        arguments = _ARGUMENTS.search(text)
        said = " ".join((arguments[1] if arguments else "").split())
        built_in = _BUILT_IN.fullmatch(name) is not None
        return [] if built_in else [Said(PERSON, f"/{name} {said}".strip(), None, True, line.uuid or "")]
    if memoryview(line.plan_content).nbytes > len("null") or text.startswith("Implement the following plan:"):
        plan = _first_heading(text.partition(":")[2] if text.startswith("Implement") else text)
        return [Said(PERSON, plan, None, True, line.uuid or "")] if plan else []
    if not is_persons(line) and _is_programs(line):
        words = "\n".join(filter(None, map(own_words, texts)))
        return [Said(PROGRAM, words[:LONGEST_SAID], id=line.uuid or "")] if words else []
    return []


def _is_programs(line: Line) -> bool:
    kind = line.origin.kind if line.origin is not None else None
    return (is_program(line.entrypoint or "") or line.prompt_source == "sdk") and kind in (None, "human")


def _touched(raw: Raw, call: _Call) -> Touched:
    said = _patched(raw)
    hunks = said.structured_patch
    created = call.tool == "Write" and said.type != "update"
    if not hunks:
        return Touched(call.target, CREATED if created else EDITED, call.added, call.removed)
    lines = [line[:1] for hunk in hunks for line in hunk.lines]
    return Touched(call.target, CREATED if created else EDITED, lines.count("+"), lines.count("-"))


def _patched(raw: Raw) -> _Patched:
    try:
        return _patched_decoder.decode(raw) if memoryview(raw).nbytes else _Patched()
    except REFUSALS:
        return _Patched()  # an error's text, or a shape of another tool


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _first_heading(text: str) -> str:
    """The first heading, else the first line, without what only says that it is a plan."""
    found = _HEADING.search(text)
    said = found[1] if found else next((line for line in text.splitlines() if line.strip()), "")
    return re.sub(r"^(?:implementation )?plan\s*[:–—-]\s*", "", said.strip(), flags=re.IGNORECASE)
