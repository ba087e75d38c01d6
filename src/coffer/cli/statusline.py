"""`coffer statusline`: one line below the prompt, and what the client says there is kept.

Claude Code starts this several times a minute and shows what it prints. So it imports little, waits for nothing longer
than a tenth of a second, never fails, and ends with 0: an error here would be a hole in the person's screen.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import click

from coffer.store.windows import merge_report, read_report, said_in_statusline

TELL_SECONDS = 0.1
"""Seconds for the daemon in all."""
WRAP_SECONDS = 5.0
"""Seconds for the command that is wrapped."""
LONGEST = 1 << 20
_GAUGE = 10
_NEAR = 0.05
"""As in `work.nudge`."""
_SHARES = (("watch", 25.0), ("trim", 55.0), ("deep", 80.0), ("last call", 90.0))
"""As in `core.tiers`, whose import costs more than all of this; a test compares them."""


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--wrap", is_flag=True, help="Run the command that follows first, and print what it prints.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND…]")
def command(wrap: bool, words: tuple[str, ...]) -> None:
    """Print one line about the session whose statusline JSON comes on stdin.

    Put it into Claude Code's settings: {"statusLine": {"type": "command", "command": "coffer statusline"}}.
    With a statusline of your own: `coffer statusline --wrap COMMAND…`; it gets the same stdin, and no shell.
    """
    data = _stdin()
    if wrap and words:
        _write(_wrapped(words, data))
    said = _object(data)
    root = _root()
    session = said.get("session_id")
    known = read_report(root, session) if isinstance(session, str) else {}
    now = time.time()
    fresh = said_in_statusline(said, now)
    _write((line(said, {**known, **fresh}, os.environ) + "\n").encode("utf-8", "replace"))
    if isinstance(session, str) and fresh and not _told(root, data):
        try:
            merge_report(root, session, {**fresh, "session": session})
        except OSError:
            return  # a full disk: the line was printed, and the next statusline reports again


def line(said: dict[str, Any], known: dict[str, Any], environment: Any) -> str:
    """The line. known: what is kept of this session. environment: for the window that the person set."""
    model = said.get("model")
    name = model.get("display_name") or model.get("id") if isinstance(model, dict) else None
    parts = [_plain(name) or "coffer"]
    window = _override(environment) or _number(known.get("window"))
    tokens = _number(known.get("tokens"))
    if window:
        used = tokens / window * 100
        full = min(_GAUGE, round(used / 100 * _GAUGE))
        parts[0] += f" {'█' * full}{'░' * (_GAUGE - full)} {used:.0f}%"
        parts.append(f"{_short(tokens)}/{_short(window)}")
        tier = _tier(used, known)
        if tier:
            parts.append(tier)
    elif not said:
        parts.append("nothing was said of a session")
    if isinstance(known.get("rules"), int) and not isinstance(known.get("rules"), bool):
        parts.append(f"{known['rules']} rule{'s' if known['rules'] != 1 else ''} confirmed")
    saves = _number(known.get("saves"))
    count = str(known.get("planned", "")).partition(" ")[0]
    planned = int(count) if count.isascii() and count.isdigit() and len(count) < 12 else 0
    if (
        saves and tokens and abs(planned - tokens) <= _NEAR * tokens
    ):  # a plan for a smaller context says nothing
        parts.append(f"a prune saves {_short(min(saves, tokens))}")
    if resume := _plain(known.get("resume")):
        parts.append(f"changed on disk: /resume {resume}")
    return " · ".join(parts)


def _tier(used: float, known: dict[str, Any]) -> str:
    shares = known.get("shares")
    pairs = list(shares.items()) if isinstance(shares, dict) else list(_SHARES)
    reached = [(float(share), str(name)) for name, share in pairs if _number(share) and used >= share]
    return _plain(max(reached)[1]) if reached else ""


def _override(environment: Any) -> int:
    said = environment.get("COZEMPIC_CONTEXT_WINDOW", "").strip()
    return int(said) if said.isascii() and said.isdigit() and len(said) < 12 else 0


def _number(value: object) -> float:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12
    return float(value) if fits and isinstance(value, int | float) else 0.0


def _short(tokens: float) -> str:
    if tokens < 1000:
        return f"{tokens:.0f}"
    return f"{tokens / 1000:.0f}k" if tokens < 999_500 else f"{tokens / 1e6:.3g}M"


def _plain(said: object) -> str:
    """Words from outside on one line: a terminal's commands in a model's name must not reach the terminal."""
    return "".join(char for char in said if char.isprintable())[:40] if isinstance(said, str) else ""


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _root() -> str:
    """Coffer's folder, as `store.home` says it."""
    said = os.environ.get("COFFER_HOME")
    return os.path.abspath(said) if said else os.path.join(os.path.expanduser("~"), ".coffer")  # noqa: PTH100, PTH111, PTH118


def _stdin() -> bytes:
    try:
        return sys.stdin.buffer.read(LONGEST) if sys.stdin is not None and not sys.stdin.isatty() else b""
    except (OSError, ValueError):
        return b""  # closed: there is nothing to tell of


def _write(data: bytes) -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    except (OSError, ValueError):
        sys.stdout = None  # nobody listens any more; it can't be flushed at exit either


def _wrapped(words: tuple[str, ...], data: bytes) -> bytes:
    """What the person's own command prints, ending in a line break; nothing where it can't be run."""
    import shlex  # noqa: PLC0415  (only who wraps pays for it)
    import subprocess  # noqa: PLC0415

    try:
        split = shlex.split(words[0]) if len(words) == 1 else list(words)
        done = subprocess.run(split, input=data, capture_output=True, timeout=WRAP_SECONDS, check=False)
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return b""
    return done.stdout if not done.stdout or done.stdout.endswith(b"\n") else done.stdout + b"\n"


def _told(root: str, data: bytes) -> bool:
    """Whether the daemon took it, within the time that it has."""
    import socket  # noqa: PLC0415  (without a socket's file it is not needed)

    until = time.monotonic() + TELL_SECONDS
    if not os.path.exists(os.path.join(root, "daemon.sock")):  # noqa: PTH110, PTH118
        return False
    head = (
        "POST /api/v1/agents/claude/events/Statusline HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
    )
    folder = os.environ.get("CLAUDE_CONFIG_DIR", "")
    if folder.isascii() and folder.isprintable() and folder and "%" not in folder:
        head += f"X-Coffer-Env-CLAUDE_CONFIG_DIR: {folder}\r\n"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(TELL_SECONDS)
            os.chdir(root)  # an address holds 107 bytes; the command that is wrapped has ended
            link.connect("daemon.sock")
            link.settimeout(max(0.001, until - time.monotonic()))
            link.sendall(head.encode() + b"\r\n" + data)
            link.settimeout(max(0.001, until - time.monotonic()))
            return link.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False
