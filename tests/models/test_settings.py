"""config.toml: what it may say, and the sentence where it says something else."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coffer.core.events import Settings as Digest
from coffer.core.rule import Weights
from coffer.core.settings import Model, Settings, is_loopback, settings_of
from coffer.core.settings_table import SettingsWrong
from coffer.errors import SettingsBroken
from coffer.store.home import Home
from coffer.work.settings import LARGEST, load


def of(text: str) -> Settings:
    return settings_of(tomllib.loads(text))


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(SettingsWrong) as caught:
        of(text)
    return caught.value.problems


def test_nothing_said_is_the_default() -> None:
    assert settings_of({}) == Settings(Digest(), Model(), ())
    assert of("[digest]\n[digest.weights]\n[model]\n") == Settings()


def test_every_number_can_be_set() -> None:
    found = of(
        """
        [digest]
        promote_at = 4
        threshold = 0.6
        cap = 10
        forget_days = 60
        forget_importance = 2
        archive_days = 100
        pending_cap = 70
        [digest.weights]
        share = 0.4
        half_life = 30
        possible = 0.3
        ceiling = 0.45
        [digest.weights.reliability]
        proposed = 0
        [digest.weights.label]
        ONE_OFF = 0.2
        """
    )
    weights = found.digest.weights
    assert (weights.share, weights.half_life, weights.possible, weights.ceiling) == (0.4, 30.0, 0.3, 0.45)
    assert dict(weights.reliability) == {**dict(Weights().reliability), "proposed": 0.0}
    assert dict(weights.label) == {**dict(Weights().label), "ONE_OFF": 0.2}
    assert found.digest == Digest(4, 0.6, 10, 60, 2, 100, 70, weights)
    assert found.warnings == ()


def test_every_field_of_the_digest_is_a_setting() -> None:
    for name in (*Digest.__slots__, *Weights.__slots__):
        config: dict[str, Any] = {name: "wrong"}
        with pytest.raises(SettingsWrong, match=rf"digest\.(weights\.)?{name}`"):
            settings_of({"digest": config if name in Digest.__slots__ else {"weights": config}})


def test_a_model_can_be_set() -> None:
    found = of(
        """
        [model]
        provider = "openai"
        base_url = "http://127.0.0.1:11434/v1/"
        model = "hf.co/unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:UD-Q4_K_XL"
        timeout = 60
        retries = 0
        calls_a_day = 5
        """
    )
    name = "hf.co/unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:UD-Q4_K_XL"
    assert found.model == Model("openai", "http://127.0.0.1:11434/v1", name, "", 60.0, 0, 5)
    assert of('[model]\nprovider = "anthropic"\nmodel = "m"\nkey_env = "K"').model.address == (
        "https://api.anthropic.com"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("promote_at = true", "`digest.promote_at` is true, but must be a whole number from 1 to 100."),
        ("promote_at = 0", "is 0, but"),
        ("promote_at = -3", "is -3, but"),
        ("promote_at = 3.0", "is 3.0, but"),
        ('promote_at = "3"', "is 3, but"),
        ("promote_at = [3]", "is a list, but"),
        ("promote_at = {a = 1}", "is a table, but"),
        ("promote_at = 2026-01-01", "is 2026-01-01, but"),
        (f"promote_at = 0x{'f' * 9000}", "is a number beyond all measure, but"),
        ("cap = 21", "a whole number from 1 to 20"),
        ("threshold = nan", "`digest.threshold` is nan, but must be a number from 0 to 1."),
        ("threshold = inf", "is inf"),
        ("threshold = -inf", "is -inf"),
        ("threshold = 1.01", "is 1.01"),
        ("threshold = false", "is false"),
        (f"threshold = 0x{'f' * 9000}", "beyond all measure"),
        ('threshold = "a\\u001b[31m\\nb"', "is a [31m b, but"),
        ("threshold = ''", "is empty, but"),
        (f"threshold = '{'x' * 100}'", "…, but"),
        ("threshold = 0.5", "`digest.weights.ceiling` (0.5) must be lower than `digest.threshold` (0.5)"),
        ("weights = 3", "write `[digest.weights]`"),
        ("weights = {label = {NONE = 2}}", "`digest.weights.label.NONE` is 2"),
        ("weights = {half_life = 0}", "`digest.weights.half_life` is 0"),
    ],
)
def test_a_wrong_number_names_its_key_and_what_is_allowed(line: str, said: str) -> None:
    (problem,) = problems(f"[digest]\n{line}")
    assert said in problem
    assert len(problem) < 200


def test_all_problems_are_said_at_once() -> None:
    assert len(problems("digest = 3\nmodel = []")) == 2
    assert len(problems("[digest]\ncap = 0\nthreshold = 2\n[model]\nretries = 9")) == 3


PASTED = "sk-ant-api03-Zq8Tq0cVhR5mBn2LxKpW7yUe"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('provider = "claude"', '"none", "anthropic" or "openai"'),
        ("provider = 3", '"none", "anthropic" or "openai"'),
        ('provider = "anthropic"\nkey_env = "K"', "`model.model` must name a model"),
        ('provider = "anthropic"\nmodel = "m"', "`model.key_env` must be the NAME"),
        ('provider = "openai"\nmodel = "m"', "https://api.openai.com/v1"),
        (f'key_env = "{PASTED}"', "`model.key_env` must be the NAME"),
        ('key_env = "AKIAIOSFODNN7EXAMPLF"', "`model.key_env` must be the NAME"),
        (f'key_file = "{PASTED}"', "`model.key_file` must be the path"),
        (f'key_file = "/home/dev/{PASTED}"', "`model.key_file` must be the path"),
        ('key_file = "key"', "`model.key_file` must be the path"),
        (f'model = "{PASTED}"', "`model.model` must be"),
        (f'provider = "{PASTED}"', "looks like a secret"),
        (f'base_url = "https://user:{PASTED}@host/v1"', "`model.base_url` must be an address"),
        (f'base_url = "https://host/v1?key={PASTED}"', "without any key"),
        ('base_url = "host:8080"', "`model.base_url`"),
        ('base_url = "ftp://host"', "`model.base_url`"),
        ('base_url = "https://host/a b"', "`model.base_url`"),
        ('base_url = "https://ho\\nst/"', "`model.base_url`"),
        ("base_url = 7", "`model.base_url` is 7"),
        ("timeout = 0", "from 1 to 600"),
        ("timeout = nan", "from 1 to 600"),
        ("retries = -1", "from 0 to 5"),
        ("calls_a_day = 1.5", "from 0 to 100000"),
        ('allow_http = "yes"', "true or false"),
    ],
)
def test_a_wrong_model_is_refused_without_repeating_a_key(lines: str, said: str) -> None:
    (problem,) = problems(f"[model]\n{lines}")
    assert said in problem
    assert "Zq8Tq0" not in problem
    assert "AKIA" not in problem


REMOTE = 'provider = "openai"\nmodel = "m"\nkey_env = "K"\n'


@pytest.mark.parametrize(
    "address",
    [
        "http://api.example.com/v1",
        "http://10.0.0.1:8000",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://127.1",
        "http://0.0.0.0:11434",
        "HTTP://example.com",
        "http://[::ffff:10.0.0.1]/",
    ],
)
def test_a_key_goes_unencrypted_only_to_this_machine_or_on_purpose(address: str) -> None:
    lines = f'[model]\n{REMOTE}base_url = "{address}"\n'
    assert "allow_http" in problems(lines)[0]
    assert of(f"{lines}allow_http = true").model.allow_http


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:1/v1",
        "http://127.0.0.1",
        "http://127.8.8.8/",
        "http://[::1]:80",
        "https://LOCALHOST",
    ],
)
def test_this_machine(address: str) -> None:
    assert is_loopback(address)
    assert of(f'[model]\n{REMOTE}base_url = "{address}"').model.base_url == address.rstrip("/")


@pytest.mark.parametrize(
    ("text", "unknown", "near"),
    [
        ("[digest]\npromote_after = 3", "digest.promote_after", "digest.promote_at"),
        ("[digest]\ntreshold = 3", "digest.treshold", "digest.threshold"),
        ("[modle]\nprovider = 3", "modle", "model"),
        ("[model]\nmodel_name = 'x'", "model.model_name", "model.model"),
        ("[digest.weights.label]\nNon = 1", "digest.weights.label.Non", "digest.weights.label.NONE"),
        ("[zzz]\nwrite = 'idle'", "zzz", ""),
    ],
)
def test_an_unknown_key_is_a_warning(text: str, unknown: str, near: str) -> None:
    (warning,) = of(text).warnings
    assert f"`{unknown}`" in warning
    assert (f"Did you mean `{near}`?" in warning) if near else ("Did you mean" not in warning)
    assert of(text).digest == Digest()


def test_a_key_in_the_place_of_a_name_is_not_repeated() -> None:
    (warning,) = of(f'[model]\n"{PASTED}" = 1').warnings
    assert "Zq8Tq0" not in warning


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from([*Digest.__slots__, *Model.__slots__, *Weights.__slots__]) | st.text(max_size=8)


@given(st.dictionaries(st.sampled_from(["digest", "model", "x"]), st.dictionaries(_KEYS, _VALUES)))
def test_whatever_it_says_is_settings_or_sentences(config: dict[str, Any]) -> None:
    said: tuple[str, ...] = ()
    try:
        found = settings_of(config)
    except SettingsWrong as error:
        found, said = Settings(), error.problems or ("",)
    assert all(problem.endswith(".") and "`" in problem for problem in said)
    assert 0 <= found.digest.weights.ceiling < found.digest.threshold <= 1
    assert 1 <= found.digest.cap <= 20
    assert not isinstance(found.digest.promote_at, bool)
    assert found.model.provider == "none" or found.model.model


# --- the file


@pytest.fixture
def place(tmp_path: Path) -> Home:
    home = Home(tmp_path / ".coffer")
    home.root.mkdir()
    return home


def broken(place: Home, data: bytes) -> SettingsBroken:
    path = place.root / "config.toml"
    path.write_bytes(data)
    with pytest.raises(SettingsBroken) as caught:
        load(place)
    assert path.read_bytes() == data
    assert str(path) in str(caught.value)
    assert "left alone" in str(caught.value)
    assert caught.value.exit_code == 21
    return caught.value


def test_no_file_is_the_default_and_makes_none(tmp_path: Path) -> None:
    assert load(Home(tmp_path / "none")) == Settings()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data", [b"", b"\n", b"# only a comment", b"\xef\xbb\xbf[digest]\r\ncap = 20\r\n"])
def test_files_that_say_nothing_else(place: Home, data: bytes) -> None:
    (place.root / "config.toml").write_bytes(data)
    assert load(place) == Settings()


def test_a_link_to_a_file_elsewhere_is_read(place: Home, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("[digest]\ncap = 7")
    (place.root / "config.toml").symlink_to(tmp_path / "dotfiles.toml")
    assert load(place).digest.cap == 7


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"[digest]\ncap = \n", 2),
        (b"[digest]\ncap = 3\ncap = 4\n", 3),
        (b"[digest\n", 1),
        (b"[digest]\ncap = 3\nx = '''\n\n", 3),
        (b"[digest]\n\nname = 'caf\xe9'\n", 3),
        (b"\x00", 1),
        (b"[digest]\ncap = " + b"9" * 6000, 2),
        (b"<<<<<<< HEAD\n", 1),
    ],
)
def test_a_broken_file_is_named_with_its_line(place: Home, data: bytes, line: int) -> None:
    assert f"config.toml, line {line}: " in str(broken(place, data))


def test_a_wrong_value_is_named_by_its_key(place: Home) -> None:
    assert "config.toml: `digest.cap` is 0, but" in str(broken(place, b"[digest]\ncap = 0\n"))


def test_values_that_nest_without_end(place: Home) -> None:
    broken(place, b"x = " + b"[" * 100_000)


def test_a_file_that_is_no_configuration(place: Home) -> None:
    assert "more than" in str(broken(place, b"#" * (LARGEST + 1)))


def test_what_is_no_file_is_not_waited_for(place: Home) -> None:
    os.mkfifo(place.root / "config.toml")
    with pytest.raises(SettingsBroken, match="not a regular file"):
        load(place)
    (place.root / "config.toml").unlink()
    (place.root / "config.toml").mkdir()
    with pytest.raises(SettingsBroken, match="not a regular file"):
        load(place)
