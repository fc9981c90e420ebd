"""The command line: one module for each command, a thin shell on one verb.

Belongs here: the group of commands, and what happens to errors. Results go to stdout, notes and progress to stderr;
the exit code is 0 if all went well, 1 for bad data and 2 for bad usage.
"""

import os
import signal
import sys
from importlib import import_module

import click

from lexirecall.errors import LexirecallError
from lexirecall.text import visible

COMMANDS = {
    "compare": "compare",
    "demo": "demo",
    "eval": "evaluate",
    "explain": "explain",
    "measures": "measures",
    "paper": "paper",
    "rank": "rank",
    "report": "report",
    "study": "study",
    "trec_eval": "trec_eval",
}


class _Commands(click.Group):
    """Imports a command when it is called, so that no command pays for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"lexirecall.cli.{COMMANDS[cmd_name]}").command
        return command if isinstance(command, click.Command) else None


def _version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from lexirecall.reader import reader_in_use
        from lexirecall.version import VERSION

        python, numpy = ".".join(map(str, sys.version_info[:3])), version("numpy")
        click.echo(f"lexirecall {VERSION} (reader: {reader_in_use()}; Python {python}, numpy {numpy})")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show versions and exit."
)
def group() -> None:
    """Evaluate rankings by whether everything relevant is found.

    \b
    Start with:  lexirecall demo
    Your data:   lexirecall eval QRELS RUN...
    """


def run() -> None:
    """Be a program: as `main`, and if the reader of our output leaves, as `head` does, go too, without a word."""
    # numpy's linear algebra, which no command needs much of, would start threads that cost more than they give
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()


def main() -> None:
    """Run the command line; errors become a message and an exit code, never a traceback."""
    try:
        code = group.main(prog_name="lexirecall", standalone_mode=False)
    except LexirecallError as error:
        click.echo("\n".join(map(visible, str(error).split("\n"))), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)
