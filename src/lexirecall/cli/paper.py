"""`lexirecall paper`: the tables and figures of the paper, computed again."""

from typing import TYPE_CHECKING

import click

from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import WholeNumber, is_bold, raw_option
from lexirecall.tables import FORMATS, Table

if TYPE_CHECKING:
    from lexirecall.paper.exhibit import Exhibit


@click.command("paper", cls=DocumentedCommand)
@click.argument("names", metavar="[NAME... | all]", nargs=-1)
@click.option("-o", "--output", "folder", metavar="DIR", help="Write tables and figures to a folder.")
@click.option(
    "-f", "--format", "form", type=click.Choice((*FORMATS,)), default="table", show_default=True,
    help="How to print the result; -o writes it in this format too.",
)  # fmt: skip
@raw_option
@click.option("--seed", type=WholeNumber(0), default=2025, show_default=True, help="Seed for what is sampled.")
def command(names: tuple[str, ...], folder: str | None, form: str, raw: bool, seed: int) -> None:
    """Reproduce the tables and figures of the paper, beside the printed numbers; without a name, list them.

    A folder has each table as text and TSV, and in the format of -f; figures are SVG, PDF and PNG. The empirical
    figures (agreement, ties, sensitivity, missing labels) come from `lexirecall study` on your data.

    \b
    Examples:
      lexirecall paper
      lexirecall paper worst-case-agreement
      lexirecall paper all -f latex -o figures
    """
    from pathlib import Path

    from lexirecall.errors import UsageError
    from lexirecall.output import write, write_folder
    from lexirecall.paper import EXHIBITS, reproduce
    from lexirecall.progress import Progress

    if not names:
        listed = tuple((name, entry.caption) for name, entry in EXHIBITS.items())
        write(Table(("name", "caption"), listed, numbers_from=2).to_text(bold=is_bold(None)), None, "table")
        return
    chosen = list(EXHIBITS) if "all" in names else list(dict.fromkeys(names))
    if unknown := [name for name in chosen if name not in EXHIBITS]:
        raise UsageError(
            f"there is no table or figure {', '.join(map(repr, unknown))}", remedy=f"choose from {', '.join(EXHIBITS)}"
        )
    exhibits: list[Exhibit] = []
    files: dict[str, bytes] = {}
    with Progress("reproducing", len(chosen), shown=None) as progress:
        for name in chosen:
            exhibits.append(reproduce(name, seed))
            if folder is not None:
                files |= exhibits[-1].files(form, raw=raw)
            progress.advance(1)
    if folder is not None:
        write_folder(Path(folder), files)
    write("\n\n".join(exhibit.render(form, bold=is_bold(None), raw=raw) for exhibit in exhibits), None, form)
