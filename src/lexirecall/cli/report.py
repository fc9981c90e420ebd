"""`lexirecall report`: a thin shell on `lexirecall.report`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from lexirecall.aggregation import Aggregation
from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import (
    check_files,
    measures_option,
    named_files,
    reading_options,
    record_options,
    show_notes,
    shown_warnings,
    testing_options,
    text_files,
    texts_option,
)
from lexirecall.fields import among
from lexirecall.manifest import READING, Policies

if TYPE_CHECKING:
    from lexirecall.results import Funnel, Unjudged


@click.command("report", cls=DocumentedCommand)
@reading_options
@measures_option
@testing_options
@record_options(Aggregation)
@texts_option
@click.option(
    "--funnel", "stages", multiple=True, metavar="STAGE",
    help="Show where documents are lost between stages, as `lexirecall funnel` does. Repeat it for each stage.",
)  # fmt: skip
@click.option(
    "--unjudged",
    is_flag=True,
    help="Show how much depends on documents that nobody has judged, as `lexirecall unjudged` does.",
)
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option(
    "--plots", metavar="DIR",
    help="Also write the charts to a folder: SVG, and PDF and PNG if lexirecall[plots] is installed. Charts of one "
    "pair show the two best runs.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE", default="report.html", show_default=True,
    help="Write the page to this file; - for stdout.",
)  # fmt: skip
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    stages: tuple[str, ...],
    unjudged: bool,
    output: str,
    **options: Any,
) -> None:
    """Write a page about runs that needs only a browser: one HTML file to read, send or attach to a paper.

    The page shows the leaderboard with marks of significance; every pair of runs, and the queries that decide it; for
    each query, where every run ranks the relevant documents; the worst-off queries; recall by depth; and how the
    measures behave on these data. With --by, it shows the numbers of each group of queries, with --texts the words of
    queries and documents, with --funnel what each stage of a search loses, with --unjudged how sure the numbers are
    when labels are missing. A single run is enough.

    \b
    Examples:
      lexirecall report qrels.txt bm25.run dense.run fused.run
      lexirecall report qrels.txt runs/*.run --baseline bm25.run -m LexiRecall -m nDCG@10 -o r04.html
      lexirecall report qrels.txt runs/*.run --title 'Robust 2004' --plots figures
      lexirecall report qrels.txt runs/*.run -m R@100 --over mean --over tail:0.1 --by types.tsv
      lexirecall report qrels.txt runs/*.run --texts queries.jsonl --texts corpus.jsonl.gz
      lexirecall report qrels.txt first.run final.run --funnel first.run@1000 --funnel final.run@10
      lexirecall report qrels.txt runs/*.run --unjudged
    """
    files = [qrels, *runs, *_files_of(stages), *named_files(options), *text_files(options["texts"])]
    check_files(files, ("-o", output))
    from lexirecall.output import write
    from lexirecall.page import report

    to_stdout = output == "-"
    with shown_warnings():
        to = None if to_stdout else output
        parts: dict[str, Any] = {"funnel": _funnel_of(qrels, stages, options)}
        if unjudged:
            parts["unjudged"] = _unjudged_of(qrels, runs, measures, options)
        page = report(qrels, list(runs), measures or None, output=to, **parts, show_progress=None, **options)
    show_notes(page.notes)
    if to_stdout:
        write(page.html(), None)
        return
    size = len(page.html().encode()) / 1e6
    click.echo(f"note: the page is in {output} ({size:.1f} MB); open it in a browser", err=True)
    if options["plots"] is not None:
        click.echo(f"note: the charts are in {options['plots']}", err=True)


def _files_of(stages: tuple[str, ...]) -> list[object]:
    if not stages:
        return []
    from lexirecall.gates.funnelstages import asked_stages

    return [run for stage in asked_stages(stages) for run in stage.runs]


def _funnel_of(qrels: str, stages: tuple[str, ...], options: Mapping[str, Any]) -> "Funnel | None":
    """Return the funnel that the page shows, read as the runs are; None if none is asked for."""
    if not stages:
        return None
    from lexirecall.gates.funnels import funnel

    return funnel(qrels, stages, texts=options["texts"] or None, **(_reading(options) | {"stdin_name": None}))


def _reading(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the runs are read, without what only the page needs."""
    reading = {name: value for record in (Policies, *READING) for name, value in among(record, options).items()}
    return reading | {"providers": None, "show_progress": None}


def _unjudged_of(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], options: Mapping[str, Any]
) -> "Unjudged":
    """Return what depends on unjudged documents, under the measures of the page."""
    from lexirecall.labels.missing import unjudged

    return unjudged(qrels, list(runs), measures or None, baseline=options["baseline"], **_reading(options))
