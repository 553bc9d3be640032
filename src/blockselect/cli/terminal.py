"""What the command shows: a progress bar while it works, and a short summary at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from blockselect.report.sentences import blocks_found, features_explain
from blockselect.wording import per_cent, visible

SHOWN = 10  # of the selected features
_MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {  # title and text of their columns
    "explained_more": ("adds", partial(per_cent, zeros=True)),
    "explained_alone": ("alone", partial(per_cent, zeros=True)),
    "stability": ("stability", "{:.2f}".format),
}

STAGES: dict[str, str] = {
    "reading": "reading the network",
    "number of blocks": "counting the blocks of the network",
    "block models": "finding blocks in the network",
    "screening": "comparing blocks by links and features",
    "discoveries": "testing features against chance",
    "ranking": "ranking features",
    "scores": "scoring features",
    "resampling": "repeating it on resampled links",
    "writing": "drawing the report",
}
"""What the stages of a run are called here; a download is called by its file."""


class Steps(MofNCompleteColumn):
    """How many steps are done, of how many; nothing where there is one only, or their number is not known."""

    def render(self, task: Task) -> Text:
        return super().render(task) if (task.total or 1) > 1 else Text()


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar for each stage on stderr, gone when all is done; none where stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Steps(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        stages: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(STAGES.get(stage, stage), total=total)
            # One step of unknown length has no share done: its bar only moves.
            bar.update(stages[stage], completed=done, total=None if (done, total) == (0, 1) else total)

        yield report


def show_selection(title: str, summary: dict[str, Any], folder: Path, files: Iterable[str], *, verbose: bool) -> None:
    """What was found, in plain words, the best features, and where to look; details where they are asked for."""
    counts, explained = summary["counts"], features_explain(summary)
    if explained is not None:
        typer.echo(explained)
    typer.echo(
        f"{printable(title)}: {counts['nodes']:,} nodes, {counts['links']:,} links, {counts['features']:,} features."
    )
    typer.echo(f"{blocks_found(summary)}. {_selected(counts)}")
    if summary["effort"] is not None and summary["effort"]["was_cut"]:
        typer.echo(
            "The network is large, so fewer block models were tried and refined for fewer rounds than on a small one."
        )
    if verbose:
        for line in _details(summary):
            typer.echo(f"  {line}")
    if counts["selected_features"]:
        Console().print(_best_features(summary))
    show_written(folder, files, verbose=verbose)


def show_written(folder: Path, files: Iterable[str], *, verbose: bool) -> None:
    """Where the files are, and with which to begin."""
    first, *others = files
    if verbose:
        for name in (first, *others):
            typer.echo(f"wrote {printable(str(folder / name))}")
    else:
        typer.echo(f"wrote {printable(str(folder / first))}; beside it {', '.join(others)}")


def _selected(counts: dict[str, int]) -> str:
    n_selected, without = counts["selected_features"], counts["nodes_without_selected_features"]
    if not n_selected:
        return "No feature follows them more than by chance, so none is selected."
    which = "1 feature that follows" if n_selected == 1 else f"{n_selected:,} features that follow"
    return f"Selected {which} them best; {without:,} nodes have none of these."


def _details(summary: dict[str, Any]) -> Iterator[str]:
    counts = summary["counts"]
    yield f"{counts['isolated_nodes']:,} nodes have no link; {counts['empty_features']:,} features are empty"
    yield f"block sizes: {', '.join(map(str, summary['blocks']['sizes']))}"
    yield f"relative error of the block model: {summary['relative_error']:.4f}"
    if summary["candidates"] is not None:
        yield f"guided by {_kept(summary['candidates'])}"
    if summary["sparsity"] is not None:
        yield f"sparsity: {summary['sparsity']:g}"
    if summary["effort"] is not None and summary["effort"]["was_cut"]:
        yield f"searched by {_cuts(summary['effort'])}"
    if summary["n_iter"] is not None:
        yield f"iterations: {summary['n_iter']}"


def _kept(candidates: list[dict[str, Any]]) -> str:
    """How many candidates the features are to explain, and of which families."""
    families = Counter(row["family"] for row in candidates if row["in_consensus"])
    named = ", ".join(f"{count} {family}" for family, count in families.most_common())
    return f"{families.total()} of {len(candidates)} candidate block models ({named})"


def _cuts(effort: dict[str, Any]) -> str:
    """What a large network left of the search."""
    candidates, rounds = effort["candidates"], effort["rounds"]
    return (
        f"{candidates['made']} of {candidates['asked']} candidates and at most {rounds['made_at_most']} of "
        f"{rounds['asked']} rounds of refinement"
    )


def _best_features(summary: dict[str, Any]) -> Table:
    best = summary["selected"][:SHOWN]
    shown = {measure: column for measure, column in _MEASURES.items() if measure in summary["measures"]}
    titles = [title for title, _ in shown.values()]
    table = feature_table(len(best), ["score", *titles, "marks block"])
    for row in best:
        block = row["marked_block"]
        cells = [f"{row['score']:.4f}", *(text(row[measure]) for measure, (_, text) in shown.items())]
        cells.append("none" if block is None else f"{block} ({row['lift']:.1f} times)")
        table.add_row(*(Text(printable(cell)) for cell in (str(row["rank"]), row["name"], *cells)))
    return table


def feature_table(n_shown: int, columns: Iterable[str]) -> Table:
    """An empty table of features by rank, with these columns after their names."""
    title = f"The first {n_shown} of the selected"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="ellipsis", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right")
    return table  # its cells are to be Text: names may look like markup


def printable(text: str) -> str:
    """Text from a file as this terminal can show it, without characters that would steer it."""
    encoding = sys.stdout.encoding or "utf-8"
    return visible(text).encode(encoding, "replace").decode(encoding)
