"""`lexirecall unjudged`: a thin shell on `lexirecall.unjudged`."""

from functools import partial
from typing import Any

import click

from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import (
    check_files,
    convention_options,
    is_bold,
    measures_option,
    named_files,
    output_options,
    record_options,
    show_apostrophes,
    show_notes,
    text_files,
    texts_option,
)
from lexirecall.labels.unjudgedoptions import VIEWS, UnjudgedOptions, check_view


@click.command("unjudged", cls=DocumentedCommand)
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@partial(convention_options, without=("providers",))
@measures_option
@record_options(UnjudgedOptions)
@click.option("--baseline", metavar="RUN", multiple=True, help="Compare every run with this one only. Can be repeated.")
@texts_option
@click.option(
    "--show", "view", type=click.Choice(VIEWS),
    help="What to show: sentences and tables (summary), every run (runs), every pair of runs (pairs), every decision "
    "(queries), what to judge next (judge), or what was judged since (hindsight). [default: "
    "summary, or what --judge or --judged-with asks for]",
)  # fmt: skip
@output_options()
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    baseline: tuple[str, ...],
    texts: tuple[str, ...],
    view: str | None,
    form: str,
    output: str | None,
    raw: bool,
    **options: Any,
) -> None:
    """Show how much a result depends on documents that nobody has judged, and what to judge next.

    For each run: how much of it is judged, and the least and the most that labels can make of each measure. For each
    pair of runs: on how many queries one is better, how many of these decisions no label can reverse, and how few
    labels reverse the others (flip numbers). All of that is exact. The measures are LexiRecall, R@100 and AP, unless -m
    names others.

    Experimental: --rate P says what to expect if each unjudged document is relevant with the chance P: how many
    reversals, and whether the order of two runs and the significance of their difference survive sampled labels.
    Nobody knows P: state several.

    --judge N lists the N unjudged documents whose labels would change most decisions of the first measure. With
    -f csv or jsonl the list has an empty column `grade`; filled in, it can be read as judgments.

    \b
    Examples:
      lexirecall unjudged qrels.txt bm25.run dense.run
      lexirecall unjudged qrels.txt runs/*.run --baseline bm25.run -m R@1000 --show pairs
      lexirecall unjudged qrels.txt bm25.run dense.run --rate 0.02 --samples 2000 --seed 7 -f jsonl
      lexirecall unjudged qrels.txt runs/*.run --judge 200 --texts corpus.jsonl -f csv -o judge.csv
      lexirecall unjudged qrels.txt runs/*.run --rate 0.02 --judged-with new-qrels.txt
    """
    from lexirecall.labels.missing import unjudged
    from lexirecall.output import write

    inputs = [qrels, *runs, *named_files(options), options["judged_with"], *text_files(texts)]
    check_files([file for file in inputs if file is not None], ("-o", output))
    check_view(view, judge=options["judge"] is not None, judged_with=options["judged_with"] is not None)
    result = unjudged(
        qrels, list(runs), measures or None, baseline=baseline, texts=texts or None, show_progress=None, **options
    )
    show_notes(result.notes)
    text = result.render(form, view=view, bold=is_bold(output), raw=raw)
    show_apostrophes([text], form, raw=raw)
    write(text, output, form)
