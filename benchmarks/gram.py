"""Where the sparse form of the squared Gram matrix begins to win."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from benchmarks.measure import Measurement, interleaved_ratio
from blockselect.bmgufs.gram_squared import _SPARSE_BELOW, DenseGramSquared, SparseGramSquared

_N_FEATURES = 4000


def run() -> Iterator[Measurement]:
    rng = np.random.default_rng(0)
    values = sparse.random_array((_N_FEATURES, _N_FEATURES), density=_SPARSE_BELOW, format="csr", rng=rng)
    thin, full = SparseGramSquared(values), DenseGramSquared(values.toarray())
    for count in (1, 24):
        scores = rng.random((count, _N_FEATURES))
        ratio = interleaved_ratio(lambda scores=scores: thin.apply(scores), lambda scores=scores: full.apply(scores))
        yield Measurement(
            f"sparse product of {count} solve(s)",
            ratio,
            1.0,
            f"÷ the dense one, {_SPARSE_BELOW:.0%} non-zeros",
        )
