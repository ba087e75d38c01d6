"""Texts that Claude Code itself puts into a request (2.1.197); one place for each."""

CONTINUE = "Continue from where you left off."
"""Added as the user's words where a turn was cut after a result."""
NO_RESPONSE = "No response requested."
"""Added as the answer where a branch ends with a person's words."""
NO_CONTENT = "(no content)"
"""Stands for a message without content."""
INTERRUPTIONS = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
"""Written as the user's words after Esc."""
MISSING_RESULT = "[Tool result missing due to internal error]"
"""The made-up result of a call that has none."""
INTERRUPTED_CALL = "[Tool use interrupted]"
"""Stands for an answer whose only call was a doubled one."""
SYNTHETIC = "<synthetic>"
"""The model of answers that the client wrote itself."""
THINKING = ("thinking", "redacted_thinking")
"""Block kinds that only the model that wrote them takes back."""
ALIASES = {
    "AgentOutputTool": "TaskOutput",
    "BashOutput": "TaskOutput",
    "BashOutputTool": "TaskOutput",
    "KillBash": "TaskStop",
    "KillShell": "TaskStop",
    "Task": "Agent",
}
"""Former tool names that 2.1.197 sends under the present one."""
MARKER = "<!-- __cozempic_behavioral_digest__: true -->"
"""Stands in Coffer's own injected bundle (fixed name, DESIGN section 4)."""
BOUND_THINKING = ("claude-fable-5", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5")
"""Models whose thinking is bound to all that stands before it: a changed prefix makes it invalid (Anthropic's
documentation, "preserved thinking"; the scripted server's rule `thinking_bound`)."""
REMINDER_BEGIN, REMINDER_END = "<system-reminder>", "</system-reminder>"
"""Between them stand the client's reminders, also inside results."""
LAUNCHERS = ("Monitor", "Workflow")
"""Tools that always work on in the background."""
STANDING = (
    "Async agent launched",
    "Command running in background",
    "Command was manually backgrounded",
    "The user doesn't want to proceed",
    "Workflow launched in background",
)
"""How results begin that a prune leaves: launches of work whose end the client looks for at a resume, and
rejections, behind which stands what the person said (facts/claude-code §11)."""
