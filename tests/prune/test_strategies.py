"""Each strategy by itself: first the table of what it must not touch, then what it takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coffer.core.strategies import old_results
from tests.prune.generate import (
    LAUNCHED,
    REMINDER,
    STEP_MAKERS,
    UNCHANGED,
    Talk,
    begun,
    build,
    rich,
    words,
)
from tests.prune.world import look, pruned, put, take, told
from tests.transcripts import call, image, text, thinking, uid

Tell = Callable[[Talk], object]


def _talk(tell: Tell, *, ends: bool = True) -> Talk:
    talk = begun()
    tell(talk)
    if ends:
        talk.end()
    return talk


def _compacted(talk: Talk) -> None:
    talk.read(name="old")
    talk.made.compact(name="b")


def _behind_a_compaction(talk: Talk) -> None:
    talk.made.lines.clear()
    talk.made.compact(name="b")
    _read(talk)


def _kept_by_compaction(talk: Talk) -> None:
    talk.say("keep me", "kept")
    listed = {"anchorUuid": uid("bs"), "uuids": [uid("kept")], "allUuids": [uid("kept")]}
    talk.made.compact(name="b", preservedMessages=listed)


def _twice(tell: Tell) -> Tell:
    return lambda talk: (tell(talk), tell(talk))


def _hook(talk: Talk, said: str, name: str = "", kind: str = "hook_additional_context") -> None:
    talk.made.attachment(kind, name, {"hookEvent": "SessionStart", "content": [said]})
    talk.say()


def _bundles(talk: Talk) -> None:
    for number in range(3):
        _hook(talk, f"<!-- __cozempic_behavioral_digest__: true --> {number}", f"h{number}")


def _reads_of_two(talk: Talk) -> None:
    talk.read("/w/a.py", name="one")
    talk.read("/w/b.py", name="two")


def _of_tool(tool: str, **more: Any) -> Tell:
    """A call of a tool whose result is long enough to be taken."""
    return lambda talk: talk.use(tool, words(900), x="y", **more)


def _later(tell_first: Tell, tell_later: Tell) -> Tell:
    return lambda talk: (tell_first(talk), tell_later(talk))


def _read(talk: Talk) -> None:
    talk.read(name="old")


def _old(tell: Tell) -> Tell:
    return lambda talk: [each(talk) for each in (tell, Talk.fill)]


def _in_tail(tell: Tell) -> Tell:
    """The same in the last turn."""
    return lambda talk: (talk.ask("the last"), tell(talk))


def _with_text(talk: Talk) -> None:
    talk.use("Bash", "1 failed", "bad", failed=True, before=[text("I try it")], command="pytest")
    talk.use("Bash", "1 passed", "good", command="pytest")


def _two_calls_one_message(talk: Talk) -> None:
    talk.made.answer(call("c1", "Bash", command="pytest"), call("c2", "Bash", command="ls"), name="both")
    talk.made.result("c1", "1 failed", "r1", toolUseResult={"stdout": ""})
    talk.made.lines[-1] = talk.made.lines[-1].replace(
        b'"content":"1 failed"', b'"content":"1","is_error":true'
    )
    talk.made.result("c2", "a", "r2", toolUseResult={"stdout": ""})
    talk.use("Bash", "1 passed", "good", command="pytest")


def _poll(times: int, tool: str = "Bash", content: str = "clean", **given: Any) -> Tell:
    def tell(talk: Talk) -> None:
        for number in range(times):
            talk.use(tool, f"{content} {number}", f"poll{number}", **(given or {"command": "git status"}))

    return tell


def _images(*, failed: bool = False, count: int = 1) -> Tell:
    def tell(talk: Talk) -> None:
        for number in range(count):
            parts = [image(), text("seen")]
            talk.use("Read", parts, f"im{number}", failed=failed, file_path=f"/w/{number}.png")

    return tell


def _writes(talk: Talk) -> None:
    for number in range(2):
        talk.use("Write", "ok", f"w{number}", file_path="/w/a.py", content=words(3_000, f"v{number}"))


NOTHING: list[tuple[str, str, Talk]] = [
    ("progress", "no progress", _talk(_read)),
    (
        "snapshots",
        "one a message",
        _talk(_later(lambda t: t.made.snapshot("first"), lambda t: t.made.snapshot("last"))),
    ),
    ("snapshots", "first and newest", _talk(_twice(lambda t: t.made.snapshot("first")))),
    ("before-compaction", "no compaction", _talk(_later(_read, lambda t: t.made.last_prompt("first")))),
    ("before-compaction", "what is behind it", _talk(_behind_a_compaction)),
    ("before-compaction", "what is kept, and what a person said", _talk(_kept_by_compaction)),
    ("failed-retries", "never succeeded", _talk(_twice(lambda t: t.bash("x", failed=True)))),
    ("failed-retries", "another call succeeded", _talk(lambda t: (t.bash("x", failed=True), t.bash("x -v")))),
    ("failed-retries", "the success came first", _talk(lambda t: (t.bash("x"), t.bash("x", failed=True)))),
    ("failed-retries", "its message says more", _talk(_with_text)),
    ("failed-retries", "its message calls more", _talk(_two_calls_one_message)),
    ("failed-retries", "the tail", _talk(_in_tail(_twice(lambda t: t.bash("x", failed=True))), ends=False)),
    ("poll-loops", "once", _talk(_poll(1))),
    ("poll-loops", "twice is no loop", _talk(_poll(2))),
    ("poll-loops", "edits", _talk(_poll(4, "Edit", file_path="/w/a", old_string="a", new_string="b"))),
    ("poll-loops", "writes", _talk(_poll(4, "Write", file_path="/w/a", content="b"))),
    ("poll-loops", "cron", _talk(_poll(4, "CronCreate", cron="7 3 * * *", prompt="p"))),
    ("poll-loops", "agents", _talk(_poll(4, "Agent", prompt="p"))),
    ("poll-loops", "tasks made", _talk(_poll(4, "TaskCreate", subject="p"))),
    ("poll-loops", "the tail", _talk(_in_tail(_poll(4)), ends=False)),
    ("superseded-reads", "the newest state", _talk(_read)),
    ("superseded-reads", "two files", _talk(_reads_of_two)),
    ("superseded-reads", "a failed edit", _talk(_later(_read, lambda t: t.edit(failed=True)))),
    ("superseded-reads", "a failed read", _talk(_later(_read, lambda t: t.read(failed=True)))),
    ("superseded-reads", "an edit before", _talk(_later(lambda t: t.edit(), _read))),
    ("superseded-reads", "a part", _talk(_later(_read, lambda t: t.read(offset=9, limit=9)))),
    (
        "superseded-reads",
        "another part",
        _talk(_later(lambda t: t.read(offset=1), lambda t: t.read(offset=9))),
    ),
    ("superseded-reads", "unchanged since", _talk(_later(_read, lambda t: t.read(content=UNCHANGED)))),
    ("superseded-reads", "a short read", _talk(_later(lambda t: t.read(size=200), lambda t: t.edit()))),
    ("superseded-reads", "a failed read first", _talk(lambda t: (t.read(failed=True), t.edit()))),
    (
        "superseded-reads",
        "a shell that names the file",
        _talk(_later(_read, lambda t: t.bash("cat /w/a.py"))),
    ),
    ("superseded-reads", "the tail", _talk(_in_tail(_later(_read, lambda t: t.edit())), ends=False)),
    ("repeats", "once", _talk(lambda t: t.bash(content=words(2_000)))),
    ("repeats", "short", _talk(_twice(lambda t: t.bash(content=words(900))))),
    ("repeats", "a person's words", _talk(_twice(lambda t: t.ask(words(2_000))))),
    ("repeats", "answers", _talk(_twice(lambda t: t.say(words(2_000))))),
    ("repeats", "failures", _talk(_twice(lambda t: t.bash(content=words(2_000), failed=True)))),
    ("repeats", "summaries", _talk(_twice(lambda t: t.ask(words(2_000), isCompactSummary=True)))),
    ("bundles", "once", _talk(lambda t: _hook(t, "be kind"))),
    ("bundles", "another text", _talk(_later(lambda t: _hook(t, "be kind"), lambda t: _hook(t, "be brief")))),
    ("bundles", "other kinds", _talk(_twice(lambda t: _hook(t, "x", kind="skill_listing")))),
    ("bundles", "the tail", _talk(_in_tail(_twice(lambda t: _hook(t, "be kind"))), ends=False)),
    ("images", "the newest", _talk(_images())),
    ("images", "failures", _talk(_images(failed=True, count=3))),
    ("images", "pasted by a person", _talk(lambda t: [t.ask([image(), text("see")]) for _ in range(3)])),
    ("images", "the tail", _talk(_in_tail(_images(count=3)), ends=False)),
    ("old-results", "the last calls", _talk(lambda t: [t.bash(content=words(700)) for _ in range(20)])),
    ("old-results", "short", _talk(_old(lambda t: t.bash(content=words(499))))),
    ("old-results", "failures", _talk(_old(lambda t: t.bash(content=words(900), failed=True)))),
    *(
        ("old-results", f"the tool {tool}", _talk(_old(_of_tool(tool))))
        for tool in (
            "AskUserQuestion",
            "CronCreate",
            "CronDelete",
            "ExitPlanMode",
            "ScheduleWakeup",
            "Skill",
        )
    ),
    ("large-blocks", "small", _talk(_old(lambda t: t.bash(content=words(5_999))))),
    ("large-blocks", "failures", _talk(_old(lambda t: t.bash(content=words(9_000), failed=True)))),
    ("large-blocks", "the last calls", _talk(lambda t: [t.bash(content=words(9_000)) for _ in range(4)])),
    ("large-blocks", "images", _talk(_old(lambda t: t.use("Read", [image(), text(words(9_000))])))),
    ("large-blocks", "answers of a person", _talk(_old(lambda t: t.use("AskUserQuestion", words(9_000))))),
    (
        "large-blocks",
        "the newest write",
        _talk(_old(lambda t: t.use("Write", "ok", file_path="/w/a", content=words(9_000)))),
    ),
    (
        "large-blocks",
        "a write before one that failed",
        _talk(
            _old(
                lambda t: [
                    t.use("Write", "ok", file_path="/w/a", content=words(9_000, str(n)), failed=n > 0)
                    for n in range(2)
                ]
            )
        ),
    ),
    ("reminders", "once", _talk(lambda t: t.read(content="x" + REMINDER))),
    ("reminders", "in the middle", _talk(_twice(lambda t: t.read(content=REMINDER + "and more")))),
    ("reminders", "of a person", _talk(_twice(lambda t: t.ask("x" + REMINDER)))),
    ("reminders", "the tail", _talk(_in_tail(_twice(lambda t: t.read(content="x" + REMINDER))), ends=False)),
    ("thinking", "none", _talk(_read)),
    ("thinking", "the tail", _talk(_in_tail(lambda t: t.made.answer(thinking(), text("x"))), ends=False)),
    ("thinking", "alone", _talk(lambda t: t.made.answer(thinking()))),
    ("thinking", "of another model", _talk(lambda t: t.made.answer(thinking(), text("x"), model="claude-3"))),
    ("sidecars", "small", _talk(lambda t: t.bash(side={"stdout": "x"}))),
    ("sidecars", "the tail", _talk(_in_tail(lambda t: t.read(side=words(2_000))), ends=False)),
    *(
        ("sidecars", f"of {tool}", _talk(_of_tool(tool, side=words(2_000))))
        for tool in ("Agent", "Bash", "CronCreate", "Monitor", "Task", "TaskOutput", "TaskStop", "Workflow")
    ),
]


@pytest.mark.parametrize(("strategy", "talk"), [pytest.param(s, t, id=f"{s}: {w}") for s, w, t in NOTHING])
def test_leaves_alone(strategy: str, talk: Talk) -> None:
    assert take(talk, strategy) == []


TAKES: list[tuple[str, str, Talk, list[str]]] = [
    ("progress", "all", _talk(lambda t: (t.made.progress("p"), t.made.progress("q"))), ["drop p", "drop q"]),
    ("before-compaction", "history", _talk(_compacted), ["drop oldc", "drop oldr"]),
    (
        "failed-retries",
        "call and result",
        _talk(lambda t: (t.bash("x", name="bad", failed=True), t.bash("x"))),
        ["drop badc", "drop badr"],
    ),
    (
        "failed-retries",
        "with its thinking",
        _talk(
            lambda t: (
                t.use("Bash", "no", "bad", failed=True, before=[thinking()], command="x"),
                t.bash("x"),
            )
        ),
        ["drop badca", "drop badcb", "drop badr"],
    ),
    (
        "poll-loops",
        "all but the newest",
        _talk(_poll(3)),
        ["drop poll0c", "drop poll0r", "drop poll1c", "drop poll1r"],
    ),
    ("superseded-reads", "an edit", _talk(_later(_read, lambda t: t.edit())), ["stub oldr"]),
    (
        "superseded-reads",
        "a write",
        _talk(_later(_read, lambda t: t.use("Write", file_path="/w/a.py"))),
        ["stub oldr"],
    ),
    ("superseded-reads", "a whole read", _talk(_later(_read, lambda t: t.read())), ["stub oldr"]),
    (
        "superseded-reads",
        "a part by the whole",
        _talk(_later(lambda t: t.read(name="part", offset=3), _read)),
        ["stub partr"],
    ),
    (
        "superseded-reads",
        "the same part",
        _talk(_later(lambda t: t.read(name="p1", offset=3), lambda t: t.read(name="p2", offset=3))),
        ["stub p1r"],
    ),
    (
        "repeats",
        "results",
        _talk(
            _later(lambda t: t.bash(name="one", content=words(2_000)), lambda t: t.bash(content=words(2_000)))
        ),
        ["stub oner"],
    ),
    (
        "repeats",
        "the client's notes",
        _talk(lambda t: [t.ask(words(2_000), f"n{n}", isMeta=True) for n in range(2)]),
        ["stub n0"],
    ),
    (
        "bundles",
        "the same context",
        _talk(_later(lambda t: _hook(t, "be kind", "h1"), lambda t: _hook(t, "be kind", "h2"))),
        ["drop h1"],
    ),
    (
        "bundles",
        "Coffer's own whatever they say",
        _talk(_bundles),
        ["drop h0", "drop h1"],
    ),
    ("images", "all but the newest", _talk(_images(count=3)), ["stub im0r", "stub im1r"]),
    ("old-results", "old ones", _talk(_old(lambda t: t.bash(name="old", content=words(900)))), ["stub oldr"]),
    (
        "large-blocks",
        "results",
        _talk(_old(lambda t: t.bash(name="big", content=words(9_000)))),
        ["stub bigr"],
    ),
    ("large-blocks", "writes that are superseded", _talk(_later(_writes, lambda t: t.fill(6))), ["stub w0c"]),
    (
        "reminders",
        "at the end of results",
        _talk(lambda t: [t.read(f"/w/{n}", name=f"r{n}", content=f"x{n}" + REMINDER) for n in range(3)]),
        ["strip r0r", "strip r1r"],
    ),
    (
        "reminders",
        "as attachments",
        _talk(
            lambda t: [(t.made.attachment("task_reminder", f"a{n}", {"content": []}), t.say()) for n in "01"]
        ),
        ["drop a0"],
    ),
    (
        "thinking",
        "of earlier turns",
        _talk(lambda t: t.made.answer(thinking(), text("x"), name="th")),
        ["drop tha"],
    ),
    ("sidecars", "large ones", _talk(lambda t: t.read(name="old", side=words(2_000))), ["trim oldr"]),
]


@pytest.mark.parametrize(
    ("strategy", "talk", "wanted"), [pytest.param(s, t, n, id=f"{s}: {w}") for s, w, t, n in TAKES]
)
def test_takes(strategy: str, talk: Talk, wanted: list[str]) -> None:
    assert take(talk, strategy) == wanted


def test_snapshots_between_the_first_and_the_newest_go() -> None:
    talk = begun()
    for _ in range(4):
        talk.made.snapshot("first")
    talk.end()
    assert len(take(talk, "snapshots")) == 2


def test_thinking_in_a_record_with_other_blocks_is_cut_out() -> None:
    talk = begun()
    said = {
        "id": "m1",
        "role": "assistant",
        "model": talk.made.model,
        "content": [thinking(), text("x"), thinking()],
    }
    talk.made.add("assistant", "mixed", message=said)
    talk.end()
    assert take(talk, "thinking") == ["cut mixed 0", "cut mixed 2"]


@pytest.mark.parametrize(
    ("strategy", "globs"),
    [
        ("superseded-reads", ["Read"]),
        ("superseded-reads", ["/w/*"]),
        ("superseded-reads", ["Nothing", "*.py"]),
        ("failed-retries", ["Bash"]),
        ("failed-retries", ["pytest*"]),
        ("poll-loops", ["git *", "pytest*", "cat*"]),
        ("images", ["*.png"]),
        ("old-results", ["*"]),
        ("large-blocks", ["*"]),
        ("repeats", ["Bash", "Read"]),
        pytest.param(
            "reminders",
            ["Read"],
        ),
        pytest.param(
            "sidecars",
            ["Read"],
        ),
    ],
)
def test_what_a_person_protects_stays(strategy: str, globs: list[str]) -> None:
    talk = begun()
    for number in range(3):
        talk.read(name=f"r{number}", content=words(2_000) + REMINDER, side=words(900))
        talk.bash("pytest -q", words(8_000, f"{number}"), failed=number < 2)
        talk.bash("git status", f"clean {number}")
        talk.bash(f"cat {number}", words(2_000, "the same"))
        talk.use("Read", [image()], file_path=f"/w/{number}.png")
    talk.fill(24)
    talk.end()
    assert take(look(talk), strategy)
    assert take(look(talk, protect=globs), strategy) == []


def test_a_protected_path_does_not_protect_another() -> None:
    talk = _talk(lambda t: [t.read(f"/w/{n % 2}.py", name=f"r{n}") for n in range(4)])
    assert take(look(talk, protect=["/w/0.py"]), "superseded-reads") == ["stub r1r"]


def test_an_unchanged_file_is_obtainable_again() -> None:
    talk = _talk(_old(_read))
    (stub,) = old_results.propose(look(talk, unchanged=["/w/a.py"]))
    assert stub.worth.name == "OBTAINABLE"


def test_more_kept_turns_protect_more() -> None:
    talk = begun()
    for number in range(4):
        talk.read(name=f"r{number}")
        talk.ask(f"prompt {number}")
    talk.end()
    taken = [take(look(talk, keep_turns=kept), "superseded-reads") for kept in (1, 3, 4, 99)]
    assert [len(found) for found in taken] == [3, 2, 1, 0]


# --- whole plans ------------------------------------------------------------------------------------------


def _planned(talk: Talk, folder: Path, prescription: str = "aggressive") -> list[str]:
    _, proposal, _ = pruned(put(folder, talk.data), prescription)
    return [told(item.action) for item in proposal.plan.actions]


def _ballast(talk: Talk) -> None:
    """So much that stays that the loss limit is far away."""
    talk.say(words(60_000, "ballast"))


def _launch(talk: Talk, name: str, *, ends: bool) -> None:
    talk.use(
        "Bash",
        LAUNCHED.replace("bg1", name),
        name,
        command="npm run dev",
        run_in_background=True,
        side={"stdout": "", "backgroundTaskId": name},
    )
    talk.say("it runs")
    if ends:
        said = (
            f"<task-notification>\n<task-id>{name}</task-id>\n<status>completed</status></task-notification>"
        )
        talk.ask(said, f"{name}end", origin={"kind": "task-notification"})
        talk.say("it ended")


def test_cron_records_stay(tmp_path: Path) -> None:
    talk = begun()
    _ballast(talk)
    for number in range(4):
        talk.use("CronCreate", words(900), f"cron{number}", cron="7 3 * * *", prompt="x", side=words(900))
        talk.use("ScheduleWakeup", words(900), f"wake{number}", delay=9, side=words(900))
    talk.fill(24)
    talk.end()
    assert not [line for line in _planned(talk, tmp_path) if "cron" in line or "wake" in line]


@pytest.mark.parametrize("ends", [True, False])
def test_one_background_shell_and_its_end_stay(tmp_path: Path, ends: bool) -> None:  # noqa: FBT001
    talk = begun()
    _ballast(talk)
    _launch(talk, "bg1", ends=ends)
    talk.fill(24)
    talk.end()
    assert not [line for line in _planned(talk, tmp_path) if "bg1" in line]


@pytest.mark.parametrize("ends", [True, False])
def test_background_shells_of_the_same_command_go_with_their_ends_or_stay(
    tmp_path: Path,
    ends: bool,  # noqa: FBT001
) -> None:
    talk = begun()
    _ballast(talk)
    for number in range(3):
        _launch(talk, f"bg{number}", ends=ends)
    talk.fill(24)
    talk.end()
    taken = _planned(talk, tmp_path)
    for number in range(3):
        launch, end = f"drop bg{number}c" in taken, f"drop bg{number}end" in taken
        assert launch == (end and ends)


def test_the_launch_of_a_background_agent_stays(tmp_path: Path) -> None:
    talk = begun()
    _ballast(talk)
    said = "Async agent launched successfully.\nagentId: aac4ca9bd34eb58a4 " + words(500, "the agent works")
    talk.use("Agent", [text(said)], "agent", prompt="look", run_in_background=True, side={"isAsync": True})
    talk.fill(24)
    talk.end()
    assert "stub agentr" not in _planned(talk, tmp_path)


def test_the_launch_before_a_compaction_of_work_without_an_end_stays(tmp_path: Path) -> None:
    talk = begun()
    side = {"isAsync": True, "status": "async_launched", "agentId": "aac4"}
    talk.use("Agent", "launched", "agent", prompt="look", run_in_background=True, side=side)
    talk.say("it runs")
    talk.made.compact(name="b")
    talk.end()
    taken = _planned(talk, tmp_path)
    assert "drop agentc" not in taken
    assert "drop agentr" not in taken


def test_human_turns_and_pasted_images_stay(tmp_path: Path) -> None:
    talk = begun("first words " + words(3_000))
    _ballast(talk)
    for number in range(3):
        talk.ask("first words " + words(3_000), f"human{number}", origin={"kind": "human"})
        talk.ask([image("C" * 4_000), text(words(9_000))], f"pasted{number}")
        talk.say("seen")
    talk.fill(24)
    talk.end()
    assert not [line for line in _planned(talk, tmp_path) if "human" in line or "pasted" in line]


_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)


@pytest.mark.parametrize("tool", ["Edit", "Bash"])
def test_what_a_person_said_with_a_rejection_stays(tmp_path: Path, tool: str) -> None:
    talk = begun()
    _ballast(talk)
    given: dict[str, Any] = (
        {"file_path": "/w/a", "old_string": "a", "new_string": "b"} if tool == "Edit" else {"command": "rm x"}
    )
    talk.use(tool, _REJECTED + "not before the backup is made", "no", failed=True, side="Error", **given)
    talk.use(tool, "done", "yes", **given)
    talk.fill(24)
    talk.end()
    assert "drop nor" not in _planned(talk, tmp_path)


def test_a_failed_poll_supersedes_no_answer(tmp_path: Path) -> None:
    talk = begun()
    _ballast(talk)
    for number in range(3):
        talk.bash("cat notes.md", f"the notes {number}", f"poll{number}", failed=number == 2)
    talk.fill(6)
    talk.end()
    assert "drop poll1r" not in _planned(talk, tmp_path)


def test_the_read_that_a_recent_unchanged_leans_on_stays(tmp_path: Path) -> None:
    talk = begun()
    _ballast(talk)
    talk.read(name="lean")
    talk.fill(24)
    talk.read(content=UNCHANGED)
    talk.end()
    assert "stub leanr" not in _planned(talk, tmp_path)


def test_a_failure_that_stands_stays_whole(tmp_path: Path) -> None:
    talk = begun()
    _ballast(talk)
    talk.bash("pytest -q", words(9_000, "E assert"), "err", failed=True)
    talk.fill(24)
    talk.end()
    assert not [line for line in _planned(talk, tmp_path) if "err" in line]


def test_every_strategy_of_standard_takes_something_of_a_rich_session(tmp_path: Path) -> None:
    _, proposal, _ = pruned(put(tmp_path, rich().data), "aggressive")
    assert proposal.plan.left_out == {}
    missing = {"before-compaction", "repeats"} | set(proposal.plan.strategies())
    assert missing >= proposal.prescription.strategies


def test_a_drawn_session_can_be_built_from_every_step() -> None:
    """The generator itself: every step makes records that the reader takes."""
    steps = {
        "ask": ("x",),
        "ask parts": ("x", True),
        "say": ("x",),
        "think": ("x", False),
        "read": ("/w/a", 9, False, True, True),
        "edit": ("/w/a", 9, False),
        "write": ("/w/a", 9),
        "multi edit": ("/w/a", 9),
        "bash": ("ls", 9, False),
        "same": (9,),
        "odd result": ("x", 2),
        "image": (True,),
        "reminded": ("/w/a",),
        "fill": (1,),
        "parallel": (2, 9, False),
        "one record": ("x", 9),
        "attachment": ("hook",),
        "progress": (True,),
        "snapshot": (1,),
        "compact": ("listed",),
        "rewind": (2, True),
        "background": (True,),
        "cron": (),
        "odd line": ("torn",),
        "crlf": (),
        "open call": (),
    }
    assert set(steps) == set(STEP_MAKERS)
    talk = build([(name, *given) for name, given in steps.items()])
    assert len(look(talk).transcript.records) > len(steps)
