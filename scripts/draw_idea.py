"""Draw the pictures of docs/idea.md: a small network, its block model, features that mark the blocks, and levels.

python scripts/draw_idea.py docs/images
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from scipy.cluster.hierarchy import dendrogram

from blockselect import BlockModel, make_attributed_blocks, plot
from blockselect.blockmodels.levels import BlockTree, groups_at, numbers_of_groups
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.datasets import PlantedNetwork
from blockselect.plot.common import AMOUNTS, GREY, INK, STYLE
from blockselect.report.drawings import node_places

COLOURS = np.array(["#0b62b8", "#b26200", "#5c8a3a"])  # one per block
NAMES = ["makers", "traders", "buyers"]


def made_network() -> PlantedNetwork:
    """Makers link to makers and traders, buyers only to traders, so the block of buyers is not a community."""
    density = [[0.45, 0.35, 0.0], [0.35, 0.1, 0.45], [0.0, 0.45, 0.02]]
    return make_attributed_blocks(
        45,
        3,
        density=density,
        block_weights=(22, 9, 14),
        n_informative=6,
        n_redundant=0,
        n_noise=6,
        signal=6,
        frequency=(0.1, 0.15),
        random_state=4,
    )


def draw_network(network: PlantedNetwork, path: Path) -> None:
    figure, (drawing, matrix) = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
    places = node_places(network.adjacency, network.blocks)
    links = network.adjacency.tocoo()
    for i, j in zip(links.row, links.col, strict=True):
        drawing.plot(*places[[i, j]].T, color="#cfcfcf", linewidth=0.6, zorder=1)
    for block, name in enumerate(NAMES):
        own = network.blocks == block
        drawing.scatter(*places[own].T, s=55, color=COLOURS[block], edgecolor="white", label=name, zorder=2)
    drawing.axis("off")
    drawing.set_title("Network")
    drawing.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, 0.06), ncols=3, handletextpad=0.1)
    plot.ordered_adjacency(network.adjacency, matrix, labels=network.blocks)
    matrix.set_title("Adjacency matrix A, nodes ordered by block")
    name_blocks(matrix, at_middles=True)
    save(figure, path)


def draw_model(network: PlantedNetwork, model: BlockModel, path: Path) -> None:
    figure, (links, density, rebuilt) = plt.subplots(1, 3, figsize=(11.5, 4), layout="constrained")
    plot.ordered_adjacency(network.adjacency, links, labels=network.blocks)
    links.set_title("Links: A")
    name_blocks(links, at_middles=True)
    plot.block_densities(model.density, density)
    density.set_title("Link density of blocks: M, in % of the largest")
    name_blocks(density)
    order = np.argsort(model.labels, kind="stable")
    heat(rebuilt, model.density[np.ix_(model.labels[order], model.labels[order])])
    rebuilt.set_title("Links predicted by the blocks: F M Fᵀ")
    save(figure, path)


def draw_features(network: PlantedNetwork, model: BlockModel, path: Path) -> None:
    """Similarity of blocks in one feature (a marker of each block, or a random feature) and in all markers together."""
    X = network.features.toarray()
    means = np.array([X[model.labels == block].mean(axis=0) for block in range(3)])
    ratio = means / means.sum(axis=0)
    markers = [int(np.argmax(np.where(network.is_informative, ratio[block], 0))) for block in range(3)]
    noise = int(np.flatnonzero(~network.is_informative)[np.argmin(np.ptp(ratio[:, ~network.is_informative], axis=0))])
    figure, axes = plt.subplots(1, 5, figsize=(12.5, 3.1), layout="constrained")
    titles = [*(f"Marker of {name}" for name in NAMES), "Random feature"]
    for ax, column, title in zip(axes, [*markers, noise], titles, strict=False):
        heat(ax, np.outer(means[:, column], means[:, column]))
        ax.set_title(title)
    together = sum(np.outer(means[:, column], means[:, column]) for column in markers)
    heat(axes[4], together)
    axes[4].set_title("The three markers together")
    for ax in axes:
        name_blocks(ax, rows=ax is axes[0])
    save(figure, path)


def nested_blocks() -> tuple[PlantedNetwork, BlockTree]:
    """Twelve blocks, nested in six pairs and three groups, and their tree."""
    of_pair, of_group = np.arange(12) // 2, np.arange(12) // 4
    density = np.select(
        [np.eye(12, dtype=bool), of_pair[:, None] == of_pair, of_group[:, None] == of_group], [0.6, 0.25, 0.08], 0.01
    )
    network = make_attributed_blocks(
        192, 12, density=density, block_weights=(2, 1, 2, 2, 1, 2, 1, 1, 1, 2, 1, 1), random_state=0
    )
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    return network, JointLikelihood(network.graph).trees([model])[0]


def draw_levels(network: PlantedNetwork, tree: BlockTree, path: Path) -> None:
    figure, (drawing, *tables) = plt.subplots(1, 4, figsize=(13, 3.7), layout="constrained")
    n_blocks, heights = tree.model.n_blocks, np.sqrt(tree.linkage[:, 2])  # the square root keeps low merges visible
    children, first_leaf = tree.linkage[:, :2].astype(int), list(range(n_blocks))
    for row, pair in enumerate(children):  # branches from left to right in the order of the blocks
        children[row] = sorted(pair, key=first_leaf.__getitem__)
        first_leaf.append(first_leaf[children[row, 0]])
    dendrogram(
        np.column_stack([children, heights, tree.linkage[:, 3]]),
        ax=drawing,
        no_labels=True,
        link_color_func=lambda _: INK,
    )
    drawing.set(yticks=[], title="Tree of blocks")
    drawing.spines[:].set_visible(False)
    for ax, n_groups, colour in zip(tables, numbers_of_groups(n_blocks)[::-1], COLOURS, strict=True):
        below, above = (heights[at] if at >= 0 else 0 for at in (n_blocks - n_groups - 1, n_blocks - n_groups))
        drawing.axhline((below + above) / 2, color=colour, linestyle="--", linewidth=1.2)
        drawing.annotate(
            f"{n_groups} blocks",
            (1.0, (below + above) / 2),
            xycoords=("axes fraction", "data"),
            xytext=(2, 0),
            textcoords="offset points",
            va="center",
            color=colour,
        )
        plot.ordered_adjacency(network.adjacency, ax, labels=tree.model.labels)
        for line in list(ax.lines):  # block borders at the finest level
            line.remove()
        sizes = np.bincount(groups_at(tree.linkage, n_groups), tree.model.block_sizes)
        for start, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
            ax.add_patch(
                Rectangle((start, start), size, size, fill=False, edgecolor=colour, linewidth=2, clip_on=False)
            )
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
        ax.spines[:].set_color(GREY)
        ax.set_title(f"Links with {n_groups} blocks", color=colour)
    save(figure, path)


def heat(ax: Axes, values: Any) -> None:
    ax.imshow(values, cmap=AMOUNTS, vmin=0, vmax=np.max(values))
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color(GREY)


def name_blocks(ax: Axes, *, at_middles: bool = False, rows: bool = True) -> None:
    places = ax.get_xticks() if at_middles else range(3)
    ax.set_xticks(places, NAMES, fontsize=8)
    ax.set_yticks(places if rows else [], NAMES if rows else [], fontsize=8)
    ax.tick_params(length=0)
    ax.set(xlabel="", ylabel="")


def save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)


def main(folder: Path) -> None:
    network = made_network()
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    with plt.style.context(STYLE):
        draw_network(network, folder / "idea-network.png")
        draw_model(network, model, folder / "idea-blocks.png")
        draw_features(network, model, folder / "idea-features.png")
        draw_levels(*nested_blocks(), folder / "idea-levels.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
