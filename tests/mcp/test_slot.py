"""Laws of the pipe over random schedules: pieces cut anywhere, daemons that come, go, and answer in any order."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from coffer import pipe
from tests.mcp.rig import OPENING

SCHEDULES = 1_000
RESULT = {"initialize": {"protocolVersion": "2025-11-25"}, "tools/list": {"tools": []}}
HELLO = {"versions": {"2025-11-25": RESULT}, "otherwise": "2025-11-25"}


@dataclass
class Daemon:
    """Takes lines, counts them, answers requests in any order; demands a handshake first, as the SDK does."""

    slot: pipe.Slot
    dice: random.Random
    got: bytes = b""
    count: int = 0
    opened: bool = False
    owed: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    out: bytes = pipe.READY + b"\n"

    def take(self) -> None:
        size = self.dice.randint(0, len(self.slot.to_daemon))
        self.got += bytes(self.slot.to_daemon[:size])
        del self.slot.to_daemon[:size]
        *lines, self.got = self.got.split(b"\n")
        for line in lines:
            self.count += 1
            told = json.loads(line)
            if "id" in told:
                assert self.opened or told["method"] == "initialize"
                self.opened = True
                self.owed.append((self.count, told))
                if told["method"] == "tools/call":
                    self.calls.append(told["id"])
            else:
                self.out += b"%d \n" % self.count

    def answer(self) -> None:
        if self.owed:
            number, told = self.owed.pop(self.dice.randrange(len(self.owed)))
            said = {
                "jsonrpc": "2.0",
                "id": told["id"],
                "result": RESULT.get(told["method"], {"by": "daemon"}),
            }
            self.out += b"%d %s\n" % (number, json.dumps(said).encode())
        if self.dice.random() < 0.1:
            self.out += b'0 {"jsonrpc":"2.0","method":"notifications/message"}\n'

    def give(self) -> None:
        size = self.dice.randint(0, len(self.out))
        piece, self.out = self.out[:size], self.out[size:]
        self.slot.daemon_said(piece)


@dataclass
class Schedule:
    """One run: what the client says, in pieces, while daemons come and go."""

    dice: random.Random
    slot: pipe.Slot = field(default_factory=pipe.Slot)
    daemon: Daemon | None = None
    asked: dict[int, str] = field(default_factory=dict)
    says: bytes = b""
    got: bytes = b""
    done: list[int] = field(default_factory=list)

    def run(self, steps: int) -> None:
        self.ask("initialize", OPENING)
        for _ in range(steps):
            self.step(
                self.dice.choice(
                    ("ask", "ask", "say", "say", "come", "go", "take", "answer", "give", "alone")
                )
            )
        self.slot.client_said(self.says)
        self.settle()

    def ask(self, method: str, params: object = None) -> None:
        name = len(self.asked) + 1
        self.asked[name] = method
        said = {"jsonrpc": "2.0", "id": name, "method": method, **({"params": params} if params else {})}
        self.says += json.dumps(said).encode() + self.dice.choice((b"\n", b"\r\n"))

    def step(self, what: str) -> None:
        daemon = self.daemon
        if what == "ask" and 1 in self.done:
            self.ask(self.dice.choice(("tools/call", "tools/call", "tools/list", "ping", "prompts/list")))
        elif what == "say":
            size = self.dice.randint(0, len(self.says))
            self.slot.client_said(self.says[:size])
            self.says = self.says[size:]
        elif what == "come" and daemon is None and self.dice.random() < 0.5:
            self.daemon = Daemon(self.slot, self.dice)
        elif what == "go" and daemon is not None and self.dice.random() < 0.2:
            self.daemon = None
            self.slot.lost()
        elif what == "alone" and not self.slot.ready:
            self.slot.answer_alone(HELLO if self.dice.random() < 0.9 else {})
        elif daemon is not None and what in ("take", "answer", "give"):
            getattr(daemon, what)()
        self.read()

    def read(self) -> None:
        self.got += bytes(self.slot.to_client)
        self.slot.to_client.clear()
        *lines, self.got = self.got.split(b"\n")
        for line in lines:
            told = json.loads(line)
            assert told["jsonrpc"] == "2.0"
            if "id" in told:
                assert ("result" in told) != ("error" in told)
                self.done.append(told["id"])

    def settle(self) -> None:
        """A daemon that stays answers all; or none comes and the rest fails."""
        if self.dice.random() < 0.2:
            if self.daemon is not None:
                self.daemon = None
                self.slot.lost()
            self.slot.answer_alone(HELLO)
            self.slot.give_up()
        else:
            self.daemon = self.daemon or Daemon(self.slot, self.dice)
            while self.daemon.out or self.daemon.owed or self.slot.to_daemon or not self.slot.ready:
                for what in ("take", "answer", "give"):
                    getattr(self.daemon, what)()
        self.read()


@pytest.mark.parametrize("seed", range(10))
def test_every_request_is_answered_once_whatever_happens(seed: int) -> None:
    for number in range(SCHEDULES // 10):
        schedule = Schedule(random.Random(f"{seed}-{number}"))
        schedule.run(steps=80)
        assert sorted(schedule.done) == sorted(schedule.asked), (seed, number)
        assert not schedule.slot.pending
        assert not schedule.slot.waiting()
        assert schedule.got == b""


def test_a_call_goes_to_one_daemon_only() -> None:
    dice = random.Random("once")
    slot = pipe.Slot()
    first = Daemon(slot, dice)
    slot.daemon_said(pipe.READY + b"\n")
    for name, method in ((1, "initialize"), (2, "tools/call")):
        slot.client_said(json.dumps({"id": name, "method": method}).encode() + b"\n")
    while slot.to_daemon:
        first.take()
    slot.lost()
    second = Daemon(slot, dice)
    while second.out or second.owed or slot.to_daemon:
        second.give()
        second.take()
        second.answer()
    assert (first.calls, second.calls) == ([2], [])


def test_a_line_without_an_end_ends_it() -> None:
    slot = pipe.Slot()
    for _ in range(pipe.LONGEST >> 18):
        slot.client_said(b"x" * (1 << 18))
    with pytest.raises(pipe.Stranger):
        slot.client_said(b"x")


@pytest.mark.parametrize("word", [b"x\n", b"\n", b"-1 {}\n", b"1x {}\n", b"HTTP/1.1 200 OK\r\n"])
def test_no_word_of_a_stranger_reaches_the_client(word: bytes) -> None:
    for before in (b"", pipe.READY + b"\n"):
        slot = pipe.Slot()
        with pytest.raises(pipe.Stranger):
            slot.daemon_said(before + word)
        assert not slot.to_client
