"""
With blocks of your own
=======================

You may know the blocks already: departments of a firm, habitats of species, communities
that another program found. Pass them as ``block_model``; then only the features are ranked,
which takes a moment. The question becomes: which features go with *these* groups and with
the way they are linked?
"""

# %%
# A firm of three departments
# ---------------------------
# The network says who mails whom among 480 people. Research and sales mail within their
# department, and both mail the office. There are 60 skills, of which 15 go with the
# departments.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from blockselect import (
    BMGUFS,
    BlockModel,
    BlockModelSelector,
    make_attributed_blocks,
    plot,
)

DEPARTMENTS = np.array(["research", "sales", "office"])
mails = [[0.10, 0.01, 0.06], [0.01, 0.10, 0.06], [0.06, 0.06, 0.02]]
firm = make_attributed_blocks(
    480, 3, density=mails, n_informative=15, n_redundant=0, n_noise=45, random_state=7
)
department = DEPARTMENTS[firm.blocks]
skills = pd.DataFrame(
    firm.features.toarray(), columns=[f"skill {number}" for number in range(60)]
)

# %%
# Labels of any kind
# ------------------
# Give one label per node: names or numbers in the order of the rows, or by the ids of the
# nodes a Series, a dict, the communities of networkx (a list of sets) or a clustering of
# igraph.
selector = BlockModelSelector(10, block_model=department).fit(
    skills, adjacency=firm.adjacency
)
right_ones = firm.is_informative[selector.support_].sum()
print(f"{right_ones} of 10 selected skills go with the departments")

# %%
# Blocks that are given by name keep their names. Research and sales are dark on the
# diagonal; the office is not, because its people mail the others. The office is not a
# community, but it is a block.
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
plot.block_densities(selector, left)
plot.features_by_block(selector, right)
plt.show()

# %%
# How well do they fit?
# ---------------------
# A block model has a relative error: how far it is from the graph. We compare the
# departments, the departments with a tenth of the people moved to a wrong one, and random
# labels. Lower is better; the error of a sparse graph is never near 0.
rng = np.random.default_rng(0)
moved = np.where(rng.random(480) < 0.1, rng.choice(DEPARTMENTS, 480), department)
for name, labels in {
    "departments": department,
    "a tenth moved": moved,
    "random": rng.permutation(department),
}.items():
    model = BlockModel.from_labels(firm.adjacency, labels)
    print(f"{name:14} relative error {model.relative_error:.4f}")

# %%
# With F and M, as in the paper
# -----------------------------
# Algorithm 1 of the paper takes a one-hot matrix F, which says which node is in which
# block, and the densities M between the blocks. ``BMGUFS`` takes the same two, so M need
# not be that of the graph. Here we ask which skills would go with a firm in which every
# department only mails within.
F = pd.get_dummies(department).to_numpy()
M = 0.1 * np.eye(3)
within = BMGUFS(10, block_model=(F, M)).fit(skills, adjacency=firm.adjacency)
as_it_is = BMGUFS(10, block_model=F).fit(skills, adjacency=firm.adjacency)
for name, fitted in {"mails only within": within, "mails as they are": as_it_is}.items():
    print(f"{name}: relative error {fitted.block_model_.relative_error:.4f}")

# %%
# The blocks that the selector finds from the graph, without the departments:
free = BlockModelSelector(10, random_state=0).fit(skills, adjacency=firm.adjacency)
pd.crosstab(department, free.labels_, rownames=["department"], colnames=["block found"])
