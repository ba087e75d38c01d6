"""Settings files on disk: links, modes, other writers, receipts, and a death at any step."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coffer.disk import config_file
from coffer.disk.agent_errors import ConfigBroken, PathUnusable
from coffer.disk.places import Places
from coffer.errors import ChangedSince, FileMoved, WriteFailed
from coffer.store.db import database, receipts
from coffer.store.home import Home
from coffer.work.agent_settings.config_write import INSTALLED, UNINSTALLED, bring_back
from coffer.work.agent_settings.hook_status import status
from coffer.work.agent_settings.install import (
    hook_path,
    install,
    plan,
    plan_removal,
    settings_path,
    uninstall,
)
from coffer.work.pruning.gc import collect
from tests.install.files import BROKEN, CLAUDE_ONLY, SOUND

SETTINGS = '{\n  "model": "opus",\n  "env": {"KEY": "s3cret"}\n}\n'
VERSION = (2, 1, 197)


@dataclass
class Desk:
    """A person's folders."""

    root: Path
    home: Home
    places: Places

    def file(self, agent: str = "claude") -> Path:
        return settings_path(agent, self.places)

    def put(self, text: str, agent: str = "claude") -> Path:
        path = self.file(agent)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def install(self, agent: str = "claude", home: Home | None = None) -> Any:
        return install(plan(agent, self.places, home or self.home, VERSION), home or self.home)

    def uninstall(self, agent: str = "claude") -> Any:
        return uninstall(plan_removal(agent, self.places, self.home), self.home)

    def kinds(self) -> list[tuple[str, str]]:
        with database(self.home) as connection:
            return [(one.kind, one.status) for one in receipts(connection)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    root = tmp_path / "With Space and 'quotes'"
    root.mkdir()
    return Desk(root, Home(root / ".coffer"), Places(root / ".claude", root / ".codex"))


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_every_file_comes_back(desk: Desk, agent: str) -> None:
    for name, text in (SOUND | (CLAUDE_ONLY if agent == "claude" else {})).items():
        path = desk.put(text, agent)
        done = desk.install(agent)
        assert done.kind == INSTALLED
        assert path.read_bytes() != text.encode(), name
        assert desk.install(agent) is None, "twice is once"
        now = status(agent, desk.places, desk.home, VERSION)
        assert (now.installed, now.current, now.problems) == (True, True, ())
        desk.uninstall(agent)
        assert path.read_bytes() == text.encode(), name
        assert desk.uninstall(agent) is None


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_missing_folder_is_made_and_goes_again(desk: Desk, agent: str) -> None:
    desk.install(agent)
    assert json.loads(desk.file(agent).read_bytes())["hooks"]
    assert stat.S_IMODE(desk.file(agent).stat().st_mode) == 0o600
    desk.uninstall(agent)
    assert not desk.file(agent).parent.exists()


def test_a_folder_in_which_something_came_stays(desk: Desk) -> None:
    desk.install()
    (desk.file().parent / "projects").mkdir()
    desk.uninstall()
    assert [one.name for one in desk.file().parent.iterdir()] == ["projects"]


def test_the_stub_is_there_before_the_entry(desk: Desk) -> None:
    desk.put(SETTINGS)
    desk.install()
    stub = hook_path(desk.home)
    assert os.access(stub, os.X_OK)
    command = json.loads(desk.file().read_bytes())["hooks"]["Stop"][0]["hooks"][0]
    assert command["command"] == str(stub)
    stub.unlink()
    assert any("not there" in said for said in status("claude", desk.places, desk.home, VERSION).problems)
    assert desk.install() is None
    assert os.access(stub, os.X_OK), "repaired though the settings were as they should be"


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_what_is_broken_stays(desk: Desk, name: str, agent: str) -> None:
    path = desk.put(BROKEN[name][0], agent)
    before = path.stat()
    proposal = plan(agent, desk.places, desk.home, VERSION)
    assert json.loads(proposal.snippet)["hooks"]
    for act in (desk.install, desk.uninstall):
        with pytest.raises(ConfigBroken, match=rf"line {BROKEN[name][1]}"):
            act(agent)
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert str(path) in status(agent, desk.places, desk.home).problems[0]


@pytest.mark.parametrize("data", [b"\xff\xfe{\x00}\x00", b'{"x": "\xe9"}', b"{}\n\x00"])
def test_other_encodings_stay(desk: Desk, data: bytes) -> None:
    path = desk.put("")
    path.write_bytes(data)
    with pytest.raises(ConfigBroken):
        desk.install()
    assert path.read_bytes() == data


def test_a_folder_or_a_pipe_is_refused(desk: Desk) -> None:
    desk.file().mkdir(parents=True)
    with pytest.raises(ConfigBroken):
        desk.install()
    desk.file().rmdir()
    os.mkfifo(desk.file())
    with pytest.raises(ConfigBroken):
        desk.install()


def test_two_links_stay_links_and_the_middle_may_be_read_only(desk: Desk) -> None:
    dotfiles, middle = desk.root / "dotfiles", desk.root / "middle"
    for folder in (dotfiles, middle, desk.file().parent):
        folder.mkdir()
    real = dotfiles / "claude.json"
    real.write_text(SETTINGS)
    real.chmod(0o640)
    (middle / "settings.json").symlink_to("../dotfiles/claude.json")
    desk.file().symlink_to(middle / "settings.json")
    middle.chmod(0o555)
    desk.install()
    assert desk.file().is_symlink()
    assert (middle / "settings.json").is_symlink()
    assert "coffer-hook" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert [one.name for one in dotfiles.iterdir()] == ["claude.json"], "no backup among the dotfiles"
    bak = desk.file().with_name("settings.json.bak")
    assert bak.read_text() == SETTINGS
    assert stat.S_IMODE(bak.stat().st_mode) == 0o600
    desk.uninstall()
    assert real.read_text() == SETTINGS
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    middle.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_owner_stays(desk: Desk) -> None:
    path = desk.put(SETTINGS)
    os.chown(path, 12345, 12346)
    path.chmod(0o664)
    for act in (desk.install, desk.uninstall):
        act()
        found = path.stat()
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 12346, 0o664)


ACCESS = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHi", kind, rights, who)
    for kind, rights, who in ((1, 6, -1), (2, 6, 12345), (4, 0, -1), (16, 6, -1), (32, 0, -1))
)
"""A POSIX access list: the owner and user 12345 read and write; the group and others nothing."""


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="extended attributes are Linux's")
def test_the_access_list_stays(desk: Desk) -> None:
    """Its mask stands where the group's rights would: without the list, the mode would open the file to the group."""
    path, name = desk.put(SETTINGS), "system.posix_acl_access"
    plain = desk.put("{}\n", "codex")
    try:
        os.setxattr(path, name, ACCESS)
        os.setxattr(path, "user.note", b"mine")
        os.setxattr(plain.parent, "system.posix_acl_default", ACCESS)
    except OSError:
        pytest.skip("this file system has no access lists")
    before = {key: os.getxattr(path, key) for key in os.listxattr(path)}
    for agent in ("claude", "codex"):
        desk.install(agent)
    assert {key: os.getxattr(path, key) for key in os.listxattr(path)} == before
    assert os.listxattr(plain) == []
    desk.uninstall()
    assert {key: os.getxattr(path, key) for key in os.listxattr(path)} == before


def test_a_file_system_without_second_names(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    desk.install()
    assert desk.file().exists()
    desk.uninstall()
    assert not desk.file().exists()


def test_status_says_when_codex_drops_the_file(desk: Desk) -> None:
    desk.install("codex")
    path = desk.file("codex")
    path.write_text(path.read_text().replace("{", '{"mine": 1, ', 1))
    found = status("codex", desk.places, desk.home)
    assert found.installed
    assert "drops the whole file" in found.problems[0]
    desk.uninstall("codex")
    assert json.loads(path.read_text()) == {"mine": 1}


def test_a_link_to_nothing_is_filled(desk: Desk) -> None:
    (desk.root / "dotfiles").mkdir()
    desk.file().parent.mkdir()
    desk.file().symlink_to(desk.root / "dotfiles" / "new.json")
    desk.install()
    assert "coffer-hook" in (desk.root / "dotfiles" / "new.json").read_text()
    desk.uninstall()
    assert desk.file().is_symlink()
    assert not desk.file().exists()


def test_a_read_only_file_is_not_written(desk: Desk) -> None:
    path = desk.put(SETTINGS)
    path.chmod(0o444)
    with pytest.raises(WriteFailed, match="read-only"):
        desk.install()
    assert path.read_text() == SETTINGS
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    path.chmod(0o644)
    desk.install()
    path.chmod(0o444)
    assert desk.install() is None, "where nothing is to be written that is no fault"
    with pytest.raises(WriteFailed, match="read-only"):
        desk.uninstall()


def test_somebody_elses_backup_stays(desk: Desk) -> None:
    path = desk.put(SETTINGS)
    theirs = path.with_name("settings.json.bak")
    theirs.write_text("precious")
    desk.install()
    assert theirs.read_text() == "precious"
    assert path.with_name("settings.json.coffer.bak").read_text() == SETTINGS


def test_what_was_written_since_the_plan_stays(desk: Desk) -> None:
    path = desk.put(SETTINGS)
    proposal = plan("claude", desk.places, desk.home, VERSION)
    path.write_text(SETTINGS.replace("opus", "haiku"))
    with pytest.raises(FileMoved):
        install(proposal, desk.home)
    assert path.read_text() == SETTINGS.replace("opus", "haiku")
    path.unlink()
    proposal = plan("claude", desk.places, desk.home, VERSION)
    path.write_text("{}")
    with pytest.raises(FileMoved):
        install(proposal, desk.home)
    assert path.read_text() == "{}"


def test_the_same_size_and_time_do_not_deceive(desk: Desk) -> None:
    path = desk.put(SETTINGS)
    proposal = plan("claude", desk.places, desk.home, VERSION)
    times = path.stat()
    with path.open("r+") as file:
        file.write(SETTINGS.replace("opus", "mine"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(FileMoved):
        install(proposal, desk.home)


def test_a_writer_in_the_last_moment_wins(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk.put(SETTINGS)
    keep = config_file.keep_beside

    def interfered(config: config_file.Config, name: str) -> Path:
        other = path.with_name("other")
        other.write_text("{}")
        other.replace(path)
        return keep(config, name)

    monkeypatch.setattr(config_file, "keep_beside", interfered)
    with pytest.raises(FileMoved):
        desk.install()
    assert path.read_text() == "{}"
    assert desk.kinds() == [(INSTALLED, "failed")]
    assert not [one for one in path.parent.iterdir() if ".coffer-" in one.name]


def test_a_full_disk_leaves_the_old_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk.put(SETTINGS)
    real = os.replace

    def refuse(source: Any, target: Any) -> None:
        if Path(target) == path:
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(WriteFailed, match="disk is full"):
        desk.install()
    assert path.read_text() == SETTINGS
    assert desk.kinds() == [(INSTALLED, "failed")]


def test_foreign_edits_in_between_stay(desk: Desk) -> None:
    path = desk.put(SETTINGS)
    desk.install()
    value = json.loads(path.read_text())
    value["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "theirs"}]})
    value["model"] = "haiku"
    path.write_text(json.dumps(value, indent=4) + "\n\n")
    assert status("claude", desk.places, desk.home, VERSION).current
    desk.uninstall()
    expected = {"model": "haiku", "env": {"KEY": "s3cret"}, "hooks": {"Stop": value["hooks"]["Stop"][:1]}}
    assert path.read_text() == json.dumps(expected, indent=4) + "\n\n"


def test_another_home_takes_over(desk: Desk) -> None:
    """Two installations, as of two virtual environments: one entry, and the first text at the end."""
    path = desk.put(SETTINGS)
    desk.install()
    moved = Home(desk.root / "elsewhere")
    seen = status("claude", desk.places, moved, VERSION)
    assert (seen.copies, seen.stale, seen.current) == (7, 7, False)
    desk.install(home=moved)
    assert path.read_text().count("coffer-hook") == 7
    assert str(moved.root) in path.read_text()
    desk.uninstall()
    assert path.read_text().replace('  "hooks": {}', "").count("coffer") == 0


def test_an_upgrade_and_a_collection_do_not_forget_what_was_added(desk: Desk) -> None:
    path = desk.put(SETTINGS)
    install(plan("claude", desk.places, desk.home, (2, 0, 50)), desk.home)
    assert desk.install() is not None, "a newer client knows more events"
    collect(desk.home, 30, datetime.now(UTC) + timedelta(days=40), dry_run=False)
    assert {state for _, state in desk.kinds()} == {"collected"}
    desk.uninstall()
    assert path.read_text() == SETTINGS


def test_receipts_of_the_audit(desk: Desk) -> None:
    path = desk.put(SETTINGS)
    done = desk.install()
    assert (done.agent, done.path, done.status) == ("claude", str(path), "done")
    assert done.data["digest_before"] == hashlib.sha256(SETTINGS.encode()).hexdigest()
    assert Path(done.data["backup"]).read_text() == SETTINGS
    assert stat.S_IMODE(Path(done.data["backup"]).stat().st_mode) == 0o600
    desk.uninstall()
    assert desk.kinds() == [(UNINSTALLED, "done"), (INSTALLED, "undone")]


@pytest.mark.parametrize("text", [SETTINGS, None])
def test_bring_back(desk: Desk, text: str | None) -> None:
    if text is not None:
        desk.put(text)
    path = desk.file()

    def now() -> bytes | None:
        return path.read_bytes() if path.exists() else None

    before = now()
    first = desk.install()
    installed = now()
    bring_back(first, desk.home)
    assert now() == before
    desk.install()
    out = desk.uninstall()
    assert now() == before
    bring_back(out, desk.home)
    assert now() == installed
    desk.uninstall()
    assert now() == before, "the install that was closed is open again"
    again = desk.install()
    path.write_text("{}")
    with pytest.raises(ChangedSince):
        bring_back(again, desk.home)
    assert path.read_text() == "{}"


def test_a_path_that_is_no_text_is_refused(desk: Desk) -> None:
    desk.put(SETTINGS)
    home = Home(desk.root / os.fsdecode(b"caf\xe9"))
    with pytest.raises(PathUnusable):
        install(plan("claude", desk.places, home, VERSION), home)
    assert desk.file().read_text() == SETTINGS


def test_hooks_that_are_off_are_named(desk: Desk) -> None:
    desk.put('{"disableAllHooks": true}')
    assert "disableAllHooks" in plan("claude", desk.places, desk.home, VERSION).notes[0]
    desk.install()
    assert "disableAllHooks" in status("claude", desk.places, desk.home, VERSION).problems[0]


CRASH = Path(__file__).with_name("crash.py")


@pytest.mark.parametrize("step", ["install", "uninstall", "create", "remove"])
def test_a_death_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path: Path, step: str) -> None:
    memory = Path("/dev/shm")  # noqa: S108  (a process dies here, and no power fails: no disk need be waited for)
    folder = memory if os.access(memory, os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(dir=folder) as made:
        done = subprocess.run(
            [sys.executable, str(CRASH), made, step],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout)
    assert said["deaths"] > 20
    assert said["old"] > 0
    assert said["new"] > 0
    assert said["wrong"] == []
