"""Invalid command lines: exit code 2, one line on stderr, nothing written."""

from __future__ import annotations

from error_cases.case import Case

INPUT = ("--features", "{features}", "--graph", "{edges}")
OUT = ("--out", "{folder}/results")

VALUES: tuple[tuple[str, str, str], ...] = (
    # command, option, value
    ("select", "--top", "1.5"),
    ("select", "--blocks", "25"),
    ("select", "--block-model", "sbm"),
    ("select", "--resamples", "-1"),
    ("select", "--seed", "4294967296"),
    ("select", "--jobs", "0"),
    ("compare", "--runs", "0"),
    ("compare", "--workers", "0"),
)
LINES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    # what is wrong, arguments, words
    ("an unknown command", ("selct",), ("Did you mean 'select'?",)),
    ("an unknown option", ("select", "--nope"), ("--nope",)),
    ("an unknown option of all commands", ("--nope",), ("--nope",)),
    ("an option without a value", ("select", "--top"), ("--top",)),
    ("neither a data set nor files", ("select", *OUT), ("--dataset NAME or --features FILE",)),
    ("a data set and files", ("select", "--dataset", "cora", *INPUT, *OUT), ("not both",)),
    ("an unknown data set", ("select", "--dataset", "corra", *OUT), ("'corra'", "Did you mean cora?")),
    ("features that are not there", ("select", "--features", "{folder}/no.csv", *OUT), ("--features", "no.csv")),
    ("no output is requested", ("select", *INPUT), ("no output is requested", "--out")),
    ("a file as --out", ("select", *INPUT, "--out", "{features}"), ("is a file",)),
    ("--neighbors and a graph", ("select", *INPUT, "--neighbors", "5", *OUT), ("--neighbors",)),
    ("--paper without --blocks", ("select", *INPUT, "--paper", *OUT), ("--blocks is not given",)),
    ("a value out of range", ("select", *INPUT, "--set", "max_blocks=1", *OUT), ("max_blocks", "at least 2")),
    ("a parameter with an option", ("select", *INPUT, "--set", "n_blocks=3", *OUT), ("--set", "use --blocks")),
    ("--paper without a graph", ("select", "--features", "{features}", "--paper", "--blocks", "3", *OUT), ("--graph",)),
    (
        "--paper with a setting of the default",
        ("select", *INPUT, "--paper", "--blocks", "3", "--set", "binarize=True", *OUT),
        ("no parameter of bmgufs is called 'binarize'", "choose one of: n_candidates"),
    ),
    ("all and a method", ("compare", *INPUT, "--methods", "all,mcfs", *OUT), ("no method is called 'all'",)),
    ("features as classes", ("compare", *INPUT, "--classes", "{features}", *OUT), ("columns", "expected two")),
    (
        "an unknown experiment",
        ("reproduce", "efectiveness", *OUT),
        ("choose one of: all, datasets,", "Did you mean effectiveness?"),
    ),
    ("a configuration that is not TOML", ("reproduce", "all", "--config", "{features}", *OUT), ("features.csv",)),
    ("no experiment", ("reproduce",), ("Missing argument",)),
)
REPLACED: tuple[tuple[str, tuple[str, ...], str, tuple[str, ...]], ...] = (
    # what is wrong, arguments, an existing file, words
    (
        "features that a result would replace",
        ("select", "--features", "nodes.csv", "--graph", "{edges}", "--out", ".", "--overwrite"),
        "nodes.csv",
        ("nodes.csv would replace an input file", "name another folder"),
    ),
    (
        "a file of another program that a selection would replace",
        ("select", *INPUT, *OUT),
        "results/nodes.csv",
        ("blockselect would replace files that it did not write", "nodes.csv", "--overwrite"),
    ),
)


def _cases() -> list[Case]:
    cases = [Case(what, words, arguments=arguments) for what, arguments, words in LINES]
    for what, arguments, file, words in REPLACED:
        cases.append(Case(what, words, arguments=arguments, files=((file, b"id,mine\n"),)))
    for command, option, value in VALUES:
        classes = ("--classes", "{classes}", "--top", "3") if command == "compare" else ()
        arguments = (command, *INPUT, *classes, option, value, *OUT)
        cases.append(Case(f"{command} {option} {value[:20]!r}", (option,), arguments=arguments))
    return cases


COMMAND_CASES = tuple(_cases())
