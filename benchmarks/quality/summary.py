"""The page of a measurement: its main results in a few sentences, and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from benchmarks.quality import planted_networks, real_networks
from benchmarks.quality.cells import TUNED, Count, compare, count, count_by_rival, summarize
from benchmarks.quality.protocol_table import protocol_markdown
from benchmarks.quality.quality_config import QualityConfig
from benchmarks.quality.recovery import compare_precisions, precisions
from benchmarks.quality.variants import DEFAULT
from blockselect import __version__
from blockselect.evaluation.comparison_result import markdown_table
from blockselect.reproduction.experiments import SUPERVISED
from blockselect.reproduction.page import failures
from blockselect.reproduction.store import Row

TITLES = {"accuracy": "ACC", "nmi": "NMI"}
RULES = {
    "paper_protocol": (
        "Means over the numbers of features. The best single rival is the label-free method with the highest mean over "
        "all networks. Random features: mean of five draws. Chi² uses the labels of all nodes."
    ),
    "against_best_rival": (
        "Means ± standard deviations over candidate seeds and runs of K-means. The best rival of a cell is the "
        "label-free method with the highest mean in that cell. *Within one sd*: below it by no more than the root mean "
        "square of the two standard deviations. Zero rows: nodes with none of the selected features, mean over seeds."
    ),
    "against_tuned_by_labels": (
        f"{SUPERVISED} uses the candidate and γ with the highest ACC, chosen with the labels for each cell and seed."
    ),
    "variants": "Means over d; cells at or above, and within one sd of, the best rival of each cell.",
    "planted_against_best_rival": (
        "Share of planted features, including copies, among the selected, when as many are selected as were planted: "
        "mean ± standard error over networks. "
        "Rivals are given the number of blocks; the default is not. The best rival is the one with the highest mean in "
        "that regime; differences are paired by network."
    ),
}
"""Explanations of the tables on the page."""


def headlines(rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """The main results, one sentence each."""
    summary, table = summarize(rows[real_networks.NAME]), precisions(rows[planted_networks.NAME])
    regimes = compare_precisions(table, DEFAULT)
    above = int((regimes["difference"] > 0).sum()) if len(regimes) else 0
    return [
        _won(count(compare(summary, DEFAULT, real_networks.RIVAL)), "the best label-free rival"),
        _hardest_rival(count_by_rival(summary, DEFAULT)),
        _won(count(compare(summary, DEFAULT, TUNED)), SUPERVISED),
        f"Planted networks: above the best rival in {above} of {len(regimes)} regimes.",
    ]


def render_page(
    rows: Mapping[str, Sequence[Row]], tables: Mapping[str, pd.DataFrame], config: QualityConfig, title: str
) -> str:
    """The page in Markdown: main results, explained tables, and failed trials."""
    parts = ["# Quality", _settings_sentence(config, title), bullets(headlines(rows))]
    for name, rule in RULES.items():
        parts += [f"## {name.replace('_', ' ').capitalize()}", rule, _shown(name, tables[name])]
    parts.append("All tables are in `tables/`.")
    failed = [line for of_part in rows.values() for line in failures(list(of_part))]
    if failed:
        parts += ["## Failed", bullets(failed)]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _shown(name: str, table: pd.DataFrame) -> str:
    if name == "paper_protocol":
        return protocol_markdown(table, TITLES)
    return markdown_table(list(table.columns), table.astype(str).to_numpy().tolist()) if len(table) else ""


def bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _won(found: Count, rival: str) -> str:
    rest = found.cells - found.at_or_above
    return (
        f"At or above {rival} in {found.at_or_above} of {found.cells} cells; of the other {rest}, {found.within} "
        "within one sd."
    )


def _hardest_rival(counts: Mapping[str, Count]) -> str:
    if not counts:
        return "There is no label-free rival to compare with."
    name, least = min(counts.items(), key=lambda item: item[1].at_or_above)
    won = f"{least.at_or_above} of {least.cells} cells ({name})"
    return f"Compared with each single label-free rival: at or above it in at least {won}."


def _settings_sentence(config: QualityConfig, title: str) -> str:
    protocol = config.protocol
    return (
        f"Made by `python -m benchmarks.quality --config {title}`: {', '.join(protocol.datasets)}; "
        f"{protocol.kmeans_runs} runs of K-means with {protocol.kmeans_init} starts each; candidate seeds "
        f"{', '.join(map(str, config.candidate_seeds))} (one for deterministic methods); {config.planted_seeds} "
        f"planted networks per regime; blockselect {__version__}."
    )
