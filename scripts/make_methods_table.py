"""Write the table of methods in docs/methods.md anew from the registry: run it after a change there."""

from __future__ import annotations

import re
from pathlib import Path

from blockselect.registry import methods_table

PAGE = Path(__file__).parents[1] / "docs" / "methods.md"


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"(?:^\|.*\n)+", lambda _: methods_table(), text, count=1, flags=re.MULTILINE), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
