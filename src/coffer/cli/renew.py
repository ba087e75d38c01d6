"""Behind a command that may have changed rules: the files by which hooks answer while no daemon runs.

With a daemon it is the daemon's work. Without one the next session would be given the rules of before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress

import click

from coffer.errors import CofferError


def renewing(verbs: Collection[str]) -> Callable[..., None]:
    """What a group calls behind its command; verbs: its commands that may change rules."""

    def renew(*_results: object, **_options: object) -> None:
        if click.get_current_context().invoked_subcommand in verbs:
            with suppress(CofferError):  # the change is made and told; the daemon writes them when it comes
                _renew()

    return renew


def _renew() -> None:
    from coffer.cli.session import World  # noqa: PLC0415  (only who changes rules needs any of it)
    from coffer.daemon import life  # noqa: PLC0415
    from coffer.store.home import Home  # noqa: PLC0415
    from coffer.work.delivery.bundle_files import published  # noqa: PLC0415
    from coffer.work.setup.setup import Ground, first_bundle  # noqa: PLC0415

    world = World.now()
    home = Home.of(world.environment)
    if published(home) and life.running(home) is None:
        first_bundle(Ground(world.environment, world.places, home), world.folder)
