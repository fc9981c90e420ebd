"""`lexirecall fuse`: a thin shell on `lexirecall.fuse`."""

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
    raw_option,
    record_options,
    show_apostrophes,
    show_notes,
)
from lexirecall.learn.recipe import Recipe, check_run_file
from lexirecall.tables import FORMATS


@click.command("fuse", cls=DocumentedCommand)
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@partial(convention_options, without=("providers",))
@measures_option
@record_options(Recipe)
@click.option("--save-weights", metavar="FILE", help="Write the weights, learnt on all queries, for use elsewhere.")
@click.option(
    "-f", "--format", "form", type=click.Choice(tuple(FORMATS)), default="table", show_default=True,
    help="How to print the report.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FUSED.run", required=True, help="Write the fused run to this file.")
@raw_option
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    save_weights: str | None,
    form: str,
    output: str,
    raw: bool,
    **options: Any,
) -> None:
    """Fuse runs into one that finds everything sooner, by weights learnt from judgments.

    Every document of any run gets a score, a weighted sum of what the runs say about it. The weights make the last
    relevant documents come as early as possible. Each query is ranked by weights that were learnt on other queries, so
    the report is about queries that the weights never saw. Where the other queries show no gain over RRF, RRF ranks.
    The report compares the fused run with RRF, CombSUM, Borda and the best single run, and says if nothing is gained.

    The run goes to the file that -o names, the report to stdout. The measures are LexiRecall, Depth@0.95, R@1000, AP
    and nDCG, unless -m names others; the first one also chooses --discount and --regularization, where these are not
    given, and between these weights and RRF.

    \b
    Examples:
      lexirecall fuse qrels.txt bm25.run dense.run splade.run -o fused.run
      lexirecall fuse qrels.txt runs/*.run -m R@100,AP --folds 10 --seed 7 -o fused.run
      lexirecall fuse qrels.txt runs/*.run --save-weights weights.json -o fused.run
      lexirecall fuse new-qrels.txt new-runs/*.run --weights weights.json -o new.run
    """
    from lexirecall.errors import UsageError
    from lexirecall.learn.fusion import fuse
    from lexirecall.output import write_all

    check_run_file(output)
    inputs = [qrels, *runs, *named_files(options), options["weights"]]
    check_files([file for file in inputs if file is not None], ("-o", output), ("--save-weights", save_weights))
    if save_weights is not None and options["weights"] is not None:
        raise UsageError("--save-weights is given beside --weights, and nothing is learnt", remedy="leave out one")
    fused = fuse(qrels, list(runs), measures or None, show_progress=None, **options)
    files = [(output, fused.to_trec())]
    files += [(save_weights, fused.weights.to_json())] if save_weights is not None else []
    show_notes(fused.notes)
    result = fused.render(form, bold=is_bold(None), raw=raw)
    show_apostrophes([result], form, raw=raw)
    write_all([*files, (None, result)], form)
