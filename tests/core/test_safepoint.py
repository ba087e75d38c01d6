"""The gate on instants made by hand: one source changed at a time, where no captured instant isolates it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coffer.core.evidence import Call, Conversation, Entry, Evidence, Helper, Hook, moment
from coffer.core.prompt_row import look
from coffer.core.redact import redact
from coffer.core.safepoint import judge

SESSION = "s-1"
T = 1_800_000_000.0
RULE = "─" * 40
SCREEN = f"● Done.\n\n{RULE}\n❯\xa0\n{RULE}\n  ? for shortcuts · ← for agents\n"


def entry(*, alive: bool | None = True, **changed: Any) -> Entry:
    said = {
        "pid": 7,
        "sessionId": SESSION,
        "startedAt": (T - 100) * 1000,
        "version": "2.1.197",
        "kind": "interactive",
        "entrypoint": "cli",
        "status": "idle",
        "statusUpdatedAt": T * 1000,
        **changed,
    }
    return Entry({name: value for name, value in said.items() if value is not None}, alive)


def hook(event: str, at: float, **said: Any) -> Hook:
    return Hook(at, event, {"session_id": SESSION, "hook_event_name": event, **said})


def stop(at: float = T - 1, **said: Any) -> Hook:
    lists = {"background_tasks": [], "session_crons": [], "last_assistant_message": "Done.", **said}
    return hook("Stop", at, **{name: value for name, value in lists.items() if value is not ...})


HOOKS = (hook("SessionStart", T - 90, source="startup"), stop())


def evidence(**changed: Any) -> Evidence:
    given: dict[str, Any] = {
        "session": SESSION,
        "registry": (entry(),),
        "hooks": HOOKS,
        "conversation": Conversation(texts=("Done.",), spoke=T - 1.2),
        "screen": SCREEN,
        "age": 2.0,
        **changed,
    }
    return Evidence(**given)


def kinds(given: Evidence) -> list[str]:
    return [each.kind for each in judge(given).write.blockers]


def without_stop(*hooks: Hook) -> tuple[Hook, ...]:
    return (hook("SessionStart", T - 90, source="startup"), *hooks)


def test_an_idle_session_is_safe_for_both() -> None:
    verdict = judge(evidence())
    assert verdict.write.safe
    assert verdict.type.safe


# --- the registry


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"status": None}, "unknown"),
        ({"status": "Idle"}, "unknown"),
        ({"status": "resting"}, "unknown"),
        ({"status": ["idle"]}, "unknown"),
        ({"status": "busy"}, "turn"),
        ({"status": "waiting", "waitingFor": "permission prompt"}, "dialog"),
        ({"status": "shell"}, "shell"),
        ({"waitingFor": "dialog open"}, "dialog"),
        ({"version": "2.1.198"}, "unknown"),
        ({"version": None}, "unknown"),
        ({"entrypoint": "sdk-cli"}, "headless"),
        ({"entrypoint": "claude-vscode"}, "unknown"),
        ({"kind": None}, "unknown"),
        ({"statusUpdatedAt": None}, "unknown"),
        ({"sessionId": "s-2"}, "unknown"),
        ({"alive": False}, "process"),
        ({"alive": None}, "process"),
    ],
)
def test_what_the_registry_says_or_leaves_out_blocks(changed: dict[str, Any], kind: str) -> None:
    assert kind in kinds(evidence(registry=(entry(**changed),)))


def test_no_registry_and_an_unreadable_one_block() -> None:
    assert "process" in kinds(evidence(registry=()))
    assert "unknown" in kinds(evidence(registry=(Entry(None, alive=True),)))


def test_every_file_of_the_session_must_be_idle() -> None:
    assert kinds(evidence(registry=(entry(), entry(pid=8)))) == []
    assert "turn" in kinds(evidence(registry=(entry(), entry(pid=8, status="busy"))))
    assert "process" in kinds(evidence(registry=(entry(), entry(pid=8, alive=False))))


# --- hooks


@pytest.mark.parametrize("hooks", [None, (), (hook("UserPromptSubmit", T - 5),)])
def test_without_the_end_of_a_turn_or_a_start_there_is_no_hook_evidence(hooks: Any) -> None:
    assert "hooks" in kinds(evidence(hooks=hooks))


def test_events_of_another_session_are_no_evidence_and_do_not_block() -> None:
    other = Hook(T - 1, "Stop", {"session_id": "s-2", "hook_event_name": "Stop"})
    assert "hooks" in kinds(evidence(hooks=(other,)))
    assert kinds(evidence(hooks=(*HOOKS, other))) == []


@pytest.mark.parametrize(
    "broken",
    [
        Hook(None, "Stop", {"session_id": SESSION, "hook_event_name": "Stop"}),
        Hook(T - 3, "Stop", None),
        Hook(T - 3, "stop", {"session_id": SESSION, "hook_event_name": "stop"}),
        Hook(T - 3, "PreToolUse", {"session_id": SESSION, "hook_event_name": "PostToolUse"}),
        Hook(T - 3, "PreToolUse", {"sessionId": SESSION, "hook_event_name": "PreToolUse"}),
    ],
)
def test_an_event_that_is_not_understood_blocks(broken: Hook) -> None:
    assert not judge(evidence(hooks=(*HOOKS, broken))).write.safe


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ("UserPromptSubmit", "turn"),
        ("PreToolUse", "tool"),
        ("PermissionRequest", "dialog"),
        ("SubagentStart", "subagent"),
        ("PreCompact", "turn"),
    ],
)
def test_what_began_after_the_last_status_blocks_and_what_began_before_does_not(
    event: str, kind: str
) -> None:
    assert kind in kinds(evidence(hooks=(*HOOKS, hook(event, T + 0.2))))
    assert kinds(evidence(hooks=(*HOOKS, hook(event, T - 0.2)))) == []  # Esc, a rejection: no Stop ever comes


def test_a_notification_blocks_unless_it_begins_nothing() -> None:
    quiet = hook("Notification", T + 60, notification_type="idle_prompt")
    asking = hook("Notification", T + 60, notification_type="permission_prompt")
    assert kinds(evidence(hooks=(*HOOKS, quiet))) == []
    assert kinds(evidence(hooks=(*HOOKS, asking))) == ["dialog"]


@pytest.mark.parametrize("missing", ["background_tasks", "session_crons", "last_assistant_message"])
def test_a_stop_without_its_lists_blocks(missing: str) -> None:
    left_out: dict[str, Any] = {missing: ...}
    assert "unknown" in kinds(evidence(hooks=without_stop(stop(**left_out))))


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ({"id": "t1", "type": "teammate"}, ["teammate"]),
        ({"id": "t1", "type": "Teammate"}, ["unknown"]),
        ({"id": "t1", "Type": "teammate"}, ["unknown"]),
        ({"id": "t1", "type": "cloud_agent"}, ["unknown"]),
        ("t1", ["unknown"]),
        ({"id": "t1", "type": "shell"}, []),
        ({"id": "t1", "type": "subagent"}, []),
        ({"id": "t1", "type": "workflow"}, []),
    ],
)
def test_entries_of_the_last_stop(task: Any, kind: list[str]) -> None:
    """Shell, subagent and workflow go stale: with an idle registry they prove nothing."""
    assert kinds(evidence(hooks=without_stop(stop(background_tasks=[task])))) == kind


def test_teammates_die_with_their_process_and_schedules_do_not() -> None:
    old = stop(T - 200, background_tasks=[{"id": "t", "type": "teammate"}], session_crons=[{"id": "c"}])
    started = hook("SessionStart", T - 90, source="resume")
    assert kinds(evidence(hooks=(old, started))) == ["schedule"]


BEFORE = "s-0"


def of(session: str, given: Hook) -> Hook:
    """An event of another session."""
    return replace(given, said={**(given.said or {}), "session_id": session})


def listing(at: float) -> Hook:
    """A Stop of the session before, which leaves a teammate and a schedule in its process."""
    return of(
        BEFORE, stop(at, background_tasks=[{"id": "t", "type": "teammate"}], session_crons=[{"id": "c"}])
    )


@pytest.mark.parametrize("source", ["clear", "resume", "Clear", None])
def test_what_the_session_before_left_in_the_process_blocks_until_a_stop(source: str | None) -> None:
    came = hook("SessionStart", T - 40, source=source)
    assert sorted(kinds(evidence(hooks=(listing(T - 50), came)))) == ["schedule", "teammate"]
    assert kinds(evidence(hooks=(listing(T - 50), came, stop()))) == []


@pytest.mark.parametrize("source", ["startup", "compact"])
def test_a_start_that_changes_no_session_inherits_nothing(source: str) -> None:
    assert kinds(evidence(hooks=(listing(T - 50), hook("SessionStart", T - 40, source=source)))) == []


def test_what_another_session_says_later_or_of_an_earlier_process_is_not_inherited() -> None:
    came = hook("SessionStart", T - 40, source="resume")
    assert kinds(evidence(hooks=(came, listing(T - 30)))) == []  # another client's
    assert kinds(evidence(hooks=(listing(T - 200), came))) == []  # it died with its process


def test_a_reload_asks_no_session_that_this_one_has_outlived() -> None:
    came, again = (
        hook("SessionStart", at, source=source) for at, source in ((T - 40, "clear"), (T - 5, "resume"))
    )
    assert kinds(evidence(hooks=(listing(T - 50), came, stop(T - 10), again))) == []


def test_the_session_before_must_be_understood_too() -> None:
    came = hook("SessionStart", T - 40, source="clear")
    bare = of(BEFORE, hook("Stop", T - 50))
    assert kinds(evidence(hooks=(bare, came))) == ["unknown", "unknown"]


def test_a_process_that_began_after_its_own_status_is_not_believed() -> None:
    """Else what it says it outlived would be taken for gone."""
    mate = stop(background_tasks=[{"id": "t", "type": "teammate"}])
    later = entry(startedAt=(T + 1) * 1000)
    assert kinds(evidence(registry=(later,), hooks=without_stop(mate))) == ["teammate"]


def test_a_teammate_that_went_idle_after_the_last_stop_blocks() -> None:
    assert kinds(evidence(hooks=(*HOOKS, hook("TeammateIdle", T - 0.5)))) == ["teammate"]
    assert kinds(evidence(hooks=(*HOOKS, hook("TeammateIdle", T - 50)))) == []


def test_a_stop_counts_when_its_message_is_in_the_file() -> None:
    late = Conversation(texts=("Earlier.",), spoke=T - 1.2)
    assert kinds(evidence(conversation=late)) == ["flush"]
    assert kinds(evidence(conversation=replace(late, texts=("Earlier.", "Done.\n")))) == []
    split = stop(last_assistant_message="One.\n\nTwo.")
    assert kinds(evidence(hooks=without_stop(split), conversation=Conversation(texts=("One.", "Two.")))) == []


def test_a_later_record_of_the_model_shows_that_the_last_message_was_written() -> None:
    """A long turn that was interrupted leaves no Stop, and more texts than are looked through."""
    ended = without_stop(stop(T - 60))
    texts = tuple(f"Step {number}." for number in range(60))
    assert kinds(evidence(hooks=ended, conversation=Conversation(texts=texts, spoke=T - 2))) == []
    assert kinds(evidence(hooks=ended, conversation=Conversation(texts=texts, spoke=T - 61))) == ["flush"]


def test_a_message_that_was_kept_without_its_secret_is_found() -> None:
    said = f"The token is {'ghp_' + 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}, as you see."
    kept = without_stop(stop(last_assistant_message=redact(said).text))
    assert kinds(evidence(hooks=kept, conversation=Conversation(texts=(said,), spoke=T - 2))) == []
    assert kinds(evidence(hooks=kept, conversation=Conversation(texts=("Well.",), spoke=T - 2))) == ["flush"]


# --- the transcript


def made(*calls: Call) -> Conversation:
    return Conversation(texts=("Done.",), calls=calls)


SPAWN = Call("Agent", "c1", T - 0.5, "done", "teammate_spawned", shape="teammate")


def test_no_transcript_a_torn_one_and_a_warm_one_block() -> None:
    assert kinds(evidence(conversation=None)) == ["tail"]
    assert kinds(evidence(conversation=Conversation("torn", texts=("Done.",)))) == ["tail"]
    assert kinds(evidence(age=0.05)) == ["warm"]
    assert kinds(evidence(age=None)) == ["warm"]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (SPAWN, ["teammate"]),
        (replace(SPAWN, time=T - 5), []),  # the Stop after it lists none
        (replace(SPAWN, time=T - 200), []),  # of an earlier Stop, and of an earlier process
        (replace(SPAWN, time=None), ["teammate"]),
        (replace(SPAWN, state="failed"), []),
        (replace(SPAWN, status="teammateSpawned"), ["teammate"]),
        (replace(SPAWN, tool="agent"), ["teammate"]),  # the name drifted, the shape of the answer did not
        (replace(SPAWN, status="async_launched", shape=""), []),  # the registry covers it
        (replace(SPAWN, status="completed", shape=""), []),
        (replace(SPAWN, status="", shape=""), ["teammate"]),  # whatever it spawned
        (replace(SPAWN, state="open", status="", shape=""), ["teammate"]),
        (Call("TeamCreate", "c2", T - 0.5, "done"), ["teammate"]),
        (
            Call("TeamCreate", "c2", T - 0.5, "done", "completed"),
            ["teammate"],
        ),  # no fixture: it may only block
        (Call("TeamDelete", "c3", T - 0.5, "done"), ["teammate"]),
        (Call("CronCreate", "c4", T - 0.5, "done", shape="schedule"), ["schedule"]),
        (Call("ScheduleWakeup", "c5", T - 0.5, "done", shape="schedule"), ["schedule"]),
        (Call("ScheduleWakeup", "c5", T - 0.5, "done", set=False, shape="schedule"), []),
    ],
)
def test_what_was_begun_since_the_last_stop(call: Call, kind: list[str]) -> None:
    assert kinds(evidence(conversation=made(call))) == kind


def test_what_a_subagent_schedules_outlives_it_and_what_it_spawns_does_not() -> None:
    made = (Call("CronCreate", "c1", T - 0.5, "done", shape="schedule"), Call("Agent", "c2", T - 0.5))
    helper = Helper("agent-1", Conversation(calls=made, spoke=T - 0.4))
    assert kinds(evidence(helpers=(helper,))) == ["schedule"]
    told = without_stop(stop(T - 0.1))
    assert kinds(evidence(helpers=(helper,), hooks=told)) == []


def test_a_killed_client_that_a_person_took_for_over_says_nothing_any_more() -> None:
    """Its file keeps the status in which it was killed, until the next turn of the one that lives."""
    killed = entry(pid=8, alive=False, status="busy", statusUpdatedAt=(T - 50) * 1000)
    both = evidence(registry=(entry(), killed))
    assert {"process", "turn"} <= set(kinds(both))
    cleared = frozenset({"process:8"})
    assert judge(replace(both, cleared=cleared)).write.safe
    assert kinds(evidence(registry=(entry(status="busy"), killed), cleared=cleared)) == ["turn"]
    assert "process" in kinds(evidence(registry=(killed,), cleared=cleared)), "nobody else has it open"
    assert "turn" in kinds(evidence(registry=(entry(), entry(pid=8, status="busy")), cleared=cleared))


def test_a_teammate_that_a_person_took_for_over_blocks_again_where_a_later_stop_lists_it() -> None:
    """Another of the same name may have been spawned since: a reload would end it."""
    mate = {"background_tasks": [{"id": "docs@session-5f0c5a62", "type": "teammate"}]}
    found = evidence(hooks=without_stop(stop(T - 100, **mate)))
    cleared = frozenset(each.id for each in judge(found).write.blockers)
    assert judge(replace(found, cleared=cleared)).write.safe
    later = evidence(hooks=without_stop(stop(T - 1, **mate)), cleared=cleared)
    assert [each.kind for each in judge(later).write.blockers] == ["teammate"]


def test_a_deleted_team_clears_nothing_and_a_person_can() -> None:
    """An ambiguous TeamDelete leaves the members: a wedge that is cleared by hand."""
    created, deleted = Call("TeamCreate", "c2", T - 0.5, "done"), Call("TeamDelete", "c3", T - 0.4, "done")
    wedged = evidence(conversation=made(created, deleted))
    assert [each.id for each in judge(wedged).write.blockers] == ["c2", "c3"]
    assert judge(replace(wedged, cleared=frozenset({"c2", "c3"}))).write.safe


def test_a_letter_of_a_teammate_counts_until_a_stop_lists_none() -> None:
    letter = Conversation(texts=("Done.",), letters=(T - 0.5,))
    assert kinds(evidence(conversation=letter)) == ["teammate"]
    assert kinds(evidence(conversation=replace(letter, letters=(T - 5,)))) == []


def test_an_open_call_blocks_unless_its_process_is_gone() -> None:
    call = Call("Bash", "c9", T - 50)
    assert kinds(evidence(conversation=Conversation(texts=("Done.",), open=(call,)))) == ["tool"]
    before = Conversation(texts=("Done.",), open=(replace(call, time=T - 95),))
    assert kinds(evidence(conversation=before)) == []  # the session was loaded after it
    no_start = evidence(conversation=before, hooks=(stop(),))
    assert kinds(no_start) == ["tool"]
    older = Conversation(texts=("Done.",), open=(replace(call, time=T - 150),))
    assert kinds(replace(no_start, conversation=older)) == []  # the process began after it
    compacted = (stop(), hook("SessionStart", T - 2, source="compact"))
    assert kinds(evidence(conversation=before, hooks=compacted)) == ["tool"]  # in the middle of a turn


def test_records_after_the_last_status_block() -> None:
    assert kinds(evidence(conversation=Conversation(texts=("Done.",), spoke=T + 1))) == ["turn"]
    assert kinds(evidence(conversation=Conversation(texts=("Done.",), enqueued=T + 1))) == ["queue"]
    assert kinds(evidence(conversation=Conversation(texts=("Done.",), enqueued=T - 1))) == []


def test_the_last_result_of_what_was_interrupted_may_be_dated_a_moment_later() -> None:
    assert kinds(evidence(conversation=Conversation(texts=("Done.",), spoke=T + 0.1))) == []
    assert kinds(evidence(helpers=(Helper("agent-1", Conversation(spoke=T + 0.1)),))) == []


def test_a_subagent_that_writes_after_the_last_status_blocks() -> None:
    call = Call("Bash", "c9", T - 5)
    killed = Helper("agent-1", Conversation(open=(call,), spoke=T - 5))
    assert kinds(evidence(helpers=(killed,))) == []  # a killed one keeps its open call for ever
    alive = Helper("agent-1", Conversation(spoke=T + 1))
    assert kinds(evidence(helpers=(alive,))) == ["subagent"]


@pytest.mark.parametrize(
    ("scheduled", "kind"),
    [
        ('{"tasks": []}', []),
        ('{"tasks": [{"id": "a"}]}', ["schedule"]),
        ('{"Tasks": []}', ["schedule"]),
        ("{", ["schedule"]),
        ("", ["schedule"]),
    ],
)
def test_the_projects_schedules(scheduled: str, kind: list[str]) -> None:
    assert kinds(evidence(scheduled=scheduled)) == kind


# --- the screen


@pytest.mark.parametrize(
    "screen",
    [
        "",
        SCREEN.replace("❯", ">"),
        SCREEN.replace("❯\xa0", "❯ half a thought"),
        SCREEN.replace("❯\xa0", "❯\n  second line"),
        SCREEN.replace("❯\xa0", "❯\n"),
        SCREEN.replace("❯\xa0", "! "),
        SCREEN.replace("? for shortcuts", "search prompts: "),
        SCREEN.replace("? for shortcuts · ← for agents", ""),
        SCREEN.replace("? for shortcuts", "esc to interrupt"),
        SCREEN.replace("? for shortcuts · ← for agents", "enter to open · space to reply"),
        SCREEN.replace("? for shortcuts · ← for agents", "Esc to cancel"),
        SCREEN.replace(RULE, "-" * 40),
        SCREEN.partition(RULE)[0] + RULE + "\n  Showing detailed transcript\n",
    ],
)
def test_an_input_line_that_is_not_visibly_empty_blocks(screen: str) -> None:
    assert not judge(evidence(screen=screen)).write.safe


@pytest.mark.parametrize(
    "screen",
    [
        SCREEN,
        SCREEN + "\n\n\n",
        SCREEN.replace("❯", "\x1b[2m❯\x1b[0m"),
        SCREEN.replace(f"{RULE}\n❯", f"{RULE} fruit ──\n❯"),  # a session that has a name
        SCREEN.replace("  ? for", "  opus 12%\n  ? for"),
    ],
)
def test_an_empty_input_line_is_recognised(screen: str) -> None:
    assert look(screen)[0] == ""


def test_typing_needs_the_screen_and_a_plain_editor() -> None:
    unseen = judge(evidence(screen=None))
    assert unseen.write.safe
    assert [each.kind for each in unseen.type.blockers] == ["screen"]
    vim = judge(evidence(editor="vim"))
    assert vim.write.safe
    assert [each.kind for each in vim.type.blockers] == ["editor"]


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        (1_800_000_000, 1_800_000_000.0),
        (1_800_000_000_500, 1_800_000_000.5),
        ("2027-01-15T08:00:00.000Z", 1_800_000_000.0),
        (True, None),
        ("soon", None),
        (None, None),
        (-1, None),
        (10**14, None),
        (10**400, None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_times_in_any_of_the_sources_forms(said: object, seconds: float | None) -> None:
    assert moment(said) == seconds
