"""Markdown as GitHub and GitLab show it, read back: what is text, what is code, and what became something else."""

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

# What GitHub and GitLab look for in text after Markdown is read, so that no escape helps.
FOUND_LATER = {
    "mention": r"(?:^|[^\w`])@[a-z0-9][a-z0-9_/-]*",
    "issue": r"#\d+|\bgh-\d+",
    "merge request, epic, milestone": r"(?:^|\W)[!&%]\d+",
    "snippet or formula": r"\$\S",
    "label": r"~\d+|~[a-z]",
    "commit": r"\b(?=\w*\d)[0-9a-f]{7,40}\b",
    "address": r"[a-z][a-z0-9+.-]*://|\bwww\.|\w@[\w-]+\.\w",
    "emoji": r":[a-z0-9_+-]+:",
    "insertion": r"\{\+.*\+\}|\[-.*-\]",
    "reference in brackets": r"\[(?:issue|epic|vulnerability|contact|work_item):",
}


class Shown(NamedTuple):
    """What a reader sees."""

    kinds: frozenset[str]
    """The kinds of tokens, such as `link_open`."""
    code: tuple[str, ...]
    runs: tuple[str, ...]
    """Text outside code, one for each stretch that nothing interrupts."""
    cells: tuple[str, ...]
    """The text of each cell of a table, with its code."""
    html: tuple[str, ...]
    sequence: tuple[str, ...]
    """The kinds of all tokens, in their order."""

    @property
    def linked_later(self) -> dict[str, str]:
        """What a forge would still find in the text."""
        return {
            name: match[0]
            for name, pattern in FOUND_LATER.items()
            for run in self.runs
            if (match := re.search(pattern, run, re.IGNORECASE))
        }


def rendered(source: str) -> Shown:
    """Read Markdown as GitHub does, with tables, addresses that become links, and HTML."""
    markdown = MarkdownIt("gfm-like")
    tokens = markdown.parse(source)
    leaves = list(_leaves(tokens))
    runs = "".join("\0" if leaf.type != "text" else leaf.content for leaf in leaves).split("\0")
    kinds = frozenset(token.type for token in [*tokens, *leaves])
    code = tuple(leaf.content for leaf in leaves if leaf.type == "code_inline")
    html = tuple(leaf.content.strip() for leaf in leaves if leaf.type.startswith("html_"))
    sequence = tuple(leaf.type for leaf in leaves)
    return Shown(kinds, code, tuple(run for run in runs if run), tuple(_cells(tokens)), html, sequence)


def _leaves(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.type == "inline":
            yield from _joined(token.children or [])
        yield token


def _joined(children: list[Token]) -> Iterator[Token]:
    """Give the parts of a line; a character that was escaped is text like that around it."""
    for child in children:
        if child.type == "text_special":
            child.type = "text"
        yield child


def _cells(tokens: list[Token]) -> Iterator[str]:
    for before, token in itertools.pairwise(tokens):
        if before.type in ("th_open", "td_open"):
            yield "".join(child.content for child in token.children or [])
