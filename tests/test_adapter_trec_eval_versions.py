"""What versions 9 and 10 of trec_eval compute differently, and what is new: by hand, and by slow loops."""

import ast
import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import lexirecall.adapters
from command import Command
from lexirecall.adapters.trec_eval import evaluate
from lexirecall.adapters.trec_names import FAMILIES, NICKNAMES, Compat
from lexirecall.errors import UsageError
from lexirecall.measures import MEASURES, NUM_RET, P

# Topic 1 ranks a x c e b: grades 1, unjudged, 0, in the pool and unjudged, 2. Topic 2 is not in the run.
QRELS = b"1 0 a 1\n1 0 b 2\n1 0 c 0\n1 0 e -1\n2 0 a 1\n"
RUN = b"1 Q0 a 1 5 r\n1 Q0 x 2 4 r\n1 Q0 c 3 3 r\n1 Q0 e 4 2 r\n1 Q0 b 5 1 r\n"
GOOD = {"qrels": QRELS, "run": RUN}
LOG = {place: math.log2(place + 1) for place in range(1, 12)}


def printed(command: Command, *arguments: str, **files: bytes) -> dict[tuple[str, str], str]:
    outcome = command("trec_eval", *arguments, "qrels", "run", **files)
    assert outcome.code == 0, outcome.err
    return {
        (name.strip(), topic): text for name, topic, text in (line.split("\t") for line in outcome.out.splitlines())
    }


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("rbp", {"rbp": 0.1 * (0.5 + 0.9**4)}),  # gains are halved: the highest grade is 2
        ("rbp.p=0.5", {"rbp_p=0.5": 0.5 * (0.5 + 0.5**4)}),
        ("rbp.p=.5,1=0.5,2=1", {"rbp_p=.5,1=0.5,2=1": 0.5 * (0.5 + 0.5**4)}),  # from 0 to 1 already
        ("rbp.0=1,1=2,p=0.5", {"rbp_0=1,1=2,p=0.5": 0.5 * (1 + 0.5 * 0.25 + 0.5**4)}),
        ("rbp.0=-1,p=0.5", {"rbp_0=-1,p=0.5": 0.5 * (2 / 3 + 0.5**4)}),  # from -1 to 2, so that 0 gains 1/3
        ("rbp.5=8,p=0.5", {"rbp_5=8,p=0.5": 0.5 * (1 / 8 + 2 / 8 * 0.5**4)}),  # a gain that no document has
        ("rbp_resid", {"rbp_resid": 0.9**5 + 0.1 * (0.9 + 0.9**3)}),
        ("rbp_resid.p=0.5", {"rbp_resid_p=0.5": 0.5**5 + 0.5 * (0.5 + 0.5**3)}),
        ("unj", {"unj_5": 2 / 5, "unj_10": 2 / 10, "unj_20": 2 / 20}),
        ("unj.4,1,2", {"unj_1": 0, "unj_2": 1 / 2, "unj_4": 2 / 4}),
        ("yaap", {"yaap": math.log(2.4 / 1.6)}),  # 1/1 + 2/5 of 2
        ("dcg", {"dcg": 1 + 2 / LOG[5]}),
        ("ideal_dcg", {"ideal_dcg": 2 + 1 / LOG[2]}),
        ("dcg.1=3", {"dcg_1=3": 3 + 2 / LOG[5]}),
        ("ndcg.1=3,2=2", {"ndcg_1=3,2=2": (3 + 2 / LOG[5]) / (3 + 2 / LOG[2])}),
        ("ndcg.0=1", {"ndcg_0=1": (1 + 1 / LOG[3] + 2 / LOG[5]) / (2 + 1 / LOG[2] + 1 / LOG[3])}),
        ("ndcg.0=-1", {"ndcg_0=-1": (1 - 1 / LOG[3] + 2 / LOG[5]) / (2 + 1 / LOG[2])}),
        ("ndcg.1=0,2=0", {"ndcg_1=0,2=0": 0}),
        ("G.1=2", {"G_1=2": (2 / math.log2(2 + 2 - 2) + 2 / math.log2(2 + 7 - 4)) / 4}),
        ("ndcg_rel.1=2", {"ndcg_rel_1=2": (1 + (2 + 2 / LOG[5]) / (2 + 2 / LOG[2])) / 2}),
        ("Rndcg.2=1", {"Rndcg_2=1": (1 / (1 + 1 / LOG[2]) + (1 + 1 / LOG[5]) / (1 + 1 / LOG[2])) / 2}),
        ("Rndcg.1=0,2=0", {"Rndcg_1=0,2=0": 0}),
        ("ndcg_cut.1.9", {"ndcg_cut_1": 1 / 2}),
        ("Rprec_mult.5,.5", {"Rprec_mult_0.50": 1, "Rprec_mult_5.00": 2 / 10}),
        ("set_F.2.0", {"set_F_2.0": 3 * 0.4 * 1 / (2 * 0.4 + 1)}),
        ("utility.1,-0.5,1e1,0", {"utility_1,-0.5,1e1,0": 2 - 0.5 * 3}),
    ],
)
def test_measures_with_parameters_are_as_worked_out_by_hand(
    command: Command, measure: str, expected: dict[str, float]
) -> None:
    found = printed(command, "-q", "-n", "-m", measure)
    assert found == {(name, "1"): f"{value:6.4f}" for name, value in expected.items()}
    assert [name for name, _ in found] == list(expected)


def test_gains_that_leave_the_scale_below_one_are_not_stretched(command: Command) -> None:
    assert printed(command, "-m", "rbp.1=0.2,2=0.4,p=0.5")["rbp_1=0.2,2=0.4,p=0.5", "all"] == "0.1125"


THREE = {"qrels": b"1 0 a 1\n1 0 b 1\n1 0 c 1\n", "run": b"1 0 a 0 9 r\n1 0 x 0 8 r\n1 0 b 0 7 r\n1 0 c 0 6 r\n"}


@pytest.mark.parametrize(
    ("compat", "precisions", "mean"),
    [
        ("9", ["1.0000", "0.7500", "0.7500"], "0.8333"),  # int(0.4 · 3 + 0.9) is 2 of the 3, int(2.1 + 0.9) all
        ("10", ["1.0000", "1.0000", "0.7500"], "0.9167"),  # 1.2 is 1, and 2.1 is 2
    ],
)
def test_recall_is_rounded_up_in_version_9_and_to_the_nearest_in_10(
    command: Command, compat: str, precisions: list[str], mean: str
) -> None:
    arguments = ("--compat", compat, "-m", "iprec_at_recall.0,.4,.7", "-m", "11pt_avg..7,.4,0,.1")
    found = printed(command, *arguments, **THREE)
    assert [found[f"iprec_at_recall_{recall}", "all"] for recall in ("0.00", "0.40", "0.70")] == precisions
    # the fourth is 0.1: int(0.3 + 0.9) is 1, 0.3 is 0; either way the highest precision, 1
    expected = (sum(map(float, precisions)) + 1) / 4
    assert found["11pt_avg_.7,.4,0,.1", "all"] == f"{expected:6.4f}"
    assert mean == f"{sum(map(float, precisions)) / 3:6.4f}"


def test_a_half_is_rounded_up_and_what_is_just_below_it_down() -> None:
    """0.49999999999999994 + 0.5 is 1 in floats."""
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}

    def at(recall: str, m: int = 2) -> str:
        judged = {"q": dict.fromkeys("abcdef"[:m], 1)}
        return evaluate(judged, run, [f"iprec_at_recall.{recall}"]).lines[0].split()[-1]

    assert evaluate(qrels, run, ["iprec_at_recall.0.75"]).lines[0].split()[-1] == "0.6667"  # 1.5 of 2
    assert at("0.74999999999999989") == "1.0000"
    assert at("0.49999999999999994", m=1) == "1.0000"


@pytest.mark.parametrize("compat", ["9", "10"])
def test_with_c_num_rel_counts_every_grade_above_0_as_both_versions_do(command: Command, compat: str) -> None:
    found = printed(command, "-q", "-c", "-l2", "-mnum_rel", "--compat", compat)
    assert found["num_rel", "1"] == "1"
    assert found["num_rel", "all"] == "3"
    assert printed(command, "-l2", "-mnum_rel", "--compat", compat)["num_rel", "all"] == "1"


def test_with_c_version_10_prints_a_missing_topic_as_an_empty_list(command: Command) -> None:
    measures = ("num_ret", "map", "relstring.3", "utility.1,1,1,1", "unj.2", "rbp_resid.p=0.5", "yaap", "ideal_dcg")
    found = printed(command, "-q", "-c", "-N10", "-mgm_map", *[f"-m{measure}" for measure in measures])
    missing = {name: text for (name, topic), text in found.items() if topic == "2"}
    assert missing == {
        "num_ret": "0",
        "map": "0.0000",
        "relstring_3": "''",
        "utility_1,1,1,1": "0.0000",
        "ideal_dcg": "1.0000",
        "yaap": f"{math.log(1 / 2):6.4f}",
        "rbp_resid_p=0.5": "0.0000",
        "unj_2": "0.0000",
    }
    assert found["yaap", "all"] == f"{(math.log(1.5) - math.log(2)) / 2:6.4f}"
    assert found["gm_map", "all"] == f"{(0.7 * 1e-5) ** 0.5:6.4f}"
    by_9 = printed(command, "-c", "-myaap", "--compat", "9")
    assert by_9["yaap", "all"] == f"{math.log(1.5) / 2:6.4f}"


@pytest.mark.parametrize("flags", ["--compat 9", "--compat 9 -c", "--compat 10", "--compat 10 -c"])
def test_a_run_without_a_judged_topic_is_an_error(command: Command, flags: str) -> None:
    """Version 10 prints zeros with -c; nobody would see that these are the wrong judgments."""
    outcome = command("trec_eval", "-m", "map", *flags.split(), "qrels", "run", run=b"3 Q0 a 1 1 r\n")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("no query in common with the judgments: run\n")


ZSCORES = b"""\
# topic measure mean deviation
1\tmap\t0.5\t0.1
1 num_ret 4 0.5
1 P_5 0.4 0
1 P_10 0.4 0
1 gm_map 0 1
1 set_F nan nan
"""


def test_z_scores_are_deviations_from_the_means_of_a_file(command: Command) -> None:
    """Counts are no longer whole; `num_q` still is the number of topics, and `runid` and `relstring` are text."""
    measures = ["runid", "num_q", "num_ret", "map", "gm_map", "Rprec", "P.5,10", "relstring", "set_F"]
    outcome = command("trec_eval", "-q", "-Z", "z", *[f"-m{m}" for m in measures], "qrels", "run", z=ZSCORES)
    assert outcome.out == (
        "Znum_ret               \t1\t2.0000\n"
        "Zmap                   \t1\t2.0000\n"
        "ZRprec                 \t1\t-1000000.0000\n"
        "ZP_5                   \t1\t0.0000\n"
        "ZP_10                  \t1\t-1000000.0000\n"
        "relstring             \t1\t'1-0.2'\n"
        "Zset_F                 \t1\t   nan\n"
        "runid                 \tall\tr\n"
        "Znum_q                 \tall\t1.0000\n"
        "Znum_ret               \tall\t2.0000\n"
        "Zmap                   \tall\t2.0000\n"
        "Zgm_map                \tall\t0.7000\n"
        "ZRprec                 \tall\t-1000000.0000\n"
        "ZP_5                   \tall\t0.0000\n"
        "ZP_10                  \tall\t-1000000.0000\n"
        "Zset_F                 \tall\t   nan\n"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            b"1 map 0.5\n",
            "z:1: a line must have 4 fields (topic measure mean deviation), but this one has 3: '1 map 0.5'",
        ),
        (b"1 map 0.5 1\n1 map x 1\n", "z:2: measure 'map' of topic '1' is listed twice"),
        (b"1 map 0.5 one\n", "z:1: the mean or the deviation is not a number: 'one'"),
    ],
)
def test_a_bad_line_of_z_scores_is_named(command: Command, line: bytes, message: str) -> None:
    outcome = command("trec_eval", "-Z", "z", "qrels", "run", z=line)
    assert (outcome.code, outcome.out) == (1, "")
    assert message in outcome.err


def test_flags_that_change_nothing_are_accepted(command: Command) -> None:
    plain = command("trec_eval", "-q", "qrels", "run")
    for flags in (("-o",), ("--Output_old_results_format", "1"), ("-D", "3"), ("--Debug_level=1",), ("-D0.1",)):
        assert command("trec_eval", "-q", *flags, "qrels", "run") == plain


def test_a_topic_after_the_level_of_debugging_is_the_only_one(command: Command) -> None:
    files = {"run": RUN + b"2 Q0 x 1 1 r\n"}
    assert printed(command, "-m", "map", **files)["map", "all"] == "0.3500"
    assert printed(command, "-m", "map", "-D", "0.2", **files)["map", "all"] == "0.0000"
    assert printed(command, "-m", "map", "-m", "num_q", "-c", "-D", "0.1", **files) == {
        ("num_q", "all"): "2",
        ("map", "all"): "0.3500",
    }


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_explains_the_measures_that_are_named(command: Command, flag: str) -> None:
    plain = command("trec_eval", flag)
    assert plain.code == 0
    assert "Usage: lexirecall trec_eval [OPTIONS] QRELS RUN" in plain.out
    assert "Measures:" not in plain.out
    outcome = command("trec_eval", flag, "-m", "num_ret", "-m", "P.5,10")
    assert outcome.out.startswith(plain.out.rstrip("\n"))
    explained = outcome.out.split("Measures:\n\n")[1]
    assert explained == f"num_ret\n  {NUM_RET.title}\n  k\nP\n  {P.title}\n  {P.formula}\n"


def test_every_measure_has_a_title_and_a_formula(command: Command) -> None:
    explained = command("trec_eval", "-h", "-m", "all_trec").out.split("Measures:\n\n")[1]
    assert [line for line in explained.splitlines() if not line.startswith(" ")] == list(in_set(10, "all_trec"))


def in_set(compat: Compat, nickname: str) -> list[str]:
    return [name for name in FAMILIES[compat] if name in NICKNAMES[compat][nickname]]


def test_version_10_has_three_more_measures_in_all_trec_and_two_by_name_only() -> None:
    more = [name for name in in_set(10, "all_trec") if name not in in_set(9, "all_trec")]
    assert more == ["rbp", "rbp_resid", "unj"]
    by_name = {compat: [*FAMILIES[compat].keys() - NICKNAMES[compat]["all_trec"]] for compat in FAMILIES}
    assert {compat: sorted(names) for compat, names in by_name.items()} == {
        9: ["yaap"],
        10: ["dcg", "ideal_dcg", "yaap"],
    }


def test_only_versions_9_and_10_are_known() -> None:
    with pytest.raises(UsageError, match="compat is 8, but must be 9 or 10"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, compat=8)  # type: ignore[arg-type]


def test_every_name_of_trec_eval_is_written_once() -> None:
    """A row of the table of measures has it, or the adapter's table; a name in both could come to differ."""
    of_rows = [name for row in MEASURES.values() for name in row.trec if name]
    assert len(of_rows) == len(set(of_rows))
    assert set(of_rows) <= FAMILIES[9].keys()
    folder = Path(lexirecall.adapters.__file__).parent
    for path in folder.glob("trec_*.py"):
        written = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        assert not {*of_rows} & {*written}, f"{path.name} writes a name that a row has"
        if path.stem == "trec_names":
            assert {name: written.count(name) for name in FAMILIES[10] if name not in of_rows} == dict.fromkeys(
                [name for name in FAMILIES[10] if name not in of_rows], 1
            )


# Against slow loops over whole rankings


Grades = Mapping[str, int]


class Slow:
    """One topic, document by document: the gain of each, and of the best order."""

    def __init__(self, judged: Grades, ranking: list[str], gains: Mapping[int, float]) -> None:
        self.gains = [gains.get(judged[d], judged[d]) if judged.get(d, -1) >= 0 else 0.0 for d in ranking]
        every = (gains.get(grade, grade) for grade in judged.values() if grade >= 0)
        self.best = sorted((gain for gain in every if gain > 0), reverse=True)
        self.judged, self.ranking = judged, ranking

    def ndcg(self, depth: int) -> float:
        def dcg(gains: list[float]) -> float:
            return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains[:depth], 1))

        return dcg(self.gains) / dcg(self.best) if self.best else 0.0

    def ndcg_rel(self) -> float:
        at = [self.ndcg(place) for place, gain in enumerate(self.gains, 1) if gain > 0]
        at += [self.ndcg(10**6)] * (len(self.best) - len(at))
        return max(sum(at) / len(at), 0.0) if at else 0.0

    def rndcg(self) -> float:
        turns = [k for k in range(1, len(self.best) + 1) if k == len(self.best) or self.best[k] != self.best[k - 1]]
        turns += [10**6] if self.best and len(self.ranking) > len(self.best) + 1 else []
        has_relevant = any(grade >= 1 for grade in self.judged.values())
        return sum(map(self.ndcg, turns)) / len(turns) if turns and has_relevant else 0.0

    def g(self) -> float:
        found = 0.0
        for place, gain in enumerate(self.gains, 1):
            cost = sum(max(best, 1) for best in self.best[:place]) + max(place - len(self.best), 0)
            found += gain / math.log2(2 + cost - sum(self.gains[:place])) if gain else 0.0
        return found / sum(self.best) if self.best else 0.0


@pytest.mark.parametrize(
    ("name", "slow"),
    [
        ("ndcg", lambda topic: topic.ndcg(10**6)),
        ("ndcg_rel", Slow.ndcg_rel),
        ("Rndcg", Slow.rndcg),
        ("G", Slow.g),
    ],
)
def test_measures_of_gains_equal_slow_loops(name: str, slow: Callable[[Slow], float]) -> None:
    random_of = random.Random(name)  # noqa: S311 - no secret
    for _ in range(60):
        documents = [f"d{number}" for number in range(random_of.choice([3, 12]))]
        judged = {d: random_of.choice([-1, 0, 0, 1, 2, 3]) for d in documents if random_of.random() < 0.7} | {"z": 1}
        ranking = random_of.sample([*documents, "z"], random_of.randint(1, len(documents)))
        gains = {grade: random_of.choice([-1, 0, 1.5, 2, 6]) for grade in (0, 1, 2) if random_of.random() < 0.6}
        text = ",".join(f"{grade}={gain}" for grade, gain in gains.items())
        lines = evaluate({"q": judged}, {"q": ranking}, [f"{name}.{text}" if gains else name]).lines
        assert float(lines[0].split("\t")[2]) == pytest.approx(slow(Slow(judged, ranking, gains)), abs=0.000051)
