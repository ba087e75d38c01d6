"""Bundle files and the spool: what Coffer writes the hook reads, and the other way round, at any moment."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coffer import hook
from coffer.core import bundle_files
from coffer.core.bundle_files import Row, can_be_listed, index_text, key_of, rows_of, spool_entry, winner
from coffer.disk.project import project_of
from coffer.disk.put import put
from coffer.errors import Busy, WriteFailed
from coffer.store.home import Home
from coffer.work.delivery import bundle_files as work
from coffer.work.delivery.bundle_files import drop_spooled, publish, published, read_spool, take_spool

START = ("claude", "SessionStart")


@pytest.fixture
def coffer(tmp_path: Path) -> Home:
    return Home(tmp_path / ".coffer")


def asked(home: Home, folder: str) -> bytes:
    """What the hook's own code finds for a session there."""
    with contextlib.chdir(home.root):
        return hook.kept(*START, os.fsencode(folder), b"")[1]


def names(home: Home) -> set[str]:
    return {path.name for path in work.bundles(home).iterdir()}


STEPS = st.sampled_from(["a", "b", "ab", "a b", "ü", "\udcff", ".", "a%", "bundles"])
PATHS = st.lists(STEPS, max_size=4).map(lambda steps: "/" + "/".join(steps))


@given(st.dictionaries(PATHS, st.sampled_from(["k1", "k2", "k-3"]), max_size=6), PATHS)
def test_the_hook_finds_the_root_that_wins(roots: dict[str, str], folder: str) -> None:
    rows = tuple(Row(key, root) for root, key in roots.items() if can_be_listed(root))
    index = index_text(rows)
    assert set(rows_of(index)) == set(rows)
    best = winner(rows, folder)
    assert hook.key_of(index, folder.encode("utf-8", "surrogateescape")) == (best.key if best else "")


def test_which_root_wins() -> None:
    rows = (Row("none", "/"), Row("a", "/p/a"), Row("inner", "/p/a/inner"), Row("ab", "/p/ab"))
    table = {
        "/p/a": "a",
        "/p/a/x/y": "a",
        "/p/a/inner": "inner",
        "/p/a/inner/x": "inner",
        "/p/a/innermost": "a",
        "/p/ab": "ab",
        "/p/abc": "none",
        "/p": "none",
        "/": "none",
        "": "none",
    }
    for folder, key in table.items():
        found = winner(rows, folder)
        assert found is not None
        assert found.key == key
        assert hook.key_of(index_text(rows), folder.encode() or b"/") == key
    assert winner(rows[1:], "/elsewhere") is None


def test_a_repository_within_a_project_is_not_that_project(tmp_path: Path) -> None:
    """What the hook takes without the daemon is of the project that the daemon would say, or of none."""
    git("init", "-q", str(tmp_path / "main"))
    main = tmp_path / "main"
    git("-C", str(main), "commit", "-q", "--allow-empty", "-m", "x")
    git("init", "-q", str(main / "vendor" / "other"))
    git("-C", str(main / "vendor" / "other"), "commit", "-q", "--allow-empty", "-m", "x")
    git("-C", str(main), "submodule", "--quiet", "add", str(main / "vendor" / "other"), "sub")
    git("-C", str(main), "worktree", "add", "-q", str(main / ".claude" / "worktrees" / "w"))
    git("-C", str(main), "worktree", "add", "-q", str(tmp_path / "beside"))
    near = main / ".claude" / "worktrees" / "near"
    git("-C", str(main), "worktree", "add", "-q", str(near))
    (near / ".git").write_text("gitdir: ../../../.git/worktrees/near\n")
    (main / "empty" / ".git").mkdir(parents=True)
    own = (main, main / "docs" / "de", near, main / ".claude" / "worktrees" / "w" / "src", main / "empty")
    others = (main / "vendor" / "other", main / "vendor" / "other" / "src", main / "sub", tmp_path / "beside")
    for folder in (*own, *others):
        folder.mkdir(parents=True, exist_ok=True)
    index = index_text((Row("none", "/"), Row("main", str(main))))
    taken = {folder: hook.key_of(index, bytes(folder)) for folder in (*own, *others)}
    assert taken == dict.fromkeys(own, "main") | dict.fromkeys(others, "none")
    house = tmp_path / "house"
    assert {project_of(folder, house) for folder in own} == {main}
    assert main not in {project_of(folder, house) for folder in others[:-1]}


def git(*words: str) -> None:
    """Run git as nobody in particular."""
    few = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *few, *words], check=True, env={"PATH": os.environ["PATH"]})


@pytest.mark.parametrize(
    "root", ["a", "", "/a/", "//a", "/a/../b", "/a/./b", "/a\nb", "/a\tb", "/a\0", "/a\r"]
)
def test_roots_that_no_line_can_hold_are_said_and_left_out(coffer: Home, root: str) -> None:
    assert publish(coffer, {root: {START: b"x"}, "/b": {START: b"y"}}) == [root]
    assert [row.root for row in published(coffer)] == ["/b"]


@given(st.binary(max_size=80))
def test_an_index_of_anything_gives_no_key_that_leads_away(index: bytes) -> None:
    rows_of(index)
    key = hook.key_of(index, b"/a/b")
    assert not hook.plain(key) or bundle_files.is_word(key)


def test_published_bundles_are_what_sessions_get(coffer: Home) -> None:
    publish(coffer, {"/": {START: b"nowhere"}, "/p": {START: b"p", ("codex", "SessionStart"): b"c"}})
    assert asked(coffer, "/p/x") == b"p"
    assert asked(coffer, "/q") == b"nowhere"
    assert {row.root for row in published(coffer)} == {"/", "/p"}
    publish(coffer, {"/p": {START: b"p2"}})
    assert asked(coffer, "/p") == b"p2"
    assert asked(coffer, "/q") == b""


def test_folders_go_one_publication_after_they_were_named(coffer: Home) -> None:
    """A hook that has read the index a moment ago still finds its folder."""
    keys = [key_of({START: text}) for text in (b"1", b"2", b"3")]
    publish(coffer, {"/p": {START: b"1"}})
    publish(coffer, {"/p": {START: b"2"}})
    assert names(coffer) == {"index", keys[0], keys[1]}
    publish(coffer, {"/p": {START: b"3"}})
    assert names(coffer) == {"index", keys[1], keys[2]}
    publish(coffer, {"/p": {START: b"3"}})
    assert names(coffer) == {"index", keys[2]}


def test_the_same_again_writes_nothing(coffer: Home) -> None:
    entries = {"/p": {START: b"1"}, "/q": {START: b"1"}}
    publish(coffer, entries)
    before = {path: path.lstat().st_mtime_ns for path in work.bundles(coffer).rglob("*")}
    publish(coffer, entries)
    assert {path: path.lstat().st_mtime_ns for path in work.bundles(coffer).rglob("*")} == before
    assert len(names(coffer)) == 2


def test_a_damaged_file_is_mended(coffer: Home) -> None:
    publish(coffer, {"/p": {START: b"right"}})
    (file,) = work.bundles(coffer).glob("*/claude.SessionStart")
    for damage in (lambda: file.write_bytes(b"wrong"), file.unlink, lambda: file.chmod(0o666)):
        damage()
        publish(coffer, {"/p": {START: b"right"}})
        assert asked(coffer, "/p") == b"right"
        assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("fails_at", range(4))
def test_a_publication_that_fails_leaves_the_old_one(
    coffer: Home, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    old = {root: {START: f"old {root}".encode()} for root in ("/", "/p", "/q")}
    new = {root: {START: f"new {root}".encode()} for root in ("/", "/p", "/q")}
    publish(coffer, old)
    calls = 0

    def failing(path: Path, content: bytes, mode: int) -> bool:
        nonlocal calls
        calls += 1
        if calls > fails_at:
            raise WriteFailed(str(path), "the disk is full")
        return put(path, content, mode)

    with monkeypatch.context() as patch:
        patch.setattr(work, "put", failing)
        with pytest.raises(WriteFailed):
            publish(coffer, new)
    assert [asked(coffer, root) for root in old] == [files[START] for files in old.values()]
    publish(coffer, new)
    assert [asked(coffer, root) for root in new] == [files[START] for files in new.values()]


def test_hooks_that_read_meanwhile_always_find_a_bundle(coffer: Home) -> None:
    texts = [str(number).encode() * 5000 for number in range(10)]
    publish(coffer, {"/p": {START: texts[0]}})
    ended = threading.Event()

    def write() -> None:
        for turn in range(150):
            publish(coffer, {"/p": {START: texts[turn % 10]}})
        ended.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    with contextlib.chdir(coffer.root):
        while not ended.is_set():
            seen.add(hook.kept(*START, b"/p/x", b"")[1])
    writer.join()
    assert seen <= set(texts)
    assert len(seen) > 1


def test_a_hook_that_overslept_two_publications_looks_again(
    coffer: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(coffer, {"/p": {START: b"1"}})
    real = hook.content

    def oversleeping(path: str, longest: int) -> bytes:
        got = real(path, longest)
        if path.endswith("index"):
            monkeypatch.setattr(hook, "content", real)
            for text in (b"2", b"3"):
                publish(coffer, {"/p": {START: text}})
        return got

    monkeypatch.setattr(hook, "content", oversleeping)
    assert asked(coffer, "/p") == b"3"


def test_one_publishes_at_a_time(coffer: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock  # noqa: PLC0415

    monkeypatch.setattr(work, "_LOCK_SECONDS", 0.05)
    coffer.make(coffer.locks)
    with FileLock(coffer.locks / "bundles.lock"), pytest.raises(Busy):
        publish(coffer, {})


def test_a_home_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteFailed):
        publish(Home(tmp_path / "file"), {})
    assert published(Home(tmp_path / "file")) == ()
    assert take_spool(Home(tmp_path / "file")) == []


@given(st.binary(min_size=1, max_size=40), st.binary(max_size=60))
def test_what_a_hook_writes_is_read_again(folder: bytes, said: bytes) -> None:
    raw = b"claude SessionStart k-1\n" + hook.quoted(folder) + b"\n" + said
    entry = spool_entry("12-34", raw)
    assert entry is not None
    assert (os.fsencode(entry.cwd), entry.stdin, entry.at, entry.pid) == (folder, said, 12, 34)


@given(st.text(max_size=12), st.binary(max_size=60))
def test_anything_else_is_damaged_or_an_entry(name: str, raw: bytes) -> None:
    entry = spool_entry(name, raw)
    assert entry is None or entry.name == name


def spool(home: Home, name: str, text: bytes = b"claude SessionStart k\n/p\n{}") -> Path:
    folder = home.root / "spool"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text)
    return folder / name


def test_the_spool_is_taken_in_the_order_of_time(coffer: Home) -> None:
    for name in ("100-2", "99-7", "100-1"):
        spool(coffer, name)
    assert [entry.name for entry in read_spool(coffer)] == ["99-7", "100-1", "100-2"]
    assert [entry.name for entry in take_spool(coffer)] == ["99-7", "100-1", "100-2"]
    assert take_spool(coffer) == []


def test_damaged_entries_are_set_aside_and_lose_nothing(coffer: Home) -> None:
    bad = {
        "1-1": b"",
        "2-2": b"claude SessionStart\n/p\n{}",
        "3-3": b"claude SessionStart k",
        "4-4": b"../x SessionStart k\n/p\n{}",
        "x": b"claude SessionStart k\n/p\n{}",
    }
    for name, text in bad.items():
        spool(coffer, name, text)
    (coffer.root / "spool" / "5-5").mkdir()
    (coffer.root / "spool" / "6-6").symlink_to("/etc/hostname")
    os.mkfifo(coffer.root / "spool" / "7-7")
    spool(coffer, "8-8")
    assert [entry.name for entry in take_spool(coffer)] == ["8-8"]
    aside = coffer.root / "spool" / "damaged"
    assert {path.name for path in aside.iterdir()} == {*bad, "5-5", "6-6", "7-7"}
    assert {name: (aside / name).read_bytes() for name in bad} == bad
    assert take_spool(coffer) == []


def test_entries_under_way_are_waited_for_and_abandoned_ones_set_aside(coffer: Home) -> None:
    fresh, old = spool(coffer, ".1-1"), spool(coffer, ".2-2")
    os.utime(old, (time.time() - 600,) * 2)
    assert take_spool(coffer) == []
    assert fresh.exists()
    assert not old.exists()
    assert (coffer.root / "spool" / "damaged" / ".2-2").exists()


def test_an_entry_that_is_taken_twice_counts_once(coffer: Home) -> None:
    spool(coffer, "1-1")
    first, second = read_spool(coffer), read_spool(coffer)
    assert first == second
    assert drop_spooled(coffer, first) == first
    assert drop_spooled(coffer, second) == []
