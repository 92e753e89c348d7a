"""Measures the quality of detection on its embedded data, over several seeds.

    python tools/bench/detection_quality.py [--seeds 1 2 3 4 5] [--jobs trees nuclei_rotated ...]
        [--write]

Each job and seed is a `tf-frame run`; a line gives its figures and the seconds that it took. The
detector of upright boxes on nuclei stands for one without an angle: its boxes are also
compared with the rotated ones, by which its longer sides have an error of their angle.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
from command_line import frame
from figure_file import write_table

UPRIGHT = "nuclei_upright"
JOBS: Mapping[str, Sequence[str]] = {
    "trees": (),
    "trees_by_plot": ("--input.divide_by", "plot"),
    "trees_ssd": ("--model.name", "ssd"),
    "nuclei_rotated": ("--model.name", "rotated_retinanet"),
    UPRIGHT: ("--input", "nuclei_boxes"),
}
FIGURES = ("ap50", "ap", "angle_error")


def measure(job: str, seed: int, root: Path) -> dict[str, float]:
    """Trains and evaluates; returns figures, and the seconds of the run."""
    run = str(root / "run")
    frame(
        *("run", "--plugin", "detection", "--model_dir", run, "--random_seed", str(seed)),
        *JOBS[job],
    )
    result = json.loads((root / "run" / "result.json").read_text())
    figures = {name: value for name, value in result["metrics"].items() if name in FIGURES}
    if job == UPRIGHT:
        frame("predict", run, "--output", str(root / "found"))
        found = json.loads((root / "found" / "detections.json").read_text())
        figures |= {f"rotated_{name}": value for name, value in against_rotated(found).items()}
    return {**figures, "seconds": result["duration_secs"]}


def against_rotated(found: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Returns the figures of upright detections against the rotated boxes of the tiles."""
    from tf_frame import InputContext, Mode
    from tf_frame_detection.evaluation.figures import Figures
    from tf_frame_detection.evaluation.images import Found, Image, Truth
    from tf_frame_detection.inputs.nuclei_boxes import NucleiBoxes, Params

    tiles = NucleiBoxes(params=Params(rotated=True))
    images = []
    for features, labels in tiles.dataset(
        Mode.EVAL, InputContext(batch_size=1)
    ).as_numpy_iterator():
        truth = [labels[name][0] for name in ("rotated_boxes", "classes", "ignored", "crowd")]
        name = features["name"][0].decode()
        of_tile = [each for each in found if each["image_id"] == name]
        boxes = np.array([upright(each["bbox"]) for each in of_tile]).reshape(-1, 5)
        scores = np.array([each["score"] for each in of_tile])
        classes = np.zeros(len(of_tile), np.int32)
        images.append(Image(Truth(*truth), Found(boxes, scores, classes)))
    figures = Figures(class_names=["Nucleus"], rotated=True).compute(images)
    return {name: figures[name] for name in FIGURES}


def upright(box: Sequence[float]) -> tuple[float, ...]:
    """Returns a box of COCO, left, upper, width, height, as a rotated one along its longer side."""
    left, upper, width, height = box
    angle = 0.0 if width >= height else -np.pi / 2
    return (upper + height / 2, left + width / 2, min(width, height), max(width, height), angle)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the figures of each job and seed, and their medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument(
        "--write", action="store_true", help="write docs/figures/detection_quality.json"
    )
    options = parser.parse_args(arguments)
    rows = []
    for job in options.jobs:
        measured = []
        for seed in options.seeds:
            with tempfile.TemporaryDirectory() as folder:
                measured.append(measure(job, seed, Path(folder)))
            print_line(job, f"seed {seed}", measured[-1])
        medians = {name: median(m[name] for m in measured) for name in measured[0]}
        print_line(job, "median", medians)
        secs = [m["seconds"] for m in measured]
        cells = [" ".join(f"{m['ap50']:.3f}" for m in measured)]
        cells += [f"{medians['ap50']:.3f}", f"{medians['ap']:.3f}"]
        rows.append([job, *cells, f"{min(secs):.0f} to {max(secs):.0f}"])
    if options.write:
        head = ["data", "AP50 of each seed", "median", "AP", "seconds"]
        write_table(head, rows, code=["plugins/detection/src"])


def print_line(job: str, what: str, figures: Mapping[str, float]) -> None:
    """Prints figures in one line."""
    values = "  ".join(f"{name} {value:.3f}" for name, value in figures.items())
    print(f"{job:15} {what:7} {values}", flush=True)


if __name__ == "__main__":
    main()
