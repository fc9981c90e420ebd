"""`lexirecall project`: a thin shell on `lexirecall.project`, `project_embeddings` and `Positions.save`."""

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import Command, check_files, named_files, reading_options, show_notes, shown_warnings
from lexirecall.errors import UsageError
from lexirecall.fields import names_of
from lexirecall.manifest import OF_UNITS, READING, Policies

if TYPE_CHECKING:
    from lexirecall.positions import Positions

NOT_KEPT = (*names_of(Policies), "providers", "units", *OF_UNITS)
"""Options that say what positions count for; they are given when the file is evaluated."""


VECTOR_FILES = ("query_vectors", "corpus_vectors", "query_ids", "corpus_ids")
OF_VECTORS = (*VECTOR_FILES, "similarity", "device", "missing")


def vector_options(command: Command) -> Command:
    """Add the options that take vectors in place of runs."""
    for option in reversed((
        click.option("--query-vectors", metavar="FILE", help="In place of runs: vectors of the queries, as .npy."),
        click.option("--corpus-vectors", metavar="FILE", help="With it: vectors of all documents, as .npy."),
        click.option("--query-ids", metavar="FILE", help="Ids of the queries, one on each line. [default: 0, 1, 2 …]"),
        click.option("--corpus-ids", metavar="FILE", help="Ids of the documents. [default: 0, 1, 2 …]"),
        click.option(
            "--similarity", type=click.Choice(("dot", "cosine", "l2")), help="How vectors are compared. [default: dot]"
        ),
        click.option("--device", metavar="cpu|cuda", help="Compute with torch on this device. [default: cpu]"),
        click.option("--name", metavar="RUN", help="Name of the run. [default: its file; for vectors, run]"),
        click.option(
            "--missing", type=click.Choice(("error", "last")),
            help="Relevant documents without a vector: stop (error), or place them at the end (last). [default: error]",
        ),
    )):  # fmt: skip
        command = option(command)
    return command


@click.command("project", cls=DocumentedCommand)
@partial(reading_options, without=NOT_KEPT)
@vector_options
@click.option("-o", "--output", metavar="FILE", required=True, help="Write the positions file to FILE.")
def command(qrels: str, runs: tuple[str, ...], output: str, **options: Any) -> None:
    """Keep where the judged documents are in runs: a small file that stands wherever RUN may stand.

    A positions file is Parquet with one row for each run, query and judged document. It gives every measure and every
    comparison the same numbers as the runs, which need not be kept. It holds several runs, under their names, in the
    order given. Evaluate it with the same judgments and the same reading rules; otherwise it is refused. What says how
    documents count, such as --level, --units and --providers, is given then.

    With --query-vectors and --corpus-vectors in place of runs, the positions are exact among all documents: no list is
    needed, and nothing is cut off.

    \b
    Examples:
      lexirecall project qrels.txt bm25.run dense.run.gz -o kept.parquet
      lexirecall eval qrels.txt kept.parquet new.run
      lexirecall project qrels.txt bm25.run --corpus-size 8841823 -o bm25.parquet
      lexirecall project qrels.txt step-9000/dev.run --name step-9000 -o step-9000.parquet
      lexirecall compare qrels.txt step-*.parquet
      lexirecall project qrels.txt --query-vectors q.npy --query-ids q.txt
        --corpus-vectors c.npy --corpus-ids c.txt --similarity cosine --name dense -o dense.parquet
    """
    from lexirecall.judgments import SMALLEST_GRADE
    from lexirecall.verbs.census import Census
    from lexirecall.verbs.notes import notes_on_reading

    name = options.pop("name")
    vectors = {name: value for name in OF_VECTORS if (value := options.pop(name)) is not None}
    files = (vectors.get(name) for name in VECTOR_FILES)
    check_files([qrels, *runs, *files, *named_files(options)], ("-o", output))
    with shown_warnings():
        if vectors:
            positions = _of_vectors(qrels, runs, vectors | ({} if name is None else {"name": name}), options)
        else:
            positions = _of_runs(qrels, runs, name, options)
    show_notes(notes_on_reading(Census.of(positions, Policies(level=SMALLEST_GRADE))))
    positions.save("/dev/stdout" if output == "-" else output)


def _of_runs(qrels: str, runs: tuple[str, ...], name: str | None, options: Mapping[str, Any]) -> "Positions":
    from lexirecall.formats import may_hold_both, project

    if not runs and not may_hold_both(qrels, options["columns"]):
        raise UsageError("no runs are given", remedy="name runs, or give --query-vectors and --corpus-vectors")
    if name is not None and len(runs) != 1:
        problem = f"--name {name} is the name of one run, but {len(runs) or 'none'} {'are' if runs else 'is'} given"
        raise UsageError(problem, remedy="project them one after the other, or leave it out")
    named_runs = list(runs) if name is None else {name: runs[0]}
    return project(qrels, named_runs, needs_judged=True, show_progress=None, **options)


def _of_vectors(
    qrels: str, runs: tuple[str, ...], vectors: Mapping[str, Any], options: Mapping[str, Any]
) -> "Positions":
    """Project vectors; options of reading that are given, and say nothing about vectors, are refused."""
    from lexirecall.formats import load_judgments
    from lexirecall.formats.embeddings import project_embeddings
    from lexirecall.formats.embeddings.files import load_ids, load_vectors

    if runs:
        given_flag = f"--{next(iter(vectors)).replace('_', '-')}"
        raise UsageError(f"{given_flag} is for vectors, but runs are given", remedy="leave out the one or the other")
    for name in VECTOR_FILES[:2]:
        if name not in vectors:
            raise UsageError(
                f"--{name.replace('_', '-')} is not given", remedy="give vectors of both queries and documents"
            )
    reading = {field.name: options[field.name] for record in READING for field in fields(record)
             if field.name in options and options[field.name] != field.default}  # fmt: skip
    judgments = load_judgments(qrels, reading.pop("columns", None))
    queries, corpus = (load_vectors(vectors[name]) for name in VECTOR_FILES[:2])
    ids: dict[str, Any] = {name: load_ids(vectors[name]) for name in VECTOR_FILES[2:] if name in vectors}
    more = {name: value for name, value in vectors.items() if name not in VECTOR_FILES}
    return project_embeddings(queries, corpus, judgments, **ids, **more, show_progress=None, **reading)
