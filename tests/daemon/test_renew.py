"""A daemon gives way to what is installed by now, without a moment in which there are two."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from coffer.daemon import life
from coffer.work.agent_settings.hook_files import DAEMON_ARGUMENTS, DAEMON_COMMAND
from tests.daemon.rig import Rig, eventually


def install(folder: Path, version: str) -> None:
    """Say that this version is installed, as an installer does: the new one is there, then the old one goes."""
    folder.mkdir(exist_ok=True)
    beside = folder / "unpacked"
    beside.mkdir()
    (beside / "METADATA").write_text(f"Metadata-Version: 2.1\nName: coffer-agent\nVersion: {version}\n")
    old = list(folder.glob("*.dist-info"))
    beside.rename(folder / f"coffer_agent-{version}.dist-info")
    for each in old:
        (each / "METADATA").unlink()
        each.rmdir()


def of_version(rig: Rig, version: str) -> life.Known:
    """What the daemon says of itself once it is of this version and answers."""

    def said() -> life.Known | None:
        known = life.running(rig.home)
        return known if known is not None and known.version == version and rig.process() else None

    known = eventually(said)
    assert isinstance(known, life.Known)
    return known


def test_it_becomes_the_version_that_was_installed(tmp_path: Path, rig: Rig) -> None:
    place = tmp_path / "installed"
    install(place, "1.0")
    rig.extra["PYTHONPATH"] = str(place)
    with rig.daemon() as process:
        session = rig.session("one", rig.project())
        assert of_version(rig, "1.0").pid == process.pid
        install(place, "2.0")
        session.start()  # whoever meets it first
        session.says("fix the parser")
        assert of_version(rig, "2.0").pid == process.pid
        assert [one.pid for one in rig.daemons()] == [process.pid]
        session.hook("Stop")
        eventually(lambda: [one for one in rig.status()["sessions"] if one["session"] == "one"])
        assert "gives way: version 2.0 is installed" in rig.log()


def test_it_becomes_what_hooks_would_start_by_now(rig: Rig) -> None:
    names = ("python", "python3")
    other = Path(sys.executable).with_name(next(one for one in names if one != Path(sys.executable).name))
    path = rig.home.root / "bin" / DAEMON_COMMAND
    with rig.daemon() as process:
        path.write_bytes(b"\0".join(word.encode() for word in ("/no/such/python3", *DAEMON_ARGUMENTS)))
        rig.status()
        # what can't be started is not: it becomes itself
        eventually(lambda: rig.log().count("begins, process") == 2 and rig.process())
        assert "hooks start another one" in rig.log()
        path.write_bytes(b"\0".join(os.fsencode(word) for word in (str(other), *DAEMON_ARGUMENTS)))
        rig.status()

        def python() -> bool:
            known = life.running(rig.home)
            return known is not None and known.python == str(other)

        eventually(python)
        assert [one.pid for one in rig.daemons()] == [process.pid]
