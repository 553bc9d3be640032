"""The real networks, by name: what they are, how large, where from, and how to load them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blockselect.datasets.blogcatalog import BLOGCATALOG_COUNTS, BLOGCATALOG_SOURCE, fetch_blogcatalog
from blockselect.datasets.citeseer import CITESEER_COUNTS, CITESEER_SOURCE, fetch_citeseer
from blockselect.datasets.cora import CORA_COUNTS, CORA_SOURCE, fetch_cora, load_cora
from blockselect.datasets.counts import NetworkCounts
from blockselect.datasets.download import Progress, Source
from blockselect.graphs.attributed import AttributedGraph
from blockselect.names import look_up

COLLECTIVE = (
    "P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad: Collective classification in network "
    "data. AI Magazine 29(3), 2008."
)
PLANETOID = "Z. Yang, W. Cohen, R. Salakhutdinov: Revisiting semi-supervised learning with graph embeddings. ICML 2016."
LANE = "X. Huang, J. Li, X. Hu: Label informed attributed network embedding. WSDM 2017."
PLANETOID_LICENCE = "none stated for the data; the repository they are taken from is under the MIT licence"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A real network that can be loaded by name."""

    name: str
    about: str
    counts: NetworkCounts
    loader: Callable[..., AttributedGraph]
    origin: str  # where it was published
    source: Source | None  # what to download; None: it comes with the package
    licence: str
    citations: tuple[str, ...]

    def load(self, progress: Progress | None = None) -> AttributedGraph:
        """The network; `progress` is called while it is downloaded."""
        return self.loader() if self.source is None else self.loader(progress=progress)


DATASETS: dict[str, Dataset] = {
    "blogcatalog": Dataset(
        name="blogcatalog",
        about="bloggers, the keywords of their blogs (counts), and who is friends with whom",
        counts=BLOGCATALOG_COUNTS,
        loader=fetch_blogcatalog,
        origin=BLOGCATALOG_SOURCE.base_url,
        source=BLOGCATALOG_SOURCE,
        licence="none stated; ask its authors before you publish copies",
        citations=(LANE,),
    ),
    "citeseer": Dataset(
        name="citeseer",
        about="papers, the words they have, and who cites whom; without 15 papers that have no words",
        counts=CITESEER_COUNTS,
        loader=fetch_citeseer,
        origin=CITESEER_SOURCE.base_url,
        source=CITESEER_SOURCE,
        licence=PLANETOID_LICENCE,
        citations=(COLLECTIVE, PLANETOID),
    ),
    "cora": Dataset(
        name="cora",
        about="papers on machine learning, the words they have, and who cites whom",
        counts=CORA_COUNTS,
        loader=load_cora,
        origin="the Python package graphdatascience 2.2 (Neo4j), resources/cora",
        source=None,
        licence="Apache-2.0",
        citations=(COLLECTIVE,),
    ),
    "cora-planetoid": Dataset(
        name="cora-planetoid",
        about="cora with its nodes and classes in Planetoid's order",
        counts=CORA_COUNTS,
        loader=fetch_cora,
        origin=CORA_SOURCE.base_url,
        source=CORA_SOURCE,
        licence=PLANETOID_LICENCE,
        citations=(COLLECTIVE, PLANETOID),
    ),
}


def find_dataset(name: str) -> Dataset:
    """The data set of this name.

    Raises
    ------
    ValueError
        With the known names, and the closest.
    """
    return look_up(name, DATASETS, what="data set")
