"""Human turns in a Codex rollout (facts/codex §3; docs/formats-codex.md "Human turns"; 0.140 to 0.171).

A turn is a `response_item` of the role user whose parts a person typed: `content_item_kinds` says so, and in
older files the text itself. A prompt of `codex exec` is a program's, as that of `claude -p` is: since 0.171
each turn says what started it (`turn_attribution.turn_trigger`), before that only the thread does.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from coffer.agents import codex
from coffer.agents.codex_texts import texts_of
from coffer.agents.raw_text import REFUSALS
from coffer.core.dialect import MARKER
from coffer.core.json_lines import Found, decoded, objects
from coffer.core.record import Record
from coffer.core.turn import INTERRUPTED, TYPED, Place, Turn, action, bundle_rules, digest, own_words


class _Passthrough(Struct, gc=False):
    content_item_kinds: Raw = Raw(b"")
    turn_id: str | None = None


class _Attribution(Struct, gc=False):
    turn_trigger: str | None = None


class _Payload(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    role: str | None = None
    content: Raw = Raw(b"")
    cwd: str | None = None
    originator: str | None = None
    source: Raw = Raw(b"")
    turn_id: str | None = None
    reason: str | None = None
    num_turns: int | None = None
    turn_attribution: _Attribution | None = None
    replacement_history: Raw = Raw(b"")
    internal_chat_message_metadata_passthrough: _Passthrough | None = None


class _Line(Struct, gc=False):
    type: str
    timestamp: str | None = None
    payload: _Payload | None = None


_decoder = msgspec.json.Decoder(_Line)
_kinds_decoder = msgspec.json.Decoder(list[Any])

_CALLS = frozenset(
    {"function_call", "custom_tool_call", "tool_search_call", "web_search_call", "local_shell_call"}
)
_USER_KIND, _HOOK_KIND = "user.text", "hooks.additional_context"
_PROGRAMS = ("codex_exec", "codex_sdk", "codex_mcp", "codex-mcp")
"""How originators begin that are no person's: `codex exec`, the SDKs, Codex as an MCP server."""
_MADE = (
    "<environment_context>",
    "<user_instructions>",
    "<user_action>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<skill>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<hook_prompt",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<model_switch>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "Another language model started to solve this problem",
)
"""How texts begin that stand as the user's and are Codex's own (before content_item_kinds existed)."""


class CodexListener:
    """Hears one rollout. Its first line names the thread: copied histories hold their parent's too."""

    def __init__(self) -> None:
        self._place = self._earlier = Place()
        self._above: list[Place] = []
        self._ids: set[str] = set()
        self._echoes: set[str] = set()
        self._delivered: dict[str, None] = {}
        self._session = self._folder = self._turn_id = ""
        self._program = self._subagent = False
        self._trigger: str | None = None

    @property
    def place(self) -> Place:
        """Behind the last record."""
        return self._place

    @property
    def persons(self) -> bool:
        """Whether a person started the thread; what started its last turn says nothing about the next."""
        return not (self._program or self._subagent)

    def hear(self, line: bytes, start: int) -> list[Turn]:
        """The human turns that this line completes."""
        try:
            parsed = _decoder.decode(line)
        except REFUSALS:
            return self._rescue(line.removesuffix(b"\n"), start)
        return self._record(parsed, line, start, start + len(line) - line.endswith(b"\n"))

    def _rescue(self, line: bytes, start: int) -> list[Turn]:
        turns: list[Turn] = []
        for found in objects(line, start):
            if isinstance(found, Found):
                turns += self._record(decoded(found, _decoder), found.clean, found.start, found.end)
            elif found.rescue >= 0:
                rest = line[found.rescue - start :]
                if len(rest) < len(line):
                    turns += self.hear(rest, found.rescue)
        return turns

    def _record(self, line: _Line, raw: bytes, start: int, end: int) -> list[Turn]:
        payload = line.payload
        if payload is None:
            return []
        match line.type:
            case "response_item" if payload.type == "message":
                return self._message(line, payload, start, end)
            case "response_item" if payload.type in _CALLS:
                self._call(raw, start)
            case "event_msg":
                self._event(payload)
            case "turn_context":
                self._folder = payload.cwd or self._folder
                self._turn_id = payload.turn_id or self._turn_id
            case "session_meta" if start == 0 or not self._session:
                self._meta(payload)
            case "compacted" if memoryview(payload.replacement_history).nbytes > len("null"):
                self._delivered = {}
                self._place = self._earlier  # the summary stands as the agent's text just before
            case _:
                pass
        return []

    def _meta(self, payload: _Payload) -> None:
        self._session, self._folder = payload.id or "", payload.cwd or ""
        source = bytes(payload.source)
        self._program = (payload.originator or "").startswith(_PROGRAMS) or source in (b'"exec"', b'"mcp"')
        self._subagent = b'"subagent"' in source or b'"internal"' in source

    def _event(self, payload: _Payload) -> None:
        if payload.type == "task_started":
            self._turn_id = payload.turn_id or ""
            said = payload.turn_attribution
            self._trigger = said.turn_trigger if said is not None else None
        elif payload.type == "turn_aborted" and payload.reason in (None, "interrupted"):
            self._place = self._place.stopped()
        elif payload.type == "thread_rolled_back" and 0 < (back := payload.num_turns or 0) <= len(
            self._above
        ):
            self._place = self._earlier = self._above[-back]
            del self._above[-back:]

    def _call(self, raw: bytes, start: int) -> None:
        for record in codex.translate(raw, start):
            if isinstance(record, Record):
                for block in record.blocks:
                    self._place = self._place.acted(action(block.name, block.path or block.command))

    def _message(self, line: _Line, payload: _Payload, start: int, end: int) -> list[Turn]:
        texts = texts_of(payload.content)
        if payload.role == "assistant":
            said = "\n".join(texts)
            if said.strip():
                self._earlier, self._place = self._place, self._place.heard(said)
            return []
        for text in texts:
            if MARKER in text:
                self._delivered.update(dict.fromkeys(bundle_rules(text)))
        if payload.role != "user" or self._subagent or not self._is_typed():
            return []
        words = "\n".join(filter(None, map(_own_words, _typed(texts, payload))))
        return self._turn(line, payload, words, start, end) if words else []

    def _is_typed(self) -> bool:
        if self._trigger is not None:
            return self._trigger == "user"
        return not self._program

    def _turn(self, line: _Line, payload: _Payload, words: str, start: int, end: int) -> list[Turn]:
        place, time = self._place, line.timestamp or ""
        echo = place.echo_of(words)
        self._above.append(place)
        self._place = self._earlier = place.spoke(words)
        name = self._name(payload, words, place, time)
        if name in self._ids or echo in self._echoes:
            return []
        self._ids.add(name)
        self._echoes.add(echo)
        how = INTERRUPTED if place.interrupted else TYPED
        delivered = tuple(self._delivered)
        return [
            Turn(
                name,
                "codex",
                self._session,
                self._folder,
                time,
                words,
                place.before,
                place.actions,
                how,
                delivered,
                start,
                end,
                echo,
            )
        ]

    def _name(self, payload: _Payload, words: str, place: Place, time: str) -> str:
        """The item's id; before items had one, the turn's id, which copies keep, with the words.

        Rollouts older than turn ids have nothing that lasts: copies get new times. There the agent's text
        before the words stands for it, and the time only for the first words of a thread.
        """
        if payload.id:
            return payload.id
        said = payload.internal_chat_message_metadata_passthrough
        turn = (said.turn_id if said is not None else "") or self._turn_id
        if turn:
            return f"{turn}-{digest(words)}"
        return f"text-{digest(place.before or time, words)}"


def _typed(texts: list[str], payload: _Payload) -> list[str]:
    said = payload.internal_chat_message_metadata_passthrough
    raw = said.content_item_kinds if said is not None else Raw(b"")
    try:
        kinds = _kinds_decoder.decode(raw) if memoryview(raw).nbytes else []
    except REFUSALS:
        kinds = []
    if not kinds:
        return texts
    if len(kinds) != len(texts):
        return texts if any(_kind(kind) == _USER_KIND for kind in kinds) else []
    return [text for text, kind in zip(texts, kinds, strict=True) if _kind(kind) == _USER_KIND]


def _kind(said: Any) -> str:
    return str(said.get("kind", "")) if isinstance(said, dict) else str(said)


def _own_words(text: str) -> str:
    return "" if text.lstrip().startswith(_MADE) else own_words(text)
