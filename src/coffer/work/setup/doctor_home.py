"""The doctor's checks of Coffer's own folder, its daemon, and what a session would be sent."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from coffer.agents.hook_table import HOOK_AGENTS, envelope
from coffer.core.bundle_files import file_name
from coffer.core.effective import key
from coffer.errors import SettingsBroken, StoreFailed
from coffer.store import distilled
from coffer.store.db import database
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import is_silent
from coffer.work.agent_settings.install import hook_path
from coffer.work.delivery.bundle_files import bundles, published
from coffer.work.delivery.bundles import FROM_FILES, NO_PROJECT, bundle_for
from coffer.work.memory import by_meaning
from coffer.work.rules.effective import look
from coffer.work.settings import keyless, load
from coffer.work.setup.doctor_row import Level, Patient, Row
from coffer.work.setup.setup import files_wanting

LEAST_FREE, SCARCE = 20_000_000, 200_000_000
"""Bytes of a disk below which nothing can be kept, and below which it soon can't."""
MOST_SPOOLED = 1000
"""As in hook.py, which nothing of ours imports."""
OLD_SPOOL = 60.0
"""Seconds after which a daemon that runs has taken in what hooks answered without it."""
_OTHERS = 0o077
_MOST_NAMED = 3


def _set_up(patient: Patient) -> bool:
    return any(patient.status(agent).installed for agent in HOOK_AGENTS)


def files(patient: Patient) -> Iterator[Row]:
    """The stub, the scripts behind it, and the interpreter that they name."""
    home = patient.ground.home
    if (is_silent(home) or not hook_path(home).exists()) and not _set_up(patient):
        yield Row("files", f"none in {home.root / 'bin'}", "warning", "`coffer up` writes them.", fix="files")
        return
    python = _interpreter(home)
    if python is not None and not os.access(python, os.X_OK):
        found = f"the hook runs {python}, which is not there: every hook is silent"
        yield Row("files", found, "fatal", "`coffer doctor --fix` writes them for this Python.", fix="files")
        return
    wanting = files_wanting(home)
    for said in wanting:
        yield Row("files", said, "fatal", "`coffer up` writes them anew.", fix="files")
    if not wanting:
        yield Row("files", f"as this version writes them; they run {sys.executable}")


def _interpreter(home: Home) -> Path | None:
    """The Python that the stub runs; None where it names none."""
    try:
        last = hook_path(home).read_text("utf-8", "surrogateescape").splitlines()[-1]
        words = shlex.split(last)
    except (OSError, ValueError, IndexError):
        return None
    return Path(words[1]) if len(words) > 1 and words[0] == "exec" else None


def daemon(patient: Patient) -> Iterator[Row]:
    """The daemon: running, of this version, answering on its socket."""
    said = patient.daemon
    state, start = said["state"], "`coffer daemon start` does, and the next hook too."
    if state == "running" and said.get("outdated"):
        found = f"process {said['pid']} is not what this Coffer would start: {said['outdated']}"
        yield Row("daemon", found, "warning", "`coffer daemon start` renews it.", fix="daemon")
    elif state == "running":
        yield Row("daemon", f"runs, process {said['pid']}, version {patient.version}")
        if said.get("problem"):
            found = str(said["problem"])
            yield Row("daemon", found, "warning", "Mend what this says; `coffer daemon logs` tells more.")
    elif state == "stopped":
        found = f"does not run. {said.get('problem', '')}".rstrip()
        yield Row("daemon", found, "warning" if _set_up(patient) else "ok", start, fix="daemon")
    else:
        what = {
            "silent": f"process {said.get('pid')} does not answer",
            "foreign": "somebody else listens there",
        }
        found = f"{what.get(state, state)}. {said.get('problem', '')}".rstrip()
        yield Row("daemon", found, "fatal", "`coffer daemon stop` and `start` renew it.", fix="daemon")


def spool(patient: Patient) -> Iterator[Row]:
    """What hooks answered without the daemon and nobody took in."""
    folder = patient.ground.home.root / "spool"
    try:
        names = [path for path in folder.iterdir() if not path.name.startswith(".")]
        damaged = len(list((folder / "damaged").iterdir())) if (folder / "damaged").is_dir() else 0
    except FileNotFoundError:
        return
    waiting = [path for path in names if path.name != "damaged"]
    old = [path for path in waiting if _age(path) > OLD_SPOOL]
    if old and patient.daemon["state"] == "running":
        found = f"{len(old)} answers that the daemon does not take in"
        yield Row(
            "spool", found, "warning", "`coffer daemon stop` and `start`; then see its log.", fix="daemon"
        )
    elif len(waiting) >= MOST_SPOOLED:
        found = (
            f"{len(waiting)} answers wait for the daemon; of more the oldest are let go, with their receipts"
        )
        yield Row("spool", found, "warning", "`coffer daemon start` takes them in, or says why it can't.")
    elif waiting:
        yield Row("spool", f"{len(waiting)} answers wait for the daemon")
    if damaged:
        remedy = f"They can be deleted: {folder / 'damaged'}"
        yield Row("spool", f"{damaged} damaged answers were set aside", "warning", remedy)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0  # taken in meanwhile


def size(patient: Patient) -> Iterator[Row]:
    """The text that a session in this folder is sent, against both limits."""
    made = bundle_for(patient.folder, patient.ground.home, patient.ground.environment)
    limits = made.limits
    room = f"{made.bytes:,} of {limits.bytes:,} bytes, {made.units:,} of {limits.units:,} units"
    found = (
        f"{len(made.persons)} rules of yours, {len(made.lines) - len(made.persons)} of Coffer's own, {room}"
    )
    if made.late:
        late = f"{found}; {made.late} hard rules stand behind the first {limits.preview:,} bytes"
        remedy = "Make hard rules shorter or fewer: a client that cuts a text shows no more of it."
        yield Row("bundle", late, "warning", remedy)
    elif made.waiting:
        remedy = "`coffer bundle` names them. Fewer or shorter rules make room."
        yield Row("bundle", f"{found}; {len(made.waiting)} rules have no room", "warning", remedy)
    else:
        yield Row("bundle", found)


def bundle_files(patient: Patient) -> Iterator[Row]:
    """The files by which hooks answer without the daemon: there, and of now."""
    if not _set_up(patient):
        return
    home = patient.ground.home
    rows = published(home)
    if not any(row.root == NO_PROJECT for row in rows):
        found = "no index: without the daemon no session gets a rule"
        yield Row("bundle files", found, "fatal", "`coffer up` writes them.", fix="bundles")
        return
    stale = [row.root for row in rows if not _is_of_now(row.key, Path(row.root), patient)]
    if stale:
        named = ", ".join(stale[:_MOST_NAMED])
        found = f"{len(stale)} of {len(rows)} are not of now: {named}"
        yield Row(
            "bundle files", found, "warning", "The daemon writes them; so does `coffer up`.", fix="bundles"
        )
    else:
        yield Row("bundle files", f"{len(rows)} folders, all of now")


def _is_of_now(name: str, root: Path, patient: Patient) -> bool:
    home = patient.ground.home
    made = bundle_for(root, home, patient.ground.environment)
    folder = bundles(home) / name
    try:
        return all(
            (folder / file_name(agent, event)).read_bytes() == envelope(agent, event, made.text)
            for agent in HOOK_AGENTS
            for event in FROM_FILES
        )
    except OSError:
        return False


def digests(patient: Patient) -> Iterator[Row]:
    """The digests that count here: readable, and which of their rules nobody trusted."""
    looked = look(patient.folder, patient.ground.home, patient.ground.environment)
    for file in looked.files:
        if file.problem:
            yield Row("digests", file.problem, "fatal", "Mend that line; `coffer digest check` shows all.")
        elif file.digest is not None and file.untrusted:
            trusted = file.trusted
            ids = [
                rule.id
                for rule in file.digest.rules.all
                if rule.state == "active" and key(rule.text) not in trusted
            ]
            found = f"{file.path}: not delivered, since nobody trusted them: {', '.join(ids)}"
            yield Row("digests", found, "warning", "`coffer trust` shows them and asks you.")
        elif file.digest is not None:
            yield Row("digests", f"{file.path}: readable, all its active rules are trusted")


def settings(patient: Patient) -> Iterator[Row]:
    """config.toml."""
    try:
        found = load(patient.ground.home)
    except SettingsBroken as error:
        yield Row("settings", str(error), "fatal", "Mend it, or move it away.")
        return
    for said in found.warnings:
        yield Row("settings", said, "warning", "Take it out, or write it as docs/formats.md does.")
    said = keyless(found, patient.ground.environment)
    if said:
        yield Row("settings", said, "warning", "`model.key_file` names a file that the daemon can read.")
    if found.recall.embeddings and not by_meaning.installed():
        yield Row("settings", str(by_meaning.missing()), "warning", "Install it, or take the setting out.")
    if not found.warnings:
        yield Row("settings", "config.toml is sound, or there is none")


def database_file(patient: Patient) -> Iterator[Row]:
    """The database, read without a change."""
    path = patient.ground.home.database
    if not path.exists():
        yield Row("database", "none yet")
        return
    remedy = f"Move {path} away: receipts and evidence are lost, rules are not, they stand in the digests."
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", timeout=5, uri=True)
        try:
            said = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error as error:
        yield Row("database", f"it can't be read: {error}", "fatal", remedy)
        return
    if said == "ok":
        yield Row("database", f"readable, {path.stat().st_size:,} bytes")
    else:
        yield Row("database", f"damaged: {said[:200]}", "fatal", remedy)


def journal(patient: Patient) -> Iterator[Row]:
    """Whether closed sessions are written down: the setting, what keeps the daemon, sessions that fail."""
    home = patient.ground.home
    problem = (patient.daemon.get("journal") or {}).get("problem")
    if problem:
        yield Row("journal", problem, "warning", "Mend what this says; it is tried again by itself.")
    try:
        auto = load(home).journal.auto
        every: list[distilled.Row] = []
        if home.database.exists():
            with database(home, write=False) as connection:
                every = distilled.rows(connection)
    except (SettingsBroken, StoreFailed):
        return  # that has rows of its own
    failing = [one for one in every if one.state == distilled.FAILING and os.path.lexists(one.path)]
    if failing:
        found = f"{_sessions(len(failing))} can't be written down; the last: {failing[0].why}"
        yield Row("journal", found, "warning", "`coffer journal status` tells which; they are tried again.")
    told = _sessions(sum(one.state == distilled.TOLD for one in every))
    if not auto:
        by_hand = "`coffer journal distil --all` writes it"
        yield Row("journal", f"off by `[journal] auto`; {by_hand}; {told} written down")
    elif not failing and not problem:
        yield Row("journal", f"{told} written down")


def _sessions(count: int) -> str:
    return f"{count:,} session" if count == 1 else f"{count:,} sessions"


def open_to_others(home: Home) -> list[Path]:
    """What of Coffer's folder other users could read or write: it holds transcripts and settings."""
    if not home.root.is_dir():
        return []
    exempt = home.root / "bin"  # what agents run; behind a folder that is closed
    paths = [home.root, *(path for path in home.root.iterdir() if path != exempt)]
    return [path for path in paths if _is_open(path)]


def _is_open(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False  # gone meanwhile
    return not stat.S_ISLNK(found.st_mode) and bool(stat.S_IMODE(found.st_mode) & _OTHERS)


def modes(patient: Patient) -> Iterator[Row]:
    """0700 for the folder, 0600 for what is in it."""
    home = patient.ground.home
    found = open_to_others(home)
    if found:
        names = ", ".join(str(path) for path in found[:_MOST_NAMED])
        more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        remedy = f"`chmod -R go= {shlex.quote(str(home.root))}`"
        yield Row("modes", f"open to other users: {names}{more}", "warning", remedy, fix="modes")
    elif home.root.is_dir():
        yield Row("modes", f"{home.root} is yours alone")


def disk(patient: Patient) -> Iterator[Row]:
    """Room for receipts, backups and bundles."""
    folder = next(
        (one for one in (patient.ground.home.root, *patient.ground.home.root.parents) if one.is_dir()), None
    )
    if folder is None:
        return
    free = shutil.disk_usage(folder).free
    level: Level = "fatal" if free < LEAST_FREE else "warning" if free < SCARCE else "ok"
    remedy = "Make room; `coffer gc` lets go of old backups." if level != "ok" else ""
    yield Row("disk", f"{free / 1e6:,.0f} MB free", level, remedy)
