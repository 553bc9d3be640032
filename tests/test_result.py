"""A fitted selector answers by itself: after a fit in one line, in a pipeline, from a pickle in another process."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import weakref

import joblib
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder

from blockselect import BMGUFS, BlockModelSelector, RowChunks, SignedSelector, make_selector, plot
from blockselect.blockmodels.markers import block_markers
from made_fits import QUICK, easy_network

PLANTED = easy_network()
IDS = [f"node {i}" for i in range(200)]
FRAME = pd.DataFrame(PLANTED.features.toarray(), index=IDS).add_prefix("word ")
SOURCES, TARGETS = PLANTED.adjacency.nonzero()
EDGES = pd.DataFrame({"source": [IDS[i] for i in SOURCES], "target": [IDS[j] for j in TARGETS]})
PLOTS = [
    plot.scores,
    plot.features_by_block,
    plot.block_densities,
    lambda selector, ax: plot.block_densities(selector, ax, induced=True),
    plot.ordered_adjacency,
    plot.explained,
]


def default():
    return BlockModelSelector(12, **QUICK)


def paper():
    return BMGUFS(12, **QUICK)


def check_by_itself(selector, folder=None):
    """Table, blocks, graph, plots and page of a selector whose data are gone."""
    gc.collect()
    table = selector.table()
    assert table["rank"].tolist() == list(range(1, 53))
    assert table["feature"].tolist() == [f"word {column}" for column in table["column"]]
    by_column = table.sort_values("column", ignore_index=True)
    assert_array_equal(by_column["score"], selector.scores_)
    markers = block_markers(FRAME.to_numpy(), selector.labels_)
    assert_allclose(by_column["lift"], markers.marked_lift)
    assert_allclose(by_column["prevalence"], markers.prevalence)
    blocks = selector.blocks_
    assert blocks["size"].tolist() == np.bincount(selector.labels_).tolist()
    assert set(selector.describe_block(blocks["name"][1]).typical_nodes) <= set(np.array(IDS)[selector.labels_ == 1])
    graph = selector.annotate(nx.empty_graph(IDS))
    assert [graph.nodes[name]["block"] for name in IDS] == selector.labels_.tolist()
    assert [graph.nodes[name]["block_name"] for name in IDS] == blocks["name"].loc[selector.labels_].tolist()
    for draw in PLOTS:
        draw(selector, Figure().subplots())
    if folder is not None:
        page = selector.report(folder / "report.html").read_text(encoding="utf-8")
        assert table["feature"][0] in page


@pytest.mark.parametrize("make", [default, paper])
def test_a_fit_in_one_line_keeps_what_it_shows(make, tmp_path):
    check_by_itself(make().fit(FRAME.copy(), adjacency=PLANTED.adjacency.copy()), tmp_path)


def test_edges_that_were_a_list_or_a_table_are_not_needed_again(tmp_path):
    check_by_itself(default().fit(FRAME.copy(), adjacency=EDGES.copy()), tmp_path)
    pairs = list(zip(SOURCES.tolist(), TARGETS.tolist(), strict=True))
    selector = default().fit(FRAME.reset_index(drop=True), adjacency=pairs)
    assert selector.show_report().html


@pytest.mark.parametrize("make", [default, paper])
def test_a_pipeline_answers_after_its_fit(make, tmp_path):
    with config_context(enable_metadata_routing=True):
        selector = make().set_fit_request(adjacency=True)
        steps = make_pipeline(MaxAbsScaler().set_output(transform="pandas"), selector)
        steps.fit(FRAME, adjacency=PLANTED.adjacency)
    assert steps[-1].table()["feature"][0].startswith("word ")
    assert steps[-1].report(tmp_path / "report.html").exists()


def test_names_of_a_column_transformer_go_through_a_pipeline():
    people = FRAME.assign(town=np.array(["Ulm", "Bonn", "Jena"])[PLANTED.blocks])
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["town"]), remainder=MaxAbsScaler())
    with config_context(enable_metadata_routing=True):
        steps = make_pipeline(columns, default().set_fit_request(adjacency=True)).set_output(transform="pandas")
        steps.fit(people, adjacency=PLANTED.adjacency)
    names = [f"onehotencoder__town_{town}" for town in ("Bonn", "Jena", "Ulm")]
    assert set(steps[-1].table()["feature"]) == {*names, *(f"remainder__{one}" for one in FRAME)}
    assert list(steps.get_feature_names_out()) == list(steps[-1].get_feature_names_out())


def test_names_of_words_counted_in_a_pipeline_are_one_line_away():
    texts = [" ".join(name.replace(" ", "") for name in FRAME.columns[row > 0]) for row in FRAME.to_numpy()]
    with config_context(enable_metadata_routing=True):
        steps = make_pipeline(CountVectorizer(), default().set_fit_request(adjacency=True))
        steps.fit(texts, adjacency=PLANTED.adjacency)
    selector = steps[-1]
    assert selector.table()["feature"].str.match(r"x\d+").all()  # scikit-learn does not pass the names on
    table = selector.table().assign(feature=lambda t: steps[:-1].get_feature_names_out()[t["column"]])
    assert set(table.query("selected")["feature"]) == set(steps.get_feature_names_out())
    counted = CountVectorizer()
    words = pd.DataFrame.sparse.from_spmatrix(counted.fit_transform(texts), columns=counted.get_feature_names_out())
    named = default().fit(words, adjacency=PLANTED.adjacency)
    assert named.table()["feature"].tolist() == table["feature"].tolist()


@pytest.mark.parametrize("carry", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_and_pickles_answer_as_the_selector_does(carry, tmp_path):
    selector = default().fit(FRAME, adjacency=PLANTED.adjacency)
    other = carry(selector)
    pd.testing.assert_frame_equal(other.table(), selector.table())
    assert other.show_report().html == selector.show_report().html
    check_by_itself(other, tmp_path)


IN_ANOTHER_PROCESS = """
import sys, joblib, numpy
selector = joblib.load(sys.argv[1])
print(selector.table()["feature"][0], selector.describe_block(0).size, len(selector.predict(numpy.ones((3, 52)))))
selector.report(sys.argv[2])
"""


def test_another_process_loads_the_selector_and_needs_no_data(tmp_path):
    selector = default().fit(PLANTED.features, adjacency=PLANTED.adjacency)
    joblib.dump(selector, tmp_path / "selector.joblib")
    arguments = [str(tmp_path / name) for name in ("selector.joblib", "report.html")]
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, *arguments], capture_output=True, text=True, check=True
    )
    best, size, predicted = done.stdout.split()
    assert best == selector.table()["feature"][0]
    assert (int(size), int(predicted)) == (np.count_nonzero(selector.labels_ == 0), 3)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == selector.show_report().html


def test_row_chunks_give_the_same_table_and_blocks_as_a_matrix():
    chunks = RowChunks.from_blocks([PLANTED.features[:70], PLANTED.features[70:]])
    in_chunks, in_memory = (
        BlockModelSelector(12, block_model=PLANTED.blocks).fit(X, adjacency=PLANTED.adjacency)
        for X in (chunks, PLANTED.features)
    )
    del chunks
    gc.collect()
    pd.testing.assert_frame_equal(in_chunks.table(), in_memory.table(), rtol=1e-6)
    pd.testing.assert_frame_equal(in_chunks.blocks_, in_memory.blocks_, rtol=1e-6)
    assert repr(in_chunks.describe_block(0)) == repr(in_memory.describe_block(0))
    for draw in PLOTS:
        draw(in_chunks, Figure().subplots())
    curve, _ = plot.explained(in_chunks, Figure().subplots()).lines
    assert_allclose(curve.get_ydata(), in_chunks.explained_)


@pytest.mark.parametrize(
    "make",
    [
        lambda: make_selector("variance", 5),
        lambda: make_selector("morans-i", 5),
        lambda: SignedSelector(BlockModelSelector(5, **QUICK)),
    ],
)
def test_methods_without_blocks_write_their_page_after_the_data_are_gone(make, tmp_path):
    selector = make().fit(FRAME.copy(), adjacency=EDGES.copy())
    gc.collect()
    selector = pickle.loads(pickle.dumps(selector))
    best = FRAME.columns[np.argmin(selector.ranking_)]
    assert best in selector.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_method_that_does_not_use_the_graph_refuses_a_wrong_one_before_it_computes():
    with pytest.raises(ValueError, match="199"):
        make_selector("variance", 5).fit(FRAME, adjacency=PLANTED.adjacency[:199, :199])


def test_given_blocks_without_links_between_nodes_have_a_page(tmp_path):
    selector = BMGUFS(3, block_model=PLANTED.blocks).fit(FRAME, adjacency=np.eye(200))
    assert selector.report(tmp_path / "report.html").exists()


@pytest.mark.parametrize("make", [default, paper, lambda: make_selector("variance", 5)])
def test_the_data_are_not_kept(make):
    X, A = PLANTED.features.toarray(), PLANTED.adjacency.copy()
    selector = make().fit(X, adjacency=A)
    gone = [weakref.ref(X), weakref.ref(A)]
    del X, A
    gc.collect()
    assert [one() for one in gone] == [None, None]
    assert len(selector.scores_) == 52


def test_a_selector_of_an_older_version_asks_to_be_fitted_again(tmp_path):
    older = default().fit(PLANTED.features, adjacency=PLANTED.adjacency)
    del older._result  # versions before this record did not have it
    older = pickle.loads(pickle.dumps(older))
    assert older.transform(PLANTED.features).shape == (200, 12)
    for use in (older.table, lambda: older.describe_block(0), lambda: older.report(tmp_path / "page.html")):
        with pytest.raises(ValueError, match=r"fitted by an older version of blockselect.*; fit it again"):
            use()


def test_labels_beside_a_selector_are_refused_because_it_has_its_own():
    selector = default().fit(PLANTED.features, adjacency=PLANTED.adjacency)
    with pytest.raises(ValueError, match="labels are for a graph"):
        plot.ordered_adjacency(selector, labels=PLANTED.blocks)


def test_stability_is_drawn_for_the_network_that_is_passed():
    selector = default().fit(PLANTED.features, adjacency=PLANTED.adjacency)
    with pytest.raises(ValueError, match="X is missing; pass the fitted network"):
        plot.stability(selector)
