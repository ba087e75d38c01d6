"""The guard's gate for people and programs: judge an instant, and keep one for a report."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coffer.core.evidence import Entry, Evidence, Hook, moment
from coffer.core.markers import key
from coffer.core.redact import redact
from coffer.core.safepoint import Answer, Blocker, Verdict, is_own, judge
from coffer.disk.places import Places
from coffer.store.guard_state import guard_state
from coffer.store.home import Home
from coffer.work.guarding import instant
from coffer.work.guarding.instant import Instant, Read, as_objects, from_disk, from_folder

LONGEST = 4_000
"""Characters of a string that a captured folder keeps; of a longer one the first CUT."""
CUT = 200
STRANGER = "/home/dev"


def judge_folder(folder: Path) -> Verdict:
    """The verdict on a captured folder."""
    return judge(from_folder(folder).evidence())


class Gate:
    """The gate of one live session, asked again and again: transcripts are read anew only where they changed.

    Beyond `judge` it says no where a second client holds the session, or just did.
    """

    def __init__(self, transcript: Path, places: Places, home: Home) -> None:
        self._transcript, self._places, self._home = transcript, places, home
        self._read: Read | None = None
        self._seen: object = None

    def verdict(self, screen: str | None = None) -> Verdict:
        """The verdict from what is on disk now.

        Reading a large transcript takes seconds in which a turn may begin: all other sources are looked at after it.
        """
        now = from_disk(self._transcript, self._places, self._home, screen)
        stamp = _stamp(now)
        if self._read is None or stamp != self._seen:
            self._read, self._seen = now.read(), stamp
            now = from_disk(self._transcript, self._places, self._home, screen)
        read = self._read
        if _stamp(now) != self._seen and read.conversation is not None:
            grown = replace(read.conversation, trouble="it was written to while it was read")
            read = replace(read, conversation=grown)
        cleared = frozenset(guard_state(self._home, now.session).cleared)
        evidence = now.evidence(read, cleared)
        return _shared(judge(evidence), evidence)


def _shared(verdict: Verdict, seen: Evidence) -> Verdict:
    """The verdict, and no where the session is not one client's alone.

    A reload reaches one of them. The other would go on from its memory: it sends what was taken out, its answer is
    taken for the measure of the prune, and a reload of either shows the branch of whoever wrote last. One that ends
    writes last: 2.1.197 hangs `/exit` on the place that it knew, and names it as the end of the conversation.
    """
    living = [entry for entry in seen.registry if entry.alive and entry.said is not None]
    found = None
    if len(living) > 1:
        pids = [str(entry.pid) for entry in living]
        who = f"processes {', '.join(pids[:-1])} and {pids[-1]} have the session open"
        found = Blocker("client", f"{who}, of which only one would read it again", "all but one of them end")
    elif _outlived(living, [hook for hook in seen.hooks or () if is_own(hook, seen.session)]):
        what = "another client of the session has ended, and a reload may end where that one stood"
        found = Blocker("client", what, "the end of the next turn")
    if found is None:
        return verdict
    return Verdict(Answer((*verdict.write.blockers, found)), Answer((*verdict.type.blockers, found)))


def _outlived(living: Sequence[Entry], own: Sequence[Hook]) -> bool:
    """Whether a client said that it ended while this one was there, which has neither spoken nor read since."""
    ends = [hook.time for hook in own if hook.event == "SessionEnd" and hook.time is not None]
    ended = max(ends, default=None)
    began = [moment((entry.said or {}).get(key("registry", "startedAt"))) for entry in living]
    if ended is None or not any(time is not None and time < ended for time in began):
        return False
    since = [hook.event for hook in own if hook.time is not None and hook.time > ended]
    return "Stop" not in since and "SessionStart" not in since


def _stamp(seen: Instant) -> object:
    """What changes whenever one of the transcripts of an instant does."""
    found = [seen.written]
    for path in sorted(seen.subagents.rglob("agent-*.jsonl")) if seen.subagents is not None else ():
        try:
            status = path.stat()
        except OSError:
            continue  # gone meanwhile, which is a change too
        found.append((status.st_mtime_ns, status.st_size))
    return tuple(found)


def judge_session(transcript: Path, places: Places, home: Home, screen: str | None = None) -> Verdict:
    """The verdict on a live session from what is on disk now."""
    return Gate(transcript, places, home).verdict(screen)


def as_json(answer: Answer) -> dict[str, object]:
    """An answer for programs."""
    found = [
        {"kind": each.kind, "evidence": each.evidence, "clears": each.clears} for each in answer.blockers
    ]
    return {"safe": answer.safe, "blockers": found}


def capture(taken: Instant, target: Path, user: Path) -> Verdict:
    """Write a folder of an instant, redacted, and return the verdict on the instant itself.

    The folder holds the conversation's words: secrets are taken out, the person's home becomes /home/dev, and
    long texts are cut. user: the person's home.
    """
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    clean = _Clean(user)
    clean.lines(taken.transcript, target / instant.TRANSCRIPT)
    for folder, name in ((taken.subagents, instant.SUBAGENTS), (taken.tasks, instant.TASKS)):
        for path in sorted(folder.rglob("*.json*")) if folder is not None else ():
            assert folder is not None
            clean.lines(path, target / name / path.relative_to(folder))
    if taken.hooks is not None:
        clean.put(target / instant.HOOKS, _lines(clean.value(as_objects(taken.hooks))))
    for number, (data, _) in enumerate(taken.registry, 1):
        file = "registry.json" if number == 1 else f"registry-{number}.json"
        clean.put(target / file, _lines(clean.value(as_objects(data.replace(b"\n", b" ")))))
    if taken.scheduled is not None:
        clean.put(target / instant.PROJECT / "scheduled_tasks.json", clean.text(taken.scheduled))
    if taken.screen is not None:
        clean.put(target / instant.SCREEN, clean.text(taken.screen))
    verdict = judge(taken.evidence())
    clean.put(target / instant.PROCESSES, json.dumps(_processes(taken), indent=1) + "\n")
    clean.put(
        target / "expect.json", json.dumps({**as_json(verdict.write), "why": "what Coffer said"}, indent=1)
    )
    return verdict


def _processes(taken: Instant) -> dict[str, Any]:
    pids = [(as_objects(data.replace(b"\n", b" ")) or [{}])[0].get("pid") for data, _ in taken.registry]
    each = [
        {"pid": pid, "pid_alive": alive, "proc_start_matches_registry": alive}
        for pid, (_, alive) in zip(pids, taken.registry, strict=True)
    ]
    first: dict[str, Any] = each[0] if each else {"pid": None, "pid_alive": False}
    return {
        "captured_at": taken.at,
        "session_id": taken.session,
        **first,
        "registry_files": len(each),
        "processes": each,
        "transcript_age_s": None if taken.age is None else round(taken.age, 3),
        "editor": taken.editor,
    }


def _lines(objects: Sequence[Any]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) + "\n" for each in objects)


class _Clean:
    """Takes secrets, the person's home and long texts out of what a folder keeps."""

    def __init__(self, user: Path) -> None:
        home = str(user)
        self._pairs = [(home, STRANGER), (re.sub(r"[^A-Za-z0-9]", "-", home), STRANGER.replace("/", "-"))]

    def text(self, text: str) -> str:
        for old, new in self._pairs:
            if len(old) > 1:  # a home that is "/" stands in every path
                text = text.replace(old, new)
        return redact(text).text

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value if len(value) <= LONGEST else value[:CUT] + "…")
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        return value

    def lines(self, source: Path, target: Path) -> None:
        """Copy a file of JSON lines; a torn end stays torn, since the gate must see it."""
        data = source.read_bytes()
        kept = _lines(
            self.value(as_objects(data if source.suffix == ".jsonl" else data.replace(b"\n", b" ")))
        )
        if data and not data.endswith(b"\n") and source.suffix == ".jsonl":
            kept += '{"torn'
        self.put(target, kept)

    def put(self, target: Path, text: str) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "replace"))
