"""`tf-frame tune`: finds what makes a training faster on this machine, and proves it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tf_frame.atomic_output import write_file
from tf_frame.cli.run import with_flag
from tf_frame.command_line import option_help
from tf_frame.command_line.environment import start_again_with
from tf_frame.command_line.output_file import check_file
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.screen import report, report_help
from tf_frame.config.flags import split_flags
from tf_frame.config.option import Option
from tf_frame.config.yaml_file import to_yaml
from tf_frame.errors import EXIT_OK, EXIT_USAGE
from tf_frame.experiments.candidates import Candidate, find_candidates
from tf_frame.experiments.compare import Comparison, Verdict, compare
from tf_frame.experiments.trial import Trial, TrialError
from tf_frame.experiments.variant import Variant
from tf_frame.profiling.machine_peak import own_machine
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.session.interrupts import Interrupts
from tf_frame.shell_text import shell_word

USAGE = """usage: tf-frame tune --plugin NAME [--time SECS] [OPTIONS]

Tries what often makes a training faster on a machine: allocators, threads, several steps per call,
XLA. Each change takes turns with the training as it is; two new processes prove the result, which
is written to a file for tf-frame run --config. Takes the options of tf-frame run (tf-frame run
--plugin NAME --help); nothing is kept of the trainings."""
_TIME = Option("time", float, 300, "seconds for all trials", min=10)
_OUTPUT = Option("output", str, "tuned.yaml", "the file to write")
_OTHER_NUMBERS = Option(
    "allow_other_numbers",
    bool,
    False,
    "also try what computes other numbers: bfloat16, no oneDNN, other layouts",
)
OPTIONS = (_TIME, _OUTPUT, _OTHER_NUMBERS)
# Part of the time for the proof at the end.
_FOR_PROOF = 0.25
# A candidate has turns for at least this time.
_LEAST_SECS = 8.0


class _Result(NamedTuple):
    candidate: Candidate
    comparison: Comparison


def main(argv: Sequence[str]) -> int:
    """Tunes, and returns the exit code."""
    if not argv or any(word in ("-h", "--help") for word in argv):
        report_help(f"{USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK if argv else EXIT_USAGE
    argv = with_flag(argv)
    line = parse_command_line(argv, OPTIONS)
    setup, values = line.setup(), line.own_values
    output = values[_OUTPUT.name]
    check_file(output, "--output")
    start_again_with(setup.config.environment, module="tf_frame", words=["tune", *argv])
    _, words = split_flags(argv, OPTIONS)
    report(f"{own_machine()}: tries changes for {values[_TIME.name]:.0f} s, in turns")
    with Interrupts().raising("stopped; nothing is written"):
        variant, text = _tune(words, _candidates(setup, values), values)
    if variant is None:
        report(f"\n{text}; the defaults stay, and no file is written")
        return EXIT_OK
    tuned = parse_command_line(variant.words(words)).setup()
    write_file(
        os.path.expanduser(output),
        to_yaml(tuned.settings(), f"tf-frame tune on {own_machine()}: {text}"),
    )
    report(f"\nproved by two new processes: {text}")
    report(f"train with it: tf-frame run --config {shell_word(output)}")
    return EXIT_OK


def _candidates(setup: TrainingSetup, values: Mapping[str, Any]) -> list[Candidate]:
    cores = len(os.sched_getaffinity(0))
    return [
        candidate
        for candidate in find_candidates(setup.settings().values, cores=cores)
        if candidate.same_numbers or values[_OTHER_NUMBERS.name]
    ]


def _tune(
    words: Sequence[str], candidates: Sequence[Candidate], values: Mapping[str, Any]
) -> tuple[Variant | None, str]:
    """Returns the proved changes, or None, and the figure in words."""
    proof_secs = _FOR_PROOF * values[_TIME.name]
    until = time.monotonic() + values[_TIME.name] - proof_secs
    helped = list(_try_all(words, candidates, until, allow=values[_OTHER_NUMBERS.name]))
    if not helped:
        return None, "nothing is faster"
    best = _best_of_each_kind(helped)
    for variant in [_together(best), best[0].candidate.variant][: len(best)]:
        with Trial(words) as baseline, Trial(variant.words(words)) as changed:
            comparison = compare(baseline, changed, secs=proof_secs)
        text = f"{comparison.ratio}, {comparison.losses}  [{variant}]"
        if comparison.verdict == Verdict.FASTER:
            return variant, text
        report(f"  not proved: {text}")
    return None, "nothing is proved to be faster"


def _try_all(
    words: Sequence[str], candidates: Sequence[Candidate], until: float, *, allow: bool
) -> Iterator[_Result]:
    """Tries the candidates, each in turns with the training as it is; yields those that helped."""
    start_secs = 0.0
    with Trial(words) as baseline:
        for number, candidate in enumerate(candidates):
            began = time.monotonic()
            if began > until:
                left = ", ".join(str(each.variant) for each in candidates[number:])
                report(f"  the time is over (--time); not tried: {left}")
                return
            secs = (until - began) / (len(candidates) - number) - start_secs
            comparison = _try(baseline, words, candidate.variant, max(secs, _LEAST_SECS))
            if comparison is None:
                continue
            start_secs = time.monotonic() - began - comparison.secs
            is_allowed = allow or (comparison.losses is not None and comparison.losses.are_equal)
            if comparison.verdict == Verdict.FASTER and is_allowed:
                yield _Result(candidate, comparison)


def _try(baseline: Trial, words: Sequence[str], variant: Variant, secs: float) -> Comparison | None:
    """Compares a variant with the open baseline, and reports it; None if it cannot train."""
    try:
        with Trial(variant.words(words)) as changed:
            comparison = compare(baseline, changed, secs=secs)
    except TrialError as error:
        if not baseline.is_running:
            raise
        report(f"  {variant}: cannot train: {error}")
        return None
    figure = "the machine is too noisy for a figure"
    if comparison.has_figure:
        figure = f"{comparison.verdict.value}: {comparison.ratio}, {comparison.losses}"
    report(f"  {variant}: {figure}")
    return comparison


def _best_of_each_kind(results: Sequence[_Result]) -> list[_Result]:
    """Returns the fastest of the candidates that exclude each other, the fastest of all first."""
    fastest = sorted(results, key=lambda result: -result.comparison.ratio.ratio)
    best: dict[str, _Result] = {}
    for result in fastest:
        best.setdefault(result.candidate.kind, result)
    return list(best.values())


def _together(results: Sequence[_Result]) -> Variant:
    variant = Variant()
    for result in results:
        variant |= result.candidate.variant
    return variant
