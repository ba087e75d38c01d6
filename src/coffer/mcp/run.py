"""`python -P -m coffer.mcp.run`: MCP's part of the daemon alone, for tests and measurements.

Tells on stderr what the daemon would log, and ends on SIGTERM.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys

from coffer.mcp.listen import mcp_service
from coffer.store.home import Home


async def main() -> None:
    """Serve until SIGTERM."""
    task = asyncio.create_task(mcp_service(Home.of(os.environ), os.environ))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(name)s %(message)s")
    asyncio.run(main())
