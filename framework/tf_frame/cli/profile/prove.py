"""Tries the option changes that the hints of a profile stand for: `tf-frame profile --prove`.

Each change is tried alone, in turns with the training as it is; a gain counts only if two more
processes show it again, and these give the figure. What helped is then tried together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tf_frame.atomic_output import write_file
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.screen import report
from tf_frame.config.yaml_file import to_yaml
from tf_frame.experiments.compare import Comparison, Verdict, compare
from tf_frame.experiments.trial import Trial, TrialError
from tf_frame.experiments.variant import Variant
from tf_frame.profiling.report.contents import TOGETHER, Hint, Proof
from tf_frame.profiling.report.graph_hints import INPUT_PROBE
from tf_frame.profiling.report.proofs import (
    FAILED,
    FASTER,
    proof_text,
    write_proofs,
)
from tf_frame.session.interrupts import Interrupts
from tf_frame.shell_text import shell_word

_FILE = "proved.yaml"
# The cause of the proof that shows the cost of an input without a hint.
_INPUT = "the input"
_OTHER_BATCH = "batches of another size, so that losses cannot be compared"


def prove(
    words: Sequence[str], hints: Sequence[Hint], *, model_dir: str, run: str, secs: float
) -> None:
    """Tries the hints' changes, reports and keeps the results, and writes `proved.yaml`.

    Args:
      words: the words of `tf-frame run` for the training as it is.
      hints: the hints of the profile.
      model_dir, run: the folder and the name of the profile.
      secs: time of the turns of each trial.
    """
    kept = f"stopped; the profile is kept: tf-frame profile show {shell_word(model_dir)}"
    with Interrupts().raising(kept):
        proofs = list(_try_all(words, hints, secs))
    write_proofs(model_dir, run, proofs)
    best = [p for p in proofs if p.verdict == FASTER and not p.is_probe]
    if not best:
        report("\nno change of an option is proved to help")
        return
    proof = max(best, key=_ratio)
    path = os.path.join(model_dir, _FILE)
    write_file(path, _configuration(words, proof))
    report(f"\ntrain with what is proved: tf-frame run --config {shell_word(path)}")


def _ratio(proof: Proof) -> float:
    return proof.ratio or 0.0


def _try_all(words: Sequence[str], hints: Sequence[Hint], secs: float) -> Iterator[Proof]:
    """Yields the proofs of the hints' changes, each alone, and of all that helped together."""
    report(
        "\nTrying what the hints stand for, in turns with the training as it is: up to "
        f"{secs:.0f} s each, and once more if it helps"
    )
    helped: list[Proof] = []
    is_probed = False
    for hint in hints:
        if not (hint.changes or hint.probe):
            report(f"  {hint.cause}: not tried, for only you can change it")
        # What a cause costs is worth a trial only where no option removes it.
        for changes in filter(None, (hint.changes, hint.probe)):
            is_probed |= changes == INPUT_PROBE
            proof = _try(words, hint.cause, changes, secs, is_probe=changes is hint.probe)
            yield proof
            if proof.verdict == FASTER:
                helped += [] if proof.is_probe else [proof]
                break
    if not is_probed:
        # The operations of a step do not show the work of the input in other threads.
        yield _try(words, _INPUT, INPUT_PROBE, secs, is_probe=True)
    if len(helped) > 1:
        changes = {name: value for proof in helped for name, value in proof.changes.items()}
        yield _try(words, TOGETHER, changes, secs)


def _try(
    words: Sequence[str],
    cause: str,
    changes: Mapping[str, str],
    secs: float,
    *,
    is_probe: bool = False,
) -> Proof:
    """Tries changes, and reports the result."""
    facts: dict[str, Any] = {"cause": cause, "changes": dict(changes), "is_probe": is_probe}
    try:
        comparison = _compare(words, Variant(changes), secs)
        if comparison.verdict == Verdict.FASTER:
            # The first figure made us look at this change; only the second is free of chance.
            comparison = _compare(words, Variant(changes), secs)
    except TrialError as error:
        proof = Proof(**facts, verdict=FAILED, error=str(error))
    else:
        proof = Proof(
            **facts,
            verdict=comparison.verdict.value,
            **(comparison.ratio._asdict() if comparison.has_figure else {}),
            losses=str(comparison.losses or _OTHER_BATCH),
            secs=comparison.secs,
        )
    report(f"  {cause}: {proof_text(proof)}")
    return proof


def _compare(words: Sequence[str], variant: Variant, secs: float) -> Comparison:
    with Trial(words) as baseline, Trial(variant.words(words)) as changed:
        return compare(baseline, changed, secs=secs)


def _configuration(words: Sequence[str], proof: Proof) -> str:
    setup = parse_command_line(Variant(proof.changes).words(words)).setup()
    return to_yaml(setup.settings(), f"tf-frame profile --prove: {proof_text(proof)}")
