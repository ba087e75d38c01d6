"""Which Coffer this is."""

from __future__ import annotations


def version() -> str:
    """The version of the package that is installed."""
    from importlib.metadata import PackageNotFoundError  # noqa: PLC0415  (28 ms that few commands need)
    from importlib.metadata import version as of  # noqa: PLC0415

    try:
        return of("coffer-agent")
    except PackageNotFoundError:
        return "not installed"
