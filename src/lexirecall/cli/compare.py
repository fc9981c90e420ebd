"""`lexirecall compare`: a thin shell on `lexirecall.compare`."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from lexirecall.aggregation import Aggregation
from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import (
    check_files,
    is_bold,
    laid_out,
    layout_options,
    measures_option,
    named_files,
    output_options,
    reading_options,
    record_options,
    show_apostrophes,
    show_notes,
    shown_warnings,
    testing_options,
)
from lexirecall.errors import UsageError
from lexirecall.fields import names_of
from lexirecall.tables import FOR_PEOPLE, FORMATS
from lexirecall.verbs.comparison import VIEWS, Comparison
from lexirecall.verbs.testing import Testing

if TYPE_CHECKING:
    from collections.abc import Callable

_TESTING = ("baseline", *names_of(Testing, Aggregation))


@click.command("compare", cls=DocumentedCommand)
@reading_options
@measures_option
@testing_options
@record_options(Aggregation)
@click.option(
    "--show", "view", type=click.Choice(VIEWS), default=VIEWS[0], show_default=True,
    help="What to show: the runs with marks of significance (runs), every pair (pairs), a matrix for each measure "
    "(matrix), or how well each measure tells runs apart (power).",
)  # fmt: skip
@click.option(
    "--detect", type=float, metavar="D",
    help="With --show power: how many queries it would take to detect a difference of D, on the scale of the measure; "
    "for LexiRecall and LexiPrecision, wins minus losses as a share of the queries.",
)  # fmt: skip
@click.option(
    "--safe", is_flag=True,
    help="With --show pairs, and in rows: on how many queries no label of an unjudged document can reverse who is "
    "better. lexirecall unjudged says more.",
)  # fmt: skip
@layout_options("best win rate first")
@output_options("pref_eval")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    view: str,
    detect: float | None,
    safe: bool,
    sort: str | None,
    digits: int | None,
    form: str,
    output: str | None,
    raw: bool,
    **options: Any,
) -> None:
    """Compare each pair of runs, or every run with a baseline or several: differences, tests, corrections.

    -f tsv, csv and jsonl write one row for each pair and measure: mean difference (positive: a is better), wins, ties
    and losses, p and confidence interval of the pair by itself, p with regard to all pairs, number of queries, effect
    size. -f pref_eval writes every pair on every query, and the means, in the format of the paper's reference
    implementation.

    With --over, runs are compared in other numbers than the mean: each run's own median, or the mean of its own worst
    queries, which has an interval and a test. With --by, they are compared in each group of queries as well, and a test
    says whether the mean difference varies by group.

    \b
    Examples:
      lexirecall compare qrels.txt bm25.run dense.run fused.run
      lexirecall compare qrels.txt runs/*.run --baseline bm25.run -m LexiRecall -m nDCG@10 -f latex
      lexirecall compare qrels.txt runs/*.run --baseline bm25.run --baseline dense.run
      lexirecall compare qrels.txt runs/*.run --test max-t --seed 7 -f jsonl -o pairs.jsonl
      lexirecall compare qrels.txt runs/*.run --show power --detect 0.02
      lexirecall compare qrels.txt bm25.run dense.run -m AP --bootstrap 10000 --seed 1
      lexirecall compare qrels.txt bm25.run dense.run -m AP --over mean --over tail:0.1 --by types.tsv
      lexirecall compare qrels.txt bm25.run dense.run --show pairs --safe
      lexirecall compare accepted.jsonl new.jsonl
      lexirecall compare qrels.parquet runs/ --engine spark --master spark://host:7077 --test sign
    """
    check_files([qrels, *runs, *named_files(options)], ("-o", output))
    resampled = options["bootstrap"] is not None
    _check_detect(detect, view)
    is_asked = Aggregation(over=options["over"], by=options["by"]).is_asked
    if is_asked:
        _check_parts(view)
    elif resampled:
        _check_shown(view, form)
    if safe:
        _check_safe(view, form, is_asked=is_asked)
    from lexirecall.output import write

    with shown_warnings():
        if form == "pref_eval":
            _check_nothing_is_tested(click.get_current_context())
            from lexirecall.adapters.pref_eval import prefer

            reading = {name: value for name, value in options.items() if name not in _TESTING}
            preferences = prefer(qrels, list(runs), measures or None, show_progress=None, **reading)
            notes, result = preferences.notes, str(preferences)
        else:
            comparison = _compared(safe=safe)(qrels, list(runs), measures or None, **options)
            comparison = laid_out(comparison, sort, digits)
            result = comparison.render(form, view=view, detect=detect, bold=is_bold(output), raw=raw)
            notes = comparison.notes
    show_notes(notes)
    show_apostrophes([result], form, raw=raw)
    write(result, output, form)


def _check_detect(detect: float | None, view: str) -> None:
    """Raise before anything is read if there is nothing to plan."""
    if detect is not None and view != "power":
        raise UsageError(f"--detect {detect:g} has no meaning with --show {view}", remedy="add --show power")
    if detect is not None:
        from lexirecall.verbs.planning import check_detect

        check_detect(detect)


def _compared(*, safe: bool) -> "Callable[..., Comparison]":
    """Return what compares, perhaps with whole lists."""
    if safe:
        from lexirecall.labels.wholeruns import compare_with_safe  # not on top: few comparisons need it

        return lambda *inputs, **options: compare_with_safe(
            *inputs,
            show_progress=None,
            **{name: options[name] for name in options if name not in names_of(Aggregation)},
        )
    from lexirecall.verbs.compare import compare

    return partial(compare, show_progress=None)


def _check_nothing_is_tested(context: click.Context) -> None:
    """Raise if an option is given that has no meaning for the lines of pref_eval."""
    for parameter in context.command.params:
        is_given = context.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.COMMANDLINE
        if parameter.name in (*_TESTING, "view", "sort", "digits", "safe") and is_given:
            raise UsageError(
                f"{parameter.opts[0]} does not work with -f pref_eval, which writes every pair and no test",
                remedy="leave it out, or choose -f jsonl",
            )


def _check_parts(view: str) -> None:
    """Raise if differences in other numbers than the mean, or in groups, are asked of what does not have them."""
    if view in ("matrix", "power"):
        raise UsageError(
            f"--show {view} is about mean differences of all queries, and --over and --by are not",
            remedy="leave --show out, or leave --over and --by out",
        )


def _check_safe(view: str, form: str, *, is_asked: bool) -> None:
    """Raise if decisions are asked of what has none, or has no place for them."""
    if is_asked:
        raise UsageError(
            "--safe is about queries one by one, and --over and --by compare other numbers",
            remedy="leave --safe out, or leave --over and --by out",
        )
    if form != "pref_eval" and (view == "power" or (view != "pairs" and form in FOR_PEOPLE)):
        raise UsageError(
            f"--safe adds columns to the table of pairs, and --show {view} does not print it", remedy="add --show pairs"
        )


def _check_shown(view: str, form: str) -> None:
    """Raise if what is printed has no place for the intervals of means."""
    if view != VIEWS[0] or form in FORMATS.keys() - {*FOR_PEOPLE}:
        printed = f"--show {view}" if view != VIEWS[0] else f"-f {form}"
        raise UsageError(
            f"--bootstrap adds intervals to the table of runs, and {printed} does not print it",
            remedy="leave it out; lexirecall eval has the intervals, as rows too",
        )
