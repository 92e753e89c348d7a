"""tf.contrib.framework, with the modules beneath it that programs import."""

from tf_frame_legacy.names.row import alias, not_offered, ours, reimplemented

_ROOT = "tf.contrib.framework"
_OPS = f"{_ROOT}.python.ops"
_FRAMEWORK = f"{_ROOT}.python.framework"
_SCOPES = "add_arg_scope arg_scope arg_scoped_arguments current_arg_scope has_arg_scope"
_VARIABLES = (
    "VariableDeviceChooser add_model_variable assert_global_step assert_or_get_global_step "
    "assign_from_checkpoint assign_from_checkpoint_fn assign_from_values assign_from_values_fn "
    "create_global_step filter_variables get_global_step get_local_variables get_model_variables "
    "get_or_create_global_step get_trainable_variables get_unique_variable "
    "get_variable_full_name get_variables get_variables_by_name get_variables_by_suffix "
    "get_variables_to_restore global_variable local_variable model_variable variable"
)
_NEST = (
    "assert_same_structure assert_shallow_structure flatten flatten_dict_items flatten_up_to "
    "flatten_with_joined_string_paths flatten_with_tuple_paths flatten_with_tuple_paths_up_to "
    "get_traverse_shallow_structure is_nested is_sequence=is_nested is_sequence_or_composite="
    "is_nested_or_composite map_structure map_structure_up_to map_structure_with_paths "
    "map_structure_with_tuple_paths map_structure_with_tuple_paths_up_to pack_sequence_as "
    "yield_flat_paths"
)

ROWS = [
    *ours(
        (_ROOT, _OPS, f"{_OPS}.arg_scope"),
        "tf_frame.layers.arg_scope",
        _SCOPES,
    ),
    *ours((_ROOT, _OPS, f"{_OPS}.variables"), "tf_frame_legacy.slim.variables", _VARIABLES),
    *reimplemented(
        _ROOT,
        "tf_frame_legacy.contrib.framework",
        "assert_scalar_int get_graph_from_inputs get_name_scope get_placeholders "
        "init_from_checkpoint list_variables load_checkpoint "
        "load_linear_multiclass_bias_initializer load_variable py_func reduce_sum_n "
        "remove_squeezable_dimensions with_same_shape with_shape",
    ),
    *reimplemented(
        (_FRAMEWORK, f"{_FRAMEWORK}.checkpoint_utils"),
        "tf_frame_legacy.contrib.framework",
        "init_from_checkpoint list_variables load_checkpoint load_variable",
    ),
    *reimplemented(
        f"{_FRAMEWORK}.tensor_util",
        "tf_frame_legacy.contrib.framework",
        "assert_scalar_int reduce_sum_n remove_squeezable_dimensions with_same_shape with_shape",
    ),
    *reimplemented(
        (_OPS, f"{_OPS}.ops"),
        "tf_frame_legacy.contrib.framework",
        "get_graph_from_inputs get_name_scope",
    ),
    *alias(
        _ROOT,
        "tensorflow.compat.v1",
        "TensorSpec argsort assert_same_float_dtype assert_scalar "
        "convert_to_tensor_or_sparse_tensor is_non_decreasing is_numeric_tensor "
        "is_strictly_increasing is_tensor sort",
    ),
    *alias(_ROOT, "tensorflow.compat.v1", "CriticalSection"),
    *alias(f"{_OPS}.critical_section_ops", "tensorflow.compat.v1", "CriticalSection"),
    *alias(
        f"{_FRAMEWORK}.tensor_util",
        "tensorflow.compat.v1",
        "assert_same_float_dtype assert_scalar convert_to_tensor_or_sparse_tensor is_tensor",
    ),
    *alias(
        (_ROOT, _FRAMEWORK),
        "tensorflow.python.util.deprecation",
        "deprecated deprecated_arg_values deprecated_args",
    ),
    *alias(
        _ROOT,
        "tensorflow.python.framework.ops",
        "prepend_name_scope strip_name_scope",
    ),
    *alias(
        _ROOT,
        "tensorflow.python.framework.smart_cond",
        "smart_case smart_cond smart_constant_value",
    ),
    *alias(_ROOT, "tensorflow.python.framework.tensor_spec", "BoundedTensorSpec"),
    *alias(_ROOT, "tensorflow.python.ops.data_flow_ops", "RecordInput"),
    *alias(
        _ROOT,
        "tensorflow.python.ops.init_ops",
        "convolutional_delta_orthogonal=ConvolutionDeltaOrthogonal "
        "convolutional_orthogonal_1d=ConvolutionOrthogonal1D "
        "convolutional_orthogonal_2d=ConvolutionOrthogonal2D "
        "convolutional_orthogonal_3d=ConvolutionOrthogonal3D",
    ),
    *alias(
        _ROOT,
        "tensorflow.python.training.checkpoint_ops",
        "load_and_remap_matrix_initializer=_load_and_remap_matrix_initializer "
        "load_embedding_initializer=_load_embedding_initializer",
    ),
    *alias(
        (f"{_ROOT}.nest", f"{_FRAMEWORK}.nest"),
        "tensorflow.python.util.nest",
        _NEST,
    ),
    *reimplemented(
        "tf.contrib.layers.python.layers.layers",
        "tf_frame_legacy.contrib.layer_variables",
        "_add_variable_to_collections _build_variable_getter",
    ),
    *not_offered(
        _ROOT,
        "fuse_op",
        "it served the remote graphs of Hexagon processors; use TensorFlow Lite's delegates",
    ),
    *not_offered(
        _ROOT,
        "load_variable_slot_initializer",
        "restore slots with tf.train.Saver, or tf-frame's warm start with vocabularies",
    ),
    *not_offered(_ROOT, "zero_initializer", "its operation is gone; use tf.zeros_initializer()"),
]
