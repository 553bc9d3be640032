"""Gradients by central differences."""

from __future__ import annotations

import numpy as np


def central_difference(function, point, step=1e-6):
    return np.array([(function(point + e) - function(point - e)) / (2 * step) for e in np.eye(len(point)) * step])
