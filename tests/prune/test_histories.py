"""Append, prune, rewind, repair, die, undo, in any order: nothing that was ever appended is lost.

A stateful search for data loss. The model is one list: every line that the client appended, in order.
COFFER_EFFORT=all searches longer.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from coffer.core import view as views
from tests.effort import examples
from tests.prune.forks import Forks
from tests.prune.generate import Talk, words
from tests.prune.world import put, rest
from tests.transcripts import SESSION, read, spoken, uid

NOTHING_TO_UNDO = 14
_MEMORY = Path("/dev/shm")  # noqa: S108  (a file system in memory, where there is one)


def _said(data: bytes) -> list[str]:
    return spoken(views.view(read(data)), data)


class Histories(RuleBasedStateMachine):
    """One session through its life."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="coffer-test-", dir=_MEMORY if _MEMORY.is_dir() else None))
        (self.folder / "home").mkdir()
        self.machine = Forks(self.folder / "home")
        self.talk = Talk()
        self.sent = 0
        self.prompts: list[str] = []
        self.receipts = 0

    def teardown(self) -> None:
        try:
            self._all_comes_back()
        finally:
            shutil.rmtree(self.folder)

    # --- what the client does

    @initialize()
    def begin(self) -> None:
        self.path = put(self.folder / "home" / ".claude" / "projects" / "-w", b"", SESSION)
        self._ask("the first")
        self.talk.say(words(30_000, "ballast"))
        self._flush()

    def _flush(self) -> None:
        lines = self.talk.made.lines[self.sent :]
        self.sent = len(self.talk.made.lines)
        with self.path.open("ab") as file:
            for line in lines:
                file.write(line + b"\n")
        rest(self.path)

    def _ask(self, said: str) -> None:
        name = f"h{len(self.prompts)}"
        self.prompts.append(name)
        self.talk.ask(said, name)

    @rule(kind=st.sampled_from(["read", "edit", "poll", "retry", "long", "progress", "talk"]))
    def append(self, kind: str) -> None:
        talk = self.talk
        match kind:
            case "read":
                talk.read("/w/a.py", 3_000, side={"x": words(900)})
            case "edit":
                talk.edit("/w/a.py")
            case "poll":
                for number in range(3):
                    talk.bash("git status", f"clean {number} {talk.count}")
            case "retry":
                talk.bash("make", "no", failed=True)
                talk.bash("make", "yes")
            case "long":
                talk.bash(f"cat {talk.count}", words(9_000, f"{talk.count}"))
            case "progress":
                talk.made.progress()
            case _:
                talk.say("so far")
                self._ask("go on")
                talk.say("yes")
        self._flush()

    @rule(back=st.integers(0, 5), explicit=st.booleans())
    def rewind(self, back: int, explicit: bool) -> None:  # noqa: FBT001
        """To an older prompt: the client says so, and goes on from there by its own memory."""
        leaf = uid(self.prompts[-1 - back % len(self.prompts)])
        self.talk.made.leaf = leaf
        self.talk.made.note("last-prompt", leafUuid=leaf, explicit=explicit)
        self._ask("another way")
        self.talk.say("as you wish")
        self._flush()

    # --- what coffer does

    @rule(prescription=st.sampled_from(["gentle", "standard", "aggressive"]))
    def prune(self, prescription: str) -> None:
        before = _said(self.path.read_bytes())
        done = self.machine.ok("prune", self.path, "-rx", prescription, "--apply", "--json").json
        self.receipts += done["receipt"] is not None
        after = _said(self.path.read_bytes())
        assert [line for line in before if line.startswith("user: ")] == [
            line for line in after if line.startswith("user: ")
        ]

    @rule(step=st.integers(1, 160))
    def die_in_prune(self, step: int) -> None:
        before = self.path.read_bytes()
        done = self.machine.run("prune", self.path, "--apply", die_at=step)
        if not done.died or self.path.read_bytes() != before:
            self.receipts += 1

    @precondition(lambda self: self.receipts)
    @rule(step=st.integers(1, 60))
    def die_in_undo_before_it_happened(self, step: int) -> None:
        before = self.path.read_bytes()
        self.machine.run("undo", die_at=step)
        if self.path.read_bytes() != before:
            self.machine.run("undo")  # B11: nothing says that it had happened

    @rule()
    def undo(self) -> None:
        assert self.machine.run("undo").code in (0, NOTHING_TO_UNDO)

    @rule()
    def check_and_fix(self) -> None:
        before = _said(self.path.read_bytes())
        assert self.machine.run("check", self.path, "--fix").code in (0, 1)
        rest_of = iter(_said(self.path.read_bytes()))
        assert all(line in rest_of for line in before)

    # --- what holds always

    @invariant()
    def every_prompt_is_in_the_file(self) -> None:
        data = self.path.read_bytes() if hasattr(self, "path") else b""
        for line in self.talk.made.lines[: self.sent]:
            if b'"type":"user"' in line and b"tool_result" not in line:
                assert line.partition(b'"uuid":')[2][:40] in data

    @invariant()
    def every_line_is_in_the_file_or_in_a_backup(self) -> None:
        if not hasattr(self, "path"):
            return
        files = [self.path, *(self.folder / "home" / ".coffer" / "backups").glob("*/*.jsonl")]
        known = {line for file in files for line in file.read_bytes().split(b"\n")}
        assert [line for line in self.talk.made.lines[: self.sent] if line not in known] == []

    def _all_comes_back(self) -> None:
        if not hasattr(self, "path"):
            return
        for _ in range(60):
            done = self.machine.run("undo")
            assert done.code in (0, NOTHING_TO_UNDO), done.err
            if done.code == NOTHING_TO_UNDO:
                break
        history = b"".join(line + b"\n" for line in self.talk.made.lines[: self.sent])
        assert self.path.read_bytes() == history
        assert _said(self.path.read_bytes()) == _said(history)


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=examples(12, 60),
    stateful_step_count=22,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
