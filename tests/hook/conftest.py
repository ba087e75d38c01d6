from pathlib import Path

import pytest

from tests.hook.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    """An installed hook whose limits no busy machine reaches."""
    rig = Rig.at(tmp_path)
    rig.limits()
    return rig
