"""What a session is given by a hook without the daemon, behind a command that changed rules."""

from __future__ import annotations

import sys
from pathlib import Path

from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import write_hook
from coffer.work.delivery.rehearse import Call, both_forms, rehearse
from coffer.work.setup.setup import Ground, first_bundle
from tests.cli.run import Machine

FIRST, SECOND = "Do not count the tides at night.", "Do not rename the table moorings."


def given(machine: Machine) -> set[str]:
    """The rules that a hook gives, with no daemon there and none to be started."""
    home = Home(machine.home / ".coffer")
    (home.root / "bin" / "daemon-command").unlink(missing_ok=True)
    exec_form, _ = both_forms("claude", home)
    said = rehearse("claude", exec_form, machine.folder, machine.env()).context
    return {rule for rule in (FIRST, SECOND) if rule in said}


def test_a_session_without_the_daemon_is_given_what_was_ordered_a_moment_ago(bare: Machine) -> None:
    home, environment = Home(bare.home / ".coffer"), bare.env()
    bare.alone("digest", "add", FIRST, "--global", "--yes")
    assert not (home.root / "bundles").exists(), "it is not set up here"
    write_hook(home, Path(sys.executable))
    first_bundle(Ground(environment, Places.of(environment), home), bare.folder)
    assert given(bare) == {FIRST}
    said = bare.alone("digest", "add", SECOND, "--global", "--yes", "--json").json
    assert given(bare) == {FIRST, SECOND}
    bare.alone("undo", said["receipt"])
    assert given(bare) == {FIRST}
    index = home.root / "bundles" / "index"
    before = index.stat().st_mtime_ns
    bare.alone("digest", "show")
    assert index.stat().st_mtime_ns == before


def test_a_rehearsal_is_of_no_session_that_runs_it(tmp_path: Path) -> None:
    shown = Call("sh -c", ("/bin/sh", "-c", 'echo "$COFFER_CHILD$CLAUDE_PROJECT_DIR$KEPT" >&2'))
    given_to_it = {"COFFER_CHILD": "1", "CLAUDE_PROJECT_DIR": "/elsewhere", "KEPT": "kept"}
    assert rehearse("claude", shown, tmp_path, given_to_it).problem == "it says: kept"
