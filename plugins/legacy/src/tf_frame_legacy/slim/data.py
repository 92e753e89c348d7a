"""The data modules of slim, under `slim.data` as in tf_slim, for scripts that name them so."""

from __future__ import annotations

from tf_frame_legacy.slim import (
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
