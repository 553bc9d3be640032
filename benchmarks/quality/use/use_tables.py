"""The tables of a measurement, one CSV each, and their summary in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from benchmarks.quality.cells import by_rival, compare, count, pool
from benchmarks.quality.protocol_table import MEAN, protocol_table
from benchmarks.quality.real_networks import RIVAL, VARIANT
from benchmarks.quality.use.judgements import CLASSES, LINKS, MEASURES
from benchmarks.quality.variants import DEFAULT
from blockselect.evaluation.comparison_result import markdown_table
from blockselect.reproduction.store import Row

PROTOCOLS: Mapping[str, tuple[str, ...]] = {
    "K-means": ("ACC", "NMI"),
    "few labels": ("few_labels", "few_labels_averaged"),
    "hidden links": ("AUC",),
}
"""The measures of each protocol, in the order of the tables."""
TITLES = {
    "ACC": "ACC",
    "NMI": "NMI",
    "few_labels": "few labels",
    "few_labels_averaged": "few labels, averaged",
    "AUC": "hidden links, AUC",
}
_EVERY = "all"
_COUNTS = ("cells", "at_or_above", "within_one_sd", "below", "mean_margin")


def summarize(judged: Sequence[Row]) -> dict[str, pd.DataFrame]:
    """Means and sds over seeds and runs, for each protocol: one row per method, network and number of features.

    Each row of `judged` is a selection with one judgement; `judged_by` is None for judgements by classes. Columns:
    kind, method, dataset, top, the mean and sd of each measure, n_zero_rows and n_selected.
    """
    table = pd.DataFrame(list(judged)).rename(columns={"network": "dataset"})
    by_links = table["judged_by"].notna()
    parts = {CLASSES: table[~by_links], LINKS: table[by_links]}
    pooled = {
        name: pool(part, MEASURES[name]) if len(part) else pd.DataFrame(columns=["kind", "method", "dataset", "top"])
        for name, part in parts.items()
    }
    return {protocol: pooled[LINKS if protocol == "hidden links" else CLASSES] for protocol in PROTOCOLS}


def make_tables(judged: Sequence[Row], failed: Sequence[Row]) -> dict[str, pd.DataFrame]:
    """All tables by name."""
    summaries = summarize(judged)
    cells = _compared(summaries)
    return {
        "use": _every_method(summaries),
        "use_protocols": _protocols(summaries),
        "use_cells": _cells(cells),
        "use_counts": _counts(cells),
        "use_each_rival": _each_rival(summaries),
        "use_missing": _missing(failed),
    }


def render(tables: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """The summary: one table per protocol, the cells clearly below the best rival, and missing results."""
    protocols, counts = tables["use_protocols"], tables["use_counts"]
    shown = {}
    for protocol, measures in PROTOCOLS.items():
        table = protocols[protocols["measure"].isin([TITLES[name] for name in measures])]
        shown[protocol] = [_figures(table), _won(counts[counts["protocol"] == protocol])]
    lost = [
        "Cells in which the default is below the best rival by more than one standard deviation:",
        _lost(tables["use_cells"]),
    ]
    if len(tables["use_missing"]):
        lost += ["Not measured:", _absent(tables["use_missing"])]
    return {name: "\n\n".join(text.rstrip("\n") for text in texts) for name, texts in {**shown, "lost": lost}.items()}


def _every_method(summaries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    keys = ["dataset", "method", "kind", "top"]
    classes, links = summaries["K-means"], summaries["hidden links"]
    both = classes.merge(links[[*keys, "AUC", "AUC_sd"]], on=keys, how="left") if len(links) else classes
    figures = [f"{name}{end}" for name in TITLES if name in both for end in ("", "_sd")]
    named = both.rename(columns={"dataset": "network", "top": "d", "n_zero_rows": "zero_rows"})
    ordered = named.sort_values(["network", "kind", "method", "d"], ascending=[True, False, True, True], kind="stable")
    return ordered[["network", "method", "kind", "d", *figures, "zero_rows", "n_selected", "n_seeds"]].round(4)


def _protocols(summaries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """BlockModelSelector, the best single rival and the references: one row per measure and method."""
    parts = []
    for protocol, summary in summaries.items():
        table = protocol_table(summary, PROTOCOLS[protocol], DEFAULT) if len(summary) else pd.DataFrame()
        for measure in PROTOCOLS[protocol] if len(table) else ():
            wide = table.pivot_table(index="row", columns="network", values=measure, sort=False).reset_index()
            parts.append(wide.assign(measure=TITLES[measure]))
    every = pd.concat(parts, ignore_index=True).rename(columns={"row": "features"})
    networks = sorted(set(every.columns) - {"measure", "features", MEAN})
    return every[["measure", "features", *networks, MEAN]]


def _compared(summaries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The cells of BlockModelSelector in all measured protocols."""
    parts = [
        compare(summary, DEFAULT, RIVAL, PROTOCOLS[protocol]).assign(protocol=protocol)
        for protocol, summary in summaries.items()
        if (summary["kind"] == VARIANT).any()
    ]
    return pd.concat([part for part in parts if len(part)] or [pd.DataFrame(columns=["protocol"])], ignore_index=True)


def _cells(cells: pd.DataFrame) -> pd.DataFrame:
    if cells.empty:
        return cells
    verdict = cells["within"].map({True: "within one sd", False: "below"}).mask(cells["at_or_above"], "at or above")
    named = cells.assign(verdict=verdict).rename(columns={"dataset": "network", "top": "d"})
    columns = ["protocol", "network", "measure", "d", "mean", "sd", "zero_rows"]
    columns += ["rival", "rival_mean", "rival_sd", "rival_zero_rows", "margin", "verdict"]
    return named[columns].sort_values(["protocol", "network", "measure", "d"], kind="stable").round(4)


def _counts(cells: pd.DataFrame) -> pd.DataFrame:
    lines = []
    for protocol in PROTOCOLS:
        here = cells[cells["protocol"] == protocol]
        for network in [_EVERY, *sorted(here["dataset"].unique())] if len(here) else []:
            part = here if network == _EVERY else here[here["dataset"] == network]
            lines.append({"protocol": protocol, "network": network, **_counted(part)})
    return pd.DataFrame(lines, columns=["protocol", "network", *_COUNTS])


def _counted(cells: pd.DataFrame) -> Row:
    found = count(cells)
    below = found.cells - found.at_or_above - found.within
    margin = round(float(cells["margin"].mean()), 4) if len(cells) else float("nan")
    return dict(zip(_COUNTS, (found.cells, found.at_or_above, found.within, below, margin), strict=True))


def _each_rival(summaries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    lines = [
        {"rival": rival, "protocol": protocol, **_counted(compare(part, DEFAULT, RIVAL, PROTOCOLS[protocol]))}
        for protocol, summary in summaries.items()
        for rival, part in by_rival(summary)
    ]
    return pd.DataFrame(lines)


def _missing(failed: Sequence[Row]) -> pd.DataFrame:
    columns = ["network", "method", "hidden", "seed", "error"]
    table = pd.DataFrame([{name: row.get(name) for name in columns} for row in failed], columns=columns)
    grouped = table.groupby(["network", "method", "error"], sort=True).size()
    return grouped.rename("fits").reset_index().rename(columns={"error": "reason"})


def _figures(table: pd.DataFrame) -> str:
    named = table.dropna(axis="columns", how="all")
    lines = named.map(lambda cell: cell if isinstance(cell, str) else f"{cell:.3f}").to_numpy().tolist()
    return markdown_table(list(named.columns), lines, n_text_columns=2)


def _won(counts: pd.DataFrame) -> str:
    """A sentence that compares BlockModelSelector with the best rival of each cell."""
    every = counts[counts["network"] == _EVERY].to_dict("records")
    if not every:
        return "No rival was measured."
    (found,) = every
    return (
        f"Compared with the best rival of each cell (network, number of features and measure): at or above it in "
        f"{found['at_or_above']} of {found['cells']} cells, below it by no more than one standard deviation in "
        f"{found['within_one_sd']}, below it by more in {found['below']}; mean margin {found['mean_margin']:+.3f}."
    )


def _lost(cells: pd.DataFrame) -> str:
    lost = cells[cells["verdict"] == "below"] if len(cells) else cells
    if lost.empty:
        return "None."
    lines = [
        [network, TITLES[measure], ", ".join(f"{d} ({margin:+.3f}, {rival})" for d, margin, rival in
         zip(part["d"], part["margin"], part["rival"], strict=True))]
        for (network, measure), part in lost.groupby(["network", "measure"], sort=True)
    ]  # fmt: skip
    return markdown_table(["network", "measure", "d (margin, rival)"], lines, n_text_columns=3)


def _absent(missing: pd.DataFrame) -> str:
    lines = [[line["network"], line["method"], line["reason"]] for line in missing.to_dict("records")]
    return markdown_table(["network", "method", "reason"], lines, n_text_columns=3)
