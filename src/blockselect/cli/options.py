"""The options of `blockselect select`: their types, limits and help. None is not given: the preset rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blockselect.cli.settings import Binarize, BlockFamily, EvidenceKind, FloatType, GradientKind, ProfileTarget

_INPUT, _OUTPUT, _BLOCKS, _SCORES, _RUN = "Input", "Output", "Blocks", "Scores", "Computation"

Dataset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A network by its name: see blockselect datasets list.", rich_help_panel=_INPUT),
]
Features = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Features, one row a node: .csv with a header and an id column, .npz, .npy or .mtx.",
        rich_help_panel=_INPUT,
    ),
]
Graph = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Links: .csv with source, target and perhaps weight, or an adjacency matrix (.npz, .npy, .mtx). "
        "Without it each node is linked with its nearest neighbours by the features.",
        rich_help_panel=_INPUT,
    ),
]
Top = Annotated[
    str | None,
    typer.Option(
        metavar="N|SHARE|auto",
        help="How many features to select, or which share of them (0.1); auto: those that match the graph (--fdr).",
        show_default="half of them",
        rich_help_panel=_OUTPUT,
    ),
]
FDR = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="With --top auto: of the features selected, at most this share have nothing to do with the graph.",
        show_default="0.1",
        rich_help_panel=_OUTPUT,
    ),
]
NullRounds = Annotated[
    int | None,
    typer.Option(
        min=3,
        help="With --top auto: random matchings of features and nodes to compare with.",
        show_default="50",
        rich_help_panel=_OUTPUT,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder for selected.csv, scores.csv, run.json and overview.png. Needed unless --json is given.",
        rich_help_panel=_OUTPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the summary as JSON on stdout, and nothing else.", rich_help_panel=_OUTPUT),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No progress bar and no account at the end.", rich_help_panel=_OUTPUT)
]
Blocks = Annotated[
    str | None,
    typer.Option(
        metavar="K|auto",
        help="Blocks of the graph; auto: as many as it gives evidence of, 2 to 12 (paper: k).",
        show_default="auto",
        rich_help_panel=_BLOCKS,
    ),
]
BlockModelOption = Annotated[
    BlockFamily | None,
    typer.Option(
        help="How blocks are found; mixed: in six ways, all but leiden.", show_default="mixed", rich_help_panel=_BLOCKS
    ),
]
Candidates = Annotated[
    int | None,
    typer.Option(min=1, help="Block models from different random starts.", show_default="24", rich_help_panel=_BLOCKS),
]
Guidance = Annotated[
    str | None,
    typer.Option(
        metavar="consensus|lowest_error|PLACE",
        help="Who guides the scores: the candidates that tell most of links and features, together; that of lowest "
        "error; or a place from 0 in the order of errors.",
        show_default="consensus",
        rich_help_panel=_BLOCKS,
    ),
]
Joint = Annotated[
    bool | None,
    typer.Option(
        "--joint/--no-joint",
        help="Whether blocks follow the features that follow them.",
        show_default="joint",
        rich_help_panel=_BLOCKS,
    ),
]
Evidence = Annotated[
    EvidenceKind | None,
    typer.Option(
        help="What the votes of a consensus are weighed by: nats that blocks tell of a feature and it of links.",
        show_default="blocks and links",
        rich_help_panel=_BLOCKS,
    ),
]
Resamples = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Resampled graphs that tell how stable the selection is; 0: none.",
        show_default="8",
        rich_help_panel=_BLOCKS,
    ),
]
ProfileTargetOption = Annotated[
    ProfileTarget | None,
    typer.Option(
        help="What the similarity of blocks follows: how alike they link, or how densely (the paper's).",
        show_default="reflected",
        rich_help_panel=_SCORES,
    ),
]
ProfileRatio = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Weight of how blocks connect against how well they fit (paper: β̄).",
        show_default="0.6",
        rich_help_panel=_SCORES,
    ),
]
Sparsity = Annotated[
    str | None,
    typer.Option(
        metavar="WEIGHT|auto|paper",
        help="Weight of the ℓ1 penalty; auto: the mean over 0, 0.5 and 1; paper: the strongest up to 5 that leaves "
        "enough features (paper: γ).",
        show_default="0.0",
        rich_help_panel=_SCORES,
    ),
]
BinarizeOption = Annotated[
    Binarize | None,
    typer.Option(
        help="Whether to look only at which features a node has; auto: where they are counts, most of them zero.",
        show_default="auto",
        rich_help_panel=_SCORES,
    ),
]
Refine = Annotated[
    bool | None,
    typer.Option(
        "--refine/--no-refine",
        help="Whether to swap selected features for others while the losses of the set fall.",
        show_default="no-refine",
        rich_help_panel=_SCORES,
    ),
]
Redundancy = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="With --refine: weight of selected features that repeat each other.",
        show_default="0.0",
        rich_help_panel=_SCORES,
    ),
]
Coverage = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="With --refine: weight of nodes left without any selected feature.",
        show_default="1.0",
        rich_help_panel=_SCORES,
    ),
]
GradientOption = Annotated[
    GradientKind | None,
    typer.Option(
        help="Of the profile loss: its derivative, or the published form.",
        show_default="exact",
        rich_help_panel=_SCORES,
    ),
]
MaxIter = Annotated[
    int | None,
    typer.Option(min=1, help="Iterations of the descent.", show_default="200", rich_help_panel=_SCORES),
]
Tol = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Stop once both losses change by no more than this; 0: never.",
        show_default="1e-05",
        rich_help_panel=_SCORES,
    ),
]
Paper = Annotated[
    bool,
    typer.Option(
        "--paper",
        help="The settings of Bai, Nguyen and Davidson (KDD 2020), under any option given beside it.",
        rich_help_panel=_SCORES,
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, max=2**32 - 1, help="Of all randomness: the same seed, the same files.", rich_help_panel=_RUN),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Where the descent runs: cpu, or a torch device such as cuda.",
        show_default="cpu",
        rich_help_panel=_RUN,
    ),
]
Dtype = Annotated[
    FloatType | None,
    typer.Option(help="Float type of the descent.", show_default="float64", rich_help_panel=_RUN),
]
