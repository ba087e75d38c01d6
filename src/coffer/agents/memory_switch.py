"""The switch of each agent's own memory: where it stands, turned off, and turned back to what it was.

Claude Code 2.1.197: `autoMemoryEnabled` in the user's settings.json (facts/claude-code §9). Codex 0.171.0: `memories`
of `[features]` and `generate_memories` of `[memories]` in config.toml (facts/codex §5; the first stops what is put into
a session, the second what is gathered from it). What else stands in these files is carried as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from coffer.core.json_edit import (
    BOM,
    Edit,
    JsonRefused,
    Layout,
    append,
    base_of,
    edited,
    inner,
    parse,
    plain,
    without,
)

Form = Literal["json", "toml"]


class Switch(Struct, frozen=True):
    """keys: the path of each key in the file. outranks: the environment variable that the client heeds first.

    default: what holds where nothing is said.
    """

    file: str
    form: Form
    keys: tuple[tuple[str, ...], ...]
    default: bool
    outranks: str = ""


SWITCHES: Mapping[str, Switch] = {
    "claude": Switch(
        "settings.json",
        "json",
        (("autoMemoryEnabled",),),
        default=True,
        outranks="CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    ),
    "codex": Switch(
        "config.toml", "toml", (("features", "memories"), ("memories", "generate_memories")), default=False
    ),
}
"""By agent. The first key alone decides whether a session is given memories."""


class Was(Struct, frozen=True):
    """What stood at one key. text: the value as it was written; None: nothing. made: its table was not there."""

    key: tuple[str, ...]
    text: str | None = None
    made: bool = False


class Before(Struct, frozen=True):
    """What a switch was before it was turned off, of each key that changed.

    absent: there was no file. blank: all that the file held, where it was blanks. inner: what stood between the
    brackets of an empty JSON object.
    """

    was: tuple[Was, ...] = ()
    absent: bool = False
    blank: str | None = None
    inner: str | None = None


class Back(Struct, frozen=True):
    """A file after the switch was turned back. theirs: keys that somebody else set since, which stay."""

    text: str | None
    theirs: tuple[str, ...] = ()


class SwitchRefused(Exception):
    """A file in which the switch can't be turned. line: from 1, 0 for the whole. reason: a clause."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


def values(text: str | None, switch: Switch) -> tuple[Any, ...]:
    """What stands at each key; None for nothing. Raises SwitchRefused."""
    if text is None or not text.lstrip(BOM).strip():
        return tuple(None for _ in switch.keys)
    said = _json(text) if switch.form == "json" else _toml(text)
    return tuple(_at(said, key) for key in switch.keys)


def turn_off(text: str | None, switch: Switch) -> tuple[str | None, Before]:
    """The text with the memory off; unchanged where it is. Raises SwitchRefused."""
    if all(value is False for value in values(text, switch)):
        return text, Before()
    return _json_off(text, switch) if switch.form == "json" else _toml_off(text, switch)


def turn_back(text: str | None, switch: Switch, before: Before) -> Back:
    """The text with what stood there before; what somebody else set since is theirs. Raises SwitchRefused."""
    if text is None or not before.was:
        return Back(text)
    now = dict(zip(switch.keys, values(text, switch), strict=True))
    theirs = tuple(".".join(one.key) for one in before.was if now[one.key] is not False)
    ours = [one for one in before.was if now[one.key] is False]
    back = _json_back(text, ours, before) if switch.form == "json" else _toml_back(text, ours)
    if not theirs and before.blank is not None and not _has_content(back, switch):
        return Back(None if before.absent else before.blank)
    return Back(back, theirs)


def _at(said: Any, key: Sequence[str]) -> Any:
    for part in key:
        if not isinstance(said, dict):
            return None
        said = said.get(part)
    return said


def _has_content(text: str, switch: Switch) -> bool:
    said = _json(text) if switch.form == "json" else text.lstrip(BOM).strip()
    return bool(said)


# --- JSON


def _json(text: str) -> Any:
    try:
        said = plain(parse(text))
    except JsonRefused as error:
        raise SwitchRefused(error.line, error.reason) from error
    if not isinstance(said, dict):
        raise SwitchRefused(1, "the file is of a wrong type")
    return said


def _json_off(text: str | None, switch: Switch) -> tuple[str, Before]:
    """JSON switches have one key, at the top."""
    ((name,),) = switch.keys
    said = text or ""
    if not said.lstrip(BOM).strip():
        begun = (BOM if said.startswith(BOM) else "") + "{}\n"
        after, done = _json_off(begun, switch)
        return after, Before(done.was, text is None, said, done.inner)
    root = parse(said)
    found = root.get(name)
    if found is not None:
        was = Was((name,), said[found.start : found.end])
        return edited(said, [Edit(found.start, found.end, "false")]), Before((was,))
    layout = Layout.of(said, root)
    edit = append(layout, root, [(name, False)], base_of(layout, None, root))
    return edited(said, [edit]), Before(
        (Was((name,)),), inner=inner(said, root) if not root.members else None
    )


def _json_back(text: str, ours: Sequence[Was], before: Before) -> str:
    for one in ours:
        root = parse(text)
        place, member = next((at, each) for at, each in enumerate(root.members) if each.key == one.key[0])
        if one.text is None:
            text = edited(text, without(root, {place}, before.inner or ""))
        else:
            text = edited(text, [Edit(member.value.start, member.value.end, one.text)])
    return text


# --- TOML


def _toml(text: str) -> Any:
    """The document, which writes itself again byte for byte. Raises SwitchRefused."""
    import tomlkit  # noqa: PLC0415  (only this needs it)
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    body = text.removeprefix(BOM)
    try:
        said = tomlkit.parse(body)
    except TOMLKitError as error:
        line = getattr(error, "line", 0)
        raise SwitchRefused(int(line or 0), "it is no TOML") from error
    except RecursionError as error:
        raise SwitchRefused(0, "its values are nested too deeply") from error
    if tomlkit.dumps(said) != body:
        raise SwitchRefused(0, "it is written in a way that Coffer can't keep")
    return said


def _toml_off(text: str | None, switch: Switch) -> tuple[str, Before]:
    said = text or ""
    mark = BOM if said.startswith(BOM) else ""
    was: list[Was] = []
    for key in switch.keys:
        said, one = _toml_set(said.removeprefix(BOM), key)
        was += [one] if one is not None else []
    blank = text or "" if not (text or "").lstrip(BOM).strip() else None
    return mark + said, Before(tuple(was), text is None, blank)


def _toml_set(text: str, key: tuple[str, ...]) -> tuple[str, Was | None]:
    import tomlkit  # noqa: PLC0415

    table, name = key
    said = _toml(text)
    line = "\r\n" if "\r\n" in text else "\n"
    there = said.get(table)
    if there is None:
        gap = "" if not text.strip() or text.endswith((line * 2, "\n\n")) else line
        end = "" if not text or text.endswith("\n") else line
        return f"{text}{end}{gap}[{table}]{line}{name} = false{line}", Was(key, made=True)
    if not isinstance(there, dict):
        raise SwitchRefused(0, f"“{table}” is of a wrong type")
    value = there.get(name)
    if value is False:
        return text, None
    was = None if value is None else str(tomlkit.item(value).as_string())
    there[name] = False
    return tomlkit.dumps(said), Was(key, was)


def _toml_back(text: str, ours: Sequence[Was]) -> str:
    import tomlkit  # noqa: PLC0415

    mark, body = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    for one in reversed(ours):
        table, name = one.key
        said = _toml(body)
        if one.made and len(said[table]) == 1 and (found := _own_table(body, table, name)):
            body = body[: found[0]] + body[found[1] :]
            continue
        if one.text is None:
            del said[table][name]
        else:
            said[table][name] = tomlkit.parse(f"x = {one.text}")["x"]
        body = tomlkit.dumps(said)
    return mark + body


def _own_table(text: str, table: str, name: str) -> tuple[int, int] | None:
    """Where the table that we wrote stands, with the blank line before it; None where it was written to since."""
    found = re.search(rf"(?:(?<=\n)\r?\n)?^\[{table}\]\r?\n{name} = false(?:\r?\n|\Z)", text, re.MULTILINE)
    return found.span() if found else None
