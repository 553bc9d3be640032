"""What the command shows: a progress bar while it works, and a short summary at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

SHOWN = 10  # of the selected features

STAGES: dict[str, str] = {
    "block models": "finding block models",
    "screening": "screening them by links and features",
    "scores": "scoring features",
    "resampling": "refitting resampled graphs",
    "stability": "scoring features on these",
}
"""What the stages of a fit are called here."""


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar for each stage on stderr, gone when all is done; none where stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        stages: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(STAGES.get(stage, stage), total=total)
            # One step of unknown length has no share done: its bar only moves.
            bar.update(stages[stage], completed=done, total=None if (done, total) == (0, 1) else total)

        yield report


def show_selection(title: str, summary: dict[str, Any], written: Iterable[Path]) -> None:
    """The network, the best features, and where the files are."""
    counts = summary["counts"]
    typer.echo(f"network: {printable(title)}")
    typer.echo(
        f"         {counts['nodes']:,} nodes ({counts['isolated_nodes']:,} isolated), "
        f"{counts['links']:,} links, {_blocks(summary)}, "
        f"{counts['features']:,} features ({counts['empty_features']:,} empty)"
    )
    if summary["criteria"] is not None:
        typer.echo(f"guided by: {_voters(summary['criteria'])}")
    if summary["effort"] is not None and summary["effort"]["was_cut"]:
        typer.echo(f"budget: {_cuts(summary['effort'])}; --budget raises it")
    n_selected = counts["selected_features"]
    without = counts["nodes_without_selected_features"]
    typer.echo(f"selected: {n_selected:,} features; {without:,} nodes have none of them")
    if n_selected:
        Console().print(_best_features(summary))
    for path in written:
        typer.echo(f"wrote {path}")


def _blocks(summary: dict[str, Any]) -> str:
    count = summary["blocks"]["count"]
    return f"{count} block{'' if count == 1 else 's'}{' (chosen)' if summary['blocks']['automatic'] else ''}"


def _voters(criteria: list[dict[str, Any]]) -> str:
    """How many candidates voted, and of which families."""
    families = Counter(row["family"] for row in criteria if row["voted"])
    named = ", ".join(f"{count} {family}" for family, count in families.most_common())
    return f"{families.total()} of {len(criteria)} candidates ({named})"


def _cuts(effort: dict[str, Any]) -> str:
    """What the budget left of the search."""
    candidates, rounds = effort["candidates"], effort["rounds"]
    return (
        f"{candidates['made']} of {candidates['asked']} candidates and at most {rounds['made_at_most']} of "
        f"{rounds['asked']} rounds of refinement, for {effort['budget']:.2g} of {effort['work']:.2g} multiplications"
    )


def _best_features(summary: dict[str, Any]) -> Table:
    best = summary["selected"][:SHOWN]
    title = f"The best {len(best)} of the selected"  # not of all: discoveries are selected whatever their scores
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="ellipsis", no_wrap=True)
    table.add_column("score", justify="right")
    with_stability = "stability" in summary["measures"]
    if with_stability:
        table.add_column("stability", justify="right")
    table.add_column("highest mean", justify="right")
    table.add_column("in block", justify="right")
    for row in best:
        highest = max(row["block_means"])
        block = row["block_means"].index(highest)
        cells = [str(row["rank"]), printable(row["name"]), f"{row['score']:.4f}", f"{highest:.3g}", str(block)]
        if with_stability:
            cells.insert(3, f"{row['stability']:.2f}")
        table.add_row(*(Text(cell) for cell in cells))  # Text: names may look like markup
    return table


def printable(text: str) -> str:
    """Text from a file as this terminal can show it, without characters that would steer it."""
    encoding = sys.stdout.encoding or "utf-8"
    shown = "".join(letter if letter.isprintable() else "?" for letter in text)
    return shown.encode(encoding, "replace").decode(encoding)
