"""What a prune costs and brings at the prompt cache, in input-token equivalents.

A request reads what is cached for a tenth of the input price and writes the rest for a quarter more
(Anthropic's prices, "prompt caching": read 0.1, write 1.25 for five minutes). A prune changes the prompt from its
first change on: while the cache is warm, that part must be written anew once; every later request is cheaper by
what went.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

READ, WRITE = 0.1, 1.25
"""Price of a cached and of a newly cached token, in input tokens."""
WARM_MINUTES = 5
"""How long an unused cache entry lives by default."""


@dataclass(frozen=True, slots=True)
class Price:
    """In input tokens.

    extra: what the first request after the prune costs more while the cache is warm. saved: what each later
    request costs less. requests: after how many of them it has paid, 0 for never. cold: what the first request
    costs less when the cache is cold anyway.
    """

    extra: float
    saved: float
    requests: int
    cold: float


def price(before: float, after: float, unchanged: float) -> Price:
    """Of a prune from `before` to `after` tokens whose first `unchanged` tokens stay as they are."""
    gone = max(0.0, before - after)
    rewritten = max(0.0, after - unchanged)
    extra = rewritten * WRITE - (before - unchanged) * READ
    saved = gone * READ
    requests = math.ceil(max(0.0, extra) / saved) if saved > 0 else 0
    return Price(max(0.0, extra), saved, requests, gone * WRITE)
