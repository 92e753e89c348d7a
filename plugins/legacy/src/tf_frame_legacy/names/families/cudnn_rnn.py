"""tf.contrib.cudnn_rnn."""

from tf_frame_legacy.names.row import not_offered, reimplemented

_OURS = "tf_frame_legacy.contrib.cudnn_rnn"
_LAYERS = ("tf.contrib.cudnn_rnn", "tf.contrib.cudnn_rnn.python.layers.cudnn_rnn")
_OPS = "tf.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops"
_OPAQUE = (
    "The layers keep their weights in variables with the names of the checkpoint, not in one "
    "buffer of cuDNN's."
)

ROWS = [
    *reimplemented(
        _LAYERS,
        _OURS,
        "CudnnLSTM CudnnGRU CudnnRNNRelu CudnnRNNTanh",
        "Without cuDNN, on any device. The variables are those of the checkpoint; there is no "
        "opaque_kernel, so slots of optimizers do not restore.",
    ),
    *reimplemented(
        ("tf.contrib.cudnn_rnn", _OPS), _OURS, "CudnnCompatibleLSTMCell CudnnCompatibleGRUCell"
    ),
    *reimplemented(
        (_LAYERS[1], _OPS),
        _OURS,
        "CUDNN_RNN_UNIDIRECTION CUDNN_RNN_BIDIRECTION CUDNN_INPUT_LINEAR_MODE "
        "CUDNN_INPUT_SKIP_MODE CUDNN_INPUT_AUTO_MODE",
    ),
    *not_offered(
        "tf.contrib.cudnn_rnn",
        "CudnnLSTMSaveable CudnnGRUSaveable CudnnRNNReluSaveable CudnnRNNTanhSaveable "
        "CudnnParamsFormatConverterLSTM CudnnParamsFormatConverterGRU "
        "CudnnParamsFormatConverterTanh CudnnParamsFormatConverterRelu",
        _OPAQUE,
    ),
    *not_offered(_OPS, "*", f"{_OPAQUE} Use the layers of tf.contrib.cudnn_rnn."),
]
