"""`blockselect quality`: the default against every rival on real and planted networks, and what each part adds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blockselect.cli.failure import expecting_bad_input
from blockselect.cli.outputs import check_folder, write_together, write_tree
from blockselect.cli.reproduce import NoParquet, Out, Quiet, RetryFailed, Workers

Config = Annotated[
    str,
    typer.Option(
        metavar="paper|quick|FILE.toml",
        help="Networks, rivals, settings and seeds: all of them, seconds on Cora, or a file of one's own.",
        rich_help_panel="Experiments",
    ),
]
Settings = Annotated[
    str,
    typer.Option(
        metavar="NAME,NAME…",
        help="Fewer settings of the selector beside its default than the configuration's.",
        rich_help_panel="Experiments",
    ),
]
Again = Annotated[
    str,
    typer.Option(
        metavar="NAME,NAME…",
        help="Settings to run again since the code has changed; leave it out to go on.",
        rich_help_panel="Computation",
    ),
]
Tables = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the tables here too; in a page with marks for them, between these.",
        rich_help_panel="Output",
    ),
]


def quality(
    out: Out,
    config: Config = "paper",
    settings: Settings = "",
    again: Again = "",
    workers: Workers = 1,
    retry_failed: RetryFailed = False,
    tables: Tables = None,
    no_parquet: NoParquet = False,
    quiet: Quiet = False,
) -> None:
    """Measure the default against its rivals. Stop it any time: the same command goes on.

    blockselect quality --config quick --workers 2 --out results
    """
    check_folder(out, ("trials.sqlite", "quality.md", "config.json"))
    # Imported here: NumPy, scikit-learn and pandas take a second that --help should not wait for.
    from benchmarks.quality import run
    from benchmarks.quality.ablations import parse_settings
    from benchmarks.quality.config import read_quality_config, with_settings
    from benchmarks.quality.embed import fill_page
    from benchmarks.quality.page import headlines
    from blockselect.cli.trials import check_parquet, trials_running

    check_parquet(not no_parquet)
    with expecting_bad_input():
        task = read_quality_config(config)
        if settings:
            task = with_settings(task, parse_settings(settings))
        redone = parse_settings(again)
        with trials_running(quiet=quiet) as progress:
            rows = run.measure_quality(
                out, task, workers=workers, retry_failed=retry_failed, again=redone, progress=progress
            )
        files = run.quality_files(rows, task, title=Path(config).stem, parquet=not no_parquet)
        write_tree(out, files)
        if tables is not None:
            page = tables.read_text(encoding="utf-8") if tables.is_file() else ""
            filled = fill_page(page, files[run.TABLES].decode(), headlines(rows))
            write_together(tables.parent, {tables.name: filled.encode()})
    if not quiet:
        typer.echo("\n".join([*headlines(rows), f"wrote {out / run.TABLES}"]))
