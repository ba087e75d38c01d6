"""Our entries in an agent's hooks: found among others', put in, taken out.

Both agents keep `{"hooks": {EVENT: [{"matcher": …, "hooks": [HANDLER, …]}, …]}}`. An entry is ours when the base name
of its command's first word is `coffer-hook`, whatever its folder, quotes and arguments are: a former version's path,
another installation's and a copy that somebody moved into their own group are found alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct, field

from coffer.core.json_edit import BOM, JsonRefused, Node, parse, plain

STUB = "coffer-hook"
"""Base name of the command: what our entries are known by, in all versions (DESIGN section 4)."""

_ENDS_WORD = frozenset(" \t\n;|&<>()")


class HookEvent(Struct, frozen=True):
    """An event that we answer or learn from. timeout: seconds. reason: why. since: the first version that knows it."""

    name: str
    timeout: int
    reason: str
    since: tuple[int, ...] = ()


class Wanted(Struct, frozen=True):
    """What should stand in an event. values: handlers that do, the first is what we write.

    required: False where an entry may stand but is not added, since this client may be too old for the event.
    """

    event: str
    values: tuple[dict[str, Any], ...]
    required: bool = True


class Dialect(Struct, frozen=True):
    """What is particular to one agent's hooks file.

    positional: trust hangs on an entry's place, so nobody else's entry may move. top_level: the only keys that the
    agent takes beside each other; empty: any. bom: whether it reads a file with a byte order mark.
    """

    name: str
    title: str
    file: str
    positional: bool = False
    top_level: frozenset[str] = frozenset()
    bom: bool = True


class Added(Struct, frozen=True):
    """What an install had to add around the entries, so that taking them out leaves the text as it was.

    blank: the whole text, where there was none to speak of. absent: there was no file. root, hooks, arrays: what
    stood between the brackets of the empty root, `hooks`, events. hooks_key, events: keys that were added.
    """

    absent: bool = False
    blank: str | None = None
    root: str | None = None
    hooks_key: bool = False
    hooks: str | None = None
    events: tuple[str, ...] = ()
    arrays: dict[str, str] = field(default_factory=dict)

    def then(self, later: Added) -> Added:
        """The same for two installs in a row, without an uninstall between them: the first saw the original."""
        return Added(
            absent=self.absent or later.absent,
            blank=later.blank if self.blank is None else self.blank,
            root=later.root if self.root is None else self.root,
            hooks_key=self.hooks_key or later.hooks_key,
            hooks=later.hooks if self.hooks is None else self.hooks,
            events=tuple(dict.fromkeys(self.events + later.events)),
            arrays=later.arrays | self.arrays,
        )


@dataclass(frozen=True, slots=True)
class Group:
    """One group of an event. ours: places of our handlers in it. count: all its handlers."""

    node: Node
    ours: tuple[int, ...]
    count: int
    matcher: Any

    @property
    def handlers(self) -> list[Node]:
        """The handlers, ours and others'."""
        found = self.node.get("hooks")
        return found.items if found else []


@dataclass(frozen=True, slots=True)
class Hooks:
    """A hooks file that was understood. text: without None; blank ones have no root."""

    text: str
    root: Node | None
    hooks: Node | None
    events: Mapping[str, tuple[Group, ...]]


@dataclass(frozen=True, slots=True)
class Look:
    """What of ours stands in a file. kept: event → place of the group whose entry is as wanted.

    copies: all our entries. stale: those among them that this build would not leave.
    """

    kept: Mapping[str, int]
    copies: int
    stale: int
    missing: tuple[str, ...]

    @property
    def current(self) -> bool:
        """Whether nothing would change."""
        return not self.missing and not self.stale


def first_word(command: str) -> str:
    """The first word of a shell command; "" where it has none, or a quote that does not end.

    Not `shlex.split`: one quote missing anywhere in somebody else's command makes that raise.
    """
    word, quote, at = [], "", 0
    command = command.lstrip()
    while at < len(command):
        sign = command[at]
        if quote:
            if sign == quote:
                quote = ""
            elif sign == "\\" and quote == '"' and command[at + 1 : at + 2] in ('"', "\\", "$", "`"):
                at += 1
                word.append(command[at])
            else:
                word.append(sign)
        elif sign in "'\"":
            quote = sign
        elif sign in _ENDS_WORD:
            break
        elif sign == "\\":
            at += 1
            word.append(command[at : at + 1])
        else:
            word.append(sign)
        at += 1
    return "" if quote else "".join(word)


def is_ours(handler: Node) -> bool:
    """Whether a handler runs our stub: in a shell, or by itself with `args`."""
    kind, command, args = handler.get("type"), handler.get("command"), handler.get("args")
    if (kind is not None and kind.value != "command") or command is None or command.kind != "string":
        return False
    runs = command.value if args is not None and args.kind == "array" else first_word(command.value)
    return bool(runs.rsplit("/", 1)[-1] == STUB)


def require_taken(hooks: Hooks, dialect: Dialect) -> None:
    """Raises JsonRefused where the agent drops the whole file, though it is sound JSON."""
    if hooks.text.startswith(BOM) and not dialect.bom:
        raise JsonRefused(1, f"it begins with a byte order mark, so {dialect.title} drops the whole file")
    members = hooks.root.members if hooks.root and dialect.top_level else []
    for member in members:
        if member.key not in dialect.top_level:
            only = " and ".join(f"“{key}”" for key in sorted(dialect.top_level))
            why = f"{dialect.title} takes only {only} here and drops the whole file because of “{member.key}”"
            raise JsonRefused(_line(hooks.text, member.start), why)


def read(text: str) -> Hooks:
    """Understand a hooks file. Raises JsonRefused where it is not sound, or a type in it is wrong."""
    if not text.lstrip(BOM).strip(" \t\r\n"):
        return Hooks(text, None, None, {})
    root = parse(text)
    _expect(text, root, "object", "the file")
    hooks = root.get("hooks")
    events: dict[str, tuple[Group, ...]] = {}
    if hooks is not None:
        _expect(text, hooks, "object", "“hooks”")
        events = {member.key: _groups(text, member.key, member.value) for member in hooks.members}
    return Hooks(text, root, hooks, events)


def _groups(text: str, event: str, node: Node) -> tuple[Group, ...]:
    _expect(text, node, "array", f"“hooks.{event}”")
    groups = []
    for item in node.items:
        _expect(text, item, "object", f"a group in “hooks.{event}”")
        handlers = item.get("hooks")
        if handlers is not None:
            _expect(text, handlers, "array", f"“hooks” of a group in “hooks.{event}”")
        each = handlers.items if handlers else []
        for handler in each:
            _expect(text, handler, "object", f"an entry in “hooks.{event}”")
        ours = tuple(at for at, handler in enumerate(each) if is_ours(handler))
        matcher = item.get("matcher")
        groups.append(Group(item, ours, len(each), plain(matcher) if matcher else None))
    return tuple(groups)


_WORDS = {"object": "an object { }", "array": "a list [ ]", "string": "a text", "number": "a number"}


def _expect(text: str, node: Node, kind: str, what: str) -> None:
    if node.kind != kind:
        is_now = _WORDS.get(node.kind, "true, false or null")
        raise JsonRefused(_line(text, node.start), f"{what} is {is_now}, not {_WORDS[kind]}")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def look(hooks: Hooks, wanted: Sequence[Wanted]) -> Look:
    """What of ours is there, and what of it is as it should be: one entry an event, in a group without a matcher."""
    kept: dict[str, int] = {}
    copies = sum(len(group.ours) for groups in hooks.events.values() for group in groups)
    for one in wanted:
        for place, group in enumerate(hooks.events.get(one.event, ())):
            as_wanted = [at for at in group.ours if plain(group.handlers[at]) in one.values]
            if as_wanted and len(group.ours) == 1 and group.matcher in (None, "", "*"):
                kept[one.event] = place
                break
    missing = tuple(one.event for one in wanted if one.required and one.event not in kept)
    return Look(kept, copies, copies - len(kept), missing)
