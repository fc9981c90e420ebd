"""For an engineer who gates a RAG pipeline in CI: no release may lose a passage that an answer needs.

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/rag_gate.py`. In your repository,
the cells below the first are tests: put them into `test_retrieval.py` and let pytest run them.
"""

# %% What each question needs (without all of its passages the answer is wrong), and what the retrievers return
from lexirecall.adapters.gate import assert_no_worse, assert_nothing_lost

needed = {f"question {i}": {f"passage {i}a": 1, f"passage {i}b": 1} for i in range(12)}
released = {q: [*passages, "noise 1", "noise 2"] for q, passages in needed.items()}
better = {q: [*reversed(passages), "noise 3"] for q, passages in needed.items()}
worse = {q: [first, "noise 1", "noise 2", second] for q, (first, second) in ((q, list(p)) for q, p in needed.items())}
worse["question 3"] = ["passage 3a", "noise 1", "noise 2"]

# %% A change that only moves passages passes


def test_no_question_gets_worse() -> None:
    assert_no_worse(needed, better, released, preference="LexiRecall", alpha=0.05)


def test_every_passage_is_still_within_the_context_window() -> None:
    assert_nothing_lost(needed, better, released, depth=3)


# %% A change that pushes passages out of the window fails, and the failure names them


def test_the_gate_closes() -> None:
    for gate in (
        lambda: assert_no_worse(needed, worse, released, preference="LexiRecall", alpha=0.05),
        lambda: assert_nothing_lost(needed, worse, released, depth=3),
    ):
        try:
            gate()
        except AssertionError as failure:
            print(f"{failure}\n")
        else:
            raise RuntimeError("the gate let it through")


if __name__ == "__main__":
    test_no_question_gets_worse()
    test_every_passage_is_still_within_the_context_window()
    test_the_gate_closes()
