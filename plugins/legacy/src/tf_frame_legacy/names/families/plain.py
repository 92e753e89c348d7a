"""Names of TensorFlow itself that are gone: of versions before 1.0, and of Keras."""

from tf_frame_legacy.names.row import alias, not_offered, reimplemented

_V1 = "tensorflow.compat.v1"
_OLD = "TensorFlow 0.x; "
_KERAS = "Keras 3 has removed it; install tf_keras and set TF_USE_LEGACY_KERAS=1"
_LOSSES = (
    "mean_absolute_error mean_absolute_percentage_error mean_squared_error "
    "mean_squared_logarithmic_error"
)

ROWS = [
    # Renamed in TensorFlow 1.0.
    *alias(
        "tf",
        _V1,
        "batch_cholesky=cholesky batch_cholesky_solve=cholesky_solve batch_fft=fft "
        "batch_fft2d=fft2d batch_fft3d=fft3d batch_ifft=ifft batch_ifft2d=ifft2d "
        "batch_ifft3d=ifft3d batch_matrix_band_part=matrix_band_part "
        "batch_matrix_determinant=matrix_determinant batch_matrix_diag=matrix_diag "
        "batch_matrix_diag_part=matrix_diag_part batch_matrix_inverse=matrix_inverse "
        "batch_matrix_set_diag=matrix_set_diag batch_matrix_solve=matrix_solve "
        "batch_matrix_solve_ls=matrix_solve_ls batch_matrix_transpose=matrix_transpose "
        "batch_matrix_triangular_solve=matrix_triangular_solve "
        "batch_self_adjoint_eig=self_adjoint_eig batch_self_adjoint_eigvals=self_adjoint_eigvals "
        "batch_svd=svd complex_abs=abs concat_v2=concat inv=reciprocal listdiff=setdiff1d "
        "mul=multiply neg=negative pack=stack select=where sub=subtract unpack=unstack",
    ),
    *reimplemented("tf", "tf_frame_legacy.plain", "batch_matmul"),
    *alias(
        "tf",
        "tensorflow.python.ops.logging_ops",
        "audio_summary histogram_summary image_summary merge_all_summaries merge_summary "
        "scalar_summary",
    ),
    *alias("tf.train", f"{_V1}.summary", "SummaryWriter=FileWriter"),
    *alias("tf.image", f"{_V1}.image", "per_image_whitening=per_image_standardization"),
    *alias(
        "tf.nn",
        f"{_V1}.nn",
        "bidirectional_rnn=static_bidirectional_rnn rnn=static_rnn "
        "state_saving_rnn=static_state_saving_rnn",
    ),
    *not_offered(
        "tf.models",
        "*",
        f"{_OLD}use tf.nn.rnn_cell, tf.nn.static_rnn and tf.contrib.legacy_seq2seq",
    ),
    *not_offered("tf.sdca", "*", "use tf.train.FtrlOptimizer, or the canned linear estimators"),
    # Removed after TensorFlow 1.15.
    *alias("tf.pywrap_tensorflow", f"{_V1}.train", "NewCheckpointReader"),
    *alias(
        "tf.pywrap_tensorflow",
        "tensorflow.python.framework.errors_impl",
        "OpError",
    ),
    *not_offered(
        "tf.distributions",
        "bijectors",
        "the package tensorflow_probability has them (tfp.bijectors)",
    ),
    *not_offered("tf.config", "experimental_list_devices", "use tf.config.list_logical_devices()"),
    *not_offered(
        "tf.data.experimental",
        "CheckpointInputPipelineHook",
        "TensorFlow 2 removed it; tf-frame saves the input's position with --exact_resume",
    ),
    *not_offered(
        "tf.data.experimental",
        "MapVectorizationOptions StatsAggregator StatsOptions bytes_produced_stats latency_stats",
        "TensorFlow 2 removed its operations; use --profile_at_step for the times of the input",
    ),
    *not_offered(
        "tf.lite.experimental",
        "get_potentially_supported_ops",
        "convert the model: the converter names the operations it lacks",
    ),
    *not_offered("tf.lite.experimental.nn", "*", "convert the cells of tf.nn.rnn_cell by tf.lite"),
    *not_offered(
        "tf.tpu.experimental",
        "AdagradParameters AdamParameters StochasticGradientDescentParameters",
        "embeddings on TPUs are not supported",
    ),
    *not_offered(
        "tf.examples.tutorials",
        "*",
        "take the file from the repository of TensorFlow 1, tensorflow/examples/tutorials",
    ),
    # Keras 3.
    *reimplemented(
        "tf.keras.backend",
        "tf_frame_legacy.keras_backend",
        "get_session learning_phase manual_variable_initialization set_learning_phase set_session",
        note="layers of Keras 3 do not read the learning phase; call them with training=True",
    ),
    *alias("tf.keras.backend", "tensorflow.compat.v1", "placeholder print_tensor=Print"),
    *alias("tf.keras.initializers", "tensorflow.keras.initializers", "normal=RandomNormal"),
    *alias("tf.keras.initializers", "tensorflow.keras.initializers", "uniform=RandomUniform"),
    *alias("tf.keras.losses", "keras.losses", _LOSSES),
    *alias("tf.keras.metrics", "keras.metrics", _LOSSES),
    *alias(
        ("tf.keras.losses", "tf.keras.metrics"),
        "keras.losses",
        "cosine=cosine_similarity cosine_proximity=cosine_similarity",
        note="of the other sign",
    ),
    *alias(
        "tf.keras.experimental",
        "keras.optimizers.schedules",
        "CosineDecay CosineDecayRestarts",
    ),
    *not_offered(
        "tf.keras.backend",
        "function in_test_phase in_train_phase learning_phase_scope local_conv1d local_conv2d "
        "normalize_batch_in_training random_binomial reset_uids",
        _KERAS,
    ),
    *not_offered("tf.keras.callbacks", "BaseLogger", _KERAS),
    *not_offered("tf.keras.constraints", "RadialConstraint radial_constraint", _KERAS),
    *not_offered(
        "tf.keras.experimental",
        "LinearModel SequenceFeatures WideDeepModel terminate_keras_multiprocessing_pools",
        _KERAS,
    ),
    *reimplemented(
        "tf.keras.experimental",
        "tf_frame_legacy.keras_experimental",
        "LinearCosineDecay NoisyLinearCosineDecay PeepholeLSTMCell export_saved_model "
        "load_from_saved_model",
        note="for models of TensorFlow's own part of Keras 2",
    ),
    *not_offered(
        "tf.keras.layers",
        "AbstractRNNCell CuDNNGRU CuDNNLSTM DenseFeatures LocallyConnected1D LocallyConnected2D",
        _KERAS,
    ),
    *not_offered("tf.keras.metrics", "MeanRelativeError MeanTensor", _KERAS),
    *not_offered("tf.keras.mixed_precision.experimental", "*", _KERAS),
    *not_offered("tf.keras.models", "model_from_config model_from_yaml", _KERAS),
    *not_offered(
        "tf.keras.utils",
        "GeneratorEnqueuer HDF5Matrix OrderedEnqueuer SequenceEnqueuer "
        "convert_all_kernels_in_model multi_gpu_model",
        _KERAS,
    ),
    *not_offered("tf.keras.wrappers", "*", "use the package scikeras"),
]
