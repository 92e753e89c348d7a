"""`BaselineClassifier`, `BaselineRegressor` and `BaselineEstimator`: models that see no features.

They learn one number for each logit, `baseline/bias`: a model has learnt something if it is better.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import EstimatorSpec
from tf_frame_legacy.estimator.canned.optimizers import get_optimizer_instance
from tf_frame_legacy.estimator.estimator import Estimator
from tf_frame_legacy.estimator.heads import RegressionHead, binary_or_multi_class_head

_LEARNING_RATE = 0.3


def baseline_model_fn(
    features: Mapping[str, Any],
    labels: Any,
    mode: str,
    head: Any,
    optimizer: Any,
    weight_column: Any = None,
    config: Any = None,
) -> EstimatorSpec:
    """The model function of `BaselineEstimator`; see there for the arguments."""
    del config
    weight_key = getattr(weight_column, "key", weight_column)
    sizes = [tf.shape(feature)[0] for key, feature in features.items() if key != weight_key]
    same = [tf.assert_equal(sizes[0], size) for size in sizes[1:]]
    checks = [check for check in same if check is not None]
    with tf.control_dependencies(checks), tf.variable_scope("baseline"):
        units = head.logits_dimension
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
        logits = bias * tf.ones([sizes[0], units])

    def train_op_fn(loss: Any) -> Any:
        chosen = get_optimizer_instance(optimizer, _LEARNING_RATE)
        return chosen.minimize(loss, global_step=tf.train.get_global_step())

    return head.create_estimator_spec(
        features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn
    )


class BaselineEstimator(Estimator):
    """A model that ignores the features, with a head.

    Args:
      head: a head, such as `MultiClassHead`.
      model_dir, config: see `Estimator`.
      optimizer: name ("Ftrl" with learning rate 0.3, ...), optimizer of tf.train, or function that
        returns one.
    """

    def __init__(
        self,
        head: Any,
        model_dir: str | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        weight_column: Any = None,
    ) -> None:
        model_fn = functools.partial(
            baseline_model_fn, head=head, optimizer=optimizer, weight_column=weight_column
        )
        super().__init__(model_fn, model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """Predicts the shares of the classes.

    Args:
      model_dir, optimizer, config: see `BaselineEstimator`.
      n_classes: number of classes.
      weight_column, label_vocabulary, loss_reduction: see `BinaryClassHead`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = tf.losses.Reduction.SUM,
    ) -> None:
        head = binary_or_multi_class_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(head, model_dir, optimizer, config, weight_column)


class BaselineRegressor(BaselineEstimator):
    """Predicts the mean of the labels.

    Args:
      model_dir, optimizer, config: see `BaselineEstimator`.
      label_dimension, weight_column, loss_reduction: see `RegressionHead`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = tf.losses.Reduction.SUM,
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(head, model_dir, optimizer, config, weight_column)
