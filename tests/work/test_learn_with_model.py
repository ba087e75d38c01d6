"""Learning with a configured model, a scripted one on loopback: it decides what would only ask, and nothing more."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.core.settings import Model, Settings
from coffer.disk.sessions import find_sessions
from coffer.work.rules.ask import Asker
from coffer.work.rules.learn import Learned, Learning
from tests.models.server import OPENAI, ScriptedServer, Slept, hangs_up, serving
from tests.work.learning import Desktop

ASKS = "why are you still doing it like that?"
YES = (
    'Turn: "why"\nClassification: IMPLICIT_CORRECTION\nReasoning: It repeats an earlier wish.\nPersistence: session\n'
    "Rule: Do not mock the database; use the test container."
)
NO = 'Turn: "why"\nClassification: NONE\nReasoning: It is a question.\nPersistence: none\nRule: none'


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


def learn(desktop: Desktop, server: ScriptedServer) -> Learned:
    model = Model(provider="openai", base_url=f"{server.url}/v1", model="plover-1", retries=0)
    asker = Asker(
        Settings(model=model), desktop.home, desktop.environment, sleep=Slept(), now=lambda: desktop.now
    )
    learning = Learning(
        desktop.home, desktop.places, desktop.environment, desktop.settings.digest, asker, desktop.now
    )
    return learning.run(find_sessions(desktop.places))


def test_a_model_words_what_only_asked_and_the_person_has_the_last_word(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    for number in range(3):
        desktop.session(tide, [ASKS], f"s{number}", days_ago=9 - number)
    with serving(OPENAI.says(YES)) as server:
        learned = learn(desktop, server)
    assert learned.states()["counted"] == 3
    (rule,) = desktop.rules(tide)
    assert (rule.state, rule.corrections, rule.proposed) == ("pending", 3, True)
    (item,) = desktop.inbox(tide).items()
    assert desktop.inbox(tide).accept(item.id).rule.state == "active"


def test_a_model_clears_the_inbox_of_what_is_nothing(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ASKS], "a")
    with serving(OPENAI.says(NO)) as server:
        learn(desktop, server)
        assert len(server.requests) == 1
        learn(desktop, server)
        assert len(server.requests) == 1, "a turn is asked about once"
    assert desktop.inbox(tide).items() == []


def test_a_model_that_fails_leaves_it_to_the_person(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ASKS], "a")
    with serving(hangs_up) as server:
        learned = learn(desktop, server)
    assert [item.kind for item in desktop.inbox(tide).items()] == ["noticed"]
    assert learned.problems


@pytest.mark.parametrize(("said", "corrections"), [("DUPLICATE", 2), ("DISTINCT", 1), ("CONTRADICTORY", 1)])
def test_a_model_decides_the_middle_between_like_rules(desktop: Desktop, said: str, corrections: int) -> None:
    tide = desktop.project("tide")
    kept = desktop.desk(tide).add("Do not put attribution lines into commits.")
    desktop.session(tide, ["please don't add co-author lines to commits in this repo"], "a")
    with serving(OPENAI.says(f"Relation: {said}")) as server:
        learn(desktop, server)
        assert len(server.requests) == 1
    rules = {rule.id: rule for rule in (*desktop.rules(tide), *desktop.rules(None))}
    assert rules[kept.rule.id].corrections == corrections
    assert rules[kept.rule.id].state == "active", "a model alone archives nothing"
    assert len(rules) == (1 if said == "DUPLICATE" else 2)
