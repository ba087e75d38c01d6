"""What a prune brings and costs, as a value for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coffer.core.items import Context, Item
from coffer.core.plan import Action, Cut, Drop, Silence, Strip, Stub, Trim
from coffer.core.price import Price, price
from coffer.core.strategies.table import STRATEGIES
from coffer.store.db import Receipt
from coffer.work.pruning.prune import Proposal, Written

_REMINDER_BYTES = 340


@dataclass(frozen=True, slots=True)
class Share:
    """What one strategy takes. size: bytes of the file, before what stubs add."""

    strategy: str
    saves: str
    what: str
    actions: int
    tokens: int
    size: int


def shares(proposal: Proposal) -> list[Share]:
    """The strategies that take something, in the table's order."""
    found = []
    for strategy in STRATEGIES:
        mine = [item.action for item in proposal.plan.actions if item.strategy == strategy.name]
        if mine:
            tokens = round(sum(action.tokens for action in mine))
            size = sum(_size(action) for action in mine)
            found.append(Share(strategy.name, strategy.saves, strategy.what, len(mine), tokens, size))
    return found


def _size(action: Action) -> int:
    match action:
        case Drop(record=record) | Silence(record=record):
            return record.size
        case Trim(record=record):
            return record.sidecar
        case Strip():
            return _REMINDER_BYTES
        case Cut(record=record, index=index):
            return record.blocks[index].size + record.blocks[index].signature
        case Stub(record=record, index=index, keep=keep):
            return max(0, record.blocks[index].size + record.blocks[index].media - sum(keep))


def price_of(proposal: Proposal) -> Price:
    """What the prune costs and brings at the prompt cache."""
    changed = {item.action.record.start for item in proposal.plan.actions if item.action.tokens > 0}
    unchanged = float(proposal.report.composition.base)
    for entry in proposal.scene.entries:
        record = entry.item.record
        if record is not None and record.start in changed:
            break
        unchanged += entry.tokens
    return price(proposal.report.tokens, proposal.tokens_after, min(unchanged, proposal.tokens_after))


def as_json(proposal: Proposal, written: Written, receipt: Receipt | None) -> dict[str, Any]:
    """Keys are part of the interface (docs/formats.md). Tokens are estimates, bytes exact."""
    cost = price_of(proposal)
    calibration = proposal.report.composition.calibration
    return {
        "session": proposal.report.session,
        "path": str(proposal.ticket.path),
        "prescription": proposal.prescription.name,
        "applied": receipt is not None,
        "receipt": receipt.id if receipt else None,
        "tokens_before": proposal.report.tokens,
        "tokens_after": proposal.tokens_after,
        "tokens_error": calibration.error,
        "bytes_before": proposal.ticket.size,
        "bytes_after": written.size,
        "strategies": [
            {
                "name": share.strategy,
                "saves": share.saves,
                "actions": share.actions,
                "tokens": share.tokens,
                "bytes": share.size,
            }
            for share in shares(proposal)
        ],
        "left_out": proposal.plan.left_out,
        "limit_reached": proposal.plan.limited,
        "items_before": len(proposal.scene.view.items),
        "items_after": len(proposal.scene.view.items) - _gone(proposal) + _added(proposal),
        "rules_at_the_end": proposal.plan.tail.form if proposal.plan.tail is not None else None,
        "cache": {
            "extra_if_warm": round(cost.extra),
            "saved_each_request": round(cost.saved),
            "requests_until_paid": cost.requests,
            "saved_at_once_if_cold": round(cost.cold),
        },
    }


def _added(proposal: Proposal) -> int:
    """Items that are appended: a context, or a text and the client's answer to it."""
    tail = proposal.plan.tail
    return 0 if tail is None else 1 if tail.form == "attachment" else 2


def _gone(proposal: Proposal) -> int:
    """Items of the view that are removed; stubs stay."""
    drops = proposal.plan.dropped() | {
        item.action.record.start for item in proposal.plan.actions if isinstance(item.action, Silence)
    }
    cuts = {
        (item.action.record.start, item.action.index)
        for item in proposal.plan.actions
        if isinstance(item.action, Cut)
    }

    def goes(item: Item | Context) -> bool:
        if item.record is None:
            return False
        return item.record.start in drops or (
            isinstance(item, Item) and (item.record.start, item.index) in cuts
        )

    return sum(goes(item) for item in proposal.scene.view.items)
