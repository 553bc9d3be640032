"""Progress of long computations: callbacks, messages of the logger "blockselect", and a progress line on stderr."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from threading import Event, Lock, Thread
from time import perf_counter
from typing import Any, TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]  # stage, steps done, total number of steps
StepProgress: TypeAlias = Callable[[int, int], None]  # steps done, total number of steps

STAGES: dict[str, str] = {
    "reading": "reading the network",
    "number of blocks": "estimating the number of blocks",
    "block models": "finding blocks in the network",
    "screening": "comparing blocks by links and features",
    "discoveries": "testing features against chance",
    "ranking": "ranking features",
    "scores": "scoring features",
    "resampling": "repeating the selection on resampled links",
    "writing": "drawing the report",
}
"""Description of each stage of a run. A download is listed under its file name."""

_REDRAWN = 0.25  # seconds between updates of the line
_BAR = 20  # characters
_log = logging.getLogger("blockselect")


def no_progress(stage: str, done: int, total: int) -> None:
    """Do-nothing progress callback."""


def no_step_progress(done: int, total: int) -> None:
    """Do-nothing progress callback for a task without stages."""


@contextmanager
def follow(task: str, verbose: int, progress: Progress | None = None) -> Iterator[Progress]:
    """Yield the progress callback of a computation.

    The callback calls `progress` and logs the start of each stage at the level INFO. If `verbose` is set and stderr is
    a terminal or the output of a notebook, it also draws a progress line, which is removed at the end.
    """
    start, seen = perf_counter(), set()
    with _Line(sys.stderr) if verbose and _is_watched(sys.stderr) else nullcontext(no_progress) as draw:

        def note(stage: str, done: int, total: int) -> None:
            if stage not in seen:
                seen.add(stage)
                _log.info("%s: %s", task, STAGES.get(stage, stage))
            draw(stage, done, total)
            if progress is not None:
                progress(stage, done, total)

        yield note
    _log.info("%s: done after %.1f s", task, perf_counter() - start)


def follow_fit(fit: Any) -> Any:
    """Decorator for the `fit` of a selector with the parameter `verbose`; `fit` always receives a callback."""

    @wraps(fit)
    def followed(selector: Any, *arguments: Any, progress: Progress | None = None, **named: Any) -> Any:
        with follow(f"{type(selector).__name__}.fit", selector.verbose, progress) as note:
            return fit(selector, *arguments, progress=note, **named)

    return followed


def _is_watched(stream: Any) -> bool:
    """Whether the stream is a terminal or the output of a notebook."""
    return stream is not None and (stream.isatty() or type(stream).__module__.startswith("ipykernel"))


class _Line:
    """A line with the stage, a bar and the elapsed time, which a thread redraws so that the time keeps running."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._start, self._width = stream, perf_counter(), 0
        self._text = "preparing the network"
        self._lock, self._ended = Lock(), Event()
        self._thread = Thread(target=self._keep_drawing, daemon=True)

    def __enter__(self) -> Progress:
        self._thread.start()
        return self._show

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        self._write("")
        self._stream.write("\r")
        self._stream.flush()

    def _show(self, stage: str, done: int, total: int) -> None:
        text = STAGES.get(stage, stage)
        if total > 1:
            share = _BAR * done // total
            text += f"  [{'#' * share}{'.' * (_BAR - share)}]  {done}/{total}"
        is_new = text.split("  ")[0] != self._text.split("  ")[0]
        self._text = text
        if is_new:  # draw now, because compiled code may keep the thread from drawing
            self._draw()

    def _keep_drawing(self) -> None:
        self._draw()
        while not self._ended.wait(_REDRAWN):
            self._draw()

    def _draw(self) -> None:
        self._write(f"{self._text}  {perf_counter() - self._start:.0f} s")

    def _write(self, text: str) -> None:
        """Replace the line, cut to the width of the terminal."""
        text = text[: shutil.get_terminal_size().columns - 1]
        with self._lock:
            self._stream.write("\r" + text.ljust(self._width))
            self._stream.flush()
            self._width = len(text)
