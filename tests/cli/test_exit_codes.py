"""What `coffer --exit-codes` and docs/formats.md say of exit codes is what the errors have."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import coffer
from coffer.cli.exit_codes import EXIT_CODES
from coffer.errors import CofferError
from tests.cli.run import SOURCE, Machine

RUN_BY_PATH = ("coffer.hook", "coffer.pipe")


def below(kind: type[CofferError]) -> Iterator[type[CofferError]]:
    for one in kind.__subclasses__():
        yield one
        yield from below(one)


def test_every_code_is_told() -> None:
    for module in pkgutil.walk_packages(coffer.__path__, "coffer."):
        if module.name not in RUN_BY_PATH and module.name.endswith("errors"):
            importlib.import_module(module.name)
    raised = {one.exit_code for one in below(CofferError)}
    assert len(raised) > 40
    assert raised <= set(EXIT_CODES)
    said = " ".join((SOURCE / "docs" / "formats.md").read_text("utf-8").split())
    assert " · ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) in said


def test_an_installed_user_is_told(bare: Machine) -> None:
    done = bare.run("--exit-codes")
    assert done.code == 0
    assert [int(line.split()[0]) for line in done.out.splitlines()] == list(EXIT_CODES)
    assert "--exit-codes" in bare.run("--help").out


def test_hooks_status_fails_where_hooks_would(bare: Machine) -> None:
    folder = bare.home / ".claude"
    folder.mkdir()
    assert bare.alone("hooks", "status").code == 0
    assert bare.alone("hooks", "install", "claude", "--yes").code == 0
    assert bare.alone("hooks", "status", "claude").code == 0
    script = bare.home / ".coffer" / "bin" / "hook.py"
    script.write_text("import sys; sys.exit(2)\n")
    said = bare.alone("hooks", "status", "claude", "--json")
    assert (said.code, len(said.json["agents"][0]["problems"])) == (1, 1)
    script.unlink()
    assert bare.alone("hooks", "status", "claude").code == 1
    (folder / "settings.json").write_text("{")
    assert bare.alone("hooks", "status", "claude").code == 1
