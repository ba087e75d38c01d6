"""The rules at the end of a pruned transcript: once, in its place, and only where something is pruned anyway.

COFFER_EFFORT=all tries many more sessions.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from coffer.agents.delivered import DELIVERED
from coffer.core import view as views
from coffer.core.laws import breaches
from coffer.core.plan import Form, Plan, Tail
from coffer.core.tail import FORMS
from coffer.disk.project import user_digest
from coffer.errors import CofferError, LawBroken
from coffer.store.home import Home
from coffer.work.pruning.prune import Proposal, propose, write_checked
from coffer.work.pruning.tail import copies
from coffer.work.sessions.read import opened
from tests.bundle.desk import HARD, SOFT, write_rules
from tests.effort import examples
from tests.lab.mutations import Damage
from tests.prune.generate import PRESCRIBED, STEPS, Step, Talk, begun, build, rich, words
from tests.prune.world import put, side
from tests.transcripts import call, read, text, uid

MARK = "<!-- __cozempic_behavioral_digest__: true -->"
laws = settings(
    derandomize=True,
    deadline=None,
    max_examples=examples(30, 300),
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)


@pytest.fixture(scope="module")
def house() -> Iterator[Path]:
    """A home with two rules."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / ".coffer")
        home.make(home.root)
        write_rules(Path(folder), home, HARD, SOFT)
        yield Path(folder)


def prune(
    data: bytes, house: Path, prescription: str = "standard", form: Form = "attachment"
) -> tuple[bytes, Proposal]:
    """The bytes that a prune in this home leaves, proven, and the proposal."""
    (house / ".coffer/config.toml").write_text(f'[prune]\ntail = "{form}"\n')
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder), data)
        target = path.with_suffix(".pruned")
        with opened(path) as session, target.open("w+b") as file:
            proposal = propose(session, {"HOME": str(house)}, prescription)
            write_checked(proposal, target, file)
        return target.read_bytes(), proposal


def live_blocks(data: bytes) -> list[str]:
    """The blocks that the view holds, in its order."""
    transcript = read(data)
    seen: dict[int, list[str]] = {}
    for item in views.view(transcript).items:
        if item.record is not None and item.record.start not in seen:
            line = data[item.record.start : item.record.end]
            seen[item.record.start] = (
                list(DELIVERED["claude"](item.record, line)) if MARK.encode() in line else []
            )
    return [text for texts in seen.values() for text in texts]


def hook(talk: Talk, text: str, name: str, event: str = "SessionStart") -> None:
    talk.made.attachment(
        "hook_additional_context",
        name,
        {"content": [text], "hookName": event, "toolUseID": event, "hookEvent": event},
    )


def with_copies() -> Talk:
    """A session that was delivered to at its start and in its middle."""
    talk = Talk()
    hook(talk, f"{MARK}\nan old bundle", "old")
    talk.ask("please look", "first")
    hook(talk, f"{MARK}\na delta", "delta", "UserPromptSubmit")
    talk.fill(3)
    talk.say(words(120_000, "a long answer"), "fine")
    for _ in range(3):
        talk.read(size=30_000)
    talk.ask("go on", "second")
    talk.edit()
    talk.end()
    return talk


@pytest.mark.parametrize("form", FORMS)
def test_the_rules_move_to_the_end(house: Path, form: Form) -> None:
    talk = with_copies()
    after, proposal = prune(talk.data, house, form=form)
    tail = proposal.plan.tail
    assert tail is not None
    assert live_blocks(after) == [tail.text]
    assert HARD in tail.text
    last = json.loads(after.splitlines()[-1])
    assert last["parentUuid"] == uid("lasta")
    assert last["uuid"] == tail.uuid
    for key in ("sessionId", "cwd", "version"):
        assert last[key] == json.loads(talk.data.splitlines()[-1])[key]
    if form == "user":
        assert last["message"] == {"role": "user", "content": tail.text}
    else:
        assert last["attachment"]["content"] == [tail.text]
    records = {record.get("uuid"): record for record in map(json.loads, after.splitlines())}
    assert records[uid("old")]["attachment"]["content"] == []  # before the first prompt: a rewind may name it
    assert uid("delta") not in records


@pytest.mark.parametrize("form", FORMS)
def test_a_second_prune_leaves_it_and_a_later_one_moves_it(house: Path, form: Form) -> None:
    talk = with_copies()
    once, first = prune(talk.data, house, form=form)
    again, second = prune(once, house, form=form)
    assert second.plan.is_empty
    assert again == once
    assert first.plan.tail is not None
    talk.made.lines = once.splitlines()
    talk.made.leaf = first.plan.tail.uuid
    for word in ("more", "and more"):
        talk.ask(word)
        talk.read(size=30_000)
        talk.edit()
        talk.say(word)
    moved, third = prune(talk.data, house, form=form)
    assert third.plan.tail is not None
    assert third.plan.tail.uuid != first.plan.tail.uuid
    assert live_blocks(moved) == [third.plan.tail.text]


def test_nothing_is_appended_where_nothing_is_pruned(house: Path) -> None:
    talk = begun()
    hook(talk, f"{MARK}\nan old bundle", "old")
    talk.say()
    talk.end()
    after, proposal = prune(talk.data, house)
    assert proposal.plan.is_empty
    assert proposal.plan.tail is None
    assert after == talk.data


def test_coffers_own_rules_alone_are_put_only_where_there_were_rules(tmp_path: Path) -> None:
    (tmp_path / ".coffer").mkdir()
    after, proposal = prune(rich().data, tmp_path)
    assert not proposal.plan.is_empty
    assert proposal.plan.tail is None
    assert MARK.encode() not in after
    after, proposal = prune(with_copies().data, tmp_path)
    assert proposal.plan.tail is not None
    assert live_blocks(after) == [proposal.plan.tail.text]
    assert after.count(b"coffer__resume()") == 1


@pytest.mark.parametrize("form", FORMS)
def test_what_a_person_said_since_stays_the_end(house: Path, form: Form) -> None:
    """`/exit` and its farewell, or words that nobody answered."""
    talk = with_copies()
    talk.ask("<command-name>/exit</command-name>", "exit")
    talk.ask("<local-command-stdout>See ya!</local-command-stdout>", "bye")
    after, proposal = prune(talk.data, house, form=form)
    tail = proposal.plan.tail
    assert tail is not None
    assert live_blocks(after) == [tail.text]
    lines = [json.loads(line) for line in after.splitlines()]
    uuids = [line.get("uuid") for line in lines]
    place = uuids.index(tail.uuid)
    assert uuids[place + 1 :] == [uid("exit"), uid("bye")]
    assert [line["parentUuid"] for line in lines[place : place + 2]] == [uid("lasta"), tail.uuid]
    again, second = prune(after, house, form=form)
    assert second.plan.is_empty
    assert again == after


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("answered", [False, True])
def test_a_turn_that_was_cut_keeps_its_end(house: Path, form: Form, answered: bool) -> None:  # noqa: FBT001
    """A kill while a tool ran, or behind its result: the rules stand before the prompt of that turn."""
    talk = with_copies()
    talk.ask("and this?", "cut")
    talk.made.answer(text("I look."), call("c1"), name="w")
    if answered:
        talk.made.result("c1", name="r")
    after, proposal = prune(talk.data, house, form=form)
    tail = proposal.plan.tail
    assert tail is not None
    assert live_blocks(after) == [tail.text]
    lines = [json.loads(line) for line in after.splitlines()]
    place = [line.get("uuid") for line in lines].index(tail.uuid)
    assert [line["parentUuid"] for line in lines[place : place + 2]] == [uid("lasta"), tail.uuid]
    ends = [line["uuid"] for line in lines[place + 1 :]]
    assert ends == [uid(name) for name in ("cut", "wa", "wb", "r")][: 3 + answered]
    again, second = prune(after, house, form=form)
    assert second.plan.is_empty
    assert again == after


def test_a_first_turn_that_was_cut_gets_no_record(house: Path) -> None:
    talk = Talk()
    talk.ask("please look", "first")
    for _ in range(6):
        talk.read(size=30_000)
        talk.edit()
    talk.bash()
    _, proposal = prune(talk.data, house, "aggressive")
    assert proposal.plan.tail is None


def test_a_session_of_one_turn_has_one_copy_too(house: Path) -> None:
    talk = Talk()
    hook(talk, f"{MARK}\nan old bundle", "old")
    talk.ask("please look", "first")
    talk.made.progress("p1")
    talk.say("done", "done")
    after, proposal = prune(talk.data, house)
    assert proposal.plan.tail is not None
    assert live_blocks(after) == [proposal.plan.tail.text]


WRONG: dict[str, Any] = {
    "another text": lambda line: line.replace(b"Co-Authored", b"co-authored"),
    "another event": lambda line: line.replace(b'"hookEvent":"SessionStart"', b'"hookEvent":"PostToolUse"'),
    "no attachment": lambda line: line.replace(b"hook_additional_context", b"diagnostics"),
    "nothing": lambda _line: b"",
    "twice": lambda line: line + line.replace(b'"uuid":"', b'"uuid":"f'),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_the_laws_see_a_wrong_end(house: Path, wrong: str) -> None:
    talk = with_copies()
    after, proposal = prune(talk.data, house)
    before = side(talk.data)
    assert breaches(before, side(after, before.view.model), proposal.plan) == []
    *lines, last = after.splitlines(keepends=True)
    damaged = b"".join([*lines, WRONG[wrong](last)])
    assert breaches(before, side(damaged, before.view.model), proposal.plan) != []


def test_the_laws_see_an_old_copy_that_stayed(house: Path) -> None:
    talk = with_copies()
    _, proposal = prune(talk.data, house)
    tail = proposal.plan.tail
    assert tail is not None
    kept = proposal.plan.without("bundles", "for a test")
    assert kept.tail is None
    assert Plan(kept.actions, wanted=Tail(tail.text, tail.form, tail.uuid, tail.line)).tail is not None


@laws
@given(steps=STEPS, prescription=PRESCRIBED)
def test_any_session_ends_with_the_rules_or_stays_as_they_were(steps: list[Step], prescription: str) -> None:
    for form in FORMS:
        _prove(build(steps).data, prescription, form)


@settings(laws, max_examples=examples(20, 150))
@given(steps=STEPS)
def test_damaged_sessions(steps: Sequence[Step]) -> None:
    _prove(Damage(build(steps).data, len(steps)).data, "standard", "attachment")


def _prove(data: bytes, prescription: str, form: Form) -> None:
    with tempfile.TemporaryDirectory() as folder:
        house = Path(folder)
        home = Home(house / ".coffer")
        home.make(home.root)
        write_rules(house, home, HARD)
        try:
            after, proposal = prune(data, house, prescription, form)
        except LawBroken:
            os.unlink(user_digest(house))  # noqa: PTH108  (then the same prune must be refused without rules too)
            with pytest.raises(LawBroken):
                prune(data, house, prescription, form)
            return
        except CofferError:
            return
    before = side(data)
    assert breaches(before, side(after, before.view.model), proposal.plan) == []
    tail = proposal.plan.tail
    if tail is not None:
        assert live_blocks(after) == [tail.text]
        assert after.count(tail.line + b"\n") == 1
        assert tail.before >= 0 or after.endswith(tail.line + b"\n")
    if proposal.plan.is_empty:
        assert after in (data, data + b"\n")


def test_copies_are_found_in_both_forms(tmp_path: Path) -> None:
    talk = begun()
    hook(talk, f"{MARK}\none", "one")
    talk.say()
    talk.ask(f"{MARK}\ntwo", "two", isMeta=True)
    talk.ask(f"he pasted {MARK}", "three")
    talk.end()
    with opened(put(tmp_path, talk.data)) as session:
        found = copies(session, propose(session, {}, "standard").scene)
    assert [copy.text.split("\n")[1] for copy in found] == ["one", "two"]
