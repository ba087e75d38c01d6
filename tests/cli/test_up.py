"""`coffer up` and `coffer down` as a person, a program and an agent call them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from coffer.daemon import life
from coffer.disk.live import start_mark
from tests.cli.place import RULE, SETTINGS, STATE, Place, kill_daemon, place
from tests.cli.run import Machine, snapshot


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path) as made:
        yield made


def test_without_agents_nothing_is_set_up(bare: Machine) -> None:
    bare.environment["PATH"] = "/usr/bin:/bin"
    before = snapshot(bare.home)
    for words in (("up", "--json", "--yes"), ("up", "--yes")):
        said = bare.alone(*words)
        assert (said.code, said.err) == (0, "")
        assert snapshot(bare.home) == before
    assert "sample session" in said.out


def test_looking_is_fine_for_everybody(here: Place) -> None:
    def now() -> dict[str, tuple[object, ...]]:
        root = str(here.machine.home)
        return {
            path: said
            for path, said in snapshot(here.machine.home).items()
            if path not in (root, f"{root}/calls")
        }

    before, said = now(), {}
    for words, more in (
        ("up", {}),
        ("up --brief", {}),
        ("up --dry-run --yes", {}),
        ("up --json", {}),
        ("up --yes", {"CLAUDECODE": "1"}),
        ("up --json --yes", {"CODEX_THREAD_ID": "1"}),
    ):
        said[words] = here.under(*words.split(), **more)
        assert said[words].code == 0, said[words].err
        assert now() == before
    (line,) = [line for line in said["up --brief"].out.splitlines() if line.startswith(f"{here.settings}: ")]
    assert "+ 7 entries for SessionStart, " in line
    assert "a permission for Coffer's tools; nothing else changes" in line
    assert "to be added by `claude mcp add`" in said["up"].out
    assert "coffer up --yes" in said["up"].out
    assert ["@@" in one.out for one in said.values()] == [True, False, True, True, True, True]
    assert "in a terminal of your own" in said["up --yes"].out


def test_up_and_down_leave_no_byte_behind(here: Place) -> None:
    before = here.files()
    here.home.make(here.home.root)
    (here.home.root / "config.toml").write_text("[agents.claude]\ndisable_native_memory = true\n")
    said = here.machine.alone("up", "--yes")
    assert said.code == 0, said.err
    assert "A first delivery" in said.out
    assert json.loads(here.settings.read_text())["autoMemoryEnabled"] is False
    assert f"│ {RULE}" in said.out
    assert "exit code 0; exec" in said.out
    assert json.loads(here.settings.read_text())["permissions"]["allow"] == ["Bash", "mcp__coffer"]
    assert here.settings.read_text().count("coffer-hook") == 7
    server = here.home.root / "bin" / "coffer-mcp"
    assert json.loads(here.state.read_text())["mcpServers"]["coffer"]["command"] == str(server)
    known = life.running(here.home)
    assert known is not None

    again = here.files()
    said = here.machine.alone("up", "--yes")
    assert said.code == 0
    assert "Everything stands. Nothing was changed." in said.out
    assert here.files() == again

    said = here.machine.alone("down", "--yes")
    assert said.code == 0, said.err
    assert here.files() == before
    assert not known.lives
    left = {path.name for path in here.home.root.iterdir()}
    assert not left & {"bin", "bundles", "daemon.sock", "daemon.json", "mcp.sock", "daemon.lock"}
    assert "coffer.db" in left
    assert "is not set up here" in here.machine.alone("down", "--yes").out

    said = here.machine.alone("down", "--yes", "--purge")
    assert said.code == 0, said.err
    assert not here.home.root.exists()
    assert here.files() == before, "digests stay"


@pytest.mark.parametrize("renewed", [True, False])
def test_a_home_that_was_renamed(here: Place, renewed: bool) -> None:  # noqa: FBT001
    """Its receipts name a place that is gone, and still say what in the settings is ours."""
    (here.settings.parent / "notes").write_text("mine")
    assert here.machine.alone("up", "--yes").code == 0
    here.end()
    there = Place(replace(here.machine, home=here.machine.home.with_name("renamed")))
    here.machine.home.rename(there.machine.home)
    try:
        if renewed:
            assert there.machine.alone("up", "--yes").code == 0
            assert there.settings.read_text().count(str(there.home.root)) == 7
        said = there.machine.alone("down", "--yes")
        assert said.code == 0, said.err
    finally:
        there.end()
    assert there.settings.read_text() == SETTINGS
    assert sorted(path.name for path in there.settings.parent.iterdir()) == [
        "notes",
        "projects",
        "settings.json",
    ]
    assert json.loads(there.state.read_text())["mcpServers"] == {}


def test_an_agents_own_memory_off_and_back(here: Place) -> None:
    first = here.settings.read_bytes()
    said = here.machine.alone("native-memory", "disable", "claude", "--dry-run")
    assert '+  "autoMemoryEnabled": false' in said.out
    assert here.settings.read_bytes() == first
    assert here.under("native-memory", "disable", "claude", CLAUDECODE="1").code != 0
    assert here.settings.read_bytes() == first
    said = here.machine.alone("native-memory", "disable", "claude", "-y")
    assert "Its own memory switched off" in said.out
    said = here.machine.alone("native-memory", "status", "--json")
    assert [one["state"] for one in said.json["agents"]] == ["off by Coffer"]
    said = here.machine.alone("hooks", "uninstall", "claude", "--yes")
    assert said.code == 0, said.err
    assert here.settings.read_bytes() == first


def test_an_odd_home(tmp_path: Path) -> None:
    """Spaces and quotes break a command in a shell; 300 bytes break a socket's address and a `#!` line."""
    with place(tmp_path / "a b's $HOME" / ("x" * 150) / ("y" * 100)) as here:
        before = here.files()
        said = here.machine.alone("up", "--yes", "--json").json
        assert [(one["form"], one["code"], one["problem"]) for one in said["delivery"]] == [
            ("exec", 0, ""),
            ("sh -c", 0, ""),
        ]
        assert all(one["bytes"] > 300 for one in said["delivery"])
        assert [
            row for row in here.machine.alone("doctor", "--json").json["rows"] if row["level"] != "ok"
        ] == []
        assert here.machine.alone("down", "--yes").code == 0
        assert here.files() == before


def test_a_person_is_asked_once(here: Place) -> None:
    said = here.machine.alone("up", keys="n\r")
    assert said.out.count("[y/N]") == 1
    assert "Nothing was changed." in said.out
    assert here.settings.read_text() == SETTINGS
    said = here.machine.alone("up", keys="y\r")
    assert said.out.count("[y/N]") == 1
    assert RULE in said.out
    said = here.machine.alone("down", keys="n\r")
    assert "coffer-hook" in here.settings.read_text()
    said = here.machine.alone("down", keys="y\r")
    assert said.out.count("[y/N]") == 1
    assert here.settings.read_text() == SETTINGS


def test_nobody_takes_it_out_unasked(here: Place) -> None:
    here.machine.alone("up", "--yes", "--no-mcp")
    for words, more in ((("down",), {}), (("down", "--yes"), {"CLAUDECODE": "1"})):
        said = here.under(*words, **more)
        assert said.code == 34
        assert "coffer-hook" in here.settings.read_text()
    for flags in (("--dry-run", "--yes"), ("--json",)):
        assert here.machine.alone("down", *flags).code == 0
        assert "coffer-hook" in here.settings.read_text()


def test_without_mcp(here: Place) -> None:
    assert here.machine.alone("up", "--yes", "--no-mcp").code == 0
    assert "mcp__coffer" not in here.settings.read_text()
    assert here.state.read_text() == STATE
    said = here.machine.alone("up", "--json").json
    assert (said["wants"], said["agents"][0]["mcp"]) == (True, "wanted")
    said = here.machine.alone("up", "--json", "--no-mcp").json
    assert (said["wants"], said["written"]) == (False, False)
    assert [one["problem"] for one in said["delivery"]] == ["", ""]


def test_each_agent_fails_on_its_own(here: Place) -> None:
    here.settings.write_text("{\n  // mine\n}\n")
    (here.machine.home / ".codex").mkdir()
    said = here.machine.alone("up", "--yes")
    assert said.code == 40
    assert "line 2: there is a comment" in said.err
    assert here.settings.read_text() == "{\n  // mine\n}\n"
    assert here.state.read_text() == STATE, "nothing is half set up"
    assert "coffer-hook codex Stop" in (here.machine.home / ".codex" / "hooks.json").read_text()
    assert "yours to give" in said.out
    said = here.machine.alone("down", "--yes")
    assert said.code == 40
    assert not (here.machine.home / ".codex" / "hooks.json").exists()
    assert life.running(here.home) is None


@pytest.mark.parametrize(("does", "said"), [("echo no >&2; exit 1", "no"), (":", "has no such server")])
def test_a_client_that_adds_no_server(here: Place, does: str, said: str) -> None:
    """The rules reach its sessions, and it is not said that all is well."""
    client = here.machine.home.parent / "clients" / "claude"
    client.write_text(
        client.read_text().replace("case ", f'[ "$1 $2" = "mcp add" ] && {{ {does}; exit; }}\ncase ', 1)
    )
    done = here.machine.alone("up", "-y")
    assert done.code == 42
    assert said in done.err
    assert "Not all of it stands." in done.out
    assert "Claude Code: what could not be set up: MCP server." in done.out
    assert "Sessions that begin from now on" not in done.out
    found = here.machine.alone("up", "--json", "--yes").json
    assert (found["agents"][0]["failed"], len(found["problems"])) == (["MCP server"], 1)


def test_the_summary_comes_first_and_a_file_has_one_diff(here: Place) -> None:
    here.home.make(here.home.root)
    (here.home.root / "config.toml").write_text("[agents.claude]\ndisable_native_memory = true\n")
    said = here.machine.alone("up", "--dry-run").out
    assert said.count("@@") == 2 * said.count("+++ ") == 2
    assert said.index("Setting Coffer up") < said.index("+++ ")
    added = [line[1:] for line in said.splitlines() if line.startswith("+") and not line.startswith("+++")]
    here.machine.alone("up", "--yes")
    after = here.settings.read_text()
    assert [line for line in after.splitlines() if line not in SETTINGS.splitlines()] == added
    said = here.machine.alone("down", "--dry-run").out
    assert said.count("+++ ") == 1
    assert said.index("Taking Coffer out") < said.index("+++ ")
    gone = [line[1:] for line in said.splitlines() if line.startswith("-") and not line.startswith("---")]
    assert gone == added


def test_two_at_once_both_end_well(here: Place) -> None:
    client = here.machine.home.parent / "clients" / "claude"
    client.write_text(client.read_text().replace('"mcp add")', '"mcp add") sleep 1;'))
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: here.machine.alone("up", "--yes"), range(2)))
    assert [(one.code, one.err) for one in done] == [(0, "")] * 2
    assert all(RULE in one.out for one in done)
    assert sum("Another `coffer up` did it" in one.out for one in done) == 1
    assert (here.machine.home / "calls").read_text().count("mcp add") == 1
    assert here.settings.read_text().count("coffer-hook") == 7


def test_only_one_agent(here: Place) -> None:
    (here.machine.home / ".codex").mkdir()
    assert here.machine.alone("up", "--yes", "--agent", "codex").code == 0
    assert here.settings.read_text() == SETTINGS
    assert (here.machine.home / ".codex" / "hooks.json").exists()


def test_somebody_elses_server_stays(here: Place) -> None:
    theirs = '{"mcpServers": {"coffer": {"command": "/opt/coffer/server", "args": []}}}'
    here.state.write_text(theirs)
    said = here.machine.alone("up", "--yes")
    assert said.code == 0, said.err
    assert "somebody else's server" in said.out
    here.machine.alone("down", "--yes")
    assert here.state.read_text() == theirs


@pytest.mark.parametrize("half", ["daemon killed, files gone", "client gone", "state and settings written"])
def test_down_where_only_half_is_there(here: Place, half: str) -> None:
    assert here.machine.alone("up", "--yes").code == 0
    if half == "daemon killed, files gone":
        kill_daemon(here.home)
        for path in (here.home.root / "bin").iterdir():
            path.unlink()
    elif half == "client gone":
        (here.machine.home.parent / "clients" / "claude").unlink()
    else:  # as the client does in every session
        said = json.loads(here.state.read_text())
        here.state.write_text(json.dumps(said | {"numStartups": 6}))
        here.settings.write_text(here.settings.read_text().replace("opus", "sonnet"))
    said = here.machine.alone("down", "--yes")
    assert said.code == 0, said.err
    assert here.settings.read_text() == SETTINGS.replace(
        "opus", "sonnet" if half == "state and settings written" else "opus"
    )
    assert "coffer" not in here.state.read_text()
    assert not (here.home.root / "bin").exists()
    assert life.running(here.home) is None
    if half == "state and settings written":
        assert "mcp remove coffer" in (here.machine.home / "calls").read_text()


def test_down_while_a_session_is_open(here: Place) -> None:
    """Its client calls what it began with: a command that is gone would be told to the person at each event."""
    here.machine.alone("up", "--yes", "--no-mcp")
    stub = here.home.root / "bin" / "coffer-hook"
    with subprocess.Popen(["/bin/sleep", "300"]) as client:
        registry = here.machine.home / ".claude" / "sessions"
        registry.mkdir()
        mark = start_mark(client.pid)
        entry = {
            "pid": client.pid,
            "procStart": mark,
            "sessionId": "a",
            "status": "idle",
            "kind": "interactive",
        }
        (registry / f"{client.pid}.json").write_text(json.dumps(entry))
        said = here.machine.alone("down", "--yes", "--purge")
        assert said.code == 0, said.err
        assert "A session is open and calls" in said.out
        assert here.settings.read_text() == SETTINGS
        assert [path.relative_to(here.home.root).as_posix() for path in here.home.root.rglob("*")] == [
            "bin",
            "bin/coffer-hook",
        ]
        done = subprocess.run([stub, "claude", "SessionEnd"], input=b"{}", capture_output=True, check=True)
        assert (done.stdout, done.stderr) == (b"", b"")
        assert life.running(here.home) is None, "and starts no daemon"
        assert "is not set up here" in here.machine.alone("down", "--yes").out
        client.kill()
    assert here.machine.alone("down", "--yes").code == 0
    assert not here.home.root.exists()


def test_down_keeps_what_is_not_coffers(here: Place) -> None:
    here.machine.alone("up", "--yes")
    (here.home.root / ".cozempic").mkdir()
    digest = here.home.root / ".cozempic" / "behavioral-digest.md"
    digest.write_text("mine")
    (here.home.root / "bundles-of-mine").write_text("mine")
    said = here.machine.alone("down", "--yes", "--purge")
    assert said.code == 0
    assert "bundles-of-mine" in said.out
    assert digest.read_text() == "mine"


def test_one_undo_for_what_up_did(here: Place) -> None:
    before = here.files()
    here.machine.alone("up", "--yes")
    events = here.machine.alone("receipts", "--audit", "--json").json
    assert [one["kind"] for one in events] == [
        "AGENT_MCP_ADDED",
        "AGENT_MCP_PERMITTED",
        "AGENT_HOOK_INSTALLED",
    ]
    assert all(one["kind"].startswith("AGENT_") for one in events), "and no digest's"
    assert here.machine.alone("undo", events[0]["id"], CLAUDECODE="1").code == 34
    hooks = here.settings.read_bytes()
    assert here.machine.alone("undo", events[2]["id"]).code == 20, "the permission was written since"
    assert here.settings.read_bytes() == hooks
    for event in events:
        said = here.machine.alone("undo", event["id"])
        assert said.code == 0, said.err
    after = here.files()
    assert {path: data for path, data in after.items() if not path.endswith(".bak")} == before
    events = here.machine.alone("receipts", "--audit", "--json").json
    assert [one["kind"] for one in events[:3]] == ["undo"] * 3
    assert {one["status"] for one in events[3:]} == {"undone"}
    assert "AGENT_HOOK_INSTALLED" in here.machine.alone("receipts", "--audit").out


def test_a_rehearsal_is_no_delivery(here: Place) -> None:
    here.machine.alone("up", "--yes")
    kill_daemon(here.home)
    said = here.machine.alone("doctor", "--json")
    [row] = [row for row in said.json["rows"] if row["check"] == "deliveries"]
    assert row["found"] == "last fired never, last confirmed never"
    here.machine.alone("daemon", "start")
    [row] = [
        row for row in here.machine.alone("doctor", "--json").json["rows"] if row["check"] == "deliveries"
    ]
    assert row["found"] == "last fired never, last confirmed never", "what lay in the spool is none either"
