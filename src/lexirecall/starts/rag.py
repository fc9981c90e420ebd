"""A RAG engineer: questions to a help centre, the chunks that three retrievers return, and the facts that they state.

Belongs here: these files, and what a RAG engineer does with them. The rows have the keys that ragas uses.
"""

import json
from collections.abc import Iterable, Mapping

import numpy as np

from lexirecall.starts.start import Start, noisy, ranked, separated

_SEED = 12
_SUBJECTS = {
    "sso": "single sign-on", "invoices": "invoices", "backups": "backups", "webhooks": "webhooks",
    "seats": "additional seats", "export": "the data export", "audit-log": "the audit log", "api-keys": "API keys",
    "trial": "the free trial", "refunds": "refunds", "roles": "custom roles", "sandbox": "the sandbox",
}  # fmt: skip
_FACETS = {
    "plan": "The Business plan has {}.",
    "setup": "To set up {}, open Settings and choose Workspace.",
    "limit": "The limit of {} is 50 for each workspace.",
    "retention": "What belongs to {} is kept for 30 days after you cancel.",
}
_QUESTIONS = {
    "How do I set up {}?": ("one-fact", ("setup",)),
    "Does our plan have {}, and how do I set it up?": ("two-facts", ("plan", "setup")),
    "What is the limit of {}, and what happens to it if we cancel?": ("two-facts", ("limit", "retention")),
    "Can we set up {} in our plan and its limit, and keep it after we cancel?": ("four-facts", tuple(_FACETS)),
}
"""The kind of each question, and what its answer needs."""
_LOST = ("invoices-", "backups-", "export-")
"""Pages that were cut anew for the index, without their last paragraph."""
_SHOWN = 12


def make() -> Mapping[str, str]:
    """Simulate the files.

    >>> sorted(make())
    ['chunks.jsonl', 'facts.jsonl', 'facts.tsv', 'fixed.jsonl', 'kinds.tsv', 'new.jsonl', 'old.jsonl']
    """
    rng = np.random.default_rng(_SEED)
    facts = [f"{subject}/{facet}" for subject in _SUBJECTS for facet in _FACETS]
    stated = {f"{fact.replace('/', f'-{place}-')}": fact for place in ("guide", "faq") for fact in facts}
    asked = [(subject, words) for words in _QUESTIONS for subject in _SUBJECTS]
    questions = {f"q{number:02d}": pair for number, pair in enumerate(asked, 1)}
    rows: dict[str, list[dict[str, object]]] = {"old.jsonl": [], "new.jsonl": [], "fixed.jsonl": []}
    for question, (subject, words) in questions.items():
        wanted = {f"{subject}/{facet}" for facet in _QUESTIONS[words][1]}
        asks = {"question_id": question, "user_input": words.format(_SUBJECTS[subject])}
        needs = [chunk for chunk, fact in stated.items() if fact in wanted]
        for name, found in _retrieved(rng, subject, wanted, stated).items():
            rows[name].append({**asks, "retrieved_context_ids": found, "reference_context_ids": needs})
    kinds = ((question, _QUESTIONS[words][0]) for question, (_, words) in questions.items())
    return {
        **{name: _json_lines(records) for name, records in rows.items()},
        "facts.tsv": separated(stated.items(), "\t"),
        "facts.jsonl": _json_lines({"doc_id": fact, "text": _sentence(fact)} for fact in facts),
        "chunks.jsonl": _json_lines({"chunk_id": chunk, "text": _words(chunk, fact)} for chunk, fact in stated.items()),
        "kinds.tsv": separated(kinds, "\t"),
    }


def _retrieved(
    rng: np.random.Generator, subject: str, wanted: set[str], stated: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return what each retriever finds: the old one may give a fact twice, the others give each of them once."""
    near = {chunk: 1.5 * chunk.startswith(subject) for chunk in stated}
    old = noisy(rng, {chunk: near[chunk] + 1.7 * (fact in wanted) for chunk, fact in stated.items()})
    scores = noisy(rng, {chunk: near[chunk] + 2.6 * (fact in wanted) for chunk, fact in stated.items()})
    first: dict[str, str] = {}
    for chunk in ranked(scores, len(scores)):
        first.setdefault(stated[chunk], chunk)
    fixed = [*first.values()]
    kept = [chunk for chunk in fixed if not (chunk.startswith(_LOST) and chunk.endswith("-retention"))]
    return {"old.jsonl": ranked(old, _SHOWN), "new.jsonl": kept[:_SHOWN], "fixed.jsonl": fixed[:_SHOWN]}


def _sentence(fact: str) -> str:
    subject, facet = fact.split("/")
    sentence = _FACETS[facet].format(_SUBJECTS[subject])
    return sentence[0].upper() + sentence[1:]


def _words(chunk: str, fact: str) -> str:
    return f"{'Frequently asked' if '-faq-' in chunk else 'Guide'}: {_sentence(fact)}"


def _json_lines(rows: Iterable[Mapping[str, object]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


_NOTHING_LOST = "no query loses a relevant document"
START = Start(
    reader="rag",
    person="a RAG engineer",
    question="Do the five chunks in the prompt hold every fact that an answer needs, and may the new index go in?",
    about={
        "old.jsonl": "48 questions, with the chunks that were retrieved and those that state a needed fact",
        "new.jsonl": "the same from a new index, which drops repeated chunks",
        "fixed.jsonl": "the same from the next attempt",
        "facts.tsv": "which fact each chunk states; two chunks state each fact",
        "facts.jsonl": "the facts in words",
        "chunks.jsonl": "the chunks in words",
        "kinds.tsv": "how many facts each question needs",
    },
    make=make,
    commands=(
        "lexirecall eval {}/old.jsonl {}/new.jsonl --units {}/facts.tsv -m All@5 -m R@5 -m LexiRecall",
        "lexirecall gate {}/new.jsonl --baseline {}/old.jsonl --units {}/facts.tsv -m All@5 "
        f"--require '{_NOTHING_LOST}' --texts {{}}/facts.jsonl",
        "lexirecall gate {}/fixed.jsonl --baseline {}/old.jsonl --units {}/facts.tsv -m All@5 "
        f"--require '{_NOTHING_LOST}' --require 'All@5>=0.95' --texts {{}}/facts.jsonl",
    ),
    conclusion="The mean of the new index is higher, but six questions lose a fact, all from three pages: do not ship "
    "it. The next attempt loses nothing, and has every fact of every question among the first five chunks: ship that.",
    following=(
        "lexirecall eval {}/old.jsonl {}/new.jsonl {}/fixed.jsonl --units {}/facts.tsv -m All@5 --by {}/kinds.tsv",
        "lexirecall explain {}/old.jsonl {}/new.jsonl --units {}/facts.tsv --texts {}/chunks.jsonl --query q26",
    ),
)
