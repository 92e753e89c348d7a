"""`tf-frame checkpoint`: lists, shows, compares, renames and averages checkpoints.

No command needs the code of a model. `list` finds intact checkpoints, `show` prints their contents,
`diff` compares two. `rename` fits a checkpoint, such as a pretrained backbone, to a model with
other variable names. `average` makes one set of weights from the last checkpoints of a training.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tf_frame.cli import checkpoint_tables as tables
from tf_frame.command_line.screen import complain, report, report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import Option
from tf_frame.config.values import not_a_choice
from tf_frame.errors import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_USAGE,
    CheckpointError,
    ConfigError,
    UnmatchedPatternWarning,
)
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import short

_USAGE = r"""usage: tf-frame checkpoint list DIR [--json]
       tf-frame checkpoint show PATH [--filter REGEX] [--values] [--json]
       tf-frame checkpoint diff PATH PATH [--json]
       tf-frame checkpoint rename PATH NEW --rule REGEX=REPLACEMENT
                                  [--drop REGEX] [--dry_run] [--overwrite]
       tf-frame checkpoint average NEW PATH PATH ... [--overwrite]
       tf-frame checkpoint average NEW DIR [--last N] [--overwrite]

list     the checkpoints of a folder, oldest first, and whether they can be read
show     variables of a checkpoint; --filter: only names that match REGEX in a part; --values:
         minimum, maximum, mean and norm of the finite values, and the number of others
diff     differences between two checkpoints; exit code 0 without any, 1 with some, 2 if a
         checkpoint cannot be read
rename   writes a checkpoint with other names: --rule 'old/(.*)=new/\1'. REGEX has to match the
         whole name; of several rules the first that matches counts; --drop REGEX leaves
         variables out; both may be given several times. --dry_run only shows the result
average  writes the mean of checkpoints; integers, booleans and texts come from the last

PATH is a checkpoint (runs/first/model.ckpt-500), a folder (its newest checkpoint) or a SavedModel.
NEW is written whole or not at all, replaces nothing without --overwrite, and becomes the newest
checkpoint of its folder. --json prints the result as JSON."""

_Flags = Mapping[str, Any]


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(word in ("-h", "--help") for word in argv):
        report_help(_USAGE)
        return EXIT_OK if argv else EXIT_USAGE
    name, *words = argv
    if name not in SUB_COMMANDS:
        raise ConfigError(f"tf-frame checkpoint: {not_a_choice(name, SUB_COMMANDS)}")
    command = SUB_COMMANDS[name]
    flags, paths = parse_words(words, command.options)
    if len(paths) < command.least or (command.most is not None and len(paths) > command.most):
        given_paths = " ".join(paths) or "none"
        raise ConfigError(
            f"tf-frame checkpoint {name} takes {command.paths}; given: {short(given_paths)}"
        )
    if name == "rename" and not (flags.get("rule") or flags.get("drop")):
        raise ConfigError("tf-frame checkpoint rename takes --rule REGEX=REPLACEMENT, or --drop")
    with quiet_import():
        # Importing TensorFlow takes seconds and writes log lines.
        import tf_frame.checkpoint.find.reader  # noqa: F401
    with _reported_patterns():
        return command.run(paths, flags)


@contextlib.contextmanager
def _reported_patterns() -> Iterator[None]:
    """Prints the warnings of patterns that match nothing, a line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnmatchedPatternWarning)
        try:
            yield
        finally:
            for warning in caught:
                complain(f"note: {warning.message}")


def _list(paths: Sequence[str], flags: _Flags) -> int:
    from tf_frame.checkpoint.find.contents import list_checkpoints

    entries = list_checkpoints(paths[0])
    _print(flags, tables.entries_as_json(entries), lambda: tables.entries(entries, paths[0]))
    return EXIT_OK


def _show(paths: Sequence[str], flags: _Flags) -> int:
    from tf_frame.checkpoint.find.contents import describe_variables
    from tf_frame.checkpoint.warm_start.rules import parse_regex

    pattern = parse_regex("--filter", flags["filter"]) if flags.get("filter") else None
    checkpoint = _opened(paths[0])
    variables = describe_variables(checkpoint, pattern=pattern, values=bool(flags.get("values")))
    arguments = checkpoint.path, checkpoint.global_step, variables
    _print(flags, tables.contents_as_json(*arguments), lambda: tables.contents(*arguments))
    return EXIT_OK


def _diff(paths: Sequence[str], flags: _Flags) -> int:
    from tf_frame.checkpoint.find.contents import compare_checkpoints

    try:
        first, second = map(_opened, paths)
        difference = compare_checkpoints(first, second)
    except CheckpointError as error:
        # Code 1 would say that two checkpoints differ.
        raise ConfigError(str(error)) from error
    _print(
        flags,
        tables.difference_as_json(difference),
        lambda: tables.difference(first.path, second.path, difference),
    )
    return EXIT_FAILED if difference.any else EXIT_OK


def _rename(paths: Sequence[str], flags: _Flags) -> int:
    from tf_frame.checkpoint.rewrite.rename import plan_rewriting

    plan = plan_rewriting(
        _opened(paths[0]),
        paths[1],
        rules=flags.get("rule", ()),
        drop=flags.get("drop", ()),
        overwrite=bool(flags.get("overwrite")),
    )
    written = not flags.get("dry_run")
    if written:
        plan.write()
    report(tables.rewriting(plan, written=written))
    return EXIT_OK


def _average(paths: Sequence[str], flags: _Flags) -> int:
    from tf_frame.checkpoint.rewrite.average import average, find_sources

    new, *given_sources = paths
    sources = find_sources(given_sources, last=flags.get("last"), but=new)
    averaged, copied = average(sources, new, overwrite=bool(flags.get("overwrite")))
    report(
        f"wrote {new}, the mean of {len(sources)} checkpoints:\n"
        + "\n".join(f"  {source}" for source in sources)
        + f"\n{averaged} variables averaged, {copied} taken from the last"
    )
    return EXIT_OK


def _opened(path: str) -> Any:
    from tf_frame.checkpoint.find.path import resolve_checkpoint
    from tf_frame.checkpoint.find.reader import Checkpoint

    return Checkpoint(resolve_checkpoint(path))


def _print(flags: _Flags, data: Any, text: Callable[[], str]) -> None:
    report(json.dumps(data, indent=2, allow_nan=False) if flags.get("json") else text())


@dataclasses.dataclass(frozen=True)
class _Command:
    """A command after `tf-frame checkpoint`: its function, its paths and its options."""

    run: Callable[[Sequence[str], _Flags], int]
    paths: str
    least: int
    most: int | None
    options: Sequence[Option]


_JSON = Option("json", bool, False, "print JSON")
_OVERWRITE = Option("overwrite", bool, False, "replace existing files")
_FILTER = Option("filter", str, "", "only these names")
_VALUES = Option("values", bool, False, "statistics of the values")
_RULE = Option("rule", tuple[str, ...], (), "REGEX=REPLACEMENT", verbatim=True)
_DROP = Option("drop", tuple[str, ...], (), "names to leave out", verbatim=True)
_DRY_RUN = Option("dry_run", bool, False, "write nothing")
_LAST = Option("last", int | None, None, "only the newest", min=1)
SUB_COMMANDS = {
    "list": _Command(_list, "DIR", 1, 1, [_JSON]),
    "show": _Command(_show, "PATH", 1, 1, [_JSON, _FILTER, _VALUES]),
    "diff": _Command(_diff, "PATH PATH", 2, 2, [_JSON]),
    "rename": _Command(_rename, "PATH NEW", 2, 2, [_RULE, _DROP, _DRY_RUN, _OVERWRITE]),
    "average": _Command(_average, "NEW PATH PATH ..., or NEW DIR", 2, None, [_LAST, _OVERWRITE]),
}
