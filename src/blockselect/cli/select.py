"""`blockselect select`: the features of a network that tell its structure."""

from __future__ import annotations

import json

import typer

from blockselect.cli import options as opt
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.outputs import check_folder, write_together
from blockselect.cli.terminal import progress_bar, show_account

OUTPUT_FILES = ("selected.csv", "scores.csv", "run.json", "overview.png")


def select(
    dataset: opt.Dataset = None,
    features: opt.Features = None,
    graph: opt.Graph = None,
    top: opt.Top = None,
    fdr: opt.FDR = None,
    null_rounds: opt.NullRounds = None,
    out: opt.Out = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    blocks: opt.Blocks = None,
    block_model: opt.BlockModelOption = None,
    candidates: opt.Candidates = None,
    guidance: opt.Guidance = None,
    joint: opt.Joint = None,
    evidence: opt.Evidence = None,
    resamples: opt.Resamples = None,
    profile_target: opt.ProfileTargetOption = None,
    profile_ratio: opt.ProfileRatio = None,
    sparsity: opt.Sparsity = None,
    binarize: opt.BinarizeOption = None,
    refine: opt.Refine = None,
    redundancy: opt.Redundancy = None,
    coverage: opt.Coverage = None,
    gradient: opt.GradientOption = None,
    max_iter: opt.MaxIter = None,
    tol: opt.Tol = None,
    paper: opt.Paper = False,
    seed: opt.Seed = 0,
    device: opt.Device = None,
    dtype: opt.Dtype = None,
) -> None:
    """Select the features that tell the structure of a network.

    blockselect select --dataset cora --top 64 --out results
    """
    if out is not None:
        check_folder(out, OUTPUT_FILES)
    elif not as_json:
        raise Failure("nowhere to put the result; name a folder with --out, or give --json.")
    # Imported here: NumPy, scikit-learn and matplotlib take a second that --help should not wait for.
    from blockselect.cli import selection as run

    selector = run.make_selector(
        {
            "top": top,
            "fdr": fdr,
            "null_rounds": null_rounds,
            "blocks": blocks,
            "block_model": block_model,
            "candidates": candidates,
            "guidance": guidance,
            "joint": joint,
            "evidence": evidence,
            "resamples": resamples,
            "profile_target": profile_target,
            "profile_ratio": profile_ratio,
            "sparsity": sparsity,
            "binarize": binarize,
            "refine": refine,
            "redundancy": redundancy,
            "coverage": coverage,
            "gradient": gradient,
            "max_iter": max_iter,
            "tol": tol,
            "seed": seed,
            "device": device,
            "dtype": dtype,
        },
        paper=paper,
        links_given=dataset is not None or graph is not None,
    )
    with progress_bar(quiet) as progress:
        network = run.load_network(dataset, features, graph, n_neighbors=selector.n_neighbors, progress=progress)
        selection = run.run_selection(network, selector, progress)
    for warning in selection.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if out is not None:
        files = run.file_contents(selection)
        with expecting_bad_input():
            write_together(out, files)
    if as_json:
        typer.echo(json.dumps(selection.summary, allow_nan=False))
    elif out is not None and not quiet:
        show_account(network.title, selection.summary, [out / name for name in OUTPUT_FILES])
