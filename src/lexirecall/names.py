"""The names of measures: one grammar to read them, one canonical spelling to print them.

Belongs here: parsing, aliases and suggestions. Not here: the measures (lexirecall.measures). Imports errors and measures.

    name  =  NAME [ "(" setting "=" value { "," … } ")" ] [ "@" value ]

as in ir_measures: `nDCG@10`, `RBP(p=0.5)`, `AP(rel=2)@100`. Case does not matter. trec_eval's spellings (`map`,
`ndcg_cut_10`, `P.5,10`) and ranx's (`mrr`, `recall@100`, `rbp.95`, `precision-l2@5`) are read too.
`str(measure)` prints the canonical name, and reading that gives the same measure again.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from lexirecall.errors import UnknownMeasure, UsageError
from lexirecall.measures import MEASURES, Measure

_NAME = re.compile(r"(?P<name>[A-Za-z][\w-]*?)(?:-l(?P<level>\d+))?\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<at>[^@()]+))?")
_TREC_AT = re.compile(r"(?P<name>[A-Za-z]\w*?)[._](?P<at>\d[\d.]*(?:,\d[\d.]*)*)")
_RANX_RBP = re.compile(r"rbp\.(?P<digits>\d+)", re.IGNORECASE)


def parse_measure(name: str) -> Measure:
    """Read one measure name.

    >>> parse_measure("ndcg_cut_10"), parse_measure("rbp.95"), parse_measure("tse(e=dcg)")
    (nDCG@10, RBP(p=0.95), TSE(e='dcg'))
    >>> parse_measure("nDGC@10")
    Traceback (most recent call last):
    lexirecall.errors.UnknownMeasure: unknown measure 'nDGC@10': did you mean 'nDCG@10'?
    """
    measures = parse_measures([name])
    if len(measures) != 1:
        raise UsageError(f"{name!r} names {len(measures)} measures where one is asked for")
    return measures[0]


def parse_measures(names: Iterable[str | Measure]) -> list[Measure]:
    """Read many measure names, several in one string if blanks separate them; each measure comes out once.

    >>> parse_measures(["AP nDCG@10", "P.5,10", "map"])
    [AP, nDCG@10, P@5, P@10]
    >>> parse_measures(["AP", "tsee", "ndgc@5"])
    Traceback (most recent call last):
    lexirecall.errors.UnknownMeasure: 2 unknown measures
      'tsee': did you mean 'TSE'?
      'ndgc@5': did you mean 'nDCG@5'?
    """
    found: list[Measure] = []
    unknown: list[str] = []
    for name in names:
        if isinstance(name, Measure):
            found.append(name.require_settings())
            continue
        for word in _words(name):
            try:
                found += (measure.require_settings() for measure in _read(word))
            except _NotInTable as error:
                unknown.append(f"{word!r}: {error}")
    if len(unknown) == 1:
        raise UnknownMeasure(f"unknown measure {unknown[0]}")
    if unknown:
        raise UnknownMeasure(f"{len(unknown)} unknown measures", remedy="\n  ".join(unknown))
    return list(dict.fromkeys(found))


class _NotInTable(Exception):  # noqa: N818 - caught here, never seen outside
    pass


def _words(text: str) -> Iterator[str]:
    """Split at blanks that are not inside parentheses."""
    return (match.group() for match in re.finditer(r"(?:[^\s(]|\([^)]*\)?)+", text))


def _read(word: str) -> list[Measure]:
    if match := _RANX_RBP.fullmatch(word):
        return [MEASURES["RBP"](p=float(f"0.{match['digits']}"))]
    spellings = _spellings()
    if (match := _TREC_AT.fullmatch(word)) and (row := spellings.get(match["name"].lower())) and row.at:
        return [row @ _value(at) for at in match["at"].split(",")]
    if not (match := _NAME.fullmatch(word)):
        raise UsageError(f"cannot read the measure {word!r}", remedy="write it as NAME, NAME@10 or NAME(setting=value)@10")
    if (row := spellings.get(match["name"].lower())) is None:
        raise _NotInTable(_suggestion(match["name"], word))
    settings = dict(_settings(match["inside"] or "", word))
    if match["level"]:
        settings["rel"] = int(match["level"])
    measure = row(**settings)
    return [measure if match["at"] is None else measure @ _value(match["at"].strip())]


def _spellings() -> dict[str, Measure]:
    """Return every name that is understood, in lower case, with its measure."""
    spellings = {"ndcg_burges": MEASURES["nDCG"](dcg="exp-log2")}
    for row in MEASURES.values():
        for name in (*row.aliases, *filter(None, row.trec), row.name):
            spellings.setdefault(name.lower(), row)
    spellings.update({name.lower(): row for name, row in MEASURES.items()})
    return spellings


def _settings(inside: str, word: str) -> Iterator[tuple[str, Any]]:
    for part in filter(None, map(str.strip, inside.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"cannot read {part!r} in the measure {word!r}", remedy="settings are written as name=value")
        yield name.strip(), _value(value.strip())


def _value(text: str) -> Any:
    """Read a number, or a word with or without quotes."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip("'\"")


def _suggestion(name: str, word: str) -> str:
    spellings = _spellings()
    near = difflib.get_close_matches(name.lower(), spellings, n=1, cutoff=0.5)
    if not near:
        return f"choose from {', '.join(MEASURES)}"
    return f"did you mean {spellings[near[0]].name + word[len(name) :]!r}?"
