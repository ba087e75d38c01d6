"""What a reload leaves in the input row is drawn away by a change of the agent's size, while a person types."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from coffer.store.home import Home
from coffer.work.guarding import runs
from tests.launch.pane import Pane
from tests.launch.rig import RAW, Rig

SESSION = "5f0c5a62-0000-4000-8000-00000000cafe"
COLUMNS, ROWS = 100, 12
STALE = "hurning"

CLIENT = """
import json
from pathlib import Path

def register(status):
    Path(REGISTRY, f'{os.getpid()}.json').write_text(json.dumps({
        'pid': os.getpid(), 'sessionId': SESSION, 'status': status,
        'procStart': Path('/proc/self/stat').read_text().rpartition(')')[2].split()[19],
    }))

def told(*words):
    with open(SAID, 'a') as file:
        file.write(json.dumps(words) + '\\n')

line, stale = '', ''

def draw(*_):
    rule = '─' * 100
    below = '/resume' if line.startswith('/') and ' ' not in line else '  ? for shortcuts'
    row = f'{stale or line}\\x1b[7;{3 + len(line)}H'
    os.write(1, f'\\x1b[?2004h\\x1b[2J\\x1b[6;1H{rule}\\x1b[8;1H{rule}\\r\\n{below}\\x1b[7;1H❯ {row}'.encode())

def resized(*_):
    global stale
    stale = ''
    told('size', struct.unpack('HHHH', fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))[0])
    draw()

signal.signal(signal.SIGWINCH, resized)
register('idle')
draw()
while keys := os.read(0, 1000).decode():
    for key in keys:
        if key == '\\r' and line:
            told('sent', line)
            stale = STALE if line.startswith('/resume') else ''
            line = ''
        elif key != '\\r':
            line += key
    draw()
"""


def told(path: Path, what: str) -> list[Any]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [said[1] for said in map(json.loads, lines) if said[0] == what]


def reloaded(home: Home, pane: Pane) -> dict[str, Any]:
    """The answer to a reload that is asked for as the guard does, while the person's terminal is read."""
    (name,) = runs.runs(home)
    request = {"do": "reload", "session": SESSION, "wait": 20}
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(runs.ask, home, name, request, 60)
        while not asked.done():
            pane.read(0.05)
    return asked.result() or {}


def test_what_the_client_left_in_the_row_goes_and_no_key_of_the_persons_with_it(rig: Rig) -> None:
    registry, said = rig.root / ".claude" / "sessions", rig.root / "said"
    registry.mkdir(parents=True)
    given = {"REGISTRY": str(registry), "SESSION": SESSION, "SAID": str(said), "STALE": STALE}
    rig.program(RAW + "".join(f"{name} = {value!r}\n" for name, value in given.items()) + CLIENT, "claude")
    with rig.run(agent="claude", columns=COLUMNS, rows=ROWS) as pane:
        pane.wait("shortcuts")
        pane.settle()
        before = len(told(said, "size"))
        assert reloaded(rig.home, pane)["kind"] == "typed"
        for key in "mine":
            pane.type(key)
            pane.read(0.05)
        pane.wait(lambda look: any(row == "❯ mine" for row in look.rows))
        pane.wait(lambda _: len(told(said, "size")) >= before + 2)
        assert told(said, "size")[before:] == [ROWS - 1, ROWS]
        assert told(said, "sent") == [f"/resume {SESSION}"]
        look = pane.settle()
        assert not any(STALE in row for row in look.rows)
        assert any(row == "❯ mine" for row in look.rows)
