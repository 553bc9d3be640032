"""
Using your own blocks
=====================

You may already know the blocks: departments of a company, habitats of species, or
communities found by another program. Pass them as ``block_model``. Then only the features
are ranked, which is fast. The question becomes: which features are associated with *these*
groups and with the links between them?
"""

# %%
# A company with three departments
# --------------------------------
# The network contains the e-mail contacts of 480 people. Research and sales communicate
# mostly within their department, and both with the office. There are 60 skills, 15 of which
# are associated with the departments.
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
emails = [[0.10, 0.01, 0.06], [0.01, 0.10, 0.06], [0.06, 0.06, 0.02]]
firm = make_attributed_blocks(
    480, 3, density=emails, n_informative=15, n_redundant=0, n_noise=45, random_state=7
)
department = DEPARTMENTS[firm.blocks]
skills = pd.DataFrame(
    firm.features.toarray(), columns=[f"skill {number}" for number in range(60)]
)

# %%
# Labels of any kind
# ------------------
# Pass one label per node. An array of names or numbers follows the order of the rows. A
# Series, a dict, the communities of networkx (a list of sets) and a clustering of igraph
# are matched by node id.
selector = BlockModelSelector(10, block_model=department).fit(
    skills, adjacency=firm.adjacency
)
right_ones = firm.is_informative[selector.support_].sum()
print(f"{right_ones} of 10 selected skills are associated with the departments")

# %%
# Blocks passed with names keep them. Research and sales are dark on the diagonal; the
# office is not, because its people write mostly to the other departments. The office is not
# a community, but it is a block.
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
plot.block_densities(selector, left)
plot.features_by_block(selector, right)
plt.show()

# %%
# How well do the blocks fit?
# ---------------------------
# The relative error of a block model measures how far it is from the graph. We compare the
# departments, the departments after a tenth of the people are reassigned at random, and
# random labels. Lower is better; the error of a sparse graph is never close to 0.
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
# Algorithm 1 of the paper takes the one-hot matrix F of block memberships and the matrix M
# of densities between blocks. ``BMGUFS`` accepts both, so you can choose any M.
# Here we ask which skills would be associated with a company in which every department
# communicates only internally.
F = pd.get_dummies(department).to_numpy()
M = 0.1 * np.eye(3)
within = BMGUFS(10, block_model=(F, M)).fit(skills, adjacency=firm.adjacency)
as_observed = BMGUFS(10, block_model=F).fit(skills, adjacency=firm.adjacency)
for name, fitted in {
    "internal e-mails only": within,
    "observed e-mails": as_observed,
}.items():
    print(f"{name}: relative error {fitted.block_model_.relative_error:.4f}")

# %%
# For comparison, the blocks that the selector finds without the departments:
free = BlockModelSelector(10, random_state=0).fit(skills, adjacency=firm.adjacency)
pd.crosstab(department, free.labels_, rownames=["department"], colnames=["block found"])
