"""Scenes that few sessions see: a page fetched, a compaction in mid-turn, a workflow resumed, a suggestion shown."""

from __future__ import annotations

import ssl
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.lab.claude_stage import GREETINGS, SUMMARY, bash, pause
from tests.lab.harness import Truth
from tests.lab.harness_ends import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.lab.harness import Harness

Json = dict[str, Any]
LONG = 600
FULL = {"type": "invalid_request_error", "message": "prompt is too long: 215000 tokens > 200000 maximum"}


@contextmanager
def site(folder: Path, page: str) -> Iterator[tuple[str, dict[str, str]]]:
    """A page on loopback by https, since the client asks by nothing else; its address, and how a client trusts it."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
            ),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/page.html", {"NODE_EXTRA_CA_CERTS": str(certificate)}
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def page_fetched(h: Harness) -> None:
    """A page from the network holds the words by which work in flight is known, and the small model repeats them."""
    h.settings(allow=("WebFetch",), skipWebFetchPreflight=True)
    told = {"match": {"last_user_text": "Web page content"}, "reply": {"text": f"The page says: {WORDS}"}}
    with site(h.home.root, f"<html><body><p>{WORDS}</p></body></html>") as (address, trust):
        fetch = {"name": "WebFetch", "input": {"url": address, "prompt": "What does it say?"}}
        h.stage.play({"fetch the page": [{"tools": [fetch]}, {"text": "It is fetched."}]}, told)
        with h.home.interactive(extra=trust) as screen:
            h.stage.say(screen, "Please fetch the page.", "It is fetched", 40)
            if "The page says" not in h.home.transcripts()[-1].read_text():
                raise RuntimeError("the page was not fetched")
            pause(1.5)
            h.shoot(screen, "words-fetched", Truth(True, "a page from the network holds marker words"))


def compaction_midturn(h: Harness) -> None:
    """The API says in the middle of a turn that the prompt is too long; the turn goes on behind the compaction."""
    rules: list[Json] = [
        {
            "match": {"last_user_text": "Your task is to create a detailed summary"},
            "reply": {"text": SUMMARY, "delay_s": 5},
        },
        {"match": {"last_user": "step-42"}, "times": 1, "reply": {"status": 400, "error": FULL}},
        {
            "match": {"last_user": "step-42"},
            "reply": {"text": "On it goes.", "tools": [bash("sleep 6; echo step-$((42+1))", "Go on")]},
        },
        {"match": {"last_user": "step-43"}, "reply": {"text": "All is done."}},
    ]
    first: list[Json] = [{"tools": [bash("echo step-$((41+1))", "Begin")]}]
    h.stage.play({**GREETINGS, "work in steps": first}, *rules)
    with h.home.interactive() as screen:
        for word in ("apple", "pear"):
            h.stage.say(screen, f"Please greet the {word}.", f"Greeted {word}")
        screen.send("Please work in steps.")
        screen.wait("ompacting")
        pause(1.5)
        h.shoot(screen, "compacting-midturn", Truth(False, "the turn waits for its compaction", ("turn",)))
        screen.wait("On it goes", 30)
        pause(2)
        h.shoot(
            screen,
            "compacted-midturn",
            Truth(False, "the turn goes on behind its compaction", ("turn", "tool")),
        )
        screen.wait("All is done", 30)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "compacted-midturn-ended", Truth(True, "the turn has ended behind its compaction"))


def workflow_resumed(h: Harness) -> None:
    """A workflow that was stopped is resumed, and ends."""
    code = (
        "export const meta = { name: 'count', description: 'count files', phases: [{title: 'Count'}] }\n"
        "phase('Count')\nconst n = await agent('count the files for me')\nreturn {n}\n"
    )
    begun: list[Json] = [
        {"tools": [{"name": "Workflow", "input": {"script": code}}]},
        {"text": "The workflow runs."},
    ]
    counts: list[Json] = [{"tools": [bash("sleep 12; echo 1", "Count")]}, {"text": "1"}]
    h.stage.play({"use a workflow": begun, "count the files for me": counts})
    with h.home.interactive() as screen:
        screen.send("Please use a workflow.")
        screen.wait("The workflow runs", 30)
        pause(2)
        said = h.home.transcripts()[-1].read_text()
        task, run, script = (
            said.partition(f'"{name}":"')[2].partition('"')[0] for name in ("taskId", "runId", "scriptPath")
        )
        stop = {"name": "TaskStop", "input": {"task_id": task}}
        again = {"name": "Workflow", "input": {"scriptPath": script, "resumeFromRunId": run}}
        h.stage.play(
            {
                "begin it anew": [
                    {"tools": [stop]},
                    {"tools": [again]},
                    {"text": "It runs again."},
                    {"text": "It counted."},
                ],
                "count the files for me": counts,
            }
        )
        screen.send("Please begin it anew.")
        screen.wait("It runs again", 30)
        pause(3)
        h.shoot(
            screen, "workflow-resumed", Truth(False, "a stopped workflow was resumed", ("turn", "workflow"))
        )
        screen.wait("It counted", 40)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "workflow-resumed-ended", Truth(True, "the resumed workflow has ended"))


def suggestion(h: Harness) -> None:
    """The client paints into the empty input line what the person might say next."""
    guessed = {"match": {"last_user_text": "SUGGESTION MODE"}, "reply": {"text": "greet the plum too"}}
    h.stage.play(GREETINGS, guessed)
    with h.home.interactive(extra={"CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "1"}) as screen:
        for word in ("apple", "pear"):
            h.stage.say(screen, f"Please greet the {word}.", f"Greeted {word}")
        screen.wait("greet the plum too")
        pause(1.5)
        truth = Truth(True, "a suggestion of the client's stands in the empty input line")
        h.shoot(screen, "suggestion-shown", truth, styled=True)


SCENES: dict[str, Callable[[Harness], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (page_fetched, compaction_midturn, workflow_resumed, suggestion)
}
