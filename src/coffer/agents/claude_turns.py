"""Human turns in a Claude Code transcript (facts/claude-code §3, §11; docs/formats.md "Human turns").

File order is not chain order, and rewound prompts stay as dead branches, so what a turn looks back on is
taken from its parent and not from the line above. Offsets are bytes.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import msgspec

from coffer.agents.claude_answers import Question, questions, typed_answers
from coffer.agents.claude_turn_lines import (
    Line,
    Message,
    Part,
    attached_texts,
    decoder,
    is_persons,
    parts,
    prompt_texts,
    queued_decoder,
    target_of,
    text_of,
)
from coffer.agents.raw_text import REFUSALS, string
from coffer.core.dialect import INTERRUPTIONS, MARKER, SYNTHETIC
from coffer.core.json_lines import Found, decoded, objects
from coffer.core.turn import (
    INTERRUPTED,
    REJECTED,
    TYPED,
    Action,
    Place,
    Turn,
    action,
    bundle_rules,
    digest,
    normal,
    own_words,
)


class _Said(NamedTuple):
    """Words of a person: how they came, the question that they answer, and which of their record they are."""

    words: str
    how: str = TYPED
    asked: str = ""
    nth: int = 0


_MOST_PLACES = 60_000
"""Records whose place is remembered; a parent further back is as rare as a rewind over that many records."""
_MOST_EARLY = 20
"""Records in a row that may stand before their parent: a turn's summary and duration (2.1.197)."""
_SAID = "the user said:"
_REFUSED = "doesn't want to proceed with this tool use"
_NOTE = "\n\nNote: The user's next message may contain a correction or preference."
_CLARIFY = "The user wants to clarify these questions."
_BUNDLE = MARKER.encode()


class ClaudeListener:
    """Hears one transcript of Claude Code."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}
        self._last = Place()
        self._early: dict[str, str] = {}  # record → its parent, which comes later
        self._ids: set[str] = set()
        self._echoes: set[str] = set()
        self._delivered: dict[str, None] = {}
        self._questions: dict[str, list[Question]] = {}
        self._calls: dict[str, Action] = {}
        self._attaches = False
        self._queue: deque[tuple[str, str]] = deque()
        self._taken: list[tuple[str, str, Place]] = []

    @property
    def place(self) -> Place:
        """Behind the last record; a rewind stands in no file before its first prompt does."""
        return self._last

    @property
    def persons(self) -> bool:
        """Each record says for itself who sent it, and the client's variable who will (`is_program`)."""
        return True

    def hear(self, line: bytes, start: int) -> list[Turn]:
        """The human turns that this line completes."""
        try:
            parsed = decoder.decode(line)
        except REFUSALS:
            return self._rescue(line.removesuffix(b"\n"), start)
        return self._record(parsed, start, start + len(line) - line.endswith(b"\n"))

    def _rescue(self, line: bytes, start: int) -> list[Turn]:
        """A line that is not one plain object: whatever whole records stand in it are heard."""
        turns: list[Turn] = []
        for found in objects(line, start):
            if isinstance(found, Found):
                turns += self._record(decoded(found, decoder), found.start, found.end)
            elif found.rescue >= 0:
                rest = line[found.rescue - start :]
                if len(rest) < len(line):
                    turns += self.hear(rest, found.rescue)
        return turns

    def _record(self, line: Line, start: int, end: int) -> list[Turn]:
        if line.type == "queue-operation":
            self._queued(line)
            return []
        if line.is_sidechain or not line.uuid:
            return []
        place = self._place(line)
        turns: list[Turn] = []
        if line.type == "assistant" and line.message is not None:
            turns = self._overdue(line, start, end)
            place = self._answer(line, line.message, place)
        elif line.type == "user" and line.message is not None:
            turns, place = self._user(line, line.message, place, start, end)
        elif line.type == "attachment":
            turns, place = self._attachment(line, place, start, end)
        elif line.subtype == "compact_boundary":
            self._delivered = {}
        elif line.parent_uuid and (line.parent_uuid not in self._places or line.parent_uuid in self._early):
            self._early[line.uuid] = line.parent_uuid
        self._remember(line.uuid, place)
        return turns

    def _place(self, line: Line) -> Place:
        """Behind which place the record stands. An unknown parent: behind the record before it."""
        if line.parent_uuid:
            return self._places.get(self._late(line.parent_uuid), self._last)
        if line.subtype == "compact_boundary":
            return self._places.get(line.logical_parent_uuid or "", self._last)
        return Place()

    def _late(self, uuid: str) -> str:
        """The record behind which one that came before its parent stands, once that is there."""
        for _ in range(_MOST_EARLY):
            parent = self._early.get(uuid)
            if parent is None or (parent not in self._places and parent not in self._early):
                break
            uuid = parent
        return uuid

    def _remember(self, uuid: str, place: Place) -> None:
        if len(self._places) >= _MOST_PLACES:
            self._early.clear()
            for old in list(self._places)[: _MOST_PLACES // 2]:
                del self._places[old]
        self._places[uuid] = self._last = place

    def _answer(self, line: Line, message: Message, place: Place) -> Place:
        if line.is_api_error_message or line.is_virtual or message.model == SYNTHETIC:
            return place
        for part in parts(message.content):
            if part.type == "text":
                said = string(part.text)
                place = place.heard(said) if said.strip() else place
            elif part.type == "tool_use":
                self._calls[part.id] = call = action(part.name, target_of(part.input))
                place = place.acted(call)
                if part.name == "AskUserQuestion":
                    self._questions[part.id] = questions(bytes(part.input))
        return place

    def _user(
        self, line: Line, message: Message, place: Place, start: int, end: int
    ) -> tuple[list[Turn], Place]:
        turns: list[Turn] = []
        said: list[str] = []
        persons = is_persons(line)
        for part in parts(message.content):
            if part.type == "text":
                text = string(part.text)
                if text.strip() in INTERRUPTIONS:
                    place = place.stopped()
                else:
                    said.append(text)
            elif part.type == "tool_result":
                answer = self._result(line, part)
                call = self._calls.pop(part.tool_use_id, None)
                if call is not None and answer.how == REJECTED:
                    place = place.refused(call)
                if answer.how == INTERRUPTED:
                    place = place.stopped()
                elif answer.words and persons:
                    answer = answer._replace(nth=len(turns))
                    found, place = self._turn(line, place, answer, start, end)
                    turns += found
        if any(MARKER in text for text in said):
            self._deliver(said)
            return turns, place
        if persons:
            words = "\n".join(filter(None, map(own_words, said)))
            if words:
                found, place = self._turn(line, place, _Said(words, nth=len(turns)), start, end)
                turns += found
        return turns, place

    def _result(self, line: Line, part: Part) -> _Said:
        """What the person said with a result: with a refusal, or in answer to a question."""
        asked = self._questions.pop(part.tool_use_id, None)
        refused = _REFUSED.encode() in bytes(memoryview(part.content)[:_REFUSAL_HEAD])
        if not refused and asked is None and not _holds_questions(line):
            return _Said("")
        text = text_of(part.content)
        if not refused:
            answered = typed_answers(text, bytes(line.tool_use_result), asked or [])
            return _Said(answered.words, asked=answered.asked)
        words = text.partition(_SAID)[2].split(_NOTE, 1)[0].strip()
        if not words:
            return _Said("", INTERRUPTED)
        return _Said("") if words.startswith(_CLARIFY) else _Said(own_words(words), REJECTED)

    def _attachment(self, line: Line, place: Place, start: int, end: int) -> tuple[list[Turn], Place]:
        self._attaches = True
        raw = bytes(line.attachment)
        if _BUNDLE in raw:
            self._deliver(attached_texts(raw))
        if b'"queued_command"' not in raw:
            return [], place
        try:
            queued = queued_decoder.decode(raw)
        except REFUSALS:
            return [], place
        human = queued.origin is None or queued.origin.kind in (None, "human")
        if queued.type != "queued_command" or not human or queued.is_meta:
            return [], place
        if (queued.command_mode or "prompt") != "prompt" or not is_persons(line):
            return [], place
        words = "\n".join(filter(None, map(own_words, prompt_texts(queued.prompt))))
        return self._turn(line, place, _Said(words), start, end) if words else ([], place)

    def _deliver(self, said: list[str]) -> None:
        for text in said:
            self._delivered.update(dict.fromkeys(bundle_rules(text)))

    def _queued(self, line: Line) -> None:
        """Before attachments were written, a prompt taken in mid-turn stood only here (2.1.33 to 2.1.63)."""
        if self._attaches:
            self._queue.clear()
        elif line.operation == "enqueue":
            self._queue.append((line.timestamp or "", string(line.content)))
        elif line.operation in ("dequeue", "remove") and self._queue:
            taken = self._queue.popleft()
            if line.operation == "remove" and own_words(taken[1]) and not taken[1].startswith('{"task_id"'):
                self._taken.append((*taken, self._last))
        elif line.operation == "popAll":
            self._queue.clear()

    def _overdue(self, line: Line, start: int, end: int) -> list[Turn]:
        """Prompts that were taken out of the queue and that no record before this answer repeats.

        They have no record: their turns bear the answer's bytes, and look back from where they were taken.
        """
        turns: list[Turn] = []
        taken, self._taken = self._taken, []
        if not is_persons(line):
            return turns
        for when, text, place in taken:
            made = msgspec.structs.replace(line, uuid=f"queue-{digest(when, text)}", timestamp=when)
            turns += self._turn(made, place, _Said(own_words(text)), start, end)[0]
        return turns

    def _turn(self, line: Line, place: Place, said: _Said, start: int, end: int) -> tuple[list[Turn], Place]:
        """The turn, unless it was heard before; and the place behind it."""
        words = said.words
        self._taken = [taken for taken in self._taken if normal(own_words(taken[1])) not in normal(words)]
        name = f"{line.uuid}-{said.nth + 1}" if said.nth else line.uuid or ""
        echo = place.echo_of(words)
        behind = place.spoke(words)
        if name in self._ids or echo in self._echoes:
            return [], behind
        self._ids.add(name)
        self._echoes.add(echo)
        turn = Turn(
            name,
            "claude",
            line.session_id or "",
            line.cwd or "",
            line.timestamp or "",
            words,
            "\n\n".join(filter(None, (place.before, said.asked))),
            place.actions,
            INTERRUPTED if said.how == TYPED and place.interrupted else said.how,
            tuple(self._delivered),
            start,
            end,
            echo,
        )
        return [turn], behind


_REFUSAL_HEAD = 200
"""Bytes at whose beginning a refusal says so; what quotes one further down is a file or a log."""


def _holds_questions(line: Line) -> bool:
    return bytes(memoryview(line.tool_use_result)[:12]) == b'{"questions"'
