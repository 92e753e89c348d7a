"""Measures what `--recompute` saves of the memory of a step, and what it costs.

    python tools/bench/recompute.py [--batch 16] [--secs 60] [--scopes SCOPE,SCOPE ...] [--write]

resnet_v1_50 with images of 224 x 224. The peak of memory is that of a recorded step, besides the
variables; the steps take turns with those of the training as it is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from figure_file import write_table

from tf_frame.experiments.compare import compare
from tf_frame.experiments.trial import Trial

_SCOPES = (
    "resnet_v1_50/block1,resnet_v1_50/block2",
    "resnet_v1_50/block1,resnet_v1_50/block2,resnet_v1_50/block3",
)


def peak_bytes(words: Sequence[str]) -> int:
    """Returns the peak of memory of a step."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tf_frame", "profile", *words]
        command += ["--model_dir", folder, "--steps", "3", "--warmup", "2", "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return max(int(row["peak_bytes"]) for row in json.loads(done.stdout)["memory"])


def main() -> None:
    """Prints a row for each set of scopes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=16, help="images of a batch")
    parser.add_argument("--secs", type=float, default=60, help="seconds of turns of a row")
    parser.add_argument("--scopes", nargs="*", default=_SCOPES, help="scopes of each row")
    parser.add_argument("--write", action="store_true", help="write docs/figures/recompute.json")
    argv = parser.parse_args()
    words = ["--plugin", "classification", "--model.name", "resnet_v1_50"]
    words += ["--train_batch_size", str(argv.batch), "--save_summaries_steps", "0"]
    plain = peak_bytes(words)
    print(f"as it is: {plain / 2**20:.0f} MiB", flush=True)
    rows = []
    for scopes in argv.scopes:
        changed = [*words, f"--recompute={scopes}"]
        peak = peak_bytes(changed)
        with Trial(words) as baseline, Trial(changed) as variant:
            comparison = compare(baseline, variant, secs=argv.secs)
        less, speed = f"{peak / 2**20:.0f} MiB, {1 - peak / plain:.0%} less", str(comparison.ratio)
        print(f"{less}; speed {speed}, {comparison.losses}  [{scopes}]", flush=True)
        rows.append([f"`{scopes}`", str(argv.batch), f"{plain / 2**20:.0f} MiB", less, speed])
    if argv.write:
        head = ["`--recompute`", "images", "peak before", "with it", "speed"]
        code = ["framework/tf_frame/graph/update/recompute.py"]
        write_table(head, rows, code=code, table=str(argv.batch))


if __name__ == "__main__":
    main()
