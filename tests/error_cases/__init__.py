"""Every error that people can meet, as data: what they did, the class of the error, and words of its message."""

from __future__ import annotations

from error_cases.calls import CALL_CASES
from error_cases.case import Case
from error_cases.command import COMMAND_CASES
from error_cases.files import FILE_CASES
from error_cases.inputs import INPUT_CASES
from error_cases.parameters import PARAMETER_CASES

CASES: tuple[Case, ...] = (*INPUT_CASES, *PARAMETER_CASES, *CALL_CASES, *FILE_CASES, *COMMAND_CASES)
