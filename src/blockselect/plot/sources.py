"""What plots are drawn from: something that a fitted selector has, or numbers of the right form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from blockselect.arrays import FloatArray
from blockselect.base import ScoreSelector
from blockselect.errors import ParameterError
from blockselect.graphs.checks import check_names
from blockselect.graphs.number_arrays import as_numbers
from blockselect.weak_network import WeakNetwork


def of_selector(selector: ScoreSelector, attribute: str, what: str) -> Any:
    """Something that a fitted selector found; `what` is what it is called in an error, for those that find none."""
    check_is_fitted(selector)
    if not hasattr(selector, attribute):
        raise ParameterError(
            "source", f"is a {type(selector).__name__}, which has no {what}; pass a selector that has."
        )
    return getattr(selector, attribute)


def numbers(parameter: str, values: Any, form: Sequence[int | None], what: str) -> FloatArray:
    """Numbers in an array of some form, of which None stands for any length above 0."""
    array = as_numbers(parameter, values)
    fits = len(form) == array.ndim and all(
        length > 0 if wanted is None else length == wanted for length, wanted in zip(array.shape, form, strict=True)
    )
    if not fits:
        raise ParameterError(parameter, f"has shape {array.shape}; expected {what}.")
    return array


def names_of(feature_names: Any, n_features: int) -> Any:
    """One name for each feature, or None."""
    return check_names(feature_names, n_features, "feature name", "column")


def recall(selector: ScoreSelector) -> tuple[Any, Any]:
    """The network of the fit, where it is remembered and still in memory."""
    remembered: WeakNetwork = getattr(selector, "_fitted_to", WeakNetwork())
    return remembered.recall()
