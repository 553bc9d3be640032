"""The only module that imports private names of scikit-learn. Tested with scikit-learn 1.6 to 1.9.

Parameter constraints and the context of `fit` are private, but many other packages use them, and scikit-learn's
estimator checks expect their messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import _param_validation
from sklearn.utils._param_validation import (
    InvalidParameterError,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

from blockselect.utils.errors import ParameterError, memory_for

__all__ = ["N_JOBS", "Interval", "Options", "StrOptions", "check_parameters", "fit_context"]


class Interval(_param_validation.Interval):
    """Like scikit-learn's `Interval`, except that True and False do not count as 1 and 0."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool | np.bool_) and bool(super().is_satisfied_by(val))


N_JOBS = (Interval(Integral, None, -1, closed="right"), Interval(Integral, 1, None, closed="left"))
"""Numbers of processes or threads: any whole number except 0; negative numbers count back from the number of cores."""


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Any], Any]:
    """Scikit-learn's decorator for `fit`; in addition, an out-of-memory error says what to do."""

    def decorate(fit: Any) -> Any:
        @wraps(fit)
        def fit_or_advise(estimator: Any, *arguments: Any, **named: Any) -> Any:
            with memory_for(f"fit {type(estimator).__name__}"):
                return fit(estimator, *arguments, **named)

        return _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)(fit_or_advise)

    return decorate


def check_parameters(estimator: BaseEstimator) -> None:
    """Validate the parameters of an estimator one by one; the error names the invalid parameter.

    Scikit-learn validates parameters in `fit`. Interfaces that use other names for them validate them here.
    """
    constraints = estimator._parameter_constraints
    for name, value in estimator.get_params(deep=False).items():
        try:
            validate_parameter_constraints(constraints, {name: value}, caller_name=type(estimator).__name__)
        except InvalidParameterError as error:
            problem = re.sub(r"^The '\w+' parameter of \w+ ", "", str(error))
            raise ParameterError(name, problem) from error
