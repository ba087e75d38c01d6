from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig.at(tmp_path)
    yield rig
    rig.close()


@pytest.fixture
def tide(rig: Rig) -> Path:
    return rig.desktop.project("tide")
