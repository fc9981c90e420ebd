"""`lexirecall certify`: a thin shell on `lexirecall.certify`, `draw_sample` and `evaluate_stops`."""

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
    record_options,
    show_apostrophes,
    show_notes,
)
from lexirecall.errors import UsageError
from lexirecall.labels.certification import CertificateOptions
from lexirecall.text import whole_number_of


@click.command("certify", cls=DocumentedCommand)
@click.argument("qrels", metavar="[QRELS]", required=False)
@click.argument("runs", metavar="[RUN...]", nargs=-1)
@click.option(
    "--read", metavar="K|FILE", help="How many documents were read: a number, or a file with lines `query number`."
)
@click.option("--found", type=WholeNumber(0), metavar="R", help="How many of those are relevant.")
@click.option(
    "--sample", multiple=True, type=WholeNumber(0), metavar="S",
    help="How many of the others were drawn at random. Can be repeated: each from what the one before left.",
)  # fmt: skip
@click.option(
    "--relevant", multiple=True, type=WholeNumber(0), metavar="X",
    help="How many of the sample are relevant; once for each --sample.",
)  # fmt: skip
@click.option(
    "--sampled", multiple=True, metavar="FILE",
    help="With QRELS and RUN: the sample with its judgments, instead of numbers. Can be repeated.",
)  # fmt: skip
@click.option(
    "--draw", type=WholeNumber(1), metavar="S",
    help="With QRELS and RUN: draw a sample of S documents of each query that were not read, as a file to fill in.",
)  # fmt: skip
@click.option("--seed", type=WholeNumber(0), default=0, show_default=True, help="Seed of the sample that is drawn.")
@click.option(
    "--stops", metavar="K|FILE|FOLDER",
    help="Say how recorded reviews ended: a number, a file with lines `query depth` or `run query depth`, or a folder "
    "of runs that were cut where they stopped.",
)  # fmt: skip
@record_options(CertificateOptions)
@partial(convention_options, without=("providers",))
@output_options()
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    read: str | None,
    draw: int | None,
    seed: int,
    stops: str | None,
    form: str,
    output: str | None,
    raw: bool,
    **options: Any,
) -> None:
    """Say how much of what is relevant was surely found when a review stopped.

    A review has read K of N documents and found R relevant ones. Of the others, S were drawn at random, and X of these
    are relevant. The bounds of recall follow exactly from these numbers, without any model. They hold if the sample is
    a simple random one, if its size was fixed beforehand, and if the judgments are right.

    With QRELS and RUN everything is counted, for each query: --draw makes a sample to be judged, and --sampled takes
    it back. With --stops, everything relevant is known, and recorded stops are evaluated: recall, cost, and how many
    of the queries reach the recall that is wanted.

    \b
    Examples:
      lexirecall certify --corpus-size 10000 --read 2000 --found 190 --sample 1500 --relevant 0
      lexirecall certify --corpus-size 10000 --read 2000 --found 190 --wanted 0.95
      lexirecall certify qrels.txt ranking.run --read 2000 --draw 300 -o sample.csv
      lexirecall certify qrels.txt ranking.run --read 2000 --sampled sample.csv --wanted 0.95
      lexirecall certify qrels.txt bm25.run dense.run --stops stops.txt --wanted 0.95
    """
    from lexirecall.output import write

    files = [file for file in (qrels, *runs, *options["sampled"], *named_files(options)) if file is not None]
    check_files([*files, *_file(stops), *_file(read)], ("-o", output))
    _check_together(options, draw=draw, stops=stops, qrels=qrels)
    if draw and form not in ("table", "csv"):
        raise UsageError(f"--draw writes CSV, not {form}", remedy="leave out -f")
    result = _made(qrels, runs, _number_or_file(read), draw, seed, stops, options)
    show_notes(result.notes)
    text = result.to_csv(raw=raw) if draw else result.render(form, bold=is_bold(output), raw=raw)
    show_apostrophes([text], "csv" if draw else form, raw=raw)
    write(text, output, "csv" if draw else form)


def _made(
    qrels: Any,
    runs: tuple[str, ...],
    read: Any,
    draw: int | None,
    seed: int,
    stops: str | None,
    options: dict[str, Any],
) -> Any:
    """Call the verb that is asked for."""
    if stops is not None:
        from lexirecall.labels.stops import evaluate_stops

        unused = ("found", "sample", "relevant", "sampled")
        settings = {name: value for name, value in options.items() if name not in unused}
        return evaluate_stops(qrels, list(runs), stops=_number_or_file(stops), show_progress=None, **settings)
    run: Any = None if not runs else runs[0] if len(runs) == 1 else list(runs)
    if draw is not None:
        from lexirecall.labels.samples import draw_sample

        unused_here = ("found", "sample", "relevant", "confidence", "wanted", "assume", "looks")
        settings = {name: value for name, value in options.items() if name not in unused_here}
        return draw_sample(qrels, run, draw, read=read, seed=seed, show_progress=None, **settings)
    from lexirecall.labels.certification import certify

    options["sampled"] = options["sampled"] or None
    return certify(qrels, run, read=read, show_progress=None, **options)


def _check_together(options: dict[str, Any], *, draw: int | None, stops: str | None, qrels: str | None) -> None:
    """Raise if options are given that do not go together."""
    mode = "--stops" if stops is not None else "--draw" if draw is not None else ""
    if not mode:
        return
    if qrels is None:
        raise UsageError(f"{mode} needs QRELS and RUN", remedy=f"write lexirecall certify qrels.txt a.run {mode} ...")
    extra = {"--found": options["found"], "--sample": options["sample"], "--relevant": options["relevant"]}
    if mode == "--stops":
        extra |= {"--sampled": options["sampled"], "--draw": draw}
    else:
        extra |= {f"--{name}": options[name] for name in ("wanted", "assume", "looks")}
    if unused := [name for name, value in extra.items() if value not in (None, ())]:
        raise UsageError(f"{', '.join(unused)} cannot be used with {mode}", remedy="leave it out")


def _number_or_file(text: str | None) -> int | str | None:
    try:
        return None if text is None else whole_number_of(text)
    except ValueError:
        return text


def _file(depths: str | None) -> list[str]:
    """Return the file of depths, if one is named."""
    depths_or_file = _number_or_file(depths)
    return [depths_or_file] if isinstance(depths_or_file, str) else []
