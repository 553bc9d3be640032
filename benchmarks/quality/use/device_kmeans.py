"""K-means of the same rows from many starts at once, on a torch device: what scikit-learn does start by start.

Greedy k-means++ starts and Lloyd's algorithm, with scikit-learn's numbers of trials, of iterations and its tolerance.
Starts differ from scikit-learn's, since other random numbers draw them; their quality does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from blockselect.utils.arrays import IntArray

MAX_ITER = 300
TOLERANCE = 1e-4  # of the mean variance of a column: centres that move less, squared and summed, are at rest


def kmeans_on_device(
    rows: Any, n_clusters: int, *, n_runs: int, n_init: int = 10, first_seed: int = 0, device: str = "cuda"
) -> IntArray:
    """Clusters of each row in every run, the tightest of its starts: (n_runs, n).

    Parameters
    ----------
    rows : array of shape (n, d)
    n_clusters : int
    n_runs, n_init : int
        Runs, and starts in each.
    first_seed : int
        Seeds all starts.
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
    """Greedy k-means++, (b, k, d): of a few rows drawn by squared distance, the one that leaves the least of it."""
    n, device = len(points), points.device
    lengths, every = points.square().sum(dim=1), torch.arange(n_starts, device=device)
    chosen = torch.empty((n_starts, n_clusters), dtype=torch.long, device=device)
    chosen[:, 0] = torch.randint(n, (n_starts,), generator=draws, device=device)
    nearest = _squared_distances(points, lengths, chosen[:, 0])  # (b, n)
    n_trials = 2 + int(np.log(n_clusters))
    for place in range(1, n_clusters):
        far = nearest.sum(dim=1, keepdim=True) > 0  # else all rows are centres: any row is as good
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
    """Labels (b, n) and the sum of squared distances (b,) at rest; starts that are at rest are left alone."""
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
    """Of every start: the nearest centre of each row, and the squared distance to it. (b, n) both."""
    n_starts, n_clusters, n_columns = centres.shape
    products = (centres.reshape(-1, n_columns) @ points.T).view(n_starts, n_clusters, -1)
    gaps, labels = (centres.square().sum(dim=2)[:, :, None] - 2 * products).min(dim=1)
    return labels, (gaps + points.square().sum(dim=1)).clamp_min(0)


def _means(points: torch.Tensor, labels: torch.Tensor, gaps: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """Means of the clusters; an empty one moves to the row that is farthest from its centre, as in scikit-learn."""
    n_starts, n_clusters, n_columns = centres.shape
    member = torch.zeros((n_starts, n_clusters, len(points)), device=points.device).scatter_(1, labels[:, None], 1.0)
    sizes = member.sum(dim=2)
    for start in torch.nonzero((sizes == 0).any(dim=1)).ravel().tolist():
        empty = torch.nonzero(sizes[start] == 0).ravel()
        far = gaps[start].topk(len(empty)).indices
        if float(gaps[start, far[0]]) == 0:
            continue  # every row is at a centre: nothing to gain
        member[start, :, far] = 0.0
        member[start, empty, far] = 1.0
        sizes[start] = member[start].sum(dim=1)
    sums = (member.view(-1, len(points)) @ points).view(n_starts, n_clusters, n_columns)
    return torch.where(sizes[:, :, None] > 0, sums / sizes.clamp_min(1)[:, :, None], centres)
