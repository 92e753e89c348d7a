"""`tf-frame checkpoint`: what checkpoints hold, and new ones from old ones."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tf_frame.cli import checkpoint_tables as tables
from tf_frame.cli.quiet import quiet_tensorflow, without_chatter
from tf_frame.cli.screen import report
from tf_frame.config.flags import parse_flags
from tf_frame.config.option import Option
from tf_frame.config.values import nearest
from tf_frame.errors import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_USAGE,
    CheckpointError,
    ConfigError,
    UnmatchedPatternWarning,
)

_USAGE = r"""usage: tf-frame checkpoint list DIR [--json]
       tf-frame checkpoint show PATH [--filter REGEX] [--values] [--json]
       tf-frame checkpoint diff PATH PATH [--json]
       tf-frame checkpoint rename PATH NEW --rule REGEX=REPLACEMENT [--drop REGEX]
                                  [--dry_run] [--overwrite]
       tf-frame checkpoint average NEW PATH PATH ... [--overwrite]
       tf-frame checkpoint average NEW DIR [--last N] [--overwrite]

list     the checkpoints of a folder, oldest first, and whether they can be read
show     variables of a checkpoint; --filter: those in whose names REGEX is found; --values:
         minimum, maximum, mean and norm of what is finite, and how much is not
diff     in what two checkpoints differ; exit code 0 if in nothing, 1 if in something, 2 if
         one cannot be read
rename   writes a checkpoint with other names: --rule 'old/(.*)=new/\1'. REGEX has to match the
         whole name; of several rules the first that matches counts; --drop REGEX leaves
         variables out; both may be given several times. --dry_run only shows what would be done
average  writes the mean of checkpoints; integers, switches and texts are those of the last

PATH is a checkpoint (runs/first/model.ckpt-500), a folder (its newest checkpoint) or a SavedModel.
NEW is written whole or not at all, replaces nothing without --overwrite, and becomes the newest
checkpoint of its folder. --json prints the same for programs."""

_JSON = Option("json", bool, False, "print JSON")
_OVERWRITE = Option("overwrite", bool, False, "replace what is there")
_OPTIONS = {
    "list": [_JSON],
    "show": [
        _JSON,
        Option("filter", str, "", "only these names"),
        Option("values", bool, False, "statistics of the values"),
    ],
    "diff": [_JSON],
    "rename": [
        Option("rule", tuple[str, ...], (), "REGEX=REPLACEMENT", verbatim=True),
        Option("drop", tuple[str, ...], (), "names to leave out", verbatim=True),
        Option("dry_run", bool, False, "write nothing"),
        _OVERWRITE,
    ],
    "average": [Option("last", int | None, None, "only the newest", min=1), _OVERWRITE],
}
_WORDS = {
    "list": ("DIR", 1, 1),
    "show": ("PATH", 1, 1),
    "diff": ("PATH PATH", 2, 2),
    "rename": ("PATH NEW", 2, 2),
    "average": ("NEW PATH PATH ..., or NEW DIR", 2, None),
}


def main(words: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not words or any(word in ("-h", "--help") for word in words):
        report(_USAGE)
        return EXIT_OK if words else EXIT_USAGE
    name, *rest = words
    if name not in _OPTIONS:
        near = nearest(name, _OPTIONS)
        hint = f"did you mean {near!r}?" if near else f"it takes one of {', '.join(_OPTIONS)}"
        raise ConfigError(f"unknown word {name!r} after tf-frame checkpoint; {hint}")
    paths, given = _sorted_out(name, rest)
    quiet_tensorflow(None)
    with without_chatter(None):
        # Importing TensorFlow takes seconds and says things.
        import tf_frame.checkpoint.find.reader  # noqa: F401
    commands: dict[str, Callable[[Sequence[str], Mapping[str, Any]], int]] = {
        "list": _list,
        "show": _show,
        "diff": _diff,
        "rename": _rename,
        "average": _average,
    }
    with _patterns_noted():
        return commands[name](paths, given)


def _sorted_out(command: str, words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Tells paths from options, and checks both."""
    options = {option.name: option for option in _OPTIONS[command]}
    paths: list[str] = []
    flags: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            paths.append(word)
        elif equals or name not in options or options[name].type is bool:
            flags.append(word)
        elif (value := next(rest, None)) is not None:
            flags.append(f"--{name}={value}")
        else:
            raise ConfigError(f"--{name}: its value is missing")
    given = parse_flags(flags, options.values())
    expected, least, most = _WORDS[command]
    if len(paths) < least or (most is not None and len(paths) > most):
        told = " ".join(paths) or "none"
        raise ConfigError(f"tf-frame checkpoint {command} takes {expected}; given: {told}")
    if command == "rename" and not (given.get("rule") or given.get("drop")):
        raise ConfigError("tf-frame checkpoint rename takes --rule REGEX=REPLACEMENT, or --drop")
    return paths, given


@contextlib.contextmanager
def _patterns_noted() -> Iterator[None]:
    """Prints the warnings of patterns that match nothing as lines of their own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnmatchedPatternWarning)
        try:
            yield
        finally:
            for warning in caught:
                print(f"note: {warning.message}", file=sys.stderr)


def _list(paths: Sequence[str], given: Mapping[str, Any]) -> int:
    from tf_frame.checkpoint.find.contents import list_checkpoints

    entries = list_checkpoints(paths[0])
    _print(given, tables.entries_as_json(entries), lambda: tables.entries(entries, paths[0]))
    return EXIT_OK


def _show(paths: Sequence[str], given: Mapping[str, Any]) -> int:
    from tf_frame.checkpoint.find.contents import contents_of
    from tf_frame.checkpoint.find.path import resolve
    from tf_frame.checkpoint.find.reader import Checkpoint
    from tf_frame.checkpoint.warm_start.rules import parse_regex

    pattern = parse_regex("--filter", given["filter"]) if given.get("filter") else None
    checkpoint = Checkpoint(resolve(paths[0]))
    found = contents_of(checkpoint, pattern=pattern, values=bool(given.get("values")))
    step = checkpoint.global_step
    _print(
        given,
        tables.contents_as_json(checkpoint.path, step, found),
        lambda: tables.contents(checkpoint.path, step, found),
    )
    return EXIT_OK


def _diff(paths: Sequence[str], given: Mapping[str, Any]) -> int:
    from tf_frame.checkpoint.find.path import resolve
    from tf_frame.checkpoint.find.reader import Checkpoint
    from tf_frame.checkpoint.rewrite.difference import difference

    try:
        first, second = (Checkpoint(resolve(path)) for path in paths)
        found = difference(first, second)
    except CheckpointError as error:
        # Code 1 says that two checkpoints differ, and this is not known.
        raise ConfigError(str(error)) from error
    _print(
        given,
        tables.difference_as_json(found),
        lambda: tables.difference(first.path, second.path, found),
    )
    return EXIT_FAILED if found.any else EXIT_OK


def _rename(paths: Sequence[str], given: Mapping[str, Any]) -> int:
    from tf_frame.checkpoint.find.path import resolve
    from tf_frame.checkpoint.find.reader import Checkpoint
    from tf_frame.checkpoint.rewrite.rename import plan_rewriting

    rules, drop = given.get("rule", ()), given.get("drop", ())
    plan = plan_rewriting(
        Checkpoint(resolve(paths[0])),
        paths[1],
        rules=rules,
        drop=drop,
        overwrite=bool(given.get("overwrite")),
    )
    if not given.get("dry_run"):
        plan.write()
    report(tables.rewriting(plan, written=not given.get("dry_run")))
    return EXIT_OK


def _average(paths: Sequence[str], given: Mapping[str, Any]) -> int:
    from tf_frame.checkpoint.rewrite.average import average, sources_of

    new, *given_sources = paths
    sources = sources_of(given_sources, last=given.get("last"), but=new)
    averaged, taken = average(sources, new, overwrite=bool(given.get("overwrite")))
    report(
        f"wrote {new}, the mean of {len(sources)} checkpoints:\n"
        + "\n".join(f"  {source}" for source in sources)
        + f"\n{averaged} variables averaged, {taken} taken from the last"
    )
    return EXIT_OK


def _print(given: Mapping[str, Any], data: Any, text: Callable[[], str]) -> None:
    report(json.dumps(data, indent=2, allow_nan=False) if given.get("json") else text())
