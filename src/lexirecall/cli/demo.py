"""`lexirecall demo`: a simulated collection, the main job on it, and what to type next."""

import shlex
from pathlib import Path
from typing import Any

import click

from lexirecall.cli.help import Documented
from lexirecall.errors import LexirecallError

SEED = 2025


@click.command("demo", cls=Documented)
@click.option(
    "-o", "--output", "folder", metavar="DIR", default="lexirecall-demo", show_default=True,
    help="Folder for the judgments, the runs and the report.",
)  # fmt: skip
def command(folder: str) -> None:
    """Simulate a small collection (nothing is downloaded), evaluate it and explain the result.

    \b
    Example:
      lexirecall demo -o /tmp/demo
    """
    from lexirecall.cli.options import is_bold, show_notes
    from lexirecall.output import write
    from lexirecall.simulate import simulate_collection
    from lexirecall.verbs.compare import compare
    from lexirecall.verbs.evaluate import evaluate
    from lexirecall.verbs.explain import explain
    from lexirecall.verbs.rank import rank

    collection = simulate_collection(SEED)
    files = _write(Path(folder), collection)
    scores = evaluate(files[0], files[1:])
    click.echo(
        f"{len(collection.qrels)} simulated queries over {collection.corpus_size:,} documents, "
        f"{len(collection.runs)} runs, in {folder}/\n\n$ {_command(folder)}"
    )
    show_notes(scores.notes)
    bold = is_bold(None)
    write(scores.render(bold=bold), None)
    top, total = _best(scores, "AP"), _best(scores, "LexiRecall")
    click.echo(f"\n{_explanation(scores, top, total)}\n\n$ {_command(folder, 'compare')}")
    write(compare(files[0], files[1:]).render(bold=bold), None)
    click.echo(f"\n$ {_command(folder, 'rank')}")
    write(rank(files[0], files[1:]).render(bold=bold), None)
    click.echo("\nOn the query where they differ most:\n")
    explanation = explain(files[0], [Path(folder) / name for name in (total, top)])
    request = next(each for each in explanation.queries if each.preferred == total)
    click.echo(f"$ {_explain_command(folder, total, top)} --query {request.id} --limit 5")
    write(request.to_text(limit=5, bold=bold), None)
    click.echo(f"\n{_next(folder, collection.corpus_size, total, top)}\n\n{_page(Path(folder), files)}")


def _command(folder: str, verb: str = "eval") -> str:
    quoted = shlex.quote(folder)
    return f"lexirecall {verb} {quoted}/qrels.txt {quoted}/*.run"


def _explain_command(folder: str, a: str, b: str) -> str:
    quoted = shlex.quote(folder)
    return f"lexirecall explain {quoted}/qrels.txt {quoted}/{a} {quoted}/{b}"


def _write(folder: Path, collection: Any) -> list[Path]:
    """Write the collection as TREC text; leave a file alone that already exists with different content."""
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
            f"{foreign[0]}: already exists with different content", remedy="name another folder: -o DIR"
        )
    write_files(paths)
    return sorted(paths, key=lambda path: (path.suffix == ".run", path.name))  # the order of *.run


def _page(folder: Path, files: list[Path]) -> str:
    """Write the report, and say where it is."""
    from lexirecall.page import report

    path = folder / "report.html"
    report(files[0], files[1:], output=path, title="lexirecall demo")
    return f"Everything on one page, for your browser:\n  {path}"


def _best(scores: Any, measure: str) -> str:
    means = scores.to_dict()
    return str(max(means, key=lambda run: means[run][measure]))


def _explanation(scores: Any, top: str, total: str) -> str:
    """Say what the table shows, from its numbers."""
    means = scores.to_dict()
    return (
        f"What you see: {top} has the best average precision (AP {means[top]['AP']:.3f}), so its top ranks are good.\n"
        "But a person who must miss nothing waits for the *last* relevant document. LexiRecall prefers the ranking\n"
        "that finds more, then the one that finds the last one sooner, then the one before it. The table shows the\n"
        f"share of comparisons won. There {total} leads ({means[total]['LexiRecall']:.2f} against "
        f"{means[top]['LexiRecall']:.2f}). TSE, the exposure of the last one, agrees\n"
        "if all are found, but is 0 if a single one is not retrieved. Next: which differences are real, all runs in\n"
        f"one order, and why {total} beats {top}."
    )


def _next(folder: str, corpus_size: int, a: str, b: str) -> str:
    return (
        "What to type next:\n"
        f"  {_explain_command(folder, a, b)}  # all queries\n"
        f"  {_command(folder)} -m LastRel -m Depth@0.95 -m SetR --corpus-size {corpus_size}\n"
        f"  {_command(folder)} -m TSE -m nDCG@10 -q -f tsv  # each query, for a spreadsheet\n"
        "  lexirecall measures LexiRecall  # explains a measure\n"
        "  lexirecall eval QRELS RUN...  # your own data"
    )
