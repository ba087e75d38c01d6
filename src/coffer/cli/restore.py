"""`coffer restore`: content that was pruned."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from coffer.cli.plain import visible
from coffer.cli.session import World
from coffer.errors import WriteFailed
from coffer.store.home import Home
from coffer.work.pruning.restore import Restored, restore


@click.command()
@click.argument("name", metavar="ID")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file instead; images too."
)
@click.option("--raw", is_flag=True, help="Print the content as it was, also where a terminal would obey it.")
def command(name: str, out: Path | None, raw: bool) -> None:
    """Print pruned content by the ID that stands in its stub (ten digits; the first few do)."""
    found = restore(Home.of(World.now().environment), name)
    if out is not None:
        _write(found, out)
        return
    if found.images and not found.text:
        raise click.UsageError(f"{found.note}: an image. --out FILE writes it.")
    if raw or not sys.stdout.isatty():
        sys.stdout.buffer.write(found.text.encode("utf-8", "surrogatepass") + b"\n")
    else:
        click.echo(visible(found.text))
    if found.images:
        click.echo(f"(and {len(found.images)} images; --out FILE writes the first)", err=True)


def _write(found: Restored, out: Path) -> None:
    data = found.images[0] if found.images else found.text.encode("utf-8", "surrogatepass")
    try:
        with out.open("xb") as file:
            file.write(data)
    except OSError as error:
        raise WriteFailed(str(out), (error.strerror or str(error)).lower()) from None
    click.echo(f"{out}: {len(data)} bytes of {visible(found.note)}")
