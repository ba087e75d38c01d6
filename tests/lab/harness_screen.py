"""Scenes of what only the screen shows: drafts, menus, prompts put back, modes of the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.lab.claude_stage import GREETINGS, pause
from tests.lab.harness import Truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lab.harness import Harness

Json = dict[str, Any]
SLOW: Json = {
    "think for long": [{"thinking": "Slow.", "text": "word " * 400, "chunk_delay_s": 0.3, "delay_s": 8}]
}


def quiet(h: Harness) -> None:
    """Nothing is going on, before the first prompt and after a turn; then drafts and menus."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        pause(2)
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        pause(1.5)
        h.shoot(screen, "idle", Truth(True, "the turn is over and nothing else is going on"))
        screen.type("half a thought")
        pause(1)
        h.shoot(screen, "draft", Truth(False, "a draft stands in the input line", ("input",)))
        screen.key("C-u")
        pause(0.7)
        screen.type("/")
        pause(1)
        h.shoot(screen, "command-menu", Truth(False, "the menu of commands is open", ("input",)))
        screen.key("Escape")
        screen.key("C-u")
        pause(0.7)
        screen.type("see @")
        pause(1.5)
        h.shoot(screen, "file-menu", Truth(False, "a file is being picked", ("input",)))


def keys(h: Harness) -> None:
    """Keys that open something over an idle prompt."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        pause(1)
        screen.key("Up")
        pause(1)
        h.shoot(
            screen,
            "history-up",
            Truth(False, "an earlier prompt was fetched into the input line", ("input",)),
        )
        screen.key("C-u")
        pause(0.7)
        screen.key("C-r")
        pause(1.5)
        h.shoot(screen, "history-search", Truth(False, "the search in the history is open", ("input",)))
        screen.key("Escape")
        pause(0.5)
        screen.key("C-u")
        pause(0.7)
        screen.key("C-o")
        pause(1.5)
        h.shoot(
            screen, "transcript-view", Truth(False, "the transcript view is open; keys go to it", ("input",))
        )
        screen.key("C-o")
        pause(1)
        screen.type("!")
        pause(1)
        h.shoot(screen, "bash-mode", Truth(False, "the input line takes a shell command", ("input",)))
        screen.key("BSpace")
        pause(0.7)
        screen.type("?")
        pause(1)
        h.shoot(screen, "shortcuts", Truth(True, "the list of shortcuts is shown; the next key closes it"))
        screen.type("first line")
        screen.key("C-j")
        pause(1)
        h.shoot(
            screen, "draft-of-two-lines", Truth(False, "a draft of two lines, the second empty", ("input",))
        )


def put_back(h: Harness) -> None:
    """Esc early in a turn puts the prompt back into the input line."""
    h.stage.play({**GREETINGS, **SLOW})
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        pause(0.5)
        screen.send("Please think for long.")
        h.home.wait_status("busy")
        pause(1.5)
        screen.key("Escape")
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(
            screen,
            "prompt-put-back",
            Truth(False, "an interrupted prompt stands in the input line again", ("input",)),
        )
        screen.key("C-u")
        pause(1)
        h.shoot(screen, "prompt-put-back-cleared", Truth(True, "the prompt that was put back was deleted"))


def rewind(h: Harness) -> None:
    """The rewind menu, a rewind with the prompt put back, and the branch that follows."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        for word in ("apple", "pear", "fig"):
            h.stage.say(screen, f"Please greet the {word}.", f"Greeted {word}")
        pause(0.5)
        screen.key("Escape")
        pause(0.3)
        screen.key("Escape")
        screen.wait("Restore the code and/or conversation")
        pause(1)
        h.shoot(screen, "rewind-menu", Truth(False, "the rewind menu is open", ("input",)))
        screen.key("Up")
        pause(0.3)
        screen.key("Up")
        pause(0.3)
        screen.key("Enter")
        screen.wait("Restore conversation")
        screen.key("Enter")
        pause(1.5)
        h.shoot(screen, "rewound", Truth(False, "a rewind put a prompt back into the input line", ("input",)))
        screen.key("C-u")
        pause(0.5)
        h.stage.say(screen, "Please greet the plum.", "Greeted plum")
        pause(1.5)
        h.shoot(
            screen, "rewound-and-gone-on", Truth(True, "work goes on on the new branch; the old one is dead")
        )
        screen.exit()
    session = h.home.transcripts()[-1].stem
    with h.home.interactive("--resume", session) as screen:
        h.home.wait_status("idle")
        pause(2)
        h.shoot(screen, "resumed", Truth(True, "the session was resumed and nothing was asked yet"))
        screen.send(f"/resume {session}")
        pause(3)
        h.shoot(screen, "reloaded", Truth(True, "the session was reloaded by /resume"))


def vim(h: Harness) -> None:
    """The editor is in vim's modes: what is typed may be taken for commands."""
    h.settings(editorMode="vim")
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "iPlease greet the apple.", "Greeted apple")
        pause(1)
        h.shoot(screen, "vim-insert", Truth(True, "idle, in vim's INSERT mode", typed=False))
        screen.key("Escape")
        pause(1)
        h.shoot(screen, "vim-normal", Truth(True, "idle, in vim's NORMAL mode", typed=False))


def model_menu(h: Harness) -> None:
    """A dialog of the client is open."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.send("/model")
        pause(2)
        h.shoot(screen, "dialog-open", Truth(False, "a dialog of the client is open", ("dialog",)))


def modes(h: Harness) -> None:
    """The footer of an idle client in its other modes."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        pause(1)
        screen.key("BTab")
        pause(1)
        h.shoot(screen, "mode-accept-edits", Truth(True, "idle; edits are accepted without a question"))
        screen.key("BTab")
        pause(1)
        h.shoot(screen, "mode-plan", Truth(True, "idle in plan mode"))


def statusline(h: Harness) -> None:
    """The footer of an idle client with a status line of the person's own."""
    h.settings(statusLine={"type": "command", "command": "printf 'opus 12% of 1M'"})
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        pause(2)
        h.shoot(screen, "status-line", Truth(True, "idle under a status line"))
        screen.key("C-r")
        pause(1.5)
        h.shoot(
            screen,
            "history-search-status-line",
            Truth(False, "the search in the history is open", ("input",)),
        )
        screen.key("Escape")
        pause(0.7)
        screen.key("C-u")
        screen.key("BTab")
        pause(1.5)
        h.shoot(
            screen, "status-line-accept-edits", Truth(True, "idle; edits are accepted without a question")
        )


def narrow(h: Harness) -> None:
    """An idle client on a small terminal."""
    h.stage.play(GREETINGS)
    with h.home.interactive(width=80, height=24) as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        pause(1.5)
        h.shoot(screen, "narrow", Truth(True, "idle on a terminal of 80 columns"))
        screen.key("BTab")
        pause(1)
        h.shoot(screen, "narrow-accept-edits", Truth(True, "idle on 80 columns; edits are accepted"))


def agents_view(h: Harness) -> None:
    """The view of background agents is open in place of the conversation."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        pause(1)
        screen.key("Left")
        pause(2.5)
        h.shoot(screen, "agents-view", Truth(False, "another view takes the keys", ("input",)))


SCENES: dict[str, Callable[[Harness], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (quiet, keys, put_back, rewind, vim, model_menu, modes, statusline, narrow, agents_view)
}
