"""`lexirecall completion`: what the Tab key needs to complete commands, options, measures and files."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from lexirecall.cli.help import DocumentedCommand
from lexirecall.errors import LexirecallError, UsageError

_VARIABLE = "_LEXIRECALL_COMPLETE"
"""The environment variable by which a shell asks; a script that was not written here does not name it."""


class Shell(NamedTuple):
    """Where a shell looks for completions, and what else it needs."""

    path: Callable[[], Path]
    needs: str


def _base(variable: str, otherwise: str) -> Path:
    folder = os.environ.get(variable, "")
    return Path(folder) if folder else Path.home() / otherwise


def _of_bash() -> Path:
    user_folder = os.environ.get("BASH_COMPLETION_USER_DIR", "")
    folder = Path(user_folder) if user_folder else _base("XDG_DATA_HOME", ".local/share") / "bash-completion"
    return folder / "completions" / "lexirecall"


SHELLS = {
    "bash": Shell(
        _of_bash,
        "it works in new shells, if the package bash-completion is installed; otherwise add to ~/.bashrc:\n"
        "  source {path}",
    ),
    "zsh": Shell(
        lambda: _base("XDG_DATA_HOME", ".local/share") / "zsh" / "site-functions" / "_lexirecall",
        "it works in new shells, if ~/.zshrc has these lines:\n"
        "  fpath+=({folder})\n  autoload -Uz compinit && compinit",
    ),
    "fish": Shell(
        lambda: _base("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "lexirecall.fish",
        "it works in new shells",
    ),
}


@click.command("completion", cls=DocumentedCommand)
@click.argument("shell", type=click.Choice(tuple(SHELLS)), required=False, metavar=f"[{'|'.join(SHELLS)}]")
@click.option("--install", is_flag=True, help="Write the script to where the shell looks for it.")
def command(shell: str | None, install: bool) -> None:
    """Complete commands, options, measures and files with the Tab key, in bash, zsh or fish.

    Without SHELL, it is the one that you use, by the environment variable SHELL. Without --install, the script is
    printed.

    \b
    Examples:
      lexirecall completion --install
      lexirecall completion fish > ~/.config/fish/completions/lexirecall.fish
    """
    from lexirecall.output import write

    name = shell or _own_shell()
    if not install:
        write(_script(name), None)
        return
    path = SHELLS[name].path()
    _install(path, _script(name))
    needs = SHELLS[name].needs.format(path=path, folder=path.parent)
    click.echo(f"completion for {name} is in {path}\n{needs}")


def _own_shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        problem = f"your shell is {name}" if name else "the environment variable SHELL does not say which shell you use"
        raise UsageError(f"{problem}; there is completion for {', '.join(SHELLS)}", remedy="name one of them")
    return name


def _script(shell: str) -> str:
    """Return the script, as click writes it, with one mistake less."""
    from click.shell_completion import get_completion_class

    from lexirecall.cli import group

    completing: Any = get_completion_class(shell)
    completion = completing(group, {}, "lexirecall", _VARIABLE)
    template = str(completion.source_template)
    # zsh loads a file only once, but calls what is in it again and again
    script = template.replace("$zsh_eval_context[-1] == loadautofunc", "$funcstack[1] == _lexirecall")
    return str(script % completion.source_vars()).strip() + "\n"


def _install(path: Path, script: str) -> None:
    """Write the script, unless somebody else's file is there."""
    from lexirecall.output import write_files

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        known = path.read_text(encoding="utf-8", errors="replace") if path.exists() else _VARIABLE
    except OSError as error:
        raise LexirecallError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    if _VARIABLE not in known:
        raise LexirecallError(
            f"{path}: already exists, and was not written by lexirecall", remedy="move it away, or leave out --install"
        )
    write_files({path: script.encode()})
