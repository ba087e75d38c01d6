"""What the output of a test runner, linter or compiler counts, read from its own last words."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from coffer.core.regex import regex

LONGEST_LOOK = 20_000
"""Characters at an output's end that are read: every runner says its sums last."""


class Counts(Struct, frozen=True, gc=False):
    """passed, failed: None where the output does not say. problems: of a linter or compiler, None for none said."""

    passed: int | None = None
    failed: int | None = None
    problems: int | None = None

    @property
    def bad(self) -> bool:
        """Whether something failed."""
        return bool(self.failed) or bool(self.problems)

    def text(self) -> str:
        """For a sentence; "" where nothing was counted."""
        said = []
        if self.failed:
            said.append(f"{self.failed} failed")
        if self.passed is not None and (self.passed or not self.failed):
            said.append(f"{self.passed} passed")
        if self.problems is not None:
            many = "problem" if self.problems == 1 else "problems"
            said.append(f"{self.problems or 'no'} {many}")
        return ", ".join(said)


def counts(output: str) -> Counts:
    """What an output counts; nothing where no known runner speaks."""
    tail = _COLOURS.sub("", output[-LONGEST_LOOK:])
    for read in _READERS:
        found = read(tail)
        if found is not None:
            return found
    return Counts()


_COLOURS = regex(r"\x1b\[[0-9;]*m")
# What may stand between is bounded everywhere: some logs are thousands of blank lines, and a search that begins anew at
# each of them takes minutes.
_PYTEST = regex(
    r"^=*[ ]?((?:\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|warnings?|deselected|rerun)(?:, )?)+)"
    r" in \d[\d.:]*",
    re.MULTILINE,
)
_JEST = regex(r"^[ \t]*Tests:?[ \t]+((?:\d+ (?:failed|passed|skipped|todo|total)[,| ]*)+)", re.MULTILINE)
_CARGO = regex(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.MULTILINE)
_BUN = regex(
    r"^[ \t]*(\d+) pass[ \t\r]*$(?:\n[ \t]*\d+ \w+[ \t\r]*$){0,9}?\n[ \t]*(\d+) fail[ \t\r]*$", re.MULTILINE
)
_MOCHA = regex(r"^[ \t]*(\d+) passing\b(?:[\s\S]{0,200}?^[ \t]*(\d+) failing\b)?", re.MULTILINE)
_UNITTEST = regex(r"^Ran (\d+) tests? in [\s\S]{0,200}?^(OK|FAILED)(?: \(([^)]*)\))?", re.MULTILINE)
_RSPEC = regex(r"^(\d+) examples?, (\d+) failures?", re.MULTILINE)
_PHPUNIT = regex(r"^OK \((\d+) tests?|^Tests: (\d+), .*?(?:Failures|Errors): (\d+)", re.MULTILINE)
_DOTNET = regex(r"Failed:\s+(\d+), Passed:\s+(\d+)")
_MAVEN = regex(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+)")
_TAP = regex(r"^# pass\s+(\d+)[\s\S]{0,200}?^# fail\s+(\d+)", re.MULTILINE)
_GO_TEST = regex(r"^[ \t]*--- (PASS|FAIL): ", re.MULTILINE)
_GO_PACKAGE = regex(r"^(ok|FAIL)[ \t]+[\w./-]+(?:[ \t]|$)", re.MULTILINE)
_PROBLEMS = regex(
    r"^(\d+) issues?[.:]|^Found (\d+) errors?|✖ (\d+) problems?|^error: aborting due to (\d+) previous errors?",
    re.MULTILINE,
)
_CLEAN = regex(
    r"^All checks passed|^Success: no issues found|no (?:issues|problems|errors) found", re.MULTILINE
)


def _pytest(text: str) -> Counts | None:
    found = _last(_PYTEST, text)
    return _named(found[1]) if found else None


def _jest(text: str) -> Counts | None:
    found = _last(_JEST, text)
    return _named(found[1]) if found else None


def _named(said: str) -> Counts:
    by_word = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", said)}
    failed = by_word.get("failed", 0) + by_word.get("error", 0) + by_word.get("errors", 0)
    return Counts(by_word.get("passed", 0), failed)


def _sums(form: re.Pattern[str]) -> Callable[[str], Counts | None]:
    """Passed and failed as groups 1 and 2, summed: such a runner says it once for each part."""

    def read(text: str) -> Counts | None:
        found = form.findall(text)
        if not found:
            return None
        return Counts(sum(int(a or 0) for a, _ in found), sum(int(b or 0) for _, b in found))

    return read


def _last_of(form: re.Pattern[str]) -> Callable[[str], Counts | None]:
    def read(text: str) -> Counts | None:
        found = _last(form, text)
        return Counts(int(found[1]), int(found[2] or 0)) if found else None

    return read


def _unittest(text: str) -> Counts | None:
    found = _last(_UNITTEST, text)
    if found is None:
        return None
    failed = sum(map(int, re.findall(r"(?:failures|errors)=(\d+)", found[3] or "")))
    return Counts(int(found[1]) - failed, failed)


def _rspec(text: str) -> Counts | None:
    found = _last(_RSPEC, text)
    return Counts(int(found[1]) - int(found[2]), int(found[2])) if found else None


def _phpunit(text: str) -> Counts | None:
    found = _last(_PHPUNIT, text)
    if found is None:
        return None
    failed = int(found[3] or 0)
    return Counts(int(found[1] or found[2]) - failed, failed)


def _dotnet(text: str) -> Counts | None:
    found = _DOTNET.findall(text)
    return Counts(sum(int(b) for _, b in found), sum(int(a) for a, _ in found)) if found else None


def _maven(text: str) -> Counts | None:
    found = _last(_MAVEN, text)
    if found is None:
        return None
    failed = int(found[2]) + int(found[3])
    return Counts(int(found[1]) - failed, failed)


def _go(text: str) -> Counts | None:
    tests, packages = _GO_TEST.findall(text), _GO_PACKAGE.findall(text)
    if not packages:
        return None
    if "PASS" in tests:  # -v tells every test, else only those that failed
        return Counts(tests.count("PASS"), tests.count("FAIL"))
    failed = tests.count("FAIL") or packages.count("FAIL")
    return Counts(None, failed) if failed else Counts()


def _problems(text: str) -> Counts | None:
    found = _last(_PROBLEMS, text)
    if found is not None:
        return Counts(problems=int(next(filter(None, found.groups()))))
    return Counts(problems=0) if _CLEAN.search(text) else None


def _last(form: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in form.finditer(text):  # noqa: B007  (the last one is wanted)
        pass
    return found


_READERS: tuple[Callable[[str], Counts | None], ...] = (
    _pytest,
    _jest,
    _sums(_CARGO),
    _last_of(_BUN),
    _last_of(_TAP),
    _last_of(_MOCHA),
    _unittest,
    _rspec,
    _phpunit,
    _dotnet,
    _maven,
    _go,
    _problems,
)
