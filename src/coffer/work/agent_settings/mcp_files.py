"""The files that an agent's entry for the MCP server runs: the stub and the script behind it.

Beside the hook's files, which a pipe without a daemon needs to start one. The stub is a shell script for the hook's
reasons; it gives way in silence where there is nothing to run, which a client shows as a server that ended.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from coffer.disk.put import put
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import stub_text, write_hook

STUB = "coffer-mcp"
SCRIPT = "pipe.py"


def write_mcp(home: Home, python: Path) -> list[Path]:
    """Write the files of hook and pipe for this interpreter; the paths that changed. The stub comes last.

    Raises WriteFailed, also for a path with a line break, which no line of shell could hold.
    """
    changed = write_hook(home, python)
    folder = home.root / "bin"
    files = (
        (folder / SCRIPT, resources.files("coffer").joinpath(SCRIPT).read_bytes(), 0o644),
        (folder / STUB, stub_text(python, folder / SCRIPT), 0o755),
    )
    return changed + [path for path, content, mode in files if put(path, content, mode)]
