"""The gate of a help desk, whose comment docs/gate.md shows."""

from lexirecall import gate
from lexirecall.gates.result import GateResult

QUESTIONS = {
    "reset": "How do I reset my password?",
    "sso": "Which plan has single sign-on?",
    "refund": "Can I get a refund?",
    "export": "How do I export invoices?",
    "delete": "Who can delete a workspace?",
    "limits": "What are the rate limits?",
    "regions": "Where is my data stored?",
    "webhooks": "How do I sign webhooks?",
}
PASSAGES = {
    "blog/sso": "Single sign-on is part of the Business plan.",
    "blog/refund": "For a refund, write to help@example.com within 30 days.",
    "blog/export": "Owners export invoices from the page Billing.",
    "blog/delete": "Only an owner can delete a workspace.",
    "blog/limits": "The limit is 100 requests a minute.",
    "help/regions": "Data are stored in the region that you chose.",
}
_LOST = ("sso", "refund", "export", "delete", "limits")


def helpdesk() -> GateResult:
    """Return a gate that fails: five questions lose a passage, and one gains one."""
    qrels = {question: {f"help/{question}": 1, f"blog/{question}": 1} for question in QUESTIONS}
    accepted = {question: list(passages) for question, passages in qrels.items()}
    new = {question: found[: 1 if question in _LOST else 2] for question, found in accepted.items()}
    accepted["regions"] = accepted["regions"][1:]
    texts = {"queries": QUESTIONS, "documents": PASSAGES}
    return gate(qrels, new, accepted, require="All@5>=0.9", texts=texts)
