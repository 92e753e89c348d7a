"""tf.contrib.data, and the classes of tf.contrib.data 1.2 and 1.3."""

from tf_frame_legacy.names.row import alias, not_offered, reimplemented

_OPS = "tf.contrib.data.python.ops"
_EXPERIMENTAL = "tensorflow.compat.v1.data.experimental"

ROWS = [
    *alias(
        "tf.contrib.data",
        _EXPERIMENTAL,
        "AUTOTUNE Counter CsvDataset Optional RandomDataset Reducer SqlDataset TFRecordWriter "
        "bucket_by_sequence_length choose_from_datasets copy_to_device dense_to_sparse_batch "
        "enumerate_dataset get_next_as_optional get_single_element group_by_reducer "
        "group_by_window ignore_errors make_batched_features_dataset make_csv_dataset "
        "make_saveable_from_iterator map_and_batch parse_example_dataset "
        "prefetch_to_device rejection_resample sample_from_datasets scan shuffle_and_repeat "
        "unbatch unique",
    ),
    *alias(
        "tf.contrib.data",
        "tensorflow.compat.v1.data",
        "Dataset FixedLengthRecordDataset Iterator TFRecordDataset TextLineDataset",
        note="of TensorFlow 1.2 and 1.3; Dataset.map takes num_parallel_calls, and a prefetch "
        "after it, instead of num_threads and output_buffer_size",
    ),
    *reimplemented(
        "tf.contrib.data",
        "tf_frame_legacy.contrib.data",
        "assert_element_shape batch_and_drop_remainder padded_batch_and_drop_remainder "
        "read_batch_features reduce_dataset sliding_window_batch sloppy_interleave",
    ),
    *not_offered(
        "tf.contrib.data",
        "CheckpointInputPipelineHook",
        "TensorFlow 2 removed it; tf-frame saves the input's position with --exact_resume",
    ),
    *not_offered(
        "tf.contrib.data",
        "StatsAggregator latency_stats set_stats_aggregator",
        "TensorFlow 2 removed its operations; use --profile_at_step for the times of the input",
    ),
    *not_offered("tf.contrib.data", "LMDBDataset", "convert the database to TFRecord files first"),
    # The modules of these functions, which programs import as well.
    *alias(f"{_OPS}.batching", _EXPERIMENTAL, "dense_to_sparse_batch map_and_batch unbatch"),
    *reimplemented(
        f"{_OPS}.batching",
        "tf_frame_legacy.contrib.data",
        "assert_element_shape batch_and_drop_remainder padded_batch_and_drop_remainder",
    ),
    *alias(f"{_OPS}.enumerate_ops", _EXPERIMENTAL, "enumerate_dataset"),
    *alias(f"{_OPS}.error_ops", _EXPERIMENTAL, "ignore_errors"),
    *alias(
        f"{_OPS}.grouping",
        _EXPERIMENTAL,
        "Reducer bucket_by_sequence_length group_by_reducer group_by_window",
    ),
    *alias(
        f"{_OPS}.interleave_ops",
        _EXPERIMENTAL,
        "choose_from_datasets sample_from_datasets",
    ),
    *reimplemented(
        ("tf.contrib.data", f"{_OPS}.interleave_ops", "tf.data.experimental"),
        "tf_frame_legacy.contrib.data",
        "parallel_interleave",
        "with --exact_resume the order is fixed, also with sloppy",
    ),
    *reimplemented(f"{_OPS}.interleave_ops", "tf_frame_legacy.contrib.data", "sloppy_interleave"),
    *alias(f"{_OPS}.prefetching_ops", _EXPERIMENTAL, "copy_to_device prefetch_to_device"),
    *alias(
        f"{_OPS}.readers",
        _EXPERIMENTAL,
        "CsvDataset SqlDataset make_batched_features_dataset make_csv_dataset",
    ),
    *reimplemented(f"{_OPS}.readers", "tf_frame_legacy.contrib.data", "read_batch_features"),
    *alias(f"{_OPS}.resampling", _EXPERIMENTAL, "rejection_resample"),
    *alias(f"{_OPS}.scan_ops", _EXPERIMENTAL, "scan"),
    *alias(f"{_OPS}.shuffle_ops", _EXPERIMENTAL, "shuffle_and_repeat"),
    *reimplemented(f"{_OPS}.sliding", "tf_frame_legacy.contrib.data", "sliding_window_batch"),
    *alias(f"{_OPS}.unique", _EXPERIMENTAL, "unique"),
]
