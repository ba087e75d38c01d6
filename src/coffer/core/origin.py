"""Where a repository comes from, as a name that is the same however it was cloned; no secret is in it.

Read from the text of git's own config file: nothing is run, so that a repository's settings can do nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coffer.core.regex import regex

LONGEST = 1_000
"""Characters of an address; a longer one is none."""
_CASELESS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com", "git.sr.ht"})
"""Hosts that take the path in any case."""
_PORTS = {"http": "80", "https": "443", "git": "9418"}
_SECTION = regex(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_KEY = regex(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$")
_URL = regex(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)")
_SCP = regex(r"(?:[^@/\s]+@)?(\[[0-9A-Fa-f:.]+\]|[^:/@\s\[\]]+):(?!//)(.+)")


def origin_in(config: str) -> str:
    """The address that a config file gives its `origin`, or its only remote; "" for none, or more than one."""
    remotes: dict[str, str] = {}
    for section, name, key, value in settings(config):
        if (section, key) == ("remote", "url") and value:
            remotes.setdefault(name, value)  # of several the first is fetched from
    if "origin" in remotes:
        return remotes["origin"]
    return next(iter(remotes.values())) if len(remotes) == 1 else ""


def settings(config: str) -> Iterator[tuple[str, str, str, str]]:
    """Each setting of a config file: section (small letters), subsection, key (small letters), value."""
    section = name = ""
    lines = iter(config.replace("\r\n", "\n").split("\n"))
    for line in lines:
        rest = line.strip()
        if (begun := _SECTION.match(rest)) is not None:
            section, name = begun[1].lower(), re.sub(r"\\(.)", r"\1", begun[2] or "")
            rest = rest[begun.end() :].strip()
        found = _KEY.match(rest) if rest[:1] not in ("", "#", ";", "[") else None
        if found is not None:
            yield section, name, found[1].lower(), _value(found[2] or "", lines)


def _value(said: str, more: Iterator[str]) -> str:
    """A value as git reads it: quotes taken off, escapes resolved, a comment cut off, continued lines joined."""
    made: list[str] = []
    quoted, at = False, 0
    while at < len(said):
        letter = said[at]
        if letter == "\\":
            if at + 1 == len(said):  # the value goes on in the next line
                said, at = next(more, ""), 0
                continue
            at += 1
            made.append({"n": "\n", "t": "\t", "b": ""}.get(said[at], said[at]))
        elif letter == '"':
            quoted = not quoted
        elif letter in "#;" and not quoted:
            break
        else:
            made.append(letter)
        at += 1
    return "".join(made).strip()


def normalised(address: str, folder: str) -> str:
    """An address as `host/path` or `file:/path`; "" for what is none. folder: what a relative path begins at.

    ssh, https and scp forms of one repository come out alike: user, password, `.git`, slashes at the end, what
    follows `?`, the host's case and usual ports are left out. A port of ssh always is (a forge that listens on 2222
    for it has another one for https); an odd one of http stays, since it may well be another server.
    """
    said = address.strip()
    if not said or len(said) > LONGEST or any(ord(letter) < 32 for letter in said):
        return ""
    url = _URL.match(said)
    if url is not None:
        scheme = url[1].lower().split("+")[0]
        return _local(url[3], "/") if scheme == "file" else _remote(scheme, url[2], url[3])
    if (scp := _SCP.fullmatch(said)) is not None:
        return _remote("ssh", scp[1], "/" + scp[2])
    return _local(said, folder)


def _remote(scheme: str, server: str, path: str) -> str:
    host, port = server.rpartition("@")[2].lower(), ""
    if (told := re.fullmatch(r"(\[[^\]]*\]|[^:]*):(\d*)", host)) is not None:
        host, port = told[1], told[2]
    host = host.rstrip(".")
    kept = port not in ("", _PORTS.get(scheme)) and scheme not in ("ssh", "git")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if host in _CASELESS:
        parts = [part.lower() for part in parts]
    named = _bare("/".join(parts))
    if not host or not named:
        return ""
    return f"{host}{f':{port}' if kept else ''}/{named}"


def _local(path: str, folder: str) -> str:
    """A path as `file:`; `..` is resolved by the letters, as git does where no link is followed."""
    whole = path if path.startswith("/") else f"{folder}/{path}"
    parts: list[str] = []
    for part in whole.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    if parts and parts[-1] == ".git":
        parts.pop()
    named = _bare("/".join(parts))
    return f"file:/{named}" if named else ""


def _bare(path: str) -> str:
    short = path.rstrip("/")
    return short.removesuffix(".git").rstrip("/") if short.lower().endswith(".git") else short


def last_part(origin: str) -> str:
    """The repository's own name in an origin as `normalised` gives it."""
    return origin.rpartition("/")[2]
