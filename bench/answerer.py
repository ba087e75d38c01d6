"""A daemon that does nothing but answer: what a hook costs must not hang on what the daemon costs.

Run as `python -I -S answerer.py FOLDER BYTES`; listens on `daemon.sock` there and answers each request with a
body of that many bytes, until it is ended. Its CPU is not counted: it is no child of a measured process.
"""

from __future__ import annotations

import os
import socket
import sys


def main(folder: str, size: int) -> None:
    """Answer for ever."""
    os.chdir(folder)
    answer = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode() + b"x" * size
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("daemon.sock")
        listener.listen()
        print("ready", flush=True)
        while True:
            link, _ = listener.accept()
            with link:
                link.recv(65536)
                link.sendall(answer)


main(sys.argv[1], int(sys.argv[2]))
