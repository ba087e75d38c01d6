"""What a hook is answered and what becomes of it, on transcripts written as the clients write them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coffer.core.bundle_files import spool_entry
from coffer.disk.places import Places
from coffer.store.db import database
from coffer.store.deliveries import (
    Delivery,
    State,
    counts,
    forget,
    in_states,
    last,
    of_transcript,
    save,
    stamp,
)
from coffer.store.home import Home
from coffer.work.delivery.bundle_files import published
from coffer.work.delivery.bundles import bundle_for, publish_all
from coffer.work.delivery.confirm import Progress, confirm, confirm_all
from coffer.work.delivery.deliver import Reply, World, answer
from coffer.work.delivery.held import Holdings, child_file
from coffer.work.delivery.spooled import delivery_of
from tests.bundle.desk import HARD, LATER, SOFT, write_rules
from tests.transcripts import SESSION, THREAD, Claude, Codex, uid

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
Json = dict[str, Any]


@dataclass
class Desk:
    """A person's home with rules, the daemon's memory, a clock, and what the clients write."""

    house: Path
    world: World
    now: datetime = NOW
    process: int = 4_711
    transcripts: dict[Path, list[bytes]] = field(default_factory=dict)

    @property
    def home(self) -> Home:
        return self.world.home

    def rules(self, *texts: str) -> None:
        write_rules(self.house, self.home, *texts)

    def path(self, session: str = SESSION, agent: str = "claude") -> Path:
        if agent == "claude":
            return self.house / ".claude/projects/-work" / f"{session}.jsonl"
        return self.house / ".codex/sessions/2026/11/30" / f"rollout-2026-11-30T12-00-00-{session}.jsonl"

    def ask(self, event: str, agent: str = "claude", session: str = SESSION, **said: Any) -> Reply:
        """Send a hook's question; the delivery is saved as the daemon does it."""
        path = said.pop("transcript_path", str(self.path(session, agent)))
        given = {"session_id": session, "transcript_path": path, "cwd": str(self.house / "work"), **said}
        headers = {"X-Coffer-Ppid": str(self.process)}
        reply = answer(agent, event, given, headers, self.world, self.now)
        with database(self.home) as connection:
            for one in (*reply.changed, *([reply.delivery] if reply.delivery else [])):
                save(connection, one)
        return reply

    def start(self, source: str, agent: str = "claude", session: str = SESSION, **said: Any) -> str:
        return context(self.ask("SessionStart", agent, session, source=source, **said))

    def prompt(self, agent: str = "claude", session: str = SESSION, **said: Any) -> str:
        return context(self.ask("UserPromptSubmit", agent, session, prompt="go on", **said))

    def later(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def write(
        self, *lines: Json, session: str = SESSION, agent: str = "claude", path: Path | None = None
    ) -> Path:
        path = path or self.path(session, agent)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            for line in lines:
                file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        return path

    def states(
        self,
        agent: str = "claude",
        session: str = SESSION,
        child: str = "",
        *,
        settled: bool = False,
        ended: bool = False,
    ) -> list[str]:
        path = self.path(session, agent)
        places = Places(self.house / ".claude", self.house / ".codex")
        confirm(self.home, Holdings(places), agent, path, child, settled=settled, ended=ended)
        with database(self.home, write=False) as connection:
            return [one.state for one in of_transcript(connection, str(path), child)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    house = Path(os.path.realpath(tmp_path)) / "house"
    (house / "work").mkdir(parents=True)
    home = Home(house / ".coffer")
    home.make(home.root)
    made = Desk(house, World(home, {"HOME": str(house)}))
    made.rules(HARD, SOFT)
    return made


def context(reply: Reply) -> str:
    """The text that a reply gives the model."""
    if not reply.body:
        return ""
    said = json.loads(reply.body)
    assert list(said) == ["hookSpecificOutput"]
    return str(said["hookSpecificOutput"]["additionalContext"])


class Lines:
    """Records of Claude Code in a chain, at the desk's time."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.count = desk, 0
        self.last: str | None = None

    def add(self, kind: str, parent: str | None = "", **fields: Any) -> Json:
        self.count += 1
        name = f"{self.count:08}-0000-4000-8000-000000000000"
        line = {
            "parentUuid": self.last if parent == "" else parent,
            "isSidechain": False,
            "type": kind,
            "uuid": name,
            "timestamp": self.desk.now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "sessionId": SESSION,
            **fields,
        }
        self.last = name
        return line

    def hook(self, text: str, event: str = "SessionStart") -> Json:
        said = {"type": "hook_additional_context", "content": [text], "hookName": event, "hookEvent": event}
        return self.add("attachment", attachment=said)

    def turn(self) -> list[Json]:
        asked = self.add("user", message={"role": "user", "content": "go on"})
        block = {"type": "text", "text": "done"}
        said = {"role": "assistant", "id": f"msg{self.count}", "model": "claude-opus-4-8", "content": [block]}
        return [asked, self.add("assistant", message=said)]

    def boundary(self) -> list[Json]:
        made = self.add("system", None, subtype="compact_boundary", compactMetadata={"trigger": "auto"})
        return [made, self.add("user", isCompactSummary=True, message={"role": "user", "content": "so far"})]


def test_a_new_session_gets_all_rules_once(desk: Desk) -> None:
    text = desk.start("startup")
    assert HARD in text
    assert SOFT in text
    assert desk.prompt() == ""  # the file isn't there yet: what was answered counts
    desk.later(3_600)
    assert desk.prompt() == ""  # the person took an hour for the first words
    lines = Lines(desk)
    desk.write(lines.hook(text), *lines.turn())
    desk.later(60)
    assert desk.prompt() == ""
    assert desk.states() == ["confirmed"]


def test_a_resume_gets_only_what_is_missing(desk: Desk) -> None:
    text, lines = desk.start("startup"), Lines(desk)
    desk.write(lines.hook(text), *lines.turn())
    desk.later(60)
    assert desk.start("resume") == ""
    desk.rules(HARD, LATER)
    more = desk.start("resume")
    assert LATER in more
    assert f"no longer applies: {SOFT}" in more
    assert HARD not in more
    assert desk.prompt() == ""
    desk.write(lines.hook(more), *lines.turn())
    desk.later(60)
    assert desk.prompt() == ""
    assert desk.states() == ["confirmed", "held", "confirmed"]


def test_a_rule_that_is_lost_comes_again(desk: Desk) -> None:
    """A rewind before the delivery, and a client that dropped it."""
    lines = Lines(desk)
    desk.write(*lines.turn())
    before = lines.last
    desk.later(60)
    text = desk.start("resume")
    desk.write(lines.hook(text), *lines.turn())
    desk.later(60)
    assert desk.prompt() == ""
    lines.last = before
    desk.write(*lines.turn())
    desk.later(60)
    assert desk.prompt() == text
    desk.later(1)
    desk.write(*lines.turn())  # it isn't there
    desk.later(60)
    assert desk.prompt() == text
    assert desk.states(settled=True) == ["confirmed", "missing", "sent"]


def test_a_compaction_takes_all_and_is_answered_with_all(desk: Desk) -> None:
    text, lines = desk.start("startup"), Lines(desk)
    desk.write(lines.hook(text), *lines.turn())
    desk.later(60)
    assert desk.start("compact") == text  # the boundary isn't written yet
    assert desk.prompt() == ""
    desk.write(*lines.boundary(), lines.hook(text), *lines.turn())
    desk.later(60)
    assert desk.prompt() == ""
    desk.write(*lines.boundary(), *lines.turn())  # and once with no hook of ours
    desk.later(60)
    assert desk.prompt() == text


def test_a_fork_goes_on_under_another_name(desk: Desk) -> None:
    text, lines = desk.start("startup"), Lines(desk)
    desk.write(lines.hook(text), *lines.turn())
    desk.later(60)
    desk.process += 1
    assert desk.start("resume") == ""
    assert desk.prompt(session=THREAD) == ""
    desk.rules(HARD, SOFT, LATER)
    desk.process += 1
    more = desk.start("resume")
    assert LATER in more
    assert desk.prompt(session="00000000-1111-4222-8333-444444444444") == ""
    desk.write(lines.hook(more), *lines.turn(), session="00000000-1111-4222-8333-444444444444")
    assert desk.states(session="00000000-1111-4222-8333-444444444444", settled=True) == ["confirmed"]
    assert desk.states() == ["confirmed"]


def test_a_session_that_was_never_announced_gets_the_rules_with_a_prompt(desk: Desk) -> None:
    """Hooks that were put in while a session was open."""
    lines = Lines(desk)
    desk.write(*lines.turn())
    assert HARD in desk.prompt()
    assert desk.prompt() == ""


def test_a_resume_in_a_new_process_does_not_trust_the_memory_of_the_old_one(desk: Desk) -> None:
    lines = Lines(desk)
    desk.write(*lines.turn())
    desk.later(60)
    text = desk.start("resume")
    desk.later(60)
    desk.process += 1  # it was killed before its first turn
    assert desk.start("resume") == text


def test_a_subagent_has_a_context_of_its_own(desk: Desk) -> None:
    text, lines = desk.start("startup"), Lines(desk)
    path = desk.write(lines.hook(text), *lines.turn())
    desk.later(60)
    child = context(desk.ask("SubagentStart", agent_id="a1", agent_type="general-purpose"))
    assert child == text
    assert context(desk.ask("SubagentStart", agent_id="a1")) == ""
    assert context(desk.ask("SubagentStart", agent_id="a2")) == text
    side = [{**line, "isSidechain": True} for line in (lines.hook(text, "SubagentStart"), *lines.turn())]
    desk.write(*side, path=child_file("claude", path, "a1"))
    desk.later(60)
    assert context(desk.ask("SubagentStart", agent_id="a1")) == ""  # woken again
    assert desk.states(child="a1")[0] == "confirmed"
    assert desk.prompt() == ""


def test_a_client_that_drops_what_it_has(desk: Desk) -> None:
    """Answered from a file, which knows nothing of the context."""
    text, lines = desk.start("startup"), Lines(desk)
    desk.write(lines.hook(text), *lines.turn())
    desk.later(60)
    publish_all(desk.home, desk.world.environment, [])
    [row] = published(desk.home)
    said = {"session_id": SESSION, "transcript_path": str(desk.path()), "source": "resume"}
    raw = f"claude SessionStart {row.key}\n{desk.house / 'work'}\n{json.dumps(said)}".encode()
    entry = spool_entry(f"{int(desk.now.timestamp() * 1e9)}-77", raw)
    assert entry is not None
    found = delivery_of(entry, desk.world)
    assert found is not None
    assert (found.event, found.text, found.state) == ("SessionStart:resume", text, "sent")
    with database(desk.home) as connection:
        save(connection, found)
    desk.later(1)
    desk.write(*lines.turn())
    assert desk.states(settled=True) == ["confirmed", "held"]


def test_a_doubt_sends_to_claude_and_not_to_codex(desk: Desk) -> None:
    for agent in ("claude", "codex"):
        path = desk.path(agent=agent)
        path.parent.mkdir(parents=True)
        path.mkdir()
        assert bool(desk.start("resume", agent)) is (agent == "claude")
        assert desk.prompt(agent) == ""


def test_codex_without_a_transcript(desk: Desk) -> None:
    reply = desk.ask("SessionStart", "codex", source="startup", transcript_path=None)
    assert HARD in context(reply)
    assert reply.delivery is not None
    assert reply.delivery.state == "unverifiable"
    assert context(desk.ask("UserPromptSubmit", "codex", transcript_path=None)) == ""
    assert context(desk.ask("SessionStart", "codex", source="resume", transcript_path=None)) == ""


def codex_lines(desk: Desk, *texts: str) -> list[Json]:
    """A rollout's lines: each text as a hook's, then a turn."""
    made = Codex()
    made.meta()
    when = desk.now.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def item(role: str, text: str) -> Json:
        kind = "output_text" if role == "assistant" else "input_text"
        said = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"timestamp": when, "type": "response_item", "payload": said}

    return [
        *(json.loads(line) for line in made.data.splitlines()),
        *(item("developer", text) for text in texts),
        item("user", "go on"),
        item("assistant", "done"),
    ]


def test_codex_holds_what_its_hooks_gave(desk: Desk) -> None:
    path = desk.path(agent="codex")
    desk.write(codex_lines(desk)[0], path=path)
    text = desk.start("startup", "codex")
    assert HARD in text
    assert desk.prompt("codex") == ""
    desk.write(*codex_lines(desk, text)[1:], path=path)
    desk.later(60)
    assert desk.start("resume", "codex") == ""
    assert desk.start("compact", "codex") == text
    desk.later(60)
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "so far"}]}]
    payload = {"message": "", "replacement_history": history}
    gone = {"timestamp": "2026-11-30T13:00:00.000Z", "type": "compacted", "payload": payload}
    desk.write(gone, *codex_lines(desk, text)[1:], path=path)
    desk.later(7_200)
    assert desk.prompt("codex") == ""
    assert desk.states("codex") == ["confirmed", "held", "confirmed"]
    pasted = [line for line in codex_lines(desk, text)[1:] if line["payload"]["role"] == "developer"]
    for line in pasted:
        line["payload"]["role"] = "user"
    desk.write(gone, *pasted, *codex_lines(desk)[1:], path=path)
    desk.later(7_200)
    assert desk.prompt("codex") == text


def test_codex_that_compacts_right_after_a_resume(desk: Desk) -> None:
    path = desk.path(agent="codex")
    desk.write(*codex_lines(desk), path=path)
    desk.later(60)
    text = desk.start("resume", "codex")
    assert HARD in text
    assert desk.start("compact", "codex") == ""
    desk.later(60)
    assert desk.start("compact", "codex") == text


@pytest.mark.parametrize("event", ["Stop", "PreToolUse", "PostCompact", "", "../x"])
def test_other_events_get_nothing(desk: Desk, event: str) -> None:
    assert desk.ask(event) == Reply()
    assert desk.ask("SessionStart", "gemini") == Reply()


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"transcript_path": 7, "cwd": ["x"], "source": None, "session_id": {}},
        {"transcript_path": "/etc/passwd", "cwd": "relative"},
        {"transcript_path": "/a\0b.jsonl", "cwd": "/a\0b", "agent_id": "../../x"},
    ],
)
def test_nonsense_is_answered_and_never_read(desk: Desk, said: Json) -> None:
    reply = answer(
        "claude", "SessionStart", said, {"X-Coffer-Cwd": "%2Ftmp", "x-coffer-ppid": "-3"}, desk.world, NOW
    )
    assert HARD in context(reply)
    assert reply.delivery is not None
    assert (reply.delivery.transcript, reply.delivery.state) == ("", "unverifiable")


def test_a_path_that_leads_elsewhere_is_no_transcript(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_text("{}\n")
    projects = desk.path().parent
    projects.mkdir(parents=True)
    link = projects / "link.jsonl"
    link.symlink_to(elsewhere)
    (projects.parent / "out").symlink_to(tmp_path)
    for said in (
        link,
        projects.parent / "out/elsewhere.jsonl",
        projects / ".." / ".." / ".." / "x.jsonl",
        elsewhere,
    ):
        reply = desk.ask("SessionStart", source="resume", transcript_path=str(said))
        assert reply.delivery is not None
        assert reply.delivery.transcript == ""


def test_the_sessions_own_folders_come_with_the_headers(desk: Desk, tmp_path: Path) -> None:
    other = Path(os.path.realpath(tmp_path)) / "config dir"
    path = other / "projects/-x/s.jsonl"
    headers = {"X-Coffer-Env-CLAUDE_CONFIG_DIR": str(other).replace(" ", "%20"), "X-Coffer-Ppid": "1"}
    said = {"transcript_path": str(path), "source": "startup", "session_id": "s"}
    reply = answer("claude", "SessionStart", said, headers, desk.world, NOW)
    assert reply.delivery is not None
    assert reply.delivery.transcript == str(path)


def test_nothing_is_said_and_nothing_kept_where_there_are_no_rules(desk: Desk) -> None:
    desk.rules()
    desk.world = World(desk.home, desk.world.environment, tools=())
    assert desk.ask("SessionStart", source="startup") == Reply()


def test_a_new_daemon_goes_on_where_the_old_one_was(desk: Desk) -> None:
    text = desk.start("startup")
    desk.world = World(desk.home, desk.world.environment)
    assert desk.prompt() == text  # it doesn't know yet
    desk.world = World(desk.home, desk.world.environment)
    desk.world.remember(desk.now)
    assert desk.prompt() == ""


def test_more_than_the_rules_is_no_delivery(desk: Desk) -> None:
    said = {"transcript_path": str(desk.path()), "session_id": SESSION, "prompt": "no!"}
    desk.start("startup")
    reply = answer("claude", "UserPromptSubmit", said, {}, desk.world, NOW, more="one line")
    assert context(reply) == "one line"
    assert reply.delivery is None


def test_states_at_the_end_of_a_session(desk: Desk) -> None:
    desk.start("startup")
    assert desk.states() == ["sent"]
    assert desk.states(ended=True) == ["unverifiable"]  # no turn, no file
    lines = Lines(desk)
    desk.later(1)
    desk.write(*lines.turn())
    desk.later(60)
    desk.start("resume")
    assert desk.states(settled=True)[1:] == ["sent"]
    assert desk.states(ended=True)[1:] == ["unverifiable"]  # nothing was asked since


def test_a_spooled_answer_is_of_the_folders_that_its_session_had(desk: Desk) -> None:
    """Codex may have a CODEX_HOME that the daemon was not started with: its transcript is one all the same."""
    publish_all(desk.home, desk.world.environment, [])
    [row] = published(desk.home)
    elsewhere = desk.house / "other"
    path = elsewhere / "sessions/2026/11/30" / f"rollout-2026-11-30T12-00-00-{THREAD}.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    said = json.dumps({"session_id": THREAD, "transcript_path": str(path), "source": "startup"})
    for told, state in ((f" CODEX_HOME={elsewhere}", "sent"), ("", "unverifiable")):
        raw = f"codex SessionStart {row.key}{told}\n{desk.house / 'work'}\n{said}".encode()
        entry = spool_entry("12-34", raw)
        assert entry is not None
        found = delivery_of(entry, desk.world)
        assert found is not None
        assert found.state == state


def sent_without_us(desk: Desk, source: str, text: str) -> None:
    """What the spool tells of a hook that was answered from the file."""
    made = Delivery(
        stamp(desk.now),
        "claude",
        SESSION,
        str(desk.path()),
        "",
        f"SessionStart:{source}",
        "",
        "",
        (),
        text,
    )
    with database(desk.home) as connection:
        save(connection, made)


def test_of_equal_texts_that_are_judged_late_each_has_its_own(desk: Desk) -> None:
    """Hooks that answered without the daemon are judged when all is over: a dropped one takes no later one's text."""
    lines, text = Lines(desk), desk.start("startup")
    desk.write(lines.hook(text), *lines.turn())
    desk.later(30)
    sent_without_us(desk, "resume", text)
    desk.write(*lines.turn())
    desk.later(30)
    sent_without_us(desk, "compact", text)
    desk.write(*lines.boundary(), lines.hook(text), *lines.turn())
    assert desk.states(settled=True) == ["confirmed", "held", "confirmed"]


def test_a_text_that_confirmed_one_delivery_confirms_no_other(desk: Desk) -> None:
    """A new daemon reads the file anew, and a resume within two seconds would take the text of the start."""
    lines, text = Lines(desk), desk.start("startup")
    desk.write(lines.hook(text), *lines.turn())
    assert desk.states() == ["confirmed"]
    desk.later(1)
    sent_without_us(desk, "resume", text)
    desk.later(1)
    desk.write(*lines.turn())
    assert desk.states(settled=True) == ["confirmed", "held"]


def test_a_fork_without_a_daemon_holds_what_its_parent_does(desk: Desk) -> None:
    """It names its parent's transcript, which may never grow again."""
    lines, text = Lines(desk), desk.start("startup")
    desk.write(lines.hook(text), *lines.turn())
    desk.later(30)
    sent_without_us(desk, "resume", text)
    assert desk.states(ended=True) == ["confirmed", "held"]


def test_a_text_that_comes_late_is_confirmed_after_all(desk: Desk) -> None:
    text, lines = desk.start("startup"), Lines(desk)
    desk.later(1)
    desk.write(*lines.turn())
    assert desk.states() == ["sent"]
    assert desk.states(settled=True) == ["missing"]
    desk.write(lines.hook(text))
    assert desk.states() == ["confirmed"]


def test_only_new_lines_are_looked_through(desk: Desk) -> None:
    holdings = Holdings(Places(desk.house / ".claude", desk.house / ".codex"))
    text, lines = desk.start("startup"), Lines(desk)
    path = desk.write(*lines.turn())
    size = path.stat().st_size
    progress, changed = confirm(desk.home, holdings, "claude", path)
    assert (progress.offset, changed) == (size, [])
    desk.write(lines.hook(text))
    with path.open("ab") as file:
        file.write(b'{"half":')
    progress, [done] = confirm(desk.home, holdings, "claude", path, progress=progress)
    assert done.state == "confirmed"
    assert progress.offset == path.stat().st_size - len(b'{"half":')
    assert confirm(desk.home, holdings, "claude", path, progress=Progress()) == (Progress(), [])


def test_all_open_deliveries_are_judged_in_one_go(desk: Desk) -> None:
    text, lines = desk.start("startup"), Lines(desk)
    desk.write(lines.hook(text), *lines.turn())
    desk.start("startup", session=THREAD)
    places = Places(desk.house / ".claude", desk.house / ".codex")
    assert [one.state for one in confirm_all(desk.home, places, NOW - timedelta(days=1))] == ["confirmed"]
    assert confirm_all(Home(desk.house / "none"), places) == []


def test_the_table_of_deliveries(tmp_path: Path) -> None:
    home = Home(tmp_path / "coffer")
    states: tuple[State, ...] = ("sent", "confirmed", "held")
    with database(home) as connection:
        for at, state in enumerate(states):
            made = Delivery(
                stamp(NOW + timedelta(hours=at)),
                "claude",
                "s",
                "/t",
                "",
                "SessionStart:resume",
                "",
                "h",
                ("a/R1",),
                "é",
                1.5,
                state,
            )
            save(connection, made)
            save(connection, made)
    with database(home, write=False) as connection:
        assert [one.state for one in of_transcript(connection, "/t")] == list(states)
        assert in_states(connection, ("sent", "held"), NOW + timedelta(hours=1))[0].rules == ("a/R1",)
        assert counts(connection, "/t") == dict.fromkeys(states, 1)
        found = last(connection, "claude", "confirmed")
        assert found is not None
        assert (found.bytes, found.milliseconds, found.moment) == (
            2,
            1.5,
            (NOW + timedelta(hours=1)).timestamp(),
        )
        assert last(connection, "codex") is None
    with database(home) as connection:
        assert forget(connection, NOW + timedelta(hours=1)) == 1


def test_published_bundles_are_those_of_each_root(desk: Desk) -> None:
    project = desk.house / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
    assert publish_all(desk.home, desk.world.environment, [project, project / "gone", desk.house]) == []
    rows = {row.root: row.key for row in published(desk.home)}
    assert sorted(rows) == sorted(["/", str(project)])
    kept = (desk.home.root / "bundles" / rows[str(project)] / "codex.SubagentStart").read_bytes()
    assert context(Reply(kept)) == bundle_for(project, desk.home, desk.world.environment).text


def test_an_uncommon_record_is_read_in_full(desk: Desk) -> None:
    """A user record of the seed's form, and blocks that were only quoted."""
    text = desk.start("startup")
    made = Claude()
    made.user(text, "tail", isMeta=True)
    made.user(f"what is this?\n{text}", "quoted")
    made.answer({"type": "text", "text": text}, name="a")
    path = desk.path(THREAD)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.data)
    holding = Holdings(Places(desk.house / ".claude", desk.house / ".codex")).look("claude", path)
    assert holding is not None
    assert holding.held.texts == (text,)
    assert uid("tail").startswith("tail")
