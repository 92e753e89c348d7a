"""The data modules under `slim.data`, as tf_slim has them in a package of that name."""

from __future__ import annotations

from tf_frame.legacy.slim import (
    data_decoder,
    data_provider,
    dataset,
    dataset_data_provider,
    parallel_reader,
    prefetch_queue,
    tfexample_decoder,
)

__all__ = [
    "data_decoder",
    "data_provider",
    "dataset",
    "dataset_data_provider",
    "parallel_reader",
    "prefetch_queue",
    "tfexample_decoder",
]
