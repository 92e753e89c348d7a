"""tf.contrib.layers: slim's layers, regularizers and summaries, and feature columns."""

from tf_frame_legacy.names.row import not_offered, ours, reimplemented

_LAYERS = "tf.contrib.layers"
_PRIVATE = f"{_LAYERS}.python.layers"
_OPS = f"{_LAYERS}.python.ops"
_SLIM = "tf_frame_legacy.slim"
_COLUMNS = "columns of tf.feature_column; crossed columns hash as tf.feature_column does"
_CANNED = "use tf.estimator's canned estimators and heads"

ROWS = [
    *ours(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.layers"),
        _SLIM,
        "avg_pool2d avg_pool3d batch_norm bias_add conv1d conv2d conv2d_in_plane conv2d_transpose "
        "conv3d conv3d_transpose convolution convolution1d convolution2d convolution2d_in_plane "
        "convolution2d_transpose convolution3d convolution3d_transpose dense_to_sparse dropout elu "
        "flatten fully_connected images_to_sequence layer_norm legacy_fully_connected "
        "legacy_linear legacy_relu linear max_pool2d max_pool3d maxout one_hot_encoding pool relu "
        "relu6 repeat scale_gradient separable_conv2d separable_convolution2d sequence_to_images "
        "softmax spatial_softmax stack unit_norm",
    ),
    *ours((_LAYERS, _PRIVATE, f"{_PRIVATE}.normalization"), _SLIM, "group_norm instance_norm"),
    *ours(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.initializers"),
        _SLIM,
        "variance_scaling_initializer xavier_initializer xavier_initializer_conv2d",
    ),
    *ours(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.regularizers"),
        _SLIM,
        "apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer",
    ),
    *ours(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.optimizers"),
        _SLIM,
        "OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES adaptive_clipping_fn optimize_loss",
    ),
    *ours(
        (_LAYERS, _PRIVATE, f"{_LAYERS}.summaries", f"{_PRIVATE}.summaries"),
        _SLIM,
        "summarize_activation summarize_activations summarize_biases summarize_collection "
        "summarize_tensor summarize_tensors summarize_variables summarize_weights",
    ),
    *ours(
        f"{_PRIVATE}.utils",
        f"{_SLIM}.utils",
        "append_tensor_alias append_tensor_aliases channel_dimension collect_named_outputs "
        "constant_value convert_collection_to_dict gather_tensors_aliases get_tensor_aliases "
        "get_variable_collections last_dimension n_positive_integers smart_cond static_cond "
        "two_element_tuple",
    ),
    *ours((_LAYERS, _PRIVATE, f"{_OPS}.bucketization_op"), _SLIM, "bucketize"),
    *ours(
        f"{_OPS}.sparse_ops",
        f"{_SLIM}.layers.sparse_ops",
        "dense_to_sparse_tensor indicators_to_sparse_ids sparse_row_envelope",
    ),
    *ours((_LAYERS, _PRIVATE, f"{_PRIVATE}.encoders"), _SLIM, "embed_sequence"),
    *reimplemented(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.encoders"), "tf_frame_legacy.contrib.layers", "bow_encoder"
    ),
    *ours((_LAYERS, _PRIVATE, f"{_PRIVATE}.embedding_ops"), _SLIM, "embedding_lookup_unique"),
    *reimplemented(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.embedding_ops"),
        "tf_frame_legacy.contrib.layers",
        "safe_embedding_lookup_sparse",
    ),
    *reimplemented(
        (_LAYERS, _PRIVATE, f"{_LAYERS}.feature_column", f"{_PRIVATE}.feature_column"),
        "tf_frame_legacy.contrib.feature_columns",
        "bucketized_column create_feature_spec_for_parsing crossed_column embedding_column "
        "make_place_holder_tensors_for_base_features one_hot_column real_valued_column "
        "shared_embedding_columns sparse_column_with_hash_bucket "
        "sparse_column_with_integerized_feature sparse_column_with_keys "
        "sparse_column_with_vocabulary_file weighted_sparse_column",
        note=_COLUMNS,
    ),
    *reimplemented(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.feature_column_ops"),
        "tf_frame_legacy.contrib.feature_columns",
        "check_feature_columns infer_real_valued_columns input_from_feature_columns "
        "parse_feature_columns_from_examples weighted_sum_from_feature_columns",
        note=_COLUMNS,
    ),
    *reimplemented(
        (_LAYERS, _PRIVATE, f"{_OPS}.sparse_feature_cross_op"),
        "tf_frame_legacy.contrib.feature_columns",
        "SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
    ),
    *not_offered(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.feature_column_ops"),
        "joint_weighted_sum_from_feature_columns parse_feature_columns_from_sequence_examples "
        "sequence_input_from_feature_columns transform_features",
        "hardly used; weighted_sum_from_feature_columns, tf.io.parse_single_sequence_example and "
        "tf.feature_column.sequence_* stand for them",
    ),
    *not_offered(
        (_LAYERS, _PRIVATE, f"{_LAYERS}.feature_column", f"{_PRIVATE}.feature_column"),
        "DataFrameColumn scattered_embedding_column",
        "hardly used; use sparse_column_with_hash_bucket and embedding_column",
    ),
    *not_offered(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.embedding_ops"),
        "embedding_lookup_sparse_with_distributed_aggregation scattered_embedding_lookup "
        "scattered_embedding_lookup_sparse",
        "hardly used; use tf.nn.embedding_lookup_sparse",
    ),
    *not_offered(
        (_LAYERS, _PRIVATE, f"{_OPS}.sparse_feature_cross_op"),
        "sparse_feature_cross",
        "its operation is in no TensorFlow 2 wheel; use tf.sparse.cross_hashed",
    ),
    *not_offered(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.target_column"),
        "ProblemType binary_svm_target get_default_binary_metrics_for_eval multi_class_target "
        "regression_target",
        f"part of tf.contrib.learn's estimators; {_CANNED}",
    ),
    *not_offered(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.rev_block_lib"),
        "RevBlock recompute_grad rev_block",
        "they need eager functions within the graph; use tf.recompute_grad, or keep activations",
    ),
    *not_offered(
        (_LAYERS, _PRIVATE, f"{_PRIVATE}.layers"),
        "GDN gdn",
        "use the GDN layer of the package tensorflow-compression",
    ),
]
