"""For somebody who trains a retriever: the exact rank of every relevant document after each epoch.

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/torch_loop.py`. It needs PyTorch:
`pip install 'lexirecall[torch,frames]'`. It trains two towers on simulated topics, in plain PyTorch on the CPU, and
evaluates the whole corpus after each epoch: nothing is retrieved, sorted or cut off. All documents of a query's topic
are relevant; some of them are written in another style, which is harder to match.
"""

# %% A simulated collection: documents have a topic, queries ask for one
import tempfile

import torch
from torch import nn

from lexirecall import evaluate, project_embeddings, rank

torch.manual_seed(21)
NUM_TOPICS, NUM_QUERIES, NUM_DOCUMENTS, WIDTH = 60, 240, 6000, 48
topics, other_style = torch.randn(2, NUM_TOPICS, WIDTH)
topic_of_query = torch.arange(NUM_QUERIES) % NUM_TOPICS
topic_of_document = torch.randint(NUM_TOPICS + 940, (NUM_DOCUMENTS,))  # most documents are about something else
is_odd = torch.rand(NUM_DOCUMENTS) < 0.2
known = topic_of_document.clamp(max=NUM_TOPICS - 1)
about = torch.where(is_odd[:, None], other_style[known], topics[known])
is_known = (topic_of_document < NUM_TOPICS)[:, None]
documents = torch.where(is_known, about, torch.zeros(1)) + 1.5 * torch.randn(NUM_DOCUMENTS, WIDTH)
queries = topics[topic_of_query] + 1.0 * torch.randn(NUM_QUERIES, WIDTH)

same_topic = topic_of_query[:, None] == topic_of_document
training, dev = slice(0, 180), slice(180, NUM_QUERIES)
query_ids = [f"q{number}" for number in range(NUM_QUERIES)]
document_ids = [f"d{number}" for number in range(NUM_DOCUMENTS)]
qrels = {
    query: {document_ids[d]: 1 for d in row.nonzero().flatten().tolist()}
    for query, row in zip(query_ids[dev], same_topic[dev], strict=True)
}


# %% Two towers
class Towers(nn.Module):
    """A vector for each query and each document."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.document = (
            nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, 32)) for _ in range(2)
        )

    def loss(self, asked: torch.Tensor, is_relevant: torch.Tensor) -> torch.Tensor:
        """Return the mean surprise at a relevant document, if one document were drawn by its score."""
        chances = torch.log_softmax(self.query(asked) @ self.document(documents).T, dim=1)
        return -(chances * is_relevant).sum() / is_relevant.sum()


# %% Train, and find the exact positions after each epoch
model = Towers()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
folder = tempfile.TemporaryDirectory()
for epoch in range(1, 7):
    for batch in torch.randperm(180).split(30):
        optimizer.zero_grad()
        model.loss(queries[batch], same_topic[batch]).backward()
        optimizer.step()
    with torch.no_grad():
        vectors = model.query(queries[dev]), model.document(documents)
    positions = project_embeddings(
        *vectors, qrels, query_ids=query_ids[dev], corpus_ids=document_ids, name=f"epoch {epoch}"
    )
    positions.save(f"{folder.name}/epoch-{epoch}.parquet")  # some kB, from which every measure can be computed
    means = evaluate(positions, measures=["TSE", "LastRel", "All@1000", "R@100", "AP"]).to_dict()[f"epoch {epoch}"]
    print(f"epoch {epoch}", *(f"{measure} {value:.4g}" for measure, value in means.items()), sep="  ")

# %% Which epoch is the best, if everything must be found?
with folder:
    print(rank(qrels, f"{folder.name}/*.parquet"))
