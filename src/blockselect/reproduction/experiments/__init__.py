"""The paper's tables and figures, one a file: `trials(config, rows)` is the work, `plot(rows, config)` the figure."""

from blockselect.reproduction.experiments import (
    candidate_quality,
    convergence,
    effectiveness,
    network_table,
    parameter_surfaces,
    perturbation,
)
from blockselect.reproduction.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    module.NAME: module
    for module in (network_table, effectiveness, perturbation, candidate_quality, parameter_surfaces, convergence)
}
"""Every experiment by its name, in the order of the paper."""
