"""tf.contrib.legacy_seq2seq, which was tf.nn.seq2seq before TensorFlow 1.0."""

from tf_frame_legacy.names.row import reimplemented

_WAS = (
    "tf.contrib.legacy_seq2seq",
    "tf.contrib.legacy_seq2seq.python.ops.seq2seq",
    "tf.nn.seq2seq",
)
_OURS = "tf_frame_legacy.contrib.legacy_seq2seq"

ROWS = [
    *reimplemented(
        _WAS,
        f"{_OURS}.attention",
        "attention_decoder embedding_attention_decoder embedding_attention_seq2seq",
    ),
    *reimplemented(_WAS, f"{_OURS}.decoders", "embedding_rnn_decoder rnn_decoder"),
    *reimplemented(_WAS[1:], f"{_OURS}.decoders", "_extract_argmax_and_embed"),
    *reimplemented(
        _WAS, f"{_OURS}.losses", "model_with_buckets sequence_loss sequence_loss_by_example"
    ),
    *reimplemented(
        _WAS,
        f"{_OURS}.models",
        "basic_rnn_seq2seq embedding_rnn_seq2seq embedding_tied_rnn_seq2seq "
        "one2many_rnn_seq2seq tied_rnn_seq2seq",
    ),
]
