"""Small modules of tf.contrib that TensorFlow or tf-frame has."""

from tf_frame_legacy.names.row import alias, not_offered, ours, reimplemented

_DISTRIBUTIONS = "the package tensorflow_probability has it (tfp.distributions)"
_OF_DISTRIBUTIONS = {
    "bernoulli": "Bernoulli",
    "beta": "Beta",
    "categorical": "Categorical",
    "dirichlet": "Dirichlet",
    "distribution": "Distribution",
    "exponential": "Exponential",
    "gamma": "Gamma",
    "kullback_leibler": "RegisterKL kl_divergence",
    "laplace": "Laplace",
    "multinomial": "Multinomial",
    "normal": "Normal",
    "student_t": "StudentT",
    "uniform": "Uniform",
}
_TFE = ("tf.contrib.eager", "tf.contrib.eager.python.tfe")
_TFE_MODULE = "tf.contrib.eager.python"
_OURS = "tf_frame_legacy.contrib.eager"
_TFE_METRICS = (f"{_TFE_MODULE}.metrics", f"{_TFE_MODULE}.metrics_impl")
_EAGER_METRICS = "Accuracy BinaryAccuracy CategoricalAccuracy Mean Metric SparseAccuracy"
_KERAS = (
    "activations applications backend callbacks constraints datasets initializers layers losses "
    "metrics models optimizers preprocessing regularizers utils"
)

ROWS = [
    *alias(
        "tf.contrib.autograph",
        "tensorflow.python.autograph.impl.api",
        "AutoGraphError StackTraceMapper convert converted_call do_not_convert to_code to_graph",
    ),
    *alias(
        "tf.contrib.autograph",
        "tensorflow.python.autograph.core.converter",
        "ConversionOptions Feature",
    ),
    *alias(
        "tf.contrib.autograph",
        "tensorflow.python.autograph.lang.directives",
        "set_element_type set_loop_options",
    ),
    *alias("tf.contrib.autograph", "tensorflow.python.autograph.lang.special_functions", "stack"),
    *alias("tf.contrib.autograph", "tensorflow.python.autograph", "operators utils"),
    *alias(
        "tf.contrib.framework.python.ops.audio_ops",
        "tensorflow.compat.v1.raw_ops",
        "audio_spectrogram=AudioSpectrogram decode_wav=DecodeWav encode_wav=EncodeWav mfcc=Mfcc",
        note="arguments by name only",
    ),
    *alias(
        "tf.contrib.batching",
        "tensorflow.compat.v1",
        "batch_function=nondifferentiable_batch_function",
    ),
    *alias("tf.contrib.checkpoint", "tensorflow.compat.v1.train", "CheckpointManager"),
    *alias(
        "tf.contrib.checkpoint",
        "tensorflow.python.trackable.data_structures",
        "List Mapping NoDependency",
    ),
    *alias(
        "tf.contrib.checkpoint",
        "tensorflow.python.trackable.autotrackable",
        "Checkpointable=AutoTrackable",
    ),
    *alias(
        "tf.contrib.checkpoint",
        "tensorflow.python.trackable.base",
        "CheckpointableBase=Trackable",
    ),
    *alias(
        "tf.contrib.checkpoint",
        "tensorflow.python.trackable.python_state",
        "PythonStateWrapper=PythonState",
    ),
    *alias(
        "tf.contrib.checkpoint",
        "tensorflow.core.protobuf.trackable_object_graph_pb2",
        "CheckpointableObjectGraph=TrackableObjectGraph",
    ),
    *not_offered(
        "tf.contrib.checkpoint",
        "NumpyState UniqueNameTracker capture_dependencies dot_graph_from_checkpoint list_objects "
        "object_metadata split_dependency",
        "they are for checkpoints of objects; tf-frame saves by names of variables, with "
        "tf.train.Saver",
    ),
    *alias(
        "tf.contrib.compiler.jit",
        "tensorflow.compat.v1.xla.experimental",
        "experimental_jit_scope=jit_scope",
    ),
    *alias("tf.contrib.compiler.xla", "tensorflow.compat.v1.xla.experimental", "compile"),
    *not_offered(
        "tf.contrib.compiler.xla", "estimator_model_fn", "use tf.function(jit_compile=True)"
    ),
    *alias(
        "tf.contrib.deprecated",
        "tensorflow.python.ops.logging_ops",
        "audio_summary histogram_summary image_summary merge_all_summaries merge_summary "
        "scalar_summary",
    ),
    *alias(
        "tf.contrib.linalg",
        "tensorflow.compat.v1.linalg",
        "LinearOperator LinearOperatorBlockDiag LinearOperatorCirculant LinearOperatorCirculant2D "
        "LinearOperatorCirculant3D LinearOperatorComposition LinearOperatorDiag "
        "LinearOperatorFullMatrix LinearOperatorHouseholder LinearOperatorIdentity "
        "LinearOperatorKronecker "
        "LinearOperatorLowRankUpdate LinearOperatorLowerTriangular LinearOperatorScaledIdentity "
        "LinearOperatorZeros LinearOperatorMatrix=LinearOperatorFullMatrix "
        "LinearOperatorTriL=LinearOperatorLowerTriangular "
        "LinearOperatorUDVHUpdate=LinearOperatorLowRankUpdate",
    ),
    *alias(
        "tf.contrib.lite",
        "tensorflow.compat.v1.lite",
        "Interpreter OpHint OpsSet Optimize RepresentativeDataset TFLiteConverter TargetSpec "
        "TocoConverter constants experimental toco_convert",
    ),
    *reimplemented(
        ("tf.contrib.nccl", "tf.contrib.nccl.python.ops.nccl_ops"),
        "tf_frame_legacy.contrib.nccl",
        "all_max all_min all_prod all_sum broadcast reduce_sum",
        note="by additions on each device, also on CPUs, instead of the library NCCL",
    ),
    *alias(
        "tf.contrib.distributions",
        "tensorflow.compat.v1.distributions",
        "Bernoulli Beta Categorical Dirichlet DirichletMultinomial Distribution Exponential "
        "FULLY_REPARAMETERIZED Gamma Laplace Multinomial NOT_REPARAMETERIZED Normal RegisterKL "
        "ReparameterizationType StudentT Uniform kl_divergence",
    ),
    *alias(
        "tf.contrib.distributions",
        "tensorflow.python.ops.distributions.util",
        "fill_triangular matrix_diag_transform reduce_weighted_logsumexp softplus_inverse tridiag",
    ),
    *reimplemented(
        ("tf.contrib.distributions", "tf.contrib.distributions.python.ops.mvn_diag"),
        "tf_frame_legacy.contrib.distributions",
        "MultivariateNormalDiag MultivariateNormalDiagWithSoftplusScale",
    ),
    *(
        row
        for module, names in _OF_DISTRIBUTIONS.items()
        for row in alias(
            f"tf.contrib.distributions.python.ops.{module}",
            "tensorflow.compat.v1.distributions",
            names,
        )
    ),
    *not_offered("tf.contrib.distributions", "*", _DISTRIBUTIONS),
    *alias(
        _TFE,
        "tensorflow.compat.v1",
        "GradientTape TensorSpec custom_gradient defun=function enable_eager_execution "
        "executing_eagerly function in_eager_mode=executing_eagerly py_func=py_function",
    ),
    *alias(_TFE, "tensorflow.compat.v1.train", "Checkpoint"),
    *reimplemented(_TFE, _OURS, "list_devices"),
    *reimplemented(
        (*_TFE, f"{_TFE_MODULE}.network"),
        _OURS,
        "Network Sequential",
        note="saves by tfe.Saver(network.variables)",
    ),
    *reimplemented((*_TFE, f"{_TFE_MODULE}.datasets"), _OURS, "Iterator"),
    *reimplemented((*_TFE, f"{_TFE_MODULE}.saver"), _OURS, "Saver get_optimizer_variables"),
    *reimplemented(
        (*(f"{module}.metrics" for module in _TFE), *_TFE_METRICS),
        f"{_OURS}.metrics",
        _EAGER_METRICS,
    ),
    *alias(
        _TFE,
        "tensorflow.python.framework.ops",
        "enable_remote_eager_execution=enable_eager_execution_internal run=eager_run",
    ),
    *alias(_TFE, "tensorflow.python.eager.remote", "connect_to_remote_host"),
    *alias(_TFE, "tensorflow.python.trackable.autotrackable", "Checkpointable=AutoTrackable"),
    *alias(
        _TFE,
        "tensorflow.python.ops.resource_variable_ops",
        "Variable=ResourceVariable",
    ),
    *alias(
        _TFE,
        "tensorflow.python.ops.variable_scope",
        "EagerVariableStore",
    ),
    *alias(
        _TFE,
        "tensorflow.python.ops.template",
        "make_template=make_template_internal",
    ),
    *alias(
        _TFE,
        "tensorflow.python.eager.context",
        "ASYNC DEVICE_PLACEMENT_EXPLICIT DEVICE_PLACEMENT_SILENT DEVICE_PLACEMENT_WARN SYNC "
        "async_clear_error async_wait execution_mode num_gpus set_execution_mode set_server_def",
    ),
    *alias(
        _TFE,
        "tensorflow.python.eager.backprop",
        "gradients_function implicit_gradients=implicit_grad "
        "implicit_value_and_gradients=implicit_val_and_grad "
        "value_and_gradients_function=val_and_grad_function",
    ),
    *alias(
        _TFE,
        "tensorflow.python.framework.test_util",
        "run_all_tests_in_graph_and_eager_modes=run_all_in_graph_and_eager_modes "
        "run_test_in_graph_and_eager_modes=run_in_graph_and_eager_modes",
    ),
    *not_offered(
        _TFE,
        "restore_variables_on_create save_network_checkpoint restore_network_checkpoint",
        "make the variables first; then tfe.Saver(variables).restore(path), or tfe.Checkpoint",
    ),
    *not_offered(
        _TFE,
        "ExecutionCallback add_execution_callback clear_execution_callbacks errstate inf_callback "
        "inf_nan_callback nan_callback seterr",
        "use tf.debugging.enable_check_numerics",
    ),
    *alias(
        "tf.contrib.feature_column",
        "tensorflow.compat.v1.feature_column",
        "sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity "
        "sequence_categorical_column_with_vocabulary_file "
        "sequence_categorical_column_with_vocabulary_list sequence_numeric_column",
    ),
    *not_offered(
        "tf.contrib.feature_column",
        "sequence_input_layer",
        "it is a layer of Keras 2 since; use tf.feature_column.input_layer for other columns",
    ),
    *alias("tf.contrib.hooks", "tensorflow.compat.v1.train", "ProfilerHook"),
    *alias(
        ("tf.contrib.keras", "tf.contrib.keras.api.keras", "tf.contrib.keras.python.keras"),
        "tensorflow.compat.v1.keras",
        _KERAS,
        note="Keras 3, unless the package tf_keras is installed and TF_USE_LEGACY_KERAS=1 is set",
    ),
    *not_offered(
        "tf.contrib.keras", "wrappers", "use the package scikeras for scikit-learn's interface"
    ),
    *reimplemented(
        ("tf.contrib.memory_stats", "tf.contrib.memory_stats.python.ops.memory_stats_ops"),
        "tf_frame_legacy.contrib.memory_stats",
        "BytesInUse BytesLimit MaxBytesInUse",
    ),
    *reimplemented(
        (
            "tf.contrib.mixed_precision",
            "tf.contrib.mixed_precision.python.loss_scale_manager",
        ),
        "tf_frame_legacy.contrib.mixed_precision",
        "ExponentialUpdateLossScaleManager FixedLossScaleManager LossScaleManager",
    ),
    *reimplemented(
        (
            "tf.contrib.mixed_precision",
            "tf.contrib.mixed_precision.python.loss_scale_optimizer",
        ),
        "tf_frame_legacy.contrib.mixed_precision",
        "LossScaleOptimizer",
    ),
    *reimplemented(
        "tf.contrib.nn",
        "tf_frame_legacy.contrib.nn",
        "alpha_dropout deprecated_flipped_sigmoid_cross_entropy_with_logits "
        "deprecated_flipped_softmax_cross_entropy_with_logits "
        "deprecated_flipped_sparse_softmax_cross_entropy_with_logits rank_sampled_softmax_loss "
        "sampled_sparse_softmax_loss scaled_softplus",
    ),
    *alias("tf.contrib.nn", "tensorflow.compat.v1.nn", "conv1d_transpose"),
    *alias("tf.contrib.nn", "tensorflow.python.ops.nn_ops", "nth_element"),
    *alias("tf.contrib.proto", "tensorflow.compat.v1.io", "decode_proto encode_proto"),
    *ours(
        ("tf.contrib.quantize", "tf.contrib.quantize.python.quantize_graph"),
        "tf_frame_legacy.quantize",
        "create_eval_graph create_training_graph experimental_create_eval_graph "
        "experimental_create_training_graph",
    ),
    *reimplemented(
        "tf.contrib.quantize.python.graph_matcher",
        "tf_frame_legacy.contrib.graph_matcher",
        "GraphMatcher MatchResult OneofPattern OpTypePattern Pattern",
    ),
    *reimplemented(
        ("tf.contrib.resampler", "tf.contrib.resampler.python.ops.resampler_ops"),
        "tf_frame_legacy.contrib.resampler",
        "resampler",
        note="composed of gathers; slower, with the same gradients",
    ),
    *alias(
        "tf.contrib.signal",
        "tensorflow.compat.v1.signal",
        "frame hamming_window hann_window inverse_stft inverse_stft_window_fn "
        "linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add stft",
    ),
    *reimplemented(
        ("tf.contrib.sparsemax", "tf.contrib.sparsemax.python.ops.sparsemax"),
        "tf_frame_legacy.contrib.sparsemax",
        "sparsemax",
    ),
    *reimplemented(
        ("tf.contrib.sparsemax", "tf.contrib.sparsemax.python.ops.sparsemax_loss"),
        "tf_frame_legacy.contrib.sparsemax",
        "sparsemax_loss",
    ),
    *alias("tf.contrib.staging", "tensorflow.python.ops.data_flow_ops", "StagingArea"),
    *alias(
        "tf.contrib.stateless",
        "tensorflow.compat.v1.random",
        "stateless_multinomial stateless_random_normal=stateless_normal "
        "stateless_random_uniform=stateless_uniform stateless_truncated_normal",
    ),
    *alias(
        "tf.contrib.tensorboard.plugins.projector",
        "tensorboard.plugins.projector",
        "EmbeddingInfo ProjectorConfig SpriteMetadata visualize_embeddings",
    ),
    *reimplemented(
        "tf.contrib.tfprof.model_analyzer",
        "tf_frame_legacy.contrib.tfprof",
        "FLOAT_OPS_OPTIONS PRINT_ALL_TIMING_MEMORY TRAINABLE_VARS_PARAMS_STAT_OPTIONS advise "
        "print_model_analysis",
    ),
    *alias(
        "tf.contrib.tfprof.model_analyzer",
        "tensorflow.compat.v1.profiler",
        "ProfileOptionBuilder Profiler",
    ),
    *alias("tf.contrib.tfprof.tfprof_logger", "tensorflow.compat.v1.profiler", "write_op_log"),
    *ours(
        ("tf.contrib.tfprof", "tf.contrib.tfprof.model_analyzer"),
        "tf_frame_legacy.profile_context",
        "ProfileContext",
    ),
    *alias(
        "tf.contrib.util",
        "tensorflow.python.framework.tensor_util",
        "constant_value make_ndarray=MakeNdarray make_tensor_proto",
    ),
    *alias(
        "tf.contrib.util",
        "tensorflow.python.framework.meta_graph",
        "ops_used_by_graph_def stripped_op_list_for_graph",
    ),
    *alias(
        "tf.contrib.util.loader",
        "tensorflow.compat.v1",
        "load_op_library",
        note="libraries must be compiled against TensorFlow 2",
    ),
]
