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
    testing_options,
)


@click.command("compare")
@reading_options
@measures_option
@testing_options
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
