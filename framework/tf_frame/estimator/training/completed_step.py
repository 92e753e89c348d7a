"""Where the last training ended in order: the next one begins its input anew.

Each call of tf.estimator's `train` read its input from the beginning, and
scripts train epoch by epoch in this way. A training that was killed has not
ended: the next one goes on in the input where the checkpoint was saved.
"""

from __future__ import annotations

import os

from tf_frame.atomic_output import write_file

_FILE = "training_ended_at"


def completed_step(model_dir: str) -> int | None:
    """The global step at which a training of this folder ended in order last; None for never."""
    try:
        with open(os.path.join(model_dir, _FILE), encoding="utf-8") as file:
            text = file.read().strip()
    except FileNotFoundError:
        return None
    return int(text) if text.isdigit() else None


def write_completed_step(model_dir: str, step: int) -> None:
    """Notes that a training has ended in order.

    Args:
      model_dir: the folder; it exists.
      step: its global step.
    """
    write_file(os.path.join(model_dir, _FILE), f"{step}\n")
