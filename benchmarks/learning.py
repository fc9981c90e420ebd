"""Measures what the ordered loss gains and costs on three kinds of data, beside the usual losses.

Usage: python benchmarks/learning.py intents [--seeds 5]
       python benchmarks/learning.py recommender [--seeds 5] [--device cuda] [--workers N] [--ratings FILE]
       python benchmarks/learning.py fusion --name NAME --qrels FILE --runs FILE... [--seeds 5]
       python benchmarks/learning.py page

Belongs here: which losses and settings take part, and keeping what comes out. Not here: the simulation
(learning_intents), the recommender (learning_recommender), fusion (learning_fusion), statistics (learning_outcomes),
the page (learning_page).

What was measured is in the folder learning, one file for each kind of data, and `page` makes docs/learning.md of these.
All but fusion need PyTorch, and the recommender is meant for a GPU. The ratings are in the package RecBole (`pip
install --no-deps recbole`), unless a file is given. Judgments and runs to fuse are your own.
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from learning_outcomes import means, outcomes
from learning_page import write

from lexirecall.output import write as write_file

RESULTS = Path(__file__).parent / "learning"
PAGE = Path(__file__).parent.parent / "docs" / "learning.md"
ORDER = ("intents", "recommender", "fusion")
BASELINE = "softmax"
DISCOUNTS = (1, 0.9, 0.5, 0.2)
SETTINGS = 4
"""How many each loss of the recommender may choose from."""


def main() -> None:
    """Measure what is asked for, or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=[*ORDER, "page"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--ratings", type=Path)
    parser.add_argument("--name")
    parser.add_argument("--qrels")
    parser.add_argument("--runs", nargs="+")
    given = parser.parse_args()
    if given.part == "page":
        write_file(write(read_results()), str(PAGE))
        return
    RESULTS.mkdir(exist_ok=True)
    part = {"intents": intents, "recommender": recommender, "fusion": fusion}[given.part]
    name = f"fusion-{given.name}" if given.part == "fusion" else given.part
    write_file(json.dumps(part(given), indent=1) + "\n", str(RESULTS / f"{name}.json"))


def read_results() -> list[Mapping[str, Any]]:
    """Return what was measured, in the order of the page."""
    files = sorted(RESULTS.glob("*.json"), key=lambda path: (ORDER.index(path.stem.partition("-")[0]), path.stem))
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def intents(given: argparse.Namespace) -> Mapping[str, Any]:
    """Train on simulated queries, drawn anew for each seed."""
    from learning_intents import NUM_DOCUMENTS, held_out_positions

    trials = [held_out_positions(seed) for seed in range(1, given.seeds + 1)]
    measures = ("LexiRecall", "AP", "nDCG", "LastRel", "Depth@0.9")
    about = (
        f"A linear model, and queries with {NUM_DOCUMENTS} documents each, of which 5 to 15 are relevant: most of them "
        "have a common intent, which is easy to recognize, and 1 to 3 have a rare one, whose features point partly in "
        "the opposite direction. All losses have the same batches and steps of Adam, and nothing is chosen. Those that "
        "are scaled are ordered losses of scores that are divided by their standard deviation. "
        f"{given.seeds} seeds, each with training queries and {len(trials[0].queries)} other queries of its own, so "
        "the seeds are what intervals are about."
    )
    return _result("Simulated intents", about, trials, _pairs(trials[0].runs), measures, by_seed=True)


def recommender(given: argparse.Namespace) -> Mapping[str, Any]:
    """Train an autoencoder on ratings, divided anew for each seed."""
    import learning_recommender as own

    losses = [*recommender_losses(own.Setting)]
    seeds = range(1, given.seeds + 1)
    tasks = [(seed, loss, given.ratings, given.device) for loss in losses for seed in seeds]
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
        made = dict(zip([task[:2] for task in tasks], pool.map(recommended, tasks), strict=True))
    splits = {seed: own.Split.of(own.read_likes(given.ratings or own.ratings_file()), seed) for seed in seeds}
    trials = [own.sought_positions({loss: made[seed, loss][1] for loss in losses}, splits[seed]) for seed in seeds]
    about = (
        f"An autoencoder with one hidden layer, and {len(trials[0].queries)} users with at least {own.FEWEST} films "
        "rated 4 or 5. 70 % of these are trained on, and 20 % are to be found among all other films. The remaining "
        f"tenth chooses learning rate, temperature and epoch of each loss, by LexiRecall, from {SETTINGS} settings for "
        f"each, every {own.EVERY} epochs of {own.EPOCHS}. {given.seeds} seeds, each with another division; values of a "
        "user are averaged over them."
    )
    chosen = {loss: [made[seed, loss][0] for seed in seeds] for loss in losses}
    measures = ("LexiRecall", "AP", "nDCG", "R@100", "LastRel")
    result = _result("MovieLens-100k", about, trials, _pairs(losses), measures, by_seed=False)
    return {**result, "chosen": chosen}


def recommended(task: tuple[int, str, Path | None, str]) -> tuple[str, Any]:
    """Train one loss with one seed: the chosen setting, and the scores of every film for every user."""
    import learning_recommender as own

    seed, loss, ratings, device = task
    split = own.Split.of(own.read_likes(ratings or own.ratings_file()), seed)
    began = time.monotonic()
    made = own.chosen_scores(recommender_losses(own.Setting)[loss], split, seed, device)
    print(f"seed {seed}, {loss}: {made[0]} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)
    return made


def recommender_losses(setting: Any) -> dict[str, list[Any]]:
    """Return the settings of each loss; all have as many."""
    from functools import partial

    from learning_losses import approx_ndcg, lambdarank, ordered, ranknet, softmax

    plain = {"softmax": softmax, "RankNet": ranknet, "LambdaRank": lambdarank}
    made = {
        name: [setting(loss, rate, f"rate {rate:g}") for rate in (0.0005, 0.001, 0.002, 0.005)]
        for name, loss in plain.items()
    }
    soft: dict[str, dict[float, Any]] = {
        "ApproxNDCG": {tau: partial(approx_ndcg, temperature=tau) for tau in (0.1, 0.5)}
    }
    soft |= {f"ordered {discount:g}": {tau: ordered(discount, tau) for tau in (0.5, 2)} for discount in DISCOUNTS}
    for name, of_temperatures in soft.items():
        pairs = product((0.001, 0.003), of_temperatures.items())
        made[name] = [setting(loss, rate, f"rate {rate:g}, τ {tau:g}") for rate, (tau, loss) in pairs]
    return made


def fusion(given: argparse.Namespace) -> Mapping[str, Any]:
    """Fuse runs of one collection, the folds drawn anew for each seed."""
    from learning_fusion import LOSSES, held_out

    made = []
    for seed in range(given.seeds):
        made.append(held_out(given.qrels, given.runs, seed))
        print(f"seed {seed}: done", file=sys.stderr, flush=True)
    trials = [positions for positions, _ in made]
    names = trials[0].runs
    about = (
        f"{len(given.runs)} runs fused by a linear model, with {len(trials[0].queries)} queries in five folds: every "
        f"query is ranked by weights that were learnt on other folds. {given.seeds} seeds deal the queries into folds "
        "anew, and values of a query are averaged over them. All losses have the same features, documents and folds, "
        "and the same penalties to choose from, within the training queries; the ordered loss also chooses δ there. "
        "Weights rank everywhere, also where they show no gain over RRF on the training queries and `fuse` would rank "
        "by RRF."
    )
    measures = ("LexiRecall", "R@1000", "AP", "nDCG", "Depth@0.95")
    pairs = [("ordered", name) for name in names if name != "ordered"]
    chosen = {loss: [own[loss] for _, own in made] for loss in LOSSES}
    return {
        **_result(f"Fusion: {given.name.replace('-', ' ')}", about, trials, pairs, measures, by_seed=False),
        "chosen": chosen,
    }


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return every loss beside softmax, and those that are ordered beside RankNet, the best of the others here."""
    return [
        *((name, BASELINE) for name in names if name != BASELINE),
        *((name, "RankNet") for name in names if name.startswith(("ordered", "scaled"))),
    ]


def _result(
    data: str,
    about: str,
    trials: Sequence[Any],
    pairs: Sequence[tuple[str, str]],
    measures: Sequence[str],
    *,
    by_seed: bool,
) -> dict[str, Any]:
    return {
        "data": data,
        "about": about,
        "means": means(trials, [measure for measure in measures if measure != "LexiRecall"]),
        "outcomes": outcomes(trials, pairs, measures, by_seed=by_seed),
    }


if __name__ == "__main__":
    main()
