"""A pane of a real tmux server: what it shows, who types, what keys arrive."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coffer.disk.tmux import Pane, Seen
from tests.lab.terminal import Terminal

PROGRAM = r"""
import os, sys, tty
tty.setraw(0)
colours = "\x1b[38;5;2mgreen\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[0m"
os.write(1, f"\x1b[2J\x1b[Hab\x1b[2mfaint\x1b[22mcd {colours}\x1b[1;2mx\x1b[0my 日本\r\n❯ ".encode())
while True:
    data = os.read(0, 99)
    os.write(1, repr(data)[2:-1].encode())
"""


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    with Terminal(
        [sys.executable, "-c", PROGRAM], env=environment, cwd=Path("/"), width=60, height=10
    ) as made:
        yield made


@pytest.fixture
def pane(terminal: Terminal) -> Pane:
    where, name = terminal.tmux("display-message", "-p", "-t", "lab", "#{socket_path} #{pane_id}").split()
    found = Pane.of({"TMUX": f"{where},1,0", "TMUX_PANE": name})
    assert found is not None
    return found


def wait(pane: Pane, done: Callable[[Seen], bool]) -> Seen:
    until = time.monotonic() + 60
    while True:
        seen = pane.seen()
        if seen is not None and done(seen):
            return seen
        assert time.monotonic() < until, seen
        time.sleep(0.02)


def test_what_it_shows_and_takes(pane: Pane, terminal: Terminal) -> None:
    seen = wait(pane, lambda seen: seen.look.row == 1)
    assert seen.look.rows[:2] == ("abfaintcd green rgbxy 日本", "❯")
    assert seen.look.solid[:2] == ("ab     cd green rgb y 日本", "❯")
    assert (seen.look.column, seen.look.columns, len(seen.look.rows)) == (2, 60, 10)
    assert (seen.why, seen.typed_at) == ("", 0.0), "nobody is attached"
    assert pane.press(b"/resume -x;")
    assert pane.press(b"\x7f" * 3)
    assert pane.press(b"\x1b")
    seen = wait(pane, lambda seen: r"\x1b" in seen.look.rows[1])
    assert seen.look.rows[1] == r"❯ /resume -x;\x7f\x7f\x7f\x1b"
    assert pane.enter(seen.look)
    seen = wait(pane, lambda seen: r"\r" in seen.look.rows[1])
    terminal.type("z")
    moved = wait(pane, lambda seen: seen.look.rows[1].endswith("z"))
    assert not pane.enter(seen.look), "the cursor stands elsewhere by now"
    terminal.tmux("copy-mode", "-t", pane.id)
    assert wait(pane, lambda seen: bool(seen.why)).why == "the pane is in copy mode"
    assert not pane.enter(moved.look)
    terminal.tmux("send-keys", "-X", "-t", pane.id, "cancel")
    assert wait(pane, lambda seen: not seen.why).look == moved.look, "no other Enter came"


def test_what_is_no_pane(pane: Pane, tmp_path: Path) -> None:
    known = {"TMUX": f"{pane.socket},1,0", "TMUX_PANE": pane.id}
    assert Pane.of(known) is not None
    for wrong in (
        {},
        {"TMUX": "", "TMUX_PANE": pane.id},
        {**known, "TMUX": "relative,1,0"},
        {**known, "TMUX": f"{tmp_path},1,0"},
        {**known, "TMUX": f"{tmp_path}/\0,1,0"},
        {**known, "TMUX_PANE": ""},
        {**known, "TMUX_PANE": "0"},
        {**known, "TMUX_PANE": "%0 ; kill-server"},
    ):
        assert Pane.of(wrong) is None
    gone = Pane.of({**known, "TMUX_PANE": "%99"})
    assert gone is not None
    assert gone.seen() is None
    with socket.socket(socket.AF_UNIX) as listener:  # it is there, and no server of tmux answers
        here = Path.cwd()
        os.chdir(tmp_path)
        try:
            listener.bind("s")
        finally:
            os.chdir(here)
        silent = Pane.of({**known, "TMUX": f"{tmp_path}/s,1,0"})
        if silent is not None:
            assert silent.seen() is None
