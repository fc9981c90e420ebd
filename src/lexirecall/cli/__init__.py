"""The command line: one module for each command, a thin shell on one verb.

Belongs here: the group of commands, and what happens to errors. Results go to stdout, notes and progress to stderr.
The exit code is 0 if all went well, 1 for bad data, 2 for bad usage and 3 for a gate that fails. An unforeseen error is
1 too: there is no result, and a different command line would not help.
"""

import contextlib
import gc
import os
import signal
import sys
import threading
from importlib import import_module
from typing import NoReturn

import click

from lexirecall.cli.help import HELP_NAMES, DocumentedGroup
from lexirecall.errors import LexirecallError, nearest
from lexirecall.output import guard_terminals
from lexirecall.text import visible

TRACEBACK = "LEXIRECALL_TRACEBACK"
"""The environment variable that asks for the traceback of an unforeseen error."""
_LONGEST = 500  # characters of such an error that a message repeats
_BETWEEN_COLLECTIONS = 100_000  # new objects, after which the collector looks for cycles
COMMANDS = {
    "certify": "certify",
    "compare": "compare",
    "completion": "completion",
    "demo": "demo",
    "eval": "evaluate",
    "explain": "explain",
    "gate": "gate",
    "funnel": "funnel",
    "fuse": "fuse",
    "measures": "measures",
    "paper": "paper",
    "project": "project",
    "rank": "rank",
    "report": "report",
    "study": "study",
    "trec_eval": "trec_eval",
    "unjudged": "unjudged",
}
"""The module of each command. A command can also be called by the name of its module, if the two differ."""


class _Commands(DocumentedGroup):
    """Imports a command only when it is called: no command pays for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the one that may be meant."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            near = nearest(name, [*COMMANDS, *COMMANDS.values()])
            if near is not None:
                ctx.fail(f"No such command {name!r}. Did you mean {near!r}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = COMMANDS.get(cmd_name, cmd_name)
        if module not in COMMANDS.values():
            return None
        command = import_module(f"lexirecall.cli.{module}").command
        return command if isinstance(command, click.Command) else None


def _version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from lexirecall.reader import reader_in_use
        from lexirecall.version import VERSION

        python, numpy = ".".join(map(str, sys.version_info[:3])), version("numpy")
        click.echo(f"lexirecall {VERSION} (reader: {reader_in_use()}; Python {python}, numpy {numpy})")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": [*HELP_NAMES]})
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
    """Run as a program: as `main`, but end silently if the reader of the output leaves, as `head` does."""
    # numpy's linear algebra would start threads that cost more than they gain: no command needs much of it
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    threading.excepthook = _report_thread
    # Imports make many objects and no garbage: to look through them all the while costs a small command its time
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    main()


def main() -> None:
    """Run the command line; errors become a message and an exit code, never a traceback."""
    _open_streams()
    try:
        code = group.main(prog_name="lexirecall", standalone_mode=False)
        sys.stdout.flush()
    except LexirecallError as error:
        _leave(str(error), error.exit_code)
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        _leave("", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _leave("interrupted", 130)
    except BrokenPipeError:  # where there is no SIGPIPE; the code is the one that a shell reports for it
        _leave("", 141)
    except SystemExit:
        raise
    except BaseException as error:  # a panic of polars is not an Exception
        _leave(_unforeseen(error), 1)
    _leave("", code if isinstance(code, int) else 0)


def _open_streams() -> None:
    """Open the streams that the caller has closed: the next file would get their numbers, and output would go into it.

    Writing to stdout then fails with a message; what goes to stderr is lost.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            flags = os.O_WRONLY if name == "stderr" else os.O_RDONLY
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))
    guard_terminals()


def _leave(message: str, code: int) -> NoReturn:
    """Print the message, if there is one, and exit; do not write again to a stream that failed."""
    if message:
        _say(message)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # the interpreter would try again on exit, and complain
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)


def _say(message: str) -> None:
    with contextlib.suppress(OSError):  # then nobody listens
        click.echo("\n".join(map(visible, message.split("\n"))), err=True)


def _unforeseen(error: BaseException) -> str:
    """Return a message about a failure that should not happen, or the whole traceback if it is asked for."""
    if os.environ.get(TRACEBACK):
        import traceback  # not on top: most commands end well

        return "".join(traceback.format_exception(error)).rstrip()
    if isinstance(error, OSError) and error.filename is None:  # files have names, so this is a stream
        from lexirecall.output import stdout_problem

        return str(stdout_problem(error))
    command = next((f" {word}" for word in sys.argv[1:] if word in {*COMMANDS, *COMMANDS.values()}), "")
    if isinstance(error, MemoryError):
        remedy = "give fewer runs or measures, or evaluate tables with --engine duckdb"
        return f"lexirecall{command}: not enough memory\n  {remedy}"
    reason = str(error).strip().split("\n", 1)[0][:_LONGEST]
    what = type(error).__name__ + (f": {reason}" if reason else "")
    return f"lexirecall{command}: {what}\n  this is a bug in lexirecall; {TRACEBACK}=1 lexirecall ... shows where"


def _report_thread(failed: threading.ExceptHookArgs) -> None:
    """Report a failure in a thread that nobody waits for in the same way as a failure of the command itself."""
    if failed.exc_value is not None:
        _say(_unforeseen(failed.exc_value))
