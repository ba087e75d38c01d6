"""What the OpenAI Responses API refuses, as a table: one row a rule, with its wording and its public source.

`first_breach(raw, ...)` reads one request body and answers the first row that refuses it, or None. Rows stand
in the order in which the API looks: the bytes, each item's shape, then what must stand together. Where no
public report shows the API's own wording, the row says so.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from tests.lab import openai_checks as checks
from tests.lab.openai_checks import Check, Json, Limits, Sent


@dataclass(frozen=True, slots=True)
class Breach:
    """One refusal: the row's name, and what the API answers (`status`, and the four fields of `error`)."""

    rule: str
    status: int
    message: str
    param: str | None
    code: str | None

    def body(self) -> Json:
        kind = "invalid_request_error"
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


@dataclass(frozen=True, slots=True)
class Rule:
    """A row: `check` yields (param, values for the wording) for each refusal; `source` is a public page."""

    name: str
    check: Check
    wording: str
    code: str | None
    source: str
    status: int = 400


_PARSE = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP "
    "library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you "
    "have trouble figuring out how to fix this, please contact us through our help center at "
    "help.openai.com.)"
)

_MISSING = "Missing required parameter: '{at}'."
_TOO_LONG = (
    "Invalid '{at}': string too long. Expected a string with maximum length {most}, "
    "but got a string with length {got} instead."
)
_VALUE = "Invalid value: '{got}'. Supported values are: "
_ISSUE = "https://github.com/openai/codex/issues/"

# fmt: off
RULES: Final[tuple[Rule, ...]] = (
    Rule("body size", checks.body_size, "request body too large", None, _ISSUE + "39617", status=413),
    Rule("json body", checks.json_body, _PARSE, None,
         "https://platform.openai.com/docs/guides/error-codes"),
    # The API's own report of a half pair is not public; strict parsers refuse it as invalid JSON.
    Rule("lone surrogate", checks.lone_surrogate, _PARSE, None,
         "https://github.com/anomalyco/opencode/pull/17758"),
    Rule("missing model", checks.missing_top, _MISSING, "missing_required_parameter",
         "https://platform.openai.com/docs/api-reference/responses/create"),
    Rule("no input", checks.no_input,
         "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.",
         "missing_required_parameter", "https://platform.openai.com/docs/api-reference/responses/create"),
    Rule("item object", checks.item_object,
         "Invalid type for '{at}': expected an object, but got {got} instead.", "invalid_type",
         "https://github.com/Wei-Shaw/sub2api/issues/3818"),
    Rule("item type", checks.item_type, _VALUE + "{known}.", "invalid_value", _ISSUE + "8829"),
    Rule("role", checks.role, _VALUE + "'assistant', 'system', 'developer', and 'user'.", "invalid_value",
         "https://github.com/anomalyco/opencode/issues/10803"),
    Rule("missing field", checks.missing_field, _MISSING, "missing_required_parameter", _ISSUE + "6926"),
    Rule("string field", checks.string_field,
         "Invalid type for '{at}': expected a string, but got {got} instead.", "invalid_type",
         "https://github.com/Wei-Shaw/sub2api/issues/3818"),
    Rule("content type", checks.content_type,
         "Invalid type for '{at}': expected one of an array of objects or string, but got {got} instead.",
         "invalid_type", "https://platform.openai.com/docs/api-reference/responses/create"),
    Rule("search arguments", checks.search_arguments,
         "Invalid type for '{at}': expected an object, but got {got} instead.", "invalid_type",
         "https://github.com/Wei-Shaw/sub2api/issues/3818"),
    Rule("empty string", checks.empty_string,
         "Invalid '{at}': empty string. Expected a string with minimum length 1, "
         "but got an empty string instead.",
         "empty_string", "https://github.com/decolua/9router/issues/444"),
    Rule("name pattern", checks.name_pattern,
         "Invalid '{at}': string does not match pattern. Expected a string that matches the pattern "
         "'^[a-zA-Z0-9_-]+$'.", "invalid_value", _ISSUE + "24369"),
    Rule("too long", checks.too_long, _TOO_LONG, "string_above_max_length",
         "https://github.com/orchidfiles/ungate/issues/26"),
    Rule("text length", checks.text_length, _TOO_LONG, "string_above_max_length",
         "https://github.com/VectorlyApp/bluebox/issues/31"),
    Rule("property name", checks.property_name,
         "Invalid property name in '{at}': '{key}' is too long. Expected a string with maximum length 256, "
         "but got a string with length {got} instead.", "property_name_above_max_length", _ISSUE + "26402"),
    Rule("id letters", checks.id_letters,
         "Invalid '{at}': '{got}'. Expected an ID that contains letters, numbers, underscores, or dashes, "
         "but this value contained additional characters.", "invalid_value",
         "https://github.com/langchain-ai/langchainjs/issues/11044"),
    Rule("id prefix", checks.id_prefix,
         "Invalid '{at}': '{got}'. Expected an ID that begins with '{prefix}'.", "invalid_value",
         "https://github.com/jlcodes99/cockpit-tools/issues/2090"),
    Rule("assistant part", checks.assistant_part, _VALUE + "'output_text' and 'refusal'.", "invalid_value",
         "https://github.com/jeremychone/rust-genai/pull/119"),
    Rule("input part", checks.input_part, _VALUE + "{known}.", "invalid_value",
         "https://github.com/jeremychone/rust-genai/pull/119"),
    Rule("image url", checks.image_url,
         "Invalid '{at}'. Expected a base64-encoded data URL with an image MIME type "
         "(e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got {got}.", "invalid_value",
         _ISSUE + "32287"),
    Rule("search action", checks.search_action, _VALUE + "'search', 'open_page', and 'find_in_page'.",
         "invalid_value", _ISSUE + "6945"),
    Rule("encrypted content", checks.encrypted_seal,
         "The encrypted content {head}...{tail} could not be verified.", "invalid_encrypted_content",
         _ISSUE + "8128"),
    Rule("duplicate id", checks.duplicate_id,
         "Duplicate item found with id {id}. Remove duplicate items from your input and try again.", None,
         "https://github.com/openai/openai-agents-python/issues/1789"),
    Rule("call without output", checks.call_without_output, "No tool output found for {what} {id}.", None,
         _ISSUE + "93"),
    Rule("output without call", checks.output_without_call,
         "No tool call found for {what} output with call_id {id}.", None,
         "https://github.com/cline/cline/issues/9288"),
    Rule("reasoning follower", checks.reasoning_follower,
         "Item '{id}' of type 'reasoning' was provided without its required following item.", None,
         _ISSUE + "1235"),
    Rule("required reasoning", checks.required_reasoning,
         "Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: '{needed}'.", None,
         "https://github.com/vercel/ai/issues/7099"),
    Rule("context length", checks.context_length,
         "Your input exceeds the context window of this model. Please adjust your input and try again.",
         "context_length_exceeded", _ISSUE + "19269"),
)
# fmt: on


def read(raw: bytes, limits: Limits, paired: Mapping[str, str]) -> Sent:
    """Parse one body; a body that is no JSON object keeps `body` None, which the row "json body" refuses."""
    try:
        found: Any = json.loads(raw)
    except ValueError:
        found = None
    body = found if isinstance(found, dict) else None
    if body is not None and isinstance(body.get("input"), str) and body["input"]:
        part = {"type": "input_text", "text": body["input"]}
        body = {**body, "input": [{"type": "message", "role": "user", "content": [part]}]}
    return Sent(raw, body, limits, paired)


def breaches(sent: Sent) -> list[Breach]:
    """Return the first refusal of each row that refuses, in the table's order."""
    found = []
    for rule in RULES:
        for param, values in rule.check(sent):
            found.append(Breach(rule.name, rule.status, rule.wording.format(**values), param, rule.code))
            break
    return found


def first_breach(
    raw: bytes,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    paired: Mapping[str, str] = MappingProxyType({}),
) -> Breach | None:
    """Return what the API would answer to this body instead of a reply, or None when it takes the body."""
    return next(iter(breaches(read(raw, limits, paired))), None)
