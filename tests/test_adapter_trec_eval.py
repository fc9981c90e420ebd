"""The command `trec_eval`: its lines, against those worked out by hand and those of the C that pytrec_eval bundles.

pytrec_eval (package pytrec-eval-terrier) has trec_eval 9's values, names and order; the rest is what its C prints:
`%-22s\t%s\t%6.4f`, counts without decimals, `runid`, `num_q` and geometric means in the summary only, `relstring` for
topics only.
"""

import gzip
import json
import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Command
from lexirecall.adapters.trec_eval import evaluate
from lexirecall.errors import FormatError, UsageError
from lexirecall.formats import project

pytrec_eval = pytest.importorskip("pytrec_eval", reason="package pytrec-eval-terrier")

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

QRELS = b"1 0 a 1\n1 0 b 2\n1 0 c 0\n2 0 a 1\n3 0 b 0\n10 0 z 3\n"
RUN = b"1 Q0 b 4 1 bm25\n1 Q0 a 1 3 bm25\n1 Q0 x 2 2 bm25\n1 Q0 c 3 1.5 bm25\n3 Q0 b 1 1 bm25\n10 Q0 z 1 1 bm25\n"
GOOD = {"qrels.txt": QRELS, "bm25.run": RUN}
FILES = ("qrels.txt", "bm25.run")

# Topic 1 ranks a x c b, with a and b relevant; 3 has nothing relevant; of 10 all is found; 2 is not in the run
OFFICIAL = """\
runid                 \tall\tbm25
num_q                 \tall\t3
num_ret               \tall\t6
num_rel               \tall\t3
num_rel_ret           \tall\t3
map                   \tall\t0.5833
gm_map                \tall\t0.0196
Rprec                 \tall\t0.5000
bpref                 \tall\t0.5000
recip_rank            \tall\t0.6667
iprec_at_recall_0.00  \tall\t0.6667
iprec_at_recall_0.10  \tall\t0.6667
iprec_at_recall_0.20  \tall\t0.6667
iprec_at_recall_0.30  \tall\t0.6667
iprec_at_recall_0.40  \tall\t0.6667
iprec_at_recall_0.50  \tall\t0.6667
iprec_at_recall_0.60  \tall\t0.5000
iprec_at_recall_0.70  \tall\t0.5000
iprec_at_recall_0.80  \tall\t0.5000
iprec_at_recall_0.90  \tall\t0.5000
iprec_at_recall_1.00  \tall\t0.5000
P_5                   \tall\t0.2000
P_10                  \tall\t0.1000
P_15                  \tall\t0.0667
P_20                  \tall\t0.0500
P_30                  \tall\t0.0333
P_100                 \tall\t0.0100
P_200                 \tall\t0.0050
P_500                 \tall\t0.0020
P_1000                \tall\t0.0010
"""
MISSING = "note: 1 judged topic not in the run: left out (2); -c counts them as 0\n"


def test_the_official_measures_are_printed_as_worked_out_by_hand(command: Command) -> None:
    outcome = command("trec_eval", "--compat", "9", *FILES)
    assert (outcome.code, outcome.out) == (0, OFFICIAL)
    assert outcome.err == MISSING


def test_by_default_the_measures_are_those_of_version_10(command: Command) -> None:
    """Of two relevant documents, 0.6 and 0.7 are one, where version 9 takes both."""
    outcome = command("trec_eval", *FILES)
    official = re.sub(r"(recall_0\.[67]0  \tall\t)0\.5000", r"\g<1>0.6667", OFFICIAL)
    assert official != OFFICIAL
    assert (outcome.code, outcome.out) == (0, official)
    assert outcome.err == MISSING


def test_topics_come_in_the_order_of_their_text_and_geometric_means_in_the_summary_only(command: Command) -> None:
    outcome = command("trec_eval", "-q", "-m", "map", "-m", "gm_map", "-m", "num_q", "-m", "relstring", *FILES)
    assert outcome.out == (
        "map                   \t1\t0.7500\n"
        "relstring             \t1\t'1-02'\n"
        "map                   \t10\t1.0000\n"
        "relstring             \t10\t'3'\n"
        "map                   \t3\t0.0000\n"
        "relstring             \t3\t'0'\n"
        "num_q                 \tall\t3\n"
        "map                   \tall\t0.5833\n"
        "gm_map                \tall\t0.0196\n"
    )


COMPLETE = ("num_q", "num_ret", "num_rel", "map", "gm_map", "utility.1,1,1,1")


@pytest.mark.parametrize(("compat", "topics"), [("9", ["1", "10", "3"]), ("10", ["1", "10", "2", "3"])])
def test_the_complete_set_counts_missing_topics_as_nothing_and_10_prints_them(
    command: Command, compat: str, topics: list[str]
) -> None:
    measures = [f"-m{measure}" for measure in COMPLETE]
    outcome = command("trec_eval", "-qc", *measures, "-N10", "--compat", compat, *FILES)
    assert outcome.err == ""
    printed = [topic for topic in topics for _ in range(4)]
    assert [line.split("\t")[1] for line in outcome.out.splitlines()] == [*printed, *["all"] * 6]
    missing = [line.split()[2] for line in outcome.out.splitlines() if line.split("\t")[1] == "2"]
    assert missing == (["0", "1", "0.0000", "0.0000"] if compat == "10" else [])
    assert outcome.out.splitlines()[-6:] == [
        "num_q                 \tall\t4",
        "num_ret               \tall\t6",
        "num_rel               \tall\t4",
        "map                   \tall\t0.4375",
        f"gm_map                \tall\t{(0.75 * 1e-5 * 1e-5) ** 0.25:.4f}",
        "utility_1,1,1,1       \tall\t7.5000",  # three topics of ten documents each, over four
    ]


def test_the_mean_is_over_the_common_topics_where_version_10_stops(command: Command) -> None:
    """`q2` is judged and not in the run; version 9 prints 1.0000, version 10 leaves with 4."""
    files = {"qrels.txt": b"q1 0 a 1\nq2 0 c 1\n", "bm25.run": b"q1 Q0 a 1 1 r\n"}
    outcome = command("trec_eval", "-m", "map", *FILES, **files)
    assert (outcome.code, outcome.out) == (0, "map                   \tall\t1.0000\n")


def test_comments_and_topics_of_negative_grades_are_no_errors(command: Command) -> None:
    """Version 10 stops or crashes at comments, and both versions leave with 4 at the grades."""
    files = {"qrels.txt": b"# one\n# two\nq1 0 a 1\nq2 0 c -1\n# end\n", "bm25.run": b"q1 Q0 a 1 1 r\nq2 Q0 c 1 1 r\n"}
    outcome = command("trec_eval", "-m", "map", "-m", "num_q", *FILES, **files)
    assert outcome.out == "num_q                 \tall\t2\nmap                   \tall\t0.5000\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("-q", "-m", "P.1", "-l", "2", "-M", "3", *FILES),
        ("-q", "-mP.1", "-l2", "-M3", *FILES),
        ("-qmP.1", "-l2", "-M3", *FILES),
        (*FILES, "-q", "-m", "P_1", "-l2", "-M3"),
        ("--query_eval_wanted", "--measure=P.1", "--level_for_rel=2", "--Max_retrieved_per_topic", "3", *FILES),
        ("-q", "-m", "P.1", "-l2", "-M3", "-R", "qrels", "-T", "trec_results", *FILES),
    ],
    ids=["apart", "together", "flags in one", "anywhere", "long", "formats"],
)
def test_flags_are_taken_as_trec_eval_takes_them(command: Command, arguments: tuple[str, ...]) -> None:
    outcome = command("trec_eval", *arguments)
    values = [line.split("\t")[1:] for line in outcome.out.splitlines()]
    assert values == [["1", "0.0000"], ["10", "1.0000"], ["3", "0.0000"], ["all", "0.3333"]]


def test_parameters_take_the_place_of_the_usual_ones(command: Command) -> None:
    outcome = command("trec_eval", "-m", "P", "-m", "P.2", "-m", "P.7,1", "-m", "set_F.0.5", "-m", "set_F.2", *FILES)
    names = [line.split()[0] for line in outcome.out.splitlines()]
    assert names == ["P_1", "P_2", "P_7", "set_F_0.5", "set_F_2"]


def test_without_summary_only_topics_are_printed(command: Command) -> None:
    assert command("trec_eval", "-n", "-q", "-m", "map", *FILES).out.count("\n") == 3
    assert command("trec_eval", "-n", *FILES).out == ""


def test_our_measures_stand_below_those_of_trec_eval(command: Command) -> None:
    outcome = command("trec_eval", "-m", "TSE", "-m", "map", *FILES)
    assert outcome.out == f"map                   \tall\t0.5833\nTSE                   \tall\t{1.25 / 3:.4f}\n"


NEAR = {"qrels.txt": b"1 0 a 1\n", "bm25.run": b"1 Q0 a 1 0.50000000002 r\n1 Q0 b 2 0.50000000001 r\n"}


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ("", "1.0000"),
        ("--compat 10", "1.0000"),
        ("--compat 9", "0.5000"),
        ("--score-dtype float32", "0.5000"),
        ("--compat 9 --score-dtype float64", "1.0000"),
    ],
)
def test_scores_are_double_as_in_version_10_or_single_as_in_9(command: Command, options: str, value: str) -> None:
    assert command("trec_eval", "-m", "recip_rank", *options.split(), *FILES, **NEAR).out.split()[-1] == value


def test_the_run_is_named_by_its_tag_or_else_by_its_file(command: Command) -> None:
    def runid(run: str, stdin: bytes = b"", **files: bytes) -> str:
        return command("trec_eval", "-m", "runid", "qrels.txt", run, stdin=stdin, **files).out

    as_json = json.dumps({"1": {"a": 1.0}}).encode()
    assert (
        runid("bm25.run")
        == runid("packed.run", **{"packed.run": gzip.compress(RUN)})
        == "runid".ljust(22) + "\tall\tbm25\n"
    )
    assert runid("other.run", **{"other.run": b"\n# made today\n1 Q0 a 1 1 my-tag\n"}).split()[-1] == "my-tag"
    mixed = b"\xef\xbb\xbf1 Q0 a 1 2 first\n1 Q0 b 2 1 last more\n\n# 1 Q0 c 3 0 comment\n  \n"
    assert runid("mixed.run", **{"mixed.run": mixed}).split()[-1] == "last"
    assert runid("mixed.gz", **{"mixed.gz": gzip.compress(mixed)}).split()[-1] == "last"
    long = b"".join(b"1 Q0 d%d 1 %d t\n" % (number, number) for number in range(20000)) + b"1 Q0 a 1 1 end"
    for rest in (b"", b"\n" * 70000, b"\n# " + b"x" * 150000):
        for name, data in (("long.run", long + rest), ("long.gz", gzip.compress(long + rest))):
            assert runid(name, **{name: data}).split()[-1] == "end"
    assert runid("untagged.run", **{"untagged.run": b"1 Q0 a 1 1\n"}).split()[-1] == "untagged.run"
    assert runid("run.json", **{"run.json": as_json}).split()[-1] == "run.json"
    assert runid("-", stdin=RUN).split()[-1] == "-"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("-m", "maap", *FILES), 2, "unknown measure 'maap'"),
        (("-m", "map.5", *FILES), 2, "map.5: map takes no cut-off\n  did you mean map_cut_5?"),
        *(
            (("-m", name, *FILES), 2, f"{name} is a measure of preference judgments, which stay with trec_eval")
            for name in ("prefs", "all_prefs", "qrels_jg", "prefs_simp_ret", "P_avgjg")
        ),
        *(
            (
                ("-R", name, *FILES),
                2,
                f"-R {name}: preference judgments stay with trec_eval\n  the only format is qrels",
            )
            for name in ("prefs", "qrels_prefs", "qrels_jg")
        ),
        (("-R", "other", *FILES), 2, "-R other is not supported\n  the only format is qrels"),
        (("--compat", "9", "-m", "rbp", *FILES), 2, "rbp: trec_eval 9 does not have rbp\n  version 10 has it"),
        (("-m", "P.0", *FILES), 2, "P.0: '0' is not a parameter of P\n  it takes whole numbers above 0"),
        (("-m", "P.5x", *FILES), 2, "P.5x: '5x' is not a parameter of P"),
        (("-m", "ndcg.-1=3", *FILES), 2, "ndcg.-1=3: '-1=3' is not a parameter of ndcg\n  it takes grade=gain"),
        (("-m", "G.p=0.5", *FILES), 2, "G.p=0.5: 'p=0.5' is not a parameter of G"),
        (("-m", "ndcg.1=3,1=4", *FILES), 2, "'1=4' is not a parameter of ndcg"),
        (("-m", "rbp.p=1.5", *FILES), 2, "'1.5' is not a parameter of rbp\n  it takes numbers from 0 to 1"),
        (("-m", "iprec_at_recall.1.5", *FILES), 2, "'1.5' is not a parameter of iprec_at_recall"),
        (("-m", "utility.1,2", *FILES), 2, "utility.1,2: utility takes four numbers"),
        (("-D", "x", *FILES), 2, "'x': write a level, as in 1, or a level and a topic"),
        (("-D", "0.2", *FILES), 1, "topic '2' is not both judged and in the run"),
        (("-Z", "absent.z", *FILES), 1, "absent.z: no such file"),
        (("-l", "0", *FILES), 2, "level is 0.0, but must be above 0"),
        (("-N", "2", *FILES), 1, "the corpus size 2 is too small"),
        (("-", "-"), 2, "only one file can be read from stdin"),
        (("qrels.txt",), 2, "Missing argument 'RUN'"),
        (("qrels.txt", "absent.run"), 1, "absent.run: no such file"),
        (("bm25.run", "qrels.txt"), 1, "bm25.run:1:"),
    ],
)
def test_errors_are_clear_and_leave_with_our_codes(
    command: Command, arguments: tuple[str, ...], code: int, message: str
) -> None:
    outcome = command("trec_eval", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err


def test_a_score_with_underscores_is_no_number_of_trec_eval(command: Command) -> None:
    outcome = command("trec_eval", "-m", "map", *FILES, **{"bm25.run": RUN.replace(b" 3 bm25", b" 1_0 bm25")})
    assert (outcome.code, outcome.out) == (1, "")
    assert "bm25.run:2: the score is not a number: '1_0'" in outcome.err


def test_what_follows_the_tag_is_skipped_as_trec_eval_does_with_a_note(command: Command) -> None:
    files = {"bm25.run": RUN.replace(b" bm25\n", b" bm25 and more\n", 2)}
    plain, more = command("trec_eval", "-q", *FILES), command("trec_eval", "-q", *FILES, **files)
    assert (more.code, more.out) == (0, plain.out)
    assert more.err == plain.err + "note: 2 lines have fields after the run tag, which are ignored\n"
    assert command("trec_eval", "-c", *FILES, **files).err == more.err.removeprefix(plain.err)


def test_duplicates_are_refused_without_the_name_of_an_option_that_is_not_there(command: Command) -> None:
    """As in Python; where there is such an option, it is named as it is written there."""
    twice = RUN + b"1 Q0 a 9 0 bm25\n"
    outcome = command("trec_eval", *FILES, **{"bm25.run": twice})
    problem = "bm25.run:7: document 'a' of query '1' is listed twice, first on line 2\n  remove one of them"
    assert (outcome.code, outcome.err) == (1, f"{problem}\n")
    given: list[Any] = [("qrels.txt", "bm25.run"), ({"1": {"a": 1}}, {"1": ["a", "a"]})]
    for qrels, run in given:
        with pytest.raises(FormatError) as raised:
            evaluate(qrels, run)
        assert str(raised.value).endswith("\n  remove one of them")
    values = "(the first line) or {} (the highest score)"
    outcome = command("eval", *FILES, **{"bm25.run": twice})
    assert outcome.err == f"{problem}, or go on with --duplicates first {values.format('best')}\n"
    with pytest.raises(FormatError) as raised:
        project("qrels.txt", "bm25.run")
    assert str(raised.value) == f"{problem}, or go on with duplicates='first' {values.format(repr('best'))}"


def test_the_version_says_whose_measures_these_are(command: Command) -> None:
    assert command("trec_eval", "-v").out.endswith("with the measures of trec_eval 9 and 10\n")


def test_several_runs_in_one_table_are_refused() -> None:
    polars = pytest.importorskip("polars", reason="polars")
    table = polars.DataFrame({"run": ["a", "b"], "qid": ["1", "1"], "docno": ["d", "d"], "score": [1.0, 2.0]})
    with pytest.raises(UsageError, match="there are 2 runs, but only one can be evaluated: a, b"):
        evaluate({"1": {"d": 1}}, table)


# Against the C


def random_collection(seed: int, num_topics: int = 40) -> tuple[Qrels, Run]:
    """Topics of all sizes, with ties, topics without relevant documents, unjudged and unanswered ones."""
    random_of = random.Random(seed)  # noqa: S311 - no secret
    documents = [f"D{number}" for number in range(600)]
    qrels: Qrels = {}
    run: Run = {}
    for number in range(num_topics):
        grades = random_of.choice([(0, 1), (-1, 0, 1, 2, 3, 11), (0,)])
        pool = random_of.sample(documents, random_of.choice([2, 20, 200]))
        qrels[str(number)] = {document: random_of.choice(grades) for document in pool} | {"D-judged": 0}
        run[str(number)] = {
            document: round(random_of.gauss(0, 1), 1)
            for document in random_of.sample(documents, random_of.choice([1, 30, 400]))
        } | {"D-judged": 0.05}
    for number in range(3):
        del run[str(number)], qrels[str(number + 10)]
    return qrels, run


def ranked(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


def relstring(judged: dict[str, int], ranking: list[str]) -> str:
    grades = [judged.get(document) for document in ranking[:10]]
    return "".join("-" if g is None else "." if g < 0 else ">" if g > 9 else str(g) for g in grades)


def expected(
    qrels: Qrels, run: Run, measures: set[str], level: int, *, judged_only: bool, complete: bool
) -> Iterator[tuple[str, str, str | float]]:
    """Give names, topics and values in the order in which trec_eval prints them, from pytrec_eval."""
    values = pytrec_eval.RelevanceEvaluator(qrels, measures, level, judged_only).evaluate(run)
    for topic in sorted(values):
        for name, value in values[topic].items():
            if name == "relstring":
                kept = [d for d in ranked(run[topic]) if not judged_only or qrels[topic].get(d, -1) >= 0]
                yield name, topic, f"'{relstring(qrels[topic], kept)}'"
            elif not (name in ("runid", "num_q") or name.startswith("gm_")):
                yield name, topic, value
    num_missing = len(qrels.keys() - run.keys()) if complete else 0
    num_topics = len(values) + num_missing
    for name in next(iter(values.values())):
        total = 0.0
        for topic in sorted(values):  # one after the other: `sum` is more exact in some versions of Python
            total += values[topic][name]
        if name == "num_rel" and complete:
            total = sum(grade > 0 for judged in qrels.values() for grade in judged.values())  # whatever the level
        if name == "num_q":
            total = num_topics
        if name.startswith("gm_"):
            total = math.exp((total + num_missing * math.log(1e-5)) / num_topics)
        elif not name.startswith("num_"):
            total /= num_topics
        if name != "relstring":
            yield name, "all", "tag" if name == "runid" else total


def write_files(folder: Path, qrels: Qrels, run: Run) -> tuple[str, str]:
    rows = [f"{topic} 0 {document} {grade}\n" for topic, judged in qrels.items() for document, grade in judged.items()]
    lines = [
        f"{topic} Q0 {document} 0 {score} tag\n"
        for topic, ranking in run.items()
        for document, score in ranking.items()
    ]
    random.Random(0).shuffle(lines)  # noqa: S311
    (folder / "random.qrels").write_text("".join(rows))
    (folder / "random.run").write_text("".join(lines))
    return "random.qrels", "random.run"


def assert_printed(lines: list[str], rows: list[tuple[str, str, str | float]]) -> None:
    """Compare whole lines; at a half of the fourth digit the last bit of a value decides."""
    assert len(lines) == len(rows)
    for line, (name, topic, value) in zip(lines, rows, strict=True):
        text = value if isinstance(value, str) else f"{value:.0f}" if name.startswith("num_") else f"{value:6.4f}"
        assert line == f"{name:<22}\t{topic}\t{text}"


@pytest.mark.parametrize("complete", [False, True], ids=["common", "complete"])
@pytest.mark.parametrize("judged_only", [False, True], ids=["all", "judged"])
@pytest.mark.parametrize("measures", ["official", "all_trec", "set"])
@pytest.mark.parametrize("level", [1, 2])
def test_random_collections_are_printed_as_the_c_has_them(
    command: Command, tmp_path: Path, level: int, measures: str, judged_only: bool, complete: bool
) -> None:
    qrels, run = random_collection(seed=level)
    options = ["-q", f"-l{level}", "-m", measures, "--compat", "9"]
    options += ["-J"] * judged_only + ["-c"] * complete
    outcome = command("trec_eval", *options, *write_files(tmp_path, qrels, run))
    rows = list(expected(qrels, run, {measures}, level, judged_only=judged_only, complete=complete))
    assert_printed(outcome.out.splitlines(), rows)


def test_a_mean_half_way_between_two_digits_is_added_up_in_the_order_of_the_topics() -> None:
    """1761 of 100 times 200 documents are relevant, 0.08805; added one after the other the mean lies just below."""
    found = {f"{number:03d}": (2 * number * number + 2) % 41 for number in range(100)}
    run = {topic: [f"d{place}" for place in range(count + 1)] for topic, count in found.items()}
    qrels = {
        topic: {document: int(document != f"d{found[topic]}") for document in ranking} for topic, ranking in run.items()
    }
    added = 0.0
    for topic in sorted(found):
        added += found[topic] / 200
    assert f"{added / 100:6.4f}" == "0.0880"
    assert f"{math.fsum(count / 200 for count in found.values()) / 100:6.4f}" == "0.0881"
    backwards = {topic: run[topic] for topic in sorted(run, reverse=True)}
    for given in (run, backwards):
        assert evaluate(qrels, given, ["P_200"]).lines[0].split() == ["P_200", "all", "0.0880"]


@pytest.mark.parametrize("depth", [1, 5, 20])
def test_a_cut_of_the_run_is_a_cut_of_the_ranking(command: Command, tmp_path: Path, depth: int) -> None:
    qrels, run = random_collection(seed=depth)
    files = write_files(tmp_path, qrels, run)
    outcome = command("trec_eval", "-q", f"-M{depth}", "-m", "all_trec", "--compat", "9", *files)
    cut = {
        topic: {document: ranking[document] for document in ranked(ranking)[:depth]} for topic, ranking in run.items()
    }
    rows = list(expected(qrels, cut, {"all_trec"}, 1, judged_only=False, complete=False))
    assert_printed(outcome.out.splitlines(), rows)
