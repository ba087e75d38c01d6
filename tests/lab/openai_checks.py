"""The checks behind the table in `openai_rules.py`: one function a rule, pure, over one request body.

A check yields (param, values for the rule's wording) for every place that it refuses; no item of any shape
makes it raise. What the API answers is written beside each row there.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

Json = dict[str, Any]

NAME_PATTERN: Final = r"^[a-zA-Z0-9_-]+$"
SEAL: Final = "gAAAAAlab"
OUTPUT_OF: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "tool_search_call": "tool_search_output",
}
CALL_WORD: Final = {
    "function_call": "function call",
    "custom_tool_call": "custom tool call",
    "local_shell_call": "local shell call",
    "tool_search_call": "tool search call",
}
ITEM_TYPES: Final = (
    "message", "reasoning", *OUTPUT_OF, *OUTPUT_OF.values(), "web_search_call", "image_generation_call",
    "item_reference", "compaction", "compaction_summary", "mcp_call", "mcp_list_tools",
    "mcp_approval_request", "mcp_approval_response", "file_search_call", "computer_call",
    "computer_call_output", "code_interpreter_call", "shell_call", "shell_call_output", "apply_patch_call",
    "apply_patch_call_output",
)  # fmt: skip
MODEL_ITEMS: Final = frozenset({*OUTPUT_OF, "reasoning", "web_search_call", "image_generation_call"})
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "message": ("role", "content"),
    "reasoning": ("summary",),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id", "output"),
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id", "output"),
}
STRINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "reasoning": ("encrypted_content",),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id",),
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id",),
}
ID_PREFIX: Final[Mapping[str, str]] = {
    "message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc",
}  # fmt: skip
INPUT_PARTS: Final = (
    "input_text", "input_image", "output_text", "refusal", "input_file", "computer_screenshot",
    "summary_text",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server may vary: bytes of a body, characters of a text, tokens of the window (None: no end)."""

    body_bytes: int = 512 * 1024 * 1024
    text_chars: int = 10_485_760
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it came: the bytes, their JSON (None when they are none), the items, the limits.

    `paired` maps the id of an item that this server once answered to the id of the reasoning item before it.
    """

    raw: bytes
    body: Json | None
    limits: Limits
    paired: Mapping[str, str] = field(default_factory=dict)

    @property
    def items(self) -> list[tuple[int, Json]]:
        sent = (self.body or {}).get("input")
        return [(n, i) for n, i in enumerate(sent) if isinstance(i, dict)] if isinstance(sent, list) else []


Found = tuple[str | None, dict[str, Any]]
Check = Callable[[Sent], Iterator[Found]]


def kind(item: Json) -> str:
    """Return the item's type; an item with a role and no type is a message, as in the API."""
    found = item.get("type", "message" if "role" in item else "")
    return found if isinstance(found, str) else ""


def seal(text: str) -> str:
    """Make an `encrypted_content` that `verify_seal` accepts: our prefix, the text, a check sum."""
    body = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode()
    return f"{SEAL}{body}.{hashlib.sha256(body.encode()).hexdigest()[:16]}=="


def named(item: Json, key: str) -> str:
    """Return a field that should be a string; anything else counts as missing."""
    found = item.get(key)
    return found if isinstance(found, str) else ""


def parts(item: Json) -> Iterator[tuple[str, Json]]:
    """Yield (place inside the item, part) of a message's content or of a list-shaped tool output."""
    for key in ("content", "output"):
        value = item.get(key)
        if isinstance(value, list):
            yield from ((f"{key}[{n}]", part) for n, part in enumerate(value) if isinstance(part, dict))


def word_for(value: object) -> str:
    """Name a JSON type as the API's messages name it."""
    names = (
        (bool, "a boolean"),
        (int, "an integer"),
        (float, "a decimal"),
        (str, "a string"),
        (dict, "an object"),
    )
    return "null" if value is None else next((w for t, w in names if isinstance(value, t)), "an array")


def json_body(sent: Sent) -> Iterator[Found]:
    if sent.body is None and len(sent.raw) <= sent.limits.body_bytes:
        yield None, {}


def lone_surrogate(sent: Sent) -> Iterator[Found]:
    if sent.body is not None and b"\\ud" in sent.raw.lower():
        try:
            json.dumps(sent.body, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            yield None, {}


def body_size(sent: Sent) -> Iterator[Found]:
    if len(sent.raw) > sent.limits.body_bytes:
        yield None, {}


def missing_top(sent: Sent) -> Iterator[Found]:
    if sent.body is not None:
        yield from ((k, {"at": k}) for k in ("model",) if not sent.body.get(k))


def no_input(sent: Sent) -> Iterator[Found]:
    if sent.body is not None and not sent.body.get("input") and not sent.body.get("previous_response_id"):
        yield None, {}


def item_object(sent: Sent) -> Iterator[Found]:
    given = (sent.body or {}).get("input")
    for n, item in enumerate(given if isinstance(given, list) else []):
        if not isinstance(item, dict):
            yield f"input[{n}]", {"at": f"input[{n}]", "got": word_for(item)}


def item_type(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        if kind(item) not in ITEM_TYPES:
            yield f"input[{n}]", {"got": item.get("type", ""), "known": known(sorted(ITEM_TYPES))}


def known(values: list[str] | tuple[str, ...]) -> str:
    """List values as the API does: 'a', 'b', and 'c'; two without a comma."""
    quoted = [f"'{v}'" for v in values]
    comma = "," if len(quoted) > 2 else ""
    return ", ".join(quoted[:-1]) + f"{comma} and {quoted[-1]}"


def role(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        got = item.get("role", "user") if kind(item) == "message" else "user"
        if got not in ("assistant", "system", "developer", "user"):
            yield f"input[{n}]", {"got": got}


def missing_field(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        for name in REQUIRED.get(kind(item), ()):
            if name not in item:
                yield f"input[{n}].{name}", {"at": f"input[{n}].{name}"}


def string_field(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        for name in STRINGS.get(kind(item), ()):
            optional = name == "encrypted_content"
            if name in item and not isinstance(item[name], str) and not (optional and item[name] is None):
                yield f"input[{n}].{name}", {"at": f"input[{n}].{name}", "got": word_for(item[name])}


def content_type(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        for name in ("content", "output"):
            wanted = kind(item) == "message" or (name == "output" and kind(item) in OUTPUT_OF.values())
            if wanted and name in item and not isinstance(item[name], str | list):
                yield f"input[{n}].{name}", {"at": f"input[{n}].{name}", "got": word_for(item[name])}


def search_arguments(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        if kind(item) == "tool_search_call" and not isinstance(item.get("arguments"), dict):
            at = f"input[{n}].arguments"
            yield at, {"at": at, "got": word_for(item.get("arguments"))}


def empty_string(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        for name in ("name", "call_id"):
            if item.get(name) == "":
                yield f"input[{n}].{name}", {"at": f"input[{n}].{name}"}


def names(sent: Sent) -> Iterator[tuple[str, str]]:
    """Yield (place, name) of calls and of the tools that the request offers."""
    yield from ((f"input[{n}].name", i["name"]) for n, i in sent.items if isinstance(i.get("name"), str))
    tools = (sent.body or {}).get("tools")
    for n, tool in enumerate(tools if isinstance(tools, list) else []):
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            yield f"tools[{n}].name", tool["name"]


def name_pattern(sent: Sent) -> Iterator[Found]:
    for at, name in names(sent):
        if name and not re.fullmatch(NAME_PATTERN[1:-1], name):
            yield at, {"at": at}


def too_long(sent: Sent) -> Iterator[Found]:
    limits = {"call_id": 64, "id": 64, "name": 128}
    for n, item in sent.items:
        for name, most in limits.items():
            got = item.get(name)
            if isinstance(got, str) and len(got) > most:
                at = f"input[{n}].{name}"
                yield at, {"at": at, "most": most, "got": len(got)}


def text_length(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        texts = [(name, item.get(name)) for name in ("output", "arguments", "content")]
        texts += [(f"{place}.text", part.get("text")) for place, part in parts(item)]
        for place, text in texts:
            if isinstance(text, str) and len(text) > sent.limits.text_chars:
                at = f"input[{n}].{place}"
                yield at, {"at": at, "most": sent.limits.text_chars, "got": len(text)}


def property_name(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        arguments = item.get("arguments")
        for key in arguments if isinstance(arguments, dict) else ():
            if len(key) > 256:
                at = f"input[{n}].arguments"
                yield f"{at}.{key}", {"at": at, "key": f"{key[:3]}...{key[-3:]}", "got": len(key)}


def id_prefix(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        got, prefix = item.get("id"), ID_PREFIX.get(kind(item))
        if isinstance(got, str) and prefix and re.fullmatch(r"[\w-]+", got) and not got.startswith(prefix):
            yield f"input[{n}].id", {"at": f"input[{n}].id", "got": got, "prefix": prefix}


def id_letters(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        got = item.get("id")
        if isinstance(got, str) and not re.fullmatch(r"[a-zA-Z0-9_-]+", got):
            yield f"input[{n}].id", {"at": f"input[{n}].id", "got": got}


def assistant_part(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        for place, part in parts(item) if item.get("role") == "assistant" else ():
            if part.get("type") not in ("output_text", "refusal"):
                yield f"input[{n}].{place}", {"got": part.get("type", "")}


def input_part(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        for place, part in parts(item) if item.get("role") in ("user", "developer", "system") else ():
            if part.get("type") not in INPUT_PARTS:
                yield f"input[{n}].{place}", {"got": part.get("type", ""), "known": known(INPUT_PARTS)}


def image_url(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        for place, part in parts(item):
            url = part.get("image_url")
            if part.get("type") == "input_image" and isinstance(url, str) and not url.startswith("http"):
                head, _, data = url.partition(";base64,")
                image = re.fullmatch(r"data:image/(png|jpeg|jpg|gif|webp)", head)
                if fault := "" if image and is_base64(data) else image_fault(head, data):
                    yield (
                        f"input[{n}].{place}.image_url",
                        {"at": f"input[{n}].{place}.image_url", "got": fault},
                    )


def image_fault(head: str, data: str) -> str:
    if not head.startswith("data:"):
        return "a value without the 'data:' prefix"
    mime = head.removeprefix("data:")
    return "empty base64-encoded bytes" if not data else f"unsupported MIME type '{mime}'"


def is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except binascii.Error:
        return False


def search_action(sent: Sent) -> Iterator[Found]:
    for n, item in sent.items:
        action = item.get("action") if kind(item) == "web_search_call" else None
        if isinstance(action, dict) and action.get("type") not in ("search", "open_page", "find_in_page"):
            yield f"input[{n}].action.type", {"got": action.get("type", "")}


def encrypted_seal(sent: Sent) -> Iterator[Found]:
    for _, item in sent.items:
        got = item.get("encrypted_content")
        if isinstance(got, str) and got.startswith("gAAA"):
            body, _, tail = got.removeprefix(SEAL).rpartition(".")
            if not got.startswith(SEAL) or tail != hashlib.sha256(body.encode()).hexdigest()[:16] + "==":
                yield None, {"head": got[:4], "tail": got[-4:]}


def context_length(sent: Sent) -> Iterator[Found]:
    most = sent.limits.context_tokens
    if sent.body is not None and most is not None and tokens_of(sent.body) > most:
        yield "input", {}


def tokens_of(body: Json) -> int:
    """Estimate the tokens of a request's input: four bytes of JSON a token."""
    return len(json.dumps(body.get("input")).encode()) // 4


def duplicate_id(sent: Sent) -> Iterator[Found]:
    seen: set[str] = set()
    for _, item in sent.items:
        if (found := named(item, "id")) in seen:
            yield "input", {"id": found}
        seen.update({found} - {""})


def call_without_output(sent: Sent) -> Iterator[Found]:
    answered = {(kind(i), named(i, "call_id")) for _, i in sent.items if kind(i) in OUTPUT_OF.values()}
    for _, item in sent.items:
        wanted, found = OUTPUT_OF.get(kind(item)), named(item, "call_id")
        if wanted and found and (wanted, found) not in answered:
            yield "input", {"what": CALL_WORD[kind(item)], "id": found}


def output_without_call(sent: Sent) -> Iterator[Found]:
    called: set[tuple[str, str]] = set()
    word = {OUTPUT_OF[k]: w for k, w in CALL_WORD.items()}
    for _, item in sent.items:
        found = named(item, "call_id")
        if kind(item) in OUTPUT_OF:
            called.add((OUTPUT_OF[kind(item)], found))
        elif kind(item) in word and found and (kind(item), found) not in called:
            yield "input", {"what": word[kind(item)], "id": found}


def reasoning_follower(sent: Sent) -> Iterator[Found]:
    items = [item for _, item in sent.items]
    for item, after in pairwise([*items, {}]):
        follows = kind(after) in MODEL_ITEMS or after.get("role") == "assistant"
        if kind(item) == "reasoning" and named(item, "id") and not follows:
            yield "input", {"id": item["id"]}


def required_reasoning(sent: Sent) -> Iterator[Found]:
    present = {named(i, "id") for _, i in sent.items}
    for _, item in sent.items:
        needed = sent.paired.get(named(item, "id"))
        if needed and needed not in present:
            yield "input", {"id": item["id"], "kind": kind(item), "needed": needed}
