"""Every kind of error once: what was done, the class of the error, and words in its message."""

from __future__ import annotations

from error_cases.case import Case
from error_cases.command import COMMAND_CASES
from error_cases.files import FILE_CASES
from error_cases.library import LIBRARY_CASES

CASES: tuple[Case, ...] = (*LIBRARY_CASES, *FILE_CASES, *COMMAND_CASES)
