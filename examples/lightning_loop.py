"""For somebody who trains a recommender with Lightning: a metric that keeps positions instead of predictions.

Run it as a whole: `python examples/lightning_loop.py`. It needs `pip install 'lexirecall[torch]' lightning`. It learns
factors of users and documents from simulated purchases, and validates on documents that were held out: scores of all
documents, but those bought before, which are excluded. `PositionsMetric` counts each batch and keeps only the ranks of
what was held out; with several processes, torchmetrics gathers these.
"""

# %% Simulated purchases: users and documents of 8 tastes
import logging
import tempfile
import warnings

import torch
from lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

from lexirecall.torch import PositionsMetric

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="lightning")  # hints about speed, which do not matter here
torch.manual_seed(21)
NUM_USERS, NUM_DOCUMENTS, NUM_TASTES = 300, 2000, 8
taste_of_user, taste_of_document = (
    torch.randint(NUM_TASTES, (NUM_USERS, 1)),
    torch.randint(NUM_TASTES, (NUM_DOCUMENTS,)),
)
bought = torch.rand(NUM_USERS, NUM_DOCUMENTS) < torch.where(taste_of_user == taste_of_document, 0.12, 0.002)
held_out = bought & (torch.rand(bought.shape) < 0.3)
seen = bought & ~held_out


# %% A model that validates with exact positions
class Factors(LightningModule):
    """Factors of users and documents."""

    def __init__(self) -> None:
        super().__init__()
        self.users, self.documents = torch.nn.Embedding(NUM_USERS, 16), torch.nn.Embedding(NUM_DOCUMENTS, 16)
        torch.nn.init.normal_(self.users.weight, std=0.1)
        torch.nn.init.normal_(self.documents.weight, std=0.1)
        self.found = PositionsMetric(["TSE", "LastRel", "R@100", "AP"])

    def training_step(self, batch: list[torch.Tensor]) -> torch.Tensor:
        """Learn to tell what was bought."""
        (users,) = batch
        chances = torch.log_softmax(self.users(users) @ self.documents.weight.T, dim=1)
        return -(chances * seen[users]).sum() / seen[users].sum()

    def validation_step(self, batch: list[torch.Tensor]) -> None:
        """Count what ranks above the documents that were held out."""
        (users,) = batch
        self.found.update(self.users(users) @ self.documents.weight.T, held_out[users], users, exclude=seen[users])

    def on_validation_epoch_end(self) -> None:
        """Log the means; the metric begins anew."""
        means = self.found.compute()
        self.found.reset()
        self.log_dict({measure: value.float() for measure, value in means.items()})
        print(f"epoch {self.current_epoch}", *(f"{m} {value:.4g}" for m, value in means.items()), sep="  ")

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return what Lightning asks for."""
        return torch.optim.Adam(self.parameters(), lr=0.05)


# %% Train
loader = DataLoader(TensorDataset(torch.arange(NUM_USERS)), batch_size=50)
with tempfile.TemporaryDirectory() as folder:
    trainer = Trainer(
        max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, num_sanity_val_steps=0, default_root_dir=folder,
    )  # fmt: skip
    trainer.fit(Factors(), loader, loader)
