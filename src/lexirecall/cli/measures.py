"""`lexirecall measures`: the table of measures, and an explanation of each."""

from typing import Any

import click

from lexirecall.cli.completable import CompletableText
from lexirecall.cli.help import DocumentedCommand
from lexirecall.cli.options import is_bold, output_options

_COLUMNS = ("measure", "better", "needs", "reference", "title")


@click.command("measures", cls=DocumentedCommand)
@click.argument("name", required=False, type=CompletableText("MEASURE"))
@output_options()
def command(name: str | None, form: str, output: str | None, raw: bool) -> None:
    """List the measures, or explain one: its formula, settings and reference.

    \b
    Examples:
      lexirecall measures
      lexirecall measures TSE
    """
    from lexirecall.names import find_row, rows
    from lexirecall.output import write
    from lexirecall.tables import Table, render

    if name is not None and form == "table":
        write(_explained(find_row(name)), output, form)
        return
    if name is not None:
        row = find_row(name)
        shown = [_row(row) | row.about]
    else:
        shown = [_row(row) for row in rows().values()]
    cells = tuple(tuple(row[column] for column in _COLUMNS) for row in shown)
    table = Table(_COLUMNS, cells, numbers_from=len(_COLUMNS))
    write(render(form, table, shown, tuple(shown[0]), bold=is_bold(output), raw=raw), output, form)


def _row(row: Any) -> dict[str, str]:
    at = {"cutoff": "@k", "recall": "@r", "share": "@r", "": ""}[row.at]
    return {
        "measure": row.name + (at if row.needs_at else f"[{at}]" if at else ""),
        "better": "higher" if row.direction > 0 else "lower",
        "needs": ", ".join(row.needs),
        "reference": row.reference,
        "title": row.title,
    }


def _at(row: Any) -> str:
    if row.takes_share:
        return "a cut-off k, as in @10, or a share of the corpus, as in @10%"
    words = {
        "cutoff": "a cut-off k, as in @10",
        "recall": "a recall r, as in @0.95",
        "share": "a share r of the corpus, as in @0.1",
        "": "none",
    }
    return words[row.at]


def _explained(row: Any) -> str:
    from lexirecall.measures.references import REFERENCES

    settings = [
        key if parameter.default is None else f"{key} = {parameter.default}"
        for key, parameter in row.parameters.items()
    ]
    settings += [] if row.graded else ["rel = --level"]
    lines = {
        "formula": row.formula,
        "better": "higher" if row.direction > 0 else "lower",
        "over queries": row.total,
        "needs": ", ".join(row.needs) or "only the positions of the relevant documents",
        "settings": ", ".join(settings),
        "@": _at(row) + (" (required)" if row.needs_at else ""),
        "also read as": ", ".join(dict.fromkeys((*filter(None, row.trec), *row.aliases))),
        "reference": REFERENCES.get(row.reference, row.reference),
        **row.about,
    }
    body = "\n".join(f"  {label:<14} {text}" for label, text in lines.items() if text)
    return (
        f"{row.name}\n  {row.title}\n\n{body}\n\n  p_1 < … < p_m: positions of the m relevant documents; n: corpus size"
    )
