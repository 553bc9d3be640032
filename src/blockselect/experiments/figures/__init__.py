"""The paper's tables and figures, one a file: `trials(config, rows)` is the work, `plot(rows, config)` the figure."""

from types import ModuleType

from blockselect.experiments.figures import (
    block_models,
    convergence,
    datasets,
    effectiveness,
    parameters,
    perturbation,
)

FIGURES: dict[str, ModuleType] = {
    module.NAME: module for module in (datasets, effectiveness, perturbation, block_models, parameters, convergence)
}
