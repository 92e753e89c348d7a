"""The names that `import tf_slim as slim` brought, and what became of them.

The lists are those of `dir(tf_slim)` of tf_slim 1.1.0, without the modules of
TensorFlow that its star imports brought along.
"""

import inspect
import types

import pytest

import tf_frame_legacy.slim
from tf_frame import layers
from tf_frame_legacy import slim

FUNCTIONS = """
    VariableDeviceChooser adaptive_clipping_fn add_arg_scope add_model_variable
    apply_regularization arg_scope arg_scope_func_key arg_scoped_arguments assert_global_step
    assert_or_get_global_step assign_from_checkpoint assign_from_checkpoint_fn assign_from_values
    assign_from_values_fn avg_pool2d avg_pool3d batch_norm bias_add bucketize conv1d conv2d
    conv2d_in_plane conv2d_transpose conv3d conv3d_transpose convolution convolution1d
    convolution2d convolution2d_in_plane convolution2d_transpose convolution3d
    convolution3d_transpose create_global_step current_arg_scope dense_to_sparse dropout elu
    filter_variables flatten fully_connected get_global_step get_local_variables
    get_model_variables get_or_create_global_step get_trainable_variables get_unique_variable
    get_variable_full_name get_variables get_variables_by_name get_variables_by_suffix
    get_variables_to_restore global_variable group_norm has_arg_scope images_to_sequence
    instance_norm l1_l2_regularizer l1_regularizer l2_regularizer layer_norm
    legacy_fully_connected legacy_linear legacy_relu linear local_variable max_pool2d max_pool3d
    maxout model_variable one_hot_encoding optimize_loss pool relu relu6 repeat scale_gradient
    separable_conv2d separable_convolution2d sequence_to_images softmax spatial_softmax stack
    sum_regularizer summarize_activation summarize_activations summarize_biases
    summarize_collection summarize_tensor summarize_tensors summarize_variables
    summarize_weights unit_norm variable variance_scaling_initializer xavier_initializer
    xavier_initializer_conv2d
"""

MODULES = {
    "data": "data_decoder data_provider dataset dataset_data_provider parallel_reader "
    "prefetch_queue tfexample_decoder",
    "data_decoder": "DataDecoder",
    "data_provider": "DataProvider",
    "dataset": "Dataset",
    "dataset_data_provider": "DatasetDataProvider",
    "evaluation": "StopAfterNEvalsHook SummaryAtEndHook checkpoints_iterator evaluate_once "
    "evaluate_repeatedly evaluation_loop get_or_create_eval_step wait_for_new_checkpoint",
    "initializers": "variance_scaling_initializer xavier_initializer",
    "layers": "conv2d fully_connected batch_norm dense_to_sparse images_to_sequence "
    "legacy_fully_connected legacy_linear legacy_relu scale_gradient sequence_to_images",
    "learning": "add_gradients_summaries clip_gradient_norms create_train_op multiply_gradients "
    "train train_step",
    "losses": "absolute_difference add_loss compute_weighted_loss cosine_distance get_losses "
    "get_regularization_losses get_total_loss hinge_loss log_loss mean_pairwise_squared_error "
    "mean_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy",
    "metrics": "accuracy aggregate_metric_map aggregate_metrics cohen_kappa count f1_score "
    "sparse_recall_at_top_k streaming_accuracy streaming_auc streaming_concat "
    "streaming_covariance streaming_pearson_correlation "
    "streaming_false_negative_rate streaming_false_negative_rate_at_thresholds "
    "streaming_false_negatives streaming_false_negatives_at_thresholds "
    "streaming_false_positive_rate streaming_false_positive_rate_at_thresholds "
    "streaming_false_positives streaming_false_positives_at_thresholds streaming_mean "
    "streaming_mean_absolute_error streaming_mean_cosine_distance streaming_mean_iou "
    "streaming_mean_relative_error streaming_mean_squared_error streaming_mean_tensor "
    "streaming_percentage_less streaming_precision streaming_precision_at_thresholds "
    "streaming_recall streaming_recall_at_k streaming_recall_at_thresholds "
    "streaming_root_mean_squared_error streaming_sensitivity_at_specificity "
    "streaming_sparse_average_precision_at_k streaming_sparse_precision_at_k "
    "streaming_sparse_precision_at_top_k streaming_sparse_recall_at_k "
    "streaming_specificity_at_sensitivity streaming_true_negatives "
    "streaming_true_negatives_at_thresholds streaming_true_positives "
    "streaming_true_positives_at_thresholds",
    "model_analyzer": "analyze_ops analyze_vars tensor_description",
    "optimizers": "OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES adaptive_clipping_fn optimize_loss",
    "parallel_reader": "ParallelReader parallel_read single_pass_read get_data_files",
    "prefetch_queue": "prefetch_queue",
    "queues": "NestedQueueRunnerError QueueRunners",
    "regularizers": "apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer "
    "sum_regularizer",
    "summaries": "add_histogram_summaries add_histogram_summary add_image_summaries "
    "add_image_summary add_scalar_summaries add_scalar_summary add_zero_fraction_summaries "
    "add_zero_fraction_summary",
    "tfexample_decoder": "BackupHandler BoundingBox Image ItemHandler ItemHandlerCallback "
    "LookupTensor SparseTensor TFExampleDecoder Tensor",
    "train_eval": "StopAfterNEvalsHook SummaryAtEndHook checkpoints_iterator evaluate_once "
    "evaluate_repeatedly get_or_create_eval_step wait_for_new_checkpoint",
    "training": "add_gradients_summaries clip_gradient_norms clip_gradient_norms_fn "
    "create_train_op multiply_gradients train",
    "utils": "append_tensor_alias channel_dimension collect_named_outputs constant_value "
    "convert_collection_to_dict gather_tensors_aliases get_tensor_aliases "
    "get_variable_collections last_dimension n_positive_integers smart_cond static_cond "
    "two_element_tuple",
}

# Not offered; README.md says so, too.
LEFT_OUT = {
    "GDN": "a Keras layer",
    "gdn": "the function of that Keras layer",
    "RevBlock": "a Keras layer; it differentiates by functions of TensorFlow that are private",
    "rev_block": "the function of that Keras layer",
    "recompute_grad": "TensorFlow has its own, tf.recompute_grad",
}
LOSSES_LEFT_OUT = """
    cluster_loss contrastive_loss lifted_struct_loss metric_learning npairs_loss
    npairs_loss_multilabel triplet_semihard_loss
"""


def test_every_function_of_slim_is_there_or_left_out_on_purpose():
    for name in FUNCTIONS.split():
        assert callable(getattr(slim, name)), name
        assert name in slim.__all__, name
    for left_out in LEFT_OUT:
        assert not hasattr(slim, left_out), left_out
    assert slim.OPTIMIZER_CLS_NAMES.keys() == {
        *("Adagrad", "Adam", "Ftrl", "Momentum", "RMSProp", "SGD")
    }


def test_every_module_of_slim_has_its_names():
    for module, names in MODULES.items():
        namespace = getattr(slim, module)
        assert isinstance(namespace, types.ModuleType), module
        assert module in slim.__all__, module
        for name in names.split():
            assert hasattr(namespace, name), f"{module}.{name}"
    assert not [name for name in LOSSES_LEFT_OUT.split() if hasattr(slim.losses, name)]


def test_what_is_offered_beyond_slim_is_known():
    beyond = set(slim.__all__) - set(FUNCTIONS.split()) - MODULES.keys()
    # Of TF 1's contrib.layers, and of the Inception trainer's slim.
    assert beyond == {
        *("OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "embed_sequence"),
        *("embedding_lookup_unique", "global_avg_pool", "global_step", "scopes", "variables"),
    }


def test_both_ways_to_import_it_give_the_same():
    assert tf_frame_legacy.slim is slim
    assert all(getattr(slim.layers, name) is getattr(layers, name) for name in layers.__all__)
    assert slim.conv2d is slim.layers.conv2d is layers.conv2d
    assert slim.losses.softmax_cross_entropy is layers.losses.softmax_cross_entropy


def test_arg_scope_reaches_what_the_namespace_offers():
    with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=None) as scope:
        assert slim.has_arg_scope(slim.conv2d)
    assert scope[slim.arg_scope_func_key(slim.conv2d)] == {"activation_fn": None}
    for name in ("conv2d", "batch_norm", "dropout", "variable", "model_variable", "max_pool2d"):
        assert slim.has_arg_scope(getattr(slim, name)), name


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("conv2d", ["inputs", "num_outputs", "kernel_size", "stride", "padding", "data_format"]),
        ("fully_connected", ["inputs", "num_outputs", "activation_fn", "normalizer_fn"]),
        ("separable_conv2d", ["inputs", "num_outputs", "kernel_size", "depth_multiplier"]),
        ("batch_norm", ["inputs", "decay", "center", "scale", "epsilon", "activation_fn"]),
        ("dropout", ["inputs", "keep_prob", "noise_shape", "is_training"]),
        ("max_pool2d", ["inputs", "kernel_size", "stride", "padding"]),
        ("one_hot_encoding", ["labels", "num_classes", "on_value", "off_value"]),
        ("model_variable", ["name", "shape", "dtype", "initializer", "regularizer", "trainable"]),
        ("assign_from_checkpoint_fn", ["model_path", "var_list", "ignore_missing_vars"]),
        ("optimize_loss", ["loss", "global_step", "learning_rate", "optimizer"]),
    ],
)
def test_arguments_come_in_slims_order(name, first):
    assert list(inspect.signature(getattr(slim, name)).parameters)[: len(first)] == first
