"""K-means from many starts at once, on a torch device.

It uses greedy k-means++ starts and Lloyd's algorithm, with scikit-learn's number of trials, limit on iterations and
tolerance. The starts are drawn from the same distribution as in scikit-learn, but with different random numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from blockselect.utils.arrays import IntArray

MAX_ITER = 300
TOLERANCE = (
    1e-4  # relative to the mean variance of a column; smaller squared shifts of the centres count as convergence
)


def kmeans_on_device(
    rows: Any, n_clusters: int, *, n_runs: int, n_init: int = 10, first_seed: int = 0, device: str = "cuda"
) -> IntArray:
    """Clusters of the rows in each run, for the start with the lowest inertia: (n_runs, n).

    Parameters
    ----------
    rows : array of shape (n, d)
    n_clusters : int
    n_runs, n_init : int
        Number of runs, and of starts per run.
    first_seed : int
        Seed of all starts.
    device : str
        A torch device.
    """
    points = torch.as_tensor(np.ascontiguousarray(rows), dtype=torch.float32, device=device)
    draws = torch.Generator(device=device).manual_seed(first_seed)
    centres = _first_centres(points, n_clusters, n_runs * n_init, draws)
    labels, spread = _lloyd(points, centres)
    tightest = spread.view(n_runs, n_init).argmin(dim=1)
    chosen = labels.view(n_runs, n_init, -1)[torch.arange(n_runs, device=device), tightest]
    found: IntArray = chosen.cpu().numpy().astype(np.intp)
    return found


def _first_centres(points: torch.Tensor, n_clusters: int, n_starts: int, draws: torch.Generator) -> torch.Tensor:
    """Greedy k-means++ starts (b, k, d): each centre is the best of a few rows, drawn in proportion to D²."""
    n, device = len(points), points.device
    lengths, every = points.square().sum(dim=1), torch.arange(n_starts, device=device)
    chosen = torch.empty((n_starts, n_clusters), dtype=torch.long, device=device)
    chosen[:, 0] = torch.randint(n, (n_starts,), generator=draws, device=device)
    nearest = _squared_distances(points, lengths, chosen[:, 0])  # (b, n)
    n_trials = 2 + int(np.log(n_clusters))
    for place in range(1, n_clusters):
        far = nearest.sum(dim=1, keepdim=True) > 0  # otherwise every row is at a centre, and all rows are equally good
        weights = torch.where(far, nearest, torch.ones_like(nearest))
        trials = torch.multinomial(weights, n_trials, replacement=True, generator=draws)  # (b, t)
        left = _squared_distances(points, lengths, trials.ravel()).view(n_starts, n_trials, n)
        left = torch.minimum(left, nearest[:, None])
        best = left.sum(dim=2).argmin(dim=1)
        nearest, chosen[:, place] = left[every, best], trials[every, best]
    return points[chosen]


def _squared_distances(points: torch.Tensor, lengths: torch.Tensor, to: torch.Tensor) -> torch.Tensor:
    return (lengths[to][:, None] + lengths[None] - 2 * points[to] @ points.T).clamp_min(0)


def _lloyd(points: torch.Tensor, centres: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Labels (b, n) and inertia (b,) after convergence; starts that have converged are not updated."""
    least = TOLERANCE * points.var(dim=0, correction=0).mean()
    moving = torch.arange(len(centres), device=points.device)
    for _ in range(MAX_ITER):
        labels, gaps = _nearest(points, centres[moving])
        moved = _means(points, labels, gaps, centres[moving])
        shift = (moved - centres[moving]).square().sum(dim=(1, 2))
        centres[moving] = moved
        moving = moving[shift > least]
        if not len(moving):
            break
    labels, gaps = _nearest(points, centres)
    return labels, gaps.sum(dim=1)


def _nearest(points: torch.Tensor, centres: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The nearest centre of each row for each start, and the squared distance to it, both (b, n)."""
    n_starts, n_clusters, n_columns = centres.shape
    products = (centres.reshape(-1, n_columns) @ points.T).view(n_starts, n_clusters, -1)
    gaps, labels = (centres.square().sum(dim=2)[:, :, None] - 2 * products).min(dim=1)
    return labels, (gaps + points.square().sum(dim=1)).clamp_min(0)


def _means(points: torch.Tensor, labels: torch.Tensor, gaps: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """Means of the clusters; an empty cluster moves to the row farthest from its centre, as in scikit-learn."""
    n_starts, n_clusters, n_columns = centres.shape
    member = torch.zeros((n_starts, n_clusters, len(points)), device=points.device).scatter_(1, labels[:, None], 1.0)
    sizes = member.sum(dim=2)
    for start in torch.nonzero((sizes == 0).any(dim=1)).ravel().tolist():
        empty = torch.nonzero(sizes[start] == 0).ravel()
        far = gaps[start].topk(len(empty)).indices
        if float(gaps[start, far[0]]) == 0:
            continue  # every row is at a centre
        member[start, :, far] = 0.0
        member[start, empty, far] = 1.0
        sizes[start] = member[start].sum(dim=1)
    sums = (member.view(-1, len(points)) @ points).view(n_starts, n_clusters, n_columns)
    return torch.where(sizes[:, :, None] > 0, sums / sizes.clamp_min(1)[:, :, None], centres)
