"""Options that several commands share: how to read QRELS and RUN, and how to write results.

Belongs here: click decorators, and the types of numbers. Imports click, errors, text, and the names that options may
take from manifest and tables.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import click

from lexirecall.errors import LexirecallError, UsageError
from lexirecall.manifest import (
    DUPLICATE_RULES,
    IMPUTATIONS,
    MOST_ITEMS,
    NO_RELEVANT_POLICIES,
    REQUEST_POLICIES,
    SCORE_DTYPES,
    TIE_RULES,
    Note,
)
from lexirecall.tables import FORMATS, num_apostrophes
from lexirecall.text import number_of, visible, whole_number_of

Command = Callable[..., Any]
MOST_RESAMPLES = 10**8  # more would take days, or more memory than there is


class WholeNumber(click.IntRange):
    """A whole number as files write it, within limits; positions are exact up to the largest."""

    def __init__(self, least: int, most: int = MOST_ITEMS) -> None:
        super().__init__(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it, or say what is allowed."""
        try:
            number = value if isinstance(value, int) else whole_number_of(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number; write one such as 1000", param, ctx)
        return super().convert(number, param, ctx)


class Number(click.types.FloatParamType):
    """A number as files write it."""

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


def _columns(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str] | None:
    """Read `role=name,role=name`; a name that holds a comma can be given in an option of its own."""
    pairs = [part for value in values for part in (value.split(",") if value.count("=") > 1 else [value])]
    for pair in pairs:
        if not all(pair.partition("=")):
            raise click.BadParameter(f"{pair!r}: write role=name, as in request=user,item=movie")
    return {role.strip(): name for role, _, name in (pair.partition("=") for pair in pairs)} or None


_READING = (
    click.option("--level", type=Number(), default=1, show_default=True, help="Lowest grade that counts as relevant."),
    click.option("--depth", type=WholeNumber(1), metavar="K", help="Only the first K documents of each ranking count."),
    click.option(
        "--corpus-size",
        metavar="N|FILE",
        callback=_number_or_file,
        help="Size of the corpus: a number, or a file of lines `request size`.",
    ),
    click.option(
        "--queries",
        type=click.Choice(REQUEST_POLICIES),
        default="all",
        show_default=True,
        help="Judged requests that a run does not answer: worst case (all), or left out (intersection).",
    ),
    click.option(
        "--no-relevant",
        type=click.Choice(NO_RELEVANT_POLICIES),
        default="skip",
        show_default=True,
        help="Requests without a relevant document: left out of every mean, or 0 as in trec_eval.",
    ),
    click.option(
        "--ties",
        type=click.Choice(TIE_RULES),
        default="trec",
        show_default=True,
        help="Order of equal scores: by document id, as in the file, relevant last or first, or the mean over all.",
    ),
    click.option("--judged-only", is_flag=True, help="Take documents without a judgment out of the rankings."),
    click.option("--strict", is_flag=True, help="Refuse lines of a run with fields after the run tag."),
    click.option(
        "--score-dtype",
        type=click.Choice(SCORE_DTYPES),
        default="float64",
        show_default=True,
        help="float32 ties scores as trec_eval 9 and pytrec_eval do.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(DUPLICATE_RULES),
        default="error",
        show_default=True,
        help="A document twice in one ranking: stop, keep the first line, or keep the best score.",
    ),
    click.option(
        "--imputation",
        type=click.Choice(IMPUTATIONS),
        default="pessimistic",
        show_default=True,
        help="Where relevant documents that were not retrieved stand: at the bottom, for measures that use the corpus "
        "size; (for study) right after the list; at the bottom for all measures without a cut-off, as in the paper.",
    ),
    click.option(
        "--columns",
        metavar="ROLE=NAME,...",
        multiple=True,
        callback=_columns,
        help="Columns of Parquet and CSV with other names than the usual: request, item, score, rank, grade, system.",
    ),
)


_PROVIDERS = click.option(
    "--providers",
    metavar="FILE",
    help="Whose the documents are, for the exposure of providers: a file of lines `document provider`.",
)


def convention_options(command: Command) -> Command:
    """Add the options that say how to read judgments and runs; an error names them as they are written here."""

    @wraps(command)
    def offering(*arguments: Any, **keywords: Any) -> Any:
        try:
            return command(*arguments, **keywords)
        except LexirecallError as error:
            error.offer(keywords)
            raise

    decorated: Command = offering
    for option in reversed(_READING):
        decorated = option(decorated)
    return decorated


def reading_options(command: Command) -> Command:
    """Add QRELS, RUN... and the options that say how to read them."""
    command = convention_options(_PROVIDERS(command))
    command = click.argument("runs", metavar="RUN...", nargs=-1, required=True)(command)
    return click.argument("qrels", metavar="QRELS")(command)


raw_option = click.option(
    "--raw", is_flag=True, help="Write ids into tsv and csv as they are, even if a spreadsheet would run them."
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
        help="A measure such as AP, nDCG@10 or TSE(e=dcg); repeat for more. `lexirecall measures` lists them.",
    )(command)  # fmt: skip


_TESTING = (
    click.option("--baseline", metavar="RUN", help="Compare with this run only, and correct over those pairs only."),
    click.option(
        "--test",
        type=click.Choice(("auto", "t", "wilcoxon", "sign", "randomization", "hsd", "randomized-hsd")),
        default="auto",
        show_default=True,
        help="auto: the sign test for lexicographic preferences, the paired t test for all that has a size.",
    ),
    click.option(
        "--correction",
        type=click.Choice(("holm", "bonferroni", "bh", "none")),
        default="holm",
        show_default=True,
        help="For the many pairs of one measure; hsd needs none.",
    ),
    click.option("--alpha", type=Number(), default=0.05, show_default=True, help="Level of significance."),
    click.option("--seed", type=WholeNumber(0), default=0, show_default=True, help="Of the random resamples."),
    click.option(
        "--resamples",
        "num_resamples",
        type=WholeNumber(1, MOST_RESAMPLES),
        default=10_000,
        show_default=True,
        help="How many, for randomization and randomized-hsd.",
    ),
    click.option(
        "--test-ties",
        type=click.Choice(("drop", "split")),
        default="drop",
        show_default=True,
        help="Tied requests in the sign test: left out, or half for each side.",
    ),
)


def testing_options(command: Command) -> Command:
    """Add the options that say how pairs of runs are tested."""
    for option in reversed(_TESTING):
        command = option(command)
    return command


def check_files(inputs: Iterable[object], *outputs: tuple[str, str | None]) -> None:
    """Raise if more than one file is to be read from stdin, or an output is an input or another output."""
    from lexirecall.output import check_outputs

    files = list(inputs)
    if files.count("-") > 1:
        raise UsageError("only one file can be read from stdin", remedy="give the others by name")
    check_outputs(outputs, files)


def is_bold(output: str | None) -> bool:
    """Tell whether the result goes to a terminal that shows bold."""
    return output is None and sys.stdout.isatty()


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Print the warnings that are given within to stderr, at the end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        click.echo(f"warning: {warning.message}", err=True)


def show_apostrophes(texts: Iterable[str], form: str, *, raw: bool) -> None:
    """Say on stderr how many cells of tsv or csv were changed so that no spreadsheet runs them."""
    count = 0 if raw else sum(num_apostrophes(text, form) for text in texts)
    if count:
        cells, are, them = ("cell", "is", "it is") if count == 1 else ("cells", "are", "they are")
        changed = f"{count:,} {cells} that a spreadsheet would run {are} written with a leading apostrophe"
        click.echo(f"note: {changed} (--raw writes {'it' if count == 1 else 'them'} as {them})", err=True)


def show_notes(notes: Iterable[Note]) -> None:
    """Print notes to stderr."""
    for note in notes:
        click.echo(f"note: {visible(note.text)}", err=True)
