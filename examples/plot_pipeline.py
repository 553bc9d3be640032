"""
In a scikit-learn Pipeline
==========================

Selectors are estimators of scikit-learn, so they work in a ``Pipeline``, with ``clone``,
``set_params`` and ``GridSearchCV``. The graph travels beside the features by *metadata
routing*: a step says that it wants ``adjacency``, and the pipeline passes it on.
"""

# %%
# Data
# ----
# The nodes form 5 blocks. They have counts of 200 words, of which 40 follow the blocks.
import matplotlib.pyplot as plt
import sklearn
from sklearn.cluster import KMeans
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer

from blockselect import BlockModelSelector, make_attributed_blocks
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
# Switch routing on, say that the selector's ``fit`` wants the graph, and pass it to the
# ``fit`` of the pipeline.
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
# How good are the clusters? We know the planted blocks, which the pipeline did not see, and
# compare the result with clusters found from all 200 words.
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
# How many words?
# ---------------
# ``set_params`` reaches the parameters of the steps, here ``select__n_features_to_select``.
numbers = [5, 10, 20, 30, 60, 120]
found = []
for number in numbers:
    pipeline.set_params(select__n_features_to_select=number).fit(
        made.features, adjacency=made.adjacency
    )
    found.append(
        normalized_mutual_information(made.blocks, pipeline.named_steps["cluster"].labels_)
    )

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(numbers, found, "o-", color="#0b62b8")
ax.axhline(agreement["all 200 words"], color="#222222", linestyle="--", linewidth=0.8)
ax.annotate(
    "all 200 words",
    (numbers[-1], agreement["all 200 words"]),
    (0, 5),
    textcoords="offset points",
    ha="right",
)
ax.set(xlabel="selected words", ylabel="agreement with the blocks (NMI)", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Restore the setting, so that other code is not affected.
sklearn.set_config(enable_metadata_routing=False)
