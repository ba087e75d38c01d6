"""The files that an entry runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.errors import WriteFailed
from coffer.mcp.caller import Caller, caller_of
from coffer.pipe import introduction
from coffer.store.home import Home
from coffer.work.agent_settings.mcp_entries import has_server
from coffer.work.agent_settings.mcp_files import write_mcp
from tests.mcp.rig import PYTHON


def test_they_are_written_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert not has_server(home)
    changed = write_mcp(home, PYTHON)
    assert [path.name for path in changed][-2:] == ["pipe.py", "coffer-mcp"]
    assert (home.root / "bin" / "hook.py").exists(), "a pipe without a daemon starts one by it"
    assert write_mcp(home, PYTHON) == []
    assert has_server(home)
    with pytest.raises(WriteFailed):
        write_mcp(Home(tmp_path / "a\nb"), PYTHON)


def test_who_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coffer.pipe.posix.environ", {b"CLAUDE_CODE_SESSION_ID": b"s=1 \n", b"HOME": b"/x"})
    line = introduction("claude", b"/a b/\xff\n%41=")
    assert line.count(b"\n") == 1
    caller = caller_of(line)
    assert caller is not None
    assert (caller.agent, caller.folder, caller.session) == ("claude", "/a b/\udcff\n%41=", "s=1 \n")
    assert caller.parent > 1


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"GET / HTTP/1.1\r\n",
        b"coffer-mcp\n",
        b"coffer-mcp 2 agent=claude\n",
        b"coffer-mcp 1 agent=x\n",
    ],
)
def test_strangers(line: bytes) -> None:
    assert caller_of(line) is None


def test_a_caller_that_says_little() -> None:
    assert caller_of(b"coffer-mcp 1 agent=codex ppid=x\n") == Caller("codex", "")
