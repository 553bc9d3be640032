"""ReportMixin: the record of a fit, and the page that is made from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from blockselect.result import Result
from blockselect.utils.arrays import FloatArray
from blockselect.utils.parameters import check_page_path

if TYPE_CHECKING:
    from blockselect.report import Report


class ReportMixin:
    """Part of :class:`blockselect.base.ScoreSelector`: `fit` sets `_result`."""

    _result: Result
    _network_warnings: list[str]  # of `fit`, which the page repeats

    @property
    def _found(self) -> Result:
        """What the fit kept of its network."""
        check_is_fitted(self)
        if not hasattr(self, "_result"):
            raise ValueError(
                f"this {type(self).__name__} was fitted by an older version of blockselect, which did not keep the "
                "names and counts that tables, plots and reports show; fit it again."
            )
        return self._result

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write a page about the selection: which features, where they occur, what they explain, how it was made.

        Parameters
        ----------
        path : str or Path
            The file, whose name must end in .html. It is self-contained.
        **options
            `stability`, as :func:`blockselect.selection_stability` estimates it; `title`, a name for the network; and
            `labels`, known labels of the nodes, which are shown beside the blocks.

        Returns
        -------
        Path
            The path of the page.
        """
        check_page_path(path)  # before the page is made
        return self.show_report(**options).save(path)

    def show_report(
        self, *, stability: FloatArray | None = None, title: str = "the network", labels: Any = None
    ) -> Report:
        """The page of :meth:`report` as an object that a notebook displays."""
        check_is_fitted(self)
        from blockselect.report import make_report  # the only import from a package above: a page on request

        warnings = getattr(self, "_network_warnings", ())
        return make_report(self, stability=stability, title=title, labels=labels, warnings=warnings)
