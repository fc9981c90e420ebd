"""`lexirecall compare`: a thin shell on `lexirecall.compare`."""

from typing import Any

import click

from lexirecall.cli.options import (
    check_stdin,
    is_bold,
    measures_option,
    output_options,
    reading_options,
    show_notes,
    shown_warnings,
)

_TESTS = ("auto", "t", "wilcoxon", "sign", "randomization", "hsd", "randomized-hsd")
_CORRECTIONS = ("holm", "bonferroni", "bh", "none")


@click.command("compare")
@reading_options
@measures_option
@click.option("--baseline", metavar="RUN", help="Compare with this run only, and correct over those pairs only.")
@click.option(
    "--test", type=click.Choice(_TESTS), default="auto", show_default=True,
    help="auto: the sign test for lexicographic preferences, the paired t test for all that has a size.",
)  # fmt: skip
@click.option(
    "--correction", type=click.Choice(_CORRECTIONS), default="holm", show_default=True,
    help="For the many pairs of one measure; hsd needs none.",
)  # fmt: skip
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of significance.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random resamples.")
@click.option(
    "--resamples", "num_resamples", type=click.IntRange(min=1), default=10_000, show_default=True,
    help="How many, for randomization and randomized-hsd.",
)  # fmt: skip
@click.option(
    "--test-ties", type=click.Choice(("drop", "split")), default="drop", show_default=True,
    help="Tied requests in the sign test: left out, or half for each side.",
)  # fmt: skip
@click.option(
    "--show", "view", type=click.Choice(("systems", "pairs", "matrix", "power")), default="systems", show_default=True,
    help="The runs with marks of significance, every pair, a matrix for each measure, or what each can tell apart.",
)  # fmt: skip
@output_options()
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    view: str,
    form: str,
    output: str | None,
    **options: Any,
) -> None:
    """Compare every two runs, or all with a baseline: differences, tests, corrections.

    tsv, csv and jsonl hold every pair: mean difference (positive: a is better), wins, ties and losses, p, corrected p,
    requests, confidence interval, effect size and the number of requests needed to detect the difference.

    \b
    Examples:
      lexirecall compare qrels.txt bm25.run dense.run fused.run
      lexirecall compare qrels.txt runs/*.run --baseline bm25.run -m LexiRecall -m nDCG@10 -f latex
      lexirecall compare qrels.txt runs/*.run --test randomized-hsd --seed 7 -f jsonl -o pairs.jsonl
      lexirecall compare qrels.txt runs/*.run --show power
    """
    check_stdin(qrels, *runs, options["corpus_size"], options["providers"])
    from lexirecall.output import write
    from lexirecall.verbs.compare import compare

    with shown_warnings():
        comparison = compare(qrels, list(runs), measures or None, show_progress=None, **options)
    show_notes(comparison.notes)
    write(comparison.render(form, view=view, bold=is_bold(output)), output)
