"""Results of gates to print: hostile ids and texts, in every place that an id can have."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from lexirecall.gates.gate import gate
from lexirecall.gates.labels import Label
from lexirecall.gates.result import GateResult
from lexirecall.manifest import Note
from lexirecall.texts import load_texts

HOSTILE = (
    "@name", "see #12", "org/repo#12", "!12", "~bug", "$x$", ":tada:", "0123456789abcdef", "a@b.example",
    "https://a.example/?q=1", "www.a.example", "[a](https://a.example)", "![a](b.png)", "<b>",
    "<script>alert(1)</script>", "</details>", "<!--", "-->", "&lt;", "&#60;",
    "]]>", "<![CDATA[", "<?xml?>", "```", "``", "`", "a`b", "`` `", "# a",
    "## a", "---", "===", "- a", "1. a", "> a", "    a", "a|b", "a\\|b", "|", "\\", "*a*", "_a_", "~~a~~", "[x]", "[ ]",
    "a\nb", "\n# a", "\r\n\r\n```\r\n", "\x00", "\x1b[31m", "a\u202eb", "\u2028", "\u2029", "\ufffe", "\uffff",
    "\ufeff", "\x85", "\x0b", "مرحبا", "日本", "😀", " a ", "  ", "\t", "'\"", "{{a}}", "${a}", "$(a)", "::warning::a",
    "caf\udce9", "x" * 5000,
)  # fmt: skip
"""Ids that try to be something else in Markdown, XML or a terminal."""
REQUIRED = ("no query loses a relevant document", "every relevant document is found within the first 1", "All@9 >= 0.5")

ids = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    st.text("@#!&%~$:/.|\\`*_<>[](){}+-^= \t\n\u202ea7é", min_size=1, max_size=12),
)
"""Any text, and text that Markdown and XML make much of."""


def lossy(names: tuple[str, str, str], text: str, **options: Any) -> GateResult:
    """Return a gate that fails: a query loses a document, one gains one, one finds the same later.

    The names are those of queries, documents, and of runs and groups.
    """
    query, document, other = names
    queries = [f"{query}{number}" for number in range(4)]
    qrels = {each: {f"{document}1": 1, f"{document}2": 1, f"{document}3": 1} for each in queries}
    full = [f"{document}1", f"{document}2"]
    old = dict.fromkeys(queries, full) | {queries[2]: full[:1]}
    new = {queries[0]: full[:1], queries[1]: [f"no {document}", *full], queries[2]: full, queries[3]: full}
    texts = load_texts({"queries": dict.fromkeys(queries, text), "documents": dict.fromkeys(full, text)})
    groups = {each: f"{other}{number % 2}" for number, each in enumerate(queries)}
    settings: dict[str, Any] = {"require": REQUIRED, "by": groups, "min_queries": 1, "texts": texts}
    made = gate(qrels, new, old, ["LexiRecall", "AP"], **settings | options)
    labels = tuple(Label(each, f"{document}3") for each in queries)
    return replace(made, new=other, baseline=f"old {other}", unknown=labels, notes=(*made.notes, Note("odd", other)))


def tiny(num_queries: int, num_lost: int, **options: Any) -> GateResult:
    """Return a gate on queries of which the last ones lose one document of two."""
    qrels = {f"q{number}": {f"d{number}a": 1, f"d{number}b": 1} for number in range(num_queries)}
    old = {query: list(documents) for query, documents in qrels.items()}
    new = {q: docs[: 1 if number >= num_queries - num_lost else 2] for number, (q, docs) in enumerate(old.items())}
    return gate(qrels, new, old, **options)
