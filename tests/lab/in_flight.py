"""A session over a tier with work in flight: held while it works, pruned and reloaded when it is over.

air.grown()                                  # large results, far below a tier
air.say({"tools": [call(air.wait())]})       # over the tier, with work in flight
air.held("turn", "tool")                     # nothing written, nothing typed; the verdict names it
air.go_on()                                  # it ends
air.pruned("a command in front")             # and then it is done; the next request is what a resume sends
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from coffer.core.strategies.large_blocks import LAST_CALLS
from coffer.store.guard_moves import keep_moves
from coffer.store.guard_state import guard_state
from coffer.store.hook_events import loaded_at
from coffer.work.guarding.gate import judge_session
from coffer.work.guarding.guarded import Guarded
from coffer.work.guarding.senses import with_means
from coffer.work.guarding.watch import watched
from tests.lab.anthropic_script import text_of
from tests.lab.anthropic_server import AnthropicServer, Request
from tests.lab.claude import ClaudeHome
from tests.lab.claude_stage import COMPACT_RULE
from tests.lab.conformance import PROBE, differences
from tests.lab.delivery_page import figure
from tests.lab.harness import ALLOWED
from tests.lab.test_guard_moves import LARGE, Stage
from tests.launch.pane import Pane

Json = dict[str, Any]
WINDOW = 120_000
BELOW, OVER = 0.8, 0.92
"""Of the window, what the model counts: before the tier, and in it."""
TIER = "last call"
"""In which the prompt cache is no reason against a prune: what it costs here depends on the kinds that came before."""
RESULT_TOKENS, FIRST_TOKENS = 8_200, 22_000
"""Of a large result and of a first request, as the model counts."""
HELD_SECONDS = 2.5
"""Longer than an idle session is left: it is written to 1.5 to 2 s after it became idle."""
ESCAPE, CTRL_U = "\x1b", "\x15"
STUB = "removed; coffer restore"


class Air(Stage):
    """One session of the real client under `coffer run`, with one kind of work after the other."""

    seat: Pane

    def __init__(self, home: ClaudeHome, server: AnthropicServer) -> None:
        super().__init__(home, server)
        self.special: list[Json] = []
        """Rules of the model's, before its scripts."""
        self.extra["COZEMPIC_CONTEXT_WINDOW"] = self.env["COZEMPIC_CONTEXT_WINDOW"] = str(WINDOW)
        self._usage: dict[str, int] = {}
        self.ended_at = 0.0
        self._gate = self._count = 0
        self.settings("[learn]\nauto = false\n[journal]\nauto = false\n")  # they are not what is looked at
        self.stop_hook = home.root / "stop-hook"
        """A hook of the person's."""
        self.stop_hook.write_text("#!/bin/sh\ncat > /dev/null\n")
        self.stop_hook.chmod(0o755)
        hooks = {"Stop": [{"hooks": [{"type": "command", "command": str(self.stop_hook)}]}]}
        home.set_settings({"permissions": {"allow": list(ALLOWED)}, "hooks": hooks})

    # --- what the person does

    def say(self, *turns: Json, **scripts: list[Json]) -> str:  # type: ignore[override]
        """A prompt, whose answers count as over the tier; the word that its last one holds.

        scripts: of helpers; `be_a_helper` is what a prompt with “be a helper” is answered.
        """
        self.words += 1
        word = f"word{self.words}"
        self._count_up_to(OVER)
        told = [{**turn, "usage": self._usage} for turn in (*turns, {"text": f"answered {word}"})]
        self.scripts |= {name.replace("_", " "): script for name, script in scripts.items()}
        self.scripts[f"do the {word} thing"] = told
        self.play()
        self.enter(f"do the {word} thing")
        return word

    def enter(self, line: str) -> None:
        """Type a line and press Enter, also while the client works and its screen never rests."""
        self.seat.type(line)
        with suppress(AssertionError):  # behind a reload the client may leave cells of other words in the row
            self.see(line, 2)
        self.pass_by(0.4)  # sooner it is a part of a paste
        self.seat.type("\r")

    def pass_by(self, seconds: float) -> None:
        """Let time go by, while the terminal is read on."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.seat.read(0.05)

    def play(self) -> None:
        """Give the model all its scripts and rules."""
        after = {"text": "noted", "usage": self._usage}
        rules = [*self.special, COMPACT_RULE]
        self.server.play({"scripts": self.scripts, "rules": rules, "after_script": after, "default": after})

    def wait(self) -> str:
        """A command that takes until `go_on`."""
        self._gate += 1
        return f"until [ -e {self._file} ]; do sleep 0.2; done"

    @property
    def _file(self) -> Path:
        return self.claude.root / f"go-on-{self._gate}"

    def go_on(self) -> None:
        """The last command that waited goes on."""
        self._file.touch()
        self.over()

    def over(self) -> None:
        """The work ends now: from here on the time is taken."""
        self.ended_at = time.time()

    def press(self, *keys: str) -> None:
        """Keys, one after the other, as a person presses them."""
        for key in keys:
            self.seat.type(key)
            self.pass_by(0.4)

    def see(self, true: Any, seconds: float = 40.0) -> Any:
        """Wait until something is so; text: until it stands on the screen."""
        if isinstance(true, str):
            text = true
            return self.until(self.seat, lambda: text in "\n".join(self.seat.look().rows), seconds)
        return self.until(self.seat, true, seconds)

    def answered(self) -> None:
        """Wait for the last answer of the turn, which may leave work behind."""
        self.see(f"answered word{self.words}")

    def is_now(self, status: str) -> None:
        """Wait for a status of the client."""
        self.see(lambda: self.status() == status)

    # --- what is so

    def why(self) -> list[str]:
        """The kinds that `coffer guard why` names."""
        found = Guarded(self.path, self.home, self.places, self.environment)
        verdict = with_means(found, found.settings(), judge_session(self.path, self.places, self.home))
        return [each.kind for each in verdict.type.blockers if each.kind != "screen"]

    def tiers(self) -> list[str]:
        """Which tiers the open sessions are in."""
        rows = watched(self.home, self.places, self.environment)
        return [row.tier.name for row in rows if row.tier is not None]

    def asked(self, since: int = 0) -> list[Request]:
        """Requests of the conversation itself."""
        return [one for one in self.server.messages_requests(since) if not one.agent_id]

    def prompts(self) -> Counter[str]:
        """What the conversation's requests ended with: each once, however often it was tried."""
        return Counter({json.dumps(one.messages[-1].get("content")) for one in self.asked()})

    def held(self, *kinds: str) -> None:
        """For longer than an idle session is left nothing is written and nothing typed, and the verdict says why."""
        try:
            self.see(lambda: set(kinds) <= set(self.why()))
            self.see(lambda: "process" in kinds or self.tiers() == [TIER])
        except AssertionError as error:
            raise AssertionError(f"{self.why()}, not {kinds}, in {self.tiers()}") from error
        self._calm()
        data, file, made = self.path.read_bytes(), self.path.stat().st_ino, len(self.made())
        prompts, began = self.prompts(), time.time()
        self.pass_by(HELD_SECONDS)
        named = self.why()
        assert set(kinds) <= set(named), named
        assert (self.path.stat().st_ino, len(self.made())) == (file, made)
        assert self.path.read_bytes().startswith(data)  # what came is the client's own
        new = self.prompts() - prompts
        assert not new, [text[-300:] for text in new]
        assert loaded_at(self.home, self.path.stem, began) is None
        assert "/resume" not in "\n".join(self.seat.look().rows)

    def _calm(self) -> None:
        """Wait until the model is asked nothing new: what was begun before the tier is not its doing."""
        prompts: Counter[str] | None = None
        while prompts != (prompts := self.prompts()):
            self.pass_by(0.7)

    def grown(self) -> None:
        """A turn with large results, whose answers count as they are: far below a tier, which is armed by that."""
        self._probed("let it grow:")

    def pruned(self, name: str) -> None:
        """Now it is pruned and reloaded, and the next request is what a resume sends."""
        self.see(lambda: self.moved(self._count + 1))
        self._count += 1
        receipt = self.moves()[0]
        assert (receipt.data["by"], receipt.data["tier"]) == ("guard", TIER)
        reload = receipt.data["reload"]
        took = {
            "end": round(reload["seen_at"] - self.ended_at, 1),
            "idle": round(reload["since_idle"], 1),
        }
        figure(f"in-flight-{name.replace(' ', '-')}", json.dumps(took))
        self.pass_by(0.3)
        as_pruned = self.claude.root / "as-pruned.jsonl"
        as_pruned.write_bytes(self.path.read_bytes())
        request = self._probed(PROBE)
        found = differences(as_pruned, request.body or {})
        assert found == [], found
        sent = json.dumps(request.messages)
        assert STUB in sent
        assert "/resume" not in sent
        # ten minutes later: three reloads within them are the limit of a session
        keep_moves(self.home, self.path.stem, time.time(), reloads=())

    def _count_up_to(self, share: float, more: int = 0) -> None:
        """Have the answers that come count as a share of the window, when the conversation is `more` tokens longer."""
        known = [one.reply["usage"] for one in self.asked() if one.status == 200 and one.reply]
        words = ("cache_creation_input_tokens", "cache_read_input_tokens")
        held = max(sum(usage[word] for word in words) for usage in known[-1:]) if known else FIRST_TOKENS
        self._usage = {"input_tokens": max(3, round(WINDOW * share) - held - more)}

    def _probed(self, words: str) -> Request:
        """A turn that makes room for the next prune; its first request."""
        self.words += 1
        word, begin = f"word{self.words}", 100_000 + 20_000 * self.words
        starts = [begin, begin + 10_000]  # of six digits: what is longer, the client cuts
        large = [call(f"seq {start} {start + LARGE}") for start in starts]
        later = [call(f"echo {word} {number}") for number in range(LAST_CALLS - 1)]
        told: list[Json] = [*({"tools": [each]} for each in (*large, *later)), {"text": f"answered {word}"}]
        self._count_up_to(BELOW, more=len(large) * RESULT_TOKENS)
        self.scripts[f"do the {word} thing"] = [{**turn, "usage": self._usage} for turn in told]
        self.play()
        since = len(self.server.requests)
        self.enter(f"{words} do the {word} thing")
        self.ended(self.seat, word)
        self.see(lambda: TIER not in guard_state(self.home, self.path.stem).acted)
        (first, *_) = [one for one in self.asked(since) if word in _last_words(one.messages)]
        return first


def call(command: str, **more: Any) -> Json:
    """A call of Bash."""
    return {"name": "Bash", "input": {"command": command, "description": "work", **more}}


def _last_words(messages: Sequence[Mapping[str, Any]]) -> str:
    users = [one for one in messages if one.get("role") == "user"]
    return text_of(users[-1].get("content")) if users else ""
