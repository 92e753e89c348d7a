"""Checkpoints of a folder and the values in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tf_frame.checkpoint.names import INDEX, checkpoint_prefix, step_in_path


def newest_step(model_dir: Path) -> int:
    """Returns the step of the newest checkpoint of a folder; -1 without one."""
    steps = [step_in_path(checkpoint_prefix(path.name)) for path in model_dir.glob(f"*{INDEX}")]
    return max((step for step in steps if step is not None), default=-1)


def checkpoint_values(path: Path | str) -> dict[str, Any]:
    """Returns name -> value of everything in a checkpoint."""
    import tensorflow.compat.v1 as tf

    reader = tf.train.load_checkpoint(str(path))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
