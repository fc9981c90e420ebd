"""Formulas in the plain notation of the table of measures, as LaTeX.

Belongs here: the notation, and its translation. Not here: the formulas (lexirecall.measures), which are written once,
as the command line prints them, and what becomes of LaTeX (mathml.py).

A formula such as `1 if p_m <= k, else 0` is part mathematics, part words. As much as can be read as one expression is
typeset, and then the next; words between them stay words, so that lines wrap. A slash between blanks divides all of
the product before it, `r m / (k + m)`; a slash without them divides what touches it, `sum_i i/p_i`.
"""

import re
from collections.abc import Iterator
from typing import Any

TOKEN = re.compile(
    r"(?P<code>@\w+%?|\w+=(?:'[^']*'|\{[^}]*\}|True\b|False\b|[a-z]\b(?!\())|'[^']*')|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<name>[A-Za-z]-th\b|[A-Za-z]+(?:_[a-z]{2,}\w*)?\d*(?![A-Za-z]))"
    r"|(?P<loose> / )|(?P<sign><=|>=|!=|#\{|[^\s\w]|_)"
)
GREEK = ("alpha", "beta", "epsilon")
NAMED = ("SetP", "SetR", "RE")
"""Measures that are part of the formulas of others."""
FUNCTIONS = {"min": r"\min", "max": r"\max", "log2": r"\log_2", "sum": r"\sum", "prod": r"\prod"}
OPERATORS = ("mean", "sign", "round", "int")
AROUND = {"ceil": (r"\lceil ", r" \rceil"), "floor": (r"\lfloor ", r" \rfloor")}
RELATIONS = {"=": "=", "<": "<", ">": ">", "<=": r"\le", ">=": r"\ge", "!=": r"\ne", ":": ":"}
SUMS = {"+": "+", "-": "-", "·": r"\cdot"}
WORDS = ("a",)
"""Letters that are words."""


def parts(formula: str) -> Iterator[tuple[str, str]]:
    r"""Give the parts of a formula, one after another: `math` in LaTeX, `code`, and `text`.

    >>> list(parts("1 if p_m <= k"))
    [('math', '1'), ('text', ' if '), ('math', 'p_{m} \\le k')]
    >>> list(parts("(1/m) sum_i i/p_i; e='dcg'"))
    [('math', '\\frac{1}{m} \\sum_{i} \\frac{i}{p_{i}}'), ('text', '; '), ('code', "e='dcg'")]
    """
    reader = _Reader(formula)
    end, text = 0, ""
    while reader.at < len(reader.tokens):
        match = reader.tokens[reader.at]
        text += formula[end : match.start()]
        found = reader.relation() if match.lastgroup != "code" else None
        if found is None and match.lastgroup != "code":
            text += match[0]
            reader.at += 1
        else:
            yield from [("text", text)] if text else []
            text = ""
            yield ("code", match[0]) if found is None else ("math", found)
            reader.at += found is None
        end = reader.tokens[reader.at - 1].end()
    yield from [("text", text)] if text else []


class _Reader:
    """Reads expressions, and stops before what is none; a method that finds nothing returns None, and stays."""

    def __init__(self, formula: str) -> None:
        self.tokens = [*TOKEN.finditer(formula)]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def is_joined(self) -> bool:
        """Whether nothing is between the next token and the one before it."""
        return 0 < self.at < len(self.tokens) and self.tokens[self.at].start() == self.tokens[self.at - 1].end()

    def take(self, *signs: str) -> bool:
        if self.peek() in signs:
            self.at += 1
            return True
        return False

    def relation(self) -> str | None:
        """Read `a <= b`, or what may be a side of it."""
        if self.take("~"):
            return self._after(r"\propto ", self.relation())
        return self._chain(self.sum, RELATIONS)

    def sum(self) -> str | None:
        if self.peek() == "-":
            self.at += 1
            return self._after("-", self._chain(self.quotient, SUMS))
        return self._chain(self.quotient, SUMS)

    def quotient(self) -> str | None:
        found = self.product()
        while found is not None and self.peek() == " / ":
            start = self.at
            self.at += 1
            under = self.product()
            if under is None:
                self.at = start
                break
            found = _fraction(found, under)
        return found

    def product(self) -> str | None:
        factors = []
        while (factor := self.ratio()) is not None:
            factors.append(factor)
        return " ".join(factors) if factors else None

    def ratio(self) -> str | None:
        found = self.power()
        if found is not None and self.peek() == "/" and self.is_joined():
            start = self.at
            self.at += 1
            if (under := self.power()) is None:
                self.at = start
            else:
                return _fraction(found, under)
        return found

    def power(self) -> str | None:
        found = self.atom()
        if found is not None and self.is_joined() and self.take("^"):
            found = f"{found}^{{{_bare(self.atom(words=True) or '')}}}"
        return found

    def atom(self, *, words: bool = False) -> str | None:
        start, kind = self.at, self.tokens[self.at].lastgroup if self.at < len(self.tokens) else None
        if self.take("(", "#{"):
            opening = self.tokens[start][0]
            inner = self.relation()
            if inner is not None and self.take("}" if opening == "#{" else ")"):
                return f"\\#\\{{{inner}\\}}" if opening == "#{" else _grouped(inner)
        elif kind == "number":
            self.at += 1
            return self.tokens[start][0]
        elif kind == "name" and (found := self.name(words=words)) is not None:
            return found
        self.at = start
        return None

    def name(self, *, words: bool) -> str | None:
        name = self.peek()
        self.at += 1
        if name in ("sum", "prod"):
            return f"{FUNCTIONS[name]}_{{{self.index()}}}" if self.peek() == "_" else None
        if self.is_joined() and self.peek() in ("(", "{"):
            return self.call(name)
        if len(name) == 1 and name not in WORDS:
            return f"{name}_{{{self.index()}}}" if self.peek() == "_" and self.is_joined() else name
        if name in GREEK:
            return f"\\{name}"
        if name in NAMED or "_" in name or words:
            shown = name.replace("_", r"\_")
            index = f"_{{{self.index()}}}" if self.peek() == "_" and self.is_joined() else ""
            return f"\\mathrm{{{shown}}}{index}"
        return None

    def index(self) -> str:
        """Read what is below a letter: `_i`, `_(j<i)`."""
        self.at += 1
        return _bare(self.atom() or "")

    def call(self, name: str) -> str | None:
        closing = ")" if self.peek() == "(" else "}"
        self.at += 1
        arguments = [self.argument()]
        while self.take(","):
            arguments.append(self.argument())
        if None in arguments or not self.take(closing):
            return None
        return _called(name, [str(each) for each in arguments], closing)

    def argument(self) -> str | None:
        found = self.relation()
        if found is None and self.at < len(self.tokens) and self.tokens[self.at].lastgroup == "name":
            found = f"\\text{{{self.peek()}}}"
            self.at += 1
        return found

    def _chain(self, read: Any, signs: dict[str, str]) -> str | None:
        found: str | None = read()
        while found is not None and self.peek() in signs:
            start, sign = self.at, signs[self.peek()]
            self.at += 1
            if (following := read()) is None:
                self.at = start
                break
            found = f"{found} {sign} {following}"
        return found

    def _after(self, latex: str, found: str | None) -> str | None:
        if found is None:
            self.at -= 1
        return None if found is None else latex + found


def _called(name: str, arguments: list[str], closing: str) -> str:
    inside = ", ".join(arguments)
    if name == "C":
        return f"\\binom{{{arguments[0]}}}{{{arguments[1]}}}"
    if name in AROUND:
        return inside.join(AROUND[name])
    shown = FUNCTIONS.get(name) or (f"\\operatorname{{{name}}}" if name in OPERATORS or len(name) > 1 else name)
    return f"{shown}\\{{{inside}\\}}" if closing == "}" else f"{shown}{_group(inside)}"


def _fraction(over: str, under: str) -> str:
    return f"\\frac{{{_bare(over)}}}{{{_bare(under)}}}"


def _grouped(inner: str) -> str:
    """Return what is between parentheses; a fraction alone needs none."""
    return inner if re.fullmatch(r"\\frac\{[^{}]*\}\{[^{}]*\}", inner) else _group(inner)


def _group(inner: str) -> str:
    """Return a group, whose parentheses are as high as what they hold."""
    is_high = any(name in inner for name in (r"\frac", r"\binom"))
    return f"\\left({inner}\\right)" if is_high else f"({inner})"


def _bare(latex: str) -> str:
    """Return a group without its parentheses, if they hold all of it."""
    depth, inner = 0, latex.removeprefix(r"\left").removesuffix(r"\right)").removesuffix(")")
    for character in inner:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return latex
    return inner[1:]
