"""Dies at each step of a write in turn, and looks at what is left. Run as a script: FOLDER STEP.

Steps are the calls that Python's audit events name: what opens, links, renames, removes, makes. A child dies at the
n-th one without any clean-up; then the file must be the old or the new one, the copy beside it must hold the old one
once it is the new one, and a later uninstall must give the first text.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.work.agent_settings.install import install, plan, plan_removal, settings_path, uninstall

TEXT = '{\n  "model": "opus", "hooks": { }\n}\n'
WATCHED = ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "sqlite3.connect")
VERSION = (2, 1, 197)


class Desk:
    def __init__(self, root: Path, step: str) -> None:
        self.home, self.places = Home(root / "coffer"), Places(root / "claude", root / "codex")
        self.file = settings_path("claude", self.places)
        self.file.parent.mkdir(parents=True)
        self.first = None if step in ("create", "remove") else TEXT.encode()
        if self.first is not None:
            self.file.write_bytes(self.first)
        if step in ("uninstall", "remove"):
            install(plan("claude", self.places, self.home, VERSION), self.home)

    def act(self, step: str) -> None:
        if step in ("install", "create"):
            install(plan("claude", self.places, self.home, VERSION), self.home)
        else:
            uninstall(plan_removal("claude", self.places, self.home), self.home)

    def now(self) -> bytes | None:
        return self.file.read_bytes() if self.file.exists() else None


def dies_at(desk: Desk, step: str, place: int) -> bool:
    """Whether the child died at that place; False: the step has fewer."""
    child = os.fork()
    if child == 0:
        count = 0

        def hook(event: str, _arguments: object) -> None:
            nonlocal count
            if event in WATCHED:
                count += 1
                if count == place:
                    os._exit(9)

        sys.addaudithook(hook)
        desk.act(step)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, 9):
        raise RuntimeError(f"the step failed at {place}")
    return code == 9


def main(folder: Path, step: str) -> dict[str, object]:
    model = Desk(folder / "model", step)
    old = model.now()
    model.act(step)
    new = model.now()
    deaths, olds, news, wrong = 0, 0, 0, []
    for place in range(1, 500):
        desk = Desk(folder / str(place), step)
        before = desk.now()
        assert before == old or (before is not None and step in ("uninstall", "remove"))
        if not dies_at(desk, step, place):
            break
        deaths += 1
        after = desk.now()
        bak = desk.file.with_name("settings.json.bak")
        if after == before:
            olds += 1
        elif same(after, new, model, desk):
            news += 1
            if before is not None and after is not None and bak.read_bytes() != before:
                wrong.append(f"{place}: no copy beside it")
        else:
            wrong.append(f"{place}: neither old nor new")
        uninstall(plan_removal("claude", desk.places, desk.home), desk.home)
        if desk.now() != desk.first:
            wrong.append(f"{place}: uninstall gave {desk.now()!r}")
        litter = [
            one.name for one in desk.file.parent.iterdir() if one.name not in (desk.file.name, bak.name)
        ]
        if len(litter) > 1:
            wrong.append(f"{place}: {litter}")
    return {"deaths": deaths, "old": olds, "new": news, "wrong": wrong}


def same(after: bytes | None, new: bytes | None, model: Desk, desk: Desk) -> bool:
    """The folders differ by their names."""
    if after is None or new is None:
        return after == new
    return after.replace(bytes(desk.home.root), b"") == new.replace(bytes(model.home.root), b"")


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
