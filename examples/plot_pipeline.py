"""
In a scikit-learn Pipeline
==========================

Selectors are scikit-learn estimators, so they work in a ``Pipeline``, with ``clone``,
``set_params`` and ``GridSearchCV``. *Metadata routing* passes the graph along with the
features: a step requests ``adjacency``, and the pipeline provides it. For cross-validation,
wrap the graph in a ``NodeGraph``, which scikit-learn can split together with the rows.
"""

# %%
# Data
# ----
# The nodes form 5 blocks. The features are counts of 200 words, 40 of which follow the
# blocks.
import matplotlib.pyplot as plt
import sklearn
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer

from blockselect import BlockModelSelector, NodeGraph, make_attributed_blocks
from blockselect.evaluation import normalized_mutual_information

made = make_attributed_blocks(
    500,
    5,
    n_informative=40,
    n_redundant=0,
    n_noise=160,
    frequency=(0.1, 0.4),
    values="counts",
    random_state=6,
)

# %%
# Select, scale, cluster
# ----------------------
# Enable routing, request the graph for the selector's ``fit``, and pass it to the ``fit``
# of the pipeline.
sklearn.set_config(enable_metadata_routing=True)
selector = BlockModelSelector(30, random_state=0).set_fit_request(adjacency=True)
pipeline = Pipeline(
    [
        ("select", selector),
        ("scale", Normalizer()),
        ("cluster", KMeans(5, n_init=10, random_state=0)),
    ]
)
pipeline.fit(made.features, adjacency=made.adjacency)

# %%
# How good are the clusters? We compare them with the planted blocks, which the pipeline did
# not see, and do the same for clusters based on all 200 words.
clusters = pipeline.named_steps["cluster"].labels_
all_words = KMeans(5, n_init=10, random_state=0).fit_predict(
    Normalizer().fit_transform(made.features)
)
agreement = {
    "30 selected words": normalized_mutual_information(made.blocks, clusters),
    "all 200 words": normalized_mutual_information(made.blocks, all_words),
}
print({words: round(value, 2) for words, value in agreement.items()})

# %%
# How many words? Cross-validation
# --------------------------------
# If some nodes have known classes, cross-validation shows how many words are needed to
# predict the classes of other nodes. Each fold fits to a subset of the nodes, so it needs
# the subgraph of these nodes. Scikit-learn indexes only the rows of a matrix; indexing a
# ``NodeGraph`` selects the same rows and columns. Here the planted blocks are the classes.
classifier = Pipeline(
    [
        ("select", selector),
        ("scale", Normalizer()),
        ("classify", LogisticRegression()),
    ]
)
numbers = [5, 10, 20, 30, 60, 120]
search = GridSearchCV(classifier, {"select__n_features_to_select": numbers}, cv=5)
search.fit(made.features, made.blocks, adjacency=NodeGraph(made.adjacency))
print(search.best_params_)

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.errorbar(
    numbers,
    search.cv_results_["mean_test_score"],
    search.cv_results_["std_test_score"],
    fmt="o-",
    color="#0b62b8",
)
ax.set(xlabel="selected words", ylabel="accuracy on other nodes", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# ``cross_val_score`` takes the graph in ``params``.
accuracy = cross_val_score(
    search.best_estimator_,
    made.features,
    made.blocks,
    params={"adjacency": NodeGraph(made.adjacency)},
)
print(accuracy.round(2))

# %%
# Blocks of new nodes
# -------------------
# A fitted selector predicts the blocks of new nodes from their selected words, without
# their links. Here it is fitted to the first 400 nodes and their planted blocks.
known, new = slice(400), slice(400, None)
selector = BlockModelSelector(60, block_model=made.blocks[known])
selector.fit(made.features[known], adjacency=NodeGraph(made.adjacency)[known])
accuracy = selector.score(made.features[new], made.blocks[new])
print(f"{accuracy:.2f} of the new nodes are assigned to their block")

# %%
# Restore the setting so that other code is not affected.
sklearn.set_config(enable_metadata_routing=False)
