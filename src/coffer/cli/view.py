"""`coffer view`: what the model would be sent after a resume."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.session import World, open_session, session_argument
from coffer.core.attachments import texts
from coffer.core.content import payload
from coffer.core.items import Context, Item
from coffer.core.view import View
from coffer.work.sessions.read import Opened

_SHORT = 12
_RULE = 72


@click.command()
@session_argument
@click.option("--model", default="", help="The model to resume with; it decides which thinking is sent.")
@click.option("--full", is_flag=True, help=f"Print whole contents, not only {_SHORT} lines of each.")
@click.option(
    "--json", "as_machine", is_flag=True, help="Print JSON for programs: one object, its items one a line."
)
def command(session: str, model: str, full: bool, as_machine: bool) -> None:
    """Print what the model would be sent after a resume, without system prompt, tools and the next prompt.

    This is a model of the client's own loader, proven against the real client: dead branches, history before
    a compaction and what the client repairs are left out or shown as it would send them. Attachments are
    shown with their payload; the client words them in its own way.
    """
    world = World.now()
    with open_session(session, world) as opened:
        view = opened.agent.view(opened.transcript, model)
        if as_machine:
            _print_json(opened, view)
            return
        for line in _lines(opened, view, None if full else _SHORT):
            click.echo(line)
        for warning in opened.warnings:
            click.echo(plain.visible(f"! {warning}"), err=True)


def _print_json(opened: Opened, view: View) -> None:
    """Written item by item, so that a large view needs no memory for the whole."""
    head = {"session": opened.transcript.about.session, "agent": opened.agent.name, "model": view.model}
    click.echo(json.dumps(head)[:-1] + ', "items": [')
    for number, item in enumerate(view.items):
        end = "" if number == len(view.items) - 1 else ","
        click.echo(json.dumps(_as_json(opened, item)) + end)
    click.echo("]}")


def _as_json(opened: Opened, item: Item | Context) -> dict[str, Any]:
    record = item.record
    where = (
        {"uuid": record.uuid, "offset": record.start} if record is not None else {"uuid": "", "offset": None}
    )
    if isinstance(item, Context):
        return {"attachment": item.attached.kind, "payload": payload(opened.line(record)), **where}
    return {"role": item.role, "content": opened.agent.content(item, opened.line(record)), **where}


def _lines(opened: Opened, view: View, most: int | None) -> Iterator[str]:
    yield plain.visible_line(
        f"{opened.transcript.about.session} · {view.model or 'model unknown'} · {len(view.items)} items"
    )
    for item in view.items:
        record = item.record
        if isinstance(item, Context):
            kind, shown = (
                f"attachment · {item.attached.kind}",
                texts(item.attached.kind, payload(opened.line(record))),
            )
        else:
            kind = f"{item.role} · {item.kind}"
            shown = _shown(opened.agent.content(item, opened.line(record)))
        size = item.attached.size if isinstance(item, Context) else item.block.size
        own = "" if record is not None else " · added by the client"
        title = plain.visible_line(f"── {kind} · {plain.size(size)}{own} ")
        yield ""
        yield title + "─" * max(0, _RULE - len(title))
        yield from _cut([line for text in shown for line in text.split("\n")], most)


def _cut(lines: list[str], most: int | None) -> Iterator[str]:
    for line in lines[:most]:
        yield plain.visible(line)
    if most is not None and len(lines) > most:
        yield f"… {len(lines) - most} more lines (--full prints them)"


def _shown(content: dict[str, Any]) -> list[str]:
    """The texts of a block, as a person reads them."""
    match content.get("type"):
        case "text" | "input_text" | "output_text":
            return [str(content.get("text", ""))]
        case "thinking":
            return [str(content.get("thinking") or "(thinking that only the model can read)")]
        case "tool_use":
            given = json.dumps(content.get("input"), ensure_ascii=False, indent=1)
            return [f"{content.get('name')}", given]
        case "tool_result":
            return _result(content.get("content"))
        case "image" | "document":
            return ["(image)" if content["type"] == "image" else "(document)"]
        case "function_call_output" | "custom_tool_call_output":
            return _result(content.get("output"))
        case _:
            return [json.dumps(content, ensure_ascii=False, indent=1)]


def _result(said: Any) -> list[str]:
    if isinstance(said, str):
        return [said]
    if isinstance(said, list):
        return [line for part in said if isinstance(part, dict) for line in _shown(part)]
    return [json.dumps(said, ensure_ascii=False)]
