"""`lexirecall demo`: a simulated collection, the main job on it, and what to type next."""

import shlex
from pathlib import Path
from typing import Any

import click

from lexirecall.errors import LexirecallError

SEED = 2025


@click.command("demo")
@click.option(
    "-o", "--output", "folder", metavar="DIR", default="lexirecall-demo", show_default=True,
    help="Folder for the judgments and runs.",
)  # fmt: skip
def command(folder: str) -> None:
    """Simulate a small collection, evaluate it and explain the result; nothing is downloaded.

    \b
    Example:
      lexirecall demo -o /tmp/demo
    """
    from lexirecall.cli.options import is_bold, show_notes
    from lexirecall.output import write
    from lexirecall.simulate import simulate_collection
    from lexirecall.verbs.evaluate import evaluate

    collection = simulate_collection(SEED)
    files = _write(Path(folder), collection)
    scores = evaluate(files[0], files[1:])
    click.echo(
        f"{len(collection.qrels)} simulated requests over {collection.corpus_size:,} documents, "
        f"{len(collection.runs)} systems, in {folder}/\n\n$ {_command(folder)}"
    )
    show_notes(scores.notes)
    write(scores.render(bold=is_bold(None)), None)
    click.echo(f"\n{_explanation(scores)}\n\n{_next(folder, collection.corpus_size)}")


def _command(folder: str) -> str:
    quoted = shlex.quote(folder)
    return f"lexirecall eval {quoted}/qrels.txt {quoted}/*.run"


def _write(folder: Path, collection: Any) -> list[Path]:
    """Write the collection as TREC text; a file that is there with other content is left alone."""
    from lexirecall.output import write_files

    paths = {folder / name: text.encode() for name, text in collection.to_trec().items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign = [str(path) for path, data in paths.items() if path.exists() and path.read_bytes() != data]
    except OSError as error:
        raise LexirecallError(
            f"{folder}: {(error.strerror or str(error)).lower()}", remedy="name another folder: -o DIR"
        ) from None
    if foreign:
        raise LexirecallError(
            f"{foreign[0]}: is there already, with other content", remedy="name another folder: -o DIR"
        )
    write_files(paths)
    return sorted(paths, key=lambda path: (path.suffix == ".run", path.name))  # the order of *.run


def _explanation(scores: Any) -> str:
    """Say what the table shows, from its numbers."""
    means = scores.to_dict()

    def best(measure: str) -> str:
        return str(max(means, key=lambda run: means[run][measure]))

    top, total = best("AP"), best("TSE")
    return (
        f"What you see: {top} has the best average precision (AP {means[top]['AP']:.3f}), so its top ranks are good.\n"
        "But TSE, total search efficiency, is the exposure of the *last* relevant document, all that the worst-off\n"
        "user gets. "
        f"There {total} leads ({means[total]['TSE']:.1e} against {means[top]['TSE']:.1e}), since it overlooks less: "
        f"its R@1000 is {means[total]['R@1000']:.3f} against {means[top]['R@1000']:.3f}.\n"
        "A document that was not retrieved has exposure 0, and a single one makes the TSE of its request 0."
    )


def _next(folder: str, corpus_size: int) -> str:
    return (
        "What to type next:\n"
        f"  {_command(folder)} -m LastRel -m Depth@0.95 -m SetR --corpus-size {corpus_size}\n"
        f"  {_command(folder)} -m TSE -m nDCG@10 -q -f tsv  # each request, for a spreadsheet\n"
        "  lexirecall measures TSE  # any measure explained\n"
        "  lexirecall eval QRELS RUN...  # your own data"
    )
