"""`python -m blockselect.experiments.quality`: the tables of quality, by one command. The same command goes on."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from blockselect.experiments.agenda import Standing
from blockselect.experiments.quality.ablations import SETTINGS, find_setting
from blockselect.experiments.quality.config import read_quality_config, with_settings
from blockselect.experiments.quality.embed import as_section, embed
from blockselect.experiments.quality.page import headlines
from blockselect.experiments.quality.run import TABLES, measure_quality, quality_files

LINE_EVERY = 30.0  # seconds between lines of progress


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, write all files, and tell the counts."""
    options = _parser().parse_args(arguments)
    try:
        config = read_quality_config(options.config)
        if options.settings:
            config = with_settings(config, _names(options.settings))
        rows = measure_quality(
            options.out,
            config,
            workers=options.workers,
            retry_failed=options.retry_failed,
            again=_names(options.again),
            progress=None if options.quiet else _lines(),
        )
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("the trials that had ended are kept; the same command goes on from there.", file=sys.stderr)
        return 130
    files = quality_files(rows, config, title=Path(options.config).stem, parquet=not options.no_parquet)
    for name, content in files.items():
        _write(options.out / name, content)
    if options.tables is not None:
        _write(options.tables, _page(options.tables, files[TABLES].decode(), headlines(rows)).encode())
    if not options.quiet:
        print("\n".join([*headlines(rows), f"wrote {options.out / TABLES}"]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m blockselect.experiments.quality", description=__doc__)
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder for rows and tables; it keeps each row as it comes")
    add("--config", default="paper", help="paper, quick or FILE.toml")
    add("--workers", type=int, default=1, help="processes that share the trials")
    add("--settings", default="", help=f"fewer settings than the configuration's, by commas: {', '.join(SETTINGS)}")
    add("--again", default="", help="settings to run again since the code has changed; leave it out to go on")
    add("--retry-failed", action="store_true", help="run trials again that failed before")
    add("--tables", type=Path, help="write the tables to this file too; in a page with marks for them, between these")
    add(
        "--no-parquet",
        action="store_true",
        default=find_spec("pyarrow") is None,
        help="rows as CSV alone, as where pyarrow is not installed",
    )
    add("--quiet", action="store_true", help="no progress and no account")
    return parser


def _page(path: Path, tables: str, lines: Sequence[str]) -> str:
    """The file's own page with tables and headlines in their places, or the tables alone where it has none."""
    page = path.read_text(encoding="utf-8") if path.is_file() else ""
    filled = embed(page, "tables", as_section(tables, "Tables"))
    if filled == page:
        return tables
    return embed(filled, "summary", "\n".join(f"- {line}" for line in lines))


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        find_setting(name)
    return names


def _lines() -> Callable[[Standing], None]:
    """A line now and then, so that a log tells how far the run is."""
    last = time.monotonic()

    def report(standing: Standing) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY:
            last = time.monotonic()
            left = "" if standing.seconds_left is None else f", about {standing.seconds_left / 60:.0f} minutes left"
            print(f"{standing.done} of {standing.known} trials{left}", file=sys.stderr, flush=True)

    return report


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_bytes(content)
    beside.replace(path)


if __name__ == "__main__":
    sys.exit(main())
