"""The page of claims: verdicts first, then the figures behind each, as Markdown and as one self-contained HTML file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from blockselect.evaluation.comparison import markdown_table
from blockselect.reproduction.claims import CLAIMS, Claim, Judgement


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """One experiment on the page."""

    name: str
    title: str
    svg: bytes
    n_rows: int
    failures: Sequence[str]  # one line a failed trial


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """What the page shows."""

    settings: str  # in a sentence
    judgements: Mapping[str, Judgement]  # by the letter of the claim
    sections: Sequence[Section]  # experiments that were run
    claims: Sequence[Claim] = CLAIMS


def render_html(page: Page) -> bytes:
    """One file that needs no other: figures are within it."""
    environment = Environment(
        loader=PackageLoader("blockselect.reproduction"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data_uri"] = lambda svg: f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
    return environment.get_template("claims.html.jinja").render(page=page).encode()


def render_markdown(page: Page) -> bytes:
    """The same for a repository or a terminal; figures are linked, as they lie beside it."""
    parts = ["# What holds of the paper's claims", page.settings, _overview(page)]
    for claim in page.claims:
        judgement = page.judgements[claim.letter]
        parts += [
            f"## ({claim.letter}) {claim.statement}",
            f"**{judgement.verdict}**: {judgement.summary}",
            f"Rule: {claim.rule}",
        ]
        if len(judgement.figures):
            parts.append(_markdown(judgement.figures))
    for section in page.sections:
        parts += [f"## {section.title}", f"![{section.title}](figures/{section.name}.svg)"]
        parts.append(f"{section.n_rows:,} rows in `rows/{section.name}.csv`.")
        if section.failures:
            parts.append("Failed:\n\n" + "\n".join(f"- {line}" for line in section.failures))
    return ("\n\n".join(part.rstrip("\n") for part in parts) + "\n").encode()


def _overview(page: Page) -> str:
    lines = [
        (
            claim.letter,
            claim.statement,
            str(page.judgements[claim.letter].verdict),
            page.judgements[claim.letter].summary,
        )
        for claim in page.claims
    ]
    return markdown_table(("", "claim", "verdict", "measured"), lines, n_text_columns=4)


def _markdown(table: pd.DataFrame) -> str:
    return markdown_table(list(table.columns), table.astype(str).to_numpy().tolist())
