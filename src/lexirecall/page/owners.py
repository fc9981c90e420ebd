"""Owners: what the page says of providers.

Belongs here: exposure, merit, ratio and p of the providers with the least p, as columns. Not here: what they are
(verbs.exposures), the table (assets).
"""

from typing import Any

import numpy as np

from lexirecall.page.findings import Findings
from lexirecall.page.limits import Cutter, Limits
from lexirecall.page.rounding import rounded
from lexirecall.verbs.exposures import Exposures, on_resampled

_ALL_DIGITS = 17
_FEWEST = 5  # rows of each run


def provider_columns(findings: Findings, limits: Limits, cut: Cutter) -> dict[str, Any]:
    """Return what the page shows of providers, under one key; nothing without a map of them.

    >>> from lexirecall import project
    >>> from lexirecall.manifest import Policies
    >>> from lexirecall.verbs.testing import Testing
    >>> judged = {f"q{i}": {"a": 1, "b": 1} for i in range(5)}
    >>> positions = project(judged, {q: ["a", "b"] for q in judged}, providers={"a": "Ada", "b": "Ben"})
    >>> findings = Findings.of(positions, "RR", Testing(), Policies())
    >>> made = provider_columns(findings, Limits(), Cutter(99))["providers"]
    >>> made["names"], made["runs"][0]["provider"], made["runs"][0]["exposure"]
    (['Ada', 'Ben'], [1, 0], [0.5, 1])
    """
    exposures = findings.exposures(max(_FEWEST, limits.providers // len(findings.places)))
    if exposures is None:
        return {}
    shown = [exposures.shown(s) for s in findings.places]
    named = np.unique(np.concatenate(shown))
    columns = {
        "names": cut.names(exposures.audit.providers[c] for c in named.tolist()),
        "total": len(exposures.audit.providers),
        "min_queries": exposures.min_queries,
        "measure": str(exposures.measure),
        "note": _note(exposures),
        "runs": [_of_run(exposures, s, np.searchsorted(named, c)) for s, c in zip(findings.places, shown, strict=True)],
    }
    return {"providers": columns}


def _of_run(exposures: Exposures, s: int, numbers: Any) -> dict[str, Any]:
    audit, chosen = exposures.audit, exposures.shown(s)
    num_few = int((audit.num_queries[s] < exposures.min_queries).sum())
    reals = {"exposure": audit.exposures, "ratio": audit.ratios}
    if (tested := exposures.placements) is not None:
        reals |= {"p_corrected": tested.corrected}
    if (ends := exposures.resampled) is not None:
        reals |= {"low": ends.lows, "high": ends.highs, "ratio_low": ends.ratio_lows, "ratio_high": ends.ratio_highs}
    return {
        "provider": numbers.tolist(),
        "merit": audit.num_documents[s, chosen].tolist(),
        "queries": audit.num_queries[s, chosen].tolist(),
        **{name: rounded(array[s, chosen], _ALL_DIGITS) for name, array in reals.items()},
        "few": num_few,
        "more": len(audit.providers) - num_few - len(chosen),
    }


def _note(exposures: Exposures) -> str:
    """Say what the brackets of the table mean, if it has any."""
    if (ends := exposures.resampled) is None:
        return ""
    return on_resampled(ends)
