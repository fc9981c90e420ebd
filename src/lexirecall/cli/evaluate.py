"""`lexirecall eval`: a thin shell on `lexirecall.evaluate`."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lexirecall.aggregation import Aggregation, Certainty, Resampling
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
)
from lexirecall.errors import UsageError
from lexirecall.fields import among, taken
from lexirecall.manifest import Note

if TYPE_CHECKING:
    from lexirecall.manifest import Manifest
    from lexirecall.verbs.discoveries import Discoveries
    from lexirecall.verbs.exposures import Exposures
    from lexirecall.verbs.policyscores import PolicyScores

VIEWS = ("runs", "providers", "discovery", "policies")
"""What can be shown."""
_ROWS_OF = {"providers": "run and provider", "discovery": "relevant document", "policies": "policy and measure"}


@click.command("eval", cls=DocumentedCommand)
@reading_options
@measures_option
@record_options(Aggregation, Certainty)
@click.option("-q", "--per-query", is_flag=True, help="Also print the value for each query.")
@click.option(
    "--show", "view", type=click.Choice(VIEWS), default=VIEWS[0], show_default=True,
    help="What to show: the measures of each run (runs); or exposure, merit and ratio of every provider in each run, "
    "and whether its documents are placed like the other relevant documents of the same queries (providers); or the "
    "position of every relevant document in each run, the one found last first (discovery); or what users can expect "
    "of rankers that draw lots, from runs that are samples, named POLICY#1, POLICY#2 … (policies).",
)  # fmt: skip
@click.option("--manifest", metavar="FILE", help="Write the conventions used, and what was left out, to FILE as JSON.")
@layout_options("given")
@output_options("trec")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    view: str,
    manifest: str | None,
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
    runs. Rows of JSON, as RAG tools write them, may hold judgments and run; then QRELS is enough. So is a project file
    of ASReview.

    \b
    Examples:
      lexirecall eval qrels.txt bm25.run dense.run.gz
      lexirecall eval qrels.txt bm25.run -m AP,nDCG@10 -q -f jsonl
      lexirecall eval qrels.txt runs/*.run --sort AP --digits 3 -f latex
      lexirecall eval qrels.txt bm25.run dense.run -m AP --interval
      lexirecall eval qrels.txt bm25.run dense.run -m AP --bootstrap 10000 --seed 1
      lexirecall eval qrels.txt bm25.run dense.run -m R@100 --over mean --over tail:0.1 --by types.tsv
      lexirecall eval qrels.txt runs/*.run -m LastRel -m Depth@0.95 --corpus-size 528155
      lexirecall eval qrels.txt bm25.run --providers publishers.tsv
      lexirecall eval qrels.txt bm25.run --providers publishers.tsv --show providers --bootstrap 10000
      lexirecall eval ratings.parquet knn.parquet --level 4 --columns document=movie,grade=stars
      lexirecall eval qrels.parquet recommendations/ --engine duckdb
      lexirecall eval rows.jsonl
      lexirecall eval simulation.asreview -m R@10% -m WSS@95%
      lexirecall eval nb.asreview svm.asreview --show discovery
      lexirecall eval qrels.txt lottery#*.run fixed#1.run -m AP --show policies
      lexirecall eval log.jsonl --columns query=trace,qrels.document=gold,run.document=hits[].id
    """
    inputs = [qrels, *runs, *named_files(options)]
    check_files(inputs, ("-o", output), *([("--manifest", manifest)] if manifest is not None else []))
    resampled, is_trec = ("--bootstrap", options["bootstrap"] is not None), ("-f trec", form == "trec")
    with_interval = ("--interval", options["interval"])
    if form == "trec":
        _check_trec(options)
    if view != VIEWS[0]:
        _check_view(view, options, ("-q", per_query and view != "policies"), is_trec, with_interval)
    if view in _SHOWN_ALONE:
        _check_alone(view, ("-m", bool(measures)), resampled, ("--sort", sort is not None))
    from lexirecall.output import write_all

    with shown_warnings():
        if view == "providers":
            exposures = _exposures((qrels, list(runs), measures or None), (sort, digits), options)
            result, record = exposures.render(form, bold=is_bold(output), raw=raw), exposures.manifest
        elif view == "discovery":
            discoveries, record = _discoveries(qrels, list(runs), options)
            result = discoveries.render(form, bold=is_bold(output), raw=raw)
        elif view == "policies":
            drawn = laid_out(_policies(qrels, list(runs), measures or None, options), None, digits)
            result, record = drawn.render(form, per_query=per_query, bold=is_bold(output), raw=raw), drawn.manifest
        else:
            from lexirecall.verbs.evaluate import evaluate

            scores = evaluate(qrels, list(runs), measures or None, show_progress=None, **options)
            scores = laid_out(scores, sort, digits)
            result = scores.render(form, per_query=per_query, bold=is_bold(output), raw=raw)
            record = scores.manifest
    show_notes([*record.notes, *_hint(view, options)])
    show_apostrophes([result], form, raw=raw)
    write_all([(output, result), *([(manifest, record.to_json())] if manifest is not None else [])], form)


def _check_trec(options: dict[str, Any]) -> None:
    """Raise before anything is read if trec_eval's format has no place for what is asked for."""
    from lexirecall.verbs.scores import check_trec

    check_trec(bool(options["over"]), options["by"] is not None)
    for name, is_given in (("--bootstrap", options["bootstrap"] is not None), ("--interval", options["interval"])):
        if is_given:
            raise UsageError(
                f"{name} does not work with -f trec, which has no place for intervals",
                remedy="leave it out, or choose another format, such as -f tsv",
            )


def _hint(view: str, options: dict[str, Any]) -> Iterator[Note]:
    """Say how to see more than the worst-off provider."""
    if view == VIEWS[0] and options["providers"] is not None:
        yield Note("all providers", "--show providers shows every provider, and whether it is placed like the others")


def _check_view(view: str, options: dict[str, Any], *unlike: tuple[str, bool]) -> None:
    """Raise before anything is read if an option has no meaning for a table that does not have the measures of runs."""
    if view == "providers" and options["providers"] is None:
        raise UsageError("--show providers needs a map of documents to providers", remedy="add --providers FILE")
    for name, is_given in (*unlike, ("--over", bool(options.get("over"))), ("--by", options.get("by") is not None)):
        if is_given:
            raise UsageError(
                f"{name} does not work with --show {view}, which has one row for each {_ROWS_OF[view]}",
                remedy="leave it out, or leave --show out",
            )


_SHOWN_ALONE = {
    "discovery": ("shows positions and no measures", ("-m", "--bootstrap", "--sort")),
    "policies": ("shows policies and no runs", ("--bootstrap", "--sort")),
}
"""What a view shows, and which options have no meaning for it."""


def _check_alone(view: str, *flags: tuple[str, bool]) -> None:
    """Raise if an option has no meaning where the measures of runs are not shown."""
    shows, unlike = _SHOWN_ALONE[view]
    for name, is_given in flags:
        if is_given and name in unlike:
            problem = f"{name} does not work with --show {view}, which {shows}"
            raise UsageError(problem, remedy="leave it out, or leave --show out")


def _discoveries(qrels: str, runs: list[str], options: dict[str, Any]) -> "tuple[Discoveries, Manifest]":
    """Return where each relevant document is in each run, and how that was read."""
    from lexirecall.formats import project
    from lexirecall.manifest import READING, Policies
    from lexirecall.verbs.discoveries import Discoveries
    from lexirecall.verbs.evaluate import evaluate

    reading = {name: value for record in READING for name, value in among(record, options).items()}
    positions = project(qrels, runs, **(reading | {"show_progress": None}))
    scores = evaluate(positions, measures="NumRelRet", **among(Policies, options))
    return Discoveries.of(positions, options["level"]), scores.manifest


def _policies(qrels: str, runs: list[str], measures: tuple[str, ...] | None, options: dict[str, Any]) -> "PolicyScores":
    """Return what users can expect of the policies that the runs are samples of."""
    from lexirecall.manifest import READING, Policies
    from lexirecall.verbs.policyscores import PolicyScores
    from lexirecall.verbs.subject import asked_of, positions_of

    reading = {name: value for record in READING for name, value in among(record, options).items()}
    asked = asked_of(qrels, measures, options)
    positions = positions_of(qrels, runs, asked, reading | {"show_progress": None})
    return PolicyScores.of(positions, measures, **among(Policies, options))


def _exposures(
    inputs: tuple[Any, ...],
    layout: tuple[str | None, int | None],
    options: dict[str, Any],
) -> "Exposures":
    """Return the table of providers; only its own numbers are resampled."""
    options.pop("interval")
    resampling, min_queries = taken(Resampling, options), taken(Aggregation, options).min_queries
    from lexirecall.verbs.evaluate import evaluate
    from lexirecall.verbs.resamples import check_bootstrap

    check_bootstrap(resampling)
    scores = laid_out(evaluate(*inputs, show_progress=None, **options), *layout)
    exposures: Exposures = scores.providers(min_queries=min_queries, show_progress=None, **asdict(resampling))
    return exposures
