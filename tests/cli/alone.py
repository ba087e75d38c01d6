"""Runs a command with nothing of ours above it: the process that starts it has ended before it begins.

Called as a script: a JSON list of the command, and the keys to type at its prompts, or null for no terminal;
answers with JSON on stdout: out, err, code.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import termios
import time


def main() -> None:
    command, keys = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    above = os.getpid()
    if os.fork():
        os._exit(0)
    os.setsid()
    while os.getppid() == above:
        time.sleep(0.005)
    if keys is None:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        answer = (done.stdout, done.stderr, done.returncode)
    else:
        answer = _typed(command, keys)
    out, err = (said.decode("utf-8", "backslashreplace") for said in answer[:2])
    print(json.dumps({"out": out, "err": err, "code": answer[2]}))


def _wait_for_keys(terminal: int) -> None:
    """Until the program takes single keys: those that are typed before that are thrown away when it begins to."""
    until = time.monotonic() + 60
    while termios.tcgetattr(terminal)[3] & termios.ICANON and time.monotonic() < until:
        time.sleep(0.005)


def _due(said: bytes, keys: str) -> tuple[str, str]:
    """What is typed at a prompt, and what is left: one key at `? `, a line at `: `."""
    if said.endswith(b"? "):
        return keys[:1], keys[1:]
    if said.endswith(b": "):
        line, end, rest = keys.partition("\r")
        return line + end, rest
    return "", keys


def _typed(command: list[str], keys: str) -> tuple[bytes, bytes, int]:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)  # noqa: S606  (the child of a fork becomes the command)
    said = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # Linux: the other end is closed
            break
        if not piece:
            break
        said += piece
        if said.endswith(b"? "):
            _wait_for_keys(terminal)
        now, keys = _due(said, keys)
        os.write(terminal, now.encode())
    return said.replace(b"\r\n", b"\n"), b"", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    main()
