"""The agents' own memory: off, and back to the byte, whoever wrote in between."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coffer.agents.memory_switch import SWITCHES, SwitchRefused, turn_back, turn_off, values
from coffer.disk.places import Places
from coffer.store.db import DONE, UNDONE, database, receipts
from coffer.store.home import Home
from coffer.work.agent_settings import native_memory as memory
from coffer.work.agent_settings.config_write import DISABLED, RESTORED
from coffer.work.agent_settings.install import install, plan, plan_removal, uninstall
from coffer.work.pruning.gc import RETENTION_DAYS, collect
from coffer.work.undo_any import undo_any

JSONS = [
    None,
    "",
    " \n",
    "{}",
    "{ }\n",
    '{"model": "opus"}',
    '{\n  "model": "opus",\n  "env": {"A": "b"}\n}\n',
    '{\r\n\t"a": [1, 2],\r\n\t"autoMemoryEnabled": true\r\n}\r\n',
    '{"autoMemoryEnabled":true}',
    '{"autoMemoryEnabled" : "yes", "z": 1e3}',
    '\ufeff{"a": "\\u00e4"}\n',
]
TOMLS = [
    None,
    "",
    "\n",
    'model = "x"\n',
    'model = "x"',
    "features.plugins = false\n\n[x]\ny = 1\n",
    "# mine\n[features]\nhooks = true # yes\n\n[mcp_servers.a]\ncommand = 'x'\n",
    "features.memories = true\n",
    "features = { memories = true, other = 1 }\n",
    "[memories]\nuse_memories = true\ngenerate_memories = true # on\n",
    "[features]\r\nmemories = true\r\n\r\n[memories]\r\n",
    '[features]\nmemories = "odd"\n',
    "[[things]]\na = 1\n\n[features]\n",
]
EACH = [("claude", text) for text in JSONS] + [("codex", text) for text in TOMLS]


@pytest.mark.parametrize(("agent", "text"), EACH)
def test_off_is_off_and_back_is_what_was(agent: str, text: str | None) -> None:
    switch = SWITCHES[agent]
    after, before = turn_off(text, switch)
    assert after is not None
    assert set(values(after, switch)) == {False}
    assert turn_off(after, switch)[0] == after
    others = _others(agent, after)
    assert others == _others(agent, text or "")
    back = turn_back(after, switch, before)
    assert not back.theirs
    assert back.text == text or (text == 'model = "x"' and back.text == text + "\n")


FOREIGN = {
    "claude": [('"foreign": 1, ', "{"), (', "foreign": [true]', None)],
    "codex": [("foreign = 1\n", ""), ("\n[foreign]\na = 1\n", None)],
}


@pytest.mark.parametrize(("agent", "text"), [(a, t) for a, t in EACH if t and t.strip("\ufeff{} \r\n")])
def test_what_others_wrote_in_between_stays(agent: str, text: str) -> None:
    switch = SWITCHES[agent]
    after, before = turn_off(text, switch)
    assert after is not None
    if agent == "claude":
        changed = after[: after.rindex("}")].rstrip() + ', "foreign": [true]}'
    else:
        changed = after + "\n[foreign]\na = 1 # theirs\n"
    back = turn_back(changed, switch, before).text
    assert back is not None
    assert values(back, switch) == values(text, switch)
    assert "foreign" in back
    assert {**_others(agent, back), "foreign": 0} == {**_others(agent, text), "foreign": 0}


@pytest.mark.parametrize(
    ("agent", "text", "line"),
    [
        ("claude", "[]", 1),
        ("claude", '{"a": 1,\n// no\n"b": 2}', 2),
        ("codex", "a = \n", 1),
        ("codex", "features = 3\n", 0),
    ],
)
def test_a_file_that_is_not_understood_is_refused(agent: str, text: str, line: int) -> None:
    with pytest.raises(SwitchRefused) as refused:
        turn_off(text, SWITCHES[agent])
    assert refused.value.line == line


class House:
    def __init__(self, root: Path) -> None:
        self.home = Home(root / "coffer")
        self.places = Places(root / "claude", root / "codex")
        self.places.claude.mkdir()
        self.places.codex.mkdir()

    def off(self, agent: str) -> None:
        assert memory.carry(memory.plan_disable(agent, self.places), self.home) is not None

    def back(self, agent: str) -> tuple[str, ...]:
        proposal = memory.plan_restore(agent, self.places, self.home)
        memory.carry(proposal, self.home)
        return proposal.notes

    def state(self, agent: str, folder: Path | None = None, **environment: str) -> memory.MemoryStatus:
        return memory.memory_status(agent, environment, self.places, self.home, folder)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize(("agent", "text"), EACH)
def test_on_disk_back_is_byte_for_byte(house: House, agent: str, text: str | None) -> None:
    path = memory.switch_path(agent, house.places)
    if text is not None:
        path.write_bytes(text.encode())
        path.chmod(0o640)
    house.off(agent)
    assert house.state(agent).state == "off by Coffer"
    house.back(agent)
    assert (path.read_bytes() if path.exists() else None) == (None if text is None else text.encode())
    if text is not None:
        assert path.stat().st_mode & 0o777 == 0o640
    assert house.state(agent).receipt == ""


@pytest.mark.parametrize(
    ("agent", "text"), [("claude", '{"a": 1}\n'), ("claude", None), ("codex", 'model = "x"\n')]
)
def test_it_comes_back_after_its_backup_was_let_go(house: House, agent: str, text: str | None) -> None:
    path = memory.switch_path(agent, house.places)
    if text is not None:
        path.write_text(text)
    house.off(agent)
    collect(house.home, RETENTION_DAYS, datetime.now(UTC) + timedelta(days=60), dry_run=False)
    house.back(agent)
    assert (path.read_text() if path.exists() else None) == text
    assert house.state(agent).receipt == ""


ORDERS = [
    ("off", "hooks", "no hooks", "back"),
    ("off", "hooks", "back", "no hooks"),
    ("hooks", "off", "no hooks", "back"),
    ("hooks", "off", "back", "no hooks"),
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("text", [None, "", "{ }\n", '{"a": 1}', '{"autoMemoryEnabled": true,\r\n"b":[]}'])
def test_with_hooks_in_whatever_order_the_file_is_what_it_was(
    house: House, text: str | None, order: tuple[str, ...]
) -> None:
    path = memory.switch_path("claude", house.places)
    if text is not None:
        path.write_bytes(text.encode())
    acts: dict[str, Callable[[], object]] = {
        "off": lambda: house.off("claude"),
        "back": lambda: house.back("claude"),
        "hooks": lambda: install(plan("claude", house.places, house.home), house.home),
        "no hooks": lambda: uninstall(plan_removal("claude", house.places, house.home), house.home),
    }
    for one in order:
        acts[one]()
    assert (path.read_bytes() if path.exists() else None) == (None if text is None else text.encode())


def test_an_empty_object_of_the_persons_stays(house: House) -> None:
    path = memory.switch_path("claude", house.places)
    house.off("claude")
    path.write_text('{ "autoMemoryEnabled": false, "a": 1 }')
    install(plan("claude", house.places, house.home), house.home)
    house.back("claude")
    uninstall(plan_removal("claude", house.places, house.home), house.home)
    assert json.loads(path.read_text()) == {"a": 1}


def test_a_value_that_the_person_set_since_is_theirs(house: House) -> None:
    path = memory.switch_path("claude", house.places)
    path.write_text('{"autoMemoryEnabled": false, "a": 1}')
    assert not memory.plan_disable("claude", house.places).changed
    path.write_text('{"a": 1}')
    house.off("claude")
    path.write_text('{"a": 2, "autoMemoryEnabled": true}')
    found = house.state("claude")
    assert found.state == "on"
    assert "changed since" in found.conflicts[0]
    assert house.back("claude") == (
        "“autoMemoryEnabled” was set by somebody else since, and stays as it is.",
    )
    assert path.read_text() == '{"a": 2, "autoMemoryEnabled": true}'
    assert house.state("claude").conflicts == ()


def test_the_undo_of_the_receipt_is_a_restore(house: House) -> None:
    path = memory.switch_path("codex", house.places)
    path.write_text("[features]\nmemories = true\n")
    house.off("codex")
    with database(house.home, write=False) as connection:
        (receipt,) = receipts(connection, str(path))
    assert receipt.kind == DISABLED
    undo_any(receipt, house.home, house.places)
    assert path.read_text() == "[features]\nmemories = true\n"
    assert house.state("codex").state == "on"
    assert not memory.plan_restore("codex", house.places, house.home).changed


def test_the_undo_leaves_what_was_written_since(house: House) -> None:
    path = memory.switch_path("claude", house.places)
    path.write_text('{"a": 1}')
    house.off("claude")
    with database(house.home, write=False) as connection:
        (receipt,) = receipts(connection, str(path))
    install(plan("claude", house.places, house.home), house.home)
    hooked = json.loads(path.read_text())
    done = undo_any(receipt, house.home, house.places)
    del hooked["autoMemoryEnabled"]
    assert json.loads(path.read_text()) == hooked
    assert hooked["hooks"]
    with database(house.home, write=False) as connection:
        kinds = {one.id: (one.kind, one.status) for one in receipts(connection, str(path))}
    assert kinds[receipt.id] == (DISABLED, UNDONE)
    assert kinds[done.id] == (RESTORED, DONE)


def test_what_outranks_the_settings_is_told(house: House, tmp_path: Path) -> None:
    memory.switch_path("claude", house.places).write_text(
        json.dumps({"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}})
    )
    local = tmp_path / "work" / ".claude"
    local.mkdir(parents=True)
    (local / "settings.local.json").write_text('{"autoMemoryEnabled": false}')
    said = " ".join(house.state("claude", tmp_path / "work", CLAUDE_CODE_DISABLE_AUTO_MEMORY="0").conflicts)
    assert "in this terminal decides" in said
    assert "in the settings' `env` decides" in said
    assert "settings.local.json says false" in said


def test_wishes_of_the_settings_are_planned_once(house: House) -> None:
    (plan,) = memory.wished({"claude": True}, house.places, house.home)
    memory.carry(plan, house.home)
    assert memory.wished({"claude": True}, house.places, house.home) == []
    (plan,) = memory.wished({"claude": False}, house.places, house.home)
    memory.carry(plan, house.home)
    assert memory.wished({"claude": False}, house.places, house.home) == []
    assert not memory.switch_path("claude", house.places).exists()


def test_a_broken_file_is_told_and_left(house: House) -> None:
    path = memory.switch_path("claude", house.places)
    path.write_text('{"a": 1, // mine\n}')
    plan = memory.plan_disable("claude", house.places)
    assert "comment" in str(plan.problems[0])
    assert not plan.changed
    assert house.state("claude").problem is not None
    assert path.read_text() == '{"a": 1, // mine\n}'


def _others(agent: str, text: str) -> dict[str, object]:
    """What a file says besides the switch."""
    body = text.lstrip("\ufeff")
    said: dict[str, object] = (
        (json.loads(body) if body.strip() else {}) if agent == "claude" else tomllib.loads(body)
    )
    for key in SWITCHES[agent].keys:
        if len(key) == 1:
            said.pop(key[0], None)
        elif isinstance(table := said.get(key[0], {}), dict):
            table.pop(key[1], None)
            if not table:
                said.pop(key[0], None)
    return said
