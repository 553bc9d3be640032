"""What the command shows: progress bars while it works, and a short summary at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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

from blockselect.cli.options import METHODS
from blockselect.progress import STAGES
from blockselect.report.sentences import blocks_found, is_doubtful, main_findings, no_evidence
from blockselect.wording import count, listed, number, per_cent, visible

SHOWN = 10  # of the selected features
_MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {  # measure → title of its column, format of its cells
    "explained_more": ("adds", partial(per_cent, zeros=True)),
    "explained_alone": ("alone", partial(per_cent, zeros=True)),
    "stability": ("stability", "{:.2f}".format),
    "p_value": ("p-value", "{:.2g}".format),
    "q_value": ("q-value", "{:.2g}".format),
}


class Steps(MofNCompleteColumn):
    """The number of steps that are done and the number of all steps, if there are several."""

    def render(self, task: Task) -> Text:
        return super().render(task) if (task.total or 1) > 1 else Text()


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """One bar per stage on stderr, removed at the end; None if stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Steps(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        stages: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(STAGES.get(stage, stage), total=total)
            # A single step of unknown length has no share that is done, so its bar only moves.
            bar.update(stages[stage], completed=done, total=None if (done, total) == (0, 1) else total)

        yield report


def show_selection(title: str, summary: dict[str, Any], folder: Path, files: Sequence[str], *, verbose: bool) -> None:
    """Show what was found, the best features and where the files are; with `verbose`, also the details."""
    counts, by_blocks = summary["counts"], "blocks" in summary
    if is_doubtful(summary):
        typer.echo(f"{no_evidence(summary)}.")
    for sentence in main_findings(summary):
        typer.echo(sentence)
    typer.echo(
        f"{printable(title)}: {count(counts['nodes'], 'node')}, {count(counts['links'], 'link')}, "
        f"{count(counts['features'], 'feature')}."
    )
    if by_blocks:
        typer.echo(f"{blocks_found(summary)}. {_selected(counts, 'that best follow the blocks')}")
    else:
        typer.echo(_selected(counts, f"by {METHODS[summary['method']]}"))
    if by_blocks and _was_cut(summary):
        typer.echo(
            "The network is large, so fewer block models were tried and refined for fewer rounds than on a small one."
        )
    if by_blocks and verbose:
        for line in _details(summary):
            typer.echo(f"  {line}")
    if counts["selected_features"]:
        _show_best(summary)
    if verbose:
        for name in files:
            typer.echo(f"wrote {printable(str(folder / name))}")
    else:
        first, *others = files
        typer.echo(f"wrote {printable(str(folder / first))}; beside it are {listed(others)}")


def _selected(counts: dict[str, int], which: str) -> str:
    n_selected, without = counts["selected_features"], counts["nodes_without_selected_features"]
    if not n_selected:
        return "No feature follows them more than by chance, so none is selected."
    have = "has" if without == 1 else "have"
    return f"Selected {count(n_selected, 'feature')} {which}; {count(without, 'node')} {have} none of these."


def _was_cut(summary: dict[str, Any]) -> bool:
    return summary["effort"] is not None and summary["effort"]["was_cut"]


def _details(summary: dict[str, Any]) -> Iterator[str]:
    isolated, empty = summary["counts"]["isolated_nodes"], summary["counts"]["empty_features"]
    yield (
        f"{count(isolated, 'node')} {'has' if isolated == 1 else 'have'} no link; "
        f"{count(empty, 'feature')} {'is' if empty == 1 else 'are'} empty"
    )
    yield f"block sizes: {', '.join(map(str, summary['blocks']['sizes']))}"
    yield f"relative error of the block model: {summary['relative_error']:.4f}"
    if summary["candidates"] is not None:
        families = Counter(row["family"] for row in summary["candidates"] if row["in_consensus"])
        named = ", ".join(f"{n_models} {family}" for family, n_models in families.most_common())
        yield f"guided by {families.total()} of {len(summary['candidates'])} candidate block models ({named})"
    if summary["sparsity"] is not None:
        yield f"sparsity: {summary['sparsity']:g}"
    if _was_cut(summary):
        candidates, rounds = summary["effort"]["candidates"], summary["effort"]["rounds"]
        yield (
            f"searched by {candidates['made']} of {candidates['asked']} candidates and at most "
            f"{rounds['made_at_most']} of {rounds['asked']} rounds of refinement"
        )
    if summary["n_iter"] is not None:
        yield f"iterations: {summary['n_iter']}"


def _show_best(summary: dict[str, Any]) -> None:
    """A table of the best features."""
    best, n_selected = summary["selected"][:SHOWN], summary["counts"]["selected_features"]
    shown = {measure: column for measure, column in _MEASURES.items() if measure in summary["measures"]}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="ellipsis", no_wrap=True)
    marks = ["marks block"] if "blocks" in summary else []
    for title in ["score", *(title for title, _ in shown.values()), *marks]:
        table.add_column(title, justify="right")
    for row in best:
        cells = [str(row["rank"]), row["name"], number(row["score"], zeros=True)]
        cells += [form(row[measure]) for measure, (_, form) in shown.items()]
        if marks:
            cells.append("none" if row["marked_block"] is None else f"{row['marked_block']} ({row['lift']:.1f} ×)")
        table.add_row(*(Text(printable(cell)) for cell in cells))  # Text, because names may look like markup
    typer.echo(f"\nThe {SHOWN} best of the selected features:" if n_selected > SHOWN else "\nThe selected features:")
    Console().print(table)


def printable(text: str) -> str:
    """Text from a file as this terminal can show it, without control characters."""
    encoding = sys.stdout.encoding or "utf-8"
    return visible(text).encode(encoding, "replace").decode(encoding)
