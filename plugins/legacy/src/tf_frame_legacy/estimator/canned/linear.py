"""`LinearClassifier`, `LinearRegressor` and `LinearEstimator`: weighted sums of feature columns.

    columns = [tf.feature_column.categorical_column_with_hash_bucket("word", 1000)]
    LinearClassifier(columns).train(input_fn, steps=100)

Variables: `linear/linear_model/COLUMN/weights` and `linear/linear_model/bias_weights`. Names are
those of tensorflow_estimator 1.15, python/estimator/canned/linear.py.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import EstimatorSpec
from tf_frame_legacy.estimator.canned.dnn import check_features, parameter_server_partitioner
from tf_frame_legacy.estimator.canned.optimizers import get_optimizer_instance
from tf_frame_legacy.estimator.estimator import Estimator
from tf_frame_legacy.estimator.heads import RegressionHead, binary_or_multi_class_head

_LEARNING_RATE = 0.2
_PARTITION_BYTES = 64 << 20


def linear_logit_fn_builder(
    units: int, feature_columns: Sequence[Any], sparse_combiner: str = "sum"
) -> Callable[[Mapping[str, Any]], Any]:
    """Returns a function of `features` that returns logits.

    Args:
      units: size of the logits.
      feature_columns: feature columns.
      sparse_combiner: how the weights of several categories are joined: "sum", "mean" or "sqrtn".
    """

    def logit_fn(features: Mapping[str, Any]) -> Any:
        variables: dict[Any, Any] = {}
        logits = tf.feature_column.linear_model(
            features, feature_columns, units, sparse_combiner, cols_to_vars=variables
        )
        bias = tf.nest.flatten(variables.pop("bias"))[0]
        if units > 1:
            tf.summary.histogram("bias", bias)
        else:
            tf.summary.scalar("bias", bias[0])
        parts = [part for value in variables.values() for part in _parts(value)]
        tf.summary.scalar("fraction_of_zero_weights", _zero_fraction(parts))
        return logits

    return logit_fn


def linear_model_fn(
    features: Mapping[str, Any],
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Sequence[Any],
    optimizer: Any,
    partitioner: Any,
    config: Any,
    sparse_combiner: str = "sum",
) -> EstimatorSpec:
    """The model function of `LinearEstimator`; see there for the arguments."""
    check_features(features)
    if optimizer is None:
        optimizer = tf.train.FtrlOptimizer(linear_rate(_LEARNING_RATE, feature_columns))
    partitioner = partitioner or parameter_server_partitioner(config, _PARTITION_BYTES)
    with tf.variable_scope("linear", partitioner=partitioner):
        logit_fn = linear_logit_fn_builder(head.logits_dimension, feature_columns, sparse_combiner)
        logits = logit_fn(features)
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            optimizer=get_optimizer_instance(optimizer, _LEARNING_RATE),
            logits=logits,
        )


class LinearEstimator(Estimator):
    """A weighted sum of features with a head.

    Args:
      head: a head, such as `MultiClassHead`.
      feature_columns: columns of tf.feature_column.
      model_dir, config, warm_start_from: see `Estimator`.
      optimizer: name ("Ftrl" with learning rate 0.2, "Adagrad", "Adam", "RMSProp", "SGD"),
        optimizer of tf.train, or function that returns one; None: Ftrl with the smaller of 0.2 and
        `1 / sqrt(columns)`.
      partitioner: partitioner of the weights; None: by 64 MB for parameter servers.
      sparse_combiner: how the weights of several categories are joined: "sum", "mean" or "sqrtn".
    """

    def __init__(
        self,
        head: Any,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ) -> None:
        model_fn = functools.partial(
            linear_model_fn,
            head=head,
            feature_columns=tuple(feature_columns or []),
            optimizer=optimizer,
            partitioner=partitioner,
            sparse_combiner=sparse_combiner,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """A weighted sum of features that classifies.

    Args:
      feature_columns, model_dir, optimizer, config, partitioner, warm_start_from,
        sparse_combiner: see `LinearEstimator`.
      n_classes: number of classes.
      weight_column, label_vocabulary, loss_reduction: see `BinaryClassHead`.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = tf.losses.Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            feature_columns,
            model_dir,
            optimizer,
            config,
            partitioner,
            sparse_combiner,
            warm_start_from,
        )


class LinearRegressor(LinearEstimator):
    """A weighted sum of features that predicts numbers.

    Args:
      feature_columns, model_dir, optimizer, config, partitioner, warm_start_from,
        sparse_combiner: see `LinearEstimator`.
      label_dimension, weight_column, loss_reduction: see `RegressionHead`.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = tf.losses.Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction),
            feature_columns,
            model_dir,
            optimizer,
            config,
            partitioner,
            sparse_combiner,
            warm_start_from,
        )


def linear_rate(largest: float, feature_columns: Sequence[Any]) -> float:
    """Returns the learning rate for a number of columns."""
    return min(largest, 1.0 / math.sqrt(len(feature_columns)))


def _parts(value: Any) -> list[Any]:
    """Returns the variables in a list of variables, some with parts."""
    return [
        part
        for variable in tf.nest.flatten(value)
        for part in (variable if hasattr(variable, "as_tensor") else [variable])
    ]


def _zero_fraction(variables: Sequence[Any]) -> Any:
    with tf.name_scope("zero_fraction"):
        zeros = [
            tf.cast(tf.size(v, out_type=tf.int64) - tf.count_nonzero(v), tf.float32)
            for v in variables
        ]
        size = tf.add_n([tf.size(v, out_type=tf.int64) for v in variables])
        return tf.add_n(zeros) / tf.cast(size, tf.float32)
