"""Which reply a scenario has for a request, and the output items of a reply: pure, for `openai_server.py`."""

import json
import re
import uuid
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from tests.lab.openai_checks import MODEL_ITEMS, Json, kind, seal

NAMED: Final = re.compile(r"@@([A-Za-z0-9_.-]+)@@")
INLINE: Final = re.compile(r"@@(\[.*?\])@@", re.DOTALL)
# Codex 0.171.0: the last user message of a compaction request, and the head of the summary it puts back.
COMPACT: Final = "CONTEXT CHECKPOINT COMPACTION"
SUMMARY: Final = "Another language model started to solve this problem"
TITLE: Final = re.compile(r"generate a (concise|short)[^.]{0,80}title|thread title", re.IGNORECASE)
NO_END: Final = 1 << 30

Turn = Mapping[str, Any]


def text_of(item: Json) -> str:
    """Return the text of a message, parts joined by newlines."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    found = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in found if isinstance(part, dict))


def items_of(body: Json) -> list[Json]:
    found = body.get("input")
    if isinstance(found, str):
        return [{"type": "message", "role": "user", "content": found}]
    return [i for i in found if isinstance(i, dict)] if isinstance(found, list) else []


def last_user(items: list[Json]) -> str:
    return next((text_of(i) for i in reversed(items) if i.get("role") == "user"), "")


def choose(
    scenario: Json, path: str, body: Json, nth: int, used: MutableMapping[str, int]
) -> tuple[Turn, str]:
    """Return (turn, how it was found); `used` counts the rules and turns that were spent."""
    items = items_of(body)
    for n, rule in enumerate(scenario.get("rules", [])):
        name = f"rule:{rule.get('id', n)}"
        if used.get(name, 0) < rule.get("times", NO_END) and matches(rule.get("when", {}), path, body, nth):
            used[name] = used.get(name, 0) + 1
            return rule, name
    if COMPACT in last_user(items):
        return scenario.get("compact", {"text": "SUMMARY: what was done so far."}), "compact"
    if wants_title(body):
        return scenario.get("title", {"text": json.dumps({"title": "A lab thread"})}), "title"
    if found := scripted(scenario, items):
        return found
    turns = scenario.get("turns", [])
    spent = used.get("turns", 0)
    if spent < len(turns):
        used["turns"] = spent + 1
        return turns[spent], f"turn[{spent}]"
    return scenario.get("default", {"text": "OK."}), "default"


def wants_title(body: Json) -> bool:
    """Tell the TUI's request for a thread's title (a thread of its own, without tools)."""
    return not body.get("tools") and bool(TITLE.search(json.dumps(body.get("input", ""))[:20000]))


def matches(when: Mapping[str, Any], path: str, body: Json, nth: int) -> bool:
    items = items_of(body)
    texts = {"last_user": last_user(items), "model": str(body.get("model", ""))}
    if "any" in when:
        texts["any"] = json.dumps(body, ensure_ascii=False)
    same = {"nth": nth, "last_type": kind(items[-1]) if items else ""}
    return (
        all(re.search(when[key], text, re.DOTALL) for key, text in texts.items() if key in when)
        and all(when[key] == value for key, value in same.items() if key in when)
        and path.startswith(when.get("path", ""))
    )


def scripted(scenario: Json, items: list[Json]) -> tuple[Turn, str] | None:
    """Find the script in the newest user message that has one, and the turn that is due."""
    scripts = scenario.get("scripts", {})
    end: Turn = scenario.get("after_script", {"text": "SCRIPT-END"})
    replies, in_reply = 0, False
    for item in reversed(items):
        from_model = kind(item) in MODEL_ITEMS or item.get("role") == "assistant"
        replies += from_model and not in_reply
        in_reply = from_model
        if item.get("role") != "user":
            continue
        text = text_of(item)
        if text.startswith(SUMMARY):
            return None if not any(NAMED.search(text_of(i)) for i in items) else (end, "script-compacted")
        turns, name = script_in(text, scripts)
        if turns is not None:
            return (turns[replies], f"{name}[{replies}]") if replies < len(turns) else (end, f"{name}-end")
    return None


def script_in(text: str, scripts: Mapping[str, list[Turn]]) -> tuple[list[Turn] | None, str]:
    if inline := INLINE.findall(text):
        return json.loads(inline[-1]), "inline"
    named = [name for name in NAMED.findall(text) if name in scripts]
    return (scripts[named[-1]], f"script:{named[-1]}") if named else (None, "")


def build_items(turn: Turn) -> list[Json]:
    """Build the output items of a turn, with new ids."""
    given = turn.get("items", [{"message": turn["text"]}] if "text" in turn else [])
    return [build_item(item) for item in given]


def build_item(item: Json) -> Json:
    new = uuid.uuid4().hex[:24]
    match item:
        case {"raw": dict() as raw}:
            return raw
        case {"message": str(text)}:
            part = {"type": "output_text", "text": text, "annotations": []}
            phase = {"phase": item["phase"]} if "phase" in item else {}
            head = {"type": "message", "id": f"msg_{new}", "role": "assistant", "status": "completed"}
            return {**head, "content": [part], **phase}
        case {"reasoning": str(text)}:
            summary = [{"type": "summary_text", "text": text}]
            return {
                "type": "reasoning",
                "id": f"rs_{new}",
                "summary": summary,
                "encrypted_content": seal(text),
            }
        case {"call": str(name)}:
            args = item.get("args", {})
            call = {
                "type": "function_call",
                "id": f"fc_{new}",
                "call_id": item.get("call_id", f"call_{new}"),
                "name": name,
                "arguments": args if isinstance(args, str) else json.dumps(args),
                "status": "completed",
            }
            return {**call, "namespace": item["namespace"]} if "namespace" in item else call
        case {"custom": str(name), "input": str(text)}:
            head = {"type": "custom_tool_call", "id": f"ctc_{new}", "status": "completed"}
            return {**head, "call_id": item.get("call_id", f"call_{new}"), "name": name, "input": text}
    raise ValueError(f"not an item of a turn: {json.dumps(item)[:200]}")
