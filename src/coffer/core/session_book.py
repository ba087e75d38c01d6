"""What a Claude Code transcript says of its team and of work in the background, record by record.

The theory stands in `core.session_state`. A word counts only where the client itself puts it: the result that is paired
with a tool of these names, a letter or a notification in a record that no person sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from coffer.core.evidence import moment
from coffer.core.inflight import HUMAN, LONGEST_ANSWER, Line, said_in
from coffer.core.markers import key, rows
from coffer.core.record import Attached, Block, Record
from coffer.core.regex import regex

Status = Literal["working", "idle", "finished"]
JobKind = Literal["shell", "subagent", "workflow"]
WORKING: Status = "working"
IDLE: Status = "idle"
FINISHED: Status = "finished"


@dataclass(frozen=True, slots=True)
class Mate:
    """A teammate. Times are Unix seconds. seen: what the status was read from. said: the summary of its last letter."""

    name: str
    id: str
    type: str
    team: str
    status: Status
    since: float | None
    wrote: float | None
    seen: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """Work in the background that was running. since: Unix seconds. seen: what it was read from."""

    id: str
    kind: JobKind
    what: str
    since: float | None
    seen: str


_LETTER = regex(
    re.escape(next(iter(rows("carrier"))))
    + r'(?P<name>[^"\n]{1,200})"(?P<about>[^>\n]{0,2000})>\n(?P<body>.*?)\n?'
    r"</teammate-message>",
    re.DOTALL,
)
_SUMMARY = regex(r' summary="([^"]*)"')
_OPENING = "Another Claude session sent a message:"
"""Before the letters in a record; older clients began with the first letter."""
_IDLE, _GONE = "idle_notification", "shutdown_approved"
_NOTIFIED = "task-notification"
_NOTICE = regex(r"<task-id>([^<\n]{1,100})</task-id>")
_KILLED = "agents_killed"
_SHELL_ID = "backgroundTaskId"
_WOKEN = "resumedAgentId"


@dataclass(slots=True)
class Member:
    """A teammate as it is read, with what was heard of it: (time, status, from where)."""

    mate: Mate
    prompt: str
    heard: list[tuple[float, Status, str]] = field(default_factory=list)


class Book:
    """Reads records in the file's order."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.jobs: dict[str, Job] = {}
        self.ended: dict[str, float] = {}
        """Ids of work that is over, with the time of the word on it."""
        self._asked: dict[str, tuple[str, Record]] = {}
        self._known: dict[str, Job] = {}

    def read(self, record: Record, line: Line) -> None:
        """Take in one record."""
        if record.type == "system" and record.subtype == _KILLED:
            for job in [job for job in self.jobs.values() if job.kind == "subagent"]:
                self._end(job.id, record)
        elif isinstance(record.detail, Attached) and record.detail.kind == "queued_command":
            told = said_in(line(record)).get("attachment") or {}
            if told.get("commandMode") == _NOTIFIED and isinstance(told.get("prompt"), str):
                self._notice(told["prompt"], record)
        elif record.type == "user" and record.plain and record.origin != HUMAN:
            self._plain(record, line)
        for block in record.blocks:
            if block.kind == "tool_use":
                self._asked[block.id] = (block.name, record)
            elif block.kind == "tool_result" and block.id in self._asked:
                tool, asked = self._asked.pop(block.id)
                if record.returned and not block.error and _may_tell(tool, record):
                    self._answer(tool, _input(line(asked), block.id), block, record, line)

    def _plain(self, record: Record, line: Line) -> None:
        content = (said_in(line(record)).get("message") or {}).get("content")
        if not isinstance(content, str):
            return
        if record.origin == _NOTIFIED:
            self._notice(content, record)
        elif content.startswith((_OPENING, *rows("carrier"))):
            for letter in _LETTER.finditer(content):
                self._letter(letter, record)

    def _notice(self, content: str, record: Record) -> None:
        for name in _NOTICE.findall(content)[:1]:
            self._end(name, record)

    def _end(self, name: str, record: Record) -> None:
        self.jobs.pop(name, None)
        self.ended[name] = moment(record.time) or 0.0

    def _letter(self, letter: re.Match[str], record: Record) -> None:
        member = self.members.get(letter["name"])
        time = moment(record.time)
        if member is None or time is None:
            return
        told = _object(letter["body"])
        kind = told.get("type")
        own = moment(told.get("timestamp")) or time
        if kind == _IDLE:
            member.heard.append((own, IDLE, "its letter"))
        elif kind == _GONE:
            member.heard.append((own, FINISHED, "its letter"))
        elif not kind:
            summary = _SUMMARY.search(letter["about"])
            said = summary[1] if summary else letter["body"].strip().partition("\n")[0]
            member.mate = replace(member.mate, wrote=time, said=said)

    def _answer(self, tool: str, asked: Mapping[str, Any], block: Block, record: Record, line: Line) -> None:
        told = said_in(line(record)).get("toolUseResult")
        said: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
        time, seen = moment(record.time), f"result of {tool} {block.id}"
        status = said.get(key("result", "status"))
        if tool in ("Agent", "Task", "SpawnTeammate"):
            name = word_of(said, "name") or word_of(asked, "name")
            if status == key("result", "teammate_spawned") or (tool == "SpawnTeammate" and name):
                self._spawned(name, said, asked, time, seen)
            elif status == key("result", "async_launched") and word_of(said, "agentId"):
                what = word_of(said, "description") or word_of(asked, "description")
                self._began(Job(word_of(said, "agentId"), "subagent", what, time, seen))
        elif tool == "Workflow" and status == key("result", "async_launched") and word_of(said, "taskId"):
            what = word_of(said, "summary") or word_of(said, "workflowName")
            self._began(Job(word_of(said, "taskId"), "workflow", what, time, seen))
        elif tool == "SendMessage":
            self._sent(word_of(said, _WOKEN), asked, time, seen)
        elif tool in _STOPPERS:
            for name in (word_of(said, "task_id"), word_of(said, "shell_id"), *_collected(said)):
                if name:
                    self._end(name, record)
        elif word_of(said, _SHELL_ID):
            what = described(word_of(asked, "description"), word_of(asked, "command"))
            self._began(Job(word_of(said, _SHELL_ID), "shell", what, time, seen))

    def _spawned(
        self, name: str, said: Mapping[str, Any], asked: Mapping[str, Any], time: float | None, seen: str
    ) -> None:
        if not name:
            return
        mate = Mate(
            name,
            word_of(said, key("shape", "teammate_id")) or name,
            word_of(said, "agent_type") or word_of(asked, "subagent_type") or word_of(asked, "agent_type"),
            word_of(said, "team_name") or word_of(asked, "team_name"),
            WORKING,
            time,
            None,
            seen,
        )
        self.members.pop(name, None)
        prompt = word_of(said, "prompt") or word_of(asked, "prompt")
        self.members[name] = Member(mate, prompt, [(time or 0.0, WORKING, seen)])

    def _sent(self, woken: str, asked: Mapping[str, Any], time: float | None, seen: str) -> None:
        member = self.members.get(word_of(asked, "to") or word_of(asked, "recipient"))
        if woken and woken in self._known:
            self._began(replace(self._known[woken], since=time, seen=seen))
        elif member is not None and isinstance(asked.get("message"), str):
            member.heard.append((time or 0.0, WORKING, seen))

    def _began(self, job: Job) -> None:
        self._known[job.id] = self.jobs[job.id] = job
        self.ended.pop(job.id, None)


_STOPPERS = ("TaskStop", "TaskOutput", "KillShell", "KillBash", "BashOutput")
"""Tools that end work in the background, or collect what has ended."""
_SPAWNERS = frozenset({"Agent", "Task", "SpawnTeammate", "Workflow", "SendMessage", "Bash", *_STOPPERS})


def _may_tell(tool: str, record: Record) -> bool:
    return tool in _SPAWNERS and record.size <= LONGEST_ANSWER


def _collected(said: Mapping[str, Any]) -> Iterator[str]:
    task = said.get("task")
    if isinstance(task, Mapping) and task.get("status") not in (None, "running", "pending"):
        yield word_of(task, "task_id")


def _input(line: bytes, name: str) -> Mapping[str, Any]:
    """What a call asked for."""
    content = (said_in(line).get("message") or {}).get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("id") == name and isinstance(part.get("input"), Mapping):
            given: Mapping[str, Any] = part["input"]
            return given
    return {}


def _object(text: str) -> Mapping[str, Any]:
    return said_in(text.encode("utf-8", "replace")) if text.lstrip().startswith("{") else {}


def word_of(said: Mapping[str, Any], name: str) -> str:
    """A field that is a text; "" else."""
    value = said.get(name)
    return value if isinstance(value, str) else ""


def described(what: str, command: str) -> str:
    """What a job does: what it was called, and its command."""
    return f"{what} ({command})" if what and command else what or command
