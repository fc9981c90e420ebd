"""`lexirecall demo`: a simulated collection, the main job on it, and what to type next."""

import shlex
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from lexirecall.cli.help import DocumentedCommand
from lexirecall.errors import LexirecallError
from lexirecall.starts import READERS, start_of

SEED = 2025
_WIDTH = 100  # of a paragraph


@click.command("demo", cls=DocumentedCommand)
@click.option(
    "-o", "--output", "folder", metavar="DIR",
    help="Folder for the judgments, the runs and the report.  [default: lexirecall-demo, or the name of the reader]",
)  # fmt: skip
@click.option(
    "--for", "reader", type=click.Choice(READERS),
    help="Write the small files of one kind of reader instead, and run what that reader would.",
)  # fmt: skip
def command(folder: str | None, reader: str | None) -> None:
    """Simulate a small collection (nothing is downloaded), evaluate it and explain the result.

    \b
    Examples:
      lexirecall demo -o /tmp/demo
      lexirecall demo --for reviewer
    """
    if reader is None:
        _demonstrate(folder or "lexirecall-demo")
    else:
        _start(folder or reader, reader)


def _demonstrate(folder: str) -> None:
    from lexirecall.cli.options import is_bold, show_notes
    from lexirecall.output import write
    from lexirecall.simulate import simulate_collection
    from lexirecall.verbs.compare import compare
    from lexirecall.verbs.evaluate import evaluate
    from lexirecall.verbs.explain import explain
    from lexirecall.verbs.rank import rank

    collection = simulate_collection(SEED)
    files = sorted(  # in the order of *.run
        _write(Path(folder), collection.to_trec()), key=lambda path: (path.suffix == ".run", path.name)
    )
    scores = evaluate(files[0], files[1:])
    click.echo(
        f"{len(collection.qrels):,} simulated queries over {collection.corpus_size:,} documents, "
        f"{len(collection.runs):,} runs, in {folder}/\n\n$ {_command(folder)}"
    )
    show_notes(scores.notes)
    bold = is_bold(None)
    write(scores.render(bold=bold), None, "table")
    top, total = _best(scores, "AP"), _best(scores, "LexiRecall")
    click.echo(f"\n{_explanation(scores, top, total)}\n\n$ {_command(folder, 'compare')}")
    write(compare(files[0], files[1:]).render(bold=bold), None, "table")
    click.echo(f"\n$ {_command(folder, 'rank')}")
    write(rank(files[0], files[1:]).render(bold=bold), None, "table")
    click.echo("\nOn the query where they differ most:\n")
    explanation = explain(files[0], [Path(folder) / name for name in (total, top)])
    query = next(query for query in explanation.queries if query.preferred == total)
    click.echo(f"$ {_explain_command(folder, total, top)} --query {query.id} --limit 5")
    write(query.to_text(limit=5, bold=bold), None, "table")
    click.echo(f"\n{_next(folder, collection.corpus_size, total, top)}\n\n{_page(Path(folder), files)}")


def _command(folder: str, verb: str = "eval") -> str:
    quoted = shlex.quote(folder)
    return f"lexirecall {verb} {quoted}/qrels.txt {quoted}/*.run"


def _explain_command(folder: str, a: str, b: str) -> str:
    quoted = shlex.quote(folder)
    return f"lexirecall explain {quoted}/qrels.txt {quoted}/{a} {quoted}/{b}"


def _write(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write files by their names; leave a file alone that already exists with different content."""
    from lexirecall.output import write_files

    paths = {folder / name: text.encode() for name, text in texts.items()}
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
    return [*paths]


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


# For one kind of reader


def _start(folder: str, reader: str) -> None:
    """Write the files of a reader, run the reader's commands, and say what they show."""
    start = start_of(reader)
    _write(Path(folder), start.make())
    width = max(map(len, start.about))
    files = "\n".join(f"  {name:{width}}  {about}" for name, about in start.about.items())
    click.echo(f"For {start.person}: {start.question}\n\n{len(start.about)} files in {folder}/ (simulated):\n{files}")
    for line in start.commands:
        _run(line.replace("{}", shlex.quote(folder)))
    following = "\n".join(f"  {line}" for line in start.following).replace("{}", shlex.quote(folder))
    conclusion = textwrap.fill(f"What this shows: {start.conclusion}", _WIDTH)
    click.echo(f"\n{conclusion}\n\nWhat to type next:\n{following}")


def _run(words: str) -> None:
    """Print a command, and what it prints; a gate that fails is no error here."""
    from lexirecall.cli import group

    click.echo(f"\n$ {words}")
    code = group.main(shlex.split(words)[1:], prog_name="lexirecall", standalone_mode=False)
    if code:
        click.echo(f"[exit code {code}]")
