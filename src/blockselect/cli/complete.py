"""Values that a shell completes: names of data sets and of methods."""

from __future__ import annotations


def complete_datasets(incomplete: str) -> list[str]:
    """Names of data sets that begin so."""
    from blockselect.datasets.catalogue import DATASETS  # only now: completion must not slow down every start

    return [name for name in DATASETS if name.startswith(incomplete)]


def complete_methods(incomplete: str) -> list[tuple[str, str]]:
    """Names of methods that begin so, and what each is."""
    from blockselect.registry import SELECTORS

    return [(name, method.title) for name, method in SELECTORS.items() if name.startswith(incomplete)]
