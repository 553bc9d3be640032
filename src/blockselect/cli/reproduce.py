"""`blockselect reproduce`: repeat the paper's experiments, draw its figures and check its claims."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from blockselect.cli import options as opt
from blockselect.cli.failure import expecting_bad_input, one_line, say
from blockselect.cli.options import output_option
from blockselect.cli.outputs import MARK, check_folder, json_bytes, versions, write_together
from blockselect.cli.signals import begin_work
from blockselect.cli.waiting import waiting
from blockselect.utils.progress import Progress
from blockselect.utils.wording import visible

ALL_FAILED = 1  # exit code

computation_option: Any = partial(typer.Option, rich_help_panel="Computation")

Names = Annotated[
    str,
    typer.Argument(
        metavar="all|NAME,NAME…",
        help="Experiments: datasets, effectiveness, perturbation, block-models, parameters, convergence.",
    ),
]
Out = Annotated[
    Path,
    output_option(
        parser=opt.parse_folder,
        metavar="DIR",
        help="Folder for rows, figures and claims. Each row is saved immediately, so that the same command resumes "
        "an interrupted run.",
    ),
]
Config = Annotated[
    str,
    typer.Option(
        metavar="paper|quick|FILE.toml",
        help="Networks, settings and seed: paper (all experiments of the paper), quick (a few minutes, on Cora) or a "
        "file with your own settings.",
        rich_help_panel="Experiments",
    ),
]
Workers = Annotated[int, computation_option(min=1, metavar="INTEGER", help="Number of parallel processes.")]
RetryFailed = Annotated[bool, computation_option("--retry-failed", help="Repeat the trials that failed before.")]

app = typer.Typer(add_completion=False)


@app.command()
def reproduce(
    experiments: Names,
    out: Out,
    config: Config = "paper",
    workers: Workers = 1,
    retry_failed: RetryFailed = False,
    overwrite: opt.Overwrite = False,
    quiet: opt.Quiet = False,
) -> None:
    """\b
    Examples:
      blockselect reproduce all --config quick --workers 2 --out results
      blockselect reproduce effectiveness,parameters --out results
    """
    from blockselect.cli.terminal import progress_bar, show_table
    from blockselect.reproduction.config import read_config
    from blockselect.reproduction.engine import complete_rows, run_experiments
    from blockselect.reproduction.experiments import EXPERIMENTS
    from blockselect.reproduction.networks import check_networks
    from blockselect.reproduction.page import RESULT_FILES, failures, make_files
    from blockselect.reproduction.store import Store

    begin_work()
    check_folder(out, (*RESULT_FILES, MARK), [Path(config)], overwrite=overwrite)
    with expecting_bad_input():
        names, settings = parse_experiments(experiments), read_config(config)
        check_networks(settings.networks)
        store = Store(out / "trials", settings.marks)
        if retry_failed:
            store.forget_failures()
        plans = {name: experiment.trials for name, experiment in EXPERIMENTS.items()}
        try:
            with progress_bar(quiet) as progress:
                chosen, show = {name: plans[name] for name in names}, partial(_show_trials, progress)
                run_experiments(chosen, settings, store, workers=workers, progress=show)
        except KeyboardInterrupt:
            say("finished trials are kept; the same command resumes the run.")
            raise
        waiting.now("drawing the figures")
        rows = complete_rows(plans, settings, store)
        files, judgements = make_files(rows, settings, title=visible(Path(config).stem))
    write_together(out, {**files, MARK: json_bytes({"command": "reproduce", "versions": versions()})})
    for name in names:
        for line in failures(rows[name]):
            say(f"failed: {name}: {one_line(line)}")
    waiting.end()
    if not quiet:
        verdicts = [(letter, judgement.verdict, judgement.summary) for letter, judgement in judgements.items()]
        titles = ("claim", "verdict", "measured")
        show_table(titles, verdicts, text_columns=titles)
        typer.echo(f"wrote {len(files)} files; start with {visible(str(out / 'claims.html'))}")
    if all(row["error"] for name in names for row in rows[name]):
        raise typer.Exit(ALL_FAILED)


def parse_experiments(text: str) -> list[str]:
    """Parse the names of experiments; they are returned in the order of the paper."""
    from blockselect.reproduction.experiments import EXPERIMENTS
    from blockselect.utils.parameters import check_known

    names = {name.strip() for name in text.split(",")}
    check_known(sorted(names), ["all", *EXPERIMENTS], what="experiment")
    return [name for name in EXPERIMENTS if name in names or "all" in names]


def _show_trials(progress: Progress, done: int, known: int) -> None:
    """Show a bar on a terminal; elsewhere, such as in a log, print a line after every 1 % of the trials."""
    if sys.stderr.isatty():
        progress("trials", done, known)
    elif done % max(1, known // 100) == 0:
        progress(f"{done} of {known} trials", done, known)
