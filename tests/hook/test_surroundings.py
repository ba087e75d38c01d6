"""Wherever and however the hook is started: the same answer, exit code 0, and nothing of the surroundings in it."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coffer import hook
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import write_hook
from coffer.work.delivery.bundle_files import take_spool
from coffer.work.setup import doctor_home
from tests.hook.rig import (
    DAEMON_TEXT,
    FILE_TEXT,
    LONG,
    PYTHON,
    STARTUP,
    Done,
    Rig,
    answer,
    says,
)

SILENT = Done(0, b"", b"")
FROM_FILE = Done(0, FILE_TEXT, b"")
FROM_DAEMON = Done(0, DAEMON_TEXT, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("claude",),
        ("claude", ""),
        ("", "SessionStart"),
        ("../claude", "SessionStart"),
        ("claude", "../../index"),
        ("claude", "Session Start"),
        ("claude", "SessionStart\r\nX: 1"),
        ("claude\n", "SessionStart"),
        ("claude", "SessionStärt"),
        ("--help", ""),
    ],
)
def test_wrong_arguments_are_nothing(rig: Rig, arguments: tuple[str, ...]) -> None:
    rig.publish()
    with rig.daemon(says(answer(DAEMON_TEXT))) as heard:
        assert rig.run(*arguments) == SILENT
    assert rig.run(*arguments) == SILENT
    assert heard == []


def test_words_of_a_later_version_are_passed_over(rig: Rig) -> None:
    rig.publish()
    assert rig.run("claude", "SessionStart", "--new-option") == FROM_FILE


def test_a_child_of_coffers_is_not_answered(rig: Rig) -> None:
    rig.publish()
    with rig.daemon(says(answer(DAEMON_TEXT))) as heard:
        assert rig.run("claude", "SessionStart", extra={"COFFER_CHILD": "1"}) == SILENT
    assert heard == []


def test_an_empty_environment_will_do(rig: Rig) -> None:
    rig.publish()
    rig.environment = {}
    assert rig.run("claude", "SessionStart") == FROM_FILE
    assert rig.run(words=[str(rig.stub), "claude", "SessionStart"]) == FROM_FILE


def test_no_python_of_the_surroundings_is_run(rig: Rig, tmp_path: Path) -> None:
    rig.publish()
    planted = tmp_path / "planted"
    planted.mkdir()
    for folder in (planted, rig.project, rig.script.parent):
        for name in ("json", "os", "site", "sitecustomize", "usercustomize", "encodings", "socket", "errno"):
            (folder / f"{name}.py").write_text("print('planted', flush=True)\n")
    surroundings = {
        "PYTHONPATH": str(planted),
        "PYTHONHOME": str(planted),
        "PYTHONSTARTUP": str(planted / "json.py"),
        "PYTHONWARNINGS": "error",
        "PYTHONVERBOSE": "1",
        "PYTHONINSPECT": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONIOENCODING": "utf-16",
        "PYTHONPLATLIBDIR": "nowhere",
        "LC_ALL": "xx_XX.nonsense",
    }
    assert rig.run("claude", "SessionStart", extra=surroundings) == FROM_FILE
    with rig.daemon(says(answer(DAEMON_TEXT))):
        assert rig.run("claude", "SessionStart", extra=surroundings) == FROM_DAEMON


@pytest.mark.parametrize("change", ["deleted", "unreadable", "moved"])
def test_a_working_folder_that_is_gone(rig: Rig, change: str) -> None:
    rig.publish("/")
    away = {"deleted": 'rmdir "$PWD"', "unreadable": "chmod 0 .", "moved": 'mv "$PWD" "$PWD-2"'}[change]
    command = f"{away}; exec {shlex.quote(str(rig.stub))} claude SessionStart"

    def run() -> tuple[int, bytes]:
        folder = rig.project / "inner"
        folder.mkdir(exist_ok=True)
        done = rig.run(words=["/bin/sh", "-c", command], cwd=folder)
        return (
            done.rc,
            done.stdout,
        )  # some shells say on stderr, before the stub's first line, that it is gone

    assert run() == (0, FILE_TEXT)
    with rig.daemon(says(answer(DAEMON_TEXT))) as heard:
        if change == "moved":
            (rig.project / "inner-2").rmdir()
        assert run() == (0, DAEMON_TEXT)
    where = {"deleted": "", "unreadable": str(rig.project / "inner"), "moved": str(rig.project / "inner-2")}
    assert [request.told("cwd") for request in heard] == [where[change].encode()]


STRANGE = {
    "space": "my home",
    "quotes": 'it\'s "mine" `id` $(id) $HOME \\ ! # & ; | * ?',
    "not ASCII": "hömé 家",
    "not UTF-8": os.fsdecode(b"h\xff\xfe"),
    "a percent": "100%s %20",
    "a dash": "-rf",
    "long": "x" * 250,
}


@pytest.mark.parametrize("kind", STRANGE)
def test_any_path_of_the_home_will_do(tmp_path: Path, kind: str) -> None:
    if kind == "not UTF-8" and sys.platform == "darwin":
        pytest.skip("its file systems know no such names")
    rig = Rig.at(tmp_path, STRANGE[kind])
    rig.limits()
    rig.publish()
    stub = [str(rig.stub), "claude", "SessionStart"]
    assert len(str(rig.stub)) > 255 or kind != "long"
    assert rig.run(words=stub) == FROM_FILE
    assert rig.run(words=["/bin/sh", "-c", f"{shlex.quote(stub[0])} claude SessionStart"]) == FROM_FILE
    with rig.daemon(says(answer(DAEMON_TEXT))):
        assert rig.run(words=stub) == FROM_DAEMON


@pytest.mark.parametrize("kind", STRANGE)
def test_any_path_of_the_interpreter_will_do(rig: Rig, tmp_path: Path, kind: str) -> None:
    if kind == "not UTF-8" and sys.platform == "darwin":
        pytest.skip("its file systems know no such names")
    python = tmp_path / STRANGE[kind] / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(str(PYTHON))} "$@"\n')
    python.chmod(0o755)
    script = rig.script.read_bytes()
    write_hook(rig.home, python)
    rig.script.write_bytes(script)
    (rig.home.root / "bin" / "daemon-command").unlink()  # else it starts a real daemon, for ever
    rig.publish()
    assert rig.run(words=[str(rig.stub), "claude", "SessionStart"]) == FROM_FILE


@pytest.mark.parametrize("missing", ["python", "script", "both"])
def test_a_stub_with_nothing_behind_it_is_silent(tmp_path: Path, missing: str) -> None:
    rig = Rig.at(tmp_path)
    rig.publish()
    if missing in ("python", "both"):
        write_hook(rig.home, tmp_path / "gone" / "python")
    if missing in ("script", "both"):
        rig.script.unlink()
    assert rig.run(words=[str(rig.stub), "claude", "SessionStart"]) == SILENT


def test_a_folder_for_an_interpreter_is_silent(tmp_path: Path) -> None:
    rig = Rig.at(tmp_path)
    write_hook(rig.home, tmp_path)
    assert rig.run(words=[str(rig.stub), "claude", "SessionStart"]) == SILENT


def test_a_login_shell_that_talks_comes_first_and_changes_nothing(rig: Rig, tmp_path: Path) -> None:
    rig.publish()
    (tmp_path / ".bash_profile").write_text("echo welcome home\nset -u\numask 777\n")
    command = f"{shlex.quote(str(rig.stub))} claude SessionStart"
    done = rig.run(words=["bash", "-lc", command])
    assert done == Done(0, b"welcome home\n" + FILE_TEXT, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("lives", [True, False])
def test_closed_descriptors(rig: Rig, closed: str, lives: bool) -> None:  # noqa: FBT001
    rig.publish()
    command = f"exec {shlex.join(rig.words('claude', 'SessionStart'))} {closed}"
    expected = b"" if ">&- " in closed + " " and closed != "2>&-" else (DAEMON_TEXT if lives else FILE_TEXT)
    if lives:
        with rig.daemon(says(answer(DAEMON_TEXT))) as heard:
            assert rig.run(words=["/bin/sh", "-c", command]) == Done(0, expected, b"")
        assert [request.body for request in heard] == [b"" if "<&-" in closed else STARTUP]
    else:
        assert rig.run(words=["/bin/sh", "-c", command]) == Done(0, expected, b"")
    kept = [path.read_bytes() for path in rig.home.root.rglob("*") if path.is_file()]
    assert not [text for text in kept if DAEMON_TEXT in text]


def test_pipes_that_do_not_block(rig: Rig) -> None:
    """What comes late is waited for, and what does not fit yet is printed when there is room."""
    rig.publish()
    (into, said), (heard, out) = os.pipe(), os.pipe()
    for descriptor in (into, out):
        os.set_blocking(descriptor, False)
    room = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            room += os.write(out, b"x" * 4096)
    with subprocess.Popen(
        rig.words("claude", "SessionStart"), stdin=into, stdout=out, cwd=rig.project
    ) as hook:
        os.close(into)
        os.close(out)
        time.sleep(0.1)
        os.write(said, STARTUP)
        os.close(said)
        time.sleep(0.1)
        with open(heard, "rb") as pipe:  # noqa: PTH123  (a descriptor)
            assert pipe.read() == b"x" * room + FILE_TEXT
        assert hook.wait(LONG) == 0


def test_an_agent_that_went_away(rig: Rig) -> None:
    rig.publish()
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        rig.words("claude", "SessionStart"),
        input=STARTUP,
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=rig.project,
        timeout=LONG,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rig.spooled() == []  # nobody got it


def test_a_full_disk_for_stdout(rig: Rig) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    rig.publish()
    command = f"exec {shlex.join(rig.words('claude', 'SessionStart'))} >/dev/full"
    assert rig.run(words=["/bin/sh", "-c", command]) == SILENT
    assert rig.spooled() == []


def test_a_home_that_may_not_be_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    rig = Rig.at(tmp_path)
    rig.limits()
    rig.publish()
    rig.home.root.chmod(0o500)
    try:
        assert rig.run("claude", "SessionStart") == FROM_FILE
    finally:
        rig.home.root.chmod(0o700)


@pytest.mark.parametrize("lives", [True, False])
def test_only_modules_compiled_into_python_are_loaded(rig: Rig, lives: bool) -> None:  # noqa: FBT001
    """What Python itself loads at its start, and no file of its library besides."""
    rig.publish()
    words = [str(PYTHON), "-I", "-S", "-c", "import sys; print(*sys.modules)"]
    before = set(rig.run(words=words).stdout.decode().split())
    body, _, _ = rig.script.read_text().rpartition("leave(0)")
    rig.script.write_text(f"{body}print(*sys.modules, file=sys.stderr)\n")  # in place of its last act
    if lives:
        with rig.daemon(says(answer(DAEMON_TEXT))):
            done = rig.run("claude", "SessionStart")
    else:
        done = rig.run("claude", "SessionStart")
    assert done.stdout == (DAEMON_TEXT if lives else FILE_TEXT)
    assert set(done.stderr.decode().split()) - before <= {
        "_socket",
        "errno",
        "_signal",
        "posix",
        "sys",
        "time",
    }


def test_the_installed_script_is_the_packages_own(tmp_path: Path) -> None:
    import coffer.hook  # noqa: PLC0415

    write_hook(Home(tmp_path), PYTHON)
    assert (tmp_path / "bin" / "hook.py").read_bytes() == Path(coffer.hook.__file__).read_bytes()


def test_a_session_that_went_elsewhere_gets_its_own_projects_rules(rig: Rig) -> None:
    rig.publish()
    link, elsewhere = rig.project.with_name("link"), rig.project.with_name("elsewhere")
    link.symlink_to(rig.project)
    elsewhere.mkdir()
    for began in (rig.project, link):
        done = rig.run("claude", "SessionStart", cwd=elsewhere, extra={"CLAUDE_PROJECT_DIR": str(began)})
        assert done.stdout == FILE_TEXT
    (entry,) = {asked.environment for asked in take_spool(rig.home)[:1]}
    assert entry == (("CLAUDE_PROJECT_DIR", str(rig.project)),), "and the daemon is told so"
    gone = {"CLAUDE_PROJECT_DIR": str(rig.project / "gone")}
    assert rig.run("claude", "SessionStart", cwd=elsewhere, extra=gone).stdout == b""
    assert rig.run("claude", "SessionStart", extra=gone).stdout == FILE_TEXT
    assert (
        rig.run("codex", "SessionStart", cwd=elsewhere, extra={"CLAUDE_PROJECT_DIR": str(link)}).stdout == b""
    )


def test_a_spool_that_nobody_takes_in_ends_somewhere(rig: Rig) -> None:
    rig.publish()
    spool, now = rig.home.root / "spool", time.time_ns()
    spool.mkdir()
    old = now - hook.SPOOLED_LAST - 10**9
    names = [f"{old + number}-1" for number in range(5)]
    names += [f"{now - 10**12 + number}-1" for number in range(hook.MOST_SPOOLED + 3)]
    for name in [*names, "damaged"]:
        (spool / name).touch()
    assert rig.run("claude", "SessionStart").stdout == FILE_TEXT
    left = sorted(path.name for path in spool.iterdir() if path.name != "damaged")
    assert len(left) == hook.MOST_SPOOLED == doctor_home.MOST_SPOOLED
    assert left[:-1] == names[-hook.MOST_SPOOLED + 1 :]
    assert int(left[-1].partition("-")[0]) > now, "the newest is there"
