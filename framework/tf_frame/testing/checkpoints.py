"""Checkpoints of a folder and the values in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def newest_step(model_dir: Path) -> int:
    """The step of the newest checkpoint of a folder, -1 without one."""
    names = [path.name for path in model_dir.glob("model.ckpt-*.index")]
    return max((int(re.findall(r"\d+", name)[0]) for name in names), default=-1)


def checkpoint_values(path: Path) -> dict[str, Any]:
    """Name -> value of all that a checkpoint holds."""
    import tensorflow.compat.v1 as tf

    reader = tf.train.load_checkpoint(str(path))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
