"""What a person typed in answer to AskUserQuestion, told from the choices that the agent had offered."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from coffer.agents.raw_text import REFUSALS
from coffer.core.turn import own_words


class Question(NamedTuple):
    """A question and the labels of its choices."""

    text: str
    labels: tuple[str, ...]


class Answered(NamedTuple):
    """words: what the person typed, "" where choices were only picked. asked: the questions so answered."""

    words: str
    asked: str


_decoder = msgspec.json.Decoder(dict[str, Any])


def questions(raw: bytes) -> list[Question]:
    """The questions of a call's input or of its `toolUseResult`; none where its shape is foreign."""
    return _questions(_decoded(raw))


def _decoded(raw: bytes) -> dict[str, Any]:
    try:
        return _decoder.decode(raw)
    except REFUSALS:
        return {}


def _questions(given: dict[str, Any]) -> list[Question]:
    found = []
    for item in _list(given.get("questions")):
        if isinstance(item, dict) and isinstance(item.get("question"), str):
            options = _list(item.get("options"))
            labels = [option.get("label") for option in options if isinstance(option, dict)]
            found.append(Question(item["question"], tuple(x for x in labels if isinstance(x, str))))
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def typed_answers(content: str, sidecar: bytes, asked: list[Question]) -> Answered:
    """The typed answers; from `toolUseResult`, or where a prune took it away from the result's own text."""
    given = _decoded(sidecar)
    known = _questions(given) or asked
    answers = given.get("answers")
    if isinstance(answers, dict):
        pairs = {key: value for key, value in answers.items() if isinstance(value, str)}
    else:
        pairs = _from_text(content, known)
    notes = given.get("annotations")
    notes = notes if isinstance(notes, dict) else {}
    words, about = [], []
    for question in known:
        answer = pairs.get(question.text, "")
        note = notes.get(question.text)
        note = note.get("notes") if isinstance(note, dict) else ""
        typed = _typed(answer, question.labels)
        own = own_words(
            "\n".join(dict.fromkeys(filter(None, (typed, note if isinstance(note, str) else ""))))
        )
        if own:
            words.append(own)
            about.append(question.text)
    return Answered("\n".join(words), "\n".join(about))


def _from_text(content: str, known: list[Question]) -> dict[str, str]:
    found = {}
    for question in known:
        match = re.search(
            re.escape(f'"{question.text}"="')
            + r'(.*?)"(?=, "|\. You can now| user notes:| selected preview|$)',
            content,
            re.DOTALL,
        )
        if match is not None:
            found[question.text] = match[1]
    return found


def _typed(answer: str, labels: tuple[str, ...]) -> str:
    """What is left of an answer without the labels that were picked (several are joined by ", ")."""
    for label in sorted(labels, key=len, reverse=True):
        if answer == label:
            return ""
        answer = re.sub(rf"(?:(?<=, )|^){re.escape(label)}(?:, |$)", "", answer)
    return answer.strip().removesuffix(",").strip()
