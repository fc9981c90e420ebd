"""Leaves runs out of the pool, forecasts decisions from what is left, and counts what became of them.

Usage: python benchmarks/validity_forecasts.py FOLDER...
       python benchmarks/validity_forecasts.py page

Belongs here: which runs are left out, counting, and the table of docs/unjudged.md. Not here: other studies of missing
labels (validity_labels).

A folder has judgments, qrels.txt, and runs, runs/*. Of each query all documents count that were judged above the depth
down to which everything was. A quarter, a half or three quarters of the runs are left out, at random, and the others
pooled to a smaller depth; what is not in that pool is hidden. Everything is estimated from the rest, σ too.
"""

import argparse
import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from validity_labels import Case, Study, shallow, study_of
from validity_rates import Together

from lexirecall.formats.listing import load_lists
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.labels.forecasts import LabellingSamples, exact_reversals, sample
from lexirecall.labels.pools import Labelling
from lexirecall.labels.rates import stated_rate
from lexirecall.manifest import Conventions, Policies
from lexirecall.names import parse_names

RESULTS = Path(__file__).parent / "validity" / "forecasts.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "unjudged.md"
MARKS = "<!-- reliability: python benchmarks/validity_forecasts.py page -->\n", "<!-- end of reliability -->\n"
MEASURES = "LexiRecall R@100 AP"
DEPTHS, SHARES, DRAWS = (20, 50, 100), (0.25, 0.5, 0.75), 2
BORDERS = np.array([0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1])
LEAST, NEAR = 100, 0.05  # decisions of a bin that is looked at; how near its share should be
SAMPLES, COUNTED, RESAMPLES = 200, 1000, 1000


@dataclass(frozen=True)
class Decisions:
    """Chances that decisions are reversed, whether they were, and of which query each is."""

    chances: FloatArray
    is_reversed: FloatArray
    queries: IntArray

    @classmethod
    def together(cls, parts: Sequence["Decisions"]) -> "Decisions":
        """Take those of several trials."""
        columns = ([getattr(part, name) for part in parts] for name in ("chances", "is_reversed", "queries"))
        return cls(*map(np.concatenate, columns))

    @property
    def log_loss(self) -> float:
        """The mean of minus the log of the chance of what came, no chance being nearer to 0 than half a sample."""
        chances = np.clip(self.chances, 0.5 / SAMPLES, 1 - 0.5 / SAMPLES)
        return float(-np.log(np.where(self.is_reversed > 0, chances, 1 - chances)).mean())

    def bins(self, num_queries: int) -> Iterator[dict[str, Any]]:
        """Count decisions whose chances are alike, with the interval of the share reversed if queries are resampled."""
        rng = np.random.default_rng(0)
        drawn = rng.multinomial(num_queries, np.full(num_queries, 1 / num_queries), RESAMPLES)
        at = np.searchsorted(BORDERS, self.chances)
        for number, up_to in enumerate(BORDERS.tolist()):
            here = at == number
            if here.any():
                queries, turned = self.queries[here], self.is_reversed[here]
                counts, reversed_ = (np.bincount(queries, each, num_queries) for each in (np.ones(len(turned)), turned))
                with np.errstate(invalid="ignore"):
                    low, high = np.nanquantile(drawn @ reversed_ / (drawn @ counts), (0.025, 0.975)).tolist()
                yield {
                    "up_to": up_to, "decisions": len(turned), "forecast": float(self.chances[here].mean()),
                    "reversed": int(turned.sum()), "low": low, "high": high,
                }  # fmt: skip


def signs(sampled: LabellingSamples) -> FloatArray:
    """Return who is better under each labelling, [P, B, Q]."""
    pairs = np.triu_indices(len(sampled.means), 1)
    return np.stack([np.sign(each.between(*pairs)) for each in sampled.contrasts], axis=-1)


def trial(case: Case, seed: int) -> tuple[dict[str, Any], dict[tuple[str, str], Decisions]]:
    """Forecast what was hidden; return numbers, and the decisions by how they are forecast and measure."""
    rows, policies, labelling = parse_names(MEASURES), Policies(), Labelling(case.study.names, Conventions())
    rates = Together.of(case.lists)
    asked, labelled = ([getattr(each, name) for each in case.since] for name in ("asked", "labelled"))
    nothing: dict[str, Any] = {"labelling": labelling, "policies": policies, "num_samples": 1, "seed": 0}
    now, came = (sample(pools, stated_rate(0), rows, **nothing) for pools in (asked, labelled))
    made = {}
    for kind, own in (("together", rates), ("independent", rates.rates)):
        sampled = sample(asked, own, rows, **{**nothing, "num_samples": SAMPLES, "seed": seed})
        for c, row in enumerate(rows):
            before, after = signs(now[c])[:, 0], signs(came[c])[:, 0]
            pairs = np.triu_indices(len(labelling.runs), 1)
            exact = (
                exact_reversals(asked, own, row, policies, pairs, before.astype(np.int8))
                if kind == "independent"
                else None
            )
            chances = (signs(sampled[c]) == -before[:, None]).mean(axis=1) if exact is None else exact
            is_decided = before != 0
            of = np.broadcast_to(np.arange(before.shape[1]), before.shape)[is_decided]
            made[kind, str(row)] = Decisions(
                chances[is_decided].round(12), (after == -before)[is_decided].astype(float), of
            )
    counts = sum((rates.draw(pool, COUNTED, seed).sum(axis=1) for pool in asked), start=np.zeros(COUNTED))
    low, high = np.quantile(counts, (0.025, 0.975)).tolist()
    is_hidden = [each.asked.is_unjudged for each in case.since]
    numbers = {
        "sigma": rates.spread, "is_likeliest": rates.is_likeliest, "v": rates.variance,
        "hidden": int(sum(each.sum() for each in is_hidden)),
        "relevant": sum(int((e.labelled.grades[h] >= 1).sum()) for e, h in zip(case.since, is_hidden, strict=True)),
        "expected": float(sum(rates.chances(pool).sum() for pool in asked)), "low": low, "high": high,
    }  # fmt: skip
    return numbers, made


def calibrate(study: Study, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Give a row for each trial, for each way to forecast a measure, and for each bin of chances."""
    rng, num_runs = np.random.default_rng(seed), len(study.names)
    parts: dict[tuple[str, str], list[Decisions]] = {}
    for depth in DEPTHS:
        for left_out in (round(share * num_runs) for share in SHARES):
            for draw in range(DRAWS):
                kept = rng.permutation(num_runs)[left_out:].tolist()
                numbers, made = trial(Case.of(study, shallow(study, depth, kept)), draw)
                yield {"kind": "trial", "depth": depth, "left_out": left_out, **numbers}
                for key, own in made.items():
                    parts.setdefault(key, []).append(own)
    for (how, measure), several in parts.items():
        every = Decisions.together(several)
        about = {"drawn": how, "measure": measure}
        yield {"kind": "loss", **about, "decisions": len(every.chances), "loss": every.log_loss}
        for row in every.bins(len(study.tops)):
            yield {"kind": "bin", **about, **row}


# The page


def is_near(row: dict[str, Any]) -> bool:
    """Tell whether the share reversed is near its forecast, or the forecast in the interval of the share."""
    share = row["reversed"] / row["decisions"]
    return bool(row["low"] <= row["forecast"] <= row["high"] or abs(share - row["forecast"]) <= NEAR)


def bins_of(rows: Sequence[dict[str, Any]], drawn: str) -> list[dict[str, Any]]:
    """Return the bins that are looked at."""
    return [row for row in rows if row["kind"] == "bin" and row["drawn"] == drawn and row["decisions"] >= LEAST]


def page(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Give the lines of what was counted."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    for name in names:
        own = [row for row in rows if row["name"] == name]
        trials = [row for row in own if row["kind"] == "trial"]
        sigmas = sorted({row["sigma"] for row in trials if row["is_likeliest"]})
        within = sum(row["low"] <= row["relevant"] <= row["high"] for row in trials)
        now, before = (bins_of(own, drawn) for drawn in ("together", "independent"))
        losses = {(row["drawn"], row["measure"]): row["loss"] for row in own if row["kind"] == "loss"}
        lower = sum(losses["together", m] < losses["independent", m] for m in MEASURES.split())
        assumed = len(trials) - sum(row["is_likeliest"] for row in trials)
        spans = f"{sigmas[0]:g} to {sigmas[-1]:g}, and assumed in {assumed}" if sigmas else f"assumed in all {assumed}"
        text = (
            f"- **{name}**, {own[0]['runs']} runs, {own[0]['queries']} queries, {len(trials)} trials: sigma is "
            f"{spans}. {sum(map(is_near, now))} of {len(now)} bins are near ({sum(map(is_near, before))} of "
            f"{len(before)} if labels were independent); the log loss is lower for {lower} of 3 measures. The number "
            f"of relevant documents is in its interval in {within} of {len(trials)} trials."
        )
        yield textwrap.fill(text, 120, subsequent_indent="  ")
    yield ""
    yield "| collection | measure | forecast | decisions | mean forecast | reversed | 95 % interval | near |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in bins_of(rows, "together"):
        number = BORDERS.tolist().index(row["up_to"])
        span = f"{BORDERS[number - 1]:g} to {row['up_to']:g}" if number else "0"
        share = row["reversed"] / row["decisions"]
        yield (
            f"| {row['name']} | {row['measure']} | {span} | {row['decisions']:,} | {row['forecast']:.3f} | "
            f"{share:.3f} | {row['low']:.3f} to {row['high']:.3f} | {'yes' if is_near(row) else 'no'} |"
        )


def with_page(text: str, rows: Sequence[dict[str, Any]]) -> str:
    """Put what was counted into the text of the page."""
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return before + MARKS[0] + "\n" + "\n".join(page(rows)) + "\n\n" + MARKS[1] + after


def read() -> list[dict[str, Any]]:
    """Return what was counted."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="or `page`")
    given = parser.parse_args().folders
    if given == ["page"]:
        PAGE.write_text(with_page(PAGE.read_text(), read()))
        return
    made = []
    for folder in map(Path, given):
        runs = sorted(str(path) for path in (folder / "runs").iterdir())
        study = study_of(folder.name, load_lists(str(folder / "qrels.txt"), runs), by_query=True)
        about = {"name": folder.name, "runs": len(study.names), "queries": len(study.tops)}
        for row in calibrate(study):
            made.append({**about, **row})
            print(json.dumps(made[-1]), flush=True)
    RESULTS.write_text("".join(json.dumps(row) + "\n" for row in made))


if __name__ == "__main__":
    main()
