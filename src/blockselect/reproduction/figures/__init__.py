"""The paper's tables and figures, one a file: `trials(config, rows)` is the work, `plot(rows, config)` the figure."""

from blockselect.reproduction.agenda import Experiment
from blockselect.reproduction.figures import (
    block_models,
    convergence,
    datasets,
    effectiveness,
    parameters,
    perturbation,
)

EXPERIMENTS: dict[str, Experiment] = {
    module.NAME: module for module in (datasets, effectiveness, perturbation, block_models, parameters, convergence)
}
"""Every experiment by its name, in the order of the paper."""
