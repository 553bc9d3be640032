"""The real networks by name: what they contain, their size and source, and how to load them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np

from blockselect.datasets.download import Source
from blockselect.datasets.networks import BLOGCATALOG, fetch_blogcatalog, load_citeseer, load_cora, load_debian
from blockselect.inputs.attributed import AttributedGraph
from blockselect.utils.parameters import look_up
from blockselect.utils.progress import Progress

COLLECTIVE = (
    "P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad: Collective classification in network "
    "data. AI Magazine 29(3), 2008."
)
PLANETOID = "Z. Yang, W. Cohen, R. Salakhutdinov: Revisiting semi-supervised learning with graph embeddings. ICML 2016."
LANE = "X. Huang, J. Li, X. Hu: Label informed attributed network embedding. WSDM 2017."
GRAPHDATASCIENCE = "the Python package graphdatascience 2.2 (Neo4j), resources/cora"
GCN = "https://github.com/tkipf/gcn/tree/39a4089fe72ad9f055ed6fdb9746abdcfebc4d81/gcn/data"


@dataclass(frozen=True, slots=True)
class NetworkCounts:
    """The numbers shown in the tables of data sets."""

    nodes: int
    links: int  # undirected links; a self-loop counts once
    features: int
    classes: int

    @classmethod
    def of(cls, graph: AttributedGraph) -> NetworkCounts:
        n_classes = 0 if graph.classes is None else len(np.unique(graph.classes))
        return cls(graph.n_nodes, graph.n_links, graph.n_features, n_classes)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {name}" for name, count in asdict(self).items())


@dataclass(frozen=True, slots=True)
class Dataset:
    """A real network that can be loaded by name."""

    name: str
    about: str
    counts: NetworkCounts
    loader: Callable[..., AttributedGraph]
    origin: str  # where the data were published
    licence: str
    citations: tuple[str, ...]
    source: Source | None = None  # the file to download; None if the network comes with the package

    def load(self, progress: Progress | None = None) -> AttributedGraph:
        """Return the network; `progress` is called during a download."""
        return self.loader() if self.source is None else self.loader(progress=progress)


_CORA = Dataset(
    name="cora",
    about="papers on machine learning, their words and their citations",
    counts=NetworkCounts(nodes=2708, links=5278, features=1433, classes=7),
    loader=load_cora,
    origin=GRAPHDATASCIENCE,
    licence="Apache-2.0",
    citations=(COLLECTIVE,),
)
_ENTRIES = (
    Dataset(
        name="blogcatalog",
        about="bloggers, the keywords of their blogs (counts), and their friendships",
        counts=NetworkCounts(nodes=5196, links=171743, features=8189, classes=6),
        loader=fetch_blogcatalog,
        origin=BLOGCATALOG.url,
        source=BLOGCATALOG,
        licence="none stated; ask its authors before you publish copies",
        citations=(LANE,),
    ),
    Dataset(
        name="citeseer",
        about="papers on computer science, their words and their citations; without 15 papers that have no words",
        counts=NetworkCounts(nodes=3312, links=4660, features=3703, classes=6),
        loader=load_citeseer,
        origin=GCN,
        licence="none stated for the data; the repository they are taken from is under the MIT licence",
        citations=(COLLECTIVE, PLANETOID),
    ),
    _CORA,
    replace(
        _CORA,
        name="cora-planetoid",
        about="cora with its nodes and classes in Planetoid's order",
        loader=partial(load_cora, planetoid=True),
        origin=f"{GRAPHDATASCIENCE}; the order from {GCN}",
        citations=(COLLECTIVE, PLANETOID),
    ),
    Dataset(
        name="debian",
        about="Debian packages, their tags and words, and their dependencies; the classes are sections of the archive",
        counts=NetworkCounts(nodes=4960, links=18195, features=1088, classes=31),
        loader=load_debian,
        origin="the package index of Debian 12.15 (bookworm), main, amd64",
        licence="none stated; the data contain only facts: names, dependencies, sections, tags and single words",
        citations=("The Debian Project: Debian 12 (bookworm). https://www.debian.org, 2023.",),
    ),
)
DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ENTRIES}


def find_dataset(name: str) -> Dataset:
    """Return the data set with this name.

    Raises
    ------
    ValueError
        If there is no such data set; the message lists the known names and suggests the closest.
    """
    return look_up(name, DATASETS, what="data set")
