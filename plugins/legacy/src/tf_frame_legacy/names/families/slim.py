"""tf_slim and tf.contrib.slim, with their networks."""

from tf_frame_legacy.names.row import not_offered, ours, reimplemented

_NAMESPACES = ("tf_slim", "tf.contrib.slim")
_PRIVATE = "tf.contrib.slim.python.slim"
_SLIM = "tf_frame_legacy.slim"
_NETS = f"{_SLIM}.nets"
_VISION = "tf_frame_vision.nets"
_NEEDS_VISION = "needs the plugin tf-frame-vision"
_LAYERS = (
    "avg_pool2d avg_pool3d batch_norm bias_add conv1d conv2d conv2d_in_plane "
    "conv2d_transpose conv3d conv3d_transpose convolution convolution1d convolution2d "
    "convolution2d_in_plane convolution2d_transpose convolution3d convolution3d_transpose "
    "dense_to_sparse dropout elu embed_sequence embedding_lookup_unique flatten fully_connected "
    "group_norm images_to_sequence instance_norm layer_norm legacy_fully_connected legacy_linear "
    "legacy_relu linear max_pool2d max_pool3d maxout one_hot_encoding pool relu relu6 repeat "
    "scale_gradient separable_conv2d separable_convolution2d sequence_to_images softmax "
    "spatial_softmax stack unit_norm"
)
_INITIALIZERS = "variance_scaling_initializer xavier_initializer xavier_initializer_conv2d"
_REGULARIZERS = (
    "apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer"
)
_OPTIMIZERS = "OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES adaptive_clipping_fn optimize_loss"
_SUMMARIES = (
    "summarize_activation summarize_activations summarize_biases summarize_collection "
    "summarize_tensor summarize_tensors summarize_variables summarize_weights"
)
_SCOPES = (
    "add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope "
    "has_arg_scope"
)
_VARIABLES = (
    "VariableDeviceChooser add_model_variable assert_global_step assert_or_get_global_step "
    "assign_from_checkpoint assign_from_checkpoint_fn assign_from_values assign_from_values_fn "
    "create_global_step filter_variables get_global_step get_local_variables get_model_variables "
    "get_or_create_global_step get_trainable_variables get_unique_variable get_variable_full_name "
    "get_variables get_variables_by_name get_variables_by_suffix get_variables_to_restore "
    "global_variable local_variable model_variable variable"
)
_UTILS = (
    "append_tensor_alias append_tensor_aliases channel_dimension collect_named_outputs "
    "constant_value convert_collection_to_dict gather_tensors_aliases get_tensor_aliases "
    "get_variable_collections last_dimension n_positive_integers smart_cond static_cond "
    "two_element_tuple"
)
_LOSSES = (
    "absolute_difference add_loss compute_weighted_loss cosine_distance get_losses "
    "get_regularization_losses get_total_loss hinge_loss log_loss mean_pairwise_squared_error "
    "mean_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy"
)
# Submodule -> its names; below `data` in the private modules.
_MODULES = {
    "evaluation": "checkpoints_iterator evaluate_once evaluation_loop wait_for_new_checkpoint",
    "learning": "add_gradients_summaries clip_gradient_norms create_train_op multiply_gradients "
    "train train_step",
    "model_analyzer": "analyze_ops analyze_vars tensor_description",
    "queues": "NestedQueueRunnerError QueueRunners",
    "summaries": "add_histogram_summaries add_histogram_summary add_image_summaries "
    "add_image_summary add_scalar_summaries add_scalar_summary add_zero_fraction_summaries "
    "add_zero_fraction_summary",
}
_DATA = {
    "data_decoder": "DataDecoder",
    "data_provider": "DataProvider",
    "dataset": "Dataset",
    "dataset_data_provider": "DatasetDataProvider",
    "parallel_reader": "ParallelReader get_data_files parallel_read single_pass_read",
    "prefetch_queue": "prefetch_queue",
    "tfexample_decoder": "BackupHandler BoundingBox Image ItemHandler ItemHandlerCallback "
    "LookupTensor SparseTensor TFExampleDecoder Tensor",
}


def _within(module: str) -> tuple[str, ...]:
    """Returns a module of both namespaces."""
    return tuple(f"{namespace}.{module}" for namespace in _NAMESPACES)


def _nets(module: str) -> tuple[str, ...]:
    return (*_within(f"nets.{module}"), f"{_PRIVATE}.nets.{module}")


ROWS = [
    *ours(
        _NAMESPACES,
        _SLIM,
        f"bucketize {_LAYERS} {_INITIALIZERS} {_REGULARIZERS} {_OPTIMIZERS} {_SUMMARIES} {_SCOPES} "
        f"{_VARIABLES}",
    ),
    *ours((*_within("layers"), "tf_slim.layers.layers"), f"{_SLIM}.layers", _LAYERS),
    *ours((*_within("initializers"), "tf_slim.layers.initializers"), _SLIM, _INITIALIZERS),
    *ours((*_within("regularizers"), "tf_slim.layers.regularizers"), _SLIM, _REGULARIZERS),
    *ours((*_within("optimizers"), "tf_slim.layers.optimizers"), _SLIM, _OPTIMIZERS),
    *ours("tf_slim.layers.summaries", _SLIM, _SUMMARIES),
    *ours(("tf_slim.layers.utils", *_within("utils")), f"{_SLIM}.utils", _UTILS),
    *ours(("tf_slim.ops.arg_scope", *_within("scopes")), _SLIM, _SCOPES),
    *ours(("tf_slim.ops.variables", *_within("variables")), f"{_SLIM}.variables", _VARIABLES),
    *ours((*_within("losses"), "tf_slim.losses.loss_ops"), f"{_SLIM}.losses", _LOSSES),
    *(
        row
        for module, names in _MODULES.items()
        for row in ours((*_within(module), f"{_PRIVATE}.{module}"), f"{_SLIM}.{module}", names)
    ),
    *(
        row
        for module, names in _DATA.items()
        for row in ours(
            (*_within(module), f"tf_slim.data.{module}", f"{_PRIVATE}.data.{module}"),
            f"{_SLIM}.{module}",
            names,
        )
    ),
    *ours(
        ("tf_slim.training", "tf_slim.training.training"),
        "tf_frame_legacy.training",
        "add_gradients_summaries clip_gradient_norms clip_gradient_norms_fn create_train_op "
        "multiply_gradients train",
    ),
    *(
        row
        for version in ("v1", "v2")
        for row in reimplemented(
            _nets(f"resnet_{version}"),
            f"{_NETS}.resnet_{version}",
            f"bottleneck resnet_arg_scope resnet_{version} resnet_{version}_101 "
            f"resnet_{version}_152 resnet_{version}_200 resnet_{version}_50 "
            f"resnet_{version}_block",
            note=_NEEDS_VISION,
        )
    ),
    *reimplemented(
        _nets("resnet_utils"),
        f"{_NETS}.resnet_utils",
        "Block conv2d_same resnet_arg_scope stack_blocks_dense subsample",
        note=_NEEDS_VISION,
    ),
    *ours(_nets("vgg"), f"{_VISION}.vgg", "vgg_16 vgg_19 vgg_a vgg_arg_scope", note=_NEEDS_VISION),
    *ours(
        _nets("alexnet"),
        f"{_VISION}.alexnet",
        "alexnet_v2 alexnet_v2_arg_scope",
        note=_NEEDS_VISION,
    ),
    *reimplemented(
        _nets("overfeat"), f"{_NETS}.overfeat", "overfeat overfeat_arg_scope", note=_NEEDS_VISION
    ),
    *(
        row
        for version in ("v1", "v2", "v3")
        for row in reimplemented(
            (*_nets("inception"), *_nets(f"inception_{version}")),
            f"{_NETS}.inception",
            f"inception_{version} inception_{version}_arg_scope inception_{version}_base",
            note=_NEEDS_VISION,
        )
    ),
    *not_offered(
        ("tf_slim", "tf.contrib.slim", "tf_slim.layers"),
        "GDN RevBlock gdn recompute_grad rev_block",
        "hardly used; use tf.recompute_grad, and tensorflow-compression for GDN",
    ),
]
