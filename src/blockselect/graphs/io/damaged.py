"""Files that cannot be read: whatever a parser raises becomes one error that names the file and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming_file(path: Path, advice: str, *, problem: str = "could not be read") -> Iterator[None]:
    """Refuse a file by its name where reading it fails.

    Everything is caught but a missing package: on damaged files the parsers of NumPy, SciPy, pandas, networkx, h5py and
    pyarrow raise nearly every kind of exception, some of them kinds of their own without a common base.

    Parameters
    ----------
    path : path
    advice : str
        How to write a file that can be read.
    problem : str
        What is said of the file before the reason.
    """
    try:
        yield
    except ImportError:
        raise
    except Exception as error:
        said = str(error) or ("memory ran out" if isinstance(error, MemoryError) else type(error).__name__)
        reason = " ".join(said.split()).rstrip(".")
        raise ValueError(f"{path} {problem}: {reason}; {advice}") from error
