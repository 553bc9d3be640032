"""The files of a reproduction: rows, figures and the page of claims, made of the rows alone."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from importlib.util import find_spec

import pandas as pd

from blockselect import __version__
from blockselect.reproduction.claims import Judgement, judge_claims
from blockselect.reproduction.claims_page import Page, Section, render_html, render_markdown
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.experiments import EXPERIMENTS
from blockselect.reproduction.experiments.figure_files import METADATA, render
from blockselect.reproduction.network_data import published_block_models
from blockselect.reproduction.row_tables import clustering_table, experiment_table
from blockselect.reproduction.trial import Row

RESULT_FILES = (
    "config.json",
    "claims.md",
    "claims.html",
    *(f"figures/{name}.{kind}" for name in EXPERIMENTS for kind in METADATA),
    *(f"rows/{name}.{kind}" for name in (*EXPERIMENTS, "clusterings") for kind in ("csv", "parquet")),
)
"""Every file that a reproduction may write, by its path in the folder."""


def failures(rows: list[Row]) -> list[str]:
    """One line for each failed trial: what it was, and its error."""
    identity = ("dataset", "regime", "method", "seed", "asked_for", "selection")
    return [
        f"{', '.join(str(row[name]) for name in identity if row.get(name) is not None)}: {row['error']}"
        for row in rows
        if row["error"]
    ]


def make_files(
    rows: Mapping[str, list[Row]], config: ExperimentConfig, *, title: str, parquet: bool
) -> tuple[dict[str, bytes], dict[str, Judgement]]:
    """Every file of a reproduction by its path in the folder, and the judgements."""
    figures = {name: render(EXPERIMENTS[name], rows[name], config) for name in rows}
    sections = [
        Section(
            name=name,
            title=EXPERIMENTS[name].TITLE,
            svg=figures[name]["svg"],
            n_rows=len(experiment_table(rows[name], name)),
            failures=failures(rows[name]),
        )
        for name in rows
    ]
    page = Page(_in_a_sentence(config, title), judge_claims(rows, config), sections)
    files = {f"figures/{name}.{kind}": content for name, kinds in figures.items() for kind, content in kinds.items()}
    files |= row_files(rows, parquet=parquet)
    files |= {"claims.md": render_markdown(page), "claims.html": render_html(page)}
    files["config.json"] = (json.dumps(config.marks, indent=2, ensure_ascii=False) + "\n").encode()
    return files, dict(page.judgements)


def parquet_available() -> bool:
    """Whether pyarrow is installed; without it rows are written as CSV alone."""
    return find_spec("pyarrow") is not None


def row_files(rows: Mapping[str, list[Row]], *, parquet: bool) -> dict[str, bytes]:
    """The rows of each experiment and their clusterings by path in the folder: as CSV, and as Parquet if wanted."""
    tables = {name: experiment_table(of_experiment, name) for name, of_experiment in rows.items()}
    clusterings = clustering_table([row for of_experiment in rows.values() for row in of_experiment])
    if len(clusterings):
        tables["clusterings"] = clusterings
    files = {f"rows/{name}.csv": table.to_csv(index=False).encode() for name, table in tables.items()}
    if parquet:
        files |= {f"rows/{name}.parquet": _parquet(table) for name, table in tables.items()}
    return files


def _parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


def _in_a_sentence(config: ExperimentConfig, title: str) -> str:
    published = [name for name in config.networks if published_block_models(name) is not None]
    own = [name for name in config.networks if name not in published]
    sources = ", ".join(
        f"{kind} on {' and '.join(names)}"
        for kind, names in (("published", published), ("ONMtF of our own", own))
        if names
    )
    return (
        f"Configuration {title}, seed {config.seed}: {', '.join(config.networks)}; {config.n_candidates} candidate "
        f"block models ({sources}); K-means with {config.kmeans_runs} runs of {config.kmeans_init} starts; blockselect "
        f"{__version__}. BMGUFS* chooses without labels; BMGUFSˢ chooses candidate and sparsity by the labels."
    )
