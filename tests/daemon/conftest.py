from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.daemon.rig import Rig


@contextmanager
def _machine(house: Path) -> Iterator[Rig]:
    rig = Rig(house)
    rig.house.mkdir()
    rig.install()
    (rig.home.root / "bin" / "daemon-command").unlink()  # a test that wants hooks to start one puts it back
    try:
        yield rig
    finally:
        rig.end()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A machine whose daemons are gone at the end."""
    with _machine(tmp_path / "house") as rig:
        yield rig


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """One with a daemon, for all tests of a module that only ask it: a start costs two seconds."""
    with _machine(tmp_path_factory.mktemp("shared") / "house") as rig:
        rig.begin()
        yield rig


@pytest.fixture
def running(rig: Rig) -> Rig:
    """The same with a daemon."""
    rig.begin()
    return rig


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """One with a daemon whose limits for slow clients are short, for the tests that wait for them."""
    with _machine(tmp_path_factory.mktemp("hasty") / "house") as rig:
        rig.begin("gate.BODY_SECONDS = 1.0\nserver.HEAD_SECONDS = 2.0")
        yield rig
