"""Variables that a fine-tuning restores: those of a detection model, or of the backbone alone.

As `fine_tune_checkpoint_type` and `restore_map` of the object detection API (tensorflow/models,
research/object_detection, protos/train.proto and meta_architectures/ssd_meta_arch.py): names
decide by their beginnings; variables of the checkpoint with the same shape are restored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.networks.detector import FEATURES
from tf_frame_detection.options import DETECTION

# Layers between backbone and predictors: `fpn/...`, `layer_19_2_Conv2d_3_3x3_s2_256/...`.
_ADDED = re.compile(rf"{FEATURES}/[^/]+/(fpn|[^/]+_[12]_Conv2d_\d[^/]*)/")


def restore_options(
    kind: str, checkpoint: Collection[str], *, load_all: bool = True
) -> Mapping[str, Any]:
    """Returns options of a warm start for the variables of the default graph.

    Args:
      kind: `detection` or `classification`.
      checkpoint: names in the checkpoint. For classification a name without the scope
        `FeatureExtractor` is that of a classifier; without any, the checkpoint is taken for
        one of a detection model.
      load_all: whether the type detection restores the box predictors, too.
    """
    lenient = {"warm_start_ignore_missing": True, "warm_start_skip_mismatched": True}
    if kind == DETECTION:
        return lenient if load_all else {**lenient, "warm_start_include": (f"{FEATURES}/",)}
    names = [variable.op.name for variable in tf.global_variables()]
    added = {found.group() for name in names if (found := _ADDED.match(name))}
    backbone = [n for n in names if n.startswith(f"{FEATURES}/") and not _ADDED.match(n)]
    is_classifier = any(name.removeprefix(f"{FEATURES}/") in checkpoint for name in backbone)
    return {
        **lenient,
        "warm_start_include": (f"{FEATURES}/",),
        "warm_start_exclude": tuple(sorted(added)),
        "warm_start_map": (rf"{FEATURES}/(.*)=\1",) if is_classifier else (),
    }
