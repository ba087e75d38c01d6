"""A client that appends to its transcript: opens, appends one line, closes, and looks neither left nor right.

writer.py PATH PAUSE         append numbered lines until told to stop, each after a longer pause than the last, so that
                             also a slow machine comes to work between two of them; print how many
writer.py PATH stale BYTES   hold the file open, wait until another stands in its place, append, close
"""

from __future__ import annotations

import json
import os
import select
import sys
import time


def line(number: int, size: int = 0) -> bytes:
    said = {"type": "queue-operation", "operation": "enqueue", "content": f"late {number:06}" + "z" * size}
    return json.dumps(said).encode() + b"\n"


def _appending(path: str, pause: float) -> None:
    number = 0
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], pause)[0]:
        with open(path, "ab", buffering=0) as file:  # noqa: PTH123  (as the client does)
            file.write(line(number))
        number += 1
        pause *= 1.05
    print(number, flush=True)


def _stale(path: str, size: int) -> None:
    with open(path, "ab", buffering=0) as file:  # noqa: PTH123
        print("ready", flush=True)
        inode = os.fstat(file.fileno()).st_ino
        until = time.monotonic() + 60
        while os.stat(path).st_ino == inode and time.monotonic() < until:  # noqa: PTH116
            time.sleep(0.005)
        file.write(line(0, size))
    print(1, flush=True)


if __name__ == "__main__":
    if sys.argv[2] == "stale":
        _stale(sys.argv[1], int(sys.argv[3]))
    else:
        _appending(sys.argv[1], float(sys.argv[2]))
