"""The mail slot for hooks: what an agent says goes to the daemon, what the daemon answers goes to the agent.

Run by path as `PYTHON -I -S hook.py AGENT EVENT`; its home is the parent of the folder that it lies in. It knows
nothing of what it carries and imports only modules that are compiled into Python or nearly so: `os` or `json`
alone would cost more than all it does.

An agent waits for this process, and takes an exit code of 2 for "block". So it ends with 0 whatever happens, within
0.8 s, and prints a whole answer or nothing. Without an answer of the daemon a starting session gets the file
that was written for it in advance, and the daemon is started for next time (docs/formats.md, "Hook files").
"""

import _signal  # type: ignore[import-not-found]  # `signal` wraps each call in an enum, in Python
import errno
import posix
import sys
import time
from posix import _exit as leave

WHOLE = 0.7
"""Seconds after which the process ends itself; starting Python may take the tenth that is missing from 0.8."""
DAEMON = 0.3
"""Seconds for the daemon in all."""
FILES_FIRST = 0.5
"""Seconds after which the daemon is not waited for any more, so that a slow stdin leaves time for the file."""
LONGEST_SAID = 8_000_000
"""Bytes of stdin that the daemon takes."""
LONGEST_ANSWER = 65_536
"""Bytes of an answer: what a pipe takes at once. More could be cut by the end of time, half printed."""
LONGEST_INDEX = 4_000_000
LONGEST_VALUE = 4096
"""Bytes of a variable that is told; longer ones would make the daemon refuse the whole request."""
START_PAUSE = 2.0
"""Seconds between two starts of the daemon: a hundred hooks at once start one."""

TOLD = (
    b"COZEMPIC_CONTEXT_WINDOW",
    b"CLAUDE_PROJECT_DIR",
    b"CLAUDE_CONFIG_DIR",
    b"CODEX_HOME",
    b"CLAUDE_CODE_ENTRYPOINT",
    b"TMUX",
    b"TMUX_PANE",
    b"COFFER_RUN",
)
"""Variables that the daemon is told: its own environment is not the session's."""
INHERITED = b"HOME PATH LANG TMPDIR USER XDG_RUNTIME_DIR CLAUDE_CONFIG_DIR CODEX_HOME".split()
"""Variables that a daemon inherits, besides LC_*; what else a session has (keys, proxies) is not the daemon's."""
FOLDERS = (b"CLAUDE_CONFIG_DIR", b"CODEX_HOME", b"CLAUDE_PROJECT_DIR")
"""Variables that the spool keeps: where the session's transcript and project lie; the daemon may have others."""
MOST_SPOOLED = 1000
SPOOLED_LAST = 30 * 86_400 * 10**9
"""How many answers wait for a daemon, and for how many nanoseconds: one that can never start must not fill a disk."""
ANSWERED = ("SessionStart", "SubagentStart")
"""Events that are answered from a file."""
PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/")
READ = posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK
"""How files are opened: a pipe in a file's place must not hold us."""


def main() -> None:
    """Answer one hook."""
    watch()
    began = time.monotonic()
    if b"COFFER_CHILD" in posix.environ or len(sys.argv) < 3 or not __file__.startswith("/"):
        return
    agent, event = sys.argv[1:3]
    if not (plain(agent) and plain(event)):
        return
    occupy()
    home = __file__.rpartition("/")[0].rpartition("/")[0] or "/"
    folder = working_folder()
    posix.chdir(home)  # a socket's address holds 107 bytes, 103 on macOS: it is named from here
    said = stdin()
    answer, lives = None, said is None
    if said is not None:
        until = min(time.monotonic() + DAEMON, began + FILES_FIRST)
        answer, lives = asked(request(agent, event, folder, said), until)
    if answer is not None:
        say(answer)
        return
    key, answer = kept(agent, event, began_in(agent, folder, home), said)
    if answer and say(answer) and is_mine(home):
        words = [f"{agent} {event} {key}".encode()]
        words += [name + b"=" + quoted(posix.environ[name]) for name in FOLDERS if posix.environ.get(name)]
        note(b" ".join(words) + b"\n" + quoted(folder) + b"\n" + (said or b""))
    if not lives:
        start_daemon(home)


def watch() -> None:
    """End with 0 and without a word at the end of time, and on every signal that asks for an end."""
    ends = (_signal.SIGALRM, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)
    for signal in ends:
        _signal.signal(signal, lambda *_: leave(0))
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, ends)  # a client that blocks them would take our time limit
    _signal.setitimer(_signal.ITIMER_REAL, WHOLE)


def plain(word: str) -> bool:
    """Whether a word may stand in a path: anything else could lead out of its folder."""
    return bool(word) and PLAIN.issuperset(word)


def occupy() -> None:
    """See that 0, 1 and 2 are open: else the next file or socket would be taken for stdout."""
    for descriptor in range(3):
        try:
            posix.fstat(descriptor)
        except OSError:
            posix.open("/dev/null", posix.O_RDWR)  # takes the lowest number that is free


def working_folder() -> bytes:
    """The session's folder; empty where it was deleted."""
    try:
        return posix.getcwdb()
    except OSError:
        return b""


def began_in(agent: str, folder: bytes, home: str) -> bytes:
    """The folder that a session began in: `cd` moves the hook's, and not the session."""
    began = posix.environ.get(b"CLAUDE_PROJECT_DIR", b"")
    if agent != "claude" or not began.startswith(b"/"):
        return folder
    try:
        posix.chdir(began)  # by a link it has a name that stands in no index
        return posix.getcwdb()
    except OSError:
        return folder
    finally:
        posix.chdir(home)


def stdin() -> bytes | None:
    """All of stdin; None where it is too long or broken.

    It is read to its end all the same: an agent whose pipe breaks may take that for an error.
    """
    pieces: list[bytes] = []
    size = 0
    while True:
        try:
            piece = posix.read(0, 1 << 20)
        except BlockingIOError:
            time.sleep(0.002)
            continue
        except OSError:
            return None
        if not piece:
            return b"".join(pieces) if size <= LONGEST_SAID else None
        size += len(piece)
        if size <= LONGEST_SAID:
            pieces.append(piece)


def quoted(value: bytes) -> bytes:
    """Percent-encode: a line break in a folder's name must not end a header."""
    return "".join([chr(byte) if byte in UNRESERVED else f"%{byte:02X}" for byte in value]).encode()


def request(agent: str, event: str, folder: bytes, said: bytes) -> bytes:
    """The whole request, of HTTP/1.1."""
    told = [(b"Env-" + name, posix.environ[name]) for name in TOLD if posix.environ.get(name)]
    told = [(b"Cwd", folder), (b"Ppid", b"%d" % posix.getppid()), *told]
    headers = [
        b"POST /api/v1/agents/%s/events/%s HTTP/1.1" % (agent.encode(), event.encode()),
        b"Host: localhost",
        b"Connection: close",
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(said),
        *(b"X-Coffer-%s: %s" % (name, quoted(value)) for name, value in told if len(value) <= LONGEST_VALUE),
    ]
    return b"\r\n".join(headers) + b"\r\n\r\n" + said


def asked(sent: bytes, until: float) -> tuple[bytes | None, bool]:
    """What the daemon answers until then, or None; and whether something that speaks HTTP is there."""
    got = b""
    try:
        import _socket  # noqa: PLC0415  (a library to load; a child of ours ends without it)

        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        link.settimeout(left(until))
        while (refusal := link.connect_ex("daemon.sock")) == errno.EAGAIN:  # its queue is full: again
            time.sleep(0.004)
            link.settimeout(left(until))
        if refusal:
            return None, False
        link.sendall(sent)
        while len(got) < 2 * LONGEST_ANSWER:
            link.settimeout(left(until))
            piece = link.recv(LONGEST_ANSWER)
            got += piece
            head, gap, body = got.partition(b"\r\n\r\n")
            if gap and (not piece or len(body) >= announced(head)):
                return (body if len(body) == announced(head) else None), True
            if not piece:
                break
    except (OSError, ValueError, ImportError):
        pass  # refused, late, closed, no HTTP: all the same to the agent
    return None, got.startswith(b"HTTP/1.")


def left(until: float) -> float:
    """Seconds that are left; TimeoutError where none are."""
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def announced(head: bytes) -> int:
    """The length of a good answer's body; ValueError for any other answer."""
    status, *headers = head.split(b"\r\n")
    if not status.startswith(b"HTTP/1.") or status.split(b" ")[1:2] != [b"200"]:
        raise ValueError
    (length,) = (line[15:].strip() for line in headers if line[:15].lower() == b"content-length:")
    if not length.isdigit() or len(length) > 6 or int(length) > LONGEST_ANSWER:
        raise ValueError
    return int(length)


def say(answer: bytes) -> bool:
    """Print an answer; False where nobody listens any more."""
    try:
        while answer:
            try:
                answer = answer[posix.write(1, answer) :]
            except BlockingIOError:
                time.sleep(0.002)
    except OSError:
        return False
    return True


def kept(agent: str, event: str, folder: bytes, said: bytes | None) -> tuple[str, bytes]:
    """The answer that lies ready for a session in this folder, and its key; empty where there is none."""
    if event not in ANSWERED or (agent == "codex" and event == "SessionStart" and not is_fresh(said or b"")):
        return "", b""
    for _ in range(2):  # a folder may go between the index and the file: the new index names another
        key = key_of(content("bundles/index", LONGEST_INDEX), folder or b"/")
        if not plain(key):
            break
        answer = content(f"bundles/{key}/{agent}.{event}", LONGEST_ANSWER)
        if answer:
            return key, answer
    return "", b""


def is_fresh(said: bytes) -> bool:
    """Whether a Codex context begins empty: a resumed or forked one holds the rules, and would get them twice.

    The first `"source"` is the event's own: inside a string its quotes would be escaped.
    """
    after = said.partition(b'"source"')[2].lstrip()
    return after[:1] == b":" and after[1:].lstrip().startswith((b'"startup"', b'"clear"', b'"compact"'))


def key_of(index: bytes, folder: bytes) -> str:
    """The key of the longest root that is the folder or one of its parents; empty where there is none.

    A repository of its own that is not listed is a project that nobody published: it gets what no project's session
    gets, not the rules of the project around it.
    """
    index = b"\n" + index
    while True:
        at = index.find(b"\t" + folder + b"\n")
        if at >= 0:
            return index[index.rfind(b"\n", 0, at) + 1 : at].decode("ascii", "replace")
        if folder in (b"/", b""):
            return ""
        folder = b"/" if is_repository(folder) else folder.rpartition(b"/")[0] or b"/"


def is_repository(folder: bytes) -> bool:
    """Whether a folder is a repository's own: a submodule's too, not a worktree's of one around it."""
    mark = folder + b"/.git"
    said = content(mark, LONGEST_VALUE)
    if not said:
        return exists(mark + b"/HEAD")
    main, worktree, _ = said.partition(b"/.git/worktrees/")
    main = main.removeprefix(b"gitdir:").strip()
    return not worktree or not (folder.startswith(main + b"/") or not main.strip(b"./"))


def content(path: str | bytes, longest: int) -> bytes:
    """What a file holds; empty where it can't be read or is longer."""
    got = b""
    try:
        descriptor = posix.open(path, READ)
        try:
            while len(got) <= longest and (piece := posix.read(descriptor, longest + 1)):
                got += piece
        finally:
            posix.close(descriptor)
    except OSError:
        return b""
    return got if len(got) <= longest else b""


def note(entry: bytes) -> None:
    """Leave word for the daemon of what was answered; it counts once it has its name."""
    name = f"{time.time_ns()}-{posix.getpid()}"
    written = f"spool/.{name}"
    try:  # noqa: SIM105  (contextlib is Python)
        posix.mkdir("spool", 0o700)
    except OSError:
        pass  # there already, perhaps since a moment; and if not, the next step says so
    try:
        descriptor = posix.open(
            written, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600
        )
        while entry:
            entry = entry[posix.write(descriptor, entry) :]
        posix.rename(written, f"spool/{name}")
        thin_out()
    except OSError:
        if exists(written):  # a full disk: half a word is none
            posix.unlink(written)


def thin_out() -> None:
    """Let go of the oldest answers that nobody took in."""
    names = sorted(name for name in posix.listdir("spool") if name[:1].isdigit())
    old = str(time.time_ns() - SPOOLED_LAST)
    for place, name in enumerate(names, MOST_SPOOLED - len(names)):
        if place >= 0 and name > old:
            break
        posix.unlink(f"spool/{name}")


def exists(path: str | bytes) -> bool:
    """Whether something of that name is there."""
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True


def start_daemon(home: str) -> None:
    """Start the daemon for next time, unless another hook just did."""
    command = content("bin/daemon-command", LONGEST_ANSWER).split(b"\0")
    if not command[0].startswith(b"/") or not is_mine(home) or not is_my_turn():
        return
    child = posix.fork()
    if child:
        posix.waitpid(child, 0)
    else:
        become_daemon(command, home)


def is_mine(home: str) -> bool:
    """Whether the home is this user's; else (`sudo`) files of ours would shut the owner's daemon and hooks out."""
    return posix.stat(home).st_uid == posix.geteuid()


def is_my_turn() -> bool:
    """Whether nobody started the daemon a moment ago; the lock goes with its holder, also with a killed one."""
    stamp = posix.open("daemon-started", posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
    posix.lockf(stamp, posix.F_TLOCK, 0)  # raises where another hook is right here
    seen = posix.fstat(stamp)
    if seen.st_size and 0 <= time.time() - seen.st_mtime < START_PAUSE:
        return False
    return posix.pwrite(stamp, b"1", 0) == 1


def become_daemon(command: list[bytes], home: str) -> None:
    """In a child: leave session, folder and every descriptor of the agent behind, then run the command.

    An agent reads stdout to its end: a daemon that kept it would freeze the session for its whole life.
    """
    nowhere = posix.open("/dev/null", posix.O_RDWR)
    for descriptor in range(3):
        posix.dup2(nowhere, descriptor)
    for name in posix.listdir("/dev/fd"):
        try:
            if int(name) > 2:
                posix.close(int(name))
        except OSError:
            continue  # the one by which the list was read
    posix.setsid()
    if posix.fork():
        return  # a process that leads no session can get no terminal
    posix.chdir("/")
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)  # Python's own choice would be inherited
    few: dict[bytes, bytes | str] = {b"COFFER_HOME": home}
    few |= {name: value for name, value in posix.environ.items() if name in INHERITED or name[:3] == b"LC_"}
    posix.execve(command[0], command, few)


if __name__ == "__main__":
    try:
        main()
    finally:
        leave(0)  # whatever happened: a traceback's exit code is noise to the agent, its text too
