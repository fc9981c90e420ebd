"""`lexirecall rank`: a thin shell on `lexirecall.rank`."""

from typing import Any

import click

from lexirecall.aggregation import Resampling
from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import (
    check_files,
    is_bold,
    named_files,
    output_options,
    reading_options,
    record_options,
    show_apostrophes,
    show_notes,
    shown_warnings,
)
from lexirecall.statistics.aggregate import METHODS


@click.command("rank", cls=DocumentedCommand)
@reading_options
@click.option(
    "-m", "--measure", "preferences", multiple=True, metavar="PREFERENCE",
    help="One preference: LexiRecall (the default), LexiPrecision, RPP, or any measure, such as AP.",
)  # fmt: skip
@click.option(
    "--method", type=click.Choice(tuple(METHODS)), default="winrate", show_default=True,
    help="Rank by mean win rate, Borda points, pairs won (copeland), a Markov chain (mc4), the order with the "
    "fewest contradictions (kemeny; at most 30 runs), or the values of a measure on each run's own worst query, "
    "then the next worst, and so on (leximin; needs -m).",
)  # fmt: skip
@record_options(Resampling)
@output_options()
def command(
    qrels: str,
    runs: tuple[str, ...],
    preferences: tuple[str, ...],
    form: str,
    output: str | None,
    raw: bool,
    **options: Any,
) -> None:
    """Put runs into one order, from the preference between each pair of runs on every query, or worst query first.

    Runs that the method cannot tell apart share a rank. If the majority preferences have a cycle, a note says so. With
    --bootstrap, the runs are ordered again in each resample of the queries (winrate, borda and copeland). It adds the
    interval of each score, how often each run comes first, and the range of its ranks.

    \b
    Examples:
      lexirecall rank qrels.txt runs/*.run
      lexirecall rank qrels.txt runs/*.run --method mc4 -f jsonl
      lexirecall rank qrels.txt runs/*.run --bootstrap 10000 --seed 1
      lexirecall rank qrels.txt bm25.run dense.run fused.run -m RPP --method kemeny
      lexirecall rank qrels.txt runs/*.run -m R@1000 --method leximin
    """
    check_files([qrels, *runs, *named_files(options)], ("-o", output))
    from lexirecall.output import write
    from lexirecall.verbs.rank import rank

    preference = " ".join(preferences) if preferences else "LexiRecall"
    with shown_warnings():
        ranking = rank(qrels, list(runs), preference, show_progress=None, **options)
    show_notes(ranking.notes)
    result = ranking.render(form, bold=is_bold(output), raw=raw)
    show_apostrophes([result], form, raw=raw)
    write(result, output, form)
