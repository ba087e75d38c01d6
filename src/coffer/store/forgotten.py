"""What is forgotten, in `<home>/forgotten.json` (0600): hashes, and sessions up to a time; never a word of it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping

from coffer.core.forgotten import NOTHING, Forgotten, all_tokens, is_of, tokens_of
from coffer.disk.put import put
from coffer.errors import CofferError
from coffer.store.held import held
from coffer.store.home import Home

FILE = "forgotten.json"
_WAIT = 10.0


class ForgottenBroken(CofferError):
    """The list of what is forgotten can't be read: who can't tell what that is must not write it."""

    exit_code = 85

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} says what was forgotten, and can't be read: {reason}. Nothing was written. Move it away, and "
            "forget it again."
        )


def forgotten_of(home: Home) -> Forgotten:
    """All that is forgotten. Makes nothing. Raises ForgottenBroken for a file that can't be understood.

    Who can't tell what is forgotten must not write: it could be that.
    """
    path = home.root / FILE
    try:
        said = json.loads(path.read_bytes())
        return Forgotten(int(said["seed"]), all_tokens(said["words"]), dict(said["sessions"]))
    except FileNotFoundError:
        return NOTHING
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ForgottenBroken(str(path), str(error)) from error


def keep_forgotten(home: Home, phrases: Iterable[str], sessions: Mapping[str, str]) -> None:
    """Note phrases, and sessions as `Forgotten` has them. Raises ForgottenBroken, WriteFailed, Busy."""
    with held(home, home.root / FILE, _WAIT):
        known = forgotten_of(home)
        seed = known.seed or secrets.randbelow(1 << 32)
        new = [
            token
            for phrase in dict.fromkeys(phrases)
            if not any(is_of(one, phrase) for one in known.tokens)  # each costs every text that is told later
            for token in tokens_of(phrase, seed, secrets.token_bytes(16))
        ]
        _write(home, Forgotten(seed, (*known.tokens, *new), {**known.sessions, **sessions}))


def let_again(home: Home, phrase: str) -> bool:
    """Let a phrase be told again; whether it was forgotten. Raises as `keep_forgotten`."""
    with held(home, home.root / FILE, _WAIT):
        known = forgotten_of(home)
        left = tuple(token for token in known.tokens if not is_of(token, phrase))
        if len(left) == len(known.tokens):
            return False
        _write(home, Forgotten(known.seed, left, known.sessions))
        return True


def _write(home: Home, known: Forgotten) -> None:
    said = {
        "seed": known.seed,
        "words": [
            {"length": one.length, "check": one.check, "salt": one.salt.hex(), "digest": one.digest.hex()}
            for one in known.tokens
        ],
        "sessions": dict(known.sessions),
    }
    put(home.make(home.root) / FILE, json.dumps(said, indent=1).encode(), 0o600)
