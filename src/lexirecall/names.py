"""The names of measures and preferences: one grammar to read them, one canonical spelling to print them.

Belongs here: parsing, aliases and suggestions. Not here: the rows.

    name   =  NAME [ "(" setting "=" value { "," … } ")" ] [ "@" value ]
    value  =  number | number "%" | word | "{" number ":" number { "," … } "}"

as in ir_measures: `nDCG@10`, `RBP(p=0.5)`, `AP(rel=2)@100`, `nDCG(gains={1:0,2:3})`. `R@10%` cuts at a tenth of the
corpus. Case does not matter. The
spellings of trec_eval (`map`, `ndcg_cut_10`, `P.5,10`), ranx (`mrr`, `recall@100`, `rbp.95`, `precision-l2@5`) and
pref_eval (`dcgrpp`) are read too. `str(measure)` prints the canonical name, and reading that gives the same measure.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any, TypeVar

from lexirecall.errors import UnknownMeasure, UsageError, is_several
from lexirecall.measures import MEASURES, Measure
from lexirecall.measures.parameter import Share
from lexirecall.preferences import PREFERENCES, Preference, preference_of
from lexirecall.text import number_of, whole_number_of

__all__ = ["parse_measure", "parse_measures", "parse_preference", "register"]

Evaluable = Measure | Preference
"""What a name in `eval` may stand for: a measure gives each ranking a value, a preference a win rate."""
Registered = TypeVar("Registered", Measure, Preference)
Names = str | Evaluable | Iterable[str | Evaluable]

_NAME = re.compile(
    r"(?P<name>[A-Za-z][\w-]*?)(?:-l(?P<level>\d+))?\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<at>[^@()]+))?"
)
_TREC_AT = re.compile(r"(?P<name>[A-Za-z]\w*?)[._](?P<at>\d[\d.]*(?:,\d[\d.]*)*)")
_COMMA = re.compile(r",(?![^{]*\})")  # that is not inside braces
_RECALL = r"r[a-qs-z]{0,2}c*a?l+"  # also with a letter wrong, missing or doubled
_MEANT = {"All": r"all|(?<![a-z])al(?![a-z])|full|perf|complete|every|total", "Success": "any"}
"""What a name says beside `recall`, and the measure that means it."""
_RANX_RBP = re.compile(r"rbp\.(?P<digits>\d+)", re.IGNORECASE)


def parse_measure(name: str | Measure) -> Measure:
    """Read one measure name; a measure is returned as it is.

    >>> parse_measure("ndcg_cut_10"), parse_measure("rbp.95"), parse_measure("tse(e=dcg)")
    (nDCG@10, RBP(p=0.95), TSE(e='dcg'))
    >>> parse_measure("nDGC@10")
    Traceback (most recent call last):
    lexirecall.errors.UnknownMeasure: unknown measure 'nDGC@10': did you mean 'nDCG@10'?
    """
    measures = parse_measures([name])
    if len(measures) != 1:
        raise UsageError(f"{name!r} names {len(measures)} measures, but must name one")
    return measures[0]


def parse_measures(names: Names) -> list[Measure]:
    """Read many measure names, several in one string if blanks or commas separate them; each measure comes out once.

    >>> parse_measures(["AP nDCG@10", "P.5,10", "map"])
    [AP, nDCG@10, P@5, P@10]
    >>> parse_measures("AP tsee R")
    Traceback (most recent call last):
    lexirecall.errors.UnknownMeasure: 2 measures cannot be read
      unknown measure 'tsee': did you mean 'TSE'?
      R needs a cutoff: write it as R@10
    """
    rows = parse_names(names)
    if preferences := [str(row) for row in rows if isinstance(row, Preference)]:
        raise UsageError(f"{', '.join(preferences)}: a preference compares two rankings, and cannot score a single one")
    return [row for row in rows if isinstance(row, Measure)]


def parse_preference(name: str | Evaluable) -> Preference:
    """Read one name as a preference; any measure is one, by its values.

    >>> parse_preference("LexiRecall").of([3, 9], [1, 10]), parse_preference("AP").of([3, 9], [1, 10]) > 0
    (1.0, False)
    """
    rows = parse_names(name)
    if len(rows) != 1:
        raise UsageError(f"{name!r} names {len(rows)} preferences, but must name one")
    row = rows[0]
    return preference_of(row) if isinstance(row, Measure) else row


def parse_names(names: Names) -> list[Evaluable]:
    """Read many names of measures and preferences; each comes out once, and one error lists all that cannot be read.

    >>> parse_names("AP lexirecall dcgrpp")
    [AP, LexiRecall, RPP(weight='dcg')]
    """
    found: list[Evaluable] = []
    errors: list[UsageError] = []
    for word in _words(names):
        try:
            found += (measure.require_settings() for measure in _read_once(word))
        except UsageError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise UnknownMeasure(f"{len(errors)} measures cannot be read", remedy="\n  ".join(map(str, errors)))
    return list(dict.fromkeys(found))


def register(row: Registered) -> Registered:
    """Add a measure or preference to its table, so that its name is understood wherever measures are named.

    >>> half = register(Measure("Half", "halves every ten", lambda p: 0.5 ** (p / 10), lambda i, m: 1 / m))
    >>> parse_measure("half(rel=2)")
    Half(rel=2)
    >>> _ = MEASURES.pop("Half")
    """
    for name in (row.name, *row.trec, *row.aliases):
        if not re.fullmatch(r"[A-Za-z]\w*", name):
            raise UsageError(
                f"{name!r} is not a valid name for a measure", remedy="use a letter, then letters, digits and _"
            )
        if rows().get(name) != row and _is_understood(name):
            raise UsageError(f"a measure called {name!r} already exists")
    if isinstance(row, Preference):
        PREFERENCES[row.name] = row
    else:
        MEASURES[row.name] = row
    return row


def rows() -> dict[str, Evaluable]:
    """Return both tables, by name.

    >>> "AP" in rows(), "LexiRecall" in rows()
    (True, True)
    """
    return {**MEASURES, **PREFERENCES}


def _is_understood(name: str) -> bool:
    try:
        return bool(_read(name))
    except UnknownMeasure:
        return False
    except UsageError:
        return True


def find_row(name: str) -> Evaluable:
    """Return the row of the table that a spelling belongs to, whatever its settings.

    >>> find_row("ndcg_cut_10"), find_row("recall")
    (nDCG, R)
    """
    for pattern in (_TREC_AT, _NAME):
        if (match := pattern.fullmatch(name)) and (row := _spellings().get(match["name"].lower())):
            return rows()[row.name]
    raise UnknownMeasure(f"unknown measure {name!r}: {_suggestion(re.split('[@(]', name)[0], name)}")


def _words(names: Names) -> Iterator[str | Evaluable]:
    """Give measures as they are, and split text at blanks and commas that are not inside parentheses.

    A comma before a digit is trec_eval's, as in `P.5,10`.

    >>> list(_words("AP,nDCG@10, P.5,10 RBP(p=0.5,rel=2)"))
    ['AP', 'nDCG@10', 'P.5,10', 'RBP(p=0.5,rel=2)']
    """
    if isinstance(names, Evaluable):
        yield names
    elif isinstance(names, str):
        words = re.findall(r"(?:[^\s(,]|,(?=\d)|\([^)]*\)?)+", names)
        yield from words or [names]
    else:
        for name in names if is_several(names) else (names,):
            if not isinstance(name, str | Evaluable):
                raise UsageError(f"{name!r:.100} is not a measure", remedy="give a name such as 'AP', or a Measure")
            yield from _words(name)


def _read(word: str | Evaluable) -> list[Evaluable]:
    if isinstance(word, Evaluable):
        return [word]
    if match := _RANX_RBP.fullmatch(word):
        return [MEASURES["RBP"](p=float(f"0.{match['digits']}"))]
    spellings = _spellings()
    match = _TREC_AT.fullmatch(word)
    row = spellings.get(match["name"].lower()) if match else None
    if match and row and (setting := row.at or row.trec_parameter):
        return [row(**{setting: _value(value)}) for value in match["at"].split(",")]
    if not (match := _NAME.fullmatch(word)):
        remedy = "write it as NAME, NAME@10 or NAME(setting=value)@10"
        raise UsageError(f"cannot read the measure {word!r}", remedy=remedy)
    if (row := spellings.get(match["name"].lower())) is None:
        raise UnknownMeasure(f"unknown measure {word!r}: {_suggestion(match['name'], word)}")
    settings = [*_settings(match["inside"] or "", word)]
    settings += [("rel", at_level(row, int(match["level"])))] if match["level"] else []
    if match["at"]:
        at = row @ _value(match["at"].strip())  # raises if there is nothing to set
        settings.append((at.at, at.settings.get(at.at)))
    names = [name.lower() for name, _ in settings]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UsageError(f"{word!r} sets {', '.join(sorted(twice))} twice")
    offered = {name.lower(): name for name in row.offered}
    return [row(**{offered.get(name.lower(), name): value for name, value in settings})]


def at_level(row: Evaluable, level: int) -> int:
    """Return the level of a name of ranx, `mrr-l2`, or raise if our `rel` would mean something else."""
    if row.graded:
        remedy = f"write `-l2` as {row.name}(gains={{1:0}}); {row.name}(rel=2) gives the gain 1 from grade 2 on"
        raise UsageError(
            f"{row.name}-l{level} would keep the grades from {level} on as gains, but `rel` does not mean that",
            remedy=remedy if "gains" in row.parameters else f"leave -l{level} out",
        )
    return level


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluables:
    """What both tables held when they were last looked at, and what names meant then: reading names takes a while."""

    rows: dict[str, Evaluable]
    spellings: dict[str, Evaluable]
    words: dict[str, tuple[Evaluable, ...]] = field(default_factory=dict)

    def is_current(self) -> bool:
        """Tell whether the tables hold the same rows as then, in the same order."""
        now = rows()
        return len(now) == len(self.rows) and all(map(is_, now.values(), self.rows.values())) and [*now] == [*self.rows]


_MOST_WORDS = 1000
_known: list[_Evaluables] = []
"""The last one, if there is one."""


def _read_once(word: str | Evaluable) -> Sequence[Evaluable]:
    """Read a word, or remember what it meant, if it is text and the tables have not changed."""
    if not isinstance(word, str):
        return _read(word)
    words = _known_now().words
    if word not in words:
        read = tuple(_read(word))
        if len(words) >= _MOST_WORDS:
            words.clear()
        words[word] = read
        return read
    return words[word]


def _known_now() -> _Evaluables:
    known = next(iter(_known), None)
    if known is None or not known.is_current():
        known = _Evaluables(rows(), _spelled())
        _known[:] = [known]
    return known


def _spellings() -> dict[str, Evaluable]:
    """Return every name that is understood, in lower case, with its row."""
    return _known_now().spellings


def _spelled() -> dict[str, Evaluable]:
    spellings: dict[str, Evaluable] = {
        "ndcg_burges": MEASURES["nDCG"](dcg="exp-log2"),
        "set_relative_p": MEASURES["SetP"](relative=True),
        "setrelp": MEASURES["SetP"](relative=True),
        "invrpp": PREFERENCES["RPP"](weight="inverse"),
        "dcgrpp": PREFERENCES["RPP"](weight="dcg"),
        "rrlexiprecision": PREFERENCES["LexiPrecision"](size="rr"),
    }
    for row in rows().values():
        for name in (*row.aliases, *filter(None, row.trec), row.name):
            spellings.setdefault(name.lower(), row)
    spellings.update({name.lower(): row for name, row in rows().items()})
    return spellings


def _settings(inside: str, word: str) -> Iterator[tuple[str, Any]]:
    for part in filter(None, map(str.strip, re.split(_COMMA, inside))):
        name, equals, value = part.partition("=")
        if not equals:
            raise UsageError(
                f"cannot read {part!r} in the measure {word!r}", remedy="settings are written as name=value"
            )
        is_map = value.strip().startswith("{")
        yield name.strip(), _map(value.strip(), word) if is_map else _value(value.strip())


def _map(text: str, word: str) -> dict[Any, Any]:
    """Read {number:number,…}."""
    pairs = [part.partition(":") for part in text[1:-1].split(",") if part.strip()]
    if not text.endswith("}") or not all(colon for _, colon, _ in pairs):
        problem = f"cannot read {text!r} in the measure {word!r}"
        raise UsageError(problem, remedy="a map is written as {grade:gain,…}, such as {1:0,2:3}")
    read = {_value(key.strip()): _value(value.strip()) for key, _, value in pairs}
    if len(read) < len(pairs):
        raise UsageError(f"{text!r} in the measure {word!r} lists a grade twice")
    return read


def _value(text: str) -> Any:
    """Read a number, a share in percent, or a word with or without quotes."""
    if text.endswith("%"):
        percent = _value(text[:-1].rstrip())
        return text if isinstance(percent, str) else Share(percent)
    for read in (whole_number_of, number_of):
        try:
            return read(text)
        except ValueError:
            continue
    return text.strip("'\"")


_ELSEWHERE = {
    "cwl-eval": "BPM INSQ INST SDCG NERR8 NERR9 NERR10 NERR11",
    "pyndeval": "ERR_IA nERR_IA alpha_DCG alpha_nDCG NRBP nNRBP AP_IA P_IA StRecall",
}
"""Measures of ir_measures that the table lacks, or that need units here, by the tool that it computes them with."""


def computed_by(name: str) -> str | None:
    """Return the tool by which ir_measures computes a measure that is left to it.

    >>> computed_by("bpm"), computed_by("AP")
    ('cwl-eval', None)
    """
    return next((tool for tool, names in _ELSEWHERE.items() if name.lower() in names.lower().split()), None)


def _suggestion(name: str, word: str) -> str:
    if tool := computed_by(name):
        return f"lexirecall does not compute {name}, but ir_measures does, with {tool}"
    match = _TREC_AT.fullmatch(word)
    cut = _nearest(match["name"].lower()) if match else None
    if match and cut and cut.at and "," not in match["at"]:
        return f"did you mean '{cut.name}@{match['at']}'?"
    near = _nearest(name.lower())
    return f"did you mean {near.name + word[len(name) :]!r}?" if near else f"choose from {', '.join(rows())}"


def _nearest(name: str) -> Evaluable | None:
    """Return the row with the most similar spelling; of recall that says "all" or "any", the row that means that.

    >>> _nearest("recal"), _nearest("all_recall"), _nearest("recall_at"), _nearest("anyrecall"), _nearest("xyz")
    (R, All, R, Success, None)
    """
    from difflib import get_close_matches  # not on top: most names are understood

    spellings = _spellings()
    near = next(iter(get_close_matches(name, spellings, n=1, cutoff=0.5)), None)
    row = None if near is None else spellings[near]
    if near is not None and row is not None and "recall" not in near and row.name not in _MEANT:
        return row
    beside, says_recall = re.subn(_RECALL, "", name, count=1)
    for meant, pattern in _MEANT.items():
        if re.search(pattern, beside):
            return rows()[meant]
    return rows()["R"] if says_recall and row is not None and row.name in _MEANT else row
