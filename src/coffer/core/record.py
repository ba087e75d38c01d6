"""What one line of a transcript says, parsed once at the door.

A record never holds the line's text: it holds where the line stands (`start`, `end`, byte offsets) and the
few facts that the chain, the usage and the composition need. Contents are read again where they are shown.
That keeps memory proportional to the number of records, not to their size (cases 49, 51, 57).
"""

from __future__ import annotations

from msgspec import Struct


class Usage(Struct, frozen=True, gc=False):
    """Token counts that the API answered for one message (facts/claude-code §6); all in tokens."""

    input: int = 0
    cache_creation: int = 0
    cache_read: int = 0
    output: int = 0
    total: int = 0

    @property
    def prompt(self) -> int:
        """Tokens of the request, cached or not."""
        return self.input + self.cache_creation + self.cache_read

    @property
    def context(self) -> int:
        """Tokens in the context after the answer: request and answer, or the total that was stated."""
        return self.total or self.prompt + self.output


class Block(Struct, frozen=True, gc=False):
    """One content block of a message, without its content.

    size: UTF-8 bytes of what the model reads; for an image or document 0, its bytes are in `media`.
    id: of a tool_use, or the tool_use that a tool_result answers. path: the file that a call is about;
    command: what it runs or asks for where it is about no file. blank: a text of white space only.
    placeholder: the client's own "(no content)".
    interruption: the client's own "[Request interrupted …]". valid: False for a text that is no string.
    signature: characters of a thinking block's signature. nontext: a result whose list holds more than text.
    partial: a call that asks for a part of a file. stays: what a prune must leave: the launch of work in the
    background, whose end the client looks for; a person's words with a rejection. digest: equal for equal
    contents, reminder: for equal
    system reminders at the end of a result (0: none), both within one process only.
    """

    kind: str
    size: int = 0
    id: str = ""
    name: str = ""
    path: str = ""
    command: str = ""
    media: int = 0
    images: int = 0
    blank: bool = False
    empty: bool = False
    placeholder: bool = False
    interruption: bool = False
    valid: bool = True
    signature: int = 0
    error: bool = False
    nontext: bool = False
    partial: bool = False
    stays: bool = False
    digest: int = 0
    reminder: int = 0

    @property
    def signed(self) -> bool:
        """Whether a thinking block carries the signature without which the API refuses it."""
        return self.signature > 0


class Attached(Struct, frozen=True, gc=False):
    """The payload of an `attachment` record. size: UTF-8 bytes of its texts that the model reads.

    digest: equal for equal texts, within one process only. bundle: it is Coffer's own (the fixed marker).

    silent: it leaves no word in a request. call: the tool_use or hook run that it belongs to.
    """

    kind: str
    event: str = ""
    call: str = ""
    size: int = 0
    silent: bool = False
    digest: int = 0
    bundle: bool = False


class Boundary(Struct, frozen=True, gc=False):
    """A `compact_boundary`: what was dropped and what is re-linked behind the summary (facts §3).

    preserved: uuids listed in `preservedMessages`; head and tail: ends of a `preservedSegment`;
    anchor: the uuid behind which they are linked. Tokens as the client counted them, or None.
    """

    trigger: str = ""
    before: int | None = None
    after: int | None = None
    listed: bool = False
    preserved: tuple[str, ...] = ()
    head: str = ""
    tail: str = ""
    anchor: str = ""

    @property
    def keeps(self) -> bool:
        """Whether messages before the boundary stay in the view."""
        return self.listed or bool(self.tail)


class Pointer(Struct, frozen=True, gc=False):
    """A `last-prompt` record: the leaf that the client last stood on. leaf None: it named none."""

    leaf: str | None = None
    explicit: bool = False
    cleared: bool = False
    rewound: bool = False


class Naming(Struct, frozen=True, gc=False):
    """A record that names the session: custom-title, ai-title, summary, or a prompt."""

    title: str
    leaf: str = ""


class Retraction(Struct, frozen=True, gc=False):
    """Uuids that the client took back after a refusal (`model_refusal_fallback`)."""

    uuids: tuple[str, ...] = ()


class Snapshot(Struct, frozen=True, gc=False):
    """A file-history snapshot: the message whose files it keeps."""

    message: str = ""


class Replacements(Struct, frozen=True, gc=False):
    """A `content-replacement` record: tool results that the client sends as a shorter text."""

    calls: tuple[str, ...] = ()


class Window(Struct, frozen=True, gc=False):
    """A context window that a record states, in tokens, and the field that states it."""

    tokens: int
    source: str


Detail = Attached | Boundary | Pointer | Naming | Retraction | Snapshot | Replacements | Window


LONGEST_COMMAND = 240
"""Characters of a command that a block keeps."""

ALWAYS, SMALL_FILES, LARGE_FILES, NEVER = 0, 1, 2, 3
"""For which files the client reads a record's line: any, up to 5 MiB, above, or none (docs/formats.md)."""


class Record(Struct, gc=False):
    """One JSON object of a transcript. start and end: its bytes in the file, without the newline.

    parent "" is JSON null or no parent. time: ISO 8601 as written. sidecar: bytes of `toolUseResult`, which
    the model never sees (facts §4 j). plain: the content is one string. returned: the record carries a tool's
    result beside its message. stop: why the model stopped. origin: who
    sent a user record, where the client says so (human, task-notification, …). nested: Codex, which item of a
    compaction's history. role and blocks are empty where the record carries no message.
    """

    start: int
    end: int
    type: str
    subtype: str = ""
    uuid: str = ""
    parent: str = ""
    time: str = ""
    role: str = ""
    message: str = ""
    model: str = ""
    stop: str = ""
    plain: bool = False
    origin: str = ""
    sidechain: bool = False
    meta: bool = False
    summary: bool = False
    failed: bool = False
    virtual: bool = False
    returned: bool = False
    blocks: tuple[Block, ...] = ()
    usage: Usage | None = None
    sidecar: int = 0
    read: int = ALWAYS
    nested: int = -1
    detail: Detail | None = None

    @property
    def size(self) -> int:
        """Bytes of the record in the file, without the newline."""
        return self.end - self.start
