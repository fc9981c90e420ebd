"""`lexirecall project`: a thin shell on `lexirecall.project` and `Positions.save`."""

from functools import partial
from typing import Any

import click

from lexirecall.cli.help import Documented
from lexirecall.cli.options import check_files, named_files, reading_options, show_notes, shown_warnings
from lexirecall.fields import names_of
from lexirecall.manifest import OF_UNITS, Policies

NOT_KEPT = (*names_of(Policies), "providers", "units", *OF_UNITS)
"""Options that say what positions count for; they are given when the file is evaluated."""


@click.command("project", cls=Documented)
@partial(reading_options, without=NOT_KEPT)
@click.option("-o", "--output", metavar="FILE", required=True, help="Write the positions file to FILE.")
def command(qrels: str, runs: tuple[str, ...], output: str, **options: Any) -> None:
    """Keep where the judged documents are in runs: a small file that stands wherever RUN may stand.

    A positions file is Parquet with one row for each run, query and judged document. It gives every measure and every
    comparison the same numbers as the runs, which need not be kept. It holds several runs, under their names, in the
    order given. Evaluate it with the same judgments and the same reading rules; otherwise it is refused. What says how
    documents count, such as --level, --units and --providers, is given then.

    \b
    Examples:
      lexirecall project qrels.txt bm25.run dense.run.gz -o kept.parquet
      lexirecall eval qrels.txt kept.parquet new.run
      lexirecall project qrels.txt step-9000.run --corpus-size 8841823 -o step-9000.parquet
      lexirecall compare qrels.txt step-*.parquet
    """
    from lexirecall.formats import project
    from lexirecall.judgments import SMALLEST_GRADE
    from lexirecall.verbs.census import Census
    from lexirecall.verbs.notes import notes_on_reading

    check_files([qrels, *runs, *named_files(options)], ("-o", output))
    with shown_warnings():
        positions = project(qrels, list(runs), needs_judged=True, show_progress=None, **options)
    show_notes(notes_on_reading(Census.of(positions, [SMALLEST_GRADE])))
    positions.save("/dev/stdout" if output == "-" else output)
