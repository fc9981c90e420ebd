"""What a shell offers after Tab: files, measures, and the words that an option takes.

Belongs here: what completes the values that are text; click completes commands, options and choices. Not here: the
scripts of the shells (completion).
"""

import re
from collections.abc import Iterable, Iterator

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

_OF_FILES = re.compile(r"FILE|DIR|QRELS|RUN|STAGE|NEW|FUSED")
_OF_FOLDERS = re.compile(r"DIR")
_OF_MEASURES = re.compile(r"MEASURE|PREFERENCE")
_WORD = re.compile(r"[a-z]+:?")
_ENDS = re.compile(r"(.*[,=])?(.*)", re.DOTALL)


class CompletableText(StringParamType):
    """Text, and what may be meant by the beginning of it."""

    def __init__(self, metavar: str) -> None:
        self.metavar = metavar

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        """Return what a shell offers."""
        if _OF_MEASURES.search(self.metavar):
            return [CompletionItem(word) for word in measures_like(incomplete, _words(self.metavar))]
        if _OF_FILES.search(self.metavar):
            return [CompletionItem(incomplete, type="dir" if _OF_FOLDERS.search(self.metavar) else "file")]
        return [CompletionItem(word) for word in _words(self.metavar) if word.startswith(incomplete)]


def complete(params: Iterable[click.Parameter]) -> None:
    """Let the parameters that are text say what they offer."""
    for param in params:
        if param.type is click.STRING and param.metavar:
            param.type = CompletableText(param.metavar)


def measures_like(incomplete: str, others: Iterable[str] = ()) -> Iterator[str]:
    """Give the measures and preferences whose names begin so, in any case; of a list, the last one is completed.

    >>> list(measures_like("lexip")), list(measures_like("AP,tse"))
    (['LexiPrecision'], ['AP,TSE'])
    """
    from lexirecall.names import rows

    match = _ENDS.fullmatch(incomplete)
    before, begun = (match[1] or "", match[2]) if match else ("", incomplete)
    for name in (*rows(), *others):
        if name.lower().startswith(begun.lower()):
            yield before + name


def _words(metavar: str) -> list[str]:
    """Return the alternatives of a metavar that are to be typed as they stand."""
    return [match[0] for word in metavar.split("|") if (match := _WORD.match(word))] if "|" in metavar else []
