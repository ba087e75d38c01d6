"""What the scripted model answers: scenarios, turns, and how a reply is chosen and built.

A reply is chosen by the first of these that matches:
 1. a rule of the scenario (regular expressions on parts of the request);
 2. the newest user text that asks for a script: `@@NAME@@`, or `@@[{turn}, …]@@` (the script itself), or just
    the name where a script's name is a phrase (has a space); the turn is the number of assistant messages
    after that text, so parallel subagents, retries and resumes need no state;
 3. the scenario's `turns`, in order;
 4. the scenario's `default`.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMED = re.compile(r"@@([A-Za-z0-9_.\-]+)@@")
INLINE = re.compile(r"@@(\[.*?\])@@", re.DOTALL)
IMAGE_TOKENS = 1_600  # about the most one image costs (public vision guide)
SIGNATURE_BYTES = 96


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool_use of a turn; without an id the model makes one up."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the scripted model, or one refusal of its server.

    `status` answers with that HTTP status and `error` (type, message) instead of a message; delays are in
    seconds; `usage` overrides single counters; `content` is put between thinking and text as it is.
    """

    text: str | None = None
    thinking: str | None = None
    tools: tuple[ToolCall, ...] = ()
    content: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    stop_reason: str | None = None
    model: str | None = None
    delay_s: float = 0.0
    chunk_delay_s: float = 0.0
    status: int = 200
    error: tuple[str, str] = ("api_error", "scripted")
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """Read a turn from JSON as it stands in a scenario or an inline script."""
        fields = dict(raw)
        fields["tools"] = tuple(ToolCall(**call) for call in raw.get("tools", ()))
        fields["content"] = tuple(raw.get("content", ()))
        if "error" in raw:
            fields["error"] = (raw["error"]["type"], raw["error"]["message"])
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Match:
    """Answer a request with `reply` when every pattern is found (`re.search`, dot matches newline).

    Pattern keys: last_user (text and tool results of the last user message), last_user_text (its text only),
    system, model, any (the whole body as JSON). `has_tool` names a tool that must be offered.
    """

    patterns: Mapping[str, str]
    reply: Turn
    has_tool: str | None = None
    times: int | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything one scripted model knows."""

    rules: tuple[Match, ...] = ()
    scripts: Mapping[str, Sequence[Turn]] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()
    default: Turn = field(default_factory=lambda: Turn(text="OK"))
    after_script: Turn = field(default_factory=lambda: Turn(text="SCRIPT-END"))
    chars_per_token: float = 4.0
    title: str = "Scripted session"

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """Read a scenario from JSON: {rules: [{match, reply, once, name}], scripts, turns, default, …}."""
        fields = dict(raw)
        fields["rules"] = tuple(_parse_rule(rule) for rule in raw.get("rules", ()))
        fields["scripts"] = {n: tuple(map(Turn.parse, s)) for n, s in raw.get("scripts", {}).items()}
        fields["turns"] = tuple(map(Turn.parse, raw.get("turns", ())))
        for key in ("default", "after_script"):
            if key in raw:
                fields[key] = Turn.parse(raw[key])
        return cls(**fields)


def _parse_rule(raw: Mapping[str, Any]) -> Match:
    patterns = dict(raw.get("match", {}))
    has_tool = patterns.pop("has_tool", None)
    times = 1 if raw.get("once") else raw.get("times")
    return Match(patterns, Turn.parse(raw.get("reply", {})), has_tool, times, raw.get("name", ""))


def inline(*turns: Mapping[str, Any]) -> str:
    """Write turns as an inline script, to be put into a prompt."""
    return f"@@{json.dumps(turns)}@@"


class Model:
    """The scripted model: scenario plus the little state it needs. Safe to call from several threads."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._lock = threading.Lock()
        self._turn = 0
        self._used: dict[int, int] = {}
        self._cached: dict[str, int] = {}

    def choose(self, body: Mapping[str, Any]) -> tuple[Turn, str]:
        """Choose the reply; the second value says how (`rule:0:name`, `script:X[2]`, `inline[0]`, …)."""
        if is_title_request(body):
            return Turn(text=_title_json(body, self.scenario.title)), "title"
        with self._lock:
            return self._by_rule(body) or _by_script(body, self.scenario) or self._in_order()

    def _by_rule(self, body: Mapping[str, Any]) -> tuple[Turn, str] | None:
        texts = _Texts(body)
        for i, rule in enumerate(self.scenario.rules):
            if rule.times is not None and self._used.get(i, 0) >= rule.times:
                continue
            if rule.has_tool and rule.has_tool not in {tool.get("name") for tool in body.get("tools") or ()}:
                continue
            if all(re.search(pattern, texts[key], re.DOTALL) for key, pattern in rule.patterns.items()):
                self._used[i] = self._used.get(i, 0) + 1
                return rule.reply, f"rule:{i}:{rule.name}"
        return None

    def _in_order(self) -> tuple[Turn, str]:
        if self._turn < len(self.scenario.turns):
            self._turn += 1
            return self.scenario.turns[self._turn - 1], f"turn[{self._turn - 1}]"
        return self.scenario.default, "default"

    def usage(self, body: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]], who: str) -> dict[str, Any]:
        """Count tokens as characters over `chars_per_token`; what `who` sent before counts as cached."""
        total = count_tokens(body, self.scenario.chars_per_token)
        with self._lock:
            read = min(self._cached.get(who, 0), total - 3)
            self._cached[who] = total
        return {
            "input_tokens": 3,
            "cache_creation_input_tokens": total - 3 - read,
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": total - 3 - read,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": max(1, round(_chars(blocks) / self.scenario.chars_per_token)),
            "service_tier": "standard",
        }

    def build(self, turn: Turn, body: Mapping[str, Any], who: str) -> dict[str, Any]:
        """Build the API message of a turn."""
        blocks: list[Mapping[str, Any]] = []
        thinking = turn.thinking
        if thinking is None and _must_think(body):
            thinking = "Let me see."  # a model with thinking enabled always thinks first
        if thinking is not None:
            blocks.append({"type": "thinking", "thinking": thinking, "signature": new_signature()})
        blocks += turn.content
        if turn.text is not None:
            blocks.append({"type": "text", "text": turn.text})
        blocks += [
            {"type": "tool_use", "id": c.id or new_id("toolu_01"), "name": c.name, "input": dict(c.input)}
            for c in turn.tools
        ]
        if not blocks:
            blocks.append({"type": "text", "text": "OK"})
        calls = any(block["type"] == "tool_use" for block in blocks)
        return {
            "id": new_id("msg_01"),
            "type": "message",
            "role": "assistant",
            "model": turn.model or str(body.get("model", "")),
            "content": blocks,
            "stop_reason": turn.stop_reason or ("tool_use" if calls else "end_turn"),
            "stop_sequence": None,
            "usage": {**self.usage(body, blocks, who), **turn.usage},
        }


def new_id(prefix: str) -> str:
    """Make an id of the API's shape (`toolu_01…`, `msg_01…`, `req_011C…`)."""
    return prefix + secrets.token_hex(11)


def new_signature() -> str:
    """Make a signature for a thinking block; no two are equal."""
    return secrets.token_urlsafe(SIGNATURE_BYTES)


def is_title_request(body: Mapping[str, Any]) -> bool:
    """Say whether this asks for a session title (the interactive client does, early in a session)."""
    output = body.get("output_config") or {}
    return not body.get("tools") and (output.get("format") or {}).get("type") == "json_schema"


def _title_json(body: Mapping[str, Any], title: str) -> str:
    schema = body["output_config"]["format"].get("schema") or {}
    return json.dumps(dict.fromkeys(schema.get("properties") or {"title": {}}, title))


def text_of(content: object, *, results: bool = False) -> str:
    """Join the text blocks of a message's content, with those inside tool results if wanted."""
    if isinstance(content, str):
        return content
    texts = []
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "text":
            texts.append(block.get("text", ""))
        elif results and block.get("type") == "tool_result":
            texts.append("[tool_result]" + text_of(block.get("content")))
    return "\n".join(texts)


class _Texts:
    """The parts of a request that rules can match, made when first asked for."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body

    def __getitem__(self, key: str) -> str:
        body = self.body
        if key == "any":
            return json.dumps(body, ensure_ascii=False)
        if key == "system":
            return text_of(body.get("system"))
        if key == "model":
            return str(body.get("model", ""))
        users = [m for m in body.get("messages") or () if m.get("role") == "user"]
        last = users[-1].get("content") if users else None
        return text_of(last, results=key == "last_user")


def _by_script(body: Mapping[str, Any], scenario: Scenario) -> tuple[Turn, str] | None:
    after = 0
    for message in reversed(body.get("messages") or ()):
        if message.get("role") == "assistant":
            after += 1
        if message.get("role") != "user":  # role "system" carries listings and hook context
            continue
        text = text_of(message.get("content"))
        script, name = _script_in(text, scenario)
        if script is not None:
            turn = script[after] if after < len(script) else scenario.after_script
            return turn, f"{name}[{after}]" if after < len(script) else f"{name}:end"
    return None


def _script_in(text: str, scenario: Scenario) -> tuple[Sequence[Turn] | None, str]:
    written = INLINE.findall(text)
    if written:
        try:
            return [Turn.parse(turn) for turn in json.loads(written[-1])], "inline"
        except (ValueError, TypeError, KeyError) as error:
            return [Turn(text=f"BAD INLINE SCRIPT: {error}")], "inline-bad"
    named = [name for name in NAMED.findall(text) if name in scenario.scripts]
    named = named or [name for name in scenario.scripts if " " in name and name in text]
    if named:
        return scenario.scripts[named[-1]], f"script:{named[-1]}"
    return None, ""


def _must_think(body: Mapping[str, Any]) -> bool:
    """With `thinking: enabled` the first reply after a person's message starts with thinking."""
    if (body.get("thinking") or {}).get("type") != "enabled":
        return False
    last = (body.get("messages") or [{}])[-1]
    content = last.get("content")
    results = isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
    return not results


def _chars(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def count_tokens(body: Mapping[str, Any], chars_per_token: float) -> int:
    """Estimate the tokens of a request: characters of system, tools and messages; images at a flat price."""
    parts = [body.get(key) for key in ("system", "tools", "messages") if body.get(key)]
    return sum(
        round((_chars(p) - _image_chars(p)) / chars_per_token) + _images(p) * IMAGE_TOKENS for p in parts
    )


def _walk_images(value: object) -> list[str]:
    if isinstance(value, dict):
        if value.get("type") == "base64":
            return [str(value.get("data", ""))]
        return [data for item in value.values() for data in _walk_images(item)]
    if isinstance(value, list):
        return [data for item in value for data in _walk_images(item)]
    return []


def _image_chars(value: object) -> int:
    return sum(map(len, _walk_images(value)))


def _images(value: object) -> int:
    return len(_walk_images(value))
