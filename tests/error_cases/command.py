"""Command lines that cannot be done: exit code 2, one line on stderr, nothing written."""

from __future__ import annotations

from blockselect.wording import shortened
from error_cases.case import Case

INPUT = ("--features", "{features}", "--graph", "{edges}")
OUT = ("--out", "{folder}/results")

SELECT_VALUES: dict[str, tuple[str, ...]] = {
    "--top": ("0", "-3", "1.5", "1.0", "nan", "many", "13"),
    "--blocks": ("0", "25", "three", "2.5"),
    "--block-model": ("sbm", ""),
    "--candidates": ("0", "many"),
    "--max-blocks": ("1", "x"),
    "--resamples": ("2", "-1", "x", "9" * 400),
    "--binarize": ("maybe",),
    "--profile-ratio": ("1.1", "-0.1", "nan"),
    "--gradient": ("approximate",),
    "--max-iter": ("0", "x"),
    "--tol": ("-1", "nan"),
    "--seed": ("-1", "4294967296", "x"),
    "--dtype": ("int8",),
    "--jobs": ("many", "0", "100000"),
    "--memory-limit": ("0", "inf"),
}
COMPARE_VALUES: dict[str, tuple[str, ...]] = {
    "--methods": ("mcf", "", "all,mcfs"),
    "--top": ("0", "x", "13", "1,,2"),
    "--blocks": ("0", "25", "x"),
    "--runs": ("0", "x"),
    "--seed": ("-1", "x"),
    "--workers": ("0", "x"),
}
LINES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    # what was asked, arguments, words
    ("an unknown command", ("selct",), ("Did you mean 'select'?",)),
    ("an unknown option", ("select", "--nope"), ("--nope",)),
    ("an option without its value", ("select", "--top"), ("--top",)),
    ("neither a data set nor files", ("select", *OUT), ("--dataset NAME or --features FILE",)),
    ("a data set and files", ("select", "--dataset", "cora", *INPUT, *OUT), ("not both",)),
    ("a data set with a graph", ("select", "--dataset", "cora", "--graph", "{edges}", *OUT), ("--graph goes with",)),
    ("an unknown data set", ("select", "--dataset", "corra", *OUT), ("'corra'", "Did you mean cora?")),
    ("features that are not there", ("select", "--features", "{folder}/no.csv", *OUT), ("--features", "no.csv")),
    (
        "a graph that is not there",
        ("select", "--features", "{features}", "--graph", "{folder}/no.csv", *OUT),
        ("--graph",),
    ),
    ("a folder as features", ("select", "--features", "{folder}", *OUT), ("--features",)),
    ("no name as features", ("select", "--features", "", *OUT), ("--features",)),
    ("nowhere to put the result", ("select", *INPUT), ("nowhere to put the result", "--out")),
    ("an empty --out", ("select", *INPUT, "--out", ""), ("--out is empty",)),
    ("blanks as --out", ("select", *INPUT, "--out", "  "), ("--out is empty",)),
    (
        "a name of 300 characters as --out",
        ("select", *INPUT, "--out", "{folder}/" + "x" * 300),
        ("File name too long",),
    ),
    ("a file as --out", ("select", *INPUT, "--out", "{features}"), ("is a file",)),
    ("a folder in a file as --out", ("select", *INPUT, "--out", "{features}/x"), ("is a file",)),
    ("a link that leads nowhere as --out", ("select", *INPUT, "--out", "{lost}/x"), ("leads nowhere",)),
    ("the graph as features", ("select", "--features", "{edges}", "--graph", "{edges}", *OUT), ("edges.csv",)),
    ("--neighbors beside a graph", ("select", *INPUT, "--neighbors", "5", *OUT), ("--neighbors",)),
    (
        "--max-blocks beside --blocks",
        ("select", *INPUT, "--blocks", "3", "--max-blocks", "4", *OUT),
        ("changes nothing",),
    ),
    ("--paper without --blocks", ("select", *INPUT, "--paper", *OUT), ("--blocks is not given",)),
    ("--paper without a graph", ("select", "--features", "{features}", "--paper", "--blocks", "3", *OUT), ("--graph",)),
    (
        "--paper with a setting of the default",
        ("select", *INPUT, "--paper", "--blocks", "3", "--binarize", "yes", *OUT),
        ("--binarize is no setting of BMGUFS",),
    ),
    ("a setting of the paper alone", ("select", *INPUT, "--sparsity", "1", *OUT), ("--sparsity", "--paper")),
    ("--top auto without a graph", ("select", "--features", "{features}", "--top", "auto", *OUT), ("--graph",)),
    ("classes beside a data set", ("compare", "--dataset", "cora", "--classes", "{classes}", *OUT), ("--classes",)),
    ("edges as classes", ("compare", *INPUT, "--classes", "{edges}", *OUT), ("edges.csv",)),
    ("features as classes", ("compare", *INPUT, "--classes", "{features}", *OUT), ("columns", "expected two")),
    ("a comparison that goes nowhere", ("compare", *INPUT, "--classes", "{classes}"), ("nowhere to put the result",)),
    (
        "a comparison with an empty --out",
        ("compare", *INPUT, "--classes", "{classes}", "--out", ""),
        ("--out is empty",),
    ),
    ("an unknown data set to fetch", ("datasets", "fetch", "nope"), ("'nope'",)),
    ("an unknown data set to show", ("datasets", "info", "cor"), ("Did you mean cora?",)),
    ("an unknown subcommand of datasets", ("datasets", "lst"), ("lst",)),
    ("an unknown experiment", ("reproduce", "efectiveness", *OUT), ("Did you mean effectiveness?",)),
    ("an unknown configuration", ("reproduce", "all", "--config", "papr", *OUT), ("papr",)),
    ("a configuration that is not there", ("reproduce", "all", "--config", "{folder}/no.toml", *OUT), ("no.toml",)),
    ("a configuration that is no TOML", ("reproduce", "all", "--config", "{features}", *OUT), ("features.csv",)),
    ("no worker", ("reproduce", "all", "--workers", "0", *OUT), ("--workers",)),
    ("no experiment", ("reproduce",), ("Missing argument",)),
    ("a reproduction with an empty --out", ("reproduce", "all", "--out", ""), ("--out is empty",)),
)
REPLACED: tuple[tuple[str, tuple[str, ...], str, tuple[str, ...]], ...] = (
    # what was asked, arguments, a file that is there, words
    (
        "features that a result would replace",
        ("select", "--features", "nodes.csv", "--graph", "{edges}", "--out", ".", "--overwrite"),
        "nodes.csv",
        ("nodes.csv would replace the file of --features", "name another folder"),
    ),
    (
        "a file of somebody else that a selection would replace",
        ("select", *INPUT, *OUT),
        "results/nodes.csv",
        ("blockselect did not write", "nodes.csv", "--overwrite"),
    ),
    (
        "a file of somebody else that a comparison would replace",
        ("compare", *INPUT, "--classes", "{classes}", *OUT),
        "results/comparison.md",
        ("blockselect did not write", "comparison.md", "--overwrite"),
    ),
    (
        "a file of somebody else that a reproduction would replace",
        ("reproduce", "all", "--config", "quick", "--out", "{folder}"),
        "rows/datasets.csv",
        ("blockselect did not write", "rows/datasets.csv", "--overwrite"),
    ),
)


def _cases() -> list[Case]:
    cases = [Case("Command", what, words, arguments=arguments) for what, arguments, words in LINES]
    for what, arguments, file, words in REPLACED:
        cases.append(Case("Command", what, words, arguments=arguments, files=((file, b"id,mine\n"),)))
    for option, values in SELECT_VALUES.items():
        for value in values:
            arguments = ("select", *INPUT, option, value, *OUT)
            cases.append(Case("Command", f"select {option} {shortened(value)!r}", (option,), arguments=arguments))
    for option, values in COMPARE_VALUES.items():
        for value in values:
            arguments = ("compare", *INPUT, "--classes", "{classes}", "--top", "3", option, value, *OUT)
            cases.append(Case("Command", f"compare {option} {value!r}", (option,), arguments=arguments))
    return cases


COMMAND_CASES = tuple(_cases())
