"""How a project is named in Coffer's own folder: readable, and never the same for two projects."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from pathlib import Path

_LONGEST = 40
_UNSAFE = re.compile(r"[^\w-]+")


def project_id(root: Path) -> str:
    """The folder name of a project below `memory/projects/`: its own name and a hash of its root.

    The name alone would make `a/api` and `b/api` one project, `feature/x` and `feature-x` too; a hash alone can't
    be found by a person. root: as `project_of` gives it.
    """
    name = _UNSAFE.sub("-", unicodedata.normalize("NFC", root.name)).strip("-_")[:_LONGEST]
    return f"{name or 'project'}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:10]}"
