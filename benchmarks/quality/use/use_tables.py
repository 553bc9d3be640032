"""The tables of a measurement by use, one CSV each, and what the page shows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from benchmarks.quality.cells import by_rival, compare, count, pool
from benchmarks.quality.real_networks import RIVAL, VARIANT
from benchmarks.quality.use.judgements import CLASSES, LINKS, MEASURES
from benchmarks.quality.use.own import ABLATION, DEFAULT, KNOWN, LIST, OWN
from blockselect.evaluation.comparison_tables import markdown_table
from blockselect.reproduction.trial import Row

PROTOCOLS: Mapping[str, tuple[str, ...]] = {
    "K-means": ("ACC", "NMI"),
    "few labels": ("few_labels", "few_labels_averaged"),
    "hidden links": ("AUC",),
}
"""Measures by protocol, the order of tables."""
TITLES = {
    "ACC": "ACC",
    "NMI": "NMI",
    "few_labels": "few labels",
    "few_labels_averaged": "few labels, averaged",
    "AUC": "hidden links, AUC",
}
_EVERY = "all"


def summarize(judged: Sequence[Row]) -> dict[str, pd.DataFrame]:
    """By protocol, mean and sd of every method on every network at every number of features, over seeds and runs.

    `judged` are rows of selections with the figures of one judgement each; what they were judged by is `judged_by`,
    None for classes. Columns: kind, method, dataset, top, then mean and sd of each measure, n_zero_rows, n_selected.
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
    """Every table by its name."""
    summaries = summarize(judged)
    own = [name for name in (*OWN, *ABLATION) if name in set(summaries["K-means"]["method"])]
    tables = {
        "use": _every_method(summaries),
        "use_cells": pd.concat([_cells(summaries, name) for name in own if name in OWN], ignore_index=True),
        "use_counts": pd.concat([_counts(summaries, name) for name in own if name in OWN], ignore_index=True),
        "use_each_rival": _each_rival(summaries),
        "use_missing": _missing(failed),
    }
    if set(own) & set(ABLATION):
        common = _common(summaries, own)
        tables["use_ablation"] = pd.DataFrame([_ablated(common, name) for name in own])
    return tables


def render(tables: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Parts of the page: what is won, what is clearly lost or missing, and what parts of the default are worth."""
    won = [
        "Cells at or above the best rival / below it by no more than one standard deviation / below it by more; "
        "in brackets the mean margin:",
        _won(tables["use_counts"]),
        "The default, network by network:",
        _won_by_network(tables["use_counts"]),
        "Means over the networks and d, of every method that ran on all; the best label-free one in bold:",
        _means(tables["use"]),
    ]
    lost = [
        "Cells of the default that are below the best rival by more than one standard deviation:",
        _lost(tables["use_cells"]),
    ]
    if len(tables["use_missing"]):
        lost += ["Not measured:", _absent(tables["use_missing"])]
    parts = {"judged by use": won, "lost": lost}
    if "use_ablation" in tables:
        parts["ablation"] = [_ablation(tables["use_ablation"])]
    return {name: "\n\n".join(text.rstrip("\n") for text in texts) for name, texts in parts.items()}


def _every_method(summaries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    keys = ["dataset", "method", "kind", "top"]
    classes, links = summaries["K-means"], summaries["hidden links"]
    both = classes.merge(links[[*keys, "AUC", "AUC_sd"]], on=keys, how="left") if len(links) else classes
    figures = [f"{name}{end}" for name in TITLES if name in both for end in ("", "_sd")]
    named = both.rename(columns={"dataset": "network", "top": "d", "n_zero_rows": "zero_rows"})
    ordered = named.sort_values(["network", "kind", "method", "d"], ascending=[True, False, True, True], kind="stable")
    return ordered[["network", "method", "kind", "d", *figures, "zero_rows", "n_selected", "n_seeds"]].round(4)


def _compared(summaries: Mapping[str, pd.DataFrame], method: str) -> pd.DataFrame:
    """The cells of one of our ways in every protocol that was measured."""
    parts = [
        compare(summary, method, RIVAL, PROTOCOLS[protocol]).assign(protocol=protocol)
        for protocol, summary in summaries.items()
        if ((summary["kind"] == VARIANT) & (summary["method"] == method)).any()
    ]
    return pd.concat([part for part in parts if len(part)] or [pd.DataFrame(columns=["protocol"])], ignore_index=True)


def _cells(summaries: Mapping[str, pd.DataFrame], method: str) -> pd.DataFrame:
    cells = _compared(summaries, method)
    if cells.empty:
        return cells
    verdict = cells["within"].map({True: "within one sd", False: "below"}).mask(cells["at_or_above"], "at or above")
    named = cells.assign(method=method, verdict=verdict).rename(columns={"dataset": "network", "top": "d"})
    columns = ["method", "protocol", "network", "measure", "d", "mean", "sd", "zero_rows"]
    columns += ["rival", "rival_mean", "rival_sd", "rival_zero_rows", "margin", "verdict"]
    return named[columns].sort_values(["protocol", "network", "measure", "d"], kind="stable").round(4)


def _counts(summaries: Mapping[str, pd.DataFrame], method: str) -> pd.DataFrame:
    cells = _compared(summaries, method)
    lines = []
    for protocol in PROTOCOLS:
        here = cells[cells["protocol"] == protocol]
        for network in [_EVERY, *sorted(here["dataset"].unique())] if len(here) else []:
            part = here if network == _EVERY else here[here["dataset"] == network]
            lines.append({"method": method, "protocol": protocol, "network": network, **_counted(part)})
    return pd.DataFrame(lines)


def _counted(cells: pd.DataFrame) -> Row:
    found = count(cells)
    below = found.cells - found.at_or_above - found.within
    margin = round(float(cells["margin"].mean()), 4) if len(cells) else float("nan")
    return {
        "cells": found.cells,
        "at_or_above": found.at_or_above,
        "within_one_sd": found.within,
        "below": below,
        "mean_margin": margin,
    }


def _each_rival(summaries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    lines = [
        {"rival": rival, "protocol": protocol, **_counted(compare(part, DEFAULT, RIVAL, PROTOCOLS[protocol]))}
        for protocol, summary in summaries.items()
        for rival, part in by_rival(summary)
    ]
    return pd.DataFrame(lines)


def _common(summaries: Mapping[str, pd.DataFrame], own: Sequence[str]) -> dict[str, pd.DataFrame]:
    """The summaries of the networks and numbers of features at which all of our ways were judged."""
    table = summaries["K-means"]
    n_ways = table[table["method"].isin(own)].groupby(["dataset", "top"])["method"].nunique()
    complete = n_ways[n_ways == len(own)].index
    return {name: part[part.set_index(["dataset", "top"]).index.isin(complete)] for name, part in summaries.items()}


def _ablated(summaries: Mapping[str, pd.DataFrame], method: str) -> Row:
    """Means over networks and numbers of features, and the cells won, of the protocols that have classes."""
    line: Row = {"method": method}
    for protocol in ("K-means", "few labels"):
        summary = summaries[protocol]
        own = summary[(summary["kind"] == VARIANT) & (summary["method"] == method)]
        line |= {measure: round(float(own[measure].mean()), 4) for measure in PROTOCOLS[protocol]}
    for protocol in ("K-means", "few labels"):
        counted = _counted(compare(summaries[protocol], method, RIVAL, PROTOCOLS[protocol]))
        line |= {f"{protocol}_{name}": value for name, value in counted.items()}
    return line


def _missing(failed: Sequence[Row]) -> pd.DataFrame:
    columns = ["network", "method", "hidden", "seed", "error"]
    table = pd.DataFrame([{name: row.get(name) for name in columns} for row in failed], columns=columns)
    grouped = table.groupby(["network", "method", "error"], sort=True).size()
    return grouped.rename("fits").reset_index().rename(columns={"error": "reason"})


def _won(counts: pd.DataFrame) -> str:
    every = counts[counts["network"] == _EVERY]
    lines = [[f"**{method}**" if method == DEFAULT else method, *_verdicts(every[every["method"] == method])]
             for method in (DEFAULT, KNOWN, LIST) if (every["method"] == method).any()]  # fmt: skip
    return markdown_table(["", *PROTOCOLS], lines)


def _won_by_network(counts: pd.DataFrame) -> str:
    own = counts[(counts["method"] == DEFAULT) & (counts["network"] != _EVERY)]
    lines = [[network, *_verdicts(own[own["network"] == network])] for network in sorted(own["network"].unique())]
    return markdown_table(["", *PROTOCOLS], lines)


def _verdicts(counts: pd.DataFrame) -> list[str]:
    """One text a protocol."""
    found = {line["protocol"]: line for line in counts.to_dict("records")}
    return [
        f"{line['at_or_above']} / {line['within_one_sd']} / {line['below']} ({line['mean_margin']:+.3f})"
        if (line := found.get(protocol))
        else ""
        for protocol in PROTOCOLS
    ]


def _means(table: pd.DataFrame) -> str:
    """Methods that were measured in every cell, ours first, rivals by mean NMI."""
    measures = [name for name in TITLES if name in table]
    complete = table[table["method"].map(table["method"].value_counts()) == table["method"].value_counts().max()]
    complete = complete[~complete["method"].isin(ABLATION)]
    means = complete.groupby(["kind", "method"])[measures].mean().reset_index()
    own = means[means["kind"] == VARIANT].set_index("method").reindex([m for m in OWN if m in set(means["method"])])
    rivals = means[means["kind"] == RIVAL].set_index("method").sort_values("NMI", ascending=False)
    best = pd.concat([own.drop(index=[KNOWN], errors="ignore"), rivals])[measures].max()
    lines = []
    for method, line in [*own.iterrows(), *rivals.iterrows()]:
        texts = [f"{line[name]:.3f}" if pd.notna(line[name]) else "" for name in measures]
        is_best = [pd.notna(line[name]) and line[name] >= best[name] and method != KNOWN for name in measures]
        lines.append([str(method), *(f"**{t}**" if b else t for t, b in zip(texts, is_best, strict=True))])
    return markdown_table(["", *(TITLES[name] for name in measures)], lines)


def _lost(cells: pd.DataFrame) -> str:
    lost = cells[(cells["method"] == DEFAULT) & (cells["verdict"] == "below")]
    if lost.empty:
        return "None."
    lines = [
        [network, TITLES[measure], ", ".join(f"{d} ({margin:+.3f}, {rival})" for d, margin, rival in
         zip(part["d"], part["margin"], part["rival"], strict=True))]
        for (network, measure), part in lost.groupby(["network", "measure"], sort=True)
    ]  # fmt: skip
    return markdown_table(["network", "measure", "d (margin, rival)"], lines, n_text_columns=3)


def _ablation(table: pd.DataFrame) -> str:
    measures = [name for name in TITLES if name in table]
    lines = []
    for line in table.to_dict("records"):
        cells = [
            f"{line[f'{protocol}_at_or_above']} / {line[f'{protocol}_within_one_sd']} / {line[f'{protocol}_below']}"
            for protocol in ("K-means", "few labels")
        ]
        lines.append([line["method"], *(f"{line[name]:.3f}" for name in measures), *cells])
    header = ["", *(TITLES[name] for name in measures), "cells, K-means", "cells, few labels"]
    return markdown_table(header, lines)


def _absent(missing: pd.DataFrame) -> str:
    lines = [[line["network"], line["method"], line["reason"]] for line in missing.to_dict("records")]
    return markdown_table(["network", "method", "reason"], lines, n_text_columns=3)
