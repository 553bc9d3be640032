"""Fuzz the readers of all file formats, guided by coverage: `python scripts/fuzz_readers.py --seconds 60`.

It needs atheris (`pip install 'blockselect[fuzz]'`, on Linux). Each format runs in its own process, because atheris
ends the process in which it runs. Findings are saved as files `crash-…` in the folder that is printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
MEMORY_MB = 4096  # using more memory for a file of a few kilobytes is a finding
SLOW_SECONDS = 20  # taking longer is a finding too


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=int, default=60, help="seconds per format")
    options.add_argument("--only", help="fuzz only this format, in this process (to investigate a finding)")
    given = options.parse_args()
    if given.only:
        return _fuzz(given.only, given.seconds)
    from mutated_files import SOUND

    failed = []
    for name in SOUND:
        print(f"{name}: {given.seconds} s", flush=True)
        command = [sys.executable, __file__, "--only", name, "--seconds", str(given.seconds)]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    print(f"findings in: {', '.join(failed)}" if failed else "no findings.")
    return int(bool(failed))


def _fuzz(name: str, seconds: int) -> int:
    import atheris

    with atheris.instrument_imports(include=["blockselect.inputs"]):
        from mutated_files import SOUND, read_either_way
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="blockselect-fuzz-"))
    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "sound").write_bytes(SOUND[name])

    def one_input(data: bytes) -> None:
        (folder / name).write_bytes(data)
        read_either_way(folder / name)

    print(f"findings are saved in {folder}", flush=True)
    limits = [f"-max_total_time={seconds}", f"-rss_limit_mb={MEMORY_MB}", f"-timeout={SLOW_SECONDS}", "-max_len=4096"]
    atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={folder}/", str(corpus)], one_input)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
