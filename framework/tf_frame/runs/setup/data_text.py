"""Formats a `DataReport`: a few lines at the start of a run, a page for `--print_data`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tf_frame.errors import DataError
from tf_frame.plugin import DataReport, Mode, SplitReport
from tf_frame.plugin.data_warnings import find_data_report
from tf_frame.text import columns, printable

_SPLITS = {Mode.TRAIN: "training", Mode.EVAL: "evaluation"}
_SHOWN, _REASONS = 5, 3
# Shares of such units are told, since nobody counts them.
_BY_SHARE = "pixels"
# A unit with more classes than a line holds.
_MANY = "characters"


def data_lines(report: DataReport, notes: Sequence[str] = ()) -> list[str]:
    """Returns the short form: lines for each split, files that nothing uses, warnings.

    Args:
      report: of the data.
      notes: of the input, which have been shown; files that they name are not named again.
    """
    lines = []
    for mode, split in report.splits.items():
        if split.counts is not None or split.sizes:
            lines.append(f"{_SPLITS[mode]} data: {', '.join(_split_facts(report, split))}")
        if split.left_out:
            reasons = [f"{count}: {reason}" for reason, count in split.left_out.items()]
            count = sum(split.left_out.values())
            lines.append(
                f"left out of the {_SPLITS[mode]} data: {count} ({_some(reasons, _REASONS, '; ')})"
            )
    words = {word.strip(",;:") for note in notes for word in note.split()}
    unused = [name for name in report.unused if name not in words]
    if unused:
        lines.append(f"not used: {_some(unused)}")
    return [*map(printable, lines), *warning_lines(report)]


def evaluation_lines(source: Any) -> list[str]:
    """Returns the notes of an input, and the short form of its evaluation data."""
    # An input need not inherit from `Input`.
    notes = [f"note: {note}" for note in getattr(source, "notes", tuple)()]
    data = find_data_report(source)
    if Mode.EVAL not in data.splits:
        return notes
    evaluated = DataReport(splits={Mode.EVAL: data.splits[Mode.EVAL]}, unit=data.unit)
    return [*notes, *data_lines(evaluated)]


def warning_lines(report: DataReport) -> list[str]:
    """Returns a line for each warning."""
    return [printable(f"warning: {warning}") for warning in report.warnings]


def refuse_warnings(report: DataReport) -> None:
    """Raises an error for the first warning, because `--strict` is set.

    Raises:
      DataError: there is a warning.
    """
    if report.warnings:
        more = len(report.warnings) - 1
        raise DataError(
            f"{report.warnings[0]}{f' ({more} more warnings)' if more else ''} (an error because "
            "of --strict)"
        )


def data_page(report: DataReport) -> str:
    """Returns the long form: places, sizes, every class, each reason, warnings."""
    parts = [_overview(report)]
    counts = {
        mode: split.counts for mode, split in report.splits.items() if split.counts is not None
    }
    if counts:
        parts.append(_class_table(report, counts))
    for mode, split in report.splits.items():
        if split.left_out:
            rows = [(str(count), reason) for reason, count in split.left_out.items()]
            parts.append(f"left out of the {_SPLITS[mode]} data\n{columns(rows, right={0})}")
    if report.unused:
        parts.append("not used\n" + "\n".join(f"  {printable(name)}" for name in report.unused))
    parts += [
        f"note: counts of the {_SPLITS[mode]} data are of {split.counted} examples"
        for mode, split in report.splits.items()
        if split.counted is not None
    ]
    parts += [f"note: {remark}" for remark in report.remarks]
    return "\n".join([*parts, *(warning_lines(report) or ["no warning"])])


def _overview(report: DataReport) -> str:
    rows: list[tuple[str, ...]] = [("", "examples", "smallest (h x w)", "median", "largest")]
    for mode, split in report.splits.items():
        sizes = [_size(size) for size in split.sizes] or [""] * 3
        count = "unknown" if split.examples is None else str(split.examples)
        rows.append((_SPLITS[mode], count, *sizes))
        # A long path in a column would leave no room for the others.
        rows += [(f"    {printable(split.place)}",)] if split.place else []
    return columns(rows, right={1})


def _class_table(report: DataReport, counts: Mapping[Mode, Mapping[str, int]]) -> str:
    names = list(dict.fromkeys(name for split in counts.values() for name in split))
    rows = [(report.unit, *(_SPLITS[mode] for mode in counts))]
    rows += [
        (printable(name), *(str(split.get(name, 0)) for split in counts.values())) for name in names
    ]
    void = [report.splits[mode].without_label for mode in counts]
    if any(void):
        rows.append(("(ignored)", *map(str, void)))
    return columns(rows, right=set(range(1, len(rows[0]))))


def _split_facts(report: DataReport, split: SplitReport) -> Iterator[str]:
    """Yields the facts about a split for its line."""
    if split.sizes:
        least, median, most = map(_size, split.sizes)
        yield f"{median} pixels" if least == most else f"{least} to {most} pixels"
    if split.counts:
        yield from _count_facts(report.unit, split)


def _count_facts(unit: str, split: SplitReport) -> Iterator[str]:
    counts = split.counts or {}
    ordered = sorted(counts, key=lambda name: -counts[name])
    total = sum(counts.values()) + split.without_label
    present = [f"{name} {_amount(counts[name], total, unit)}" for name in ordered if counts[name]]
    if split.without_label:
        present.append(f"ignored {_amount(split.without_label, total, unit)}")
    label = "" if unit == "examples" else f"{unit}: "
    if unit == _MANY:
        yield f"{total} {unit} of {len(present)} kinds"
    else:
        yield f"{label}{_some(present)}" if present else f"no {unit}"
    absent = [name for name in counts if not counts[name]]
    if absent and present:
        yield f"none of {_some(absent)}"
    if split.counted is not None:
        yield f"counted in {split.counted} of {split.examples} examples"


def _amount(count: int, total: int, unit: str) -> str:
    return f"{100 * count / max(total, 1):.1f}%" if unit == _BY_SHARE else str(count)


def _size(size: Sequence[int]) -> str:
    return " x ".join(map(str, size))


def _some(names: Sequence[str], shown: int = _SHOWN, separator: str = ", ") -> str:
    more = len(names) - shown
    return separator.join(names[:shown]) + (f" and {more} more" if more > 0 else "")
