"""Measures what 8-bit integers cost: mean IoU of deeplab in float and as TensorFlow Lite in int8.

    python tools/bench/deeplab_int8.py [--seeds 1 2 3 4 5] [--presets default quantized] [--write]

Each seed trains the nuclei sample by `tf-frame run`, and is exported by `tf-frame export --format
tflite_int8`. The exported file is then run on the validation tiles. The default run has not learnt
to be rounded.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from command_line import frame
from figure_file import write_table

CLASSES = 2


def mean_iou_of_file(path: Path) -> float:
    """Returns the mean IoU of a TensorFlow Lite model on the validation tiles."""
    import tensorflow as tf

    from tf_frame import InputContext, Mode
    from tf_frame_deeplab.nuclei import Nuclei, Params

    run = tf.lite.Interpreter(str(path)).get_signature_runner("serving_default")
    confusion = np.zeros([CLASSES, CLASSES])
    tiles = Nuclei(params=Params()).dataset(Mode.EVAL, InputContext(batch_size=1))
    for features, labels in tiles.as_numpy_iterator():
        found = run(image=features["image"].astype(np.uint8))["semantic"]
        for known in range(CLASSES):
            of_class = found[labels["semantic"] == known]
            confusion[known] += np.bincount(of_class.ravel(), minlength=CLASSES)
    both = np.diag(confusion)
    return float(np.mean(both / (confusion.sum(0) + confusion.sum(1) - both)))


def measure(seed: int, options: Sequence[str], root: Path) -> tuple[float, float]:
    """Trains and exports; returns the mean IoU in float and in integers."""
    run, exported = root / "run", root / "int8"
    words = ["--plugin", "deeplab", "--model_dir", str(run), "--random_seed", str(seed)]
    frame("run", *words, *options)
    frame("export", str(run), "--format", "tflite_int8", "--output", str(exported))
    result = json.loads((run / "result.json").read_text())
    return result["metrics"]["mean_iou"], mean_iou_of_file(exported / "model.tflite")


def main() -> None:
    """Prints a line for each preset and seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--presets", nargs="+", default=["default"], help="default: no preset")
    parser.add_argument("--write", action="store_true", help="write docs/figures/deeplab_int8.json")
    argv = parser.parse_args()
    rows = []
    for preset in argv.presets:
        options = [] if preset == "default" else ["--preset", preset]
        pairs = []
        for seed in argv.seeds:
            with tempfile.TemporaryDirectory() as root:
                pairs.append(measure(seed, options, Path(root)))
            in_float, in_int8 = pairs[-1]
            figures = f"float {in_float:.4f}, int8 {in_int8:.4f}, {in_int8 - in_float:+.4f}"
            print(f"{preset}, seed {seed}: {figures}", flush=True)
        for kind, values in zip(
            ("in float", "as `tflite_int8`"), zip(*pairs, strict=True), strict=True
        ):
            rows.append([f"{preset}, {kind}", *(f"{value:.4f}" for value in values)])
    if argv.write:
        head = ["seed", *map(str, argv.seeds)]
        write_table(head, rows, code=["plugins/deeplab/src"])


if __name__ == "__main__":
    main()
