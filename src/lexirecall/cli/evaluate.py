"""`lexirecall eval`: a thin shell on `lexirecall.evaluate`."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from lexirecall.aggregation import Aggregation, Resampling
from lexirecall.cli.help import Documented
from lexirecall.cli.options import (
    check_engine,
    check_files,
    engine_options,
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
)
from lexirecall.errors import UsageError
from lexirecall.fields import names_of, taken
from lexirecall.manifest import Note

if TYPE_CHECKING:
    from lexirecall.verbs.exposures import Exposures

VIEWS = ("runs", "providers")
"""What can be shown."""


@click.command("eval", cls=Documented)
@partial(reading_options, without=("engine",))
@measures_option
@record_options(Aggregation, Resampling)
@click.option("-q", "--per-query", is_flag=True, help="Also print the value for each query.")
@click.option(
    "--show", "view", type=click.Choice(VIEWS), default=VIEWS[0], show_default=True,
    help="What to show: the measures of each run (runs); or exposure, merit and ratio of every provider in each run, "
    "the lowest ratio first (providers). A ratio below 1 is less than the provider's share.",
)  # fmt: skip
@click.option("--manifest", metavar="FILE", help="Write the conventions used, and what was left out, to FILE as JSON.")
@engine_options
@layout_options("given")
@output_options("trec")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    view: str,
    manifest: str | None,
    engine: str | None,
    master: str | None,
    sort: str | None,
    digits: int | None,
    form: str,
    output: str | None,
    raw: bool,
    **options: Any,
) -> None:
    """Score runs against judgments.

    QRELS and RUN can be TREC text, JSON, CSV with a header, or Parquet, plain or compressed (gz, bz2, xz, zst). They
    can also be `-` for stdin, a folder of Parquet or CSV files, or a pattern. A table with a column of runs holds many
    runs. Rows of JSON, as RAG tools write them, may hold judgments and run; then QRELS is enough.

    \b
    Examples:
      lexirecall eval qrels.txt bm25.run dense.run.gz
      lexirecall eval qrels.txt bm25.run -m AP,nDCG@10 -q -f jsonl
      lexirecall eval qrels.txt runs/*.run --sort AP --digits 3 -f latex
      lexirecall eval qrels.txt bm25.run dense.run -m AP --bootstrap 10000 --seed 1
      lexirecall eval qrels.txt bm25.run dense.run -m R@100 --over mean --over tail:0.1 --by types.tsv
      lexirecall eval qrels.txt runs/*.run -m LastRel -m Depth@0.95 --corpus-size 528155
      lexirecall eval qrels.txt bm25.run --providers publishers.tsv
      lexirecall eval qrels.txt bm25.run --providers publishers.tsv --show providers --bootstrap 10000
      lexirecall eval ratings.parquet knn.parquet --level 4 --columns document=movie,grade=stars
      lexirecall eval qrels.parquet recommendations/ --engine duckdb
      lexirecall eval rows.jsonl
      lexirecall eval log.jsonl --columns query=trace,qrels.document=gold,run.document=hits[].id
    """
    inputs = [qrels, *runs, *named_files(options)]
    check_files(inputs, ("-o", output), *([("--manifest", manifest)] if manifest is not None else []))
    resampled = options["bootstrap"] is not None
    is_over, is_by = bool(options["over"]), options["by"] is not None
    check_engine(engine, master, "means", ("-q", per_query), ("-f trec", form == "trec"), ("--bootstrap", resampled))
    if form == "trec" and (is_over or is_by):
        from lexirecall.verbs.scores import check_trec

        check_trec(is_over, is_by)
    if resampled and form == "trec":
        raise UsageError(
            "--bootstrap does not work with -f trec, which has no place for intervals",
            remedy="leave it out, or choose another format, such as -f tsv",
        )
    if view == "providers":
        _check_view(options, ("-q", per_query), ("-f trec", form == "trec"))
    from lexirecall.output import write_all

    with shown_warnings():
        if view == "providers":
            exposures = _exposures((qrels, list(runs), measures or None), engine, master, (sort, digits), options)
            result, record = exposures.render(form, bold=is_bold(output), raw=raw), exposures.manifest
        elif engine == "spark":
            from lexirecall.engines.spark_files import evaluate_files

            taken = {name: value for name, value in options.items() if name not in names_of(Resampling)}
            averages = evaluate_files(qrels, list(runs), measures or None, master=master, **taken)
            averages = laid_out(averages, sort, digits)
            result, record = averages.render(form, bold=is_bold(output), raw=raw), averages.manifest
        else:
            from lexirecall.verbs.evaluate import evaluate

            scores = evaluate(qrels, list(runs), measures or None, engine=engine, show_progress=None, **options)
            scores = laid_out(scores, sort, digits)
            result = scores.render(form, per_query=per_query, bold=is_bold(output), raw=raw)
            record = scores.manifest
    show_notes([*record.notes, *_hint(view, options)])
    show_apostrophes([result], form, raw=raw)
    write_all([(output, result), *([(manifest, record.to_json())] if manifest is not None else [])])


def _hint(view: str, options: dict[str, Any]) -> Iterator[Note]:
    """Say how to see more than the worst-off provider."""
    if view == VIEWS[0] and options["providers"] is not None:
        yield Note("all providers", "--show providers shows exposure, merit and ratio of every provider")


def _check_view(options: dict[str, Any], *unlike: tuple[str, bool]) -> None:
    """Raise before anything is read if an option has no meaning for the table of providers."""
    if options["providers"] is None:
        raise UsageError("--show providers needs a map of documents to providers", remedy="add --providers FILE")
    for name, is_given in (*unlike, ("--over", bool(options.get("over"))), ("--by", options.get("by") is not None)):
        if is_given:
            raise UsageError(
                f"{name} does not work with --show providers, which has one row for each run and provider",
                remedy="leave it out, or leave --show out",
            )


def _exposures(
    given: tuple[Any, ...],
    engine: str | None,
    master: str | None,
    layout: tuple[str | None, int | None],
    options: dict[str, Any],
) -> "Exposures":
    """Return the table of providers; only its own numbers are resampled."""
    resampling, min_queries = taken(Resampling, options), taken(Aggregation, options).min_queries
    if engine == "spark":
        from lexirecall.engines.spark_files import evaluate_files
        from lexirecall.verbs.exposures import Exposures

        averages = laid_out(evaluate_files(*given, master=master, **options), *layout)
        return Exposures.of(averages, min_queries=min_queries)
    from lexirecall.verbs.bootstrapped import check_bootstrap
    from lexirecall.verbs.evaluate import evaluate

    check_bootstrap(resampling)
    scores = laid_out(evaluate(*given, engine=engine, show_progress=None, **options), *layout)
    made: Exposures = scores.providers(min_queries=min_queries, show_progress=None, **asdict(resampling))
    return made
