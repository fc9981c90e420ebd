"""`lexirecall eval`: a thin shell on `lexirecall.evaluate`."""

from functools import partial
from typing import Any

import click

from lexirecall.cli.help import Documented
from lexirecall.cli.options import (
    check_engine,
    check_files,
    engine_options,
    is_bold,
    laid_out,
    layout_options,
    measures_option,
    output_options,
    reading_options,
    record_options,
    show_apostrophes,
    show_notes,
    shown_warnings,
)
from lexirecall.errors import UsageError
from lexirecall.fields import names_of
from lexirecall.manifest import Aggregation, Resampling


@click.command("eval", cls=Documented)
@partial(reading_options, without=("engine",))
@measures_option
@record_options(Aggregation, Resampling)
@click.option("-q", "--per-query", is_flag=True, help="Also print the value for each query.")
@click.option("--manifest", metavar="FILE", help="Write the conventions used, and what was left out, to FILE as JSON.")
@engine_options
@layout_options("given")
@output_options("trec")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
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
    runs.

    \b
    Examples:
      lexirecall eval qrels.txt bm25.run dense.run.gz
      lexirecall eval qrels.txt bm25.run -m AP,nDCG@10 -q -f jsonl
      lexirecall eval qrels.txt runs/*.run --sort AP --digits 3 -f latex
      lexirecall eval qrels.txt bm25.run dense.run -m AP --bootstrap 10000 --seed 1
      lexirecall eval qrels.txt bm25.run dense.run -m R@100 --over mean --over tail:0.1 --by types.tsv
      lexirecall eval qrels.txt runs/*.run -m LastRel -m Depth@0.95 --corpus-size 528155
      lexirecall eval qrels.txt bm25.run --providers publishers.tsv
      lexirecall eval ratings.parquet knn.parquet --level 4 --columns document=movie,grade=stars
      lexirecall eval qrels.parquet recommendations/ --engine duckdb
    """
    inputs = [qrels, *runs, options["corpus_size"], options["providers"], options["by"]]
    check_files(inputs, ("-o", output), *([("--manifest", manifest)] if manifest is not None else []))
    resampled = options["bootstrap"] is not None
    is_over, is_by = bool(options["over"]), options["by"] is not None
    unlike = (("-q", per_query), ("-f trec", form == "trec"), ("--bootstrap", resampled), ("--over", is_over))
    check_engine(engine, master, "means", *unlike, ("--by", is_by))
    if form == "trec" and (is_over or is_by):
        from lexirecall.verbs.scores import check_trec

        check_trec(is_over, is_by)
    if resampled and form == "trec":
        raise UsageError(
            "--bootstrap does not work with -f trec, which has no place for intervals",
            remedy="leave it out, or choose another format, such as -f tsv",
        )
    from lexirecall.output import write_all

    with shown_warnings():
        if engine == "spark":
            from lexirecall.engines.spark_files import evaluate_files

            taken = {name: value for name, value in options.items() if name not in names_of(Resampling, Aggregation)}
            averages = evaluate_files(qrels, list(runs), measures or None, master=master, **taken)
            averages = laid_out(averages, sort, digits)
            result, record = averages.render(form, bold=is_bold(output), raw=raw), averages.manifest
        else:
            from lexirecall.verbs.evaluate import evaluate

            scores = evaluate(qrels, list(runs), measures or None, engine=engine, show_progress=None, **options)
            scores = laid_out(scores, sort, digits)
            result = scores.render(form, per_query=per_query, bold=is_bold(output), raw=raw)
            record = scores.manifest
    show_notes(record.notes)
    show_apostrophes([result], form, raw=raw)
    write_all([(output, result), *([(manifest, record.to_json())] if manifest is not None else [])])
