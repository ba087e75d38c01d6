"""Each command on a machine with sessions and on a bare one: what it prints, and that it changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from coffer.cli.main import cli
from tests.cli.run import COMMAND, SOURCE, Machine, claude_project, conversation, put, rollout
from tests.transcripts import SESSION, THREAD, Claude, call, store, text, uid, usage

READING = ("up", "sessions", "show", "view", "check")


# --- help and version


def test_help_names_every_command(bare: Machine) -> None:
    done = bare.run("--help")
    assert done.code == 0
    for name, (_, line) in cli.table.items():
        assert name in done.out
        assert line.split(".")[0] in " ".join(done.out.split())
    assert done.out in (bare.run().out, bare.run().err)


@pytest.mark.parametrize("name", cli.table)
def test_each_command_has_help(bare: Machine, name: str) -> None:
    done = bare.run(name, "-h")
    assert done.code == 0
    assert "Usage:" in done.out
    assert done.err == ""


def every(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield f"{path} {name}".strip(), found
        if isinstance(found, click.Group):
            yield from every(found, f"{path} {name}")


def test_yes_has_a_short_form_wherever_it_is() -> None:
    asking = {
        name: option.opts
        for name, one in every(cli)
        for option in one.params
        if isinstance(option, click.Option) and "--yes" in option.opts
    }
    assert {"up", "trust", "digest add", "digest inbox accept"} <= set(asking)
    assert {name for name, opts in asking.items() if "-y" not in opts} == set()


def test_help_imports_no_command() -> None:
    # the first thing that a person runs must not wait for what it does not need
    program = (
        "import sys; sys.argv = ['coffer', '--help']\n"
        "from coffer.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & {"rich", "msgspec", "psutil", "zstandard", "json", "asyncio", "email", "sqlite3"}
    assert {name for name in loaded if name.startswith("coffer")} <= {
        *("coffer", "coffer.cli", "coffer.cli.lazy", "coffer.cli.main", "coffer.cli.renew", "coffer.errors"),
    }


def test_version(bare: Machine) -> None:
    done = bare.run("--version")
    assert (done.code, done.out.split()[0]) == (0, "coffer")
    assert done.out.split()[1][0].isdigit()


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["show", "--nonsense"],
        ["show", "a", "b"],
        ["sessions", "-n", "0"],
        ["completion", "tcsh"],
    ],
)
def test_a_wrong_command_line_is_said_in_a_sentence(bare: Machine, arguments: list[str]) -> None:
    done = bare.run(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert "Usage:" in done.err


# --- a bare machine


@pytest.mark.parametrize("name", READING)
def test_a_bare_machine(bare: Machine, name: str) -> None:
    done = bare.run(name)
    if name in ("up", "sessions"):
        assert done.code == 0
    else:
        assert done.code == 3
        assert "no current one" in done.err
    assert list(bare.home.iterdir()) == []


def test_up_with_no_agent_shows_the_sample(bare: Machine) -> None:
    done = bare.run("up")
    assert "Claude Code: not found" in done.out
    assert "Codex: not found" in done.out
    assert "sample session" in done.out
    assert "tool results" in done.out
    assert "Nothing was changed." in done.out
    assert "!" not in done.out


def test_sessions_with_no_agent_says_where_it_looked(bare: Machine) -> None:
    done = bare.run("sessions")
    assert str(bare.home / ".claude") in done.out
    assert "CODEX_HOME" in done.out
    assert bare.run("sessions", "--json").json == []
    assert bare.run("sessions", "--paths").out == ""


# --- up and sessions


def test_up_shows_the_fullest(machine: Machine) -> None:
    put(machine, conversation("nearly full", 190_000), SESSION.replace("1", "2"))
    done = machine.run("up")
    assert "2 sessions in" in done.out
    assert "95%" in done.out
    assert "sample" not in done.out


def test_up_passes_over_what_it_cannot_read(machine: Machine) -> None:
    put(machine, b"", "empty")
    put(machine, b"\x89PNG\0\0\0", "binary")
    (claude_project(machine) / "folder.jsonl").mkdir()
    done = machine.run("up")
    assert done.code == 0
    assert "25%" in done.out


def test_sessions_lists_both_agents(machine: Machine) -> None:
    done = machine.run("sessions", COLUMNS="160")
    assert done.code == 0
    assert "Tides counted" in done.out
    assert "fix the chart" in done.out
    assert "25%" in done.out


SESSION_KEYS = {
    *("session", "agent", "kind", "path", "owner", "title", "folder", "model", "bytes", "modified", "tokens"),
    *("window", "window_used", "turns", "live", "problem"),
}


def test_sessions_as_json(machine: Machine) -> None:
    rows = machine.run("sessions", "--json").json
    assert {row["session"] for row in rows} == {SESSION, THREAD}
    for row in rows:
        assert row.keys() >= SESSION_KEYS
        assert Path(row["path"]).stat().st_size == row["bytes"]
        assert row["window_used"] == pytest.approx(row["tokens"] / row["window"], abs=0.0001)
        assert row["live"] == []
        assert row["problem"] == ""


def test_sessions_can_be_narrowed(machine: Machine) -> None:
    folder = claude_project(machine) / SESSION / "subagents"
    store(folder, conversation("inside"), "agent-one")
    other = conversation("elsewhere")
    other.lines = [line.replace(b"/work/tide", b"/work/tidepool") for line in other.lines]
    put(machine, other, "other")

    def ids(*arguments: str) -> set[str]:
        return {row["session"] for row in machine.run("sessions", "--json", *arguments).json}

    assert ids() == {SESSION, THREAD, "other"}
    assert ids("--agent", "codex") == {THREAD}
    assert ids("--subagents") == {SESSION, THREAD, "other", "agent-one"}
    assert ids("--project", "/work/tide") == {SESSION, THREAD}
    assert ids("--project", "/work") == {SESSION, THREAD, "other"}
    assert len(ids("-n", "1")) == 1
    assert len(ids("-n", "1", "--all")) == 3
    assert len(machine.run("sessions", "--paths").out.splitlines()) == 3


def test_sessions_lists_what_cannot_be_read(machine: Machine) -> None:
    put(machine, b"", "empty")
    done = machine.run("sessions", COLUMNS="160")
    assert done.code == 0
    assert "can't be read" in done.out
    assert "is empty" in done.out
    (row,) = [row for row in machine.run("sessions", "--json").json if row["session"] == "empty"]
    assert "is empty" in row["problem"]


# --- show


SHOW_KEYS = {
    *("session", "agent", "path", "bytes", "tokens", "window", "window_source", "by_kind", "by_tool", "top"),
    *("tokens_source", "by_file", "by_age", "file_bytes", "estimate", "warnings", "turns", "live", "model"),
}


@pytest.mark.parametrize(("name", "tokens"), [(SESSION, 50_200), (THREAD, 30_100)])
def test_show_as_json(machine: Machine, name: str, tokens: int) -> None:
    said = machine.run("show", name, "--json").json
    assert said.keys() >= SHOW_KEYS
    assert (said["session"], said["tokens"]) == (name, tokens)
    assert Path(said["path"]).stat().st_size == said["bytes"]
    assert sum(said["by_kind"].values()) == pytest.approx(tokens, abs=len(said["by_kind"]))
    assert sum(said["file_bytes"].values()) <= said["bytes"]
    assert said["top"]
    for row in said["top"]:
        assert row.keys() >= {
            "tokens",
            "kind",
            "tool",
            "path",
            "about",
            "turns_ago",
            "uuid",
            "offset",
            "bytes",
        }
    assert said["warnings"] == []


def test_show_as_a_picture(machine: Machine) -> None:
    done = machine.run("show", SESSION)
    for words in ("Tides counted", "50.2K of 200.0K tokens (25%)", "█", "░", "By tool", "Read", "By file"):
        assert words in done.out
    assert done.err == ""


def test_show_tells_what_the_person_set(machine: Machine) -> None:
    said = machine.run("show", SESSION, "--json", COZEMPIC_CONTEXT_WINDOW="100000").json
    assert (said["window"], said["window_source"]) == (100_000, "COZEMPIC_CONTEXT_WINDOW")


def test_the_number_of_rows(machine: Machine) -> None:
    assert machine.run("show", SESSION, "--json", "--top", "1").json["top"][1:] == []
    assert "Largest" not in machine.run("show", SESSION, "--top", "0").out


def test_a_session_without_an_answer(machine: Machine) -> None:
    made = Claude()
    made.user("hello")
    put(machine, made, "fresh")
    said = machine.run("show", "fresh", "--json").json
    assert said["tokens_source"] == "estimate"
    assert machine.run("show", "fresh").code == 0


def test_a_session_that_reaches_nothing(machine: Machine) -> None:
    made = Claude()
    made.note("ai-title", aiTitle="nothing said")
    put(machine, made, "mute")
    for name in ("show", "view", "check"):
        assert machine.run(name, "mute").code in (0, 1)
    assert machine.run("view", "mute", "--json").json["items"] == []


# --- view


def test_view_as_text(machine: Machine) -> None:
    done = machine.run("view", SESSION)
    assert next(line for line in done.out.splitlines() if line.startswith("── ")).startswith("── user · text")
    assert "count the tides" in done.out
    assert "All is well." in done.out


@pytest.mark.parametrize("name", [SESSION, THREAD])
def test_view_as_json(machine: Machine, name: str) -> None:
    said = machine.run("view", name, "--json").json
    assert said.keys() == {"session", "agent", "model", "items"}
    assert all(item.keys() >= {"role", "content", "uuid", "offset"} for item in said["items"])
    assert said["items"][0]["content"]["text"] in ("count the tides", "fix the chart")


def test_view_cuts_long_contents_and_says_so(machine: Machine) -> None:
    made = Claude()
    made.user("\n".join(f"line {number}" for number in range(40)))
    made.answer(text("ok"))
    put(machine, made, "long")
    assert "28 more lines (--full prints them)" in machine.run("view", "long").out
    assert "line 39" in machine.run("view", "long", "--full").out


def test_view_for_another_model_leaves_thinking_out(machine: Machine) -> None:
    assert "thinking" in machine.run("view", SESSION).out
    assert "· thinking" not in machine.run("view", SESSION, "--model", "claude-haiku-4-5").out


# --- check


def test_check_of_a_tidy_session(machine: Machine) -> None:
    for name in (SESSION, THREAD):
        done = machine.run("check", name)
        assert (done.code, "A resume loses nothing." in done.out) == (0, True)


def test_check_of_a_broken_session(machine: Machine) -> None:
    made = conversation()
    made.raw(b"\0" * 300)
    put(machine, made, "broken")
    done = machine.run("check", "broken")
    assert done.code == 1
    assert "NUL bytes" in done.out
    said = machine.run("check", "broken", "--json")
    assert said.code == 1
    assert said.json.keys() >= {"session", "agent", "path", "records", "live", "findings", "warnings"}
    finding = said.json["findings"][0]
    assert finding.keys() == {"kind", "level", "count", "meaning", "offsets"}
    assert finding["offsets"] == [len(conversation().data)]


# --- completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script(bare: Machine, shell: str) -> None:
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("click asks bash for its version")
    done = bare.run("completion", shell)
    assert done.code == 0
    assert "_COFFER_COMPLETE" in done.out
    assert bare.run("completion", SHELL=f"/bin/{shell}").out == done.out


def test_completion_of_session_ids(machine: Machine) -> None:
    done = machine.run(_COFFER_COMPLETE="bash_complete", COMP_WORDS="coffer show ", COMP_CWORD="2")
    # the program's name decides the variable; under -m it is another one, so the script's own name is used
    program = Path(sys.executable).with_name("coffer")
    if not program.exists():
        pytest.skip("the console script is not installed")
    asked = {"_COFFER_COMPLETE": "bash_complete", "COMP_WORDS": "coffer show 1111", "COMP_CWORD": "2"}
    found = subprocess.run(
        [program], env=machine.env() | asked, cwd=machine.folder, capture_output=True, text=True, check=False
    )
    assert SESSION in found.stdout
    assert done.code in (0, 2)


# --- which session


def test_a_session_by_prefix_path_and_name(machine: Machine) -> None:
    path = claude_project(machine) / f"{SESSION}.jsonl"
    shutil.copy(path, machine.folder / "copy.jsonl")
    for name in (SESSION, SESSION[:4], str(path), "copy.jsonl", "./copy.jsonl"):
        assert machine.run("show", name, "--json").json["session"] == SESSION
    assert machine.run("show", "~/.claude/projects/-work-tide/" + path.name, "--json").code == 0
    assert machine.run("show", THREAD[:4], "--json").json["agent"] == "codex"


def test_an_id_that_begins_another(machine: Machine) -> None:
    put(machine, conversation(), SESSION + "-more")
    assert machine.run("show", SESSION, "--json").code == 0
    done = machine.run("show", SESSION[:6])
    assert done.code == 4
    assert SESSION in done.err


def test_a_main_session_wins_over_subagents_of_its_prefix(machine: Machine) -> None:
    store(claude_project(machine) / "s" / "subagents", conversation(), "agent-x")
    put(machine, conversation(), "agent")
    assert machine.run("show", "agent", "--json").json["path"].endswith("agent.jsonl")
    assert machine.run("show", "agent-x", "--json").code == 0


def test_the_session_that_this_command_runs_in(machine: Machine) -> None:
    put(machine, conversation("newer"), "newer")
    asked = {"CLAUDE_CODE_SESSION_ID": SESSION}
    assert machine.run("show", "--json", **asked).json["path"].endswith(f"{SESSION}.jsonl")
    assert machine.run("show", "current", "--json", CODEX_THREAD_ID=THREAD).json["agent"] == "codex"


def test_the_newest_session_of_this_folder(machine: Machine) -> None:
    here = conversation("here")
    here.lines = [line.replace(b"/work/tide", os.fsencode(machine.folder)) for line in here.lines]
    old = put(machine, here, "here-old")
    put(machine, here, "here-new")
    os.utime(old, (1, 1))
    assert machine.run("show", "--json").json["path"].endswith("here-new.jsonl")
    below = machine.folder / "src" / "deep"
    below.mkdir(parents=True)
    machine.folder = below
    assert machine.run("show", "--json").json["path"].endswith("here-new.jsonl")


def test_a_folder_that_was_deleted(machine: Machine) -> None:
    program = (
        "import os; os.mkdir('x'); os.chdir('x'); os.rmdir('../x'); "
        f"os.execv({COMMAND[0]!r}, {(*COMMAND, 'show', SESSION)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=machine.env(),
        cwd=machine.folder,
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0


def test_folders_that_the_environment_names(machine: Machine) -> None:
    elsewhere = machine.folder / "config"
    store(elsewhere / "projects" / "-x", conversation(), "moved")
    rows = machine.run("sessions", "--json", CLAUDE_CONFIG_DIR=str(elsewhere)).json
    assert {row["session"] for row in rows} == {"moved", THREAD}
    folder = machine.folder / "codex" / "sessions" / "2026" / "01" / "02"
    store(folder, rollout(), f"rollout-2026-01-02T03-04-05-{THREAD.replace('019a', '029a')}")
    rows = machine.run("sessions", "--json", CODEX_HOME=str(machine.folder / "codex")).json
    assert THREAD not in {row["session"] for row in rows}


def test_a_fork_is_read_with_its_parent(machine: Machine) -> None:
    corpus = SOURCE / "tests" / "corpus" / "codex"
    folder = machine.home / ".codex" / "sessions" / "2026" / "01" / "03"
    folder.mkdir(parents=True)
    ids = {}
    for name in ("fork-parent", "fork-child"):
        data = (corpus / f"{name}.jsonl").read_bytes()
        ids[name] = data.split(b'"id":"', 1)[1][:36].decode()
        (folder / f"rollout-2026-01-03T03-04-05-{ids[name]}.jsonl").write_bytes(data)
    said = machine.run("show", ids["fork-child"], "--json").json
    assert said["warnings"] == []
    assert said["bytes"] == (corpus / "fork-child.jsonl").stat().st_size


def test_a_session_that_a_client_has_open(machine: Machine) -> None:
    from coffer.disk.live import start_mark  # noqa: PLC0415  (only this test asks the system)

    folder = machine.home / ".claude" / "sessions"
    folder.mkdir()
    start = start_mark(os.getpid())
    said = f'{{"pid":{os.getpid()},"procStart":"{start}","sessionId":"{SESSION}","status":"busy"}}'
    (folder / f"{os.getpid()}.json").write_text(said)
    assert machine.run("show", SESSION, "--json").json["live"] == [{"pid": os.getpid(), "status": "busy"}]
    assert f"pid {os.getpid()}, busy" in machine.run("show", SESSION).out
    assert "busy" in machine.run("sessions", COLUMNS="160").out


def test_warnings_of_the_view_are_told(machine: Machine) -> None:
    made = Claude()
    made.user("question", "u1")
    made.answer(call("c1"), name="a1")
    made.user("on", "u2", parent="gone")
    made.answer(text("yes"), counts=usage(10))
    put(machine, made, "lost")
    said = machine.run("show", "lost", "--json").json
    assert any("parent is missing" in warning for warning in said["warnings"])
    assert uid("u1") not in machine.run("view", "lost", "--json").out
