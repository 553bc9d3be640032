"""How much of the block structure features explain: dense matrices, and a ridge regression for each set of features."""

from __future__ import annotations

import numpy as np


def target(A, labels):
    """T: the block of each node and those of its neighbours, one column for each block of each model."""
    n, degrees = len(A), A.sum(axis=1)
    P = np.array([A[i] / degrees[i] if degrees[i] else np.zeros(n) for i in range(n)])
    columns = []
    for of_node in labels:
        H = np.array([[float(of_node[i] == block) for block in range(max(of_node) + 1)] for i in range(n)])
        H = H - H.mean(axis=0)
        sign = [-1.0 if H[:, block] @ (P @ H)[:, block] < -1e-9 * n else 1.0 for block in range(H.shape[1])]
        columns.append(H + (P @ H) * sign)
    T = np.hstack(columns)
    return T - T.mean(axis=0)


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
    """The order in which features are selected, R² after each step, and what each of the others would add next."""
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
