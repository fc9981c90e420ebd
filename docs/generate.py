"""Write the pages that follow from the code: measures from their table, commands from their help, options from records.

`python docs/generate.py` writes them, `--check` fails if they are not current.
"""

import inspect
import sys
from pathlib import Path

import click

from lexirecall.cli import COMMANDS, group
from lexirecall.fields import offered
from lexirecall.manifest import READING, Policies
from lexirecall.measures import GROUPS, MEASURES
from lexirecall.measures.references import REFERENCES
from lexirecall.measures.row import Row
from lexirecall.preferences import PREFERENCES
from lexirecall.verbs.testing import Testing

DOCS = Path(__file__).parent


def measures_page() -> str:
    """Return the page of measures: one section a row, and the references."""
    parts = [
        "# Measures",
        f"The table has {len(MEASURES)} measures and {len(PREFERENCES)} preferences; `lexirecall measures NAME` prints "
        "the same facts. p_1 < … < p_m are the "
        "positions of the m relevant items of a request, n is the corpus size, k the length of the list or a cut-off, "
        "r the number of relevant items retrieved or a recall. This page is generated from the table.",
    ]
    for module in GROUPS:
        parts.append(f"## {module.TITLE}")
        if doc := module.__doc__:
            parts.append(doc.splitlines()[0])
        parts += map(_measure_section, module.ROWS)
    parts.append("## Preferences")
    parts.append("Between two rankings, positive where the first is preferred; [how to use them](preferences.md).")
    parts += map(_measure_section, PREFERENCES.values())
    parts.append("## References")
    parts += [f"- **{key}**: {text}" for key, text in sorted(REFERENCES.items())]
    return "\n\n".join(parts) + "\n"


def _measure_section(row: Row) -> str:
    at = {"cutoff": "a cut-off, `@k`", "recall": "a recall, `@r`", "": ""}[row.at]
    settings = [f"`{name}`" if p.default is None else f"`{name}={p.default!r}`" for name, p in row.parameters.items()]
    settings += [] if row.graded else ["`rel` (the level)"]
    facts = {
        "Formula": f"`{row.formula}`",
        "Better": "higher" if row.direction > 0 else "lower",
        "Over requests": row.total,
        "Takes": ", ".join([*settings, *([at + (" (required)" if row.needs_at else "")] if at else [])]),
        "Needs": ", ".join(row.needs),
        "Also read as": ", ".join(f"`{name}`" for name in dict.fromkeys((*filter(None, row.trec), *row.aliases))),
        "Reference": row.reference,
    }
    lines = [f"- {label}: {text}" for label, text in facts.items() if text]
    return "\n".join([f"### `{row.name}`", "", row.title[0].upper() + row.title[1:] + ".", "", *lines])


EVERY_COMMAND = """\
Results go to stdout or to the file of `-o`; notes, warnings and progress to stderr. The exit code is 0 if all went
well, 1 for bad data and 2 for bad usage, 130 if you interrupt. An error that nobody foresaw is 1 too, and a bug:
`LEXIRECALL_TRACEBACK=1` in the environment shows its traceback. `lexirecall evaluate` is `lexirecall eval`: every verb
of Python is a command of the same name.

A file is written whole or not at all. An output that is also an input, lies in a folder of input, or is another
output, is refused before anything is read, whatever it is called: by a relative path, through a link, as stdout.
Devices such as `/dev/null` may be written more than once.

In tsv and csv, text that a spreadsheet would run as a formula (an id that begins with `=`, `+`, `-`, `@`, a tab or a
carriage return, and goes on) has an apostrophe before it, and a note counts such cells. `--raw` writes them as they
are; numbers and the other formats never change. An apostrophe before such a text gets another one, so that taking one
away from every such cell gives the ids back."""


def command_line_page() -> str:
    """Return the page of the command line: what each command does, its examples and its options."""
    parts = ["# Command line", "What `--help` says of each command. This page is generated.", EVERY_COMMAND]
    for name in COMMANDS:
        command = _command(name)
        parts.append(f"## `lexirecall {name}`")
        text, _, examples = inspect.cleandoc(command.help or "").partition("\b\n")
        parts.append(text.strip())
        parts.append(f"```text\n{examples.rstrip()}\n```")
        parts.append("\n".join(map(_option_line, _options(command))))
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
        "An option has one meaning and one default, in Python and on the command line. Every verb that takes judgments "
        "and runs takes those of the first three tables (`lexirecall explain` has no `--providers`), `compare` and "
        "`report` those of the last too. The page [Conventions](conventions.md) says what follows from them. This page "
        "is generated.",
    ]
    written = {option.name: option for option in _options(_command("report"))}  # which takes them all
    for record in (Policies, *READING, Testing):
        parts.append(f"## {(record.__doc__ or '').partition('.')[0]}")
        lines = ["| keyword | command line | values | default | meaning |", "|---|---|---|---|---|"]
        lines += [_option_row(written[field.name], repr(field.default)) for field, _ in offered(record)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _option_row(option: click.Option, default: str) -> str:
    values = " or ".join(f"`{value}`" for each in _values(option) for value in each.split("|"))
    return f"| `{option.name}` | `{option.opts[0]}` | {values} | `{default}` | {option.help} |"


PAGES = {"measures.md": measures_page, "command-line.md": command_line_page, "options.md": options_page}


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
