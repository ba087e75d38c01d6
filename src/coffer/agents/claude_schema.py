"""The fields of a Claude Code record that Coffer reads; msgspec skips all others without building them.

A field that is not here costs nothing, and a value of another type than stands here sends the line through
`core.json_lines`. Names are the client's (facts/claude-code §3, key catalogue).
"""

from __future__ import annotations

from msgspec import Raw, Struct, field


class Source(Struct, gc=False):
    data: Raw = Raw(b"")
    url: Raw = Raw(b"")


class Part(Struct, gc=False):
    type: str = ""
    text: str | float | bool | None = None
    thinking: str | None = None
    data: str | None = None
    signature: str | None = None
    id: str = ""
    name: str = ""
    input: Raw = Raw(b"")
    tool_use_id: str = ""
    content: Raw = Raw(b"")
    is_error: bool | None = None
    source: Source | None = None


class Input(Struct, gc=False):
    file_path: str = ""
    notebook_path: str = ""
    path: str = ""
    command: str = ""
    url: str = ""
    pattern: str = ""
    description: str = ""
    offset: Raw = Raw(b"")
    limit: Raw = Raw(b"")
    pages: Raw = Raw(b"")
    run_in_background: Raw = Raw(b"")


class Usage(Struct, gc=False):
    input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    output_tokens: int | None = 0


class Message(Struct, gc=False):
    id: str | None = None
    role: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    content: str | list[Part] | None = None
    usage: Usage | None = None


class Segment(Struct, gc=False):
    head: str = field(name="headUuid", default="")
    tail: str = field(name="tailUuid", default="")
    anchor: str = field(name="anchorUuid", default="")


class Preserved(Struct, gc=False):
    anchor: str = field(name="anchorUuid", default="")
    uuids: list[str] = field(default_factory=list)


class Compaction(Struct, gc=False):
    trigger: str | None = None
    before: int | None = field(name="preTokens", default=None)
    after: int | None = field(name="postTokens", default=None)
    segment: Segment | None = field(name="preservedSegment", default=None)
    messages: Preserved | None = field(name="preservedMessages", default=None)


class Replaced(Struct, gc=False):
    call: str = field(name="toolUseId", default="")


class Origin(Struct, gc=False):
    kind: str | None = None


class Line(Struct, gc=False, rename="camel"):
    type: str
    origin: Origin | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    is_virtual: bool | None = None
    message: Message | None = None
    attachment: Raw = Raw(b"")
    tool_use_result: Raw = Raw(b"")
    content: str | None = None
    compact_metadata: Compaction | None = None
    leaf_uuid: str | None = None
    explicit: bool | None = None
    rewound: bool | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    summary: str | None = None
    last_prompt: str | None = None
    message_id: str | None = None
    retracted_message_uuids: list[str] | None = None
    replacements: list[Replaced] | None = None
