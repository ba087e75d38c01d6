"""Whether the last words of a turn have reached the transcript: Stop tells them up to a second before.

A file that ends before them would be pruned and reloaded without them.
"""

from __future__ import annotations

from coffer.core.evidence import Conversation, Hook
from coffer.core.markers import key
from coffer.core.redact import redact


def is_flushed(stop: Hook, conversation: Conversation) -> bool:
    """Whether the message that a Stop names is in the file.

    A later record of the model proves it too: the client writes in order, and a long turn that was interrupted since
    has pushed the message out of the newest texts. Events are kept redacted and transcripts are not, so a message that
    holds a secret is also looked for in that form.
    """
    message = (stop.said or {}).get(key("stdin", "last_assistant_message"))
    if not isinstance(message, str) or not message.strip():
        return True
    if stop.time is not None and conversation.spoke is not None and conversation.spoke > stop.time:
        return True
    wanted = _bare(message)
    texts = (*conversation.texts, "".join(conversation.texts))
    return any(wanted in _bare(text) for text in texts) or any(
        wanted in _bare(redact(text).text) for text in texts
    )


def _bare(text: str) -> str:
    return "".join(text.split())
