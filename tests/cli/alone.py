"""Runs a command with nothing of ours above it: the process that starts it has ended before it begins.

Called as a script: a JSON list of the command, and the keys to type, or null for no terminal. Answers with JSON on
stdout: out, err, code.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
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


def _typed(command: list[str], keys: str) -> tuple[bytes, bytes, int]:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)  # noqa: S606  (the child of a fork becomes the command)
    os.write(terminal, keys.encode())
    said = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # Linux: the other end is closed
            break
        if not piece:
            break
        said += piece
    return said.replace(b"\r\n", b"\n"), b"", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    main()
