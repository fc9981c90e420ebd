"""The page that runs in a browser, in a real one: the same numbers as here, and nothing leaves the machine."""

import csv
import gzip
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assemble
import lexirecall
from browsing import AXE, patient, served
from lexirecall.formats.source import PARQUET
from lexirecall.page.html import unpack
from lexirecall.simulate import simulate_collection

READY = "html[data-state=ready]"
TABS = ("evaluate", "compare", "explain", "report")
COLLECTION = simulate_collection(7, num_queries=12, corpus_size=500)
FILES = {name: text.encode() for name, text in COLLECTION.to_trec().items()}
RUNS = [name for name in FILES if name != "qrels.txt"]

pytestmark = pytest.mark.skipif(
    not (assemble.NODE_MODULES / "pyodide").is_dir() or not (assemble.NODE_MODULES / "@emscripten-forge").is_dir(),
    reason="Pyodide and numpy for browsers are not installed: npm ci",
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Put the page together, and serve it to this machine alone."""
    folder = tmp_path_factory.mktemp("site")
    assemble.assemble(folder / "try")
    with served(folder) as root:
        yield root


@pytest.fixture(scope="module")
def page(browser: Any, address: str) -> Any:
    """Open the page once, because Python takes seconds to load; `asked` collects every address that is asked for."""
    opened = patient(browser.new_context()).new_page()
    opened.asked, opened.failures = [], []
    opened.context.on("request", lambda request: opened.asked.append(request.url))
    opened.on("pageerror", lambda error: opened.failures.append(str(error)))
    opened.goto(f"{address}/try/")
    return opened


@pytest.fixture
def fresh(page: Any) -> Any:
    """Take away all files, and show the first tab."""
    page.set_viewport_size({"width": 1280, "height": 900})
    while page.locator("#files button").count():
        page.locator("#files button").first.click()
        page.wait_for_selector(READY)
    page.evaluate("document.getElementById('tab-evaluate').click()")  # which is hidden now
    return page


def choose(page: Any, files: dict[str, bytes]) -> None:
    given = [{"name": name, "mimeType": "text/plain", "buffer": data} for name, data in files.items()]
    page.set_input_files("#choose", given)
    page.wait_for_selector(READY)


def drop(page: Any, files: dict[str, bytes]) -> None:
    held = page.evaluate_handle(
        """(files) => {
          const held = new DataTransfer();
          for (const [name, text] of files) held.items.add(new File([text], name));
          return held;
        }""",
        [[name, data.decode()] for name, data in files.items()],
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": held})
    page.wait_for_selector(READY)


def show(page: Any, tab: str) -> None:
    page.click(f"#tab-{tab}")
    page.wait_for_selector(READY)


def choose_pair(page: Any, a: str, b: str) -> None:
    for side, run in (("A", a), ("B", b)):
        page.select_option(f"label:has-text('Run {side}') select", run)
        page.wait_for_selector(READY)


def saved(page: Any, button: str) -> str:
    with page.expect_download() as download:
        page.click(f"button:has-text('{button}')")
    return Path(download.value.path()).read_text(encoding="utf-8")


def trouble(page: Any) -> str:
    return str(page.inner_text(".trouble"))


def payload(html: str) -> Any:
    return unpack(html.partition('id="payload">')[2].partition("</script>")[0])


def check_rows(found: str, expected: str, tolerance: float) -> None:
    """Compare CSV: all texts and whole numbers are the same, and other numbers within the tolerance."""
    rows, ours = (list(csv.reader(text.splitlines())) for text in (found, expected))
    assert len(rows) == len(ours)
    for row, own in zip(rows, ours, strict=True):
        assert [close(cell, other, tolerance) for cell, other in zip(row, own, strict=True)] == [True] * len(own)


def close(found: Any, expected: Any, tolerance: float) -> bool:
    """Tell whether texts, numbers, lists and mappings are the same, but for the last digits of numbers."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(close(found[key], expected[key], tolerance) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            close(each, own, tolerance) for each, own in zip(found, expected, strict=True)
        )
    try:
        return bool(found == expected or math.isclose(float(found), float(expected), rel_tol=tolerance))
    except (TypeError, ValueError):
        return False


def check_numbers(page: Any, folder: Path, runs: list[str]) -> None:
    """Compare what can be saved with what is computed here: values to the last bit; tests need exp and log.

    The last digit of these is not the same in the mathematical library of each machine.
    """
    qrels, paths = folder / "qrels.txt", [folder / name for name in runs]
    assert saved(page, "Download CSV") == lexirecall.evaluate(qrels, paths).render("csv") + "\n"
    show(page, "compare")
    check_rows(saved(page, "Download CSV"), lexirecall.compare(qrels, paths).render("csv"), tolerance=1e-12)
    assert page.locator("table").first.locator("sup").count() > 0
    show(page, "explain")
    choose_pair(page, *runs[:2])
    explanation = lexirecall.explain(qrels, paths[:2])
    assert saved(page, "Download TSV") == explanation.render("tsv") + "\n"
    assert page.inner_text("#panel h3 + p") == explanation.queries[0].sentence()
    assert page.inner_text("#panel pre").split("\n")[1].startswith(runs[0])
    show(page, "report")
    ours = payload(lexirecall.report(qrels, paths, output=None).html())
    theirs = payload(saved(page, "Download the report"))
    other = [key for key in ours if not close(theirs[key], ours[key], 1e-12)]
    assert set(other) <= {"manifest"}  # which says where the files are
    report = page.frame_locator("iframe")
    report.locator("html[data-state=complete]").wait_for()
    assert report.locator("#leaderboard table").first.locator("tbody tr").count() == len(runs)


def test_sample_data_give_the_numbers_of_this_machine(fresh: Any, tmp_path: Path) -> None:
    fresh.click("#sample")
    fresh.wait_for_selector("#panel table")
    fresh.wait_for_selector(READY)
    texts = simulate_collection(0).to_trec()
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    check_numbers(fresh, tmp_path, [name for name in texts if name != "qrels.txt"])


def test_dropped_files_give_the_numbers_of_this_machine(fresh: Any, tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    drop(fresh, {name: FILES[name] for name in reversed(FILES)})  # the judgments are recognized
    assert fresh.inner_text("#files .judged bdi") == "qrels.txt"
    check_numbers(fresh, tmp_path, RUNS[::-1])


def test_options_and_measures(fresh: Any, tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    choose(fresh, FILES)
    fresh.click("summary")
    fresh.fill("#level", "2")
    fresh.fill("#corpus_size", "500")
    fresh.fill("#others", "RBP(p=0.9)")
    fresh.press("#others", "Enter")
    fresh.wait_for_selector(READY)
    fresh.uncheck("#measures input[value=LexiRecall]")
    fresh.wait_for_selector(READY)
    measures = ["TSE", "R@1000", "Rprec", "AP", "nDCG", "RR", "RBP(p=0.9)"]
    paths = [tmp_path / name for name in RUNS]
    expected = lexirecall.evaluate(tmp_path / "qrels.txt", paths, measures, level=2, corpus_size=500)
    assert saved(fresh, "Download CSV") == expected.render("csv") + "\n"
    assert "-m 'TSE,R@1000,Rprec,AP,nDCG,RR,RBP(p=0.9)' --level 2 --corpus-size 500" in fresh.inner_text(
        ".command code"
    )
    for field in ("#level", "#corpus_size", "#others"):
        fresh.fill(field, "")
    fresh.check("#measures input[value=LexiRecall]")
    fresh.click("summary")


def test_swapped_files_are_swapped_back(fresh: Any) -> None:
    choose(fresh, {name: FILES[name] for name in ("qrels.txt", "deep.run")})
    fresh.check("#files li:has-text('deep.run') input")
    fresh.wait_for_selector(READY)
    assert "deep.run:1: a qrels line has 4 fields" in trouble(fresh)
    assert "is this a run?" in trouble(fresh)
    fresh.click("button:has-text('Use qrels.txt as the judgments')")
    fresh.wait_for_selector("#panel table")
    assert fresh.inner_text("tbody th") == "deep.run"


def test_packed_and_other_files(fresh: Any) -> None:
    choose(fresh, {"qrels.txt": FILES["qrels.txt"], "deep.run.gz": gzip.compress(FILES["deep.run"])})
    assert fresh.inner_text("tbody th") == "deep.run"
    show(fresh, "explain")
    assert "one run alone" in trouble(fresh)
    for name, data, said in (
        ("nonsense.run", b"hello world\n", "nonsense.run:1: a run line has 6 fields"),
        ("deep.parquet", PARQUET + bytes(100), "deep.parquet is a Parquet file, which this page does not read"),
        ("deep.run.zst", b"\x28\xb5\x2f\xfd" + bytes(100), "this page does not unpack zst"),
    ):
        fresh.click("#files button[aria-label^='Remove deep'], #files button[aria-label^='Remove nonsense']")
        fresh.wait_for_selector(READY)
        choose(fresh, {name: data})
        show(fresh, "evaluate")
        assert said in trouble(fresh)
        assert "Traceback" not in fresh.inner_text("body")


def test_a_row_of_a_rag_tool_is_enough(fresh: Any) -> None:
    rows = b'{"query": "one", "reference_context_ids": ["a", "b"], "retrieved_context_ids": ["b", "c", "a"]}\n'
    choose(fresh, {"rows.jsonl": rows})
    assert fresh.inner_text("tbody tr").split()[:2] == ["rows.jsonl", "0.3333"]


def test_more_queries_than_small_comparisons_have(fresh: Any, tmp_path: Path) -> None:
    texts = simulate_collection(3, num_queries=202, corpus_size=200).to_trec()
    names = ["deep.run", "precise.run"]
    for name in ("qrels.txt", *names):
        (tmp_path / name).write_text(texts[name], encoding="utf-8")
    choose(fresh, {name: texts[name].encode() for name in ("qrels.txt", *names)})
    show(fresh, "compare")
    expected = lexirecall.compare(tmp_path / "qrels.txt", [tmp_path / name for name in names])
    check_rows(saved(fresh, "Download CSV"), expected.render("csv"), tolerance=1e-10)


def test_another_run_and_another_query(fresh: Any) -> None:
    choose(fresh, FILES)
    show(fresh, "explain")
    choose_pair(fresh, "random.run", "deep.run")
    fresh.click("tbody button:text-is('5')")
    fresh.wait_for_selector("h3:has-text('Query 5')")
    assert "random.run deep.run --query 5" in fresh.inner_text(".command >> nth=0")


def test_tabs_for_the_keyboard(fresh: Any) -> None:
    choose(fresh, FILES)
    fresh.focus("#tab-evaluate")
    fresh.keyboard.press("End")
    assert fresh.evaluate("document.activeElement.id") == "tab-report"
    fresh.keyboard.press("ArrowRight")
    assert fresh.evaluate("document.activeElement.id") == "tab-evaluate"
    fresh.keyboard.press("ArrowRight")
    fresh.wait_for_selector(READY)
    assert fresh.locator("caption").all_inner_texts() == ["Runs", "Pairs"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_is_accessible_and_fits_a_phone(fresh: Any, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci")
    fresh.emulate_media(color_scheme=scheme)
    fresh.set_viewport_size({"width": 390, "height": 844})
    choose(fresh, FILES)
    fresh.click("summary")
    fresh.evaluate(AXE.read_text(encoding="utf-8"))
    for tab in TABS:
        show(fresh, tab)
        assert fresh.evaluate("document.documentElement.scrollWidth") <= 390
        found = fresh.evaluate("axe.run(document, { iframes: false })")
        assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    fresh.click("summary")


def test_nothing_leaves_the_machine(fresh: Any, address: str) -> None:
    choose(fresh, FILES)
    try_to = """(address) => fetch(address, { mode: "no-cors" }).then(() => "reached", () => "refused")"""
    elsewhere = address.replace("127.0.0.1", "localhost")  # the same server, which is another origin
    (worker,) = fresh.workers
    assert worker.evaluate(try_to, f"{address}/try/") == "reached"
    for place in (fresh, worker):
        assert place.evaluate(try_to, f"{elsewhere}/try/") == "refused"
    assert all(url.startswith((address, f"blob:{address}", "data:")) for url in fresh.asked)
    assert any(url.endswith("pyodide.asm.wasm") for url in fresh.asked)
    assert fresh.failures == []
