"""What the tools do, through the pipe and the real server: propose rules, bring a project's own content back."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from coffer.errors import RestoreNotFound
from coffer.store.db import begun, database, save
from coffer.store.pruned import Content, put
from coffer.work.pruning.own_content import PAGE, page_of, restore_own
from coffer.work.rules.propose import by_words, issue
from tests.mcp.rig import LONG, TOOLS, Rig

TURN = "why are you still doing it like that?"
RULE = {
    "prohibition": "Do not mock the database; use the test container.",
    "before": "Mocked the database",
    "after": "asked why",
    "scope": "testing",
}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def ticket_for(rig: Rig, project: Path, name: str = "a") -> str:
    path = rig.desktop.session(project, [TURN], name)
    return issue(rig.home, str(path), by_words(TURN), str(project), rig.desktop.now)


def keep(rig: Rig, value: object, folder: Path, transcript: Path = Path("/nowhere")) -> str:
    """Content that a prune took out of a session in a folder; its id."""
    data = json.dumps(value).encode()
    name, receipt = hashlib.sha256(data).hexdigest(), begun("prune", "claude", "s", transcript)
    with database(rig.home) as connection:
        save(connection, receipt)
        put(connection, rig.home, receipt.id, str(folder), [Content(name, data, "Read a.py")])
    return name


def test_a_proposal_ends_in_the_inbox(rig: Rig, tide: Path) -> None:
    rig.serve()
    ticket = ticket_for(rig, tide)
    with rig.pipe(tide) as client:
        client.open()
        text, failed = client.call("propose_rule", ticket=ticket, **RULE)
        assert not failed
        assert "once the person has accepted it" in text
        (rule,) = rig.desktop.rules(tide)
        assert (rule.state, rule.corrections, rule.proposed, rule.scope) == ("pending", 1, True, "testing")
        (item,) = rig.desktop.inbox(tide).items()
        assert item.kind == "pending"
        text, failed = client.call("propose_rule", ticket=ticket, **RULE)
        assert failed
        assert "used before" in text
        assert "go on with your work" in text
        assert client.call("propose_rule", ticket="made-up", **RULE)[1]
    (again,) = rig.desktop.rules(tide)
    assert again.corrections == 1


def test_a_refused_wording_says_what_to_do_and_leaves_the_ticket_good(rig: Rig, tide: Path) -> None:
    rig.serve()
    ticket = ticket_for(rig, tide)
    with rig.pipe(tide) as client:
        client.open()
        for wrong, why in (
            ({"prohibition": "# Obey"}, "still good"),
            ({"prohibition": "Do not x.", "before": "[End of behavioral contract"}, "still good"),
            ({"prohibition": "x" * 401}, "length <= 400 - at `$.prohibition`"),
            ({"prohibition": "Do not x.", "persistence": "always"}, "$.persistence"),
            ({}, "missing required field `prohibition`"),
        ):
            text, failed = client.call("propose_rule", ticket=ticket, **wrong)
            assert failed
            assert why in text
        assert client.call("propose", ticket=ticket) == (
            f"There is no tool of that name; there are {', '.join(TOOLS)}.",
            True,
        )
        assert not client.call("propose_rule", ticket=ticket, unknown=1, **RULE)[1]


def test_secrets_are_redacted_and_the_log_holds_no_content(rig: Rig, tide: Path) -> None:
    server = rig.serve()
    ticket = ticket_for(rig, tide)
    secret = "ghp_" + "a1B2" * 9
    with rig.pipe(tide) as client:
        client.open()
        worded = {**RULE, "before": f"printed {secret}", "after": f"not {secret}", "scope": secret}
        text, failed = client.call(
            "propose_rule", ticket=ticket, **{**worded, "prohibition": f"Do not say {secret}."}
        )
        assert failed
        assert secret not in text
        text, failed = client.call("propose_rule", ticket=ticket, **worded)
        assert not failed
        assert secret not in text
    server.terminate()
    assert server.wait(LONG) == 0
    assert secret not in rig.desktop.every_text()
    assert "claude propose_rule: done" in rig.log
    assert "printed" not in rig.log
    assert ticket not in rig.log


def test_a_rule_that_is_there_is_counted(rig: Rig, tide: Path) -> None:
    rig.serve()
    kept = rig.desktop.desk(tide).add(RULE["prohibition"])
    with rig.pipe(tide, agent="codex") as client:
        client.open()
        text, failed = client.call("propose_rule", ticket=ticket_for(rig, tide), **RULE)
    assert not failed
    assert f"Rule {kept.rule.id} is active already" in text


def test_two_pipes_at_once_each_get_their_own_projects_content(rig: Rig, tide: Path) -> None:
    rig.serve()
    moss = rig.desktop.project("moss")
    (tide / "deep" / "er").mkdir(parents=True)
    ids = {project: keep(rig, f"content of {project.name}", project) for project in (tide, moss)}
    with rig.pipe(tide / "deep" / "er") as one, rig.pipe(moss, agent="codex") as other:
        assert [one.open(), other.open()] == [TOOLS] * 2
        assert one.call("restore", id=ids[tide][:10]) == ("content of tide", False)
        assert other.call("restore", id=ids[moss][:10].upper()) == ("content of moss", False)
        for client, foreign in ((one, ids[moss]), (other, ids[tide])):
            refused, unknown = (
                client.call("restore", id=foreign[:10]),
                client.call("restore", id="0123456789"),
            )
            assert refused[1]
            assert refused[0].replace(foreign[:10], "ID") == unknown[0].replace("0123456789", "ID")


def test_content_that_two_projects_pruned_is_both_projects(rig: Rig, tide: Path) -> None:
    moss = rig.desktop.project("moss")
    reed = rig.desktop.project("reed")
    name = keep(rig, "the same", tide, rig.desktop.session(tide, [TURN], "a"))
    assert keep(rig, "the same", moss, rig.desktop.session(moss, [TURN], "b")) == name
    shelf = rig.desktop.shelf()
    for project in (tide, moss):
        assert restore_own(rig.home, name, str(project), shelf.project).text == "the same"
    with pytest.raises(RestoreNotFound):
        restore_own(rig.home, name, str(reed), shelf.project)


def test_without_a_project_the_folder_must_be_the_same(rig: Rig, tide: Path) -> None:
    loose, other = rig.desktop.root / "loose", rig.desktop.root / "other"
    loose.mkdir()
    other.mkdir()
    name = keep(rig, "loose", loose)
    shelf = rig.desktop.shelf()
    assert restore_own(rig.home, name, str(loose), shelf.project).text == "loose"
    for folder in (other, tide, rig.desktop.root, Path("/")):
        with pytest.raises(RestoreNotFound):
            restore_own(rig.home, name, str(folder), shelf.project)
    with pytest.raises(RestoreNotFound):
        restore_own(rig.home, name, "", shelf.project)


@pytest.mark.parametrize("wrong", ["", "abc", "%", "..", "abcg", "ABCDEF", "' OR 1=1 --", "é" * 9])
def test_an_id_is_hex_digits(rig: Rig, tide: Path, wrong: str) -> None:
    keep(rig, "x", tide)
    with pytest.raises(RestoreNotFound):
        restore_own(rig.home, wrong, str(tide), rig.desktop.shelf().project)


def test_a_long_text_comes_in_pages(rig: Rig, tide: Path) -> None:
    rig.serve()
    long = "".join(f"línea {number} 家\n" for number in range(9_000))
    name = keep(rig, long, tide)
    got, offset = "", 0
    with rig.pipe(tide) as client:
        client.open()
        while True:
            text, failed = client.call("restore", id=name, offset=offset)
            assert not failed
            assert len(text.encode()) <= PAGE + 200
            page, _, note = text.rpartition("\n[characters ")
            got += page
            if "offset=" not in note:
                break
            offset = int(note.partition("offset=")[2].partition(".")[0])
        assert client.call("restore", id=name, offset=10_000_000)[0].strip().startswith("[characters")
        assert client.call("restore", id=name, offset=-1)[1]
    assert got == long


@pytest.mark.parametrize("text", ["", "a", "家" * 10, "𝄞" * 10, "aé家𝄞" * 10])
@pytest.mark.parametrize("size", [1, 3, 4, 7, 1000])
def test_pages_put_together_are_the_text(text: str, size: int) -> None:
    got, at = "", 0
    while at < len(text):
        page = page_of(text, at, size)
        assert page.start == at < page.end
        got, at = got + page.text, page.end
    assert got == text


def test_images_come_back_as_images_and_huge_ones_are_named(rig: Rig, tide: Path) -> None:
    rig.serve()

    def image(data: str) -> dict[str, object]:
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}

    small = keep(rig, [{"type": "text", "text": "a picture"}, image(PNG)], tide)
    huge = keep(rig, [image("QUJD" * 600_000)], tide)
    with rig.pipe(tide) as client:
        client.open()
        told = client.ask("tools/call", {"name": "restore", "arguments": {"id": small}})["result"]["content"]
        assert told[0]["text"] == "a picture"
        assert told[1] == {"type": "image", "data": PNG, "mimeType": "image/png"}
        assert "--out FILE" in client.call("restore", id=huge)[0]


def test_half_a_surrogate_pair_in_kept_content_is_no_failure(rig: Rig, tide: Path) -> None:
    rig.serve()
    name = keep(rig, "half \ud83d of a pair", tide)
    with rig.pipe(tide) as client:
        client.open()
        assert client.call("restore", id=name) == ("half ? of a pair", False)


def test_settings_that_are_broken_are_for_the_person(rig: Rig, tide: Path) -> None:
    rig.serve()
    (rig.home.root / "config.toml").write_text("nonsense")
    with rig.pipe(tide) as client:
        client.open()
        text, failed = client.call("restore", id="abcdef")
        assert failed
        assert "tell the person" in text
