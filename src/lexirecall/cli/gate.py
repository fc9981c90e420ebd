"""`lexirecall gate`: a thin shell on `lexirecall.gate`."""

from functools import partial
from typing import Any

import click

from lexirecall.aggregation import Aggregation
from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import (
    check_files,
    convention_options,
    is_bold,
    measures_option,
    named_files,
    record_options,
    show_notes,
    text_files,
    texts_option,
)
from lexirecall.errors import UsageError, choice
from lexirecall.gates.gateoptions import GateOptions
from lexirecall.gates.result import FORMS

FAILED = 3
"""The exit code of a gate that fails."""


@click.command("gate", cls=DocumentedCommand)
@click.argument("qrels", metavar="QRELS")
@click.argument("new", metavar="[NEW]", required=False)
@partial(convention_options, without=("providers",))
@click.option("--baseline", metavar="RUN", help="The run that the new one must be no worse than.")
@measures_option
@record_options(GateOptions)
@record_options(Aggregation)
@texts_option
@click.option(
    "-f", "--format", "form", type=click.Choice(FORMS), default="table", show_default=True,
    help="How to print the result.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Write the result to a file instead of stdout.")
@click.option(
    "--also", multiple=True, metavar="FORMAT=FILE",
    help="Write the result to a file in another format too, such as junit=gate.xml. Can be repeated.",
)  # fmt: skip
def command(
    qrels: str,
    new: str | None,
    baseline: str | None,
    measures: tuple[str, ...],
    texts: tuple[str, ...],
    form: str,
    output: str | None,
    also: tuple[str, ...],
    **options: Any,
) -> int:
    """Decide whether a new run is no worse than its baseline, and name every relevant document that it lost.

    The gate fails if the new run is significantly worse under a measure, by a one-sided test. Unless -m names others,
    these are the number of relevant documents found, and LexiRecall. With --margin D it fails unless the loss is shown
    to be below D. --require states what must hold in any case. --over and --by compare other numbers than the mean too,
    and every group of queries. The exit code is 0 if the gate passes, 3 if it fails, 1 for bad data and 2 for bad
    usage. Rows of JSON, as RAG tools write them, may hold judgments and run; then QRELS is enough.

    To look at the same queries build after build raises false alarms. --ledger FILE keeps the builds and tests each at
    its share of alpha: 6 alpha/(pi² t²) for the t-th that could fail, or alpha/N with --builds N. One that is run again
    keeps its verdict.

    \b
    Examples:
      lexirecall gate qrels.txt new.run --baseline old.run
      lexirecall gate qrels.txt new.run --baseline old.run -m All@20 -m LexiRecall --margin 0.02
      lexirecall gate qrels.txt new.run --baseline old.run --over mean --over tail:0.1 --by types.tsv
      lexirecall gate qrels.txt new.run --require 'All@20>=0.9' --require 'min of R@100 >= 0.5'
      lexirecall gate new.jsonl --baseline old.jsonl --require 'no query loses a relevant document'
      lexirecall gate qrels.txt new.run --baseline old.run --ledger builds.jsonl --build 4f2a91c
      lexirecall gate qrels.txt new.run --baseline old.run --texts corpus.jsonl --also junit=gate.xml
    """
    from lexirecall.gates.gate import gate
    from lexirecall.output import write_all

    more = _also(also)
    inputs = [qrels, new, baseline, *named_files(options), options["corpus_ids"], *text_files(texts)]
    outputs = [("-o", output), ("--ledger", options["ledger"]), *((f"--also {name}", path) for name, path in more)]
    check_files([file for file in inputs if file is not None], *outputs)
    result = gate(qrels, new, baseline, measures or None, texts=texts, show_progress=None, **options)
    show_notes(result.notes)
    written = [(path, result.render(name)) for name, path in more]
    write_all([*written, (output, result.render(form, bold=is_bold(output)))], form)
    return 0 if result.passed else FAILED


def _also(texts: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the format and the file of each further output."""
    outputs = []
    for text in texts:
        form, sign, path = text.partition("=")
        if not (sign and path):
            raise UsageError(f"--also {text!r} does not name a format and a file", remedy="write --also junit=gate.xml")
        choice("format", form, FORMS)
        outputs.append((form, path))
    return outputs
