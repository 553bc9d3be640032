"""The tables of a measurement, one CSV each: comparisons with rivals, variants, planted networks, all methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from benchmarks.quality import planted_networks, real_networks
from benchmarks.quality.cells import MEASURES, TUNED, compare, count, count_by_rival, summarize
from benchmarks.quality.protocol_table import protocol_table
from benchmarks.quality.quality_config import QualityConfig
from benchmarks.quality.recovery import compare_precisions, precisions, summarize_precisions
from benchmarks.quality.variants import DEFAULT
from blockselect.reproduction.experiments import LOWEST
from blockselect.reproduction.figures import title_of
from blockselect.reproduction.store import Row

CELL_COLUMNS = (
    "network",
    "measure",
    "d",
    "default",
    "default_sd",
    "rival",
    "rival_mean",
    "rival_sd",
    "margin",
    "verdict",
    "zero_rows",
    "rival_zero_rows",
)


def make_tables(rows: Mapping[str, Sequence[Row]], config: QualityConfig) -> dict[str, pd.DataFrame]:
    """All tables by name, with numbers as text."""
    summary = summarize(rows[real_networks.NAME])
    precision = precisions(rows[planted_networks.NAME])
    return {
        "paper_protocol": protocol_table(summary, MEASURES, DEFAULT),
        "against_best_rival": _cells(summary, real_networks.RIVAL),
        "against_each_rival": _each_rival(summary),
        "against_tuned_by_labels": _cells(summary, TUNED),
        "variants": variants_table(summary, config.variants),
        "planted_against_best_rival": _planted_comparison(precision),
        "planted_precision": _planted_precision(precision, config),
        "every_method": _every_method(summary),
    }


def _cells(summary: pd.DataFrame, rivals: str) -> pd.DataFrame:
    """BlockModelSelector and the best rival in each cell: network × measure × number of features."""
    cells = compare(summary, DEFAULT, rivals)
    ordered = cells.sort_values(["dataset", "measure", "top"]) if len(cells) else cells
    lines = [
        (
            title_of(cell["dataset"]),
            title_of(cell["measure"]),
            cell["top"],
            _three(cell["mean"]),
            _three(cell["sd"]),
            cell["rival"],
            _three(cell["rival_mean"]),
            _three(cell["rival_sd"]),
            f"{cell['margin']:+.3f}",
            "at or above" if cell["at_or_above"] else "within one sd" if cell["within"] else "below",
            _whole(cell["zero_rows"]),
            _whole(cell["rival_zero_rows"]),
        )
        for cell in ordered.to_dict("records")
    ]
    return pd.DataFrame(lines, columns=list(CELL_COLUMNS))


def _each_rival(summary: pd.DataFrame) -> pd.DataFrame:
    """The cells won against each rival alone."""
    lines = [
        (rival, found.at_or_above, found.within, found.cells - found.at_or_above - found.within)
        for rival, found in count_by_rival(summary, DEFAULT).items()
    ]
    return pd.DataFrame(lines, columns=["rival", "at_or_above", "within_one_sd", "below"])


def variants_table(summary: pd.DataFrame, variants: Sequence[str]) -> pd.DataFrame:
    """ACC, NMI and zero rows of each variant, mean over d, and the cells it wins."""
    lines = []
    for variant in variants:
        own = summary[(summary["kind"] == real_networks.VARIANT) & (summary["method"] == variant)]
        means = own.groupby("dataset")[[*MEASURES, "n_zero_rows"]].mean() if len(own) else pd.DataFrame()
        means = means.reindex(index=sorted(summary["dataset"].unique()), columns=[*MEASURES, "n_zero_rows"])
        line: dict[str, Any] = {"variant": variant}
        for name, figures in means.iterrows():
            line |= {f"{title_of(name)}_{title_of(measure)}": _three(figures[measure]) for measure in MEASURES}
            line[f"{title_of(name)}_zero_rows"] = _whole(figures["n_zero_rows"])
        rivals, tuned = (count(compare(summary, variant, kind)) for kind in (real_networks.RIVAL, TUNED))
        line |= {
            "cells": rivals.cells,
            "at_or_above_best_rival": rivals.at_or_above,
            "within_one_sd_of_best_rival": rivals.within,
            "at_or_above_tuned_by_labels": tuned.at_or_above,
            "within_one_sd_of_tuned_by_labels": tuned.within,
        }
        lines.append(line)
    return pd.DataFrame(lines)


def _planted_comparison(precision: pd.DataFrame) -> pd.DataFrame:
    """BlockModelSelector and the best rival in each regime, compared network by network."""
    lines = [
        {
            "regime": found["regime"],
            "default": _three(found["mean"]),
            "default_se": _three(found["se"]),
            "rival": _method_name(found["rival"]),
            "rival_mean": _three(found["rival_mean"]),
            "rival_se": _three(found["rival_se"]),
            "difference": f"{found['difference']:+.3f}",
            "difference_se": _three(found["difference_se"]),
            **{name: found[name] for name in ("wins", "ties", "losses")},
        }
        for found in compare_precisions(precision, DEFAULT).to_dict("records")
    ]
    return pd.DataFrame(lines)


def _planted_precision(precision: pd.DataFrame, config: QualityConfig) -> pd.DataFrame:
    """Mean and standard error of the precision of every variant and rival in every regime."""
    summary = summarize_precisions(precision)
    found = {(line["kind"], line["method"], line["regime"]): line for line in summary.to_dict("records")}
    wanted = [(real_networks.VARIANT, method) for method in config.variants]
    wanted += [(real_networks.RIVAL, method) for method in config.methods]
    lines = [
        (_method_name(method), regime, _three(line["mean"]), _three(line["se"]))
        for kind, method in wanted
        for regime in config.regimes
        if (line := found.get((kind, method, regime))) is not None
    ]
    return pd.DataFrame(lines, columns=["method", "regime", "precision", "se"])


def _every_method(summary: pd.DataFrame) -> pd.DataFrame:
    """ACC, NMI and zero rows of all methods; `n_selected` may be smaller than d."""
    lines: list[dict[str, Any]] = []
    for _, of_dataset in summary.groupby("dataset", sort=True):
        for found in of_dataset.to_dict("records"):
            line = {"network": title_of(found["dataset"]), "method": found["method"], "d": found["top"]}
            for measure in MEASURES:
                line |= {
                    title_of(measure): _three(found[measure]),
                    f"{title_of(measure)}_sd": _three(found[f"{measure}_sd"]),
                }
            lines.append({**line, "zero_rows": _whole(found["n_zero_rows"]), "n_selected": _whole(found["n_selected"])})
    return pd.DataFrame(lines)


def _method_name(method: str) -> str:
    return LOWEST if method == real_networks.PAPERS else method


def _three(number: float) -> str:
    return f"{number:.3f}"


def _whole(number: float) -> str:
    return f"{number:.0f}"
