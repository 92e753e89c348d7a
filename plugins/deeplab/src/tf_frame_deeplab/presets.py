"""Presets of the model `deeplab`: whole configurations for `tf-frame run --preset NAME`.

Presets of the sample are for two CPU cores. Presets of data sets follow the commands in
research/deeplab/g3doc of tensorflow/models (pascal.md, cityscapes.md, ade20k.md): backbone, rates
of the pyramid, strides, crops, steps. These commands demonstrate with batches of 1 and 4. The
batches of 16 and the learning rate of 0.007 follow the comments at the flags `train_batch_size` and
`base_learning_rate` in its train.py, for training with batch norm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tf_frame_deeplab import heads


def _published(dataset: str, *, steps: int, crop: int, **input_options: Any) -> Mapping[str, Any]:
    return {
        "input": {
            "name": "segmentation_tfrecord",
            "dataset": dataset,
            "crop_size": [crop],
            **input_options,
        },
        "model": {
            "backbone": "xception_65",
            "atrous_rates": [6, 12, 18],
            "aspp_channels": 256,
            "decoder_channels": 256,
            "batch_norm_decay": 0.9997,
            "align_corners": True,
        },
        "max_steps": steps,
        "train_batch_size": 16,
        "eval_batch_size": 1,
        "learning_rate": 0.007,
        "warmup_steps": 0,
        "save_checkpoint_steps": 1000,
        "log_every_n_steps": 10,
    }


PRESETS: Mapping[str, Mapping[str, Any]] = {
    # With momentum the loss of the heat map grows without bounds from a learning rate of 0.1 on.
    "panoptic": {
        "model": {"heads": [heads.SEMANTIC, heads.CENTER, heads.OFFSET]},
        "optimizer": {"name": "adam"},
        "learning_rate": 0.003,
        "max_steps": 800,
    },
    # Edges of three pixels are lost in a decoder that ends at stride 4.
    "edge": {
        "model": {"heads": [heads.SEMANTIC, heads.EDGE], "decoder_output_stride": [4, 2]},
        "max_steps": 400,
    },
    # Losses and statistics as in the trainer with towers; see docs/training/older_trainers.md.
    "tower": {
        "num_clones": 2,
        "regularization": "scaled",
        "total_loss": "sum",
        "update_ops": "all_clones",
        "allow_inexact_resume": True,
        "log_every_n_steps": 10,
    },
    # Rounding costs accuracy before the moving variances have settled, and with greater steps.
    "quantized": {"quantize_delay_step": 300, "max_steps": 500, "learning_rate": 0.1},
    "deeplab_voc": _published("voc", steps=30000, crop=513, eval_crop_size=[513]),
    "deeplab_cityscapes": _published(
        "cityscapes", steps=90000, crop=769, eval_crop_size=[1025, 2049]
    ),
    "deeplab_ade20k": _published(
        "ade20k",
        steps=150000,
        crop=513,
        min_resize_value=513,
        max_resize_value=513,
        resize_factor=16,
    ),
}
