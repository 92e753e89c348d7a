"""tf.contrib.rnn and tf.nn.rnn_cell."""

from tf_frame_legacy.names.row import alias, not_offered, ours

_OURS = "tf_frame_legacy.contrib.rnn"
_OPS = "tf.contrib.rnn.python.ops"
_CORE = (
    "tf.python.ops.rnn_cell",
    "tf.python.ops.rnn_cell_impl",
    f"{_OPS}.core_rnn_cell",
    f"{_OPS}.core_rnn_cell_impl",
)
_CELLS = f"{_OPS}.rnn_cell"
_KERAS = "tensorflow.python.keras.layers.legacy_rnn.rnn_cell_impl"
_PROJECTIONS = "EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper"
_UNROLLED = "static_rnn static_state_saving_rnn static_bidirectional_rnn"

ROWS = [
    *ours(
        ("tf.contrib.rnn", "tf.nn.rnn_cell", *_CORE),
        _OURS,
        "BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple "
        "MultiRNNCell RNNCell ResidualWrapper",
    ),
    *ours("tf.contrib.rnn", _OURS, "LayerRNNCell"),
    *ours(
        _CORE,
        _OURS,
        "LayerRNNCell _RNNCell=RNNCell assert_like_rnncell _like_rnncell _Linear _linear "
        "_BIAS_VARIABLE_NAME _WEIGHTS_VARIABLE_NAME",
    ),
    *alias(
        _CORE,
        _KERAS,
        "ASSERT_LIKE_RNNCELL_ERROR_REGEXP _check_rnn_cell_input_dtypes _check_supported_dtypes "
        "_concat _hasattr _zero_state_tensors",
    ),
    *alias(
        "tf.python.ops.rnn_cell_wrapper_impl",
        "tensorflow.python.keras.layers.legacy_rnn.rnn_cell_wrapper_impl",
        "DeviceWrapperBase DropoutWrapperBase ResidualWrapperBase",
    ),
    *ours(("tf.contrib.rnn", *_CORE[2:]), _OURS, _PROJECTIONS),
    *ours(
        ("tf.contrib.rnn", f"{_OPS}.lstm_ops"),
        _OURS,
        "LSTMBlockCell LSTMBlockFusedCell LSTMBlockWrapper",
    ),
    *ours(("tf.contrib.rnn", f"{_OPS}.gru_ops"), _OURS, "GRUBlockCell GRUBlockCellV2"),
    *ours(
        ("tf.contrib.rnn", f"{_OPS}.fused_rnn_cell"),
        _OURS,
        "FusedRNNCell FusedRNNCellAdaptor TimeReversedFusedRNN",
    ),
    *ours(
        ("tf.contrib.rnn", f"{_OPS}.rnn"),
        _OURS,
        "stack_bidirectional_dynamic_rnn stack_bidirectional_rnn",
    ),
    *ours(
        ("tf.contrib.rnn", _CELLS),
        _OURS,
        "AttentionCellWrapper BidirectionalGridLSTMCell CompiledWrapper Conv1DLSTMCell "
        "Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell CoupledInputForgetGateLSTMCell GLSTMCell "
        "GridLSTMCell HighwayWrapper IndRNNCell IndyGRUCell IndyLSTMCell IntersectionRNNCell "
        "LayerNormBasicLSTMCell NASCell PhasedLSTMCell SRUCell TimeFreqLSTMCell UGRNNCell",
    ),
    *ours(
        _CELLS,
        _OURS,
        "CFNCell LayerNormLSTMCell MinimalRNNCell WeightNormLSTMCell _Linear",
    ),
    *not_offered(
        _CELLS,
        "NTMCell NTMControllerState",
        "The neural Turing machine cell was in no public module; keep a copy of its class.",
    ),
    *alias(
        ("tf.contrib.rnn", f"{_OPS}.core_rnn"),
        "tensorflow.compat.v1.nn",
        _UNROLLED,
    ),
    *alias(
        "tf.python.ops.nn",
        "tensorflow.compat.v1.nn",
        "bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_bidirectional_rnn static_rnn "
        "static_state_saving_rnn",
    ),
    *alias(
        "tf.contrib.rnn",
        "tensorflow.python.ops.rnn",
        "transpose_batch_time=_transpose_batch_time "
        "best_effort_input_batch_size=_best_effort_input_batch_size",
    ),
    *not_offered(
        (f"{_OPS}.lstm_ops", f"{_OPS}.gru_ops"),
        "*",
        "Use the cells, or the operations of tf.raw_ops: LSTMBlockCell, BlockLSTM, GRUBlockCell.",
    ),
    *not_offered(
        "tf.contrib.rnn.python.tools.checkpoint_convert",
        "*",
        "Renames variables in checkpoints of TensorFlow 1.0 and 1.1; tf.train.load_checkpoint "
        "reads them, and tf.train.init_from_checkpoint maps their names.",
    ),
]
