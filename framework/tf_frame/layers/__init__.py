"""Layers made of `get_variable` and `tf.nn`, with slim's variable names.

Arguments, defaults, collections and initial values are tf-slim's, too, so networks for slim build
unchanged, and their checkpoints load.

    from tf_frame import layers

    with layers.arg_scope([layers.conv2d], normalizer_fn=layers.batch_norm,
                          normalizer_params={"is_training": True, "decay": 0.97}):
        net = layers.conv2d(images, 32, 3, stride=2)
        # Conv/weights, Conv/BatchNorm/beta, Conv/BatchNorm/moving_mean, ...

Tensors are NHWC, `[batch, height, width, channels]`, unless `data_format` says
otherwise. Importing this package imports TensorFlow.
"""

import typing

from tf_frame.layers import losses as losses
from tf_frame.layers.arg_scope import (
    add_arg_scope as add_arg_scope,
    arg_scope as arg_scope,
    arg_scope_func_key as arg_scope_func_key,
    arg_scoped_arguments as arg_scoped_arguments,
    current_arg_scope as current_arg_scope,
    has_arg_scope as has_arg_scope,
)
from tf_frame.layers.batch_norm import batch_norm as batch_norm
from tf_frame.layers.conditions import constant_value as constant_value, smart_cond as smart_cond
from tf_frame.layers.conv import (
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    convolution as convolution,
    convolution1d as convolution1d,
    convolution2d as convolution2d,
    convolution3d as convolution3d,
)
from tf_frame.layers.conv_transpose import (
    conv2d_transpose as conv2d_transpose,
    conv3d_transpose as conv3d_transpose,
    convolution2d_transpose as convolution2d_transpose,
    convolution3d_transpose as convolution3d_transpose,
)
from tf_frame.layers.dense import (
    bias_add as bias_add,
    elu as elu,
    embed_sequence as embed_sequence,
    embedding_lookup_unique as embedding_lookup_unique,
    fully_connected as fully_connected,
    linear as linear,
    relu as relu,
    relu6 as relu6,
)
from tf_frame.layers.functional import (
    dropout as dropout,
    flatten as flatten,
    maxout as maxout,
    one_hot_encoding as one_hot_encoding,
    softmax as softmax,
)
from tf_frame.layers.initializers import (
    variance_scaling_initializer as variance_scaling_initializer,
    xavier_initializer as xavier_initializer,
    xavier_initializer_conv2d as xavier_initializer_conv2d,
)
from tf_frame.layers.norms import (
    group_norm as group_norm,
    instance_norm as instance_norm,
    layer_norm as layer_norm,
    unit_norm as unit_norm,
)
from tf_frame.layers.outputs import (
    append_tensor_alias as append_tensor_alias,
    append_tensor_aliases as append_tensor_aliases,
    collect_named_outputs as collect_named_outputs,
    convert_collection_to_dict as convert_collection_to_dict,
    gather_tensors_aliases as gather_tensors_aliases,
    get_tensor_aliases as get_tensor_aliases,
    get_variable_collections as get_variable_collections,
)
from tf_frame.layers.pooling import (
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    global_average_pool as global_average_pool,
    global_avg_pool as global_avg_pool,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    pool as pool,
)
from tf_frame.layers.regularizers import (
    apply_regularization as apply_regularization,
    l1_l2_regularizer as l1_l2_regularizer,
    l1_regularizer as l1_regularizer,
    l2_regularizer as l2_regularizer,
    sum_regularizer as sum_regularizer,
)
from tf_frame.layers.repeat import repeat as repeat, stack as stack
from tf_frame.layers.separable_conv import (
    conv2d_in_plane as conv2d_in_plane,
    convolution2d_in_plane as convolution2d_in_plane,
    separable_conv2d as separable_conv2d,
    separable_convolution2d as separable_convolution2d,
)
from tf_frame.layers.sizes import (
    channel_dimension as channel_dimension,
    last_dimension as last_dimension,
    n_positive_integers as n_positive_integers,
    two_element_tuple as two_element_tuple,
)
from tf_frame.layers.spatial import (
    resize_bilinear as resize_bilinear,
    spatial_size as spatial_size,
    spatial_softmax as spatial_softmax,
)
from tf_frame.layers.variable_lists import (
    filter_variables as filter_variables,
    get_local_variables as get_local_variables,
    get_model_variables as get_model_variables,
    get_trainable_variables as get_trainable_variables,
    get_unique_variable as get_unique_variable,
    get_variable_full_name as get_variable_full_name,
    get_variables as get_variables,
    get_variables_by_name as get_variables_by_name,
    get_variables_by_suffix as get_variables_by_suffix,
    get_variables_to_restore as get_variables_to_restore,
)
from tf_frame.layers.variables import (
    add_model_variable as add_model_variable,
    global_variable as global_variable,
    local_variable as local_variable,
    model_variable as model_variable,
    variable as variable,
)

if not typing.TYPE_CHECKING:
    # `import *` gives these, without the modules of the package.
    __all__ = ["losses", *(name for name, value in globals().copy().items() if callable(value))]
