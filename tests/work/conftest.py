"""What every test of this folder has."""

from __future__ import annotations

import pytest

from coffer.disk import replace


@pytest.fixture(autouse=True)
def brief_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client is played by the test itself: only where a test says so does it append late."""
    monkeypatch.setattr(replace, "DRAIN_SECONDS", 0.0)
