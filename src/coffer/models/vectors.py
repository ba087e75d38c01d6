"""Vectors of texts, from weights that came with a package: nothing is asked for over the network, ever.

The package `wordllama` brings a table of 32,000 pieces of words with 256 numbers each, and the tokenizer that goes
with it. A text's vector is the mean of its pieces' numbers. Only the two files are read and none of the package's code
is run: that one asks the network for a file which it doesn't find where it looks.
Needs numpy and tokenizers; only who asks by meaning imports this module.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from coffer.core.meaning import PIECE

_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_LARGEST_HEAD = 1 << 16


class Vectors:
    """Makes vectors. name: of the weights and of how texts are cut; vectors of another name can't be compared."""

    def __init__(self, folder: Path) -> None:
        weights = folder / _WEIGHTS
        self.name = f"{weights.stem}, {weights.stat().st_size} bytes, pieces of {PIECE}"
        self._table = _table(weights)
        self._tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def __call__(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text: 256 signed bytes, all 0 for a text without a word. Their length says nothing."""
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> bytes:
        numbers = self._tokenizer.encode(text, add_special_tokens=False).ids
        if not numbers:
            return bytes(self._table.shape[1])
        mean = self._table[numbers].astype(np.float32).mean(axis=0)
        vector: bytes = np.rint(mean * (127 / max(float(np.abs(mean).max()), 1e-9))).astype(np.int8).tobytes()
        return vector


@cache
def vectors() -> Vectors:
    """The maker of this process. Raises OSError, ValueError where the package's files are not as they were."""
    found = importlib.util.find_spec(_PACKAGE)  # looks for it and runs nothing of it
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError(_PACKAGE)
    return Vectors(Path(found.submodule_search_locations[0]))


def _table(path: Path) -> np.ndarray:
    """The one table of a safetensors file, mapped and not read: a head of JSON that says where and how it lies."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > _LARGEST_HEAD:
            raise ValueError(f"{path.name} has a head of {size} bytes")
        head = json.loads(file.read(size))
    (tensor,) = [value for name, value in head.items() if name != "__metadata__"]
    if tensor["dtype"] != "F16" or len(tensor["shape"]) != 2:
        raise ValueError(f"{path.name} holds {tensor['dtype']} of shape {tensor['shape']}")
    start = 8 + size + tensor["data_offsets"][0]
    return np.memmap(path, np.float16, "r", start, tuple(tensor["shape"]))
