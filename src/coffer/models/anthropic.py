"""Anthropic's Messages API (source: its API reference, "Create a Message", version 2023-06-01)."""

from __future__ import annotations

from dataclasses import dataclass

from coffer.models.exchange import Line, post, unusable

VERSION = "2023-06-01"
_WHOLE = ("end_turn", "stop_sequence")


@dataclass(frozen=True, slots=True)
class Anthropic:
    """A model behind `{base}/v1/messages`."""

    line: Line

    def ask(self, prompt: str, most_tokens: int) -> str:
        """The text of the answer. Raises ModelUnavailable, also where the answer was cut or refused."""
        reply = post(
            self.line,
            f"{self.line.model.address.removesuffix('/v1')}/v1/messages",
            {"x-api-key": self.line.key, "anthropic-version": VERSION},
            {
                "model": self.line.model.model,
                "max_tokens": most_tokens,
                "messages": [{"role": "user", "content": prompt}],
            },
        )
        # half a rule may say the opposite of the whole
        if reply.get("stop_reason") not in _WHOLE:
            raise unusable(self.line, "its answer was cut off or refused")
        blocks = reply.get("content")
        texts = [
            block["text"]
            for block in (blocks if isinstance(blocks, list) else [])
            if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
        ]
        answer = "".join(texts).strip()
        if not answer:
            raise unusable(self.line, "its answer holds no text")
        return answer
