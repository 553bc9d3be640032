"""The command in its own process: version, help, reproducibility, progress, completion, Ctrl-C."""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import blockselect
from blockselect.cli.commands import COMMANDS, load_command
from blockselect.utils.extras import install_advice
from terminal import IMPATIENT, interrupt_on_terminal, without_stages

QUICK = ("--blocks", "3", "--top", "5")
COMMAND = (sys.executable, "-m", "blockselect.cli.main")


def blockselect_process(*arguments, **options):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, **options)


def test_version_is_the_packages_own(run):
    assert run("--version").stdout == f"blockselect {blockselect.__version__}\n"


def test_a_verbose_version_also_names_packages_gpu_and_threads(run):
    shown = run("--version", "--verbose").stdout
    assert shown.startswith(f"blockselect {blockselect.__version__}\n")
    found = dict(line.strip().split(": ", 1) for line in shown.splitlines()[2:])
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["GPU"]
    assert re.search(r"[a-z]+ \d+", found["threads"])


def test_verbose_without_version_is_refused(run):
    result = run("--verbose", "datasets", "list")
    assert (result.exit_code, result.stderr) == (2, "error: --verbose can only be used with --version.\n")


def test_help_is_shown_when_nothing_is_asked(run):
    result = run()
    assert result.exit_code == 0
    assert "select" in result.stdout
    assert "Usage" in result.stdout


def test_a_process_writes_the_same_bytes_as_a_call(run, network, tmp_path):
    options = ["select", *network.options, *QUICK]
    done = blockselect_process(*options, "--out", str(tmp_path / "process"))
    assert done.returncode == 0, done.stderr
    assert without_stages(done.stderr) == ""  # no progress bar, because stderr is not a terminal
    assert "wrote " in done.stdout
    run(*options, "--out", tmp_path / "call")
    for path in (tmp_path / "call").iterdir():
        assert (tmp_path / "process" / path.name).read_bytes() == path.read_bytes()


def test_bad_input_ends_a_process_with_two_and_one_line(tmp_path):
    done = blockselect_process("select", "--dataset", "cor", "--out", "results", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    known = "blogcatalog, citeseer, cora, cora-planetoid, debian"
    assert (
        without_stages(done.stderr)
        == f"error: no data set is called 'cor'; choose one of: {known}. Did you mean cora?\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_slow_command_says_what_it_is_doing_even_while_it_loads(network, tmp_path):
    command = [sys.executable, "-c", IMPATIENT, "select", *network.options, *QUICK, "--out", tmp_path / "out"]
    loud, quiet = (
        subprocess.run([*command, *more], capture_output=True, text=True, check=False)
        for more in ((), ("--quiet", "--overwrite"))
    )
    lines = loud.stderr.splitlines()
    assert re.fullmatch(r"loading blockselect \.{9,}", lines[0])  # one dot per 0.01 s
    stages = [line.rstrip(".") for line in lines]
    assert stages[1] == "reading the network "
    assert stages[-1] == "drawing the report "
    assert len(set(stages)) == len(stages) > 4
    assert without_stages(loud.stderr) == ""
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_results_begin_on_a_line_of_their_own():
    for words, first in (("datasets list", "name"), ("datasets info cora", "cora:"), ("--version", "blockselect ")):
        command = [sys.executable, "-c", IMPATIENT, *words.split()]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
        assert re.match(rf"(loading blockselect \.{{3,}}\n)?\s*{first}", done.stdout)


HEAVY = {"numpy", "scipy", "sklearn", "pandas", "matplotlib"}


def imported(*arguments):
    """Top-level modules that a process imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *COMMAND[1:], *arguments], capture_output=True, text=True, check=False
    )
    return modules_in(done.stderr)


def modules_in(importtime):
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in importtime.splitlines()}


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--version",)])
def test_help_and_version_import_nothing_heavy(arguments):
    modules = imported(*arguments)
    assert "typer" in modules
    assert not modules & HEAVY


@pytest.mark.parametrize(
    "arguments",
    [
        *((command, "--help") for command in COMMANDS),
        ("select", "--nope"),
        ("select", "--features", "nowhere.csv", "--json"),
        ("select", "--dataset", "cora"),
        ("select", "--method", "mcf", "--json"),
    ],
    ids=" ".join,
)
def test_help_and_mistakes_in_the_options_are_answered_before_anything_heavy_is_imported(arguments):
    assert not imported(*arguments) & HEAVY


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("blockselect sel", ["select"]),
        ("blockselect select --save", ["--save-matrix"]),
        ("blockselect select --method mor", ["morans-i"]),
        ("blockselect select --dataset cora-", ["cora-planetoid"]),
        ("blockselect datasets fetch cite", ["citeseer"]),
        ("blockselect nothing --sa", []),
    ],
)
def test_a_shell_completes_options_and_values_and_imports_nothing_heavy(words, completed):
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_BLOCKSELECT_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv[0] = 'blockselect'; from blockselect.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **asked},
    )
    assert done.stdout.split() == completed
    assert not modules_in(done.stderr) & HEAVY


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_listed_with_the_first_line_of_its_help(run, command):
    for shown in (run("--help").stdout, run(command, "--help").stdout):
        assert COMMANDS[command] in " ".join(re.sub("[│╭╮╰╯─]", " ", shown).split())


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("typer", "cli", ["--help"]),
        ("rich", "cli", ["select", "--help"]),
        ("matplotlib", "report", ["select", "--dataset", "cora", "--json"]),
        ("jinja2", "report", ["reproduce", "all", "--out", "out"]),
        ("pooch", "datasets", ["datasets", "info", "blogcatalog"]),
    ],
)
def test_without_a_package_one_line_names_the_extra_that_brings_it(package, extra, arguments):
    code = f"import sys; sys.modules[{package!r}] = None; from blockselect.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"needs {package}; install it with: pip install 'blockselect[{extra}]'" in done.stderr
    assert without_stages(done.stderr).count("\n") == 1


def test_a_module_of_our_own_that_is_missing_is_a_bug_and_shown_as_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "blockselect.cli.datasets", None)
    with pytest.raises(ModuleNotFoundError):
        load_command("datasets")


@pytest.mark.parametrize("module", ["blockselect.cli.signals", "typer", "numpy", "sklearn", "pandas", "matplotlib"])
def test_ctrl_c_while_modules_are_imported_is_one_line(tmp_path, module):
    """The process is interrupted as soon as it has imported the module."""
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", *COMMAND[1:], "select", "--dataset", "cora", "--out", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for line in process.stderr:
            if line.rpartition("|")[2].strip() == module:
                break
        if module == "blockselect.cli.signals":  # the entry point itself, which handles signals an instant later
            process.stderr.readline()
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate()
    # Lines that Python itself writes may end the line of dots.
    said = [line for line in without_stages(stderr).splitlines() if line and not line.startswith("import time:")]
    assert (process.returncode, stdout, said) == (130, "", ["interrupted."])
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_in_a_call_is_one_line_and_leaves_nothing(run, network, tmp_path, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(pd, "read_csv", interrupted)
    result = run("select", *network.options, "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals to open here")
def test_progress_is_drawn_on_a_terminal_and_ctrl_c_stops_the_process(network, tmp_path):
    paper = ("--paper", "--blocks", "3", "--set", "solver__max_iter=1000000", "--set", "solver__tol=0")
    endless = ["select", *network.options, *paper, "--out", tmp_path / "out"]
    code, stdout, shown = interrupt_on_terminal(endless, once_shown=b"scoring features")
    assert (code, stdout) == (130, b"")
    assert b"Traceback" not in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "code", "said"), [("SIGTERM", 143, "terminated.\n"), ("SIGHUP", 129, "hung up.\n"), ("SIGKILL", -9, "")]
)
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes cannot be listed here")
def test_a_signal_that_ends_a_process_leaves_neither_workers_nor_files(network, tmp_path, name, code, said):
    """Two workers are running K-means, which would take hours."""
    classes = tmp_path / "classes.csv"
    classes.write_text("id,class\n" + "".join(f"n{node},{node % 2}\n" for node in range(60)))
    options = [*network.options, "--classes", classes, "--methods", "variance", "--runs", "1000000", "--workers", "2"]
    with subprocess.Popen(
        [*COMMAND, "compare", *options, "--top", "5", "--out", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            while sum(ticks > 100 for ticks in session_of(process.pid).values()) < 3 and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(getattr(signal, name))
            stdout, stderr = process.communicate(timeout=60)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # otherwise it would run for hours
            raise
    assert (process.returncode, stdout, without_stages(stderr)) == (code, "", said)
    assert list(tmp_path.iterdir()) == [classes]
    until = time.monotonic() + 20
    while session_of(process.pid) and time.monotonic() < until:  # the resource tracker ends a moment later
        time.sleep(0.02)
    assert session_of(process.pid) == {}


SIGNAL_IN_FINALISER = """
import os, signal, weakref
import pandas
from blockselect.cli import main

def send(*_):
    os.kill(os.getpid(), signal.SIGTERM)
    len("the signal is handled before this line")

class Thing:
    pass

class Finalised:
    __del__ = send

def read_csv(*arguments, read=pandas.read_csv, **options):
    for finalised in (True, False):
        thing = Finalised() if finalised else Thing()
        reference = None if finalised else weakref.ref(thing, send)
        del thing
    return read(*arguments, **options)

pandas.read_csv = read_csv
main.main()
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_a_signal_is_not_lost_in_a_finaliser(network, tmp_path):
    command = [sys.executable, "-c", SIGNAL_IN_FINALISER, "select", *network.options, *QUICK, "--out", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, without_stages(done.stderr)) == (143, "", "terminated.\n")
    assert list(tmp_path.iterdir()) == []


def session_of(leader):
    """Running processes of a session → their CPU time in clock ticks."""
    found = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found[int(status.parent.name)] = int(fields[11]) + int(fields[12])
    return found


def test_a_missing_package_that_no_extra_brings_is_not_explained_away():
    assert install_advice(ModuleNotFoundError("no rich", name="rich.table")).endswith("pip install 'blockselect[cli]'.")
    assert install_advice(ModuleNotFoundError("no numpy", name="numpy")) is None
    assert install_advice(ImportError("who knows")) is None


def test_a_broken_installation_keeps_its_error():
    code = "import sys; sys.modules['blockselect.cli.commands'] = None; from blockselect.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ModuleNotFoundError: import of blockselect.cli.commands halted")
