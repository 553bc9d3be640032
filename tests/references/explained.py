"""How much of the block structure features explain: dense matrices, and a ridge regression for each set of features."""

from __future__ import annotations

import numpy as np


def target(A, labels, linkages):
    """T: the block of each node and the blocks that a random walk visits, side by side for all levels of all models."""
    return np.hstack([level for model in targets(A, labels, linkages) for level in model])


def targets(A, labels, linkages):
    """The target of each level of each model, the finest first."""
    n, degrees = len(A), A.sum(axis=1)
    P = np.array([A[i] / degrees[i] if degrees[i] else np.zeros(n) for i in range(n)])
    return [levels(P, of_node, linkage) for of_node, linkage in zip(labels, linkages, strict=True)]


def levels(P, of_node, linkage):
    k, found = len(linkage) + 1, []
    while k == len(linkage) + 1 or k >= 3:
        merged = cut(linkage, k)
        found.append(level(P, [merged[block] for block in of_node]))
        k = k // 2
    return found


def cut(linkage, n_groups):
    """The group of each block after the first mergers, numbered by the first block of each group."""
    k = len(linkage) + 1
    sets = {block: {block} for block in range(k)}
    for step in range(k - n_groups):
        sets[k + step] = sets.pop(int(linkage[step][0])) | sets.pop(int(linkage[step][1]))
    first = sorted(min(blocks) for blocks in sets.values())
    return [first.index(min(next(blocks for blocks in sets.values() if block in blocks))) for block in range(k)]


def level(P, of_node):
    """H + P H (S + Π S² + Π² S³ + Π³ S⁴), centred, of unit length."""
    n = len(P)
    F = np.array([[float(of_node[i] == block) for block in range(max(of_node) + 1)] for i in range(n)])
    H = F - F.mean(axis=0)
    S = np.diag([-1.0 if H[:, block] @ (P @ H)[:, block] < -1e-9 * n else 1.0 for block in range(H.shape[1])])
    steps = F.T @ P @ F
    onward = np.array([row / row.sum() if row.sum() else row for row in steps])
    T = H + P @ H @ (S + onward @ S @ S + onward @ onward @ S @ S @ S + onward @ onward @ onward @ S @ S @ S @ S)
    T = T - T.mean(axis=0)
    length = np.linalg.norm(T)
    return T / length if length > 1e-6 else 0 * T


def design(X):
    """U: rows of unit length, then centred columns."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    U = X / np.where(lengths > 0, lengths, 1.0)
    return U - U.mean(axis=0)


def ridge(U):
    """λ: the median squared length of the columns that are not constant."""
    squares = (U**2).sum(axis=0)
    return np.median(squares[squares > 1e-12])


def share(U, T, columns, penalty):
    """R² of a set of features."""
    if len(columns) == 0:
        return 0.0
    S = U[:, columns]
    W = np.linalg.solve(S.T @ S + penalty * np.eye(len(columns)), S.T @ T)
    return 1 - (((T - S @ W) ** 2).sum() + penalty * (W**2).sum()) / (T**2).sum()


def greedy(U, T, penalty, candidates, n_steps, effect=None):
    """The order in which features are selected, R² after each step, and what each unselected feature would add next."""
    effect = np.ones(len(candidates)) if effect is None else effect
    chosen, shares = [], [0.0]

    def rises():
        free = [i for i in range(len(candidates)) if candidates[i] not in chosen]
        return {i: share(U, T, [*chosen, candidates[i]], penalty) - shares[-1] for i in free}

    for _ in range(n_steps):
        rise = rises()
        best = max(rise, key=lambda i: rise[i] * effect[i])
        chosen.append(candidates[best])
        shares.append(share(U, T, chosen, penalty))
    return chosen, np.array(shares[1:]), {candidates[i]: rise for i, rise in rises().items()}
