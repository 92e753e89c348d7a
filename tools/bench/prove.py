"""Measures whether `tf-frame profile --prove` names planted causes of slow steps, and proves them.

    python tools/bench/prove.py [--only NAME] [--secs 20] [--healthy 20]

planted: trainings of three plugins, each with one cause. A cause counts as named if the first hint
has it, and as proved if its change is; where only the user can remove a cause, the proof shows
what it costs.

healthy: trainings without a planted cause, of three plugins. Nothing may be proved; `equal` are
turns of two processes that train the same, which no hint asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.experiments.compare import compare
from tf_frame.experiments.trial import Trial
from tf_frame.testing.distributions import write_distribution

_DENSE = ("--plugin", "densenet", "--train_batch_size", "256")
_PLANTED: Mapping[str, tuple[str, Sequence[str]]] = {
    "input that sleeps": ("slow_input", (*_DENSE, "--input.sleeps")),
    "hook that sleeps": ("slow_hook", ("--plugin", "recognition", "--hook", "sleeper")),
    "clone that sleeps": (
        "slow_clone",
        (*_DENSE, "--num_clones", "2", "--model.slow_clone", "sleep"),
    ),
    "clone with more layers": (
        "slow_clone",
        (*_DENSE, "--num_clones", "2", "--model.slow_clone", "layers"),
    ),
    "histograms at every step": (
        "summaries_every_step",
        (*_DENSE, "--model.histograms", "--save_summaries_steps", "1"),
    ),
    "checkpoints at every step": (
        "frequent_checkpoints",
        ("--plugin", "recognition", "--save_checkpoint_steps", "1"),
    ),
    "one thread": (
        "few_threads",
        (*_DENSE, "--model.width", "1024", "--intra_op_threads", "1", "--inter_op_threads", "1"),
    ),
    "decoding that is not cached": ("slow_input", (*_DENSE, "--input.images")),
    "batch of one": (
        "small_steps",
        (
            *("--plugin", "densenet", "--model.width", "8", "--train_batch_size", "1"),
            *("--overfit_batches", "1"),
        ),
    ),
    "summaries of gradients": (
        "summaries_every_step",
        ("--plugin", "classification", "--summarize_gradients", "--save_summaries_steps", "2"),
    ),
    "copies between layouts": (
        "layout_copies",
        (*_DENSE, "--model.convolutions", "4", "--model.data_format", "NCHW"),
    ),
    "timeline of every step": (
        "slow_hook",
        ("--plugin", "classification", "--trace_every_n_steps", "1"),
    ),
}
_HEALTHY = ("classification", "recognition", "densenet")


def _install(folder: Path) -> None:
    """Installs the plugins for this process and those that it starts."""
    classes = {"models: densenet": "DenseNet", "inputs: numbers": "Numbers"}
    classes["hooks: sleeper"] = "Sleeper"
    targets = {f"tf_frame.{kind}": f"prove_plugins:{cls}" for kind, cls in classes.items()}
    write_distribution(folder, "prove-plugins", targets)
    shutil.copy(Path(__file__).with_name("prove_plugins.py"), folder)
    os.environ["PYTHONPATH"] = str(folder)


def _profile(words: Sequence[str], secs: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tf_frame", "profile", *words, "--model_dir", folder]
        command += ["--prove", "--prove_secs", str(secs), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _result(proof: Mapping[str, Any]) -> str:
    figures = "" if proof["ratio"] is None else f" {proof['ratio']:.2f}x"
    if figures:
        figures += f" ({proof['low']:.2f} to {proof['high']:.2f})"
    kind = "what it costs: " if proof["is_probe"] else ""
    changes = " ".join(f"--{name}={value}" for name, value in proof["changes"].items())
    return f"{kind}{proof['verdict']}{figures}, {proof['losses'] or proof['error']} [{changes}]"


def planted(only: str, secs: float) -> None:
    """Prints a row for each planted cause, and how many were named and proved."""
    rows = {name: row for name, row in _PLANTED.items() if only in name}
    right = 0
    for name, (cause, words) in rows.items():
        began = time.monotonic()
        report = _profile(words, secs)
        named = [hint["cause"] for hint in report["hints"]]
        proofs = {proof["cause"]: proof for proof in report["proofs"]}
        proof = proofs.get(cause)
        is_right = named[:1] == [cause] and proof is not None and proof["verdict"] == "faster"
        right += is_right
        print(
            f"{'yes' if is_right else 'NO':<4}{name:<28}{', '.join(named):<40} "
            f"{_result(proof) if proof else '-'}  {time.monotonic() - began:.0f} s",
            flush=True,
        )
    print(f"{right} of {len(rows)} named first and proved\n")


def healthy(count: int, secs: float) -> None:
    """Prints the claims about trainings without a planted cause, and about equal processes."""
    for words in _words_of_plugins(count):
        report = _profile(words, secs)
        hints = [hint["cause"] for hint in report["hints"]]
        results = [f"{proof['cause']}: {_result(proof)}" for proof in report["proofs"]]
        print(
            f"healthy {words[1]:<16}hints {hints}  {'; '.join(results) or 'no claim'}", flush=True
        )
    for words in _words_of_plugins(count):
        with Trial(words) as one, Trial(words) as other:
            comparison = compare(one, other, secs=secs)
        print(f"equal   {words[1]:<16}{comparison.verdict.value} {comparison.ratio}", flush=True)


def _words_of_plugins(count: int) -> Iterator[list[str]]:
    for number in range(count):
        yield ["--plugin", _HEALTHY[number % len(_HEALTHY)]]


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only causes whose name has this in it")
    parser.add_argument("--secs", type=float, default=20, help="seconds of turns of each trial")
    parser.add_argument("--healthy", type=int, default=20, help="runs without a cause")
    argv = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _install(Path(folder))
        planted(argv.only, argv.secs)
        healthy(argv.healthy, argv.secs)


if __name__ == "__main__":
    main()
