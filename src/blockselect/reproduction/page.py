"""The files of a reproduction, all made from the stored rows: CSV tables, figures, and the page of claims."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from blockselect import __version__
from blockselect.evaluation.comparison_result import markdown_table
from blockselect.reproduction.claims import CLAIMS, Judgement, judge_claims
from blockselect.reproduction.config import ExperimentConfig, published_block_models
from blockselect.reproduction.experiments import EXPERIMENTS, results
from blockselect.reproduction.figures import FORMATS, render_figure
from blockselect.reproduction.selections import CLUSTERINGS, clustering_table, experiment_table
from blockselect.reproduction.store import Row
from blockselect.utils.wording import visible

RESULT_FILES = (
    "config.json",
    "claims.md",
    "claims.html",
    *(f"figures/{name}.{kind}" for name in EXPERIMENTS for kind in FORMATS),
    *(f"rows/{name}.csv" for name in (*EXPERIMENTS, CLUSTERINGS)),
)
"""Paths, within the folder, of all files that a reproduction may write."""


def failures(rows: list[Row]) -> list[str]:
    """One line per failed trial, with its settings and its error."""
    identity = ("dataset", "regime", "method", "seed", "asked_for", "selection")
    return [
        visible(f"{', '.join(str(row[name]) for name in identity if row.get(name) is not None)}: {row['error']}")
        for row in rows
        if row["error"]
    ]


def make_files(
    rows: Mapping[str, list[Row]], config: ExperimentConfig, *, title: str
) -> tuple[dict[str, bytes], dict[str, Judgement]]:
    """Make all files of a reproduction, as a mapping from path to content, and the judgements."""
    figures = {name: render_figure(name, results(name, found), config) for name, found in rows.items()}
    sections = [
        {
            "name": name,
            "title": EXPERIMENTS[name].title,
            "svg": figures[name]["svg"],
            "n_rows": sum(row["experiment"] == name for row in found),
            "failures": failures(found),
        }
        for name, found in rows.items()
    ]
    settings, judgements = _describe(config, title), judge_claims(rows, config)
    files = {f"figures/{name}.{kind}": content for name, kinds in figures.items() for kind, content in kinds.items()}
    files |= row_files(rows)
    files |= {f"claims.{kind}": render(kind, settings, judgements, sections) for kind in ("md", "html")}
    files["config.json"] = (json.dumps(config.marks, indent=2, ensure_ascii=False) + "\n").encode()
    return files, judgements


def row_files(rows: Mapping[str, list[Row]]) -> dict[str, bytes]:
    """The tables of all experiments and clusterings as CSV, as a mapping from path to content."""
    tables = {
        name: experiment_table(of_experiment, name).drop(columns="selected", errors="ignore")
        for name, of_experiment in rows.items()
    }
    clusterings = clustering_table([row for of_experiment in rows.values() for row in of_experiment])
    if len(clusterings):
        tables[CLUSTERINGS] = clusterings
    return {f"rows/{name}.csv": table.to_csv(index=False).encode() for name, table in tables.items()}


def _describe(config: ExperimentConfig, title: str) -> str:
    published = [name for name in config.networks if published_block_models(name) is not None]
    own = [name for name in config.networks if name not in published]
    sources = ", ".join(
        f"{kind} for {' and '.join(names)}"
        for kind, names in (("published", published), ("computed with ONMtF", own))
        if names
    )
    return (
        f"Configuration {title}, seed {config.seed}: {', '.join(config.networks)}; {config.n_candidates} candidate "
        f"block models ({sources}); {config.kmeans_runs} runs of K-means with {config.kmeans_init} starts each; "
        f"blockselect {__version__}. BMGUFS* uses no labels; BMGUFSˢ chooses candidate and sparsity with them."
    )


def render(kind: str, settings: str, judgements: Mapping[str, Judgement], sections: list[dict[str, Any]]) -> bytes:
    """Render the page as "html", which contains its figures, or as "md", which links to them.

    There is one section per experiment, with its name, title, figure as SVG, number of rows, and failures.
    """
    environment = Environment(
        loader=PackageLoader("blockselect.reproduction"),
        autoescape=kind == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data_uri"] = lambda svg: f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
    environment.globals["markdown_table"] = markdown_table
    template = environment.get_template(f"claims.{kind}.jinja")
    page = template.render(settings=settings, claims=CLAIMS, judgements=judgements, sections=sections)
    return (page if kind == "html" else escape(page, quote=False)).encode()  # names and errors may contain HTML
