"""Blocks of transformers: norms against numpy."""

import numpy as np
import pytest
import torch

from helpers.covers import blocks


def test_norms_are_those_of_numpy():
    A, B = torch.randn(2, 5, 3, 4, generator=torch.Generator().manual_seed(0)).double()
    largest = np.maximum(*(np.linalg.norm(M, 2, axis=(1, 2)) for M in (A.numpy(), B.numpy())))
    assert blocks.spectral(A, B).tolist() == pytest.approx(largest.tolist(), rel=1e-12)
    rows = np.linalg.norm(A.numpy(), axis=-1).max(-1)
    assert blocks.longest(A).tolist() == pytest.approx(rows.tolist(), rel=1e-12)
