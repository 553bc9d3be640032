"""Every case of the table raises the stated error with the stated words or exit code, and writes nothing."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from blockselect.cli.commands import app
from error_cases import CASES
from error_cases.case import N_NODES, edge_table, feature_table

LIBRARY = [case for case in CASES if case.call is not None]
COMMAND = [case for case in CASES if case.call is None]


def snapshot(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def write_files(case, folder):
    for name, content in case.files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The files of a valid network."""
    folder = tmp_path_factory.mktemp("network")
    feature_table().rename_axis("id").to_csv(folder / "features.csv")
    edge_table().to_csv(folder / "edges.csv", index=False)
    lines = "".join(f"n{node},{node % 2}\n" for node in range(N_NODES))
    (folder / "classes.csv").write_text(f"id,class\n{lines}")
    return {name: str(folder / f"{name}.csv") for name in ("features", "edges", "classes")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", LIBRARY, ids=lambda case: case.title)
@pytest.mark.filterwarnings("ignore")  # a warning may precede the error
def test_library_refuses(case, folder):
    write_files(case, folder)
    before = snapshot(folder)
    with pytest.raises(case.error) as caught:
        case.call(folder)
    message = str(caught.value)
    assert [word for word in case.words if word not in message] == [], message
    assert message.strip()
    assert snapshot(folder) == before


@pytest.mark.parametrize("case", COMMAND, ids=lambda case: case.title)
def test_command_refuses(case, folder, paths):
    write_files(case, folder)
    before = snapshot(folder)
    arguments = [argument.format(folder=folder, **paths) for argument in case.arguments]
    result = CliRunner().invoke(app, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert [word for word in case.words if word not in result.stderr] == [], result.stderr
    assert snapshot(folder) == before
