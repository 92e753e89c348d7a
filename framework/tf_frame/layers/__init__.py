"""Layers made of `get_variable` and `tf.nn`, with slim's variable names.

    from tf_frame import layers

    with layers.arg_scope([layers.conv2d], normalizer_fn=layers.batch_norm,
                          normalizer_params={"is_training": True, "decay": 0.97}):
        net = layers.conv2d(images, 32, 3, stride=2)
        # Conv/weights, Conv/BatchNorm/beta, Conv/BatchNorm/moving_mean, ...

Arguments, defaults, collections and initial values are those of tf-slim, too.
Tensors are NHWC, `[batch, height, width, channels]`, unless `data_format` says
otherwise. Importing this package imports TensorFlow.
"""

from tf_frame.layers import losses
from tf_frame.layers.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from tf_frame.layers.batch_norm import batch_norm
from tf_frame.layers.conditions import constant_value, smart_cond
from tf_frame.layers.conv import (
    conv1d,
    conv2d,
    conv3d,
    convolution,
    convolution1d,
    convolution2d,
    convolution3d,
)
from tf_frame.layers.conv_transpose import (
    conv2d_transpose,
    conv3d_transpose,
    convolution2d_transpose,
    convolution3d_transpose,
)
from tf_frame.layers.dense import bias_add, elu, fully_connected, linear, relu, relu6
from tf_frame.layers.embedding import embed_sequence, embedding_lookup_unique
from tf_frame.layers.functional import dropout, flatten, maxout, one_hot_encoding, softmax
from tf_frame.layers.initializers import (
    variance_scaling_initializer,
    xavier_initializer,
    xavier_initializer_conv2d,
)
from tf_frame.layers.norms import group_norm, instance_norm, layer_norm, unit_norm
from tf_frame.layers.outputs import (
    append_tensor_alias,
    append_tensor_aliases,
    collect_named_outputs,
    convert_collection_to_dict,
    gather_tensors_aliases,
    get_tensor_aliases,
    get_variable_collections,
)
from tf_frame.layers.pooling import (
    avg_pool2d,
    avg_pool3d,
    global_average_pool,
    global_avg_pool,
    max_pool2d,
    max_pool3d,
    pool,
)
from tf_frame.layers.regularizers import (
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
)
from tf_frame.layers.repeat import repeat, stack
from tf_frame.layers.separable_conv import (
    conv2d_in_plane,
    convolution2d_in_plane,
    separable_conv2d,
    separable_convolution2d,
)
from tf_frame.layers.sizes import (
    channel_dimension,
    last_dimension,
    n_positive_integers,
    two_element_tuple,
)
from tf_frame.layers.spatial import resize_bilinear, spatial_size, spatial_softmax
from tf_frame.layers.variable_lists import (
    filter_variables,
    get_local_variables,
    get_model_variables,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
)
from tf_frame.layers.variables import (
    add_model_variable,
    global_variable,
    local_variable,
    model_variable,
    variable,
)

__all__ = [
    "add_arg_scope",
    "add_model_variable",
    "append_tensor_alias",
    "append_tensor_aliases",
    "apply_regularization",
    "arg_scope",
    "arg_scope_func_key",
    "arg_scoped_arguments",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bias_add",
    "channel_dimension",
    "collect_named_outputs",
    "constant_value",
    "conv1d",
    "conv2d",
    "conv2d_in_plane",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "convert_collection_to_dict",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution2d_in_plane",
    "convolution2d_transpose",
    "convolution3d",
    "convolution3d_transpose",
    "current_arg_scope",
    "dropout",
    "elu",
    "embed_sequence",
    "embedding_lookup_unique",
    "filter_variables",
    "flatten",
    "fully_connected",
    "gather_tensors_aliases",
    "get_local_variables",
    "get_model_variables",
    "get_tensor_aliases",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_collections",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_average_pool",
    "global_avg_pool",
    "global_variable",
    "group_norm",
    "has_arg_scope",
    "instance_norm",
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2_regularizer",
    "last_dimension",
    "layer_norm",
    "linear",
    "local_variable",
    "losses",
    "max_pool2d",
    "max_pool3d",
    "maxout",
    "model_variable",
    "n_positive_integers",
    "one_hot_encoding",
    "pool",
    "relu",
    "relu6",
    "repeat",
    "resize_bilinear",
    "separable_conv2d",
    "separable_convolution2d",
    "smart_cond",
    "softmax",
    "spatial_size",
    "spatial_softmax",
    "stack",
    "sum_regularizer",
    "two_element_tuple",
    "unit_norm",
    "variable",
    "variance_scaling_initializer",
    "xavier_initializer",
    "xavier_initializer_conv2d",
]
