"""Private modules of TensorFlow that programs import: names that moved, changed or are gone.

Other names of `tensorflow.python` are there as before, and need no row.
"""

from tf_frame_legacy.names.row import alias, not_offered, reimplemented

_V1 = "tensorflow.compat.v1"
_P = "tensorflow.python"
_EXPERIMENTAL = f"{_V1}.data.experimental"
_DATASETS = "FixedLengthRecordDataset TFRecordDataset TextLineDataset"
_SHAPES = "shape functions are C++ in TensorFlow 2; set_shape gives a tensor its static shape"
_TRACKING = "tf.python.training.tracking"
_APPLICATIONS = {
    "densenet": "DenseNet121 DenseNet169 DenseNet201",
    "inception_resnet_v2": "InceptionResNetV2",
    "inception_v3": "InceptionV3",
    "mobilenet": "MobileNet",
    "mobilenet_v2": "MobileNetV2",
    "nasnet": "NASNetLarge NASNetMobile",
    "resnet": "ResNet101 ResNet152 ResNet50",
    "resnet50": "ResNet50",
    "resnet_v2": "ResNet101V2 ResNet152V2 ResNet50V2",
    "vgg16": "VGG16",
    "vgg19": "VGG19",
    "xception": "Xception",
}
_KERAS = (
    "of Keras 3, for models of tf.keras; they do not mix with layers of tensorflow.python.keras"
)
_DATA = ("boston_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist", "reuters")
_LAYERS = {
    "noise": "AlphaDropout GaussianDropout GaussianNoise",
    "normalization": "LayerNormalization",
    "wrappers": "Bidirectional TimeDistributed Wrapper",
}

ROWS = [
    # Names that TensorFlow 2 kept, with another meaning.
    *alias("tf.python.ops.variables", _V1, "Variable VariableV1=Variable"),
    *alias("tf.python.data.ops.dataset_ops", f"{_V1}.data", "Dataset"),
    *alias("tf.python.data.ops.readers", f"{_V1}.data", _DATASETS),
    *alias(
        "tf.python.data.experimental",
        _EXPERIMENTAL,
        "Counter CsvDataset RandomDataset SqlDataset choose_from_datasets "
        "make_batched_features_dataset make_csv_dataset sample_from_datasets",
    ),
    *alias("tf.python.data.experimental.ops.counter", _EXPERIMENTAL, "Counter"),
    *alias(
        "tf.python.data.experimental.ops.interleave_ops",
        _EXPERIMENTAL,
        "choose_from_datasets sample_from_datasets",
    ),
    *alias("tf.python.data.experimental.ops.random_ops", _EXPERIMENTAL, "RandomDataset"),
    *alias(
        "tf.python.data.experimental.ops.readers",
        _EXPERIMENTAL,
        "CsvDataset SqlDataset make_batched_features_dataset make_csv_dataset",
    ),
    *alias("tf.python.framework.ops", _V1, "convert_to_tensor"),
    *alias(
        "tf.python.framework.ops",
        f"{_P}.framework.indexed_slices",
        "IndexedSlices IndexedSlicesValue convert_n_to_tensor_or_indexed_slices "
        "convert_to_tensor_or_indexed_slices internal_convert_n_to_tensor_or_indexed_slices "
        "internal_convert_to_tensor_or_indexed_slices",
    ),
    *alias(
        "tf.python.framework.ops",
        f"{_P}.framework.tensor_conversion_registry",
        "register_tensor_conversion_function",
    ),
    *alias("tf.python.framework.ops", f"{_P}.framework.tensor_conversion", "convert_to_tensor_v2"),
    *alias(
        "tf.python.framework.graph_util",
        f"{_V1}.graph_util",
        "convert_variables_to_constants extract_sub_graph must_run_on_cpu remove_training_nodes "
        "tensor_shape_from_node_def_name",
    ),
    *reimplemented("tf.python.ops.lookup_ops", "tf_frame_legacy.contrib.lookup", "HashTable"),
    # Names that moved.
    *alias("tf.python.ops.array_ops", _V1, "stack unstack"),
    *alias(
        "tf.python.ops.standard_ops",
        _V1,
        "bincount is_variable_initialized random_crop stack unstack",
    ),
    *alias("tf.python.ops.variable_scope", _V1, "variable=Variable"),
    *alias("tf.python.ops.control_flow_ops", _V1, "Assert case cond switch_case while_loop"),
    *alias(
        "tf.python.ops.variables",
        f"{_P}.ops.ref_variable",
        "RefVariable",
    ),
    *alias("tf.python.ops.variables", _V1, "is_variable_initialized"),
    *alias(
        "tf.python.ops.variable_scope",
        f"{_P}.ops.ref_variable",
        "default_variable_creator",
    ),
    *alias(
        "tf.python.ops.variable_scope",
        _V1,
        "disable_resource_variables enable_resource_variables resource_variables_enabled",
    ),
    *alias("tf.python.ops.random_ops", f"{_V1}.image", "random_crop"),
    *alias("tf.python.ops.math_ops", f"{_V1}.math", "bincount_v1=bincount"),
    *alias("tf.python.ops.nn_impl", f"{_V1}.nn", "compute_average_loss scale_regularization_loss"),
    *alias(
        "tf.python.framework.ops",
        _V1,
        "Tensor disable_tensor_equality enable_tensor_equality",
    ),
    *alias("tf.python.framework.ops", f"{_P}.framework.stack", "default_session"),
    *alias(
        "tf.python.framework.graph_util_impl",
        f"{_V1}.graph_util",
        "convert_variables_to_constants",
    ),
    *alias("tf.python.pywrap_tensorflow", f"{_V1}.train", "NewCheckpointReader"),
    *alias(
        "tf.python.pywrap_tensorflow",
        f"{_P}.util._pywrap_checkpoint_reader",
        "CheckpointReader",
    ),
    *alias(
        "tf.python.pywrap_tensorflow",
        f"{_P}.client._pywrap_events_writer",
        "EventsWriter",
    ),
    *alias(
        "tf.python.saved_model.utils_impl",
        f"{_P}.saved_model.path_helpers",
        "get_assets_dir get_or_create_assets_dir get_or_create_variables_dir get_variables_dir "
        "get_variables_path",
    ),
    *alias(
        (
            "tf.python.distribute.distribution_strategy_context",
            "tf.python.training.distribution_strategy_context",
        ),
        f"{_P}.distribute.distribute_lib",
        "experimental_set_strategy get_cross_replica_context get_replica_context get_strategy "
        "has_strategy in_cross_replica_context",
    ),
    *alias(
        ("tf.python.distribute.distribute_lib", "tf.python.training.distribute"),
        f"{_V1}.distribute",
        "get_loss_reduction",
    ),
    *alias(
        "tf.python.training.distribute",
        f"{_P}.distribute.distribute_lib",
        "InputContext InputReplicationMode ReplicaContext Strategy StrategyV1 UpdateContext "
        "require_replica_context",
    ),
    *alias(
        "tf.python.distribute.values", f"{_P}.distribute.distribute_utils", "regroup select_replica"
    ),
    *alias("tf.python.eager.function", _V1, "defun=function"),
    *alias("tf.python.util.nest", f"{_P}.util.nest", "is_sequence=is_nested"),
    *alias(
        "tf.python.training.training_ops",
        f"{_P}.ops.gen_training_ops",
        "apply_ada_max apply_adadelta apply_adagrad apply_adagrad_da apply_adam apply_add_sign "
        "apply_centered_rms_prop apply_ftrl apply_gradient_descent apply_momentum "
        "apply_power_sign apply_proximal_adagrad apply_proximal_gradient_descent apply_rms_prop "
        "resource_apply_ada_max resource_apply_adadelta resource_apply_adagrad "
        "resource_apply_adagrad_da resource_apply_adam resource_apply_add_sign "
        "resource_apply_centered_rms_prop resource_apply_ftrl resource_apply_gradient_descent "
        "resource_apply_keras_momentum resource_apply_momentum resource_apply_power_sign "
        "resource_apply_proximal_adagrad resource_apply_proximal_gradient_descent "
        "resource_apply_rms_prop resource_sparse_apply_adadelta resource_sparse_apply_adagrad "
        "resource_sparse_apply_adagrad_da resource_sparse_apply_centered_rms_prop "
        "resource_sparse_apply_ftrl resource_sparse_apply_momentum "
        "resource_sparse_apply_proximal_adagrad resource_sparse_apply_rms_prop "
        "sparse_apply_adadelta sparse_apply_adagrad sparse_apply_adagrad_da "
        "sparse_apply_centered_rms_prop sparse_apply_ftrl sparse_apply_momentum "
        "sparse_apply_proximal_adagrad sparse_apply_rms_prop",
    ),
    *alias(
        f"{_TRACKING}.base",
        f"{_P}.trackable.base",
        "CheckpointInitialValue Trackable TrackableReference no_automatic_dependency_tracking",
    ),
    *alias(
        f"{_TRACKING}.data_structures",
        f"{_P}.trackable.data_structures",
        "List ListWrapper Mapping NoDependency TrackableDataStructure",
    ),
    *alias(f"{_TRACKING}.python_state", f"{_P}.trackable.python_state", "PythonState"),
    *alias(f"{_TRACKING}.tracking", f"{_P}.trackable.autotrackable", "AutoTrackable"),
    *alias(f"{_TRACKING}.util", f"{_P}.checkpoint.checkpoint", "Checkpoint CheckpointV1"),
    # TensorFlow before 1.5 called them checkpointable.
    *alias(
        "tf.python.training.checkpointable.base",
        f"{_P}.trackable.base",
        "Checkpointable=Trackable CheckpointableBase=Trackable",
    ),
    *alias(
        (
            "tf.python.summary.event_accumulator",
            "tf.tensorboard.backend.event_processing.event_accumulator",
        ),
        "tensorboard.backend.event_processing.event_accumulator",
        "EventAccumulator",
    ),
    *alias(
        ("tf.python.ops.resource_variable_ops", "tf.python.ops.variables"),
        f"{_P}.ops.ref_variable",
        "_to_proto_fn",
    ),
    # Names that are gone.
    *reimplemented(
        ("tf.python.ops.resource_variable_ops", "tf.python.ops.variables"),
        "tf_frame_legacy.plain",
        "_from_proto_fn=variable_from_proto",
    ),
    *reimplemented("tf.python.framework.ops", "tf_frame_legacy.plain", "RegisterShape"),
    *reimplemented(
        "tf.python.framework.tensor_shape", "tf_frame_legacy.plain", "matrix scalar vector"
    ),
    *reimplemented(
        "tf.python.framework.common_shapes", "tf_frame_legacy.plain", "call_cpp_shape_fn"
    ),
    *not_offered(
        "tf.python.framework.common_shapes",
        "avg_pool_shape conv2d_shape depthwise_conv2d_native_shape get2d_conv_output_size "
        "get_conv_output_size has_fully_defined_shape matmul_shape max_pool_shape no_outputs rank "
        "scalar_shape separable_conv2d_shape unchanged_shape unchanged_shape_with_rank "
        "unchanged_shape_with_rank_at_least unchanged_shape_with_rank_at_most unknown_shape",
        _SHAPES,
    ),
    *not_offered(
        "tf.python.framework.op_def_library",
        "OpDefLibrary",
        "load operations by tf.load_op_library",
    ),
    *not_offered(
        "tf.tools.graph_transforms", "*", "TensorFlow 2 removed it; use tf.lite to optimise graphs"
    ),
    *not_offered(
        "tf.python.eager.profiler", "*", "use tf.profiler.experimental or --profile_at_step"
    ),
    *not_offered(
        ("tf.python.tpu.tpu_embedding", "tf.python.tpu.tpu_embedding_gradient"),
        "*",
        "embeddings on TPUs are not supported",
    ),
    # Keras 2's private modules, which TensorFlow has only in part.
    *(
        row
        for module, names in _APPLICATIONS.items()
        for row in alias(
            f"tf.python.keras.applications.{module}",
            f"keras.applications.{module}",
            f"{names} decode_predictions preprocess_input",
            note=_KERAS,
        )
    ),
    *(
        row
        for names in dict.fromkeys(" ".join(_APPLICATIONS.values()).split())
        for row in alias("tf.python.keras.applications", "keras.applications", names, note=_KERAS)
    ),
    *alias(
        "tf.python.keras.applications.imagenet_utils",
        "keras.applications.imagenet_utils",
        "decode_predictions preprocess_input",
        note=_KERAS,
    ),
    *(
        row
        for module, names in _LAYERS.items()
        for row in alias(
            ("tf.python.keras.layers", f"tf.python.keras.layers.{module}"),
            "keras.layers",
            names,
            note=_KERAS,
        )
    ),
    *alias(
        ("tf.python.keras.layers", "tf.python.keras.layers.recurrent_v2"),
        "tensorflow.python.keras.layers.recurrent",
        "GRU GRUCell LSTM LSTMCell",
    ),
    *reimplemented(
        ("tf.python.keras.layers", "tf.python.keras.layers.normalization"),
        "tf_frame_legacy.keras_layers",
        "BatchNormalization",
    ),
    *(
        row
        for module in _DATA
        for row in alias(
            f"tf.python.keras.datasets.{module}", f"keras.datasets.{module}", "load_data"
        )
    ),
    *alias(
        "tf.python.keras.utils",
        "keras.utils",
        "CustomObjectScope Progbar Sequence custom_object_scope deserialize_keras_object "
        "get_custom_objects get_file model_to_dot normalize plot_model serialize_keras_object "
        "to_categorical",
    ),
    *alias(
        "tf.python.keras.preprocessing.sequence",
        "keras.preprocessing.sequence",
        "pad_sequences",
    ),
    *alias(
        "tf.python.keras.preprocessing.sequence",
        "keras.src.utils.python_utils",
        "_remove_long_seq=remove_long_seq",
    ),
    *alias(
        "tf.python.keras.optimizers",
        "keras.optimizers",
        "Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD",
        note=_KERAS,
    ),
    *alias(
        "tf.python.keras.initializers",
        "tensorflow.python.keras.initializers.initializers_v2",
        "Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity LecunNormal LecunUniform "
        "Ones Orthogonal RandomNormal RandomUniform TruncatedNormal VarianceScaling Zeros "
        "glorot_normal=GlorotNormal glorot_uniform=GlorotUniform he_normal=HeNormal "
        "he_uniform=HeUniform lecun_normal=LecunNormal lecun_uniform=LecunUniform",
    ),
    *alias(
        "tf.python.keras.preprocessing.image",
        "keras.preprocessing.image",
        "array_to_img img_to_array load_img",
    ),
    *not_offered(
        "tf.python.keras.api", "*", "import from tensorflow.keras; its version 3 has other classes"
    ),
    *not_offered(
        "tf.python.keras.layers",
        "BatchNormalizationV2 CuDNNGRU CuDNNLSTM LocallyConnected1D LocallyConnected2D "
        "RandomFourierFeatures",
        "Keras has removed it",
    ),
]
