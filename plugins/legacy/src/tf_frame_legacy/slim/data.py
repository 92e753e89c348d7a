"""The data modules of slim as `slim.data`, as in tf_slim."""

from __future__ import annotations

from tf_frame_legacy.slim import (
    data_decoder as data_decoder,
    data_provider as data_provider,
    dataset as dataset,
    dataset_data_provider as dataset_data_provider,
    parallel_reader as parallel_reader,
    prefetch_queue as prefetch_queue,
    tfexample_decoder as tfexample_decoder,
)
