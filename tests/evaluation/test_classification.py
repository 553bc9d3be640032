"""Few-shot classification: labelled nodes, averaged features, and invalid input."""

from __future__ import annotations

import networkx
import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from blockselect import make_attributed_blocks
from blockselect.evaluation import classify_selection
from blockselect.evaluation.classification import draw_labelled


@pytest.fixture(scope="module")
def planted():
    return make_attributed_blocks(150, 3, n_informative=12, n_redundant=0, n_noise=28, random_state=0)


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def classify(planted, columns, **options):
    settings = {"features": planted.features, "adjacency": planted.adjacency, "n_runs": 4, **options}
    return classify_selection(settings.pop("features"), planted.blocks, columns, **settings)


def assert_same(scores, expected):
    assert_array_equal(scores.accuracies, expected.accuracies)
    assert_array_equal(scores.averaged_accuracies, expected.averaged_accuracies)
    assert scores.n_zero_rows == expected.n_zero_rows


def test_it_is_the_protocol_to_the_letter(planted):
    columns = np.arange(6)
    scores = classify(planted, columns, n_labels=10)
    own = unit(planted.features.toarray()[:, columns])
    A = planted.adjacency.toarray()
    np.fill_diagonal(A, A[A > 0].mean())
    both = unit(A @ own)
    for run in range(4):
        few = draw_labelled(planted.blocks, 10, run)
        for rows, found in ((own, scores.accuracies), (both, scores.averaged_accuracies)):
            model = LogisticRegression(max_iter=1000).fit(rows[few], planted.blocks[few])
            assert found[run] == pytest.approx(model.score(rows[~few], planted.blocks[~few]), abs=1 / 120)


def test_labelled_nodes_are_so_many_of_each_class_and_at_most_half():
    classes = np.repeat([0, 1, 2, 3], [50, 7, 1, 4])
    rng = np.random.default_rng(0)
    rng.shuffle(classes)
    labelled = draw_labelled(classes, 5, seed=3)
    assert_array_equal(np.bincount(classes[labelled], minlength=4), [5, 3, 0, 2])
    assert_array_equal(draw_labelled(classes, 5, seed=3), labelled)
    assert (draw_labelled(classes, 5, seed=4) != labelled).any()


def test_every_node_of_a_class_is_labelled_equally_often():
    classes = np.repeat([0, 1], [8, 30])
    often = np.mean([draw_labelled(classes, 4, seed) for seed in range(800)], axis=0)
    assert abs(often[:8] - 4 / 8).max() < 0.08
    assert abs(often[8:] - 4 / 30).max() < 0.06


def test_informative_features_beat_noise_and_neighbours_help(planted):
    informative = np.flatnonzero(planted.is_informative)
    noise = np.flatnonzero(~planted.is_informative)[: len(informative)]
    good, bad = classify(planted, informative), classify(planted, noise)
    assert good.accuracies.mean() > bad.accuracies.mean() + 0.2
    assert good.averaged_accuracies.mean() > good.accuracies.mean()


def test_how_features_are_stored_and_named_and_who_shares_the_runs_does_not_matter(planted):
    columns = np.array([7, 3, 22, 11])
    expected = classify(planted, np.sort(columns))
    with parallel_config(backend="threading"):
        assert_same(classify(planted, columns, n_jobs=2), expected)
    assert_same(classify(planted, np.isin(np.arange(40), columns)), expected)
    for features in (planted.features.toarray(), planted.features.tocsc(), planted.features.astype(np.float32)):
        assert_same(classify(planted, columns, features=features), expected)


def test_seeds_run_on_from_the_first(planted):
    scores = classify(planted, [0, 1, 2])
    later = classify(planted, [0, 1, 2], n_runs=2, first_seed=2)
    assert_array_equal(later.accuracies, scores.accuracies[2:])


def test_the_unit_of_the_weights_and_self_loops_do_not_matter(planted):
    heavy = sparse.csr_array(planted.adjacency * 100 + sparse.eye_array(150) * 7)
    assert_same(classify(planted, np.arange(12), adjacency=heavy), classify(planted, np.arange(12)))


def test_nodes_without_the_features_are_counted(planted):
    features = planted.features.toarray()
    features[:9] = 0
    scores = classify(planted, [0, 1], features=features)
    assert scores.n_zero_rows == (features[:, :2] == 0).all(axis=1).sum()
    assert scores.n_features == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"selected": []}, "at least one column"),
        ({"classes": np.zeros(7)}, "classes has shape \\(7,\\) but there are 150 nodes"),
        ({"classes": np.zeros(150, dtype=int)}, "fewer than two classes"),
        ({"classes": np.arange(150)}, "fewer than two classes"),
        ({"n_runs": 0}, "n_runs is 0"),
        ({"n_labels": 0}, "n_labels is 0"),
    ],
)
def test_bad_input_is_refused(planted, changes, message):
    arguments = {"features": planted.features, "classes": planted.blocks, "selected": [0, 1], **changes}
    with pytest.raises(ValueError, match=message):
        classify_selection(**arguments, adjacency=planted.adjacency)


@pytest.mark.parametrize("kind", ["dense", "edge table", "networkx", "one direction"])
def test_any_graph_gives_the_same(kind):
    cora = make_attributed_blocks(60, 3, random_state=0).graph
    table = pd.DataFrame(cora.features.toarray(), index=[f"n{node}" for node in range(60)])
    upper = sparse.triu(cora.adjacency, format="coo")
    names = table.index.to_numpy()
    graphs = {
        "dense": cora.adjacency.toarray(),
        "edge table": pd.DataFrame({"source": names[upper.row], "target": names[upper.col]}),
        "networkx": networkx.Graph(list(zip(names[upper.row], names[upper.col], strict=True))),
        "one direction": sparse.csr_array(upper),
    }
    graphs["networkx"].add_nodes_from(names)
    known = classify_selection(cora.features, cora.classes, [0, 1, 2], adjacency=cora.adjacency, n_runs=2)
    found = classify_selection(table, cora.classes, [0, 1, 2], adjacency=graphs[kind], n_runs=2)
    assert_allclose(found.averaged_accuracies, known.averaged_accuracies)
