"""What can go wrong with rules, the inbox and who may decide; each with its exit code, as in `errors`."""

from __future__ import annotations

from coffer.errors import CofferError


class RulesChangedSince(CofferError):
    """A digest in which every rule that a receipt changed was changed again since."""

    exit_code = 20

    def __init__(self, path: str, receipt: str) -> None:
        super().__init__(
            f"Every rule of {path} that receipt {receipt} changed was changed again since, or is gone: undoing would "
            "lose that. Nothing was written. Undo what came later first; `coffer receipts` lists it."
        )


class RuleNotFound(CofferError):
    """No rule of that id."""

    exit_code = 30

    def __init__(self, name: str, looked: list[str]) -> None:
        super().__init__(
            f"No rule is named “{name}” in {' or '.join(looked)}. Nothing was changed. "
            "`coffer digest show --all` lists the rules with their ids."
        )


class RuleAmbiguous(CofferError):
    """An id that both the project's digest and the person's own use."""

    exit_code = 4

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Both the project's digest and your own have a rule {name}. Say project:{name} or user:{name}."
        )


class RuleRefused(CofferError):
    """A text that may not be a rule."""

    exit_code = 31

    def __init__(self, reason: str) -> None:
        super().__init__(f"This can't be a rule: {reason}. Nothing was changed.")


class NothingToChange(CofferError):
    """A verb whose result is there already, or that can't be meant."""

    exit_code = 32

    def __init__(self, sentence: str) -> None:
        super().__init__(f"{sentence} Nothing was changed.")


class ItemNotFound(CofferError):
    """No inbox item of that id."""

    exit_code = 30

    def __init__(self, name: str, fitting: int) -> None:
        what = f"fits {fitting} items of the inbox" if fitting else "is no item of the inbox"
        super().__init__(f"“{name}” {what}. Nothing was changed. `coffer digest inbox --json` lists them.")


class WordingMissing(CofferError):
    """An inbox item that nobody has worded yet."""

    exit_code = 33

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Item {name} has no wording that is safe to take over: only you know the rule. Nothing was changed. "
            'Say it with `coffer digest inbox accept ID --text "Do not …"`.'
        )


class OnlyThePerson(CofferError):
    """A decision that an agent, or a program without --yes, may not take."""

    exit_code = 34

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"This is for the person to decide, and {reason}. Nothing was changed. Run it in a terminal of your own."
        )


class TicketInvalid(CofferError):
    """A ticket that was used, is unknown, or too old."""

    exit_code = 35

    def __init__(self, reason: str) -> None:
        super().__init__(f"The ticket is not valid: {reason}. No rule was proposed.")
