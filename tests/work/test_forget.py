"""What is forgotten is nowhere any more; what stands beside it stays."""

from __future__ import annotations

import hashlib
import json
import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from coffer.core.entry import entries_of, made
from coffer.core.forget import FORGOTTEN, cut, forms, struck
from coffer.store import index, vault
from coffer.store.db import DONE, begun, database, receipt, receipts, save
from coffer.store.forgotten import ForgottenBroken, forgotten_of, keep_forgotten
from coffer.store.home import Home
from coffer.store.pruned import Content, get, put
from coffer.work.memory.forget import forget, look
from coffer.work.memory.forget_errors import NothingToForget, PhraseTooShort
from coffer.work.pruning.gc import COLLECTED
from coffer.work.rules.rule_errors import OnlyThePerson
from tests.cli.run import Machine

PHRASE = "Zürich “vault” 7"
TIME = "2026-05-01T10:00:00Z"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("nothing here", "nothing here"),
        ("# A\n\nSay HIT now.\n\nAnd on.", "# A\n\nAnd on."),
        ("# A\n- one\n- HIT\n  more of it\n- three", "# A\n- one\n- three"),
        ("- one\n  - HIT\n  - two\n- three", "- one\n  - two\n- three"),
        ("- HIT\n  - below\n    - deeper\n- three", "- three"),
        ("1. HIT\n2. two", "2. two"),
        ("first\nHIT line\nlast\n\nother", "other"),
        ("# HIT\n\ntext", "text"),
        ("# A\n\nHIT", None),
        ("HIT", None),
        ("a\n\nends with HI\nT goes on\n\nb", "a\n\nends with HI\nT goes on\n\nb"),
    ],
)
def test_the_smallest_piece_goes(text: str, left: str | None) -> None:
    assert cut(text, "HIT") == left


def test_words_over_two_lines_are_found() -> None:
    assert cut("a\n\none HIT\nHAT two\n\nb", "HIT\nHAT") == "a\n\nb"


class Keeper:
    """A home in which a phrase stands in every kind of place."""

    def __init__(self, root: Path) -> None:
        self.environment = {"HOME": str(root)}
        self.home = Home(root / ".coffer")
        project = vault.vault(self.home) / "projects" / "boat"
        self.note = self.add(
            project / "knowledge", "2026-05-01.md", f"# Banks\n\n- {PHRASE}\n- the other one"
        )
        self.only = self.add(project / "knowledge", "2026-05-01.md", f"It is {PHRASE}.")
        self.kept = self.add(project / "knowledge", "2026-05-01.md", "Nothing of it.")
        self.day = self.add(
            project / "journal", "2026-05-01.md", f"## Goal\n\nFind {PHRASE}\n\n## Done\n\nThe rest."
        )
        self.old = self.add(project / "handoff" / "history" / "main", "1.md", f"Goal: {PHRASE}")
        (project / "rules").mkdir()
        (project / "rules" / "mine.md").write_text(f"# Rules\n\n- Never {PHRASE}.\n- Always the table.\n")
        self.receipt = begun("prune", "claude", "s", root / "t.jsonl")
        backup = self.home.make(self.home.backups) / self.receipt.id / "t.jsonl"
        backup.parent.mkdir()
        backup.write_text(json.dumps({"text": PHRASE}) + "\n")
        self.receipt.status = DONE
        self.receipt.data = {"backup": str(backup), "note": f"about {PHRASE}"}
        with database(self.home) as connection:
            save(connection, self.receipt)
            pieces = [self.content(f"out {PHRASE}"), self.content("harmless")]
            put(connection, self.home, self.receipt.id, "/w", pieces)
            connection.execute(
                "INSERT INTO turns VALUES ('u','claude','s','/w','/w',?,'r','l','','none',0,'',?,'','[]','nothing')",
                (TIME, f"no, {PHRASE}!"),
            )
        self.harmless = pieces[1].hash
        (self.home.root / "daemon.log").write_text(f"a line\nanother {PHRASE}\n")
        (self.home.make(self.home.root / "guard") / "s.jsonl").write_text(
            json.dumps({"event": "UserPromptSubmit", "stdin": {"prompt": PHRASE}}) + "\n"
        )

    @staticmethod
    def content(text: str) -> Content:
        data = text.encode()
        return Content(hashlib.sha256(data).hexdigest(), data, "")

    def add(self, folder: Path, name: str, text: str) -> str:
        lane = (
            "journal"
            if "journal" in folder.parts
            else "handoff"
            if "handoff" in folder.parts
            else "knowledge"
        )
        entry = made(lane, text, source="agent", time=TIME, agent="claude", session="s")  # type: ignore[arg-type]
        return vault.append(self.home, folder, name, entry).id

    def texts(self, name: str = "*.md") -> dict[str, str]:
        root = vault.vault(self.home)
        found = [one for path in root.rglob(name) for one in entries_of(path.read_text(), "knowledge")]
        return {one.id: one.text for one in found}

    def holding(self, text: str) -> list[str]:
        """Files in which a text stands, in any spelling."""
        words = [
            text.encode(),
            json.dumps(text)[1:-1].encode(),
            json.dumps(text, ensure_ascii=False)[1:-1].encode(),
        ]
        return [
            path.name
            for path in sorted(self.home.root.rglob("*"))
            if path.is_file() and any(word in path.read_bytes() for word in words)
        ]


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path)


def test_a_phrase_is_nowhere_any_more(keeper: Keeper) -> None:
    home = keeper.home
    before = keeper.holding(PHRASE)
    assert len(before) == 9
    found = look(home, keeper.environment, phrase=PHRASE)
    assert {place.kind for place in found.places} == {"entry", "backup", "pruned", "database", "file"}
    assert keeper.holding(PHRASE) == before, "a look writes nothing"
    assert forget(home, found) == []
    assert keeper.holding(PHRASE) == []
    assert look(home, keeper.environment, phrase=PHRASE).places == []
    texts = keeper.texts()
    assert texts[keeper.note] == "# Banks\n\n- the other one"
    assert texts[keeper.day] == "## Goal\n\n## Done\n\nThe rest."
    assert texts[keeper.kept] == "Nothing of it."
    assert keeper.only not in texts
    assert keeper.old not in texts
    assert "# Rules\n\n- Always the table." in texts.values()
    with database(home, write=False) as connection:
        assert get(connection, home, keeper.harmless).data == b"harmless"
        kept = receipt(connection, keeper.receipt.id)
        turn = connection.execute("SELECT text FROM turns").fetchone()
    assert kept is not None
    assert (kept.status, kept.data["note"]) == (COLLECTED, "about [forgotten]")
    assert turn == ("no, [forgotten]!",)
    assert json.loads((home.root / "guard" / "s.jsonl").read_text())["stdin"]["prompt"] == "[forgotten]"


def test_an_index_that_is_being_made_is_waited_for(keeper: Keeper) -> None:
    """Its maker has read the files as they were, and puts it in its place when it has done."""
    at_work, may_end = threading.Event(), threading.Event()

    def make() -> None:
        with index.alone(keeper.home, 10.0):
            at_work.set()
            may_end.wait(30)
            index.path(keeper.home).write_text(PHRASE)

    with ThreadPoolExecutor(2) as both:
        maker = both.submit(make)
        at_work.wait(30)
        forgetting = both.submit(forget, keeper.home, look(keeper.home, keeper.environment, phrase=PHRASE))
        wait([forgetting], 2.0)  # the longer, the surer this fails where nobody waits
        may_end.set()
        maker.result()
        assert forgetting.result() == []
    assert keeper.holding(PHRASE) == []


def test_an_entry_goes_whole_and_its_text_with_it(keeper: Keeper) -> None:
    found = look(keeper.home, keeper.environment, entry=keeper.note)
    assert [place.what for place in found.places] == [f"entry {keeper.note}"]
    forget(keeper.home, found)
    texts = keeper.texts()
    assert keeper.note not in texts
    assert {keeper.only, keeper.kept} <= set(texts)


def test_what_resists_is_told_and_the_rest_is_done(keeper: Keeper) -> None:
    found = look(keeper.home, keeper.environment, phrase=PHRASE)
    log = keeper.home.root / "daemon.log"
    log.unlink()
    log.mkdir()
    (left,) = forget(keeper.home, found)
    assert left.path == log
    assert keeper.holding(PHRASE) == []


def test_a_digest_is_only_named(keeper: Keeper) -> None:
    digest = Path(keeper.environment["HOME"]) / ".cozempic" / "behavioral-digest.md"
    digest.parent.mkdir()
    digest.write_text(f"- {PHRASE}\n")
    found = look(keeper.home, keeper.environment, phrase=PHRASE)
    assert [place.path for place in found.places if place.kind == "digest"] == [digest]
    forget(keeper.home, found)
    assert PHRASE in digest.read_text()


def test_what_can_not_be_meant(keeper: Keeper) -> None:
    with pytest.raises(PhraseTooShort):
        look(keeper.home, keeper.environment, phrase=" a ")
    with pytest.raises(NothingToForget):
        look(keeper.home, keeper.environment, entry="00000000")


@pytest.mark.parametrize(
    ("text", "phrase", "left"),
    [
        ('{"a": "x never y"}', "never", '{"a": "x [forgotten] y"}'),
        ('{"never": "x"}', "never", '{"never": "x"}'),
        ('{"a": "said\\never green"}', "never green", '{"a": "said\\never green"}'),
        ('{"backup": "/h/never/my b/x"}', "never", '{"backup": "/h/never/my b/x"}'),
        (
            '{"a": ["/h/never/x", "beef00beef", "distil"]}',
            "beef",
            '{"a": ["/h/never/x", "beef00beef", "distil"]}',
        ),
        ('{"verb": "distil", "text": "distil"}', "distil", '{"verb": "distil", "text": "[forgotten]"}'),
        ('{"key": "00beef00beef"}', "00beef00beef", '{"key": "[forgotten]"}'),
        ('{"a": "{\\"b\\": \\"\\\\u201cx\\\\u201d\\"}"}', "“x”", '{"a": "{\\"b\\": \\"[forgotten]\\"}"}'),
        ("torn {never", "never", "torn {[forgotten]"),
    ],
)
def test_of_json_only_what_is_said_goes(text: str, phrase: str, left: str) -> None:
    assert struck(text, forms(phrase), names=True) == left


def test_what_programs_read_is_whole_afterwards(keeper: Keeper) -> None:
    home = keeper.home
    config, running = home.root / "config.toml", home.root / "daemon.json"
    config.write_text("[agents.claude]\ndisable_native_memory = true\n")
    running.write_text('{"socket": "daemon.sock"}')
    keeper.receipt.data |= {"verb": "distil", "said": "done\never backup"}
    with database(home) as connection:
        save(connection, keeper.receipt)
    kept = (config.read_bytes(), running.read_bytes())
    for phrase in ("true", "socket", "never backup", "backup", "distil"):
        forget(home, look(home, keeper.environment, phrase=phrase))
    assert (config.read_bytes(), running.read_bytes()) == kept
    with database(home, write=False) as connection:
        there = receipt(connection, keeper.receipt.id)
    assert there is not None
    assert (there.data["verb"], there.data["backup"]) == ("distil", keeper.receipt.data["backup"])


def test_a_short_note_is_not_looked_for_elsewhere(keeper: Keeper) -> None:
    note = keeper.add(vault.vault(keeper.home) / "global" / "knowledge", "a.md", "main")
    (keeper.home.root / "guard" / "s.state.json").write_text('{"branch": "main"}')
    forget(keeper.home, look(keeper.home, keeper.environment, entry=note))
    assert "main" not in keeper.texts().values()
    assert "main" in (keeper.home.root / "guard" / "s.state.json").read_text()


def test_other_spellings_and_odd_places_are_found(keeper: Keeper) -> None:
    home, lane = keeper.home, vault.vault(keeper.home) / "global" / "knowledge"
    apart = unicodedata.normalize("NFD", PHRASE)
    branch = made("knowledge", "A note.", source="agent", time=TIME, branch="secret-merger")
    vault.append(home, lane, "b.md", branch)
    keeper.add(lane, "a.md", f"About {apart} too.")
    bundle = home.make(home.root / "bundles") / "k1" / "claude.json"
    bundle.parent.mkdir()
    for path in (lane / ".a.md.x8sk2", bundle, home.root / ".index.db.12", home.root / "index.db-wal"):
        path.write_text(f"left of {PHRASE}")
    for phrase in (PHRASE, "secret-merger"):
        assert forget(home, look(home, keeper.environment, phrase=phrase)) == []
        assert keeper.holding(phrase) == []
    assert keeper.holding(apart) == []
    assert keeper.texts()[branch.id] == "A note."


def test_a_copy_of_the_persons_own_is_not_taken_for_ours(keeper: Keeper) -> None:
    bak = Path(keeper.environment["HOME"]) / "settings.json.bak"
    bak.write_text(PHRASE)
    for digest, stays in (
        (hashlib.sha256(b"other").hexdigest(), True),
        (hashlib.sha256(PHRASE.encode()).hexdigest(), False),
    ):
        keeper.receipt.data = {"bak": str(bak), "digest_before": digest}
        with database(keeper.home) as connection:
            save(connection, keeper.receipt)
        forget(keeper.home, look(keeper.home, keeper.environment, phrase=PHRASE))
        assert bak.exists() is stays


def test_the_command_looks_first(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    folder = tmp_path / "w"
    folder.mkdir()
    machine = Machine(tmp_path, folder)
    said = machine.alone("forget", "--text", PHRASE)
    assert "--apply forgets it" in said.out
    assert len(keeper.holding(PHRASE)) == 9
    said = machine.alone("forget", "--text", PHRASE, "--apply", "--yes", "--json")
    assert said.code == 0, said.err
    assert said.json["forgotten"] is True
    assert keeper.holding(PHRASE) == []
    with database(keeper.home, write=False) as connection:
        assert len(receipts(connection)) == 1
    assert machine.alone("forget").code == 2


def test_agents_do_not_bring_it_back_and_the_person_may(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    machine = Machine(tmp_path, tmp_path)
    transcript = tmp_path / ".claude" / "projects" / "-w" / "s.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text(json.dumps({"text": PHRASE}))
    said = machine.alone("forget", "--text", PHRASE)
    assert "not reached" in said.out
    assert "s.jsonl" in said.out
    done = machine.alone("forget", "--text", PHRASE, "--apply", "--yes")
    assert "transcripts still hold it" in done.out
    assert keeper.holding(PHRASE) == [], "the list of what is forgotten holds none of it"
    assert PHRASE in json.loads(transcript.read_text())["text"]
    folder = vault.vault(keeper.home) / "global" / "knowledge"
    again = keeper.add(folder, "a.md", f"They say {PHRASE} again")
    assert keeper.texts()[again] == f"They say {FORGOTTEN} again"
    assert machine.alone("remember", "--global", f"I say {PHRASE} again").code == 0
    assert len(keeper.holding(PHRASE)) == 1
    assert machine.alone("forget", "--text", PHRASE, "--lift", CLAUDECODE="1").code == OnlyThePerson.exit_code
    assert machine.alone("forget", "--text", PHRASE, "--lift", "--yes", "--json").json == {"lifted": True}
    assert machine.alone("forget", "--text", PHRASE, "--lift", "--yes", "--json").json == {"lifted": False}
    now = keeper.add(folder, "a.md", f"It is {PHRASE} now")
    assert keeper.texts()[now] == f"It is {PHRASE} now"


def test_a_phrase_that_is_forgotten_twice_is_kept_once_and_no_branch_brings_it_back(keeper: Keeper) -> None:
    keep_forgotten(keeper.home, [PHRASE], {})
    once = forgotten_of(keeper.home)
    keep_forgotten(keeper.home, [PHRASE, PHRASE], {})
    assert forgotten_of(keeper.home) == once
    entry = made("journal", "a day", source="distil", time="", branch=f"for-{PHRASE}")
    assert vault.tellable(keeper.home, entry).branch == f"for-{FORGOTTEN}"


def test_a_list_that_can_not_be_read_lets_nothing_be_written(keeper: Keeper) -> None:
    (keeper.home.root / "forgotten.json").write_text("{")
    folder = vault.vault(keeper.home) / "global" / "knowledge"
    with pytest.raises(ForgottenBroken):
        keeper.add(folder, "a.md", "a note")
    assert not (folder / "a.md").exists()
