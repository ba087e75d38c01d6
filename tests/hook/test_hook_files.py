"""The files that an installed hook runs: written whole, once, and compared to the byte."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from coffer.errors import WriteFailed
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import hook_is_current, stub_text, write_hook
from tests.hook.rig import LONG, PYTHON


@pytest.fixture
def coffer(tmp_path: Path) -> Home:
    return Home(tmp_path / ".coffer")


def state(home: Home) -> dict[str, tuple[bytes, int, int, int]]:
    found = {}
    for path in sorted((home.root / "bin").iterdir()):
        seen = path.lstat()
        found[path.name] = (path.read_bytes(), stat.S_IMODE(seen.st_mode), seen.st_ino, seen.st_mtime_ns)
    return found


def test_three_files_are_written_and_then_left_alone(coffer: Home) -> None:
    old = os.umask(0o077)
    try:
        written = write_hook(coffer, PYTHON)
    finally:
        os.umask(old)
    assert [path.name for path in written] == ["hook.py", "daemon-command", "coffer-hook"]
    before = state(coffer)
    modes = {name: mode for name, (_, mode, _, _) in before.items()}
    assert modes == {"coffer-hook": 0o755, "daemon-command": 0o600, "hook.py": 0o644}
    assert stat.S_IMODE(coffer.root.stat().st_mode) == 0o700
    assert hook_is_current(coffer, PYTHON) == []
    assert write_hook(coffer, PYTHON) == []
    assert state(coffer) == before


def test_the_stub_has_three_lines() -> None:
    text = stub_text(Path("/a b/it's/python"), Path("/h/$x/hook.py"))
    assert text.decode() == (
        "#!/bin/sh\n"
        "[ -f '/a b/it'\\''s/python' ] && [ -x '/a b/it'\\''s/python' ] && [ -r '/h/$x/hook.py' ] || exit 0\n"
        "exec '/a b/it'\\''s/python' -I -S '/h/$x/hook.py' \"$@\"\n"
    )


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh", "/bin/busybox"])
@pytest.mark.parametrize(
    "name", ["a b", "it's", "'", "''", "\\'", "$HOME", "$(id)", "`id`", 'a"b', "!x", "a\tb", "*", "~"]
)
def test_every_shell_reads_the_paths_as_they_are(tmp_path: Path, shell: str, name: str) -> None:
    if not Path(shell).exists():
        pytest.skip(f"there is no {shell} here")
    folder = tmp_path / name
    folder.mkdir()
    python, script, stub = folder / "python", folder / "hook.py", tmp_path / "stub"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$0" "$@"\n')
    python.chmod(0o755)
    script.touch()
    stub.write_bytes(stub_text(python, script))
    words = [shell, *(["sh"] if shell.endswith("busybox") else []), str(stub), "claude", "a  b"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LONG, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[:-1] == [str(python), "-I", "-S", str(script), "claude", "a  b"]


@pytest.mark.parametrize("bad", ["a\nb", "a\rb"])
def test_a_path_with_a_line_break_is_refused(tmp_path: Path, bad: str) -> None:
    with pytest.raises(WriteFailed, match="line break"):
        write_hook(Home(tmp_path / bad), PYTHON)
    with pytest.raises(WriteFailed, match="line break"):
        write_hook(Home(tmp_path / "home"), tmp_path / bad / "python")
    with pytest.raises(WriteFailed, match="not absolute"):
        write_hook(Home(tmp_path / "home"), Path("python3"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["coffer-hook", "hook.py", "daemon-command"])
def test_every_difference_is_found_and_mended(coffer: Home, tmp_path: Path, name: str) -> None:
    write_hook(coffer, PYTHON)
    path = coffer.root / "bin" / name
    right = path.read_bytes()
    elsewhere = tmp_path / "elsewhere"

    def damages() -> None:
        path.write_bytes(right + b"#")

    def vanishes() -> None:
        path.unlink()

    def loses_its_mode() -> None:
        path.chmod(0o444)

    def becomes_a_link() -> None:
        path.rename(elsewhere)
        path.symlink_to(elsewhere)

    for change in (damages, vanishes, loses_its_mode, becomes_a_link):
        change()
        (said,) = hook_is_current(coffer, PYTHON)
        assert said.startswith(str(path))
        assert write_hook(coffer, PYTHON) == [path]
        assert hook_is_current(coffer, PYTHON) == []
    assert elsewhere.read_bytes() == right


def test_another_interpreter_and_one_that_is_gone_are_found(coffer: Home, tmp_path: Path) -> None:
    assert len(hook_is_current(coffer, PYTHON)) == 3
    write_hook(coffer, PYTHON)
    other = tmp_path / "python"
    said = hook_is_current(coffer, other)
    assert [line.split(" ")[0].rstrip(",") for line in said] == [
        str(coffer.root / "bin" / "daemon-command"),
        str(coffer.root / "bin" / "coffer-hook"),
        str(other),
    ]
    other.write_text("")
    assert "can't be run" in hook_is_current(coffer, other)[-1]


def test_a_hook_that_runs_meanwhile_meets_the_old_or_the_new_stub(coffer: Home, tmp_path: Path) -> None:
    scripts = []
    for number in range(2):
        python = tmp_path / str(number) / "python"
        python.parent.mkdir()
        python.write_text(f"#!/bin/sh\necho {number}\n")
        python.chmod(0o755)
        scripts.append(python)
    write_hook(coffer, scripts[0])
    code = f"while :; do {shlex.quote(str(coffer.root / 'bin' / 'coffer-hook'))} x y || echo bad; done"
    with subprocess.Popen(["/bin/sh", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as loop:
        for turn in range(100):
            write_hook(coffer, scripts[turn % 2])
        loop.kill()
        out, _ = loop.communicate(timeout=LONG)
    assert set(out.split()) <= {b"0", b"1"}


def test_a_home_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(WriteFailed):
        write_hook(Home(tmp_path / "home"), PYTHON)
