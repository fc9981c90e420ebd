"""What `--help` shows: options grouped by purpose, those that most people need first, and whole summaries.

Belongs here: the order and the headings of options. Not here: the options themselves (options, and the records).
"""

from collections.abc import Iterator
from typing import Any

import click

from lexirecall.aggregation import Aggregation, Resampling
from lexirecall.cli.completable import complete
from lexirecall.fields import names_of
from lexirecall.manifest import READING, Policies

_OUTPUT = ("per_query", "view", "sort", "digits", "form", "output", "also", "raw", "manifest", "title", "plots")
_ENGINE = ("engine", "engine_options", "master")
HELP_NAMES = ("-h", "--help")


class DocumentedCommand(click.Command):
    """A command that has a heading for each kind of option in its help, and completes their values."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        complete(self.params)

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return the same names in every context: click keeps the option that it made for the first."""
        ctx.help_option_names = [*HELP_NAMES]
        return super().get_help_option_names(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what to compute, how to test and print it, and last how files are read."""
        every = {str(param.name): param for param in self.params if isinstance(param, click.Option)}
        if (asking := self.get_help_option(ctx)) is not None:
            every["help"] = asking
        for heading, names in headings(list(every)):
            rows = [every[name].get_help_record(ctx) for name in names]
            with formatter.section(heading):
                formatter.write_dl([row for row in rows if row is not None])


class DocumentedGroup(click.Group):
    """A group of commands that shows their whole summaries."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with its summary."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, command.get_short_help_str(limit=1000)) for name, command in commands if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def headings(options: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Give the headings with the names of their options; a command that does not read runs has one heading.

    >>> [heading for heading, _ in headings(["measures", "form", "level"])]
    ['What to compute', 'Output', 'Reading rules']
    """
    rules = [name for name in names_of(Policies, *READING) if name not in _ENGINE]
    if not {*rules} & {*options}:
        yield "Options", options
        return
    kinds = {
        "Tests": _names_of_tests(options),
        "Numbers over queries": [*names_of(Aggregation), "interval"],
        "Resampling": list(names_of(Resampling)),
        "Output": list(_OUTPUT),
        "Reading rules": rules,
        "Large tables": list(_ENGINE),
        "Help": ["help"],
    }
    grouped = {name for names in kinds.values() for name in names}
    first = sorted((name for name in options if name not in grouped), key=lambda name: name != "measures")
    for heading, names in {"What to compute": first, **kinds}.items():
        if members := [name for name in names if name in options]:
            yield heading, members


def _names_of_tests(options: list[str]) -> list[str]:
    if "alpha" not in options:
        return []
    from lexirecall.verbs.testing import Testing  # not on top: most commands can do without the tests

    return ["baseline", *(name for name in names_of(Testing) if name not in names_of(Resampling))]
