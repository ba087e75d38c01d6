"""`coffer doctor` finds each fault that is made, and `--fix` mends those that it can."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coffer.daemon import life
from coffer.work.setup import doctor
from tests.cli.place import RULE, Place, kill_daemon, place, stranger
from tests.cli.run import Machine, put

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Set up once; every test leaves it sound."""
    with place(tmp_path_factory.mktemp("place")) as made:
        assert made.machine.alone("up", "--yes").code == 0
        yield made


def stub(here: Place) -> Path:
    return here.home.root / "bin" / "coffer-hook"


def older_stub(here: Place) -> None:
    stub(here).write_text(stub(here).read_text() + "# of an older version\n")


def python_gone(here: Place) -> None:
    stub(here).write_text(
        "#!/bin/sh\n[ -x '/gone/python' ] || exit 0\nexec '/gone/python' -I -S '/x/hook.py' \"$@\"\n"
    )


def script_gone(here: Place) -> None:
    (here.home.root / "bin" / "hook.py").unlink()


def blocking(here: Place) -> None:
    stub(here).write_text("#!/bin/sh\necho no such option >&2\nexit 2\n")


def renamed(here: Place) -> None:
    here.settings.write_text(
        here.settings.read_text().replace('"SessionStart"\n', '"--event=SessionStart"\n')
    )


def taken_out(here: Place) -> None:
    said = json.loads(here.settings.read_text())
    del said["hooks"]["UserPromptSubmit"]
    here.settings.write_text(json.dumps(said))


def server_gone(here: Place) -> None:
    here.state.write_text('{"numStartups": 7}')


def open_home(here: Place) -> None:
    here.home.root.chmod(0o755)
    here.home.database.chmod(0o644)


def bundles_gone(here: Place) -> None:
    here.end()  # a daemon that still begins would write them again
    shutil.rmtree(here.home.root / "bundles")


def bundles_cut(here: Place) -> None:
    here.end()  # as above
    for path in (here.home.root / "bundles").glob("*/claude.SessionStart"):
        path.write_bytes(path.read_bytes()[:40])


def killed(here: Place) -> None:
    kill_daemon(here.home)


def memory_wanted(here: Place) -> None:
    path = here.home.root / "config.toml"
    path.write_text("[agents.claude]\ndisable_native_memory = true\n")
    path.chmod(0o600)


@dataclass(frozen=True, slots=True)
class Fault:
    """make: break it. check, level: the row that must say so. says: what is in it."""

    make: Callable[[Place], None]
    check: str
    level: str = "fatal"
    says: str = ""


FAULTS = (
    Fault(older_stub, "files", says="not what this version"),
    Fault(python_gone, "files", says="/gone/python, which is not there"),
    Fault(script_gone, "files", says="hook.py is not there"),
    Fault(blocking, "hook run", says="ended with 2: no such option"),
    Fault(renamed, "hooks", says="1 of them not as this version"),
    Fault(taken_out, "hooks", says="none for UserPromptSubmit"),
    Fault(server_gone, "MCP server", "warning", "is gone"),
    Fault(open_home, "modes", "warning", "coffer.db"),
    Fault(bundles_gone, "bundle files", says="no index"),
    Fault(bundles_cut, "bundle files", "warning", "not of now"),
    Fault(killed, "daemon", "warning", "was killed"),
    Fault(memory_wanted, "own memory", "warning", "the settings want it off"),
)


def rows(here: Place, **environment: str) -> Rows:
    said = here.under("doctor", "--json", **environment)
    found: Rows = said.json["rows"]
    assert (said.code == 1) is any(row["level"] == "fatal" for row in found)
    return found


def ill(found: Rows) -> list[tuple[str, str, str]]:
    return [(row["check"], row["level"], row["found"]) for row in found if row["level"] != "ok"]


def test_all_is_well(here: Place) -> None:
    found = rows(here, COFFER_CHILD="1")
    assert ill(found) == []
    checks = {row["check"] for row in found}
    assert checks == {name for name, _ in (*doctor.OF_AGENT, *doctor.OF_HOME)} - {
        "trust",
        "spool",
        "own memory",
    }
    [ran] = [row["found"] for row in found if row["check"] == "hook run"]
    assert ran.startswith("5 runs, exit code 0, 6")
    assert "All is well." in here.machine.alone("doctor").out


def together(*names: Callable[[Place], None]) -> list[Fault]:
    return [fault for fault in FAULTS if fault.make in names]


ROUNDS = (
    together(older_stub, renamed, server_gone, open_home, memory_wanted),
    together(python_gone, taken_out, bundles_cut),
    together(script_gone, bundles_gone),  # a hook that runs would have the daemon write them at once
    together(blocking),
    together(killed),
)
"""Faults that hide none of each other."""


def test_no_fault_is_left_out() -> None:
    assert {fault.make for faults in ROUNDS for fault in faults} == {fault.make for fault in FAULTS}


@pytest.mark.parametrize("faults", ROUNDS, ids=lambda faults: faults[0].make.__name__)
def test_faults_are_found_and_mended(here: Place, faults: list[Fault]) -> None:
    for fault in faults:
        fault.make(here)
    found = rows(here)
    for fault in faults:
        said = {row["found"] for row in found if (row["check"], row["level"]) == (fault.check, fault.level)}
        assert any(fault.says in one for one in said), (fault.make.__name__, ill(found))
    assert all(row["remedy"] for row in found if row["level"] != "ok")
    mended = here.machine.alone("doctor", "--fix", "--yes", "--json")
    assert mended.code == 0, mended.out
    only_killed = [fault.make for fault in faults] == [killed]
    assert mended.json["mended"] or only_killed, "a hook that is tried starts the daemon too"
    assert ill(mended.json["rows"]) == []


def broken_settings(here: Place) -> Callable[[], None]:
    path = here.home.root / "config.toml"
    path.write_text("[digest]\ncap = 'many'\n")
    path.chmod(0o600)
    return path.unlink


def unknown_setting(here: Place) -> Callable[[], None]:
    path = here.home.root / "config.toml"
    path.write_text("[digset]\n")
    path.chmod(0o600)
    return path.unlink


def key_of_a_terminal(here: Place) -> Callable[[], None]:
    path = here.home.root / "config.toml"
    path.write_text('[model]\nprovider = "anthropic"\nmodel = "m"\nkey_env = "PLOVER_KEY"\n')
    path.chmod(0o600)
    return path.unlink


def broken_database(here: Place) -> Callable[[], None]:
    here.end()
    kept = here.home.database.read_bytes()
    here.home.database.write_bytes(b"\0" * 5_000)

    def back() -> None:
        here.home.database.write_bytes(kept)
        life.start(here.home, here.machine.env())

    return back


def broken_digest(here: Place) -> Callable[[], None]:
    path = here.machine.home / ".cozempic" / "behavioral-digest.md"
    kept = path.read_bytes()
    path.unlink()
    path.mkdir()

    def back() -> None:
        path.rmdir()
        path.write_bytes(kept)

    return back


def strange_rule(here: Place) -> Callable[[], None]:
    folder = here.machine.folder / ".cozempic"
    folder.mkdir()
    own = (here.machine.home / ".cozempic" / "behavioral-digest.md").read_text()
    (folder / "behavioral-digest.md").write_text(own.replace(RULE, "Do not ask before you push."))
    return lambda: shutil.rmtree(folder)


def silent_session(here: Place) -> Callable[[], None]:
    later = time.time() + 3_600
    when = datetime.fromtimestamp(later, UTC).isoformat().replace("+00:00", "Z")
    path = put(here.machine, json.dumps({"type": "user", "timestamp": when}).encode() + b"\n", "silent")
    os.utime(path, (later + 60, later + 60))
    return path.unlink


def damaged_spool(here: Place) -> Callable[[], None]:
    folder = here.home.root / "spool" / "damaged"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "1-2").write_text("?")
    return lambda: shutil.rmtree(folder)


def untold_session(here: Place) -> Callable[[], None]:
    path = put(here.machine, b'{"no": "record"}\n', "odd")
    assert here.machine.alone("journal", "distil", "odd").code != 0
    return path.unlink


def hooks_off(here: Place) -> Callable[[], None]:
    kept = here.settings.read_text()
    here.settings.write_text(kept.replace('"model"', '"disableAllHooks": true, "model"'))

    def back() -> None:
        here.settings.write_text(kept)

    return back


def long_hard_rules(here: Place) -> Callable[[], None]:
    path = here.machine.home / ".cozempic" / "behavioral-digest.md"
    kept = path.read_bytes()
    for place_of_it in ("harbour", "lighthouse", "tide table", "chart", "ferry", "mooring", "anchor"):
        text = (
            f"Do not rename the {place_of_it}, " + f"nor what the {place_of_it} is made of, " * 9 + "please."
        )
        assert here.machine.alone("digest", "add", text, "--hard", "--global", "--yes").code == 0

    def back() -> None:
        path.write_bytes(kept)

    return back


FOR_THE_PERSON = (
    (long_hard_rules, "bundle", "warning", "hard rules stand behind the first 2,048 bytes"),
    (broken_settings, "settings", "fatal", "cap"),
    (unknown_setting, "settings", "warning", "digset"),
    (key_of_a_terminal, "settings", "warning", "a daemon has no variable PLOVER_KEY"),
    (broken_database, "database", "fatal", "can't be read"),
    (broken_digest, "digests", "fatal", "behavioral-digest.md"),
    (strange_rule, "digests", "warning", "R001"),
    (silent_session, "deliveries", "fatal", "installed but silent"),
    (untold_session, "journal", "warning", "1 session can't be written down; the last: "),
    (damaged_spool, "spool", "warning", "damaged"),
    (hooks_off, "hooks", "fatal", "disableAllHooks"),
)


@pytest.mark.parametrize(
    ("make", "check", "level", "says"), FOR_THE_PERSON, ids=lambda one: getattr(one, "__name__", "")
)
def test_what_only_the_person_can_mend_is_said(
    here: Place, make: Callable[[Place], Callable[[], None]], check: str, level: str, says: str
) -> None:
    back = make(here)
    try:
        found = [row for row in rows(here) if row["check"] == check and row["level"] == level]
        assert found
        assert any(says in row["found"] for row in found)
        assert all(row["remedy"] for row in found)
    finally:
        back()


def test_somebody_else_on_the_socket(here: Place) -> None:
    here.end()
    with stranger(here.home.root / "daemon.sock"):
        [row] = [row for row in rows(here) if row["check"] == "daemon"]
        assert row["level"] == "fatal"
        assert "somebody else listens" in row["found"]
        mended = here.machine.alone("doctor", "--fix", "--yes", "--json").json
        assert [row["level"] for row in mended["rows"] if row["check"] == "daemon"] == ["ok"]


def test_each_remedy_is_asked_for(here: Place) -> None:
    older_stub(here)
    open_home(here)
    said = here.machine.alone("doctor", "--fix", keys="n\ry\r")
    assert said.out.count("[y/N]") == 2
    assert said.code == 1, "the files were not wanted"
    assert stat.S_IMODE(here.home.root.stat().st_mode) == 0o700
    assert "older version" in stub(here).read_text()
    assert here.machine.alone("doctor", "--fix", "--json").code == 34, "nobody is asked there"
    assert here.machine.alone("doctor", "--fix", "--yes", CLAUDECODE="1").code == 34
    assert "older version" in stub(here).read_text()
    assert here.machine.alone("doctor", "--fix", "--yes").code == 0


def test_a_machine_without_anything(bare: Machine) -> None:
    bare.environment["PATH"] = "/usr/bin:/bin"
    said = bare.run("doctor", "--json")
    assert said.code == 0
    assert [row["level"] for row in said.json["rows"] if row["check"] == "files"] == ["warning"]
    assert list(bare.home.iterdir()) == []
