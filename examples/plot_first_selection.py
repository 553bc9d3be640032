"""
A first selection
=================

A network of 400 people who are linked by friendship, and 120 interests that each of them
may have. Which few interests explain who is linked with whom?

The network is made on the spot, so that we know the answer: it was built from four groups
of friends, 24 interests follow these groups, and the other 96 are chance. The selector
knows none of this. It sees the links and a table of interests.
"""

# %%
# The data
# --------
# The features are a table with one row per node and one column per feature; here the
# columns have names. The graph says who is linked with whom.
import matplotlib.pyplot as plt
import pandas as pd

from blockselect import BlockModelSelector, make_attributed_blocks, plot

made = make_attributed_blocks(
    400, 4, n_informative=24, n_redundant=0, n_noise=96, random_state=0
)
names = [f"interest {number}" for number in range(120)]
interests = pd.DataFrame(made.features.toarray(), columns=names)
interests.iloc[:5, :8]

# %%
# Select
# ------
# One line, without labels or settings: the number of groups is found from the graph.
selector = BlockModelSelector(16, random_state=0).fit(interests, adjacency=made.adjacency)
print(f"{selector.block_model_.n_blocks} blocks: {selector.n_blocks_reason_}")

# %%
# These are the selected interests, with the block (the group of nodes that link alike) that
# each of them marks. *Lift* says how many times as common the interest is in that block as
# among all people.
selector.table().query("selected").sort_values("rank").head(8).round(3)

# %%
# See it
# ------
# The left plot shows the links, with people ordered by block: dark squares on the diagonal
# are groups of friends. The right plot shows the selected interests: each is common in one
# or two groups (blue) and rare in the others (amber).
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
plot.ordered_adjacency(selector, left)
plot.features_by_block(selector, right)
plt.show()

# %%
# Was it right?
# -------------
# Here the truth is known, so we can check.
right_ones = made.is_informative[selector.support_].sum()
print(f"{right_ones} of the 16 selected interests follow the groups.")
print(f"By chance it would be {16 * 24 / 120:.0f}.")

# %%
# Next: :ref:`sphx_glr_gallery_plot_how_stable_how_many.py`, and how to read the whole
# :ref:`report <sphx_glr_gallery_plot_read_the_report.py>`.
