"""`lexirecall eval`: a thin shell on `lexirecall.evaluate`."""

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


@click.command("eval")
@reading_options
@measures_option
@click.option("-q", "--per-query", is_flag=True, help="Print the value of each request too.")
@click.option("--manifest", metavar="FILE", help="Write the conventions used, and what was left out, as JSON.")
@output_options("trec")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    manifest: str | None,
    form: str,
    output: str | None,
    **conventions: Any,
) -> None:
    """Score runs against judgments.

    QRELS and RUN are TREC text or JSON, plain or compressed (gz, bz2, xz, zst), or `-` for stdin.

    \b
    Examples:
      lexirecall eval qrels.txt bm25.run dense.run.gz
      lexirecall eval qrels.txt bm25.run -m AP -m nDCG@10 -q -f jsonl
      lexirecall eval qrels.txt runs/*.run -m LastRel -m Depth@0.95 --corpus-size 528155
      lexirecall eval qrels.txt bm25.run --providers publishers.tsv
    """
    check_stdin(qrels, *runs, conventions["corpus_size"], conventions["providers"])
    from lexirecall.output import write_all
    from lexirecall.verbs.evaluate import evaluate

    with shown_warnings():
        scores = evaluate(qrels, list(runs), measures or None, show_progress=None, **conventions)
    show_notes(scores.notes)
    result = scores.render(form, per_request=per_query, bold=is_bold(output))
    write_all({output: result} if manifest is None else {output: result, manifest: scores.manifest.to_json()})
