"""Write the pages that follow from the code: measures, commands, options, and the public names of Python.

`python docs/generate.py` writes them, `--check` fails if they are not current.
"""

import ast
import inspect
import re
import sys
from pathlib import Path

import click

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
sys.path.append(str(DOCS / "extensions"))

from source import definition, first_line, origin, public_names  # noqa: E402 - it is found only now

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
        "A query has $m$ relevant documents, at the positions $p_1 < \\dots < p_m$. $n$ is the corpus size. $k$ is\n"
        "the length of the list or a cut-off. $r$ is the number of relevant documents retrieved or a recall. This\n"
        "page is generated from the table.",
    ]
    for module in GROUPS:
        parts.append(f"## {module.TITLE}")
        if doc := module.__doc__:
            parts.append(_typeset(doc.splitlines()[0]))
        parts += map(_measure_section, module.ROWS)
    parts.append("## Preferences")
    parts.append("A preference is positive if the first of two rankings is preferred; [how to use it](preferences.md).")
    parts += map(_measure_section, PREFERENCES.values())
    parts.append("## References")
    parts += [f"- **{key}**: {text}" for key, text in sorted(REFERENCES.items())]
    return "\n\n".join(parts) + "\n"


def _typeset(line: str) -> str:
    """Return a sentence, with the formula at its end, if it has one, as a formula."""
    return re.sub(r"(?<=, )sum_.*(?=\.$)", r"{formula}`\g<0>`", line)


def _measure_section(row: Row) -> str:
    at = {"cutoff": "a cut-off, `@k`", "recall": "a recall, `@r`", "share": "a share of the corpus, `@r`", "": ""}[
        row.at
    ]
    at += " or `@p%`, a share of the corpus" if row.takes_share else ""
    settings = [f"`{name}`" if p.default is None else f"`{name}={p.default!r}`" for name, p in row.parameters.items()]
    settings += [] if row.graded else ["`rel` (the level)"]
    facts = {
        "Formula": f"{{formula}}`{row.formula}`",
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


FRONT = "lexirecall"
"""The module whose names have a page each."""


def api_page() -> str:
    """Return the page of public names: the modules, each with its page."""
    parts = [
        "# Python",
        "These are the public names, by module. Every other name may change. A verb is listed with every keyword that\n"
        "it takes; what they share is on the page [Options](options.md). This page is generated.",
        "\n".join(f"- [`{module}`](api/{module}.md): {_subject(module)}" for module in PUBLIC),
        _contents([f"api/{module}" for module in PUBLIC]),
    ]
    return "\n\n".join(parts) + "\n"


def module_pages() -> dict[str, str]:
    """Return the pages of modules by file, and those of the names of the front door."""
    listed: set[tuple[str, str]] = set()
    pages = {}
    for module in PUBLIC:
        names = [name for name in public_names(module) if origin(module, name) not in listed]
        listed |= {origin(module, name) for name in names}
        pages[f"api/{module}.md"] = _front_page(names) if module == FRONT else _module_page(module, names)
        if module == FRONT:
            pages |= {f"api/{module}.{name}.md": _name_page(f"{module}.{name}") for name in names}
    return pages


def _front_page(names: list[str]) -> str:
    lines = [f"- [`{name}`]({FRONT}.{name}.md): {_said_of(FRONT, name)}" for name in names]
    head = [f"# {FRONT}", "Everything that a script needs; each name has a page."]
    return "\n\n".join([*head, "\n".join(lines), _contents([f"{FRONT}.{name}" for name in names])]) + "\n"


def _name_page(name: str) -> str:
    return f"# {name}\n\n{_entry(name)}\n"


def _module_page(module: str, names: list[str]) -> str:
    """Return the page of a module: an entry for each class and function, and a line for data, which have own pages."""
    data = [f"`{module}.{name}`" for name in names if definition(module, name) is None]
    entries = [_entry(f"{module}.{name}") for name in names if definition(module, name) is not None]
    said = [f"Data: {', '.join(data)}."] if data else []
    return "\n\n".join([f"# {module}", first_line(module), *entries, *said]) + "\n"


def _subject(module: str) -> str:
    """Return what the first line of a module says of it, without its name."""
    line = first_line(module)
    return line.partition(": ")[2] or line


def _said_of(module: str, name: str) -> str:
    found = definition(module, name)
    return inspect.cleandoc(ast.get_docstring(found[1]) or "").partition("\n")[0] if found else "data"


def _entry(name: str) -> str:
    return f"```{{api}} {name}\n```"


def _contents(pages: list[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"])


def pages() -> dict[str, str]:
    """Return every page that is generated, by file."""
    return {
        "api.md": api_page(),
        "command-line.md": command_line_page(),
        "measures.md": measures_page(),
        "options.md": options_page(),
        **module_pages(),
    }


def main() -> None:
    """Write the pages, or check them."""
    written = pages()
    stale = [name for name, text in written.items() if not _is_current(DOCS / name, text)]
    gone = [path for path in DOCS.glob("api/*.md") if path.relative_to(DOCS).as_posix() not in written]
    if "--check" in sys.argv[1:]:
        if stale or gone:
            sys.exit(f"not current: {', '.join([*stale, *map(str, gone)])}; run python docs/generate.py")
        return
    for name in stale:
        (DOCS / name).parent.mkdir(exist_ok=True)
        (DOCS / name).write_text(written[name], encoding="utf-8")
    for path in gone:
        path.unlink()


def _is_current(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    main()
