"""Write the manual page, man/lexirecall.1, from the same commands as the page of the command line.

`python docs/manual.py` writes it, `--check` fails if it is not current. It is kept, because a wheel is built where the
commands cannot be imported.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from generate import EVERY_COMMAND, _values

from lexirecall.cli import COMMANDS, group
from lexirecall.cli.help import headings
from lexirecall.version import VERSION

PAGE = Path(__file__).parent.parent / "man" / "lexirecall.1"
SHARED = ("Reading rules", "Large tables")
"""The headings of options that nearly every command has; they are listed once."""


def page() -> str:
    """Return the manual page."""
    commands = {name: _command(name) for name in COMMANDS}
    lines = [
        '.\\" Written by docs/manual.py.',
        f'.TH LEXIRECALL 1 "" "lexirecall {VERSION}" "User Commands"',
        ".SH NAME",
        f"lexirecall \\- {_plain(_first(group)).lower().rstrip('.')}",
        ".SH SYNOPSIS",
        ".B lexirecall",
        ".I COMMAND",
        "[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]",
        ".SH DESCRIPTION",
        *_paragraphs(EVERY_COMMAND),
        ".SH COMMANDS",
        *(line for name, command in commands.items() for line in (".TP", f".B {name}", _roff(_first(command)))),
    ]
    for name, command in commands.items():
        lines += [*_section(name, command)]
    lines += [".SH SHARED OPTIONS", "Commands that read judgments and runs have these options too."]
    for heading in SHARED:
        lines += [f".SS {heading}", *_shared(heading, list(commands.values()))]
    lines += [*_end()]
    return "\n".join(lines) + "\n"


def _section(name: str, command: click.Command) -> Iterator[str]:
    """Give what one command does, its examples, and the options that are its own."""
    context = click.Context(command, info_name=name, parent=click.Context(group, info_name="lexirecall"))
    text, _, examples = inspect.cleandoc(command.help or "").partition("\b\n")
    yield from (f'.SH "LEXIRECALL {name.upper()}"', f"\\fB{_roff(context.command_path)}\\fR")
    yield _roff(" ".join(command.collect_usage_pieces(context)))
    yield from (".PP", *_paragraphs(text), ".PP", ".nf", *map(_roff, examples.rstrip().splitlines()), ".fi")
    for heading, options in _headed(command):
        if heading not in SHARED and heading != "Help":
            yield f'.SS "{heading}"'
            yield from (line for option in options for line in _option(option))


def _shared(heading: str, commands: list[click.Command]) -> Iterator[str]:
    """Give the options of a heading, each once."""
    found = {
        option.name: option for each in commands for at, options in _headed(each) if at == heading for option in options
    }
    yield from (line for option in found.values() for line in _option(option))


def _headed(command: click.Command) -> Iterator[tuple[str, list[click.Option]]]:
    options = {str(each.name): each for each in command.params if isinstance(each, click.Option) and not each.hidden}
    for heading, names in headings(list(options)):
        yield heading, [options[name] for name in names]


def _option(option: click.Option) -> Iterator[str]:
    values = "" if option.is_flag else f" \\fI{_roff('|'.join(_values(option)))}\\fR"
    default = f" [default: {option.default}]" if option.show_default and option.default is not None else ""
    yield from (".TP", f"\\fB{_roff(', '.join(option.opts))}\\fR{values}", _roff(f"{option.help}{default}"))


def _end() -> Iterator[str]:
    yield from (
        ".SH EXIT STATUS",
        "0 if all went well, 1 for bad data, 2 for bad usage, 3 for a gate that fails, 130 if interrupted.",
    )
    yield ".SH ENVIRONMENT"
    for name, meaning in {
        "LEXIRECALL_READER": "native or python: which of the two readers reads text. Both give the same positions.",
        "LEXIRECALL_TRACEBACK": "1 shows the traceback of an unexpected error.",
    }.items():
        yield from (".TP", f".B {name}", _roff(meaning))


def _first(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "").partition("\n\n")[0]


def _command(name: str) -> click.Command:
    command = group.get_command(click.Context(group), name)
    if command is None:
        raise SystemExit(f"no command {name}")
    return command


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        yield from ([".PP"] if number else [])
        yield _roff(paragraph)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _roff(text: str) -> str:
    """Return text of Markdown as roff, each line safe from being a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    bold = re.sub(r"``?([^`]+)``?", r"\\fB\1\\fR", escaped)
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in bold.splitlines())


def main() -> None:
    """Write the page, or check it."""
    text = page()
    is_current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
    if "--check" in sys.argv[1:] and not is_current:
        sys.exit("man/lexirecall.1 is not current; run python docs/manual.py")
    if not is_current:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
