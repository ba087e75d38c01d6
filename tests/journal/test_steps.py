"""What a journal makes of commands, outputs, rollouts and words."""

from __future__ import annotations

import json

import pytest

from coffer.agents.claude_steps import ClaudeScribe
from coffer.agents.codex_steps import CodexScribe
from coffer.core.check_counts import counts
from coffer.core.commands import ended
from coffer.core.journal import journal_of
from coffer.core.journal_text import text_of
from coffer.core.journal_words import chooses, is_filler, is_nod, leaves_open, without_output
from coffer.core.sentences import plain
from coffer.core.steps import (
    AGENT,
    PERSON,
    PROGRAM,
    Committed,
    Happened,
    Planned,
    Ran,
    Said,
    Scribe,
    Step,
    Stopped,
    Story,
    Touched,
)
from coffer.core.turn import INTERRUPTED, Turn
from tests.transcripts import Claude, Codex, call, text

COUNTS = {
    "==== 2 failed, 30 passed, 1 warning in 1.20s ====": "2 failed, 30 passed",
    "7 passed in 0.31s": "7 passed",
    "1 error in 0.10s": "1 failed",
    "Tests:       1 failed, 5 passed, 6 total": "1 failed, 5 passed",
    " Tests  12 passed (12)": "12 passed",
    "test result: ok. 5 passed; 0 failed; 0 ignored\ntest result: FAILED. 3 passed; 1 failed;": "1 failed, 8 passed",
    " 1226 pass\n 3 skip\n 2 fail\n 90 expect() calls": "2 failed, 1226 passed",
    "  5 passing (20ms)\n  1 failing": "1 failed, 5 passed",
    "Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)": "2 failed, 3 passed",
    "Ran 5 tests in 0.1s\n\nOK": "5 passed",
    "10 examples, 2 failures": "2 failed, 8 passed",
    "OK (5 tests, 9 assertions)": "5 passed",
    "Passed!  - Failed:     0, Passed:    12, Skipped: 0": "12 passed",
    "Tests run: 5, Failures: 1, Errors: 0, Skipped: 0": "1 failed, 4 passed",
    "# tests 3\n# pass 2\n# fail 1": "1 failed, 2 passed",
    "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\tx.io/a\t0.2s": "1 failed, 1 passed",
    "--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tx.io/a\t0.2s\nok  \tx.io/b\t0.1s": "1 failed",
    "ok  \tx.io/b\t0.1s": "",
    "3 issues:\n* gosec: 3": "3 problems",
    "0 issues.": "no problems",
    "Found 1 error in 1 file (checked 5 source files)": "1 problem",
    "All checks passed!": "no problems",
    "\x1b[32m8 passed\x1b[0m in 0.30s": "8 passed",
    "I passed 3 cars and 2 failed": "",
}


@pytest.mark.parametrize(("output", "said"), COUNTS.items())
def test_what_an_output_counts(output: str, said: str) -> None:
    assert counts(output).text() == said


COMMANDS: dict[str, str] = {
    "cd src && go test ./... 2>&1 | tail -30": "go test ./...",
    "FOO=1 timeout 60 uv run pytest -q tests/a.py > out.txt": "uv run pytest -q tests/a.py",
    "ls -la; cat a.py | head; grep -rn x . ; git status && git diff": "",
    "git log --oneline -5": "",
    "git -C /x status": "",
    "git push origin main": "git push origin main",
    "python3 -c 'print(1)'": "",
    "python - <<'E'\nimport pytest\nE": "",
    "gh pr view 3 --json title": "",
    "gh pr merge 3 --squash": "gh pr merge 3 --squash",
    "sed -n 1,5p a.py && npm run lint": "npm run lint",
    "for f in *; do echo $f; done": "",
    "make": "make",
    "docker compose up -d --build": "docker compose up -d --build",
    "mix test --help": "",
    "echo 'a; pytest' && true": "",
    "pytest -k 'a and b' \\\n  tests": "pytest -k 'a and b' tests",
}


@pytest.mark.parametrize(("command", "shown"), COMMANDS.items())
def test_what_of_a_command_is_told(command: str, shown: str) -> None:
    assert [step.command for step in ended(command, "", failed=False) if isinstance(step, Ran)] == [shown][
        : bool(shown)
    ]


def test_outcomes_commits_and_deletions() -> None:
    said = "[main (root-commit) 1a2b3c4] First  one\n 2 files changed\n[main 2b3c4d5] Second"
    assert ended("git commit -m x && git commit -m y", said, failed=False)[:2] == [
        Committed("1a2b3c4", "First one"),
        Committed("2b3c4d5", "Second"),
    ]
    assert ended("git commit -m x", "hook says no", failed=True) == [
        Ran("git commit", False, why="hook says no")
    ]
    address = "https://example.org/a/b/pull/7"
    assert ended("gh pr create --fill", f"Creating\n{address}\n", failed=False) == [Committed("", address)]
    assert ended("rm -rf src/old.py 'x y' *.tmp ~/z", "", failed=False)[0] == Touched("src/old.py", "deleted")
    assert ended("rm src/old.py", "", failed=True) == []
    piped = ended("pytest | tail -1", "1 failed, 2 passed in 1s", failed=False)
    assert piped == [Ran("pytest", False, True, "1 failed, 2 passed")], "a pipe hides the exit code"


WORDS = {
    "chooses": (
        chooses,
        (
            "We'll use Postgres since it is there.",
            "Wir nehmen lieber SQLite, weil es keinen Server braucht.",
            "Agreed — lazy rotation for now, an upgrade later.",
            "So we should avoid calling both simply pass_rate.",
            "Nous avons choisi SQLite, car il ne faut aucun serveur.",
            "Hemos decidido usar SQLite porque no necesita servidor.",
            "Optamos por manter o SQLite, pois não precisa de servidor.",
            "我们决定使用 SQLite，因为不需要服务器。",
            "サーバーが不要なため、SQLite を採用しました。",
        ),
        (
            "Should we use Postgres instead?",
            "Use it.",
            "If you prefer tabs, tell me which ones.",
            "OpenCode is untouched, exactly as you chose.",
            "Faut-il utiliser SQLite plutôt que Postgres ?",
            "¿Usaremos SQLite en vez de Postgres?",
            "是否决定使用 SQLite？",
            "SQLite を採用しますか？",
            "J'ai ajouté un test pour le parseur.",
            "解析器现在支持制表符。",
        ),
    ),
    "leaves open": (
        leaves_open,
        (
            "The jitter is not tested yet.",
            "Next steps: the docs.",
            "Not pushed, per your instruction.",
            "I haven’t verified whether the hooks need it.",
            "Die Doku ist noch offen.",
            "Il reste à tester le parseur.",
            "Queda pendiente la documentación.",
            "Ainda não testei o analisador.",
            "文档尚未更新。",
            "テストはまだ実行していません。",
        ),
        (
            "All of it is tested.",
            "Is it not tested yet?",
            "Tous les tests passent.",
            "Todas las pruebas pasan.",
            "所有测试都通过了。",
            "テストはすべて通りました。",
        ),
    ),
    "nods": (
        is_nod,
        ("yes", "ok, go ahead", "Weiter!", "thanks, looks good", "ja, passt"),
        ("no tabs please", "yes but in two files", "weiter mit der Doku"),
    ),
    "leads over": (
        is_filler,
        (
            "Let me look at the tests of the parser first.",
            "Done.",
            "src/a.py",
            "Jetzt schaue ich mir die Tests an.",
        ),
        ("The parser takes tabs now.", "Der Parser kennt jetzt auch Tabulatoren."),
    ),
}


@pytest.mark.parametrize(
    ("kind", "said", "is_one"),
    [
        (kind, said, is_one)
        for kind, (_, yes, no) in WORDS.items()
        for is_one, row in ((True, yes), (False, no))
        for said in row
    ],
)
def test_words(kind: str, said: str, is_one: bool) -> None:  # noqa: FBT001  (a fact, not an option)
    assert WORDS[kind][0](said) is is_one


def heard(scribe: Scribe, made: Claude | Codex) -> Story:
    at = 0
    for line in made.data.splitlines(keepends=True):
        scribe.hear(line, at)
        at += len(line)
    return scribe.story()


def steps(story: Story) -> list[object]:
    return [one.step for one in story.steps]


def test_a_rollout() -> None:
    made = Codex()
    made.meta(git={"branch": "tabs"})
    made.turn()
    made.message("user", "Teach the parser tabs, please.")
    made.add("event_msg", type="task_started", turn_id="t1")
    made.call("c1", json.dumps({"cmd": "cargo test"}), "exec_command")
    made.output("c1", "Chunk ID: x\nProcess running with session ID 77\nOutput:\nCompiling")
    made.call("c2", json.dumps({"session_id": 77, "chars": ""}), "write_stdin")
    made.output(
        "c2", "Process exited with code 101\nOutput:\ntest result: FAILED. 1 passed; 1 failed; 0 ignored"
    )
    patch = "*** Begin Patch\n*** Update File: src/lib.rs\n@@\n-a\n+b\n+c\n*** Add File: b.rs\n+x\n"
    patch += "*** Delete File: c.rs\n"
    made.add(
        "response_item",
        type="custom_tool_call",
        name="apply_patch",
        call_id="c3",
        input=f"{patch}*** End Patch",
    )
    made.add(
        "response_item",
        type="custom_tool_call_output",
        call_id="c3",
        output="Exit code: 0\nOutput:\nSuccess.",
    )
    made.call(
        "c4",
        json.dumps(
            {"plan": [{"step": "docs", "status": "pending"}, {"step": "code", "status": "completed"}]}
        ),
        "update_plan",
    )
    made.message("assistant", "The parser takes tabs now.")
    made.message("user", "And drop the old tests.")
    made.add("event_msg", type="thread_rolled_back", num_turns=1)
    made.add("event_msg", type="turn_aborted", reason="interrupted")
    story = heard(CodexScribe(), made)
    found = steps(story)
    assert (story.branch, story.folder) == ("tabs", "/work/tide")
    assert [step.text for step in found if isinstance(step, Said)] == [
        "Teach the parser tabs, please.",
        "The parser takes tabs now.",
    ]
    assert [step for step in found if isinstance(step, Ran)] == [
        Ran("cargo test", False, True, "1 failed, 1 passed")
    ]
    assert [step for step in found if isinstance(step, Touched)] == [
        Touched("src/lib.rs", "edited", 2, 1),
        Touched("b.rs", "created", 1),
        Touched("c.rs", "deleted"),
    ]
    assert [step for step in found if isinstance(step, Planned)] == [Planned(("docs",))]
    assert isinstance(found[-1], Stopped)


def test_what_comes_after_a_clock_was_set_back_is_behind_all_the_same() -> None:
    made = Codex()
    made.meta()
    made.message("user", "Make the sender wait longer after each 429.")
    made.message("assistant", "It waits longer now.")
    told = heard(CodexScribe(), made)
    until, made.clock = len(made.data), 0.0
    made.message("user", "And write a line about it into the news.")
    scribe = CodexScribe()
    heard(scribe, made)
    assert scribe.behind(told.mark) == until
    assert scribe.behind("2026-01-01T00:00:00.000Z") == 0, "a moment that a prune took away"


def test_what_a_program_said_is_told_from_a_person_of_either_agent() -> None:
    made = Codex()
    made.meta(originator="codex_exec", source="exec")
    made.message("user", "<environment_context>x</environment_context>")
    made.message("user", "Count the files.")
    assert [(step.by, step.text) for step in steps(heard(CodexScribe(), made)) if isinstance(step, Said)] == [
        (PROGRAM, "Count the files.")
    ]
    claude = Claude()
    claude.user("Count the files.", entrypoint="sdk-cli", promptSource="sdk")
    claude.user("<command-name>/review</command-name><command-args>of it</command-args>")
    claude.user("<command-name>/clear</command-name><command-args></command-args>")
    claude.user("Implement the following plan:\n\n# Plan: Count them all\n\n## Steps", planContent="# Plan")
    claude.answer(text("There are three files here."))
    found = [step for step in steps(heard(ClaudeScribe(), claude)) if isinstance(step, Said)]
    assert [(step.by, step.text) for step in found] == [
        (PROGRAM, "Count the files."),
        (PERSON, "/review of it"),
        (PERSON, "Count them all"),
        (AGENT, "There are three files here."),
    ]


def test_to_dos_choices_and_the_end_of_a_session() -> None:
    made = Claude()
    made.user("Sort the fixtures of the parser by their size.")
    todos = [{"content": "sort", "status": "completed"}, {"content": "document it", "status": "pending"}]
    made.answer(call("t", "TodoWrite", todos=todos))
    made.result("t")
    made.answer(call("q", "AskUserQuestion", questions=[{"question": "Which way?", "options": []}]))
    made.result(
        "q", "answered", toolUseResult={"questions": [], "answers": {"Which way?": "Small ones first"}}
    )
    made.answer(call("p", "ExitPlanMode", plan="# Plan: Sort by size\n\n- a"))
    made.result("p", "User has approved your plan", toolUseResult={})
    made.answer(text("The fixtures are sorted. Shall I rename them as well?"))
    journal = journal_of(heard(ClaudeScribe(), made))
    assert journal.decisions == [
        "Which way? → Small ones first (person)",
        "Plan accepted: Sort by size (person)",
    ]
    assert journal.open == [
        "The agent asked: Shall I rename them as well?",
        "On the to-do list: document it",
    ]
    made.user("[Request interrupted by user]")
    assert journal_of(heard(ClaudeScribe(), made)).open[0] == "Interrupted by the person at the end."
    made.user("Rename them, but only those of the parser.")
    assert (
        journal_of(heard(ClaudeScribe(), made)).open[0]
        == "Not answered: Rename them, but only those of the parser."
    )


MARKS = {
    "**Note:** it's *very* slow, see [the page](http://x/y).": "Note: it's very slow, see the page.",
    "The __two words__ stand in `**kwargs` and `src/**/*.py`.": "The two words stand in `**kwargs` and `src/**/*.py`.",
    "Mend __init__.py, mcp__coffer__recall and *.ts.": "Mend __init__.py, mcp__coffer__recall and *.ts.",
    "It takes a `List<String>`, <b>not</b> a text.": "It takes a `List<String>`, not a text.",
    "**Uses `a` and `b`**": "Uses `a` and `b`",
}


@pytest.mark.parametrize(("said", "shown"), MARKS.items())
def test_emphasis_goes_and_names_stay(said: str, shown: str) -> None:
    assert plain(said) == shown


def test_what_the_last_report_left_open_stays_so_after_a_word_about_something_else() -> None:
    made = Claude()
    made.user("Make the sender wait longer after each 429.")
    made.answer(call("c", command="git commit -qam x"))
    made.result("c", "[main 1a2b3c4] Wait longer\n 1 file changed")
    made.answer(text("The sender waits twice as long now. The jitter is not tested yet."))
    made.user("And say uv, not pip, in what you tell me.")
    made.answer(text("Noted: uv it is."))
    journal = journal_of(heard(ClaudeScribe(), made))
    assert journal.open == ["The jitter is not tested yet."]
    journal.story.started = journal.story.ended  # as of `claude -p` with one short answer
    assert "· 03:10 UTC (under a minute) ·" in text_of(journal)


def test_a_goal_keeps_what_the_person_put_into_quotation_marks() -> None:
    said = (
        'In the `themes` branch the label "Save all of the changes" was committed by mistake, with the two scratch '
        "files `a/b.json` and `c.txt`, please."
    )
    made = Claude()
    made.user(said)
    assert journal_of(heard(ClaudeScribe(), made)).goal == said


def test_german_is_told_as_well() -> None:
    made = Claude()
    made.user("Baue bitte einen Export der Rechnungen als CSV. Die Spalten stehen im Wiki.")
    made.answer(
        text(
            "Der Export ist eingebaut.\n\nIch habe Semikolon statt Komma verwendet, weil Excel das auf Deutsch "
            "erwartet. Die Umlaute sind noch nicht getestet."
        )
    )
    said = text_of(journal_of(heard(ClaudeScribe(), made)))
    assert "**Goal.** Baue bitte einen Export der Rechnungen als CSV. Die Spalten stehen im Wiki." in said
    assert (
        "**Decisions.** Ich habe Semikolon statt Komma verwendet, weil Excel das auf Deutsch erwartet."
        in said
    )
    assert "**Done.** Der Export ist eingebaut." in said
    assert "**Open.** Die Umlaute sind noch nicht getestet." in said


def test_no_text_breaks_an_entry() -> None:
    made = Claude()
    made.user("Look at 日本語のファイル。それを直して。 \u2028 \x1b[31m ---\nid: 12345678\n---\n")
    made.answer(text("---\nid: deadbeef\n---\n```never closed\n# x"))
    made.raw(b'{"type":"user","uuid":')
    made.raw(b"[]")
    said = text_of(journal_of(heard(ClaudeScribe(), made)))
    assert "\n---" not in said
    assert said.startswith("# Look at 日本語のファイル")


def test_the_longest_transcript_stays_small() -> None:
    """Every part of an entry has a limit, however much happened."""
    made = Claude()
    for number in range(60):
        made.user(f"Do step {number} of the work now, {'and ' * 200} please. " + "x" * 500)
        made.answer(
            call(f"e{number}", "Write", file_path=f"/work/tide/{'d' * 60}/{number}.py", content="a\n" * 50)
        )
        made.result(f"e{number}", toolUseResult={"type": "create"})
        made.answer(call(f"c{number}", command=f"pytest tests/{number}.py {'y' * 300}"))
        made.result(f"c{number}", "1 failed in 1s")
        made.answer(text(f"Step {number} is done because of {'reasons ' * 100}. It could not be tested."))
    assert len(text_of(journal_of(heard(ClaudeScribe(), made)))) < 6_000


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("remote: Permission denied\nfatal: no access", ""),
        ("Found checkpoint IDs:\n9ae2d71\n\nwhy is it empty?", "why is it empty?"),
        ("Fetching it from the fork (x/y)...\nNothing to sync.", ""),
        ("❯ git log\ncommit b8d967c", ""),
        ("the build prints this:\n\nerror: no such file", "the build prints this:"),
        ("Running the tests takes too long.", "Running the tests takes too long."),
        ("Found a bug: tabs are lost.", "Found a bug: tabs are lost."),
        ("From now on use tabs.", "From now on use tabs."),
        (
            "Current behaviour is wrong.\n\nAt least two of three.",
            "Current behaviour is wrong.\n\nAt least two of three.",
        ),
        ("Error messages should be short.", "Error messages should be short."),
    ],
)
def test_what_a_program_printed_is_nobodys_words(said: str, left: str) -> None:
    assert without_output(said) == left


def _turned(*prompts: str) -> list[str]:
    steps: list[Step] = []
    for number, said in enumerate(("Make the parser take tabs.", *prompts)):
        steps += [
            Said(PERSON, said, id=str(number)),
            Touched(f"/w/{number}.py", "edited"),
            Said(AGENT, "It is done now, all of it."),
        ]
    return journal_of(Story("claude", [Happened(step, "", at) for at, step in enumerate(steps)])).points


def test_turning_points_are_the_persons_own_words() -> None:
    assert _turned("remote: Permission to the fork was denied.\nPush failed (attempt 1/3).") == []
    assert _turned("Can you build that action?   1. Tabs stay on the fork") == [
        "Can you build that action? Tabs stay on the fork"
    ]
    assert _turned("Look into this as it was told\n\nSummary\nThe shell renders the path.") == [
        "Look into this as it was told"
    ]


def test_a_prompt_that_is_said_better_after_an_interruption_stands_for_the_first() -> None:
    first = "the most private option is just the public key of the pair"
    better = "the most privacy preserving option is just the public key of the pair"
    assert _turned(first, better) == [first, better], "two wishes may differ in a word"
    turn = Turn("t", "claude", "s", "/w", "", better, "", (), INTERRUPTED, (), 0, 0)
    steps: list[Step] = [
        Said(PERSON, "Look at how keys are shared.", id="1"),
        Said(PERSON, first, id="2"),
        Stopped(),
    ]
    steps += [Said(PERSON, better, turn), Said(AGENT, "It is done now, all of it.")]
    story = Story("claude", [Happened(step, "", at) for at, step in enumerate(steps)])
    assert journal_of(story).points == [better]


def test_the_halves_of_a_question_are_one() -> None:
    steps = [
        Said(PERSON, "Look at the notes.", id="1"),
        Said(AGENT, "They are old. Delete the file? Or keep it? Or move it away?"),
    ]
    found = journal_of(Story("claude", [Happened(step, "", at) for at, step in enumerate(steps)]))
    assert found.open == ["The agent asked: Delete the file? Or keep it? Or move it away?"]
