"""Node moves on a device: of many block models at once, a part of the nodes at a time; the objective never rises.

What each node of a part gains in each block comes from sparse products with tables of logarithms, as in `moves`, and
the nodes of a part then move together. Their gains are those of moving alone, so a part's moves are made only where
they raise the likelihood, model by model. Parts are drawn at random and small enough that they nearly always do; with
parts of one node each, this is the sweep of `moves`. Nothing waits for the device within a round, so that rounds are
captured and replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from blockselect.arrays import Array, BoolArray, FloatArray, IntArray
from blockselect.consensus.feature_likelihood import feature_gains
from blockselect.consensus.link_likelihood import link_gain, xlogx
from blockselect.consensus.moves import Counts, Links
from blockselect.cuda import replayed
from blockselect.tensors import import_torch, inner_products, to_numpy, to_torch

_FEW_ROUNDS = 3  # up to which a capture takes longer than it saves
_ROUNDING = 1e-13  # of the sums of x log x: smaller gains are rounding
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Some nodes of a network on a device, or all: what they are linked to, and what they have."""

    rows: slice  # which nodes
    links: Array  # (b, n) CSR
    features: Array  # (b, m) CSR, in units of each feature's typical value
    by_feature: Array  # (m, b) CSR, the same
    loops: Array  # (b, 1, 1)
    degrees: Array  # (b, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceNetwork:
    """Links and features on a device, whole and in the parts that move together."""

    order: IntArray  # (n,) which node stands where: those of a part are neighbours
    everyone: Nodes
    parts: Sequence[Nodes]
    totals: Array  # (n, 1, 1) of all features
    typical: Array  # (m, 1, 1) mean of the non-zero values of each feature

    @classmethod
    def of(cls, links: Links, counts: Counts, parts: Sequence[IntArray], device: str) -> DeviceNetwork:
        """`parts` hold each node once, in the order of visits."""
        order, n, m = np.concatenate(parts), len(links.degrees), len(counts.typical)
        shares = counts.values / counts.typical[counts.indices]
        A = sparse.csr_array((links.weights, links.indices, links.indptr), shape=(n, n))[order]
        X = sparse.csr_array((shares, counts.indices, counts.indptr), shape=(n, m))[order]
        A.sum_duplicates()
        X.sum_duplicates()
        features = to_torch(X, device)
        neighbours = _with_columns_at(to_torch(A, device), to_torch(np.argsort(order), device))
        loops, degrees, totals, typical = (
            to_torch(np.ascontiguousarray(part[:, None, None]), device)
            for part in (links.loops[order], links.degrees[order], counts.totals[order], counts.typical)
        )

        def nodes(first: int, last: int) -> Nodes:
            rows = slice(first, last)
            had = _rows(features, rows, X.indptr)
            return Nodes(rows, _rows(neighbours, rows, A.indptr), had, _transposed(had), loops[rows], degrees[rows])

        ends = np.cumsum([0, *(len(part) for part in parts)])
        made = [nodes(int(first), int(last)) for first, last in pairwise(ends)]
        return cls(order, nodes(0, n), made, totals, typical)


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """Block models after rounds of moves."""

    labels: IntArray  # (c, n)
    weights: FloatArray  # (c, k, k) of the links between blocks
    in_use: BoolArray  # (c, m) features whose gain exceeds the penalty
    objective: FloatArray  # (t + 1, c) J in nats before the first round and after each
    n_moves: IntArray  # (t, c) nodes moved in each round


def improve_together(
    network: DeviceNetwork,
    labels: IntArray,
    penalties: FloatArray,
    *,
    feature_weight: float,
    max_rounds: int,
    tol: float,
) -> Rounds:
    """Move nodes until a round lowers J by no more than `tol` nats a node; a model that has come so far stays.

    `labels` (c, n) are those of each model, 0 … k − 1; `penalties` (c,) are what a feature must gain to be in use.
    """
    blocks = Blocks(network, labels, penalties, feature_weight)
    objective, n_moves = [blocks.objective_now()], []
    rounds = replayed(blocks.round, blocks.member, warm=True) if max_rounds > _FEW_ROUNDS else nullcontext(blocks.round)
    with rounds as next_round:
        for _ in range(max_rounds):
            next_round()
            objective.append(blocks.objective_now())
            n_moves.append(np.array(to_numpy(blocks.n_moves), dtype=np.intp))
            falls = objective[-2] - objective[-1] > tol * labels.shape[1]
            blocks.settle(falls)
            if not falls.any():
                break
    return Rounds(blocks.labels(), blocks.weights(), blocks.in_use(), np.array(objective), np.array(n_moves))


class Blocks:
    """Blocks of c models with at most k each, what links and features sum up to in them, and rounds of moves.

    Everything is changed in place, in tensors that stay where they are. Launches take longer than what they launch, so
    that like operations are stacked into one.
    """

    def __init__(self, network: DeviceNetwork, labels: IntArray, penalties: FloatArray, feature_weight: float) -> None:
        like, device = network.typical, str(network.typical.device)
        self._network, self._weight, self._torch = network, feature_weight, import_torch(device)
        (c, n), k, m = labels.shape, int(labels.max()) + 1, len(like)
        member = labels.T[network.order, :, None] == np.arange(k)
        self.member = to_torch(np.ascontiguousarray(member, dtype=np.float64), device)  # (n, c, k) (paper: F)
        self._numbers = self._torch.arange(k, device=device)
        self._unused = to_torch(~member.any(axis=0), device)  # (c, k): a model may have fewer blocks
        self._penalties = to_torch(penalties, device)
        self._running = self._torch.ones(c, dtype=self._torch.bool, device=device)
        self._signs = like.new_tensor([1.0, -1.0, 0.0])[:, None, None]  # one node more, one less, none
        self._others = 1 - self._torch.eye(k, dtype=like.dtype, device=device)
        self._mixing = like.new_tensor([[-1, 1, 0.5, 0, -1, 0], [0, 0, 0, 0.5, 0, -1]])  # see _link_gains
        self._weights = like.new_zeros((c, k, k))  # of the links between blocks
        self._sums = like.new_zeros((m, c, k))  # of the features
        self._in_use = like.new_zeros((m, 1, c, 1))
        self._of_nodes = like.new_ones((n, 3, c, 1))  # each node's features in use, all its features, and 1
        self._of_nodes[:, 1] = network.totals
        self._of_blocks = like.new_zeros((3, c, k))  # the same by block
        self._objective, self._value = like.new_zeros(c), like.new_zeros(c)  # J; the likelihood that a part must raise
        self._least = like.new_zeros(c)  # of a gain: less is rounding
        self.n_moves = like.new_zeros(c)  # in the last round
        self._sum_up()

    def labels(self) -> IntArray:
        """The block of each node by each model: (c, n)."""
        labels = np.empty(self.member.shape[1::-1], dtype=np.intp)
        labels[:, self._network.order] = to_numpy(self.member.argmax(axis=2)).T
        return labels

    def weights(self) -> FloatArray:
        """Of the links between blocks: (c, k, k)."""
        return np.array(to_numpy(self._weights))

    def in_use(self) -> BoolArray:
        """Whether each feature's gain exceeds the penalty: (c, m)."""
        return np.ascontiguousarray(to_numpy(self._in_use[:, 0, :, 0] > 0).T)

    def objective_now(self) -> FloatArray:
        """J of each model: (c,)."""
        return np.array(to_numpy(self._objective))

    def settle(self, falls: BoolArray) -> None:
        """Go on with these models (c,) alone."""
        self._running &= to_torch(falls, str(self._running.device))

    def round(self) -> None:
        """Visit all parts, then choose the features in use anew."""
        self.n_moves.zero_()
        for part in self._network.parts:
            self._visit(part)
        self._sum_up()

    def _sum_up(self) -> None:
        """All sums from the blocks, J, and the best choice of features for them."""
        everyone, F = self._network.everyone, self.member
        n, c, k = F.shape
        self._weights.copy_(inner_products(F, (everyone.links @ F.view(n, c * k)).view(n, c, k)))
        self._sums.copy_((everyone.by_feature @ F.view(n, c * k)).view(-1, c, k) * self._network.typical)
        gains = feature_gains(_by_model(self._sums), (self._network.totals * F).sum(axis=0))  # (c, m)
        above = gains - self._penalties[:, None]
        self._objective.copy_(-link_gain(self._weights) - self._weight * above.clamp(min=0).sum(axis=1))
        self._in_use.copy_((above > 0).mT[:, None, :, None])
        in_use = (self._in_use * self._network.typical[..., None]).view(-1, c)
        self._of_nodes[:, 0].copy_((everyone.features @ in_use)[..., None])
        self._of_blocks.copy_((self._of_nodes * F[:, None]).sum(axis=0))
        self._value.copy_(self._likelihood(self._weights, self._sums, self._of_blocks))
        scale = xlogx(self._weights.sum(axis=(-2, -1))) + self._weight * xlogx(self._of_blocks[0].sum(axis=-1))
        self._least.copy_(_ROUNDING * scale.clamp(min=1))

    def _visit(self, part: Nodes) -> None:
        """Move the nodes of a part, each to its best block, in every model in which that raises the likelihood."""
        xp, F, (n, c, k) = self._torch, self.member, self.member.shape
        old, of_nodes = F[part.rows].clone(), self._of_nodes[part.rows]  # (b, c, k) (b, 3, c, 1)
        before = (part.links @ F.view(n, c * k)).view(old.shape)
        here = old > 0
        gains = self._link_gains(part, old, here, xp.addcmul(before, part.loops, old, value=-1))
        gains = gains.add_(self._feature_gains(part, old, of_nodes), alpha=self._weight)
        best, new = gains.masked_fill_(here | self._unused, -xp.inf).max(dim=2)  # (b, c)
        moves = (best > self._least) & self._running
        leaving = (old * moves[..., None]).sum(axis=0)
        emptied = leaving >= self._of_blocks[2]  # (c, k): nobody leaves a block that all would leave
        moves &= ~(here & emptied).any(dim=2)
        change = xp.where(moves[..., None], (new[..., None] == self._numbers).to(old.dtype) - old, 0.0)

        F[part.rows] = old + change
        after = (part.links @ F.view(n, c * k)).view(old.shape)
        half = inner_products(change, before + after) / 2
        weights = self._weights + half + half.mT
        moved = (part.by_feature @ change.view(-1, c * k)).view(-1, c, k)
        sums = xp.addcmul(self._sums, moved, self._network.typical)
        of_blocks = self._of_blocks + (of_nodes * change[:, None]).sum(axis=0)
        value = self._likelihood(weights, sums, of_blocks)
        accepted = value - self._value > self._least  # (c,)
        F[part.rows] = xp.where(accepted[:, None], F[part.rows], old)
        self.n_moves += accepted * moves.sum(axis=0)
        for kept, made, where in (
            (self._weights, weights, accepted[:, None, None]),
            (self._sums, sums, accepted[:, None]),
            (self._of_blocks, of_blocks, accepted[:, None]),
            (self._value, value, accepted),
        ):
            kept.copy_(xp.where(where, made, kept))

    def _link_gains(self, part: Nodes, old: Array, here: Array, to_blocks: Array) -> Array:
        """Change of ½ Σ w_ab log w_ab − Σ e_a log e_a by moving each node alone to each block: (b, c, k).

        As in `moves`: pairs of the old block o with others, those of the new block a with others, the pair of both, and
        each with itself. With φ(x) = x log x and t the links to each block, arriving at a depends on −φ(w_oa − t_a) +
        φ(w_oa − t_a + t_o) + ½ φ(w_aa + 2 t_a + loop) − φ(e_a + d), and leaving o on ½ φ(w_oo − 2 t_o − loop) −
        φ(e_o − d): six arrays, mixed in these shares.
        """
        xp, w, t = self._torch, self._weights, to_blocks  # (c, k, k) (b, c, k)
        k = w.shape[-1]
        phi_w, e, within = xlogx(w), w.sum(axis=-1), w.diagonal(dim1=-2, dim2=-1)
        of_old = _by_model(_by_model(old) @ xp.cat([w, phi_w], dim=-1))  # (b, c, 2k) rows of the old block
        w_old, phi_w_old = of_old[..., :k], of_old[..., k:]
        own, twice, rest = (t * old).sum(axis=-1, keepdim=True), xp.add(part.loops, t, alpha=2), w_old - t
        six = [rest, rest + own, within + twice, within - twice, e + part.degrees, e - part.degrees]
        phi = xlogx(xp.stack(six))  # (6, b, c, k)
        level = xlogx(e) - 0.5 * phi_w.diagonal(dim1=-2, dim2=-1)  # (c, k) of a block as it is
        arrive, depart = (xp.tensordot(self._mixing, phi, 1) + level).unbind(0)
        leave = xp.where(here, depart, phi[0] - phi_w_old).sum(axis=-1, keepdim=True)
        joins = (xlogx(w + t[..., None, :]) - phi_w) * (self._others - old[..., None, :])  # (b, c, k, k)
        return arrive + joins.sum(axis=-1) + leave

    def _feature_gains(self, part: Nodes, old: Array, of_nodes: Array) -> Array:
        """Change of Σ_l Σ_a s_la log (s_la / t_a) by moving each node alone to each block: (b, c, k).

        With one more typical value of each feature in each block, with one less, and with none.
        """
        xp, (m, c, k) = self._torch, self._sums.shape
        tables = xlogx(xp.addcmul(self._sums[:, None], self._signs, self._network.typical[..., None])) * self._in_use
        terms = (part.features @ tables.view(m, 3 * c * k)).view(-1, 3, c, k)
        z, t = (xp.addcmul(self._of_blocks[i], self._signs, of_nodes[:, None, i]) for i in (0, 1))  # (b, 3, c, k)
        terms = terms - _weighted_log(z, t)
        differences = terms[:, :2] - terms[:, 2:]
        return differences[:, 0] + (differences[:, 1] * old).sum(axis=-1, keepdim=True)

    def _likelihood(self, weights: Array, sums: Array, of_blocks: Array) -> Array:
        """Gain of the links, and Σ_l Σ_a s_la log (s_la / t_a) over the features in use: (c,)."""
        of_features = (xlogx(sums) * self._in_use[:, 0]).sum(axis=(0, 2))
        of_features = of_features - _weighted_log(of_blocks[0], of_blocks[1]).sum(axis=-1)
        return link_gain(weights) + self._weight * of_features


def _by_model(by_node: Array) -> Array:
    """(n, c, k) as (c, n, k), or back."""
    return by_node.swapaxes(0, 1)


def _weighted_log(weight: Array, x: Array) -> Array:
    """weight · log x; where the weight is 0, so is the product, and where x is 0 but for rounding, it is finite."""
    return weight.clamp(min=0) * x.clamp(min=_TINY).log()


def _with_columns_at(matrix: Array, places: Array) -> Array:
    """A CSR tensor with its columns in other places; those of a row are in no particular order."""
    torch = import_torch(str(matrix.device))
    columns = places[matrix.col_indices()].to(matrix.col_indices().dtype)
    parts = (matrix.crow_indices(), columns, matrix.values())
    return torch.sparse_csr_tensor(*parts, size=matrix.shape, check_invariants=False)


def _rows(matrix: Array, rows: slice, starts: IntArray) -> Array:
    """Some rows of a CSR tensor, whose `starts` (n + 1,) the host knows, as views where that is possible."""
    torch = import_torch(str(matrix.device))
    crow, entries = matrix.crow_indices()[rows.start : rows.stop + 1], slice(starts[rows.start], starts[rows.stop])
    parts = (crow - crow[0], matrix.col_indices()[entries], matrix.values()[entries])
    size = (rows.stop - rows.start, matrix.shape[1])
    return torch.sparse_csr_tensor(*parts, size=size, check_invariants=False)


def _transposed(matrix: Array) -> Array:
    """Of a CSR tensor, on its device."""
    torch = import_torch(str(matrix.device))
    (n_rows, n_columns), starts, columns = matrix.shape, matrix.crow_indices(), matrix.col_indices()
    order = torch.argsort(columns, stable=True)
    rows = torch.repeat_interleave(torch.arange(n_rows, dtype=columns.dtype, device=columns.device), starts.diff())
    ends = torch.bincount(columns, minlength=n_columns).cumsum(0).to(starts.dtype)
    return torch.sparse_csr_tensor(
        torch.cat([ends.new_zeros(1), ends]),
        rows[order],
        matrix.values()[order],
        size=(n_columns, n_rows),
        check_invariants=False,
    )
