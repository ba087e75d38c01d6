from pathlib import Path

import pytest

from tests.launch.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "house")
