"""Terminal output of the command: progress bars while it runs, and a short summary at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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

from blockselect.cli.waiting import waiting
from blockselect.registry import SELECTORS
from blockselect.report.sentences import blocks_found, blocks_refined, is_doubtful, main_findings, no_evidence
from blockselect.utils.progress import STAGES, no_progress
from blockselect.utils.wording import count, cut, listed, number, per_cent, times, visible

SHOWN = 10  # maximum number of selected features, and of blocks
WIDE = 120  # characters per line of a table that is not shown on a terminal
_MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {  # measure → title of its column, format of its cells
    "explained_more": ("adds", partial(per_cent, zeros=True)),
    "explained_alone": ("alone", partial(per_cent, zeros=True)),
    "stability": ("stability", "{:.2f}".format),
    "p_value": ("p-value", "{:.2g}".format),
    "q_value": ("q-value", "{:.2g}".format),
}


class Steps(MofNCompleteColumn):
    """The numbers of completed steps and of all steps; empty for a single step."""

    def render(self, task: Task) -> Text:
        return super().render(task) if (task.total or 1) > 1 else Text()


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show one bar per stage on stderr, removed at the end; if stderr is not a terminal, one line per stage."""
    if quiet or not sys.stderr.isatty():
        yield no_progress if quiet else lambda stage, done, total: waiting.now(STAGES.get(stage, stage))
        return
    waiting.end()
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Steps(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        stages: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(STAGES.get(stage, stage), total=total)
            # Progress within a single step is unknown, so its bar only pulses.
            bar.update(stages[stage], completed=done, total=None if (done, total) == (0, 1) else total)

        yield show


def show_selection(title: str, summary: dict[str, Any], folder: Path, files: Sequence[str], *, verbose: bool) -> None:
    """Print the findings, the top features and the files that were written; with `verbose`, also details."""
    counts, by_blocks = summary["counts"], "blocks" in summary
    if is_doubtful(summary):
        typer.echo(f"{no_evidence(summary)}.")
    for sentence in main_findings(summary):
        typer.echo(sentence)
    typer.echo(
        f"{visible(title)}: {count(counts['nodes'], 'node')}, {count(counts['links'], 'link')}, "
        f"{count(counts['features'], 'feature')}."
    )
    if by_blocks:
        typer.echo(f"{blocks_found(summary)}. {_selected(counts, 'that best explain the blocks')}")
        typer.echo(_largest_blocks(summary["blocks"]))
        if refined := blocks_refined(summary):
            typer.echo(refined)
        if _was_cut(summary):
            typer.echo(
                "Because the network is large, fewer block models were tried and they were refined for fewer rounds."
            )
        for line in _details(summary) if verbose else ():
            typer.echo(f"  {line}")
    else:
        typer.echo(_selected(counts, f"by {SELECTORS[summary['method']].title}"))
    if counts["selected_features"]:
        _show_best(summary)
    if verbose:
        for name in files:
            typer.echo(f"wrote {visible(str(folder / name))}")
    else:
        show_files(folder, files)


def _selected(counts: dict[str, int], which: str) -> str:
    n_selected, without = (counts["selected_features"], counts["nodes_without_selected_features"])
    if not n_selected:
        return "No feature is associated with the links beyond chance, so none is selected."
    have = "has" if without == 1 else "have"
    return f"Selected {count(n_selected, 'feature')} {which}; {count(without, 'node')} {have} none of them."


def _largest_blocks(blocks: dict[str, Any]) -> str:
    """The names and sizes of the largest blocks."""
    sized = sorted(zip(blocks["sizes"], blocks["described"], strict=True), key=lambda pair: -pair[0])
    named = [f"{visible(cut(one['name']))} ({count(size)})" for size, one in sized[:SHOWN]]
    which = "Largest blocks" if len(sized) > SHOWN else "Blocks"
    return f"{which} (number of nodes): {listed(named)}."


def _was_cut(summary: dict[str, Any]) -> bool:
    return summary["effort"] is not None and summary["effort"]["was_cut"]


def _details(summary: dict[str, Any]) -> Iterator[str]:
    isolated, empty = (summary["counts"]["isolated_nodes"], summary["counts"]["empty_features"])
    yield f"{count(isolated, 'isolated node')}, {count(empty, 'empty feature')}"
    yield f"block sizes: {', '.join(map(str, summary['blocks']['sizes']))}"
    yield f"relative error of the block model: {summary['relative_error']:.4f}"
    if summary["candidates"] is not None:
        families = Counter(row["family"] for row in summary["candidates"] if row["in_consensus"])
        named = ", ".join(f"{n_models} {family}" for family, n_models in families.most_common())
        yield f"based on {families.total()} of {len(summary['candidates'])} candidate block models ({named})"
    if summary["sparsity"] is not None:
        yield f"sparsity: {summary['sparsity']:g}"
    if _was_cut(summary):
        candidates, rounds = (summary["effort"]["candidates"], summary["effort"]["rounds"])
        yield (
            f"search limited to {candidates['made']} of {candidates['asked']} candidates and at most "
            f"{rounds['made_at_most']} of {rounds['asked']} rounds of refinement"
        )
    if summary["n_iter"] is not None:
        yield f"iterations: {summary['n_iter']}"


def _show_best(summary: dict[str, Any]) -> None:
    """Print a table of the top features."""
    shown = {measure: column for measure, column in _MEASURES.items() if measure in summary["measures"]}
    marks = ["marks"] if "blocks" in summary else []
    rows = []
    for row in summary["selected"][:SHOWN]:
        cells = [str(row["rank"]), row["name"], number(row["score"], zeros=True)]
        cells += [form(row[measure]) for measure, (_, form) in shown.items()]
        if marks:
            more = f" and {count(row['n_marked_blocks'] - 1)} more" if row["n_marked_blocks"] > 1 else ""
            strongest = None if row["block_name"] is None else cut(row["block_name"])
            cells.append("none" if strongest is None else f"{strongest} ({times(row['lift'])}){more}")
        rows.append(cells)
    is_cut = summary["counts"]["selected_features"] > SHOWN
    typer.echo(f"\nThe top {SHOWN} selected features:" if is_cut else "\nThe selected features:")
    titles = [title for title, _ in shown.values()]
    show_table(["rank", "feature", "score", *titles, *marks], rows, text_columns=["feature", "marks"])


def show_table(titles: Iterable[str], rows: Iterable[Iterable[str]], *, text_columns: Collection[str]) -> None:
    """Print a table with text aligned to the left and numbers to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for title in titles:
        is_text = title in text_columns
        table.add_column(title, justify="left" if is_text else "right", no_wrap=not is_text)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))  # Text, so that names are not read as markup
    Console(width=None if sys.stdout.isatty() else WIDE).print(table)


def show_files(folder: Path, files: Sequence[str]) -> None:
    """Print where the files are, starting with the one to open first."""
    first, *others = files
    typer.echo(f"wrote {visible(str(folder / first))}; also in this folder: {listed(others)}")
