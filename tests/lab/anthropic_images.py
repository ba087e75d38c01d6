"""What the Messages API accepts as an image."""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.lab.anthropic_request import Call, Json

MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
MAX_BASE64 = 5 * 1024 * 1024  # characters of the base64 text, not bytes of the image
MAX_SIDE = 8000  # pixels
MANY = 20  # images; beyond it the next limit holds
MAX_SIDE_MANY = 2000  # pixels
MAX_IMAGES = {"200k": 100, "1m": 600}
LONG_CONTEXT_BETA = "context-1m-2025-08-07"


class Image(NamedTuple):
    """One base64 image of a request and its path in error messages."""

    place: str
    media_type: str
    data: str

    def decoded(self) -> bytes | None:
        """Decode the image; None when the text is not base64."""
        try:
            return base64.b64decode(self.data, validate=True)
        except (binascii.Error, ValueError):
            return None


def images(call: Call) -> Iterator[Image]:
    """Yield every base64 image, those inside tool results too."""
    for block in call.blocks():
        if block.type == "image":
            yield from _image(f"{block.place}.image", block.body)
        content = block.body.get("content")
        if block.type == "tool_result" and isinstance(content, list):
            for i, item in enumerate(content):
                if item.get("type") == "image":
                    yield from _image(f"{block.place}.tool_result.content.{i}.image", item)


def _image(place: str, block: Json) -> Iterator[Image]:
    source = block.get("source") or {}
    if source.get("type") == "base64":
        yield Image(f"{place}.source.base64", str(source.get("media_type")), str(source.get("data") or ""))


def media_type(data: bytes) -> str | None:
    """Tell an image's type by its first bytes."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def size(data: bytes) -> tuple[int, int] | None:
    """Read width and height in pixels of a PNG, GIF or JPEG; None when they can't be read."""
    try:
        match media_type(data):
            case "image/png":
                width, height = struct.unpack(">II", data[16:24])
            case "image/gif":
                width, height = struct.unpack("<HH", data[6:10])
            case "image/jpeg":
                return _jpeg_size(data)
            case _:
                return None
    except struct.error:
        return None
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # start of frame
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None


def image_media_type(call: Call) -> str | None:
    """Only four media types are known."""
    for image in images(call):
        if image.media_type not in MEDIA_TYPES:
            names = "'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
            return f"{image.place}.media_type: Input should be {names}"
    return None


def image_empty(call: Call) -> str | None:
    """An image has content."""
    return next((f"{i.place}: image cannot be empty" for i in images(call) if not i.data), None)


def image_base64(call: Call) -> str | None:
    """The data is strict base64 (no data URL, no line breaks)."""
    bad = (i for i in images(call) if i.decoded() is None)
    return next((f"{i.place}.data: invalid base64 data" for i in bad), None)


def image_format(call: Call) -> str | None:
    """The data is an image, and of the type that is named."""
    for image in images(call):
        data = image.decoded()
        if not data or image.media_type not in MEDIA_TYPES:
            continue
        found = media_type(data)
        if found is None:
            return "Could not process image"
        if found != image.media_type:
            return (
                f"{image.place}.data: The image was specified using the {image.media_type} media type, "
                f"but the image appears to be a {found} image"
            )
    return None


def image_size(call: Call) -> str | None:
    """The base64 text of one image has at most 5 MB."""
    for image in images(call):
        if len(image.data) > MAX_BASE64:
            return f"{image.place}: image exceeds 5 MB maximum: {len(image.data)} bytes > {MAX_BASE64} bytes"
    return None


def image_count(call: Call) -> str | None:
    """At most 100 images a request, 600 with a long window."""
    count = sum(1 for _ in images(call))
    limit = MAX_IMAGES["1m" if LONG_CONTEXT_BETA in call.betas else "200k"]
    return f"Too much media: 0 document pages + {count} images > {limit}" if count > limit else None


def image_dimensions(call: Call) -> str | None:
    """No side over 8000 pixels; over 2000 when there are more than 20 images."""
    found = list(images(call))
    many = len(found) > MANY
    for image in found:
        sides = size(image.decoded() or b"")
        if sides and max(sides) > (MAX_SIDE_MANY if many else MAX_SIDE):
            limit = f" for many-image requests: {MAX_SIDE_MANY}" if many else f": {MAX_SIDE}"
            what = "At least one of the image dimensions exceed max allowed size"
            return f"{image.place}.data: {what}{limit} pixels"
    return None


def png(width: int = 1, height: int = 1, *, pixels: bytes | None = None, padding: int = 0) -> bytes:
    """Make a grey PNG of `pixels` (a byte each, row by row; default black).

    With `padding` its data is that many zero bytes instead: a size, not a picture.
    """

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    flat = pixels if pixels is not None else bytes(width * height)
    rows = b"".join(b"\0" + flat[at : at + width] for at in range(0, len(flat), width))
    data = zlib.compress(rows) if padding == 0 else bytes(padding)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
