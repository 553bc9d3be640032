"""Compare BlockModelSelector with other methods on real and planted networks; repeat the command to resume a run.

python -m benchmarks.quality --config quick --workers 2 --out results
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.command import progress_lines, write_files
from benchmarks.quality.quality_config import read_quality_config, with_variants
from benchmarks.quality.summary import headlines
from benchmarks.quality.sweep import measure_quality, quality_files
from benchmarks.quality.variants import parse_variants


def main(arguments: Sequence[str] | None = None) -> None:
    given = _parser().parse_args(arguments)
    try:
        config = read_quality_config(given.config)
        if given.variants:
            config = with_variants(config, parse_variants(given.variants))
        rows = measure_quality(
            given.out,
            config,
            workers=given.workers,
            retry_failed=given.retry_failed,
            again=parse_variants(given.again),
            progress=progress_lines(),
        )
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    files = quality_files(rows, config, title=Path(given.config).stem)
    write_files(given.out, files)
    if given.docs is not None:
        tables = {name.removeprefix("tables/"): files[name] for name in files if name.startswith("tables/")}
        write_files(given.docs, {f"quality/{name}": content for name, content in tables.items()})
    print("\n".join([*headlines(rows), f"wrote {given.out / 'quality.md'}"]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for rows (saved immediately), tables and a page"
    )
    parser.add_argument("--config", default="paper", metavar="paper|quick|FILE.toml", help="default: paper")
    parser.add_argument(
        "--variants", default="", metavar="NAME,NAME…", help="compare only these variants with the default settings"
    )
    parser.add_argument(
        "--again", default="", metavar="NAME,NAME…", help="variants to run again after a change to their code"
    )
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    parser.add_argument("--retry-failed", action="store_true", help="repeat trials that failed")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="also write DIR/quality/*.csv")
    return parser


if __name__ == "__main__":
    main()
