"""`lexirecall trec_eval`: trec_eval's flags and lines, a thin shell on `lexirecall.adapters.trec_eval`."""

import click

from lexirecall.cli.help import Documented
from lexirecall.cli.options import Number, WholeNumber, check_files, show_notes
from lexirecall.errors import UsageError
from lexirecall.fields import choices_of
from lexirecall.manifest import MOST_ITEMS, Conventions


def _version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from lexirecall.version import VERSION

        click.echo(f"lexirecall {VERSION}, with the measures of trec_eval 9")
        context.exit()


def _format(_context: click.Context, parameter: click.Parameter, value: str) -> None:
    """Accept the name of the only format of judgments, or of runs; scripts may give it."""
    if value != parameter.default:
        raise UsageError(
            f"{parameter.opts[0]} {value} is not supported", remedy=f"the only format is {parameter.default}"
        )


@click.command("trec_eval", cls=Documented)
@click.argument("qrels", metavar="QRELS")
@click.argument("run", metavar="RUN")
@click.option(
    "-m", "--measure", "measures", multiple=True, default=("official",), show_default=True, metavar="MEASURE",
    help="A measure such as map, P.5,10 or ndcg_cut.10, or a set: official, all_trec, set. Can be repeated.",
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
    "-N", "--Number_docs_in_coll", "num_documents", type=WholeNumber(1, MOST_ITEMS - 1), metavar="NUM",
    help="Number of documents in the collection, for the measure utility.",
)  # fmt: skip
@click.option(
    "--score-dtype", type=click.Choice(choices_of(Conventions, "score_dtype")), default="float64", show_default=True,
    help="Precision of scores: float64 as in trec_eval 10; with float32, scores tie as in trec_eval 9.",
)  # fmt: skip
@click.option("-R", "--Rel_info_format", default="qrels", hidden=True, expose_value=False, callback=_format)
@click.option("-T", "--Results_format", default="trec_results", hidden=True, expose_value=False, callback=_format)
@click.option(
    "-v", "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version."
)
def command(
    qrels: str,
    run: str,
    measures: tuple[str, ...],
    per_topic: bool,
    complete: bool,
    nosummary: bool,
    level: float,
    depth: int | None,
    judged_only: bool,
    num_documents: int | None,
    score_dtype: str,
) -> None:
    """Print what trec_eval prints: its measures, under its names, in its format.

    QRELS and RUN can be anything that `lexirecall eval` reads.

    \b
    Examples:
      lexirecall trec_eval qrels.txt bm25.run
      lexirecall trec_eval -q -c -m map -m P.5,10 -m ndcg_cut.10 qrels.txt bm25.run
      lexirecall trec_eval -m all_trec -l2 -M1000 --score-dtype float32 qrels.txt bm25.run.gz
    """
    check_files([qrels, run], ("", None))
    from lexirecall.adapters.trec_eval import evaluate
    from lexirecall.output import write

    output = evaluate(
        qrels,
        run,
        measures,
        per_topic=per_topic,
        complete=complete,
        summary=not nosummary,
        level=level,
        depth=depth,
        judged_only=judged_only,
        num_documents=num_documents,
        score_dtype=score_dtype,
    )
    show_notes(output.notes)
    write(str(output), None)
