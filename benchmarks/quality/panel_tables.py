"""Tables of the panel: all methods in all cells, and BlockModelSelector compared with the best rival of each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from blockselect.evaluation.comparison_result import markdown_table
from blockselect.reproduction.store import Row

OURS = "block-model"
CELL = ["kind", "regime", "density", "n_blocks", "n_nodes"]
SCORES = ("precision", "coverage")
_ROUNDING = 1e-12


def make_tables(rows: Sequence[Row]) -> dict[str, pd.DataFrame]:
    """`panel`: means over networks, by cell and method; `panel_against_best_rival`: one row per cell."""
    table = pd.DataFrame([{**row, "error": row["error"] or ""} for row in rows])
    for name in (*SCORES, "seconds"):
        table[name] = table[name].astype("float64") if name in table else float("nan")
    grouped = table.groupby([*CELL, "method"], sort=False)
    means = grouped[[*SCORES, "seconds"]].mean()
    means["networks"] = grouped["precision"].count()
    means["error"] = grouped["error"].max()
    panel = means.round(4).reset_index()
    return {"panel": panel, "panel_against_best_rival": _against_best(panel)}


def _against_best(panel: pd.DataFrame) -> pd.DataFrame:
    """BlockModelSelector and the best rivals by precision and by coverage, for the cells in which it has a result."""
    lines = []
    for place, part in panel.groupby(CELL, sort=False):
        own = part[(part["method"] == OURS) & part["precision"].notna()]
        rivals = part[(part["method"] != OURS) & part["precision"].notna()]
        if own.empty or rivals.empty:
            continue
        line: Row = dict(zip(CELL, place, strict=True))
        for score in SCORES:
            best = rivals.loc[rivals[score].idxmax()]
            line |= {
                score: own[score].iloc[0],
                f"{score}_rival": best["method"],
                f"{score}_of_rival": best[score],
            }
        lines.append({**line, "rivals": len(rivals), "networks": int(own["networks"].iloc[0])})
    return pd.DataFrame(lines)


def render(tables: Mapping[str, pd.DataFrame]) -> str:
    """The number of cells that BlockModelSelector wins, and all cells with their best rivals, in Markdown."""
    cells = tables["panel_against_best_rival"]
    if cells.empty:
        return "No cell has both the default and a rival."
    parts = [_sentence(cells, score) for score in SCORES]
    header = ["features", "blocks", "nodes", "precision", "best rival", "coverage", "best rival"]
    lines = [
        [
            f"{cell['kind']}, {cell['density']:.0%}"
            + ("" if cell["regime"] == "assortative" else f", {cell['regime']}"),
            f"{cell['n_blocks']}",
            f"{cell['n_nodes']:,}",
            *(
                text
                for score in SCORES
                for text in (
                    _bold(cell[score], cell[f"{score}_of_rival"]),
                    f"{cell[f'{score}_of_rival']:.2f} {cell[f'{score}_rival']}",
                )
            ),
        ]
        for cell in cells.to_dict("records")
    ]
    late = tables["panel"][tables["panel"]["error"] != ""]
    failed = late.groupby(["method", "error"], sort=True).size()
    absent = "; ".join(f"{method}: {error} ({n} cells)" for (method, error), n in failed.items())
    table = markdown_table(header, lines)
    return "\n\n".join([" ".join(parts), table.rstrip("\n"), *([f"Without a result: {absent}"] if absent else [])])


def _sentence(cells: pd.DataFrame, score: str) -> str:
    difference = cells[score] - cells[f"{score}_of_rival"]
    above, equal = int((difference > _ROUNDING).sum()), int((difference.abs() <= _ROUNDING).sum())
    return (
        f"{score.capitalize()}: above the best rival of the cell in {above} of {len(cells)} cells, equal in {equal}, "
        f"mean difference {difference.mean():+.3f}."
    )


def _bold(value: float, other: float) -> str:
    return f"**{value:.2f}**" if value >= other - _ROUNDING else f"{value:.2f}"
