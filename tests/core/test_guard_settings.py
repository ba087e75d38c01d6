"""The table `guard` of the settings: what holds, and which sentence refuses what can't be meant."""

from __future__ import annotations

from typing import Any

import pytest

from coffer.core.settings import Guard, settings_of
from coffer.core.settings_table import SettingsWrong


def test_without_a_table_the_defaults_hold() -> None:
    assert settings_of({}).guard == Guard()
    assert [tier.share for tier in Guard().tiers] == [25, 55, 80, 90]


def test_what_is_set_holds() -> None:
    guard = settings_of(
        {"guard": {"tiers": {"trim": 40, "last_call": 95.5}, "write": "idle", "nudge": False}}
    ).guard
    assert [tier.share for tier in guard.tiers] == [25, 40, 80, 95.5]
    assert (guard.write, guard.nudge) == ("idle", False)


def test_a_project_says_what_differs() -> None:
    said = {
        "guard": {"write": "idle", "tiers": {"trim": 40}},
        "projects": {"/work/tide/": {"guard": {"tiers": {"deep": 70}, "nudge": False, "act": False}}},
    }
    settings = settings_of(said)
    guard = settings.guard_in("/work/tide")
    assert [tier.share for tier in guard.tiers] == [25, 40, 70, 90]
    assert (guard.write, guard.nudge, guard.act) == ("idle", False, False)
    assert settings.guard_in("/work/other") == settings.guard_in("") == settings.guard
    assert settings.warnings == ()


def test_what_cant_be_meant_in_a_project_is_refused() -> None:
    table = {"/work/tide": {"guard": {"tiers": {"trim": float("nan")}, "write": True}}, "tide": {}}
    with pytest.raises(SettingsWrong) as caught:
        settings_of({"projects": table})
    assert "`projects./work/tide.guard.tiers.trim` is nan" in str(caught.value)
    assert "`projects./work/tide.guard.write` is true" in str(caught.value)
    assert "whole path" in str(caught.value)


def test_an_unordered_project_is_refused_with_what_holds_everywhere() -> None:
    with pytest.raises(SettingsWrong, match=r"`projects\./w\.guard\.tiers\.watch` \(50\)"):
        settings_of(
            {
                "guard": {"tiers": {"trim": 45}},
                "projects": {"/w": {"guard": {"tiers": {"watch": 50}}}},
            }
        )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"tiers": {"trim": float("nan")}}, "`guard.tiers.trim` is nan, but must be a number from 1 to 100."),
        ({"tiers": {"trim": float("inf")}}, "`guard.tiers.trim` is inf"),
        ({"tiers": {"trim": True}}, "`guard.tiers.trim` is true"),
        ({"tiers": {"trim": -5}}, "`guard.tiers.trim` is -5"),
        ({"tiers": {"trim": "55"}}, "`guard.tiers.trim` is 55"),
        ({"tiers": {"trim": 80}}, "`guard.tiers.trim` (80) must be lower than `guard.tiers.deep` (80)."),
        ({"tiers": {"watch": 60}}, "`guard.tiers.watch` (60) must be lower than `guard.tiers.trim` (55)."),
        ({"tiers": [25, 55]}, "`guard.tiers` must be a table: write `[guard.tiers]`."),
        ({"write": "always"}, '`guard.write` is always, but must be "never" or "idle".'),
        ({"nudge": 1}, "`guard.nudge` is 1, but must be true or false."),
    ],
)
def test_what_cant_be_meant_is_refused(table: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsWrong) as caught:
        settings_of({"guard": table})
    assert said in str(caught.value)


def test_a_tier_that_does_not_exist_is_told() -> None:
    (warning,) = settings_of({"guard": {"tiers": {"last-call": 95}}}).warnings
    assert "Did you mean `guard.tiers.last_call`?" in warning
