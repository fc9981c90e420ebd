"""`lexirecall study`: a thin shell on `lexirecall.study`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import (
    Number,
    WholeNumber,
    check_files,
    convention_options,
    measures_option,
    named_files,
    raw_option,
    show_apostrophes,
    show_notes,
    shown_warnings,
)
from lexirecall.errors import UsageError
from lexirecall.manifest import MOST_RESAMPLES

_TWO_WAYS = "give QRELS and two or more runs, or a table of several runs, or --collections FILE.toml"


@click.command("study", cls=DocumentedCommand)
@click.argument("files", metavar="[QRELS RUN...]", nargs=-1)
@click.option("--collections", metavar="FILE", help="Study several collections at once; a TOML file lists them.")
@click.option(
    "--name",
    metavar="TEXT",
    help="Name of the collection in tables and figures.  [default: that of the file or folder]",
)
@click.option("--task", metavar="TEXT", help="What the collection is about, such as retrieval: part of its panel.")
@click.option("--teams", metavar="FILE", help="Lines `run team`: differences between measures are over teams too.")
@convention_options
@measures_option
@click.option(
    "--samples", "num_samples", type=WholeNumber(1, MOST_RESAMPLES), default=30, show_default=True,
    help="How many times to remove labels at random.",
)  # fmt: skip
@click.option("--alpha", type=Number(), default=0.05, show_default=True, help="Level of significance.")
@click.option("--seed", type=WholeNumber(0), default=0, show_default=True, help="Seed for what is drawn at random.")
@click.option(
    "-o", "--output", "folder", metavar="DIR", default="lexirecall-study", show_default=True,
    help="Folder for the tables (TSV, Markdown, LaTeX), the figures (SVG, PDF, PNG) and the summary.",
)  # fmt: skip
@raw_option
def command(
    files: tuple[str, ...],
    collections: str | None,
    name: str | None,
    task: str | None,
    teams: str | None,
    measures: tuple[str, ...],
    folder: str,
    num_samples: int,
    alpha: float,
    seed: int,
    raw: bool,
    **options: Any,
) -> None:
    """Find out which measures separate your runs, agree with finding everything, and survive missing labels.

    Prints a summary in words, and writes it to a folder with the tables and figures behind it. Without -m, the measures
    are LexiRecall, TSE, R@1000, Rprec, AP, nDCG, RR and nDCG@10; nDCG has gain 1 for every relevant document. Each
    collection in the TOML file has a name, qrels and runs (paths and patterns, relative to the file). It can have a
    task, which puts it into one panel with others of that task and depth, a file of teams, and its own reading options,
    such as level. Without teams each run is drawn by itself.

    \b
    Examples:
      lexirecall study qrels.txt runs/*.run
      lexirecall study qrels.txt runs/*.run --name robust04 -o study --seed 7 -m R@100 -m AP
      lexirecall study qrels.txt runs/*.run --teams teams.txt
      lexirecall study --collections collections.toml
    """
    _check_usage(files, collections, {"--name": name, "--task": task}, folder)
    from lexirecall.installing import how_to_install
    from lexirecall.meta import FILES, read_collections, study
    from lexirecall.meta.collection import from_files
    from lexirecall.output import write, write_folder
    from lexirecall.plots import is_available
    from lexirecall.text import visible

    written = [("-o", str(Path(folder, name))) for name in FILES]
    check_files([*files, collections, teams, *named_files(options)], ("", None), *written)
    if collections:
        chosen = read_collections(collections, options, teams=teams)
    else:
        chosen = [from_files(files, options, name=name, task=task or "", teams=teams)]
    check_files([file for collection in chosen for file in collection.files], ("", None), *written)
    with shown_warnings():
        result = study(
            chosen, measures=measures or None, alpha=alpha, num_samples=num_samples, seed=seed, show_progress=None
        )
    show_notes(result.notes)
    has_figures = is_available()
    show_apostrophes(map(result.to_tsv, result.tables), "tsv", raw=raw)
    write_folder(Path(folder), result.files(figures=has_figures, raw=raw))
    write(result.summary(), None, "table")
    what = "tables, figures and this summary" if has_figures else "tables and this summary"
    click.echo(f"note: {what} are in {visible(folder)}", err=True)
    if not has_figures:
        click.echo(f"note: figures need altair and vl-convert: {how_to_install('plots')}", err=True)


def _check_usage(
    files: tuple[str, ...], collections: str | None, options: Mapping[str, str | None], folder: str
) -> None:
    """Raise before any work if there is nothing to study, or nowhere to write the result."""
    if collections and (named := [option for option, value in options.items() if value is not None]):
        problem, key = f"both --collections and {named[0]} are given", named[0].removeprefix("--")
        raise UsageError(problem, remedy=f"give each collection its {key} in the file")
    if collections and files:
        raise UsageError(f"both --collections and files are given: {files[0]!r}", remedy=_TWO_WAYS)
    if not collections and len(files) < 2:
        raise UsageError("there are no runs" if files else "there is nothing to study", remedy=_TWO_WAYS)
    from lexirecall.paths import exists, is_folder

    if exists(folder) and not is_folder(folder):
        raise UsageError(f"{folder!r} exists and is not a folder", remedy="name a folder with -o DIR")
