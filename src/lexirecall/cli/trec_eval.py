"""`lexirecall trec_eval`: trec_eval's flags and lines, a thin shell on `lexirecall.adapters.trec_eval`."""

from typing import Any, Literal

import click

from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import Number, WholeNumber, check_files, is_bold, show_notes
from lexirecall.errors import UsageError
from lexirecall.fields import choices_of
from lexirecall.manifest import MOST_DOCUMENTS, Conventions
from lexirecall.text import visible

_PREFERENCES = ("prefs", "qrels_prefs", "qrels_jg")


def _version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from lexirecall.version import VERSION

        click.echo(f"lexirecall {VERSION}, with the measures of trec_eval 9 and 10")
        context.exit()


def _format(_context: click.Context, parameter: click.Parameter, value: str) -> None:
    """Accept the name of the only format of judgments, or of runs; scripts may give it."""
    flag, only = parameter.opts[0], parameter.default
    if value in _PREFERENCES:
        raise UsageError(
            f"{flag} {value}: preference judgments stay with trec_eval", remedy=f"the only format is {only}"
        )
    if value != only:
        raise UsageError(f"{flag} {value} is not supported", remedy=f"the only format is {only}")


def _compat(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    return int(value)


def _debugged(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Return the topic after the level of debugging, if there is one; the level itself changes nothing here."""
    level, _, topic = (value or "0").partition(".")
    if not level.isdecimal():
        raise click.BadParameter(f"{value!r}: write a level, as in 1, or a level and a topic, as in 1.301")
    return topic or None


@click.command("trec_eval", cls=DocumentedCommand, add_help_option=False)
@click.argument("qrels", metavar="QRELS", required=False)
@click.argument("run", metavar="RUN", required=False)
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE",
    help="A measure such as map, P.5,10 or ndcg.1=3,2=9, or a set: official (the default), all_trec, set. Can be "
    "repeated.",
)  # fmt: skip
@click.option("-q", "--query_eval_wanted", "per_topic", is_flag=True, help="Also print the values for each topic.")
@click.option(
    "-c", "--complete_rel_info_wanted", "complete", is_flag=True,
    help="Average over all judged topics; topics that the run lacks count as 0.",
)  # fmt: skip
@click.option("-n", "--nosummary", is_flag=True, help="Print no averages.")
@click.option(
    "-l", "--level_for_rel", "level", type=Number(), default=1, show_default=True, metavar="NUM",
    help="Lowest grade that counts as relevant.",
)  # fmt: skip
@click.option(
    "-M", "--Max_retrieved_per_topic", "depth", type=WholeNumber(1), metavar="NUM",
    help="Count only the first NUM documents of each topic.",
)  # fmt: skip
@click.option(
    "-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Remove documents without a judgment from the run."
)
@click.option(
    "-N", "--Number_docs_in_coll", "num_documents", type=WholeNumber(1, MOST_DOCUMENTS - 1), metavar="NUM",
    help="Number of documents in the collection, for the measure utility.",
)  # fmt: skip
@click.option(
    "-Z", "--Zscore", "zscores", metavar="FILE",
    help="Print z-scores: FILE has lines of topic, measure, mean and standard deviation.",
)  # fmt: skip
@click.option(
    "-D", "--Debug_level", "topic", metavar="NUM[.TOPIC]", callback=_debugged,
    help="Level of debugging, which prints nothing here; with a topic, evaluate only that one.",
)  # fmt: skip
@click.option(
    "--compat", type=click.Choice(("9", "10")), default="10", show_default=True, callback=_compat,
    help="Version of trec_eval whose rules hold where the two differ.",
)  # fmt: skip
@click.option(
    "--score-dtype", type=click.Choice(choices_of(Conventions, "score_dtype")),
    help="Precision of scores. Without it, that of the version: float32 for 9, float64 for 10.",
)  # fmt: skip
@click.option(
    "-R", "--Rel_info_format", metavar="FORMAT", default="qrels", hidden=True, expose_value=False, callback=_format,
    help="Format of QRELS: qrels is the only one.",
)  # fmt: skip
@click.option(
    "-T", "--Results_format", metavar="FORMAT", default="trec_results", hidden=True, expose_value=False,
    callback=_format, help="Format of RUN: trec_results is the only one.",
)  # fmt: skip
@click.option("-o", is_flag=True, hidden=True, expose_value=False, help="Does nothing, as in trec_eval.")
@click.option(
    "--Output_old_results_format", metavar="TEXT", hidden=True, expose_value=False,
    help="Does nothing; like the long name in trec_eval, it takes a value.",
)  # fmt: skip
@click.option(
    "-v", "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version."
)
@click.option("-h", "--help", is_flag=True, help="Show this, with the formulas of the measures after -m.")
@click.pass_context
def command(
    context: click.Context,
    /,
    qrels: str | None,
    run: str | None,
    measures: tuple[str, ...],
    nosummary: bool,
    compat: Literal[9, 10],
    **options: Any,
) -> None:
    """Print what trec_eval prints: its measures, under its names, in its format.

    QRELS and RUN can be anything that `lexirecall eval` reads.

    \b
    Examples:
      lexirecall trec_eval qrels.txt bm25.run
      lexirecall trec_eval -q -c -m map -m P.5,10 -m ndcg_cut.10 qrels.txt bm25.run
      lexirecall trec_eval -m all_trec -l2 -M1000 --compat 9 qrels.txt bm25.run.gz
      lexirecall trec_eval -h -m official
    """
    if options.pop("help"):
        click.echo(_help(context, measures, compat))
        return
    if qrels is None or run is None:
        raise click.MissingParameter(ctx=context, param=context.command.params[0 if qrels is None else 1])
    check_files([qrels, run], ("", None))
    from lexirecall.adapters.trec_eval import DEFAULT, evaluate
    from lexirecall.output import write

    output = evaluate(qrels, run, measures or DEFAULT, compat=compat, summary=not nosummary, **options)
    show_notes(output.notes)
    lines = output.lines
    if is_bold(None):  # a line end within an id would begin a line that nobody computed
        lines = tuple("\t".join(map(visible, line.split("\t"))) for line in lines)
    write("\n".join(lines), None)


def _help(context: click.Context, measures: tuple[str, ...], compat: Literal[9, 10]) -> str:
    """Return the help, and what each measure is."""
    if not measures:
        return context.get_help()
    from lexirecall.adapters.trec_columns import explained

    return f"{context.get_help()}\n\nMeasures:\n\n{explained(measures, compat)}"
