"""
Reading the report
==================

``selector.report("report.html")`` writes an interactive page: a single file that works
offline and can be sent by e-mail. Here is the report on a small planted network. Sort the
table, search it, or switch between light and dark mode.
"""

# %%
# A selection to report on
# ------------------------
import matplotlib.pyplot as plt
import pandas as pd

from blockselect import (
    BlockModelSelector,
    make_attributed_blocks,
    plot,
    selection_stability,
)

made = make_attributed_blocks(
    300,
    4,
    n_informative=24,
    n_redundant=6,
    n_noise=50,
    frequency=(0.1, 0.25),
    random_state=5,
)
words = pd.DataFrame(
    made.features.toarray(), columns=[f"word {number}" for number in range(80)]
)
selector = BlockModelSelector(20, random_state=0).fit(words, adjacency=made.adjacency)
stability = selection_stability(selector, words, adjacency=made.adjacency)

# %%
# The page
# --------
# In a notebook, the last line of a cell displays it. Its five sections answer five
# questions, and you can stop after any of them. Which features were selected? What marks
# each block? Do the features fit the network? How reliable is the selection? How was it
# computed?
selector.show_report(stability=stability, title="80 words of 300 pages")

# %%
# What to look at first
# ---------------------
# Read the sentences at the top. Then look at three columns of the table: *stability* (would
# the feature be selected again?), *prevalence* (a rare feature describes few nodes, however
# high its score) and *marks* (the block that it marks). The same table as a DataFrame:
selector.table().query("selected").head(10).round(3)

# %%
# Two of its figures as plots
# ---------------------------
# Do the features reproduce the blocks of the network? Both plots show the same pairs of
# blocks, the left one by link density and the right one by similarity in the selected
# features. Each has its own scale, so compare the patterns, not the numbers.
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
plot.block_densities(selector, left)
plot.block_densities(selector, right, induced=True)
plt.show()

# %%
# :doc:`How to read the result <../reading-the-result>` explains every part of the page.
