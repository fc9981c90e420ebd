"""Scores of jax: those in the memory of the host are counted like numpy's, others where they are."""

from typing import Any

import numpy as np
import pytest

from lexirecall import project_scores
from test_scores import contents

jax = pytest.importorskip("jax.numpy")
pytest.importorskip("array_api_compat")

RNG = np.random.default_rng(7)
SCORES = RNG.integers(0, 40, (12, 60)) / 8  # exact in bfloat16, and with ties
RELEVANT = RNG.random((12, 60)) < 0.1
EXCLUDE = ~RELEVANT & (RNG.random((12, 60)) < 0.2)


@pytest.mark.parametrize("is_on_device", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("ties", ["trec", "input", "worst", "best", "expected"])
def test_arrays_of_jax_are_counted(ties: str, dtype: str, is_on_device: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> Any:
        raise BufferError("on a device")

    if is_on_device:
        monkeypatch.setattr(np, "from_dlpack", refused)
    given = jax.asarray(SCORES, dtype=dtype), jax.asarray(RELEVANT)
    found = project_scores(*given, exclude=jax.asarray(EXCLUDE), ties=ties)
    assert list(contents(found)) == list(contents(project_scores(SCORES, RELEVANT, exclude=EXCLUDE, ties=ties)))
