"""`lexirecall explain`: a thin shell on `lexirecall.explain`."""

import shutil
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
from lexirecall.errors import UsageError


@click.command("explain", cls=DocumentedCommand)
@click.argument("qrels", metavar="QRELS")
@click.argument("run_a", metavar="RUN_A")
@click.argument("run_b", metavar="[RUN_B]", required=False)
@partial(convention_options, without=("providers",))
@click.option("--pair", nargs=2, metavar="A B", help="Names of the two runs, if the files hold more than two.")
@click.option("--query", metavar="Q", help="Explain only this query, level by level.")
@click.option(
    "-m", "--measure", metavar="MEASURE",
    help="Show the queries that decide the difference under this measure: its mean and its tail.",
)  # fmt: skip
@click.option(
    "--limit", type=WholeNumber(0), default=20, show_default=True, metavar="N",
    help="Show at most N rows of each list in a table; 0 shows all.",
)  # fmt: skip
@texts_option
@output_options()
def command(
    qrels: str,
    run_a: str,
    run_b: str | None,
    pair: tuple[str, str] | None,
    query: str | None,
    measure: str | None,
    limit: int,
    texts: tuple[str, ...],
    form: str,
    output: str | None,
    raw: bool,
    **options: Any,
) -> None:
    """Explain why one of two runs is preferred, and which relevant documents each of them misses.

    LexiRecall prefers the ranking that finds more of the relevant documents. If both find equally many, it prefers the
    one that finds the last of them sooner, then the one before it, and so on.

    One file is enough if it holds several runs, as a positions file may.

    With -m, the page shows the fewest queries without which the mean difference would be 0 or reversed, and the queries
    in the worst tenth of either run.

    With --texts, the words of queries and documents are shown beside their ids, one line of each; jsonl has them whole.

    \b
    Examples:
      lexirecall explain qrels.txt new.run old.run
      lexirecall explain qrels.txt new.run old.run -m AP
      lexirecall explain qrels.txt new.run old.run --query 303
      lexirecall explain qrels.txt new.run old.run -f jsonl -o why.jsonl
      lexirecall explain qrels.txt new.run old.run --texts queries.jsonl --texts corpus.jsonl.gz
      lexirecall explain qrels.txt kept.parquet --pair new old
    """
    from lexirecall.output import write
    from lexirecall.texts import texts_or_none
    from lexirecall.verbs.explain import explain

    runs = [run for run in (run_a, run_b) if run is not None]
    check_files([qrels, *runs, *named_files(options), *text_files(texts)], ("-o", output))
    if query is not None and measure is not None:
        raise UsageError("--query and -m are given together", remedy="give --query for one query, -m for all of them")
    words = texts_or_none(texts, options["columns"], show_progress=None)
    page_texts = words if query is None else None  # those of one query are read for it alone
    explanation = explain(qrels, runs, pair=pair, measure=measure, texts=page_texts, show_progress=None, **options)
    show_notes(explanation.notes)
    bold = is_bold(output)
    if query is None:
        result = explanation.render(form, limit=limit, bold=bold, raw=raw)
    else:
        width = shutil.get_terminal_size((80, 24)).columns if bold else 80
        explained = explanation.query(query, words)
        show_notes(() if explained.texts is None else explained.texts.notes)
        result = explained.render(form, width=width, limit=limit, bold=bold, raw=raw)
    show_apostrophes([result], form, raw=raw)
    write(result, output, form)
