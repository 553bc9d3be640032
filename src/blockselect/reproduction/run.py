"""A reproduction in a folder: what its store must match, and the files that are made of its rows."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from blockselect import __version__
from blockselect.datasets.catalogue import find_dataset
from blockselect.datasets.download import DATA_VARIABLE, Place, place_of
from blockselect.reproduction.agenda import collect
from blockselect.reproduction.claims import Judgement, judge_claims
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.figures import EXPERIMENTS
from blockselect.reproduction.figures.render import render
from blockselect.reproduction.page import Page, Section, render_html, render_markdown
from blockselect.reproduction.solves import published_block_models
from blockselect.reproduction.store import Store
from blockselect.reproduction.tables import clustering_table, experiment_table
from blockselect.reproduction.trial import Row


def store_marks(config: ExperimentConfig) -> dict[str, Any]:
    """All that rows depend on besides their trials: a store is for these alone."""
    published = [name for name in config.networks if published_block_models(name) is not None]
    return {**asdict(config), "published block models": published, "version": __version__}


def check_networks(config: ExperimentConfig) -> None:
    """Refuse, before any work, networks that are not on this machine."""
    for name in config.networks:
        source = find_dataset(name).source
        if source is not None and place_of(source) is Place.NOWHERE:
            raise ValueError(
                f"the network {name} is not on this machine; run 'blockselect datasets fetch {name}', or set "
                f"{DATA_VARIABLE} to a folder that holds {', '.join(file.name for file in source.files)}."
            )


def complete_rows(config: ExperimentConfig, store: Store) -> dict[str, list[Row]]:
    """Rows of every experiment of which the store has all, by its name."""
    found = {name: collect(experiment, config, store) for name, experiment in EXPERIMENTS.items()}
    return {name: rows for name, rows in found.items() if rows}


def failures(rows: list[Row]) -> list[str]:
    """One line for each failed trial: what it was, and its error."""
    told = ("dataset", "regime", "method", "seed", "asked_for", "selection")
    return [
        f"{', '.join(str(row[name]) for name in told if row.get(name) is not None)}: {row['error']}"
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
    files["config.json"] = (json.dumps(store_marks(config), indent=2, ensure_ascii=False) + "\n").encode()
    return files, dict(page.judgements)


def row_files(rows: Mapping[str, list[Row]], *, parquet: bool) -> dict[str, bytes]:
    """The rows of each experiment and their clusterings, as CSV and as Parquet, by path in the folder."""
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
