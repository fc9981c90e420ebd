"""Options that several commands share: how to read QRELS and RUN, and how to write results.

Belongs here: click decorators, made from the fields of records, and the types of numbers.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from lexirecall.aggregation import Aggregation
from lexirecall.errors import LexirecallError, UsageError
from lexirecall.fields import Option, offered
from lexirecall.manifest import MOST_DOCUMENTS, READING, Note, Policies, Sources
from lexirecall.tables import FORMATS, num_apostrophes
from lexirecall.text import number_of, visible, whole_number_of

if TYPE_CHECKING:
    from dataclasses import Field

Command = Callable[..., Any]


class WholeNumber(click.IntRange):
    """A whole number, written as in files, within limits; positions are exact up to the largest."""

    def __init__(self, least: int, most: int = MOST_DOCUMENTS) -> None:
        super().__init__(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it, or say what is allowed."""
        try:
            number = value if isinstance(value, int) else whole_number_of(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number; write one such as 1000", param, ctx)
        return super().convert(number, param, ctx)


class Number(click.types.FloatParamType):
    """A number, written as in files."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it, or say what is allowed."""
        try:
            return value if isinstance(value, (int, float)) else number_of(value)
        except ValueError:
            self.fail(f"{value!r} is not a number; write one such as 0.05", param, ctx)


def _number_or_file(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | str | None:
    try:
        return None if value is None else whole_number_of(value)
    except ValueError:
        looks_like_a_number = value != "-" and not str(value).strip("0123456789.,_e+-")
        if looks_like_a_number and not os.path.exists(str(value)):  # noqa: PTH110 - Path.exists raises for long paths
            raise click.BadParameter(f"{value!r}: write a whole number such as 1000000, or name a file") from None
        return value


def _pairs(
    found: Option, _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str] | None:
    """Read `name=value,name=value`; a value that contains a comma needs an option of its own."""
    pairs = [part for value in values for part in (value.split(",") if value.count("=") > 1 else [value])]
    for pair in pairs:
        if not all(pair.partition("=")):
            form = str(found.metavar).lower().removesuffix(",...")
            raise click.BadParameter(f"{pair!r}: write {form}, as in {found.example}")
    return {name.strip(): value for name, _, value in (pair.partition("=") for pair in pairs)} or None


def _keywords(field: "Field[Any]", found: Option) -> dict[str, Any]:
    """Return what click is told about an option of each kind."""
    shown = {} if field.default is None else {"default": field.default, "show_default": True}
    kinds: dict[str, dict[str, Any]] = {
        "choice": {"type": click.Choice(found.choices), **shown},
        "flag": {"is_flag": True},
        "number": {"type": Number(), **shown},
        "whole": {"type": WholeNumber(found.least, found.most), **shown},
        "size": {"callback": _number_or_file},
        "file": {},
        "text": {},
        "several": {"multiple": True},
        "pairs": {"multiple": True, "callback": partial(_pairs, found)},
    }
    return kinds[found.kind]


def record_options(*records: type, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Add an option for each field that the records offer."""

    def decorate(command: Command) -> Command:
        # Click lists options in the order in which decorators are written, and the lowest one is applied first.
        for field, found in reversed(list(offered(*records))):
            if field.name not in without:
                name = f"--{(found.flag or field.name).replace('_', '-')}"
                keywords = _keywords(field, found)
                command = click.option(name, field.name, help=found.help, metavar=found.metavar, **keywords)(command)
        return command

    return decorate


def convention_options(command: Command, without: tuple[str, ...] = ()) -> Command:
    """Add the options that say how to read judgments and runs; errors name them as the command line does."""

    @wraps(command)
    def offering(*arguments: Any, master: str | None, **keywords: Any) -> Any:
        try:
            return command(*arguments, **(keywords if master is None else _with_master(master, keywords)))
        except LexirecallError as error:
            error.offer(keywords)
            raise

    at = "Where Spark runs, such as spark://host:7077. [default: this machine]"
    return record_options(Policies, *READING, without=without)(
        click.option("--master", metavar="URL", help=at)(offering)
    )


def _with_master(master: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the URL among those of the engine, where Python has it too."""
    if keywords["engine"] != "spark":
        raise UsageError(f"--master {master} is for Spark", remedy="add --engine spark")
    return {**keywords, "engine_options": {**(keywords["engine_options"] or {}), "master": master}}


def reading_options(command: Command, without: tuple[str, ...] = ()) -> Command:
    """Add QRELS, RUN... and the options that say how to read them; QRELS may bring a run of its own."""
    command = convention_options(command, without)
    command = click.argument("runs", metavar="[RUN...]", nargs=-1)(command)
    return click.argument("qrels", metavar="QRELS")(command)


def layout_options(default: str) -> Callable[[Command], Command]:
    """Add --sort and --digits; `default` says in words which order the runs have without --sort."""

    def decorate(command: Command) -> Command:
        command = click.option(
            "--digits",
            type=WholeNumber(0, 15),
            metavar="N",
            help="Number of decimals in tables, instead of the default of each measure.",
        )(command)
        return click.option(
            "--sort", metavar="MEASURE|name|given",
            help=f"Order of the runs: by a measure (best first), by name, or as given. [default: {default}]",
        )(command)  # fmt: skip

    return decorate


def laid_out(result: Any, sort: str | None, digits: int | None) -> Any:
    """Return a result in the order and with the decimals asked for."""
    result = result if sort is None else result.sorted_by(sort)
    return result if digits is None else result.with_digits(digits)


raw_option = click.option(
    "--raw", is_flag=True, help="Write ids to tsv and csv unchanged, even if a spreadsheet would run them."
)


def output_options(*more_formats: str) -> Callable[[Command], Command]:
    """Add --format, --output and --raw."""

    def decorate(command: Command) -> Command:
        command = raw_option(command)
        command = click.option("-o", "--output", metavar="FILE", help="Write the result to a file instead of stdout.")(
            command
        )
        return click.option(
            "-f", "--format", "form", type=click.Choice((*FORMATS, *more_formats)), default="table", show_default=True,
            help="How to print the result.",
        )(command)  # fmt: skip

    return decorate


def measures_option(command: Command) -> Command:
    """Add -m."""
    return click.option(
        "-m", "--measure", "measures", multiple=True, metavar="MEASURE",
        help="Measures, such as AP or nDCG@10,TSE(e=dcg). Can be repeated. `lexirecall measures` lists them.",
    )(command)  # fmt: skip


def texts_option(command: Command) -> Command:
    """Add --texts."""
    return click.option(
        "--texts", multiple=True, metavar="[queries=|documents=]FILE",
        help="Show the texts of queries and documents: JSON lines with an id and a text, or lines `id<TAB>text`. Can "
        "be repeated.",
    )(command)  # fmt: skip


def text_files(texts: Iterable[str]) -> list[object]:
    """Return the files that --texts names."""
    from lexirecall.texts import files_named

    return [*files_named(texts)]


def testing_options(command: Command) -> Command:
    """Add the options that say how pairs of runs are tested."""
    from lexirecall.verbs.testing import Testing  # not on top: most commands can do without the tests

    baseline = click.option(
        "--baseline", metavar="RUN", multiple=True,
        help="Compare every run with this one only, and correct for those pairs only. For compare, it can be repeated.",
    )  # fmt: skip
    return baseline(record_options(Testing)(command))


def check_files(inputs: Iterable[object], *outputs: tuple[str, str | None]) -> None:
    """Raise if several files are to be read from stdin, or if an output is also an input or another output."""
    from lexirecall.output import check_outputs

    files = list(inputs)
    if files.count("-") > 1:
        raise UsageError("only one file can be read from stdin", remedy="give the others by name")
    check_outputs(outputs, files)


def named_files(options: Mapping[str, Any]) -> list[object]:
    """Return the files that the options of reading and aggregation name."""
    files = (field.name for field, found in offered(Sources, Aggregation) if found.kind in ("file", "size"))
    return [options[name] for name in files if name in options]


def is_bold(output: str | None) -> bool:
    """Tell whether the result goes to a terminal that shows bold."""
    return output is None and sys.stdout.isatty()


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Collect the warnings that are raised within, and print them to stderr at the end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Spark warns about pandas, which nothing here uses
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        warnings.simplefilter("ignore", ResourceWarning)  # version 4.0 leaves its sockets to be collected
        yield
    for warning in caught:
        click.echo(f"warning: {warning.message}", err=True)


def show_apostrophes(texts: Iterable[str], form: str, *, raw: bool) -> None:
    """Say on stderr how many cells of tsv or csv were changed to keep spreadsheets from running them."""
    count = 0 if raw else sum(num_apostrophes(text, form) for text in texts)
    if count:
        cells, are, them = ("cell", "is", "it is") if count == 1 else ("cells", "are", "they are")
        changed = f"{count:,} {cells} that a spreadsheet would run {are} written with a leading apostrophe"
        click.echo(f"note: {changed} (--raw writes {'it' if count == 1 else 'them'} as {them})", err=True)


def show_notes(notes: Iterable[Note]) -> None:
    """Print notes to stderr."""
    for note in notes:
        click.echo(f"note: {visible(note.text)}", err=True)
