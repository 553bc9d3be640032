"""Many candidate block models of one graph, of one family or of several in turn, the best-fitting first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.blockmodels.embedding import one_thread
from blockselect.blockmodels.families.factorization import normalized_labels, onmtf_labels, two_hop_labels
from blockselect.blockmodels.families.search import MAX_ITER, Family, Search
from blockselect.blockmodels.families.smoothed import smoothed_labels
from blockselect.blockmodels.families.spectral import adjacency_labels, spectral_labels
from blockselect.blockmodels.model import BlockModel, adjacency_of
from blockselect.errors import ParameterError
from blockselect.graphs.attributed import AttributedGraph, check_feature_table, check_same_order
from blockselect.graphs.checks import check_n_blocks
from blockselect.parameters import as_generator, as_numbers, check_entries, check_n_jobs, check_whole
from blockselect.progress import StepProgress, no_step_progress

MEMBERS: dict[str, Family] = {
    "spectral": spectral_labels,
    "two_hop": two_hop_labels,
    "smoothed": smoothed_labels,
    "normalized": normalized_labels,
    "onmtf": onmtf_labels,
    "adjacency": adjacency_labels,
}

FEATURE_READING = "smoothed"  # the one family that reads the features besides the graph
MIXED = (FEATURE_READING, "spectral", "adjacency")  # which take turns first; the slowest first
ALL_IN_TURN = (*MIXED, "two_hop", "normalized", "onmtf")
N_FIRST_TURNS = 9  # candidates after which the factorisations take turns too


def mixed_labels(search: Search) -> list[IntArray]:
    """Blocks of each start by the family whose turn it is; "smoothed" is left out where there are no features.

    Each family alone fails on some kind of network, and rarely do all fail on the same one. The factorisations take
    most of the time on networks with many blocks, and are rarely the best there. They are only used after the first
    nine candidates: networks that are so small that more are searched for gain by them.
    """
    turns = members_in_turn(len(search.rngs), with_features=search.features is not None)
    places = {name: [i for i, turn in enumerate(turns) if turn == name] for name in dict.fromkeys(turns)}
    # The families side by side: their products and K-means release the interpreter.
    found = Parallel(n_jobs=search.n_jobs, prefer="threads", return_as="generator_unordered")(
        delayed(_labels_of_member)(name, replace(search, rngs=[search.rngs[i] for i in places[name]]))
        for name in places
    )
    in_turn = {}
    done = 0
    for name, labels in found:
        in_turn[name] = iter(labels)
        done += len(labels)
        search.progress(done, len(turns))
    return [next(in_turn[name]) for name in turns]


def _labels_of_member(name: str, search: Search) -> tuple[str, list[IntArray]]:
    return name, MEMBERS[name](replace(search, n_jobs=1, progress=no_step_progress))


def members_in_turn(n_candidates: int, *, with_features: bool) -> list[str]:
    """The family of each candidate, one after the other: the first ten of twenty are the ten of ten."""
    few, many = ([name for name in names if with_features or name != FEATURE_READING] for names in (MIXED, ALL_IN_TURN))
    turns = [few[i % len(few)] for i in range(N_FIRST_TURNS)] + [many[i % len(many)] for i in range(n_candidates)]
    return turns[:n_candidates]


FAMILIES: dict[str, Family] = {**MEMBERS, "mixed": mixed_labels}


def find_block_models(
    adjacency: Any,
    n_blocks: int,
    *,
    family: str = "spectral",
    features: Any = None,
    n_candidates: int = 10,
    rng: np.random.Generator | int,
    n_jobs: int | None = None,
    max_iter: int = MAX_ITER,
    progress: StepProgress | None = None,
    eigenvectors: FloatArray | None = None,
) -> list[BlockModel]:
    """Candidate block models, ordered by relative error, lowest first (equals: in the order found).

    Each candidate has a random stream of its own, so the first ten of twenty are the ten of ten.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, n), or AttributedGraph
        The graph, read as :func:`blockselect.check_attributed_graph` reads it. One that it has read is not checked
        again, nor are `features` then, which must be of the same nodes. (paper: A)
    n_blocks : int
        Blocks asked for; where a family finds fewer kinds of node, fewer come back. (paper: k)
    family : str, default="spectral"
        How blocks are found. "spectral": K-means of the leading eigenvectors of the normalised graph. "onmtf": the
        paper's tri-factorisation of the graph; "normalized" and "two_hop": the same of the degree-normalised graph and
        of its square. "smoothed": K-means of features averaged over neighbours. "adjacency": K-means of the leading
        eigenvectors of the graph as it is, so that blocks may differ by degree. "mixed": "smoothed" if features
        are given, "spectral" and "adjacency" in turn; after nine candidates the three factorisations take turns too.
    features : array or sparse matrix of shape (n, m), optional
        Non-negative features of the nodes, which "smoothed" and "mixed" read. (paper: Y)
    n_candidates : int, default=10
        How many to find.
    rng : numpy.random.Generator or int
        Seeds the candidates: the same one gives the same candidates.
    n_jobs : int or None, default=None
        Processes or threads that find candidates. The result is the same for any number.
    max_iter : int, default=500
        Iterations of the factorisations "normalized" and "two_hop", which stop before where they settle. Fewer are
        enough where blocks are refined afterwards.
    progress : callable, optional
        Called as ``progress(done, total)`` where the search has parts.
    eigenvectors : array of shape (n, s), optional
        Leading eigenvectors of the degree-normalised graph, where counting its blocks found them already: "spectral"
        needs no others.

    Returns
    -------
    list of BlockModel
        Each with the name of the family that found it.
    """
    check_family(family, with_features=features is not None, parameter="family")
    _check_settings(n_jobs, n_blocks=n_blocks, n_candidates=n_candidates, max_iter=max_iter)
    network, adjacency = adjacency, adjacency_of(adjacency)
    check_n_blocks(n_blocks, adjacency.shape[0])
    read = features if family in (FEATURE_READING, "mixed") else None
    if not isinstance(network, AttributedGraph):
        read = _check_rows(read, network, adjacency)
        eigenvectors = _check_eigenvectors(eigenvectors, adjacency.shape[0])
    rngs, report = as_generator(rng).spawn(n_candidates), progress or no_step_progress
    search = Search(adjacency, n_blocks, rngs, read, n_jobs, max_iter, report, eigenvectors)
    with one_thread():  # sums over threads are rounded otherwise: one thread, one result
        found = FAMILIES[family](search)
    labels = [np.unique(one, return_inverse=True)[1].astype(np.intp, copy=False) for one in found]
    found_by = [family] * n_candidates
    if family == "mixed":
        found_by = members_in_turn(n_candidates, with_features=read is not None)
    return order_by_error(
        [BlockModel.of_checked(adjacency, one, family=name) for one, name in zip(labels, found_by, strict=True)]
    )


def check_family(family: Any, *, with_features: bool, parameter: str = "block_model") -> None:
    """Refuse a family that is not known, or lacks the features that it needs, before any work."""
    if not isinstance(family, str) or family not in FAMILIES:
        others = ", labels or a BlockModel" if parameter == "block_model" else ""
        raise ParameterError(parameter, f"is {family!r}; expected one of {list(FAMILIES)}{others}.")
    if family == FEATURE_READING and not with_features:
        raise ParameterError(
            parameter,
            "is 'smoothed', which groups nodes by their features, but there are none; pass features, or choose "
            "another family.",
        )


def order_by_error(models: Sequence[BlockModel]) -> list[BlockModel]:
    return sorted(models, key=lambda model: round(model.relative_error, 12))  # equal but for rounding: as found


def _check_rows(features: Any, graph: Any, adjacency: Sparse) -> Features | None:
    """The features, one row for each node, in the order that the graph has as well."""
    if features is None:
        return None
    table = check_feature_table(features)
    matrix = table.matrix
    n_nodes = adjacency.shape[0]
    if matrix.shape[0] != n_nodes:
        raise ValueError(f"features has {matrix.shape[0]} rows but the graph has {n_nodes} nodes; give one row a node.")
    check_same_order(table.node_ids, graph, adjacency, what="features", fix="features.loc[ids]")
    return matrix


def _check_settings(n_jobs: Any, **numbers: Any) -> None:
    """Refuse what estimators refuse by their constraints."""
    if n_jobs is not None:
        check_n_jobs(n_jobs)
    for name, value in numbers.items():
        if type(value) is not int or value < 1:
            check_whole(name, value, 1)


def _check_eigenvectors(eigenvectors: Any, n_nodes: int) -> FloatArray | None:
    if eigenvectors is None:
        return None
    vectors = as_numbers("eigenvectors", eigenvectors)
    if vectors.ndim != 2 or vectors.shape[0] != n_nodes:
        raise ParameterError(
            "eigenvectors", f"has shape {vectors.shape} but the graph has {n_nodes} nodes; give one row a node."
        )
    check_entries("eigenvectors", vectors, np.isfinite(vectors), "is not finite; compute them again")
    return vectors
