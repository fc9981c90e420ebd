"""`lexirecall funnel`: a thin shell on `lexirecall.funnel`."""

from functools import partial
from typing import Any

import click

from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import (
    WholeNumber,
    check_files,
    convention_options,
    is_bold,
    named_files,
    output_options,
    show_apostrophes,
    show_notes,
    text_files,
    texts_option,
)


@click.command("funnel", cls=DocumentedCommand)
@click.argument("qrels", metavar="QRELS")
@click.argument("stages", metavar="STAGE...", nargs=-1, required=True)
@partial(convention_options, without=("providers",))
@texts_option
@click.option(
    "--limit", type=WholeNumber(0), default=20, show_default=True, metavar="N",
    help="Show at most N documents of each list in tables; 0 shows all.",
)  # fmt: skip
@output_options()
def command(
    qrels: str,
    stages: tuple[str, ...],
    texts: tuple[str, ...],
    limit: int,
    form: str,
    output: str | None,
    raw: bool,
    **options: Any,
) -> None:
    """Show what each stage of a search hands on to the next, and where each relevant document is lost.

    A STAGE is a run, the first stage first. STAGE@100 hands the first 100 documents of its list on. Several searches
    are one stage, in the order of the calls: a.run+b.run is their union, in the order of first appearance.

    For each stage: R and All of what it hands on, which no later stage can exceed that only reorders and drops;
    the mean preference of LexiRecall for it over the stage before, each list in a perfect order; and the documents
    read, per query. A relevant document that the last stage does not hand on was never retrieved, or was cut at a
    depth, or pushed down below it by a stage that was handed it above, or dropped.

    \b
    Examples:
      lexirecall funnel qrels.txt bm25.run@1000 reranked.run@100 final.run@10
      lexirecall funnel qrels.txt search1.run+search2.run+search3.run context.run@20
      lexirecall funnel qrels.txt bm25.run@1000 final.run@10 --texts corpus.jsonl -f jsonl
    """
    from lexirecall.gates.funnels import funnel
    from lexirecall.gates.funnelstages import asked_stages
    from lexirecall.output import write

    runs = [run for stage in asked_stages(stages, options["stdin_name"]) for run in stage.runs]
    check_files([qrels, *runs, *named_files(options), *text_files(texts)], ("-o", output))
    result = funnel(qrels, stages, texts=texts or None, show_progress=None, **options)
    show_notes(result.notes)
    text = result.render(form, limit=limit, bold=is_bold(output), raw=raw)
    show_apostrophes([text], form, raw=raw)
    write(text, output, form)
