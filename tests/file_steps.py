"""Stop the writing of files at a chosen step."""

from __future__ import annotations

import os
from pathlib import Path


class Killer:
    """Calls `stop` at the n-th change of the file system."""

    def __init__(self, at, stop):
        self.at, self.stop, self.done = at, stop, 0

    def step(self, change):
        def counted(path, *arguments, **options):
            if change.__name__ != "mkdir" or not path.exists():
                self.done += 1
                if self.done == self.at:
                    self.stop()
            return change(path, *arguments, **options)

        return counted

    def watch(self, patch):
        patch(os, "fsync", self.step(os.fsync))
        for name in ("mkdir", "unlink", "replace", "rename"):
            patch(Path, name, self.step(getattr(Path, name)))
