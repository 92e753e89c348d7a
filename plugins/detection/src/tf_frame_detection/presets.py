"""Defaults of runs, by the name of the detector, and presets of published configurations.

The presets follow tensorflow/models, research/object_detection/samples/configs:
ssdlite_mobilenet_v2_coco.config, ssd_mobilenet_v2_coco.config, ssd_mobilenet_v1_coco.config and
ssd_resnet50_v1_fpn_shared_box_predictor_640x640_coco14_sync.config. Of ssd_mobilenet_v2_coco it is
an early version, that of the archive ssd_mobilenet_v2_coco_2018_03_29, with depthwise separable
further maps (https://github.com/tensorflow/models/issues/5315). Moving averages are the
default of protos/optimizer.proto; as in protos/eval.proto, they are not evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tf_frame_detection.options import ROTATED, SIGMOID, SSD

# A constant rate with moving averages: the average of many steps localises better than the last
# step of a falling rate does, by 0.05 of AP50 on trees.
RUN_DEFAULTS: Mapping[str, Any] = {
    "max_steps": 1800,
    "train_batch_size": 4,
    "eval_batch_size": 8,
    "optimizer": "adamw",
    "learning_rate": 2e-3,
    "schedule": "fixed",
    "moving_average_decay": 0.999,
    "save_checkpoint_steps": 500,
    "save_summaries_steps": 200,
    "log_every_n_steps": 50,
}

# Of the object detection API's configurations.
_API = {
    "matched_threshold": 0.5,
    "iou_threshold": 0.6,
    "box_voting_iou": None,
    "legacy_resizing": True,
    "suppress_uncut": True,
}


VARIANTS: Mapping[str, Mapping[str, Any]] = {
    SSD: {
        "model": {
            "backbone": "mobilenet_v2",
            "depth_multiplier": 0.5,
            "use_depthwise": True,
            "matched_threshold": 0.5,
            "min_scale": 0.15,
            "num_maps": 4,
        }
    },
    ROTATED: {"input": {"name": "nuclei_boxes"}},
}


def _api_ssd(backbone: str, kernel_size: int, **others: Any) -> Mapping[str, Any]:
    return {
        "model": {
            "name": SSD,
            "backbone": backbone,
            "depth_multiplier": 1.0,
            "num_maps": 6,
            "min_scale": 0.2,
            "kernel_size": kernel_size,
            "use_depthwise": False,
            "classification_loss": SIGMOID,
            "hard_example_mining": True,
            "loss_normalizer": "batch",
            "batch_norm_decay": 0.9997,
            **_API,
            **others,
        },
        "input": {
            "name": "detection_tfrecord",
            "image_size": [300],
            "data_augmentation": ["random_horizontal_flip", "ssd_random_crop"],
        },
        "max_steps": 200000,
        "train_batch_size": 24,
        "eval_batch_size": 8,
        "optimizer": {"name": "rmsprop", "decay": 0.9, "momentum": 0.9, "epsilon": 1.0},
        "learning_rate": 0.004,
        "schedule": {"name": "exponential", "decay_steps": 800720, "decay_factor": 0.95},
        "moving_average_decay": 0.9999,
        "eval_moving_averages": False,
        "save_checkpoint_steps": 1000,
    }


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "ssdlite_mobilenet_v2_coco": _api_ssd("mobilenet_v2", 3, use_depthwise=True),
    "ssd_mobilenet_v2_coco": _api_ssd(
        "mobilenet_v2", 3, use_depthwise=True, depthwise_predictor=False
    ),
    "ssd_mobilenet_v1_coco": _api_ssd("mobilenet_v1", 1, min_negatives_per_image=0),
    "ssd_resnet50_v1_fpn_coco": {
        "model": {
            "backbone": "resnet_v1_50",
            "depth_multiplier": 1.0,
            "strides": [8, 16, 32, 64, 128],
            "pyramid_channels": 256,
            "predictor_layers": 4,
            "predictor_stddev": 0.01,
            "anchor_scale": 4.0,
            "scales_per_octave": 2,
            "aspect_ratios": [1.0, 2.0, 0.5],
            "loss_normalizer": "batch",
            "normalize_by_code_size": True,
            "weight_decay": 4e-4,
            "batch_norm_decay": 0.997,
            **_API,
        },
        "input": {
            "name": "detection_tfrecord",
            "image_size": [640],
            "max_boxes": 100,
            "data_augmentation": [
                "random_horizontal_flip",
                "random_crop_image:min_object_covered=0:max_aspect_ratio=3:min_area=0.75"
                ":overlap_thresh=0",
            ],
        },
        "max_steps": 25000,
        "train_batch_size": 64,
        "eval_batch_size": 8,
        "optimizer": {"name": "momentum", "momentum": 0.9},
        "learning_rate": 0.04,
        "schedule": "cosine",
        "warmup": "linear",
        "warmup_steps": 2000,
        "warmup_learning_rate": 0.013333,
        "moving_average_decay": None,
        "save_checkpoint_steps": 1000,
    },
}
