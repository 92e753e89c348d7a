"""tf.contrib.crf."""

from tf_frame_legacy.names.row import ours

ROWS = [
    *ours(
        ("tf.contrib.crf", "tf.contrib.crf.python.ops.crf"),
        "tf_frame_legacy.contrib.crf",
        "CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell CrfForwardRnnCell crf_binary_score "
        "crf_decode crf_log_likelihood crf_log_norm crf_multitag_sequence_score "
        "crf_sequence_score crf_unary_score viterbi_decode",
    ),
]
