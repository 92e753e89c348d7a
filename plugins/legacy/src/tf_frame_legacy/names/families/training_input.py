"""The rest of tf.contrib.training: buckets, strategies of devices, queues of examples."""

from tf_frame_legacy.names.row import not_offered, reimplemented

_ROOT = "tf.contrib.training"
_PRIVATE = f"{_ROOT}.python.training"

ROWS = [
    *reimplemented(
        (_ROOT, f"{_PRIVATE}.bucket_ops"),
        "tf_frame_legacy.contrib.bucket",
        "bucket bucket_by_sequence_length",
    ),
    *reimplemented(
        (_ROOT, f"{_PRIVATE}.device_setter"),
        "tf_frame_legacy.contrib.device_setter",
        "GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn",
    ),
    *not_offered(
        _ROOT,
        "FeedingQueueRunner NextQueuedSequenceBatch SequenceQueueingStateSaver "
        "batch_sequences_with_states",
        "use tf.data; for the state of long sequences keep it in variables of the model",
    ),
    *not_offered(
        _ROOT,
        "rejection_sample resample_at_rate stratified_sample weighted_resample",
        "use tf.data.experimental.rejection_resample or sample_from_datasets",
    ),
    *not_offered(_ROOT, "FailureTolerator HParamDef Tuner", "no public program used it"),
]
