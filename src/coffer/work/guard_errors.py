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
