"""install and uninstall as edits of a text: what must not change comes first."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coffer.agents.claude_hooks import EVENTS
from coffer.agents.hook_edit import install, uninstall
from coffer.agents.hook_entries import Added, Dialect, Wanted, first_word, look, read
from coffer.agents.hook_table import HOOK_AGENTS, envelope
from coffer.core.json_edit import JsonRefused, parse, plain
from tests.effort import examples
from tests.install.files import BROKEN, CLAUDE_ONLY, FOREIGN, HOOK, ODD_HOOK, SOUND

CLAUDE, CODEX = HOOK_AGENTS["claude"].dialect, HOOK_AGENTS["codex"].dialect
NOW = (2, 1, 197)


def wanted(agent: str, hook: str = HOOK, version: tuple[int, ...] | None = NOW) -> list[Wanted]:
    return HOOK_AGENTS[agent].wanted(hook, version)


def both(files: dict[str, Any]) -> list[Any]:
    every = [("claude", CLAUDE, name, text) for name, text in (files | CLAUDE_ONLY).items()]
    every += [("codex", CODEX, name, text) for name, text in files.items()]
    return [pytest.param(*one, id=f"{one[0]}: {one[2]}") for one in every]


def foreign_of(text: str, wanted_ones: list[Wanted]) -> Any:
    """Everything in a file but our entries and what may be empty around them."""
    value = json.loads(text.lstrip("\ufeff") or "{}")
    ours = [one.values[0] for one in wanted_ones]
    hooks = value.get("hooks", {})
    for event in list(hooks):
        for group in hooks[event]:
            if "hooks" in group:
                group["hooks"] = [each for each in group["hooks"] if each not in ours]
        hooks[event] = [group for group in hooks[event] if group != {"hooks": []}]
        if not hooks[event]:
            del hooks[event]
    if not hooks:
        value.pop("hooks", None)
    return value


@pytest.mark.parametrize(("agent", "dialect", "name", "text"), both(SOUND))
def test_uninstall_undoes_install_byte_for_byte(agent: str, dialect: Dialect, name: str, text: str) -> None:
    for hook in (HOOK, ODD_HOOK):
        ones = wanted(agent, hook)
        done = install(text, dialect, ones)
        assert done.text is not None
        found = look(read(done.text), ones)
        assert found.current
        assert found.copies == len(ones)
        assert install(done.text, dialect, ones).text == done.text, "twice is once"
        if text.strip() and len(text) < 4000:
            assert foreign_of(done.text, ones) == foreign_of(text, ones), name
        assert uninstall(done.text, dialect, done.added).text == text


@pytest.mark.parametrize(("agent", "dialect", "name", "text"), both(SOUND))
def test_our_entry_stands_last_in_each_event(agent: str, dialect: Dialect, name: str, text: str) -> None:
    ones = wanted(agent)
    done = install(text, dialect, ones).text
    assert done is not None, name
    hooks = plain(parse(done))["hooks"]
    for one in ones:
        assert hooks[one.event][-1] == {"hooks": [one.values[0]]}


@pytest.mark.parametrize(("agent", "dialect", "name", "text"), both(SOUND))
def test_without_its_receipt_uninstall_takes_only_our_entries(
    agent: str, dialect: Dialect, name: str, text: str
) -> None:
    ones = wanted(agent)
    done = install(text, dialect, ones).text
    after = uninstall(done, dialect, Added()).text
    assert after is not None, name
    assert look(read(after), ones).copies == 0
    if text.strip() and len(text) < 4000:
        assert foreign_of(after, ones) == foreign_of(text, ones)


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_missing_file_is_made_and_goes_again(agent: str) -> None:
    dialect, ones = HOOK_AGENTS[agent].dialect, wanted(agent)
    done = install(None, dialect, ones)
    assert done.text is not None
    assert done.text.endswith("}\n")
    assert uninstall(done.text, dialect, done.added).text is None
    kept = done.text.replace('"hooks": {', '"description": "mine",\n  "hooks": {', 1)
    assert uninstall(kept, dialect, done.added).text == '{\n  "description": "mine"\n}\n'


@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_sound_is_refused_with_its_line(agent: str, name: str) -> None:
    text, line, word = BROKEN[name]
    dialect = HOOK_AGENTS[agent].dialect
    acts: list[Callable[[], object]] = [
        lambda: install(text, dialect, wanted(agent)),
        lambda: uninstall(text, dialect, Added()),
    ]
    for act in acts:
        with pytest.raises(JsonRefused) as refused:
            act()
        assert refused.value.line == line
        assert word in refused.value.reason


def test_what_codex_drops_is_refused() -> None:
    with pytest.raises(JsonRefused, match="model"):
        install('{"model": "x", "hooks": {}}', CODEX, wanted("codex"))
    with pytest.raises(JsonRefused, match="byte order mark"):
        install("\ufeff{}", CODEX, wanted("codex"))
    install('{"description": "x", "hooks": {}}', CODEX, wanted("codex"))


STALE = {
    "shell, former path": {"type": "command", "command": "/opt/old/bin/coffer-hook claude SessionStart"},
    "exec, former path": {
        "type": "command",
        "command": "/opt/my tools/coffer-hook",
        "args": ["claude", "SessionStart"],
    },
    "quoted": {"type": "command", "command": "'/x y/coffer-hook' claude SessionStart", "timeout": 60},
    "double quotes": {"type": "command", "command": '"/x y/coffer-hook" claude SessionStart'},
    "on the path": {"type": "command", "command": "coffer-hook --agent=claude"},
    "escaped blank": {"type": "command", "command": "/x\\ y/coffer-hook claude SessionStart"},
    "no type": {"command": "/x/coffer-hook"},
    "behind it an open quote": {"type": "command", "command": "/x/coffer-hook 'claude"},
    "nothing else": {"type": "command", "command": HOOK},
}


@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize("name", STALE)
@pytest.mark.parametrize("indent", [None, 2])
def test_stale_copies_become_one_entry(agent: str, name: str, indent: int | None) -> None:
    dialect, ones = HOOK_AGENTS[agent].dialect, wanted(agent)
    stale = STALE[name]
    before = {
        "hooks": {
            "SessionStart": [
                {"hooks": [stale]},
                *FOREIGN["SessionStart"],
                {"matcher": "startup", "hooks": [stale]},
                {"hooks": [stale]},
            ],
            "PostToolUse": [{"hooks": [stale]}],
            "Stop": FOREIGN["Stop"],
        }
    }
    text = json.dumps(before, indent=indent)
    assert look(read(text), ones).stale == 4
    done = install(text, dialect, ones)
    assert done.text is not None
    found = look(read(done.text), ones)
    assert (found.current, found.copies) == (True, len(ones))
    hooks = json.loads(done.text)["hooks"]
    assert hooks["SessionStart"][-1] == {"hooks": [ones[0].values[0]]}
    assert hooks["PostToolUse"] == []
    assert hooks["Stop"][: len(FOREIGN["Stop"])] == FOREIGN["Stop"]
    place = 1 if agent == "codex" else 0  # where places count, theirs keeps its own
    assert hooks["SessionStart"][place] == FOREIGN["SessionStart"][0]


def test_ours_in_a_group_with_others_goes_alone() -> None:
    theirs = [{"type": "command", "command": "a"}, {"type": "command", "command": 'b "'}]
    ours = {"type": "command", "command": "/old/coffer-hook claude Stop"}
    for place in range(3):
        each = [*theirs]
        each.insert(place, ours)
        text = json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": each}]}}, indent=2)
        for agent in ("claude", "codex"):
            dialect, ones = HOOK_AGENTS[agent].dialect, wanted(agent)
            done = install(text, dialect, ones)
            assert done.text is not None
            stop = json.loads(done.text)["hooks"]["Stop"]
            assert stop[0] == {"matcher": "", "hooks": theirs}
            assert len(stop) == 2
            assert done.moved == (("Stop",) if agent == "codex" and place < 2 else ())
            after = uninstall(done.text, dialect, done.added).text
            assert after is not None
            assert json.loads(after) == {"hooks": {"Stop": [{"matcher": "", "hooks": theirs}]}}


def test_codex_keeps_the_place_of_what_stands_behind_ours() -> None:
    ones = wanted("codex")
    done = install("{}", CODEX, ones)
    assert done.text is not None
    value = json.loads(done.text)
    theirs = {"hooks": [{"type": "command", "command": "theirs"}]}
    value["hooks"]["Stop"].append(theirs)
    text = json.dumps(value, indent=2)
    assert install(text, CODEX, ones).text == text
    after = uninstall(text, CODEX, done.added).text
    assert after is not None
    assert json.loads(after) == {"hooks": {"Stop": [{"hooks": []}, theirs]}}
    moved = wanted("codex", "/new/bin/coffer-hook")
    again = install(text, CODEX, moved).text
    assert again is not None
    stop = json.loads(again)["hooks"]["Stop"]
    assert stop[1] == theirs
    assert stop[0] == {"hooks": [next(one.values[0] for one in moved if one.event == "Stop")]}


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_after_a_new_path_uninstall_still_gives_the_first_text(agent: str) -> None:
    dialect = HOOK_AGENTS[agent].dialect
    for text in SOUND.values():
        first = install(text, dialect, wanted(agent, "/a/coffer-hook"))
        second = install(first.text, dialect, wanted(agent, "/b/coffer-hook"))
        assert uninstall(second.text, dialect, first.added.then(second.added)).text == text


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_what_others_write_meanwhile_stays(agent: str) -> None:
    dialect, ones = HOOK_AGENTS[agent].dialect, wanted(agent)
    for text in SOUND.values():
        done = install(text, dialect, ones)
        assert done.text is not None
        value = json.loads(done.text)
        value["hooks"].setdefault("SessionStart", []).append(FOREIGN["SessionStart"][0])
        value["hooks"]["Notification"] = FOREIGN["Stop"]
        theirs = json.dumps(value, indent=3)
        after = uninstall(theirs, dialect, done.added).text
        assert after is not None
        assert foreign_of(after, ones) == foreign_of(theirs, ones)
        assert look(read(after), ones).copies == 0


def test_the_form_follows_the_version() -> None:
    def commands(version: tuple[int, ...] | None) -> dict[str, Any]:
        return {one.event: one.values[0] for one in wanted("claude", ODD_HOOK, version) if one.required}

    new, old, unknown = commands(NOW), commands((2, 0, 10)), commands(None)
    assert list(new) == [event.name for event in EVENTS]
    assert new["Stop"]["command"] == ODD_HOOK
    assert new["Stop"]["args"] == ["claude", "Stop"]
    assert set(new) - set(old) == {"SubagentStart", "StopFailure"}
    assert set(new) - set(unknown) == {"StopFailure"}
    for form in (old, unknown):
        assert "args" not in form["Stop"]
        assert first_word(form["Stop"]["command"]) == ODD_HOOK


def test_another_form_of_a_current_entry_stays() -> None:
    by_shell = install("{}", CLAUDE, wanted("claude", version=None)).text
    grown = install(by_shell, CLAUDE, wanted("claude")).text
    assert grown is not None
    assert grown != by_shell, "StopFailure is added"
    assert install(grown, CLAUDE, wanted("claude", version=None)).text == grown
    by_exec = install("{}", CLAUDE, wanted("claude")).text
    older = look(read(by_exec or ""), wanted("claude", version=(2, 1, 100)))
    assert older.stale == older.copies, "a client that does not take args runs the stub without any"


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("a b", "a"),
        ("  'a b' c", "a b"),
        ('"a\'b" c', "a'b"),
        ("'a'\"'\"'b' c", "a'b"),
        ("a\\ b c", "a b"),
        ("a;b", "a"),
        ("'open", ""),
        ("'a' 'open", "a"),
        ("", ""),
        ("\\", ""),
    ],
)
def test_first_word(command: str, word: str) -> None:
    assert first_word(command) == word


def test_envelope() -> None:
    rules = '[BEHAVIORAL CONTRACT]\nüse "uv" \ud83c'
    for agent in ("claude", "codex"):
        for event in ("SessionStart", "SubagentStart", "UserPromptSubmit"):
            said = json.loads(envelope(agent, event, rules))
            text = rules.replace("\ud83c", "\ufffd")
            assert said == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
            assert envelope(agent, event, "") == b""
        for event in ("Stop", "SessionEnd", "PreCompact", "StopFailure", "Tomorrow"):
            assert envelope(agent, event, rules) == b""


BLANKS = st.text(" \t\n\r", max_size=3)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=6), st.just("coffer-hook"))
HANDLERS = st.builds(
    lambda command, rest: {"type": "command", "command": command} | rest,
    st.text(max_size=12),
    st.dictionaries(st.sampled_from(["timeout", "x", "args"]), st.integers(1, 9), max_size=2),
)
GROUPS = st.builds(
    lambda hooks, rest: rest | {"hooks": hooks},
    st.lists(HANDLERS, max_size=3),
    st.dictionaries(st.sampled_from(["matcher", "y"]), st.text(max_size=3), max_size=1),
)
NAMES = st.sampled_from(["SessionStart", "Stop", "PreCompact", "PostToolUse", "SessionEnd", "Tomorrow"])
FILES = st.builds(
    lambda rest, hooks: rest if hooks is None else rest | {"hooks": hooks},
    st.dictionaries(st.text("abc", min_size=1, max_size=2), SCALARS, max_size=3),
    st.one_of(st.none(), st.dictionaries(NAMES, st.lists(GROUPS, max_size=3), max_size=4)),
)


def spread(value: Any, blank: Any) -> str:
    """JSON with white space wherever it may stand."""
    if isinstance(value, dict):
        parts = [
            f"{blank()}{json.dumps(k)}{blank()}:{blank()}{spread(v, blank)}{blank()}"
            for k, v in value.items()
        ]
        return "{" + (",".join(parts) or blank()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(f"{blank()}{spread(v, blank)}{blank()}" for v in value) or blank()) + "]"
    return json.dumps(value)


@given(FILES, st.data(), st.sampled_from([HOOK, ODD_HOOK]))
@settings(max_examples=examples(60, 150), deadline=None)
def test_any_file_comes_back(value: Any, data: st.DataObject, hook: str) -> None:
    def blank() -> str:
        return data.draw(BLANKS)

    text = blank() + spread(value, blank) + blank()
    ones = wanted("claude", hook)
    dialect = Dialect("codex", "Codex", "hooks.json", positional=True) if data.draw(st.booleans()) else CLAUDE
    if look(read(text), ones).copies:
        return
    done = install(text, dialect, ones)
    assert done.text is not None
    assert look(read(done.text), ones).current
    assert foreign_of(done.text, ones) == foreign_of(text, ones)
    assert install(done.text, dialect, ones).text == done.text
    assert uninstall(done.text, dialect, done.added).text == text
    later = json.loads(done.text)
    groups = later["hooks"].setdefault(data.draw(NAMES), [])
    groups.insert(data.draw(st.integers(0, len(groups))), data.draw(GROUPS))
    theirs = spread(later, blank)
    for added in (done.added, Added()):
        after = uninstall(theirs, dialect, added).text
        assert after is not None
        assert foreign_of(after, ones) == foreign_of(theirs, ones)
        assert look(read(after), ones).copies == 0


@given(st.text('{}[]",:\\/* \nabtu0-.e\ufeff', max_size=40))
@settings(max_examples=examples(100, 300), deadline=None)
def test_the_reader_takes_what_the_standard_library_takes(text: str) -> None:
    try:
        expected = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_no_pairs_twice)
    except (ValueError, RecursionError):
        with pytest.raises(JsonRefused):
            parse(text)
        return
    assert plain(parse(text)) == expected


def _no_pairs_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError
    return dict(pairs)
