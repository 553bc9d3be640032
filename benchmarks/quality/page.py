"""The tables of quality in Markdown: the default against rivals, every method, planted networks, the ablation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from blockselect import __version__
from blockselect.evaluation.tables import markdown_table
from blockselect.reproduction.figures.effectiveness import LOWEST, SUPERVISED
from blockselect.reproduction.figures.style import title_of
from benchmarks.quality import networks, planted
from benchmarks.quality.ablation import ablate
from benchmarks.quality.ablations import DEFAULT
from benchmarks.quality.cells import (
    MEASURES,
    TUNED,
    Count,
    Line,
    compare,
    count,
    count_by_rival,
    summarize,
)
from benchmarks.quality.config import QualityConfig
from benchmarks.quality.recovery import compare_precisions, precisions, summarize_precisions
from blockselect.reproduction.run import failures
from blockselect.reproduction.trial import Row

CELLS_RULE = (
    "Means ± standard deviations over candidate seeds and runs of K-means. The best rival of a cell is the label-free "
    "method with the highest mean there. *Within one sd*: below it by no more than the root mean square of the two "
    "standard deviations. Zero rows: nodes that have none of the selected features, mean over seeds."
)
PLANTED_RULE = (
    "Share of planted features (copies included) among as many selected, mean ± standard error over networks; rivals "
    "are told the number of blocks, the default is not. The best rival is the one with the highest mean in that "
    "regime; the difference is paired, network by network."
)


def render_tables(rows: Mapping[str, Sequence[Row]], config: QualityConfig, title: str) -> str:
    """All tables, in Markdown."""
    summary, table = summarize(rows[networks.NAME]), precisions(rows[planted.NAME])
    failed = [line for of_part in rows.values() for line in failures(list(of_part))]
    parts = [
        "# Tables of quality",
        _in_a_sentence(config, title),
        "## The default against every label-free rival",
        CELLS_RULE,
        *_default_cells(summary, networks.RIVAL, "the best rival"),
        "Against each rival alone:",
        _rival_by_rival(summary),
        f"## The default against {SUPERVISED}",
        f"{SUPERVISED} takes the candidate and γ with the best ACC by the class labels, anew in each cell and seed.",
        *_default_cells(summary, TUNED, SUPERVISED),
        "## What each setting adds",
        "ACC / NMI, mean over d, with the mean number of zero rows; cells at or above (and within one sd of) the "
        f"best rival and {SUPERVISED}.",
        _ablation(summary, config),
        "Planted networks, precision:",
        _precision_table(table, config, kinds=(networks.SETTING,)),
        "## Planted networks",
        PLANTED_RULE,
        _planted_comparison(table),
        _precision_table(table, config, kinds=(networks.SETTING, networks.RIVAL)),
        "## Every method",
        "In brackets: how many features were selected, where a method had fewer to select than asked for.",
        *_every_method(summary),
    ]
    if failed:
        parts += ["## Failed", "\n".join(f"- {line}" for line in failed)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def headlines(rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """The counts in a sentence each."""
    summary, table = summarize(rows[networks.NAME]), precisions(rows[planted.NAME])
    regimes = compare_precisions(table, DEFAULT)
    above = int((regimes["difference"] > 0).sum()) if len(regimes) else 0
    return [
        _won(count(compare(summary, DEFAULT, networks.RIVAL)), "the best label-free rival"),
        _each_rival(count_by_rival(summary, DEFAULT)),
        _won(count(compare(summary, DEFAULT, TUNED)), SUPERVISED),
        f"Planted networks: above the best rival in {above} of {len(regimes)} regimes.",
    ]


def _won(found: Count, rival: str) -> str:
    rest = found.cells - found.at_or_above
    return (
        f"At or above {rival} in {found.at_or_above} of {found.cells} cells; of the other {rest}, {found.within} "
        "within one sd."
    )


def _each_rival(counts: Mapping[str, Count]) -> str:
    """The hardest rival to beat, in a sentence."""
    if not counts:
        return "No label-free rival to compare with."
    name, least = min(counts.items(), key=lambda item: item[1].at_or_above)
    won = f"{least.at_or_above} of {least.cells} cells ({name})"
    return f"Against each label-free rival alone: at or above it in at least {won}."


def _rival_by_rival(summary: pd.DataFrame) -> str:
    lines = [
        (rival, str(found.at_or_above), str(found.within), str(found.cells - found.at_or_above - found.within))
        for rival, found in count_by_rival(summary, DEFAULT).items()
    ]
    return markdown_table(("rival", "at or above", "within one sd", "below"), lines)


def _in_a_sentence(config: QualityConfig, title: str) -> str:
    protocol = config.protocol
    return (
        f"Made by `blockselect quality --config {title}`: {', '.join(protocol.datasets)}; "
        f"K-means with {protocol.kmeans_runs} runs of {protocol.kmeans_init} starts; candidate seeds "
        f"{', '.join(map(str, config.candidate_seeds))} (a method that is not random once); {config.planted_seeds} "
        f"planted networks a regime; blockselect {__version__}."
    )


def _default_cells(summary: pd.DataFrame, rivals: str, rival: str) -> list[str]:
    cells = compare(summary, DEFAULT, rivals)
    ordered = cells.sort_values(["dataset", "measure", "top"]) if len(cells) else cells
    lines = [
        (
            title_of(cell["dataset"]),
            title_of(cell["measure"]),
            str(cell["rival"]),
            f"{cell['top']:d}",
            _spread(cell["mean"], cell["sd"]),
            _spread(cell["rival_mean"], cell["rival_sd"]),
            f"{cell['margin']:+.3f}",
            "at or above" if cell["at_or_above"] else "within one sd" if cell["within"] else "below",
            f"{cell['zero_rows']:.0f}",
            f"{cell['rival_zero_rows']:.0f}",
        )
        for cell in ordered.to_dict("records")
    ]
    header = ("network", "", "rival", "d", "default", "rival's", "margin", "", "zero rows", "rival's zero rows")
    return [_won(count(cells), rival), markdown_table(header, lines, n_text_columns=3)]


def _ablation(summary: pd.DataFrame, config: QualityConfig) -> str:
    datasets = sorted(summary["dataset"].unique())
    header = ["setting", *(title_of(name) for name in datasets), "≥ best rival", f"≥ {SUPERVISED}"]
    lines = [
        (
            line["method"],
            *(
                f"{line[f'{name} accuracy']:.3f} / {line[f'{name} nmi']:.3f} ({line[f'{name} n_zero_rows']:.0f})"
                for name in datasets
            ),
            f"{line['rivals_won']} (+{line['rivals_within']}) of {line['rivals_cells']}",
            f"{line['tuned_won']} (+{line['tuned_within']}) of {line['tuned_cells']}",
        )
        for line in ablate(summary, config.settings).to_dict("records")
    ]
    return markdown_table(header, lines)


def _planted_comparison(table: pd.DataFrame) -> str:
    header = ("regime", "best rival", "default", "rival's", "difference", "wins / ties / losses")
    lines = [
        (
            line["regime"],
            _method_name(line["rival"]),
            _spread(line["mean"], line["se"]),
            _spread(line["rival_mean"], line["rival_se"]),
            f"{line['difference']:+.3f} ± {line['difference_se']:.3f}",
            f"{line['wins']} / {line['ties']} / {line['losses']}",
        )
        for line in compare_precisions(table, DEFAULT).to_dict("records")
    ]
    return markdown_table(header, lines, n_text_columns=2)


def _precision_table(table: pd.DataFrame, config: QualityConfig, *, kinds: Sequence[str]) -> str:
    summary = summarize_precisions(table)
    found = {(line["kind"], line["method"], line["regime"]): line for line in summary.to_dict("records")}
    lines = []
    for kind, methods in ((networks.SETTING, config.settings), (networks.RIVAL, config.methods)):
        for method in methods if kind in kinds else ():
            cells = [found.get((kind, method, regime)) for regime in config.regimes]
            lines.append((_method_name(method), *(_spread(cell["mean"], cell["se"]) if cell else "" for cell in cells)))
    return markdown_table(("", *config.regimes), lines)


def _every_method(summary: pd.DataFrame) -> list[str]:
    parts = []
    for dataset, of_dataset in summary.groupby("dataset", sort=True):
        for measure in (*MEASURES, "n_zero_rows"):
            parts += [f"### {title_of(str(dataset))}: {_measure_title(measure)}", _by_top(of_dataset, measure)]
    return parts


def _by_top(summary: pd.DataFrame, measure: str) -> str:
    tops = sorted(summary["top"].unique())
    lines: dict[tuple[str, str], dict[int, str]] = {}
    for line in summary.to_dict("records"):
        lines.setdefault((line["kind"], line["method"]), {})[line["top"]] = _entry(line, measure)
    shown = [(method, *(by_top.get(top, "") for top in tops)) for (_, method), by_top in lines.items()]
    return markdown_table(("", *(f"d = {top}" for top in tops)), shown)


def _entry(line: Line, measure: str) -> str:
    text = _spread(line[measure], line[f"{measure}_sd"]) if measure in MEASURES else f"{line[measure]:.0f}"
    return f"{text} [{line['n_selected']:.0f}]" if line["n_selected"] < line["top"] else text


def _measure_title(measure: str) -> str:
    return "zero rows" if measure == "n_zero_rows" else title_of(measure)


def _method_name(method: str) -> str:
    return LOWEST if method == networks.PAPERS else method


def _spread(mean: float, spread: float) -> str:
    return f"{mean:.3f} ± {spread:.3f}"
