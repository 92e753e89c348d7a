"""`DNNLinearCombinedClassifier`, `-Regressor` and `-Estimator`: "wide and deep" models.

The logits are the sum of a linear model, `linear/...`, and of fully connected layers, `dnn/...`;
each has an optimizer of its own. Names are those of tensorflow_estimator 1.15,
python/estimator/canned/dnn_linear_combined.py. The model is from
https://arxiv.org/abs/1606.07792.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import EstimatorSpec
from tf_frame_legacy.estimator.canned import dnn, linear
from tf_frame_legacy.estimator.canned.optimizers import get_optimizer_instance
from tf_frame_legacy.estimator.estimator import Estimator
from tf_frame_legacy.estimator.heads import RegressionHead, binary_or_multi_class_head

_DNN_LEARNING_RATE = 0.001
_LINEAR_LEARNING_RATE = 0.005
_PARTITION_BYTES = 64 << 20
_NO_COLUMNS = "Either linear_feature_columns or dnn_feature_columns must be defined."


def dnn_linear_combined_model_fn(
    features: Mapping[str, Any],
    labels: Any,
    mode: str,
    head: Any,
    linear_feature_columns: Sequence[Any] | None = None,
    linear_optimizer: Any = "Ftrl",
    dnn_feature_columns: Sequence[Any] | None = None,
    dnn_optimizer: Any = "Adagrad",
    dnn_hidden_units: Sequence[int] | None = None,
    dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
    dnn_dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
) -> EstimatorSpec:
    """The model function of `DNNLinearCombinedEstimator`; see there for the arguments."""
    dnn.check_features(features)
    partitioner = input_layer_partitioner or dnn.parameter_server_partitioner(
        config, _PARTITION_BYTES
    )
    units = head.logits_dimension
    logits, optimizers = [], {}
    if dnn_feature_columns:
        if not dnn_hidden_units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        optimizers["dnn"] = _optimizer(dnn_optimizer, _DNN_LEARNING_RATE)
        with tf.variable_scope("dnn", partitioner=dnn.parameter_server_partitioner(config)):
            dnn_fn = dnn.dnn_logit_fn_builder(
                units,
                dnn_hidden_units,
                dnn_feature_columns,
                dnn_activation_fn,
                dnn_dropout,
                partitioner,
                batch_norm,
            )
            logits.append(dnn_fn(features, mode))
    if linear_feature_columns:
        rate = linear.linear_rate(_LINEAR_LEARNING_RATE, linear_feature_columns)
        optimizers["linear"] = _optimizer(linear_optimizer, rate)
        with tf.variable_scope("linear", partitioner=partitioner):
            linear_fn = linear.linear_logit_fn_builder(
                units, linear_feature_columns, linear_sparse_combiner
            )
            logits.append(linear_fn(features))
            dnn.add_summaries(logits[-1], "linear")
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=functools.partial(_train_op, optimizers=optimizers),
        logits=sum(logits[1:], logits[0]),
    )


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and fully connected layers with a head.

    Args:
      head: a head, such as `MultiClassHead`.
      model_dir, config, warm_start_from: see `Estimator`.
      linear_feature_columns: columns of the linear model; None: no linear model.
      linear_optimizer: see `LinearEstimator`; "Ftrl" has the smaller learning rate of 0.005 and
        `1 / sqrt(columns)`.
      dnn_feature_columns: dense columns of the layers; None: no layers.
      dnn_optimizer: see `DNNEstimator`; "Adagrad" has the learning rate 0.001.
      dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm: see `DNNEstimator`.
      input_layer_partitioner: partitioner of the weights and embeddings.
      linear_sparse_combiner: see `LinearEstimator`.

    Raises:
      ValueError: no columns.
    """

    def __init__(
        self,
        head: Any,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        linear_sparse_combiner: str = "sum",
        batch_norm: bool = False,
        warm_start_from: Any = None,
    ) -> None:
        if not linear_feature_columns and not dnn_feature_columns:
            raise ValueError(_NO_COLUMNS)
        model_fn = functools.partial(
            dnn_linear_combined_model_fn,
            head=head,
            linear_feature_columns=tuple(linear_feature_columns or ()),
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=tuple(dnn_feature_columns or ()),
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            input_layer_partitioner=input_layer_partitioner,
            batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """A linear model and fully connected layers that classify.

    Args:
      n_classes: number of classes.
      weight_column, label_vocabulary, loss_reduction: see `BinaryClassHead`.

    Other arguments: see `DNNLinearCombinedEstimator`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = tf.losses.Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            linear_sparse_combiner,
            batch_norm,
            warm_start_from,
        )


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """A linear model and fully connected layers that predict numbers.

    Args:
      label_dimension, weight_column, loss_reduction: see `RegressionHead`.

    Other arguments: see `DNNLinearCombinedEstimator`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = tf.losses.Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            linear_sparse_combiner,
            batch_norm,
            warm_start_from,
        )


def _optimizer(optimizer: Any, learning_rate: float) -> Any:
    optimizer = get_optimizer_instance(optimizer, learning_rate)
    if isinstance(optimizer, tf.train.SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support two optimizers: use a DNN or a linear model."
        )
    return optimizer


def _train_op(loss: Any, optimizers: Mapping[str, Any]) -> Any:
    """Returns a step of the optimizers of the scopes, then of the global step."""
    steps = [
        optimizer.minimize(loss, var_list=tf.trainable_variables(f"{scope}/"))
        for scope, optimizer in optimizers.items()
    ]
    with tf.control_dependencies([tf.group(*steps)]):
        return tf.assign_add(tf.train.get_global_step(), 1).op
