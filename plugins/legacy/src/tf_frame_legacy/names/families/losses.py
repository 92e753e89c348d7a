"""tf.contrib.losses, which has predictions before labels."""

from tf_frame_legacy.names.row import not_offered, ours, reimplemented

_LEARNING = (
    "tf.contrib.losses.metric_learning",
    "tf.contrib.losses.python.metric_learning",
    "tf.contrib.losses.python.metric_learning.metric_loss_ops",
)

ROWS = [
    *ours(
        (
            "tf.contrib.losses",
            "tf.contrib.losses.python.losses",
            "tf.contrib.losses.python.losses.loss_ops",
        ),
        "tf_frame_legacy.slim.losses",
        "absolute_difference add_loss compute_weighted_loss cosine_distance get_losses "
        "get_regularization_losses get_total_loss hinge_loss log_loss "
        "mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy "
        "softmax_cross_entropy sparse_softmax_cross_entropy",
    ),
    *reimplemented(
        _LEARNING,
        "tf_frame_legacy.contrib.metric_learning",
        "contrastive_loss npairs_loss triplet_semihard_loss",
    ),
    *not_offered(
        _LEARNING,
        "cluster_loss lifted_struct_loss npairs_loss_multilabel",
        "take it from the archived package tensorflow_addons, or use triplet_semihard_loss",
    ),
]
