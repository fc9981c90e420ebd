"""Write the pages that follow from the code: measures, commands, options, and the public names of Python.

`python docs/generate.py` writes them, `--check` fails if they are not current.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

import lexirecall
from lexirecall.aggregation import Aggregation, Resampling
from lexirecall.cli import COMMANDS, group
from lexirecall.cli.help import headings
from lexirecall.fields import offered
from lexirecall.manifest import READING, Policies
from lexirecall.measures import GROUPS, MEASURES
from lexirecall.measures.references import REFERENCES
from lexirecall.measures.row import Row
from lexirecall.preferences import PREFERENCES
from lexirecall.verbs.testing import Testing

DOCS = Path(__file__).parent
SOURCE = Path(lexirecall.__file__).parent
PUBLIC = (
    "lexirecall",
    *(f"lexirecall.{name}" for name in ("results", "measures", "preferences", "names", "exact", "theory")),
    *(f"lexirecall.{name}" for name in ("statistics", "meta", "page", "simulate", "texts", "errors")),
    *("lexirecall.labels.samples", "lexirecall.labels.stops"),
    *("lexirecall.formats.duckdb", "lexirecall.engines.spark", "lexirecall.torch"),
    *(f"lexirecall.adapters.{name}" for name in ("gate", "ir_measures", "lenskit", "pref_eval", "pyterrier")),
    *(f"lexirecall.adapters.{name}" for name in ("pytrec_eval", "ranx", "trec_eval")),
)
"""The modules whose `__all__` is for users, in the order of the page."""


def measures_page() -> str:
    """Return the page of measures: one section a row, and the references."""
    parts = [
        "# Measures",
        f"The table has {len(MEASURES)} measures and {len(PREFERENCES)} preferences. `lexirecall measures NAME` prints "
        "the same facts.\n"
        "A query has m relevant documents, at the positions p_1 < … < p_m. n is the corpus size. k is the length of\n"
        "the list or a cut-off. r is the number of relevant documents retrieved or a recall. This page is\n"
        "generated from the table.",
    ]
    for module in GROUPS:
        parts.append(f"## {module.TITLE}")
        if doc := module.__doc__:
            parts.append(doc.splitlines()[0])
        parts += map(_measure_section, module.ROWS)
    parts.append("## Preferences")
    parts.append("A preference is positive if the first of two rankings is preferred; [how to use it](preferences.md).")
    parts += map(_measure_section, PREFERENCES.values())
    parts.append("## References")
    parts += [f"- **{key}**: {text}" for key, text in sorted(REFERENCES.items())]
    return "\n\n".join(parts) + "\n"


def _measure_section(row: Row) -> str:
    at = {"cutoff": "a cut-off, `@k`", "recall": "a recall, `@r`", "share": "a share of the corpus, `@r`", "": ""}[
        row.at
    ]
    at += " or `@p%`, a share of the corpus" if row.takes_share else ""
    settings = [f"`{name}`" if p.default is None else f"`{name}={p.default!r}`" for name, p in row.parameters.items()]
    settings += [] if row.graded else ["`rel` (the level)"]
    facts = {
        "Formula": f"`{row.formula}`",
        "Better": "higher" if row.direction > 0 else "lower",
        "Over queries": row.total,
        "Takes": ", ".join([*settings, *([at + (" (required)" if row.needs_at else "")] if at else [])]),
        "Needs": ", ".join(row.needs),
        "Also read as": ", ".join(f"`{name}`" for name in dict.fromkeys((*filter(None, row.trec), *row.aliases))),
        "Reference": row.reference,
        **{name.capitalize(): text for name, text in row.about.items()},
    }
    lines = [f"- {label}: {text}" for label, text in facts.items() if text]
    return "\n".join([f"### `{row.name}`", "", row.title[0].upper() + row.title[1:] + ".", "", *lines])


EVERY_COMMAND = """\
Results go to stdout or to the file that you give with `-o`. Notes, warnings and progress go to stderr. The exit code
is 0 if all went well, 1 for bad data, 2 for bad usage and 130 if you interrupt. An unexpected error also exits with 1,
and is a bug: set `LEXIRECALL_TRACEBACK=1` in the environment to see its traceback. `lexirecall evaluate` is
`lexirecall eval`: every verb of Python is a command of the same name.

A file is written whole or not at all. An output that is also an input, is in an input folder, or is another output
is refused before anything is read. It does not matter how you name it: by a relative path, through a link, as stdout.
Devices such as `/dev/null` may be written more than once.

In tsv and csv, a spreadsheet would run some text as a formula: an id that begins with `=`, `+`, `-`, `@`, a tab or a
carriage return, and goes on. Such a cell gets an apostrophe before the text, and a note counts these cells. `--raw`
writes them as they are. Numbers and the other formats never change. If such a text already has an apostrophe before it,
it gets another one. So you get the ids back if you remove one apostrophe from every such cell."""


def command_line_page() -> str:
    """Return the page of the command line: what each command does, its examples and its options."""
    parts = ["# Command line", "What `--help` says about each command. This page is generated.", EVERY_COMMAND]
    for name in COMMANDS:
        command = _command(name)
        parts.append(f"## `lexirecall {name}`")
        text, _, examples = inspect.cleandoc(command.help or "").partition("\b\n")
        parts.append(text.strip())
        parts.append(f"```text\n{examples.rstrip()}\n```")
        options = {str(option.name): option for option in _options(command)}
        for heading, names in headings(list(options)):
            lines = [_option_line(options[option]) for option in names]
            parts.append("\n".join([f"**{heading}**\n", *lines] if heading != "Options" else lines))
    return "\n\n".join(parts) + "\n"


def _command(name: str) -> click.Command:
    command = group.get_command(click.Context(group), name)
    if command is None:
        raise SystemExit(f"no command {name}")
    return command


def _options(command: click.Command) -> list[click.Option]:
    return [option for option in command.params if isinstance(option, click.Option)]


def _option_line(option: click.Option) -> str:
    values = "" if option.is_flag else f" {'|'.join(_values(option))}"
    default = f" (default: {option.default})" if option.show_default and option.default is not None else ""
    return f"- `{', '.join(option.opts)}{values}`: {option.help}{default}"


def _values(option: click.Option) -> list[str]:
    if isinstance(option.type, click.Choice):
        return list(option.type.choices)
    return ["True", "False"] if option.is_flag else [option.metavar or "NUMBER"]


def options_page() -> str:
    """Return the page of options: each field of the records that keywords and commands are made from."""
    parts = [
        "# Options",
        "An option has one meaning and one default, in Python and on the command line. Every verb that takes\n"
        "judgments and runs takes the options of the first three lists (`lexirecall explain` does not take\n"
        "`--providers`). `eval` also takes those of the fourth, `eval`, `rank`, `compare` and `report` those of the\n"
        "fifth, and `compare` and `report` those of the last. [Conventions](conventions.md),\n"
        "[Over queries](over-queries.md), [Resampling](bootstrap.md) and [Comparing runs](compare.md) explain what\n"
        "they do. This page is generated.",
    ]
    written = {option.name: option for name in ("eval", "report") for option in _options(_command(name))}
    for record in (Policies, *READING, Aggregation, Resampling, Testing):
        own = [field for field, _ in offered(record) if field.name not in inherited_by(record)]
        parts.append(f"## {(record.__doc__ or '').partition('.')[0]}")
        parts.append("\n".join(_keyword_line(written[field.name], repr(field.default)) for field in own))
    return "\n\n".join(parts) + "\n"


def inherited_by(record: type) -> set[str]:
    """Return the names of the options that a record has from another one, which lists them."""
    return {field.name for base in record.__bases__ if base is not object for field, _ in offered(base)}


def _keyword_line(option: click.Option, default: str) -> str:
    values = " or ".join(f"`{value}`" for each in _values(option) for value in each.split("|"))
    return f"- **`{option.name}`**, `{option.opts[0]}`: {values}; default `{default}`. {option.help}"


def api_page() -> str:
    """Return the page of public names: a section for each module, and each thing where it comes first."""
    parts = [
        "# Python API",
        "These are the public names, by module. Every other name may change. The keywords that verbs share are on the\n"
        "page [Options](options.md). This page is generated.",
    ]
    listed: set[tuple[str, str]] = set()
    for module in PUBLIC:
        names = [name for name in public_names(module) if _origin(module, name) not in listed]
        listed |= {_origin(module, name) for name in names}
        title = (ast.get_docstring(_tree(module)) or "").partition("\n")[0]
        parts += [f"## `{module}`", title, *_entries(module, names)]
    return "\n\n".join(parts) + "\n"


def public_names(module: str) -> list[str]:
    """Return the `__all__` of a module, which is not imported: some need what is not installed here."""
    return next(ast.literal_eval(value) for name, value in _assigned(module) if name == "__all__")


def _entries(module: str, names: list[str]) -> Iterator[str]:
    """Give an entry for each class and function, and a line for data, which have their own pages."""
    data = [name for name in names if name in dict(_assigned(_origin(module, name)[0]))]
    yield from (f"::: {module}.{name}" for name in names if name not in data)
    if data:
        yield f"Data: {', '.join(f'`{module}.{name}`' for name in data)}."


def _origin(module: str, name: str) -> tuple[str, str]:
    """Return where a name is defined: the module, and what it is called there."""
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return _origin(node.module or "", alias.name)
    return module, name


def _assigned(module: str) -> Iterator[tuple[str, ast.expr]]:
    for node in _tree(module).body:
        if isinstance(node, ast.Assign):
            yield from ((ast.unparse(target), node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield ast.unparse(node.target), node.value


@cache
def _tree(module: str) -> ast.Module:
    place = SOURCE.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


PAGES = {
    "api.md": api_page,
    "command-line.md": command_line_page,
    "measures.md": measures_page,
    "options.md": options_page,
}


def main() -> None:
    """Write the pages, or check them."""
    stale = [name for name, page in PAGES.items() if not _is_current(DOCS / name, page())]
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"not current: {', '.join(stale)}; run python docs/generate.py")
        return
    for name in stale:
        (DOCS / name).write_text(PAGES[name](), encoding="utf-8")


def _is_current(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    main()
