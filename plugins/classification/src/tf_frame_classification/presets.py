"""Options that belong together; `--preset NAME`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The trainer that Inception v3 was published with (tensorflow/models, research/inception,
# inception_distributed_train.py): its optimizer, averages, summaries and its trace of step 60.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "inception_distributed": {
        "model": {
            "name": "inception_v3",
            "label_smoothing": 0.1,
            "aux_loss_weight": 0.4,
            "batch_norm_decay": 0.9997,
            "weight_decay": 4e-5,
        },
        # Its label 0 is a background that no image has.
        "input": {"labels_offset": -1},
        "optimizer": {"name": "rmsprop", "decay": 0.9, "momentum": 0.9, "epsilon": 1.0},
        "learning_rate": 0.045,
        "schedule": {"name": "exponential"},
        "moving_average_decay": 0.9999,
        "sync_replicas": True,
        "loss_average_decay": 0.9,
        "summarize_gradients": True,
        "summarize_variables": True,
        "save_summaries_secs": 180,
        "on_nan": "raise",
        # It traced the step after the one that it called 60.
        "trace_at_step": [61],
    },
}
