"""The mail slot for MCP: lines of an agent go to the daemon, lines of the daemon go to the agent.

Run by path as `PYTHON -I -S pipe.py AGENT`; its home is the parent of the folder that it lies in. While the daemon is
there it reads no line, it only counts them, and imports only modules that are compiled. Clients don't wait: tools
that are not there within a second are missing from the first turn. So without the daemon it answers the handshake and
the list of tools itself, from a file that the daemon wrote at its last start, and holds what else is said until the
daemon, which it starts, is there (docs/formats.md, "MCP").

Only lines of MCP go to stdout, nothing to stderr. Every call gets an answer: the daemon's, or an error.
"""

import errno
import posix
import sys
import time
from posix import _exit as leave

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost more than all of this
    from _socket import socket
    from typing import Any

HELLO = b"coffer-mcp 1"  # the number changes when the lines between us and the daemon do
READY = b"coffer-mcp 1 ready"
GRACE = 0.02  # seconds for the daemon to say that it is ready before the handshake is answered without it
PATIENCE = 20.0  # seconds that a line waits for the daemon in all
RETRY = 0.02
START_PAUSE = 2.0  # seconds between two starts of the daemon
LINGER = 1.0  # seconds for open answers after the client closed its end
PIECE = 1 << 18
ROOM = 1 << 20  # bytes that wait for one side before the other is not read any more
HOLD = 1 << 24  # bytes of lines that wait for a daemon before the client is not read any more
LONGEST = 1 << 25  # bytes of a line; a longer one ends this process, which a client takes for an answer
LONGEST_FILE = 1 << 20
LONGEST_VALUE = 4096
SAFE_WRITE = 4096  # bytes that a ready pipe takes at once: more could block, and nobody would hear the daemon

TOLD = (
    b"CLAUDE_CODE_SESSION_ID",
    b"CLAUDE_PROJECT_DIR",
    b"CLAUDE_CONFIG_DIR",
    b"CLAUDE_CODE_ENTRYPOINT",
    b"CODEX_HOME",
    b"COFFER_RUN",
)
"""Variables that the daemon is told: whose session this is comes from the process, never from the model."""
UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/")
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
CUT_OFF = (
    "Coffer's daemon ended while it worked on this, so it is not known whether it was done. "
    "Call once more: what was done is not done twice."
)
ABSENT = (
    "Coffer's daemon can't be reached, so nothing was done. Go on without it, and tell the person that "
    "`coffer doctor` says what is wrong."
)


class Stranger(Exception):
    """Somebody does not speak as agreed: what listens on the socket, or a client whose line never ends."""


class Slot:
    """What was said and where it goes; opens nothing. `to_client`, `to_daemon`: bytes that are due.

    The daemon answers each line with `N answer`, N counting the lines of this connection, or with `N ` alone where a
    line needs no answer; `0 line` is what it says by itself. So `pending` is exactly what it still owes.
    """

    def __init__(self) -> None:
        self.to_client, self.to_daemon = bytearray(), bytearray()
        self.ready = self.opened = False
        self.new: list[bytes] = []
        self.held: list[bytes] = []
        self.pending: dict[int, bytes] = {}
        self._opening, self._count = b"", 0
        self._said, self._heard = bytearray(), bytearray()

    def waiting(self) -> int:
        """Bytes that wait for a daemon."""
        return sum(map(len, self.new)) + sum(map(len, self.held))

    def client_said(self, piece: bytes) -> None:
        """Take some bytes of the client. Raises Stranger."""
        for line in whole_lines(self._said, piece):
            if not self._opening and b'"initialize"' in line:
                self._opening = line
            if self.ready:
                self._forward(line)
            elif line.strip():
                self.new.append(line)

    def daemon_said(self, piece: bytes) -> None:
        """Take some bytes of the daemon. Raises Stranger where it is none."""
        for line in whole_lines(self._heard, piece):
            if not self.ready:
                if line != READY:
                    raise Stranger
                self._hand_over()
                continue
            number, _, answer = line.partition(b" ")
            if not number.isdigit():
                raise Stranger
            owed = self.pending.pop(int(number), None)
            self.opened = self.opened or (owed is not None and owed is self._opening)
            if answer and (owed is not None or number == b"0"):  # else to a handshake that was said again
                self.to_client += answer + b"\n"

    def _forward(self, line: bytes) -> None:
        self._count += 1
        self.pending[self._count] = line
        self.to_daemon += line + b"\n"

    def _hand_over(self) -> None:
        """Give the daemon what waited for it, after the handshake that the client had with another, or with us."""
        self.ready, self._count = True, 0
        if self.opened:
            self._count = 2
            self.to_daemon += self._opening + b"\n" + INITIALIZED + b"\n"
        for line in (*self.held, *self.new):
            self._forward(line)
        self.held, self.new = [], []

    def lost(self) -> None:
        """The daemon is gone: calls under way fail, other requests wait for the next one."""
        owed, self.pending, self.ready = self.pending, {}, False
        self.to_daemon.clear()
        self._heard.clear()
        again = []
        for line in owed.values():
            told = parsed(line)
            if told.get("method") == "tools/call":
                self._fail(told, CUT_OFF)
            elif "method" in told and "id" in told:
                again.append(line)
        self.new = again + self.new

    def answer_alone(self, hello: "dict[str, Any]") -> None:
        """Answer what can be without a daemon; the rest is held."""
        self.held += [line for line in self.new if not self._answered(line, hello)]
        self.new = []

    def give_up(self) -> None:
        """No daemon came: whatever waits for one fails."""
        for line in (*self.held, *self.new):
            self._fail(parsed(line), ABSENT)
        self.held, self.new = [], []

    def _answered(self, line: bytes, hello: "dict[str, Any]") -> bool:
        told = parsed(line)
        method, asked = told.get("method"), told.get("params", {})
        if method == "notifications/initialized":
            return self.opened  # it is said at the handover
        if "id" not in told or not isinstance(asked, dict) or not hello:
            return False
        answer: dict[str, Any] = {}
        if method == "initialize" and line is self._opening and is_opening(asked):
            self.opened = True
        elif not self.opened or method not in ("ping", "tools/list") or set(asked) - {"_meta"}:
            return False
        if method != "ping":
            wanted = parsed(self._opening).get("params", {}).get("protocolVersion")
            answer = hello["versions"].get(wanted, hello["versions"][hello["otherwise"]])[method]
        self._say({"jsonrpc": "2.0", "id": told["id"], "result": answer})
        return True

    def _fail(self, told: "dict[str, Any]", why: str) -> None:
        if "id" not in told or "method" not in told:
            return
        if told["method"] == "tools/call":
            said = {"result": {"content": [{"type": "text", "text": why}], "isError": True}}
        else:
            said = {"error": {"code": -32603, "message": why}}
        self._say({"jsonrpc": "2.0", "id": told["id"], **said})

    def _say(self, said: "dict[str, Any]") -> None:
        import json  # noqa: PLC0415  (10 ms that only an absent daemon costs)

        self.to_client += json.dumps(said, separators=(",", ":")).encode() + b"\n"


def whole_lines(rest: bytearray, piece: bytes) -> list[bytes]:
    """The lines that end in this piece; what follows the last one is kept in `rest`. Raises Stranger: too long."""
    *ended, last = piece.split(b"\n")
    lines = []
    for end in ended:
        lines.append(bytes(rest + end))
        rest.clear()
    rest += last
    if len(rest) > LONGEST:
        raise Stranger
    return lines


def parsed(line: bytes) -> "dict[str, Any]":
    """A line as an object; empty for anything else."""
    import json  # noqa: PLC0415  (as above)

    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def is_opening(asked: "dict[str, Any]") -> bool:
    """Whether parameters of `initialize` are whole; what is wrong with others only the daemon can say."""
    client = asked.get("clientInfo")
    named = isinstance(client, dict) and all(isinstance(client.get(key), str) for key in ("name", "version"))
    wanted = asked.get("protocolVersion")
    return named and isinstance(wanted, str) and isinstance(asked.get("capabilities"), dict)


class Carrier:
    """The descriptors: moves bytes between them and a Slot, and gets a daemon where none is.

    until: when to stop trying; None while nothing waits. tried, started, linked: when that was last done.
    """

    def __init__(self, home: str, preamble: bytes) -> None:
        import select  # noqa: PLC0415  (a library to load; a child of ours ends without it)

        self.poll, self.IN, self.OUT = select.poll, select.POLLIN, select.POLLOUT
        self.home, self.preamble = home, preamble
        self.slot = Slot()
        self.link: socket | None = None
        self.tried = self.started = self.linked = float("-inf")
        self.until: float | None = time.monotonic() + PATIENCE
        self.ended: float | None = None

    def run(self) -> None:
        """Carry until the client is gone."""
        while not self.is_over():
            self.see_to_daemon(time.monotonic())
            events, slot = self.poll(), self.slot
            roomy = len(slot.to_daemon) < ROOM and slot.waiting() < HOLD and len(slot.to_client) < HOLD
            if self.ended is None and roomy:
                events.register(0, self.IN)
            if slot.to_client:
                events.register(1, self.OUT)
            wanted = (self.IN if len(slot.to_client) < ROOM else 0) | (self.OUT if slot.to_daemon else 0)
            if self.link is not None and wanted:
                events.register(self.link.fileno(), wanted)
            for descriptor, event in events.poll(self.rest()):
                try:
                    self.serve(descriptor, event)
                except BlockingIOError:
                    continue  # a descriptor that somebody made non-blocking, and that was not quite ready

    def is_over(self) -> bool:
        """Whether the client has gone and is owed nothing, or was waited for long enough."""
        if self.ended is None:
            return False
        owed = self.slot.to_client or self.slot.pending or self.slot.waiting()
        return not owed or time.monotonic() > self.ended + LINGER

    def rest(self) -> float | None:
        """Milliseconds until something is due without anybody's word."""
        return None if self.ended is None and self.until is None else RETRY * 1000

    def serve(self, descriptor: int, event: int) -> None:
        """Move what can be moved at one descriptor."""
        if descriptor == 0:
            piece = posix.read(0, PIECE)
            self.slot.client_said(piece)
            self.ended = None if piece else time.monotonic()
        elif descriptor == 1:
            del self.slot.to_client[: posix.write(1, bytes(self.slot.to_client[:SAFE_WRITE]))]
        else:
            try:
                self.move(event)
            except (OSError, Stranger):
                self.drop()

    def move(self, event: int) -> None:
        """Send and receive at the daemon's socket. Raises OSError, Stranger."""
        assert self.link is not None
        if event & self.OUT:
            del self.slot.to_daemon[: self.link.send(bytes(self.slot.to_daemon[:PIECE]))]
        if event & ~self.OUT:  # also its end
            piece = self.link.recv(PIECE)
            if not piece:
                raise Stranger
            self.slot.daemon_said(piece)

    def drop(self) -> None:
        """The daemon is gone, or is none."""
        if self.link is not None:
            self.link.close()
        self.link = None
        self.slot.lost()

    def see_to_daemon(self, now: float) -> None:
        """Get a daemon where one is needed, and do without it where none is there."""
        slot = self.slot
        if slot.ready:
            self.until = None
            return
        if self.until is None:
            if not slot.waiting():
                return
            self.until = now + PATIENCE
        if now > self.until:
            self.drop()
            slot.give_up()
            self.until = None
            return
        if self.link is None and now - self.tried >= RETRY:
            self.connect(now)
        if slot.new and (self.link is None or now - self.linked >= GRACE):
            slot.answer_alone(parsed(content("mcp-hello.json")))

    def connect(self, now: float) -> None:
        """Try to reach the daemon; where there is none, start it."""
        import _socket  # noqa: PLC0415  (a library to load; a child of ours ends without it)

        self.tried = now
        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        link.setblocking(False)
        refused = link.connect_ex("mcp.sock")
        if not refused:
            self.link, self.linked = link, now
            self.slot.to_daemon += self.preamble
            return
        link.close()
        if refused != errno.EAGAIN and now - self.started >= START_PAUSE:  # EAGAIN: its queue is full
            self.started = now
            start_daemon(self.home)


def start_daemon(home: str) -> None:
    """Start the daemon as hook.py does, by that very file; in a child, since it was made for a process that ends."""
    child = posix.fork()
    if child:
        posix.waitpid(child, 0)
        return
    try:
        sys.dont_write_bytecode = True
        sys.path.insert(0, home + "/bin")
        import hook  # type: ignore[import-not-found]  # noqa: PLC0415  (it lies beside this file)

        hook.start_daemon(home)
    finally:
        leave(0)


def main() -> None:
    """Carry the lines of one agent's session."""
    if b"COFFER_CHILD" in posix.environ or len(sys.argv) < 2 or not __file__.startswith("/"):
        return
    for descriptor in range(3):
        posix.fstat(descriptor)  # raises where one is closed: there is nobody to talk with
    home = __file__.rpartition("/")[0].rpartition("/")[0] or "/"
    try:
        folder = posix.getcwdb()
    except OSError:
        folder = b""  # it was deleted
    preamble = introduction(sys.argv[1], folder)
    posix.chdir(home)  # a socket's address holds 107 bytes, 103 on macOS: it is named from here
    Carrier(home, preamble).run()


def introduction(agent: str, folder: bytes) -> bytes:
    """Who speaks: the first line of a connection."""
    told = [(b"env." + name, posix.environ[name]) for name in TOLD if posix.environ.get(name)]
    told = [(b"agent", agent.encode()), (b"cwd", folder), (b"ppid", b"%d" % posix.getppid()), *told]
    words = [name + b"=" + quoted(value) for name, value in told if len(value) <= LONGEST_VALUE]
    return b" ".join((HELLO, *words)) + b"\n"


def quoted(value: bytes) -> bytes:
    """Percent-encode: a space or a line break in a folder's name must not end a word."""
    return "".join([chr(byte) if byte in UNRESERVED else f"%{byte:02X}" for byte in value]).encode()


def content(path: str) -> bytes:
    """What a file holds; empty where it can't be read."""
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
        try:
            return posix.read(descriptor, LONGEST_FILE)
        finally:
            posix.close(descriptor)
    except OSError:
        return b""


if __name__ == "__main__":
    try:
        main()
    finally:
        leave(0)  # whatever happened: its end is all that a client needs to see
