"""Damage that happens to transcripts, drawn from a seed: what crashes, forks and other tools leave."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Lines = list[bytes]

_CHAINED = ("user", "assistant", "attachment", "system", "progress")


class Damage:
    """A few mutations of one transcript. `names` says which were done, in order."""

    def __init__(self, data: bytes, seed: int) -> None:
        self._draw = random.Random(seed)
        self.lines: Lines = data.splitlines(keepends=True)
        self.names: list[str] = []
        for _ in range(self._draw.randint(1, 3)):
            name = self._draw.choice(sorted(MUTATIONS))
            records = self._records()
            if len(records) < 4:
                break
            index, record = self._draw.choice(records)
            MUTATIONS[name](self, index, record)
            self.names.append(name)

    @property
    def data(self) -> bytes:
        """The damaged transcript."""
        return b"".join(self.lines)

    def _records(self) -> list[tuple[int, Json]]:
        found = []
        for index, line in enumerate(self.lines):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and record.get("uuid") and record.get("type") in _CHAINED:
                found.append((index, record))
        return found

    def _other(self) -> Json:
        return self._draw.choice(self._records())[1]

    def put(self, index: int, record: Json) -> None:
        """Write a changed record back."""
        self.lines[index] = encode(record)

    def remove(self, index: int, _record: Json) -> None:
        del self.lines[index]

    def remove_relinked(self, index: int, record: Json) -> None:
        for other, child in self._records():
            if child.get("parentUuid") == record["uuid"]:
                self.put(other, {**child, "parentUuid": record.get("parentUuid")})
        del self.lines[index]

    def other_parent(self, index: int, record: Json) -> None:
        self.put(index, {**record, "parentUuid": self._other()["uuid"]})

    def no_parent(self, index: int, record: Json) -> None:
        self.put(index, {**record, "parentUuid": None})

    def double(self, index: int, _record: Json) -> None:
        self.lines.insert(self._draw.randint(0, len(self.lines)), self.lines[index])

    def other_uuid(self, index: int, record: Json) -> None:
        self.put(index, {**record, "uuid": self._other()["uuid"]})

    def swap(self, index: int, _record: Json) -> None:
        other = self._draw.randrange(len(self.lines))
        self.lines[index], self.lines[other] = self.lines[other], self.lines[index]

    def tear(self, index: int, _record: Json) -> None:
        whole = self.lines[index]
        self.lines[index] = whole[: len(whole) // 2] + (b"\n" if self._draw.random() < 0.5 else b"")

    def zeros(self, index: int, _record: Json) -> None:
        self.lines.insert(index, b"\0" * 300 + (b"\n" if self._draw.random() < 0.5 else b""))

    def glue(self, index: int, _record: Json) -> None:
        if index + 1 < len(self.lines):
            self.lines[index : index + 2] = [self.lines[index].rstrip(b"\n") + self.lines[index + 1]]

    def point(self, _index: int, record: Json) -> None:
        said = {"type": "last-prompt", "leafUuid": record["uuid"], "sessionId": record.get("sessionId")}
        if self._draw.random() < 0.5:
            said |= {"explicit": True, "rewound": self._draw.random() < 0.5}
        self.lines.append(encode(said))

    def sidechain(self, index: int, record: Json) -> None:
        self.put(index, {**record, "isSidechain": not record.get("isSidechain")})

    def meta(self, index: int, record: Json) -> None:
        self.put(index, {**record, "isMeta": True})

    def virtual(self, index: int, record: Json) -> None:
        self.put(index, {**record, "isVirtual": True})

    def other_message(self, index: int, record: Json) -> None:
        answers = [other for _, other in self._records() if other["type"] == "assistant"]
        if record["type"] == "assistant" and answers:
            message = {**record["message"], "id": self._draw.choice(answers)["message"]["id"]}
            self.put(index, {**record, "message": message})

    def other_time(self, index: int, record: Json) -> None:
        self.put(index, {**record, "timestamp": self._other().get("timestamp")})

    def remove_result(self, _index: int, _record: Json) -> None:
        results = [
            i for i, other in self._records() if other["type"] == "user" and b"tool_result" in self.lines[i]
        ]
        if results:
            del self.lines[self._draw.choice(results)]

    def api_error(self, index: int, record: Json) -> None:
        if record["type"] == "assistant":
            message = {**record["message"], "model": "<synthetic>"}
            self.put(index, {**record, "message": message, "isApiErrorMessage": True})

    def cut(self, index: int, _record: Json) -> None:
        del self.lines[index + 1 :]

    def behead(self, index: int, _record: Json) -> None:
        del self.lines[:index]

    def compact(self, _index: int, record: Json) -> None:
        boundary, summary = (str(uuid.UUID(int=self._draw.getrandbits(128))) for _ in range(2))
        common = {
            "isSidechain": False,
            "timestamp": record.get("timestamp"),
            "sessionId": record.get("sessionId"),
        }
        uuids = [other["uuid"] for _, other in self._records()]
        first = self._draw.randint(0, len(uuids))
        kept = uuids[first : first + self._draw.randint(1, 6)]
        metadata: Json = {"trigger": "manual", "preTokens": 5}
        form = self._draw.randint(0, 2)
        if form == 1:
            metadata["preservedMessages"] = {"anchorUuid": summary, "uuids": kept, "allUuids": kept}
        elif form == 2 and kept:
            metadata["preservedSegment"] = {"headUuid": kept[0], "anchorUuid": summary, "tailUuid": kept[-1]}
        at = self._draw.randint(0, len(self.lines))
        self.lines[at:at] = [
            encode(
                {
                    "parentUuid": None,
                    "type": "system",
                    "subtype": "compact_boundary",
                    "uuid": boundary,
                    "compactMetadata": metadata,
                    **common,
                }
            ),
            encode(
                {
                    "parentUuid": boundary,
                    "type": "user",
                    "message": {"role": "user", "content": "SUMMARY"},
                    "isCompactSummary": True,
                    "uuid": summary,
                    **common,
                }
            ),
        ]


MUTATIONS: dict[str, Callable[[Damage, int, Json], None]] = {
    name: function
    for name, function in vars(Damage).items()
    if callable(function) and not name.startswith("_") and name != "put"
}


def encode(record: Json) -> bytes:
    """One line as the client writes it."""
    text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def enlarge(data: bytes) -> bytes:
    """The same transcript above 5 MiB, where the client reads it in another way."""
    filler = {"type": "queue-operation", "operation": "enqueue", "content": "Z" * 5_300_000}
    return encode(filler) + data
