"""Measures the further heads of deeplab on its sample: `--preset panoptic` and `--preset edge`.

    python tools/bench/deeplab_heads.py [--presets panoptic edge] [--seeds 1 2 3 4 5] [--write]

Each preset and seed is a `tf-frame run`; a line gives its figures on the validation tiles.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from command_line import frame
from figure_file import write_table

METRICS = {
    "panoptic": ("pq", "pq_components", "mean_iou"),
    "edge": ("mean_iou", "edge_f_score"),
}


def measure(preset: str, seed: int) -> list[str]:
    """Trains and evaluates; returns the figures."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--plugin", "deeplab", "--preset", preset, "--random_seed", str(seed)]
        frame("run", *words, "--model_dir", f"{folder}/run")
        result = json.loads(Path(folder, "run", "result.json").read_text())
    return [f"{result['metrics'][name]:.3f}" for name in METRICS[preset]]


def main() -> None:
    """Prints a line for each preset and seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="+", choices=METRICS, default=list(METRICS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument(
        "--write", action="store_true", help="write docs/figures/deeplab_heads.json"
    )
    argv = parser.parse_args()
    for preset in argv.presets:
        columns = []
        for seed in argv.seeds:
            columns.append(measure(preset, seed))
            found = zip(METRICS[preset], columns[-1], strict=True)
            print(preset, f"seed {seed}", *(f"{name} {value}" for name, value in found), flush=True)
        if argv.write:
            rows = [
                (f"`{name}`", *values)
                for name, values in zip(METRICS[preset], zip(*columns, strict=True), strict=True)
            ]
            head = ["seed", *map(str, argv.seeds)]
            write_table(head, rows, code=["plugins/deeplab/src"], table=preset)


if __name__ == "__main__":
    main()
