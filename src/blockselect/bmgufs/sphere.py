"""Non-negative unit sphere: where the scores live (paper: the update of r)."""

from __future__ import annotations

from array_api_compat import array_namespace

from blockselect.arrays import Array


def project(scores: Array) -> Array:
    """Negative entries to zero, then unit length along the last axis; a row with nothing positive becomes zero."""
    xp = array_namespace(scores)
    return normalise(xp.where(scores > 0, scores, xp.zeros_like(scores)))


def normalise(vectors: Array) -> Array:
    """Unit length along the last axis; a zero vector stays zero."""
    xp = array_namespace(vectors)
    length = norm(vectors)
    return vectors / xp.where(length > 0, length, xp.ones_like(length))


def norm(vectors: Array) -> Array:
    """Length along the last axis, which is kept as one entry.

    The largest entry is taken out first, so that squares neither over- nor underflow.
    """
    xp = array_namespace(vectors)
    largest = xp.max(xp.abs(vectors), axis=-1, keepdims=True)
    scale = xp.where(largest > 0, largest, xp.ones_like(largest))
    scaled = vectors / scale
    return scale * xp.sqrt(xp.sum(scaled * scaled, axis=-1, keepdims=True)) * xp.astype(largest > 0, vectors.dtype)
