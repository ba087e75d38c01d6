"""The window of a session by what the statusline and SessionStart said, kept in Coffer's folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from coffer.disk.live import start_mark
from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.store.windows import merge_report, read_report, said_in_statusline, window_path
from coffer.work.sessions.inspect import inspect
from coffer.work.sessions.read import opened
from coffer.work.sessions.window import STATUSLINE, hear, report_of
from tests.transcripts import MODEL, Claude, text, usage


class House:
    """A person's home with one session and the registry of this process."""

    def __init__(self, root: Path) -> None:
        self.environment = {"HOME": str(root)}
        self.home, self.places = Home.of(self.environment), Places.of(self.environment)

    def holds(self, session: str) -> None:
        folder = self.places.claude / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        said = {"pid": os.getpid(), "procStart": start_mark(os.getpid()), "sessionId": session}
        (folder / f"{os.getpid()}.json").write_text(json.dumps(said))

    def hear(self, event: str, now: float = 4e9, **said: Any) -> None:
        hear(self.home, event, {"session_id": "s1", **said}, self.places, now)

    def shown(self, tmp: Path) -> tuple[int, str]:
        made = Claude()
        made.user("question")
        made.answer(text("answer"), counts=usage(1000))
        path = tmp / "s1.jsonl"
        path.write_bytes(made.data)
        with opened(path) as session:
            window = inspect(session, self.environment, top=0).window
        return window.tokens, window.source


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "house")


def statusline(size: Any = 1_000_000, model: Any = f"{MODEL}[1m]", usage: Any = None) -> dict[str, Any]:
    return {
        "model": {"id": model},
        "context_window": {"context_window_size": size, "current_usage": usage},
    }


def test_the_statusline_says_it(house: House, tmp_path: Path) -> None:
    assert house.shown(tmp_path) == (200_000, "default")
    house.hear(STATUSLINE, **statusline(usage={"input_tokens": 3, "cache_read_input_tokens": 40}))
    assert house.shown(tmp_path) == (1_000_000, "statusline")
    assert read_report(house.home.root, "s1")["tokens"] == 43


def test_session_start_says_it_by_the_name(house: House, tmp_path: Path) -> None:
    house.hear("SessionStart", model=f"{MODEL}[1m]")
    assert house.shown(tmp_path) == (1_000_000, "SessionStart")
    house.hear("SessionStart", model=MODEL)  # resumed without --model: the client lost the million (facts §5)
    assert house.shown(tmp_path) == (200_000, "SessionStart")


def test_session_start_of_the_same_model_keeps_what_the_statusline_said(house: House) -> None:
    house.hear(STATUSLINE, **statusline(500_000, "m"))
    house.hear("SessionStart", model="m")
    found = report_of("s1", house.environment)
    assert found is not None
    assert (found.window, found.source) == (500_000, "statusline")


def test_clear_inherits_it_in_the_same_process(house: House) -> None:
    house.holds("s1")
    house.hear(STATUSLINE, **statusline())
    assert report_of("s2", house.environment) is None
    house.holds("s2")
    found = report_of("s2", house.environment)
    assert found is not None
    assert (found.window, found.source) == (1_000_000, "statusline, before /clear")


@pytest.mark.parametrize("size", [True, -1, 1.5, "200000", None, 10**12, float("nan")])
def test_a_window_that_cant_be_meant_is_not_taken(size: Any) -> None:
    assert "window" not in said_in_statusline(statusline(size), 1.0)


@pytest.mark.parametrize(
    "kept", [b"", b"[]", b"{", b"\xff\xfe", b'{"model": 1, "window": true}', b"[" * 9000]
)
def test_a_broken_file_is_no_report(house: House, kept: bytes, tmp_path: Path) -> None:
    path = Path(window_path(house.home.root, "s1") or "")
    path.parent.mkdir(parents=True)
    path.write_bytes(kept)
    assert house.shown(tmp_path) == (200_000, "default")
    house.hear(STATUSLINE, **statusline())
    assert house.shown(tmp_path) == (1_000_000, "statusline")


@pytest.mark.parametrize("session", ["../up", "a/b", "", ".hidden", "x" * 200])
def test_an_id_that_leads_elsewhere_is_none(house: House, session: str) -> None:
    assert merge_report(house.home.root, session, {"window": 1}) is False
    assert not house.home.root.exists()
