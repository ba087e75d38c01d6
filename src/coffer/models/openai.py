"""OpenAI's chat completions, which Ollama, vLLM and the server of llama.cpp speak too.

Source: the API reference, "Create chat completion". Only what all of them take is sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coffer.core.regex import regex
from coffer.core.settings import HOMES
from coffer.models.exchange import Line, post, unusable

_THOUGHT = regex(r"\s*<think>.*?</think>", re.DOTALL)
"""How local reasoning models think aloud in their answer's text."""


@dataclass(frozen=True, slots=True)
class OpenAI:
    """A model behind `{base}/chat/completions`; a server on one's own machine needs no key."""

    line: Line

    def ask(self, prompt: str, most_tokens: int) -> str:
        """The text of the first choice. Raises ModelUnavailable, also where the answer was cut or refused."""
        model = self.line.model
        # OpenAI's newer models refuse max_tokens, other servers don't know the newer name
        limit = "max_completion_tokens" if model.address == HOMES["openai"] else "max_tokens"
        reply = post(
            self.line,
            f"{model.address}/chat/completions",
            {"authorization": f"Bearer {self.line.key}"} if self.line.key else {},
            {"model": model.model, limit: most_tokens, "messages": [{"role": "user", "content": prompt}]},
        )
        choices = reply.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise unusable(self.line, "its answer holds no choice")
        # half a rule may say the opposite of the whole
        if choice.get("finish_reason") not in ("stop", None) or message.get("refusal"):
            raise unusable(self.line, "its answer was cut off or refused")
        text = message.get("content")
        answer = _THOUGHT.sub("", text, count=1).strip() if isinstance(text, str) else ""
        if not answer:
            raise unusable(self.line, "its answer holds no text")
        return answer
