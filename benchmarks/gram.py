"""The squared Gram matrix: time to compute it, and the density below which the sparse form is faster."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from benchmarks.measure import Measurement, interleaved_ratio
from benchmarks.networks import blogcatalog, blogcatalog_name
from blockselect.bmgufs.gram import SPARSE_BELOW, DenseGramSquared, SparseGramSquared, gram_squared

_N_FEATURES = 4000


def run() -> Iterator[Measurement]:
    features = sparse.csr_array(blogcatalog().features)
    by_feature = sparse.csr_array(features.T)
    for form, peer in (
        ("dense", lambda: np.square((by_feature @ features).toarray())),
        ("sparse", lambda: (by_feature @ features).power(2)),
    ):
        ratio = interleaved_ratio(lambda form=form: gram_squared(features, form=form), peer, repeats=2)
        yield Measurement(
            f"making it, {form}",
            ratio,
            float("inf"),
            f"relative to SciPy's squared product of the features, on {blogcatalog_name()}",
        )
    rng = np.random.default_rng(0)
    values = sparse.random_array((_N_FEATURES, _N_FEATURES), density=SPARSE_BELOW, format="csr", rng=rng)
    thin, full = SparseGramSquared(values), DenseGramSquared(values.toarray())
    for count in (1, 24):
        scores = rng.random((count, _N_FEATURES))
        ratio = interleaved_ratio(lambda scores=scores: thin.apply(scores), lambda scores=scores: full.apply(scores))
        yield Measurement(
            f"sparse product of {count} solve(s)",
            ratio,
            1.0,
            f"relative to the dense product, with {SPARSE_BELOW:.0%} non-zero entries",
        )
