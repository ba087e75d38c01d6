"""The picture of `coffer prune`: before and after, who takes what, what it costs."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from coffer.cli import plain
from coffer.cli.screen import bar_width, cell, console, stacked_bar, table, text
from coffer.core.plan import Cut, Drop, Strip, Stub, Trim
from coffer.core.price import WARM_MINUTES
from coffer.core.stub import call_note
from coffer.store.db import Receipt
from coffer.work.pruning.prune import Proposal, Written
from coffer.work.pruning.prune_report import price_of, shares
from coffer.work.sessions.report import by_kind


def draw(proposal: Proposal, written: Written, receipt: Receipt | None) -> None:
    """What would go or went, and what stays."""
    screen = console()
    report = proposal.report
    screen.print(cell(report.title or report.session, 100), style="bold")
    if proposal.plan.is_empty:
        screen.print(f"Nothing to prune with “{proposal.prescription.name}”. Nothing was changed.")
        return
    groups = by_kind(report)
    width = bar_width(screen)
    window = report.window.tokens
    before = (
        f"{plain.tokens(report.tokens)} of {plain.tokens(window)} tokens, {plain.size(proposal.ticket.size)}"
    )
    screen.print(f"before  {before}")
    screen.print(stacked_bar(list(groups.items()), window, width))
    screen.print(f"after   about {plain.tokens(proposal.tokens_after)} tokens, {plain.size(written.size)}")
    screen.print(stacked_bar(_after(proposal, groups), window, width))
    _strategies(screen, proposal)
    _cost(screen, proposal)
    _end(screen, proposal, receipt)


def _after(proposal: Proposal, groups: dict[str, int]) -> list[tuple[str, float]]:
    labels = {
        (part.record.start, part.index): part.label
        for part, _ in proposal.report.composition.parts
        if part.record is not None
    }
    left = {name: float(amount) for name, amount in groups.items()}
    for item in proposal.plan.actions:
        index = item.action.index if isinstance(item.action, Cut | Stub | Strip) else 0
        label = labels.get((item.action.record.start, index))
        if label in left:
            left[label] = max(0.0, left[label] - item.action.tokens)
    return list(left.items())


def _strategies(screen: Console, proposal: Proposal) -> None:
    screen.print()
    rows = table("", "strategy", "tokens", "bytes", "changes", "what", right=("tokens", "bytes", "changes"))
    for share in shares(proposal):
        rows.add_row(
            share.strategy,
            plain.tokens(share.tokens) if share.tokens else "–",
            plain.size(share.size),
            str(share.actions),
            cell(share.what, max(16, screen.width - 50)),
        )
    screen.print(rows)
    for name, why in proposal.plan.left_out.items():
        screen.print(text(f"! {name} is left out: {why}", "yellow"))
    if proposal.plan.limited:
        limit = proposal.prescription.limit
        screen.print(
            f"One prune takes at most {limit:.0%} of the messages' tokens; another one would take more."
        )


def _cost(screen: Console, proposal: Proposal) -> None:
    error = proposal.report.composition.calibration.error
    measured = f", off by about {error:.1%} of a request" if error is not None else ""
    screen.print(f"\nTokens are estimates{measured}; bytes are exact.", style="dim")
    cost = price_of(proposal)
    if cost.saved <= 0:
        screen.print("Disk space only: the model is sent what it was sent before.", style="dim")
        return
    screen.print(
        f"If the prompt cache is warm (an answer within {WARM_MINUTES} minutes), the next request costs about "
        f"{plain.tokens(cost.extra)} input tokens more, and the prune has paid after {cost.requests} requests. "
        f"If it is cold, the next request already costs {plain.tokens(cost.cold)} less.",
        style="dim",
    )


def _end(screen: Console, proposal: Proposal, receipt: Receipt | None) -> None:
    kept = len(proposal.scene.view.items)
    proof = f"Proven: a resume sends the {kept} items of before, with these changes and no other."
    screen.print(Text(proof, style="green"))
    if receipt is not None:
        screen.print(f"Written. Receipt {receipt.id}; `coffer undo {receipt.id}` brings the file back.")
    else:
        screen.print(
            "Nothing was changed. --apply writes it, --diff shows each change of what the model is sent."
        )


def draw_changes(proposal: Proposal) -> None:
    """Each change of the view, in order."""
    screen = console()
    screen.print()
    calls = {
        item.record.start: call_note(pair)
        for pair in proposal.scene.pairs
        for item in (pair.call, pair.result)
        if item.record is not None
    }
    changes = [item.action for item in proposal.plan.actions if not isinstance(item.action, Trim)]
    changes = [action for action in changes if action.tokens or not isinstance(action, Drop)]
    if not changes:
        screen.print("No change of what the model is sent.")
    for action in sorted(changes, key=lambda found: found.record.start):
        sign, colour = ("-", "red") if isinstance(action, Drop | Cut) else ("~", "yellow")
        record = action.record
        name = calls.get(record.start, "")
        part = "result of " if name and record.role == "user" else ""
        what = (
            action.note if isinstance(action, Stub) else f"{part}{name or f'{record.type} {record.uuid[:8]}'}"
        )
        line = Text(f"{sign} ", style=colour).append_text(cell(what, 70))
        line.append(f"  {plain.tokens(action.tokens)} tokens, {action.why}", style="dim")
        screen.print(line)
