"""Make .venv and install Coffer into it: `python3 tools/venv.py run|dev|embeddings`.

Works on a bare machine with python3 only: where the system's Python has no ensurepip (Debian without
python3-venv) pip is fetched as a wheel from the package index and run from there. Nothing is installed
outside .venv, so systems that refuse pip installs (PEP 668) do not mind.

Runs on any Python 3, so that an old one gets a sentence and not a syntax error.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

OLDEST = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
TARGETS = {"run": ".", "dev": ".[dev]", "embeddings": ".[dev,embeddings]"}


def main(arguments):
    if len(arguments) != 1 or arguments[0] not in TARGETS:
        return "usage: python3 tools/venv.py run|dev|embeddings"
    target = arguments[0]
    python = _python()
    if python is None:
        return (
            "Coffer needs Python %d.%d or newer, and this one is %d.%d. Install a newer one and name it: "
            "make PYTHON=python3.12 up" % (OLDEST + sys.version_info[:2])
        )
    if not _works(VENV_PYTHON):
        shutil.rmtree(VENV, ignore_errors=True)
        _make(python)
    print("Installing Coffer into .venv ...", flush=True)
    if not _install(target):
        return "The installation failed; the lines above say why. Nothing outside .venv was changed."
    # else each process compiles it anew where bytecode may not be written later
    subprocess.call([VENV_PYTHON, "-m", "compileall", "-q", os.path.join(ROOT, "src")])
    for name in ("run",) if target == "run" else ("run", "dev"):
        with open(os.path.join(VENV, name + ".stamp"), "w"):
            pass
    return None


def _python():
    """This Python, or a newer one on PATH; None where there is none."""
    if sys.version_info[:2] >= OLDEST:
        return sys.executable
    for minor in range(19, OLDEST[1] - 1, -1):
        found = shutil.which("python3.%d" % minor)
        if found:
            return found
    return None


def _works(python):
    return os.path.exists(python) and subprocess.call([python, "-c", ""], stderr=subprocess.DEVNULL) == 0


def _make(python):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if subprocess.call([python, "-m", "venv", VENV], **quiet) != 0:
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.check_call([python, "-m", "venv", "--without-pip", VENV])


def _install(target):
    command = ["install", "--quiet", "--disable-pip-version-check", "--editable", TARGETS[target]]
    if _has_pip():
        return subprocess.call([VENV_PYTHON, "-m", "pip"] + command, cwd=ROOT) == 0
    with tempfile.TemporaryDirectory() as folder:
        wheel = _fetch_pip(folder)
        return subprocess.call([VENV_PYTHON, os.path.join(wheel, "pip")] + command, cwd=ROOT) == 0


def _has_pip():
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.call([VENV_PYTHON, "-m", "pip", "--version"], **quiet) == 0


_LINK = r'href="([^"]+/(pip-(\d+)\.(\d+)(?:\.(\d+))?-py3-none-any\.whl)#sha256=([0-9a-f]{64}))"'


def _fetch_pip(folder):
    """Download the newest pip wheel into folder and check its hash; its path."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
    try:
        page = urllib.request.urlopen(index, timeout=60).read().decode("utf-8")
        links = re.findall(_LINK, page)
        newest = max(links, key=lambda link: tuple(int(part or 0) for part in link[2:5]))
        content = urllib.request.urlopen(urllib.parse.urljoin(index, newest[0]), timeout=120).read()
    except (urllib.error.URLError, ValueError, OSError) as error:
        sys.exit("This Python has no pip, and %s gave none: %s. Install python3-venv." % (index, error))
    if hashlib.sha256(content).hexdigest() != newest[5]:
        sys.exit("The pip wheel from %s has a wrong hash; nothing was installed." % index)
    path = os.path.join(folder, newest[1])
    with open(path, "wb") as file:
        file.write(content)
    return path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
