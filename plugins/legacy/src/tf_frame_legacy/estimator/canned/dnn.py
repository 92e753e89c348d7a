"""`DNNClassifier`, `DNNRegressor` and `DNNEstimator`: fully connected layers on feature columns.

    columns = [tf.feature_column.numeric_column("x", shape=[4])]
    DNNClassifier([10, 10], columns, n_classes=3).train(input_fn, steps=100)

Variables: `dnn/input_from_feature_columns/input_layer/COLUMN/embedding_weights`,
`dnn/hiddenlayer_0/kernel` and `bias`, `dnn/logits/kernel` and `bias`. Operations, variables and
summaries have the names of tensorflow_estimator 1.15, python/estimator/canned/dnn.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import EstimatorSpec, ModeKeys
from tf_frame_legacy import layers
from tf_frame_legacy.estimator.canned.optimizers import get_optimizer_instance
from tf_frame_legacy.estimator.estimator import Estimator
from tf_frame_legacy.estimator.heads import RegressionHead, binary_or_multi_class_head

_LEARNING_RATE = 0.05
_PARTITION_BYTES = 64 << 20


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    activation_fn: Callable[[Any], Any],
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Any]:
    """Returns a function of `features` and `mode` that returns logits.

    Args:
      units: size of the logits.
      hidden_units: sizes of the hidden layers.
      feature_columns: dense feature columns.
      activation_fn: activation of the hidden layers.
      dropout: share of the activations to drop in training; None: none.
      input_layer_partitioner: partitioner of the embeddings; None: the scope's.
      batch_norm: whether batch normalization follows each hidden layer.

    Raises:
      ValueError: `units` is no integer.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int. Given type: {type(units)}")

    def logit_fn(features: Mapping[str, Any], mode: str) -> Any:
        with tf.variable_scope("input_from_feature_columns", partitioner=input_layer_partitioner):
            net = tf.feature_column.input_layer(features, feature_columns)
        training = mode == ModeKeys.TRAIN
        for number, size in enumerate(hidden_units):
            with tf.variable_scope(f"hiddenlayer_{number}") as scope:
                net = _dense(net, size, activation_fn, scope)
                if dropout is not None and training:
                    net = layers.dropout(net, rate=dropout, training=True)
                if batch_norm:
                    net = layers.batch_normalization(
                        net, momentum=0.999, training=training, name=f"batchnorm_{number}"
                    )
            add_summaries(net, scope.name)
        with tf.variable_scope("logits") as scope:
            logits = _dense(net, units, None, scope)
        add_summaries(logits, scope.name)
        return logits

    return logit_fn


def dnn_model_fn(
    features: Mapping[str, Any],
    labels: Any,
    mode: str,
    head: Any,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    optimizer: Any = "Adagrad",
    activation_fn: Callable[[Any], Any] = tf.nn.relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    batch_norm: bool = False,
) -> EstimatorSpec:
    """The model function of `DNNEstimator`; see there for the arguments."""
    check_features(features)
    optimizer = get_optimizer_instance(optimizer, _LEARNING_RATE)
    with tf.variable_scope("dnn", partitioner=parameter_server_partitioner(config)):
        logit_fn = dnn_logit_fn_builder(
            head.logits_dimension,
            hidden_units,
            feature_columns,
            activation_fn,
            dropout,
            input_layer_partitioner or parameter_server_partitioner(config, _PARTITION_BYTES),
            batch_norm,
        )
        # Within the scope, since slots of optimizers have its name: `dnn/dnn/...`.
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            optimizer=optimizer,
            logits=logit_fn(features, mode),
        )


class DNNEstimator(Estimator):
    """Fully connected layers with a head.

    Args:
      head: a head, such as `MultiClassHead`.
      hidden_units: sizes of the hidden layers.
      feature_columns: dense columns of tf.feature_column.
      model_dir, config, warm_start_from: see `Estimator`.
      optimizer: name ("Adagrad" with learning rate 0.05, "Adam", "Ftrl", "RMSProp", "SGD"),
        optimizer of tf.train, or function that returns one.
      activation_fn: activation of the hidden layers.
      dropout: share of the activations to drop in training; None: none.
      input_layer_partitioner: partitioner of the embeddings; None: by 64 MB for parameter servers.
      batch_norm: whether batch normalization follows each hidden layer.
    """

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        model_fn = functools.partial(
            dnn_model_fn,
            head=head,
            hidden_units=hidden_units,
            feature_columns=tuple(feature_columns or []),
            optimizer=optimizer,
            activation_fn=activation_fn,
            dropout=dropout,
            input_layer_partitioner=input_layer_partitioner,
            batch_norm=batch_norm,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """Fully connected layers that classify.

    Args:
      hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
        input_layer_partitioner, config, warm_start_from, batch_norm: see `DNNEstimator`.
      n_classes: number of classes.
      weight_column, label_vocabulary, loss_reduction: see `BinaryClassHead`.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = tf.losses.Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


class DNNRegressor(DNNEstimator):
    """Fully connected layers that predict numbers.

    Args:
      hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
        input_layer_partitioner, config, warm_start_from, batch_norm: see `DNNEstimator`.
      label_dimension, weight_column, loss_reduction: see `RegressionHead`.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = tf.losses.Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


def check_features(features: Any) -> None:
    """Raises a ValueError for features that are no dictionary."""
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
        )


def parameter_server_partitioner(config: Any, min_slice_bytes: int = 256 << 10) -> Any:
    """Returns a partitioner over the parameter servers of a `RunConfig`.

    Without parameter servers each variable has one part; old checkpoints have slots of such
    variables (`dnn/hiddenlayer_0/kernel/t_0/Adagrad`).
    """
    servers = config.num_ps_replicas if config else 0
    return tf.min_max_variable_partitioner(max_partitions=servers, min_slice_size=min_slice_bytes)


def add_summaries(tensor: Any, tag: str) -> None:
    """Adds the share of zeros and a histogram of a layer."""
    tf.summary.scalar(f"{tag}/fraction_of_zero_values", tf.nn.zero_fraction(tensor))
    tf.summary.histogram(f"{tag}/activation", tensor)


def _dense(inputs: Any, units: int, activation: Any, scope: Any) -> Any:
    return layers.dense(
        inputs,
        units,
        activation=activation,
        kernel_initializer=tf.glorot_uniform_initializer(),
        name=scope,
    )
