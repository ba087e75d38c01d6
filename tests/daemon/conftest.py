from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A machine whose daemons are gone at the end."""
    rig = Rig(tmp_path / "house")
    rig.house.mkdir()
    rig.install()
    (rig.home.root / "bin" / "daemon-command").unlink()  # a test that wants hooks to start one puts it back
    yield rig
    rig.end()


@pytest.fixture
def running(rig: Rig) -> Rig:
    """The same with a daemon."""
    rig.begin()
    return rig
