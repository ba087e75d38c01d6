"""Start one program, wait for it, and print what it used.

Run as `python -I -S launch.py PROGRAM ARGUMENT…`. A child's peak memory starts at that of the process which
started it (Linux keeps the peak of the memory that an exec replaces), so a large parent would hide a small
child. This process imports almost nothing and stays smaller than any Python program that it starts.
"""

from __future__ import annotations

import os
import sys
import time


def main(command: list[str]) -> None:
    """Print exit code, wall seconds, CPU seconds and ru_maxrss of the command, on one line."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    silent = [(os.POSIX_SPAWN_DUP2, nowhere, 1)]
    started = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=silent)
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    print(os.waitstatus_to_exitcode(status), wall, used.ru_utime + used.ru_stime, used.ru_maxrss)


main(sys.argv[1:])
