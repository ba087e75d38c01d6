"""`coffer prune` as a person and a program see it: what it says, what it refuses, what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coffer.disk.live import start_mark
from tests.cli.run import snapshot
from tests.prune.forks import Forks
from tests.prune.generate import Talk, begun, rich, words
from tests.prune.world import in_place
from tests.transcripts import SESSION, THREAD, Codex, store, text, usage

LIVE, CODEX, USAGE = 10, 11, 2
PROGRAMS = 67


def test_a_dry_run_changes_nothing_at_all(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    before = snapshot(machine.home)
    for more in ((), ("--json",), ("--diff",), ("-rx", "gentle"), ("-rx", "aggressive", "--protect", "Read")):
        machine.ok("prune", path, *more)
        assert snapshot(machine.home) == before
    assert not (machine.home / ".coffer").exists()
    assert not [left for left in machine.home.parent.iterdir() if left.name.startswith("coffer-")]


def test_the_keys_of_the_json(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    said = machine.ok("prune", path, "--json").json
    keys = {"tokens_before", "tokens_after", "bytes_before", "bytes_after", "strategies", "receipt"}
    assert keys <= set(said)
    assert said["receipt"] is None
    assert said["applied"] is False
    assert said["session"] == SESSION
    assert said["bytes_before"] == path.stat().st_size
    assert said["tokens_before"] > said["tokens_after"] > 0
    assert {"name", "saves", "actions", "tokens", "bytes"} == set(said["strategies"][0])


def test_what_a_dry_run_says_is_what_is_written(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    dry = machine.ok("prune", path, "--json").json
    did = machine.ok("prune", path, "--json", "--apply").json
    assert did.pop("receipt")
    assert did.pop("applied") is True
    assert did == {key: value for key, value in dry.items() if key not in ("receipt", "applied")}
    assert path.stat().st_size == dry["bytes_after"]


def test_items_after_is_what_the_view_holds_then(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    wanted = machine.ok("prune", path, "--apply", "--json").json["items_after"]
    assert machine.ok("prune", path, "--json").json["items_before"] == wanted


@pytest.mark.parametrize("name", [SESSION, SESSION[:6], "path"])
def test_a_session_by_any_of_its_names(machine: Forks, name: str) -> None:
    path = in_place(machine.home, rich().data)
    said = machine.ok("prune", path if name == "path" else name, "--json").json
    assert said["path"] == str(path)


def test_milder_prescriptions_take_less(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    left = [
        machine.ok("prune", path, "-rx", rx, "--json").json["tokens_after"] for rx in ("gentle", "standard")
    ]
    assert left[0] > left[1]


def test_protect_takes_less(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    free = machine.ok("prune", path, "--json").json
    kept = machine.ok("prune", path, "--json", "--protect", "Read", "--protect", "make*").json
    assert kept["tokens_after"] > free["tokens_after"]


@pytest.mark.parametrize("more", [("-rx", "brutal"), ("--force",), ("a", "b")])
def test_a_wrong_command_line(machine: Forks, more: tuple[str, ...]) -> None:
    assert machine.run("prune", in_place(machine.home, rich().data), *more).code == USAGE


def test_a_prune_that_has_nothing_to_take_writes_nothing(machine: Forks) -> None:
    talk = begun()
    talk.end()
    path = in_place(machine.home, talk.data)
    before = snapshot(machine.home)
    said = machine.ok("prune", path, "--apply", "--json").json
    assert said["receipt"] is None
    assert said["bytes_after"] == said["bytes_before"]
    assert snapshot(machine.home) == before


def test_the_texts_of_a_multi_edit_become_stubs(machine: Forks) -> None:
    talk = begun()
    talk.say(words(20_000))
    for number in range(2):
        edits = [{"old_string": "a", "new_string": words(3_000, str(number))}]
        talk.use("MultiEdit", "ok", file_path="/w/a.py", edits=edits)
    talk.fill(6)
    talk.end()
    path = in_place(machine.home, talk.data)
    said = machine.ok("prune", path, "--apply", "--json").json
    assert said["left_out"] == {}
    assert said["receipt"]
    assert path.read_bytes().count(b'"new_string":"[coffer: MultiEdit /w/a.py, ') == 1
    machine.ok("undo")
    assert path.read_bytes() == talk.data


def test_the_diff_names_what_changes(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    said = machine.ok("prune", path, "--diff").out
    assert "/w/a.py" in said
    assert said.count("coffer restore") + said.count("drop") + said.count("−") + said.count("-") > 3


def test_what_it_says_for_a_person(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    dry = machine.ok("prune", path).out
    assert "superseded-reads" in dry
    assert "--apply" in dry
    done = machine.ok("prune", path, "--apply").out
    assert "coffer undo" in done


# --- refusals ---------------------------------------------------------------------------------------------


def test_codex_sessions_are_only_shown(machine: Forks) -> None:
    made = Codex()
    made.meta()
    made.turn()
    made.message("user", "fix it")
    folder = machine.home / ".codex" / "sessions" / "2026" / "01" / "02"
    store(folder, made, f"rollout-2026-01-02T03-04-05-{THREAD}")
    before = snapshot(machine.home)
    for command in (("prune", THREAD), ("prune", THREAD, "--apply"), ("check", THREAD, "--fix")):
        assert machine.run(*command).code == CODEX
    assert snapshot(machine.home) == before


@contextmanager
def _client(
    home: Path, *, mark: str | None = None, name: str = "sleep", folder: Path | None = None
) -> Iterator[int]:
    """A process that lives, and its entry in the client's registry."""
    code = "import sys, time; sys.argv[0]; print('up', flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-S", "-c", code, name], stdout=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            registry = home / ".claude" / "sessions"
            registry.mkdir(parents=True, exist_ok=True)
            said = {
                "pid": process.pid,
                "procStart": mark if mark is not None else start_mark(process.pid),
                "sessionId": SESSION,
                "status": "idle",
                "kind": "interactive",
                "entrypoint": "sdk-cli",
            }
            (registry / f"{process.pid}.json").write_text(json.dumps(said))
            yield process.pid
        finally:
            process.kill()


def test_a_session_that_a_client_has_open(machine: Forks) -> None:
    talk = rich()
    path = in_place(machine.home, talk.data)
    with _client(machine.home) as pid:
        for command in (("prune", path, "--apply"),):
            done = machine.run(*command)
            assert done.code == LIVE
            assert f"process {pid} holds it, idle" in done.err
        assert machine.run("prune", path).code == 0
        assert path.read_bytes() == talk.data
    machine.ok("prune", path, "--apply")
    new = path.read_bytes()
    with _client(machine.home):
        refused = machine.run("undo")  # in a person's session it would wait for a safe moment
        assert refused.code == PROGRAMS, refused.err
        assert "a program's session" in refused.err
        assert path.read_bytes() == new
    machine.ok("undo")


def test_a_registry_entry_of_a_dead_client_holds_nothing(machine: Forks) -> None:
    path = in_place(machine.home, rich().data)
    with _client(machine.home, mark="1"):
        machine.ok("prune", path, "--apply")


@pytest.mark.parametrize(
    ("version", "age", "code"),
    [
        ("2.1.196", 30, LIVE),
        ("2.0.64", 540, LIVE),
        ("", 30, LIVE),
        ("2.1.196", 700, 0),
        ("2.1.197", 30, 0),
        ("3.0.0", 30, 0),
    ],
)
def test_older_clients_that_may_keep_no_registry(machine: Forks, version: str, age: float, code: int) -> None:
    talk = rich()
    data = talk.data.replace(b'"version":"2.1.197"', f'"version":"{version}"'.encode())
    path = in_place(machine.home, data)
    now = path.stat().st_mtime + 3_600
    os.utime(path, (now - age, now - age))
    done = machine.run("prune", path, "--apply")
    assert done.code == code, done.err
    assert (path.read_bytes() == data) == (code != 0)


def test_an_agent_in_the_folder_of_an_old_session(machine: Forks, folder: Path) -> None:
    place = folder / "project"
    place.mkdir()
    data = rich().data.replace(b'"version":"2.1.197"', b'"version":"2.1.100"')
    path = in_place(machine.home, data.replace(b'"cwd":"/work/tide"', f'"cwd":"{place}"'.encode()))
    fake = folder / "claude"
    fake.symlink_to(Path(sys.executable).resolve())
    code = "import time; print('up', flush=True); time.sleep(60)"
    with subprocess.Popen([fake, "-S", "-c", code], cwd=place, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            process.stdout.readline()
            done = machine.run("prune", path, "--apply")
        finally:
            process.kill()
    assert done.code == LIVE
    assert str(place) in done.err
    machine.ok("prune", path, "--apply")


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", 6), (b"\0\1\2 no transcript", 8), (b'{"a":1}\n', 8)],
    ids=["empty", "binary", "foreign"],
)
def test_files_that_are_no_transcript(machine: Forks, data: bytes, code: int) -> None:
    path = in_place(machine.home, data)
    assert machine.run("prune", path, "--apply").code == code
    assert path.read_bytes() == data


def test_paths_that_are_no_file(machine: Forks, folder: Path) -> None:
    assert machine.run("prune", folder / "none.jsonl", "--apply").code == 5
    assert machine.run("prune", folder, "--apply").code == 9


def _damaged(kind: str) -> bytes:
    data = rich().data
    match kind:
        case "torn":
            return data + b'{"parentUuid":"x","type":"us'
        case "nul":
            return data.replace(b"\n", b"\n" + b"\0" * 512 + b"\n", 3)
        case "not json":
            return data + b'[]\n"x"\nnull\n\n'
        case _:
            return b"\n".join(reversed(data.splitlines())) + b"\n"


@pytest.mark.parametrize("kind", ["torn", "nul", "not json", "backwards"])
def test_a_damaged_session_is_pruned_and_undone_byte_for_byte(machine: Forks, kind: str) -> None:
    data = _damaged(kind)
    path = in_place(machine.home, data)
    if machine.ok("prune", path, "--apply", "--json").json["receipt"]:
        machine.ok("undo")
    assert path.read_bytes() == data


def test_a_session_without_a_human_is_left_alone(machine: Forks) -> None:
    talk = Talk()
    talk.read("/w/a.py")
    talk.edit("/w/a.py")
    path = in_place(machine.home, talk.data)
    assert machine.ok("prune", path, "--apply", "--json").json["tokens_after"] >= 0
    assert path.read_bytes() == talk.data


def test_a_pruned_session_shows_what_is_left(machine: Forks) -> None:
    """The usage of the last answer is of a context that is no more; the next prune begins where this one ended."""
    talk = rich()
    talk.ask("how large is it now?")
    talk.made.answer(text("very"), counts=usage(90_000, 10))
    path = in_place(machine.home, talk.data)
    before = machine.ok("show", path, "--json").json
    said = machine.ok("prune", path, "--apply", "--json").json
    after = machine.ok("show", path, "--json").json
    assert said["tokens_before"] == before["tokens"]
    assert after["tokens"] == said["tokens_after"] < before["tokens"]
    assert said["receipt"] in after["tokens_source"]
    base = "system prompt and tools"
    assert after["by_kind"][base] == pytest.approx(before["by_kind"][base], abs=2)
    assert machine.ok("prune", path, "--json").json["tokens_before"] == said["tokens_after"]
    machine.ok("undo")
    assert machine.ok("show", path, "--json").json["tokens"] == before["tokens"]


def test_a_prune_that_reached_its_limit_says_so(machine: Forks) -> None:
    talk = begun()
    for number in range(120):
        talk.bash(f"make {number}", words(1_000, f"{number}"))
    talk.end()
    path = in_place(machine.home, talk.data)
    assert machine.ok("prune", path, "--json").json["limit_reached"]
    assert "another one would take more" in " ".join(machine.ok("prune", path).out.split())
