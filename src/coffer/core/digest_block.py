"""One rule of a digest and the lines that hold it: reading, writing, changing only what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coffer.core.digest_text import (
    FIELDS,
    ONCE,
    DigestUnreadable,
    Field,
    Kind,
    Section,
    fields,
    first_word,
    hidden,
    hostile,
    kinds,
    one_line,
    read_day,
    read_importance,
    read_source,
    rule_heading,
    write_heading,
    write_importance,
    write_source,
)
from coffer.core.rule import Persistence, Priority, Rule, State

_PLAIN = {
    "Scope": "scope",
    "Before": "before",
    "After": "after",
    "Signal": "signal",
    "Trigger": "trigger",
    "Superseded by": "superseded",
}
"""Fields that are texts, and the attribute that holds each."""


def extent(block: Sequence[str], what: Sequence[Kind]) -> int:
    """How many lines of a heading and what follows are the rule: to the end of its last field's paragraph."""
    end = max((field.line + field.more + 1 for field in fields(block, what)), default=1)
    while end < len(block) and what[end] == "text":
        end += 1
    return end


def read_rule(
    block: Sequence[str], what: Sequence[Kind], section: Section, default: Persistence, first: int
) -> tuple[Rule, str | None]:
    """The rule of a block and why it is refused, None if it isn't.

    first: line number of the heading. default: the persistence where the block doesn't say. Raises
    DigestUnreadable for a block that can't be understood.
    """
    heading = rule_heading(block[0])
    if heading is None:
        raise DigestUnreadable(first, "a rule heading without an id such as [R001] or [P001]")
    name, title = heading
    found = _checked(name, fields(block, what), first)
    said = {field.name: field.value for field in reversed(found)}
    priority = _priority(found, section, first)
    importance = read_importance(said.get("Importance") or "1")
    assert importance is not None
    parts = importance.parts or {}
    source, count = read_source(said.get("Source", ""))
    if count is None:
        count = parts.get("correction", 0) if parts else max(0, importance.number)
    seen = read_day(said.get("First seen", ""))
    text = said["Rule"]
    rule = Rule(
        name,
        title,
        text,
        priority,
        section.state,
        source=source,
        first_seen=seen,
        last_seen=read_day(said.get("Last reinforced", "")) or seen,
        importance=importance.number,
        corrections=count,
        upvotes=parts.get("upvote", 0),
        downvotes=parts.get("downvote", 0),
        persistence=_persistence(said.get("Persistence", ""), default),
    )
    rule = replace(
        rule,
        scope=said.get("Scope", ""),
        before=said.get("Before", ""),
        after=said.get("After", ""),
        signal=said.get("Signal", ""),
        trigger=said.get("Trigger", ""),
        superseded=said.get("Superseded by", ""),
    )
    return rule, refusal(rule)


def refusal(rule: Rule) -> str | None:
    """Why a rule may not be delivered: its text, or what stands beside it in a delivered block or a list."""
    beside = ((what, hidden(value)) for what, value in (("title", rule.title), ("scope", rule.scope)))
    return hostile(rule.text) or next((f"its {what}: {why}" for what, why in beside if why), None)


def _checked(name: str, found: list[Field], first: int) -> list[Field]:
    """The fields, once they are known to be readable."""
    seen: set[str] = set()
    for field in found:
        line = first + field.line
        if field.name in ONCE and field.name in seen:
            raise DigestUnreadable(line, f"rule {name} has a second **{field.name}**")
        seen.add(field.name)
        unreadable = {
            "First seen": read_day(field.value) is None,
            "Last reinforced": read_day(field.value) is None,
            "Importance": read_importance(field.value) is None,
            "Persistence": field.value.lower() not in ("session", "persistent"),
        }
        if field.value and unreadable.get(field.name):
            raise DigestUnreadable(line, f"rule {name}: “{field.value[:40]}” is no {_MEANT[field.name]}")
    text = next((field for field in found if field.name == "Rule"), None)
    if text is None or not text.value:
        line = first + (text.line if text else 0)
        raise DigestUnreadable(line, f"rule {name} has no **Rule**" + (" text" if text else ""))
    return found


_MEANT = {
    "First seen": "date",
    "Last reinforced": "date",
    "Importance": "number",
    "Persistence": "persistence (session or persistent)",
}


def _priority(found: list[Field], section: Section, first: int) -> Priority:
    """Hard where the section or the field says so: a person who edits by hand may have changed only one."""
    field = next((field for field in found if field.name == "Priority" and field.value), None)
    word = first_word(field.value).lower().rstrip(",;.") if field else section.priority or "soft"
    if word not in ("hard", "soft"):
        assert field is not None
        raise DigestUnreadable(first + field.line, f"unknown priority “{field.value[:40]}”: HARD or SOFT")
    return "hard" if "hard" in (word, section.priority) else "soft"


def _persistence(value: str, default: Persistence) -> Persistence:
    match value.lower():
        case "session":
            return "session"
        case "persistent":
            return "persistent"
        case _:
            return default


def filed(rule: Rule) -> Rule:
    """A rule as a file gives it back: texts on one line, no evidence, no handle."""
    return replace(
        rule,
        title=one_line(rule.title),
        text=one_line(rule.text),
        scope=one_line(rule.scope),
        before=one_line(rule.before),
        after=one_line(rule.after),
        signal=one_line(rule.signal),
        trigger=one_line(rule.trigger),
        superseded=one_line(rule.superseded),
        source=read_source(one_line(rule.source))[0],
        last_seen=rule.last_seen or rule.first_seen,
        evidence=(),
        handle=-1,
    )


def new_block(rule: Rule, default: Persistence) -> list[str]:
    """The lines of a rule that is in no file yet."""
    rule = filed(rule)
    lines = [f"### [{rule.id}] {rule.title}".rstrip()]
    dates = [f"**First seen**: {rule.first_seen}"] if rule.first_seen else []
    if rule.last_seen and rule.last_seen != rule.first_seen:
        dates.append(f"**Last reinforced**: {rule.last_seen}")
    values = {
        "Priority": _priority_field(rule.priority, rule.state),
        "Source": write_source("", rule.source, rule.corrections) if rule.source else "",
        "Importance": _importance_field(rule, long=False),
        "Persistence": rule.persistence if rule.persistence != default else "",
        "Rule": rule.text,
        **{field: getattr(rule, attribute) for field, attribute in _PLAIN.items()},
    }
    for name in FIELDS:
        if name == "First seen" and dates:
            lines.append(" | ".join(dates))
        elif values.get(name):
            lines.append(f"**{name}**: {values[name]}")
    return lines


def _priority_field(priority: Priority, state: State) -> str:
    return priority.upper() + ("" if state == "active" else f" ({state})")


def _importance_field(rule: Rule, *, long: bool) -> str:
    """Corrections stand in the source; without one, a count that isn't the importance stands here."""
    long = long or (not rule.source and rule.corrections != rule.importance)
    return write_importance(rule.importance, rule.corrections, rule.upvotes, rule.downvotes, long=long)


def edited(block: Sequence[str], before: Rule, after: Rule, default: Persistence) -> list[str]:
    """The lines of a rule after a change: only the lines of changed fields differ."""
    old, new = filed(before), filed(after)
    lines = list(block)
    if (old.id, old.title) != (new.id, new.title):
        title = new.title if new.title != old.title else before.title
        lines[0] = write_heading(lines[0], new.id, title)
    counts = ("importance", "corrections", "upvotes", "downvotes", "source")
    if _differ(old, new, "priority", "state"):
        lines = _set(lines, "Priority", _priority_field(new.priority, new.state))
    if _differ(old, new, "source", "corrections") and new.source:
        lines = _set(lines, "Source", write_source(_value(lines, "Source"), new.source, new.corrections))
    if _differ(old, new, "first_seen"):
        lines = _set_day(lines, "First seen", str(new.first_seen or ""))
    last = _find(lines, "Last reinforced")
    if new.last_seen != (read_day(last.value) if last else new.first_seen):
        lines = _set_day(lines, "Last reinforced", str(new.last_seen or ""))
    if _differ(old, new, *counts):
        was = read_importance(_value(lines, "Importance") or "1")
        value = _importance_field(new, long=was is not None and was.parts is not None)
        lines = _set(lines, "Importance", value)
    if _differ(old, new, "persistence"):
        lines = _set(lines, "Persistence", new.persistence if new.persistence != default else "")
    for name, attribute in (("Rule", "text"), *_PLAIN.items()):
        if _differ(old, new, attribute):
            lines = _set(lines, name, getattr(new, attribute))
    return lines


def _differ(old: Rule, new: Rule, *names: str) -> bool:
    return any(getattr(old, name) != getattr(new, name) for name in names)


def _find(lines: Sequence[str], name: str) -> Field | None:
    return next((field for field in fields(lines, kinds(lines)) if field.name == name), None)


def _value(lines: Sequence[str], name: str) -> str:
    field = _find(lines, name)
    return field.value if field else ""


def _set_day(lines: list[str], name: str, day: str) -> list[str]:
    """A day set where the old one stood; what is written after it stays."""
    first = _find(lines, "First seen")
    if name == "Last reinforced" and first is not None and _find(lines, name) is None:
        return _spliced(lines, first.line, first.end, first.end, f" | **{name}**: {day}")
    old = _value(lines, name)
    return _set(lines, name, day + old[len(first_word(old)) :] if day else day)


def _set(lines: list[str], name: str, value: str) -> list[str]:
    """A field set in place, removed for an empty value, or put where the seed's order wants it."""
    field = _find(lines, name)
    if field is not None:
        return _reset(lines, field, value)
    if not value:
        return lines
    earlier = FIELDS[: FIELDS.index(name)]
    known = [field for field in fields(lines, kinds(lines)) if field.name in earlier]
    place = max((field.line + field.more for field in known), default=0) + 1
    end = "\r" if lines[0].endswith("\r") else ""
    return [*lines[:place], f"**{name}**: {value}{end}", *lines[place:]]


def _reset(lines: list[str], field: Field, value: str) -> list[str]:
    """A field that is there, set; emptied, its line goes unless something else then would change its meaning."""
    head, rest = lines[: field.line], lines[field.line + 1 + field.more :]
    if not value and "**" not in lines[field.line][field.end :]:
        left = [*head, *rest]
        if _value(left, "Rule") == _value(lines, "Rule"):
            return left
    blank = "" if not value or lines[field.line][: field.start].endswith((" ", "\t")) else " "
    return _spliced([*head, lines[field.line], *rest], field.line, field.start, field.end, blank + value)


def _spliced(lines: list[str], place: int, start: int, end: int, value: str) -> list[str]:
    line = lines[place]
    return [*lines[:place], line[:start] + value + line[end:], *lines[place + 1 :]]
