"""Teams: who made which run, so that a contrast between measures can be seen with other teams.

Belongs here: the map from runs to teams, read and checked. Not here: the draws (`resampling`).
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lexirecall.errors import FormatError, UsageError, counted, hint_at, listed, shown
from lexirecall.formats.source import Source
from lexirecall.formats.trec import damage_first, lines
from lexirecall.text import to_text

_LINE = "write a line for each run: its name, a blank or tab, and the name of its team, without blanks"


def teams_of(teams: Any, runs: Sequence[str]) -> dict[str, str]:
    """Return the team of each run, from a file of lines `run team` or from {run: team}.

    >>> teams_of({"b1": "us", "a": "them", "b2": "us"}, ["a", "b1", "b2"])
    {'a': 'them', 'b1': 'us', 'b2': 'us'}
    """
    if isinstance(teams, Mapping):
        return _checked("teams", ((None, str(run), str(team)) for run, team in teams.items()), runs)
    if not isinstance(teams, (str, os.PathLike)):
        raise UsageError(f"teams is {teams!r}, but must be a file or {{run: team}}")
    with Source(os.fspath(teams)) as source, damage_first(source):
        return _checked(source.name, _rows(source), runs)


def _rows(source: Source) -> Iterator[tuple[int, str, str]]:
    for number, fields in lines(source, most=2):
        if len(fields) != 2:
            problem = f"a line has 2 fields (run team), found {'1' if len(fields) == 1 else 'more'}"
            raise FormatError(source.name, number, f"{problem}: {shown(b' '.join(fields))}", remedy=_LINE)
        yield number, to_text(fields[0]), to_text(fields[1])


def _checked(name: str, rows: Iterable[tuple[int | None, str, str]], runs: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, run, team in rows:
        if run not in runs:
            remedy = hint_at(run, runs, f"the runs are {listed(runs)}")
            raise FormatError(name, number, f"there is no run {shown(run)}", remedy=remedy)
        if run in found:
            problem = f"run {shown(run)} is listed twice, of team {shown(found[run])} and of {shown(team)}"
            raise FormatError(name, number, problem, remedy="a run has one team: keep one of the two")
        found[run] = team
    if missing := [run for run in runs if run not in found]:
        problem = f"no team of {counted(len(missing), 'run')}: {listed(map(shown, missing))}"
        raise FormatError(name, None, problem, remedy=_LINE)
    if len(set(found.values())) < 2:
        problem = f"all runs are of team {shown(found[runs[0]])}, so there is no other team to draw"
        raise FormatError(name, None, problem, remedy="leave the teams out: then runs are drawn one by one")
    return {run: found[run] for run in runs}
