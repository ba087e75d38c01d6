"""What can go wrong when the guard acts, and when a launcher is asked; each with its exit code, as in `errors`."""

from __future__ import annotations

from coffer.errors import CofferError


class NotLaunched(CofferError):
    """A session that no launcher of ours holds."""

    exit_code = 63

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} was not started with `coffer run claude`, so nothing can be typed there. "
            f"In the session itself, `/resume` with its id reloads it."
        )


class LauncherSilent(CofferError):
    """A launcher that gives no answer."""

    exit_code = 64

    def __init__(self, reason: str) -> None:
        super().__init__(f"The launcher does not answer: {reason}. The session goes on without it.")


class NotSafe(CofferError):
    """The gate says no. kinds: the types of what blocks."""

    exit_code = 66

    def __init__(self, session: str, blockers: list[tuple[str, str]]) -> None:
        self.kinds = [kind for kind, _ in blockers]
        shown = "; ".join(f"{kind}: {evidence}" for kind, evidence in blockers[:4])
        super().__init__(
            f"Session {session} may not be touched now ({shown}). Nothing was written. "
            "`coffer guard why` lists what blocks it, and what will clear that."
        )


class LeftAlone(CofferError):
    """A session that the guard may not touch at all."""

    exit_code = 67

    def __init__(self, session: str, why: str) -> None:
        super().__init__(f"Session {session} is left alone: {why}. Nothing was written.")


class ReloadNotSeen(CofferError):
    """It was pruned, and the client was not seen to read it again."""

    exit_code = 68

    def __init__(self, session: str, receipt: str, why: str) -> None:
        super().__init__(
            f"Session {session} is pruned (receipt {receipt}), but was not seen to be reloaded: {why}. "
            f"Type `/resume {session}` in it; `coffer undo {receipt}` takes the prune back."
        )


class MoveFailed(CofferError):
    """Something went wrong; the transcript is whole."""

    exit_code = 69

    def __init__(self, session: str, why: str) -> None:
        super().__init__(f"Session {session} was not pruned: {why}")
