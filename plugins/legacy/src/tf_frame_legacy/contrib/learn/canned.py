"""The canned estimators of tf.contrib.learn, on the model functions of those of tf.estimator.

    columns = [tf.contrib.layers.real_valued_column("", dimension=4)]
    classifier = tf.contrib.learn.DNNClassifier([10, 20, 10], columns, n_classes=3)
    classifier.fit(x=samples, y=classes, steps=2000)
    list(classifier.predict(x=new_samples))  # classes

Variables have the names of tf.estimator's, so checkpoints of tf.contrib.learn do not restore. The
loss is the mean over a batch, as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.estimator.extenders import clip_gradients_by_norm
from tf_frame_legacy.contrib.learn.estimator import Estimator
from tf_frame_legacy.estimator import estimator as core
from tf_frame_legacy.estimator.canned.dnn import dnn_model_fn
from tf_frame_legacy.estimator.canned.dnn_linear_combined import dnn_linear_combined_model_fn
from tf_frame_legacy.estimator.canned.linear import linear_model_fn
from tf_frame_legacy.estimator.canned.optimizers import get_optimizer_instance
from tf_frame_legacy.estimator.heads import RegressionHead, binary_or_multi_class_head

_Engineer = Callable[[Any, Any], Any] | None
_MEAN = tf.losses.Reduction.SUM_OVER_BATCH_SIZE
# The name of features that are a single tensor; their column has the name "".
_ONLY = "features"
_DNN_RATE, _LINEAR_RATE = 0.05, 0.2


class _Canned(Estimator):
    """An estimator with a head; subclasses give a model function of tf.estimator."""

    # The method that `predict(x)` calls.
    _predict_values: Callable[..., Iterator[Any]]

    def __init__(
        self,
        model_fn: Callable[..., Any],
        head: Any,
        model_dir: str | None,
        config: Any,
        engineer: _Engineer,
        centered_bias: bool,
        **arguments: Any,
    ) -> None:
        if centered_bias:
            raise ValueError("enable_centered_bias is not offered; linear models have a bias")
        arguments = {
            name: _renamed(value) if name.endswith("feature_columns") else value
            for name, value in arguments.items()
        }

        def function(features: Any, labels: Any, mode: str, config: Any) -> Any:
            if engineer is not None:
                features, labels = engineer(features, labels)
            if not isinstance(features, dict):
                features = {_ONLY: features}
            features = {_ONLY if name == "" else name: each for name, each in features.items()}
            return model_fn(features, labels, mode, head=head, config=config, **arguments)

        self.core = core.Estimator(function, model_dir, config)

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Iterator[Any]:
        """Yields the classes or scores, or the `outputs`; see `Estimator.predict`."""
        if outputs is None:
            return self._predict_values(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)


class _Classifier(_Canned):
    """Predicts classes."""

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Iterator[Any]:
        """Yields the class of each example, an integer."""
        for row in super().predict(x, input_fn, batch_size, ["class_ids"], as_iterable):
            yield row["class_ids"][0]

    _predict_values = predict_classes

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Iterator[Any]:
        """Yields the probabilities of the classes of each example."""
        for row in super().predict(x, input_fn, batch_size, ["probabilities"], as_iterable):
            yield row["probabilities"]


class _Regressor(_Canned):
    """Predicts numbers."""

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Iterator[Any]:
        """Yields the score of each example, a number or, of several labels, an array."""
        for row in super().predict(x, input_fn, batch_size, ["predictions"], as_iterable):
            scores = row["predictions"]
            yield scores[0] if len(scores) == 1 else scores

    _predict_values = predict_scores


class DNNClassifier(_Classifier):
    """Fully connected layers that classify.

    Args:
      hidden_units, feature_columns, model_dir, n_classes, activation_fn, dropout, config: see
        `tf.estimator.DNNClassifier`.
      weight_column_name: the feature with weights of examples.
      optimizer: an optimizer; None: Adagrad with learning rate 0.05.
      gradient_clip_norm: largest global norm of the gradients.
      feature_engineering_fn: see `Estimator`.
      label_keys: the classes, if labels are strings.
      enable_centered_bias: must be false.
      embedding_lr_multipliers, input_layer_min_slice_size: without effect.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: _Engineer = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            dnn_model_fn,
            binary_or_multi_class_head(n_classes, weight_column_name, label_keys, _MEAN),
            model_dir,
            config,
            feature_engineering_fn,
            enable_centered_bias,
            hidden_units=hidden_units,
            feature_columns=feature_columns,
            optimizer=_clipping(optimizer or "Adagrad", _DNN_RATE, gradient_clip_norm),
            activation_fn=activation_fn,
            dropout=dropout,
        )


class DNNRegressor(_Regressor):
    """Fully connected layers that predict numbers; see `DNNClassifier`.

    Args:
      label_dimension: numbers of a label.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: _Engineer = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        super().__init__(
            dnn_model_fn,
            RegressionHead(label_dimension, weight_column_name, _MEAN),
            model_dir,
            config,
            feature_engineering_fn,
            enable_centered_bias,
            hidden_units=hidden_units,
            feature_columns=feature_columns,
            optimizer=_clipping(optimizer or "Adagrad", _DNN_RATE, gradient_clip_norm),
            activation_fn=activation_fn,
            dropout=dropout,
        )


class LinearClassifier(_Classifier):
    """A linear model that classifies; see `DNNClassifier`.

    Args:
      optimizer: None: Ftrl, whose learning rate depends on the number of columns.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: _Engineer = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            linear_model_fn,
            binary_or_multi_class_head(n_classes, weight_column_name, label_keys, _MEAN),
            model_dir,
            config,
            feature_engineering_fn,
            enable_centered_bias,
            feature_columns=feature_columns,
            optimizer=_clipping(optimizer or "Ftrl", _LINEAR_RATE, gradient_clip_norm),
            partitioner=None,
        )


class LinearRegressor(_Regressor):
    """A linear model that predicts numbers; see `LinearClassifier` and `DNNRegressor`."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: _Engineer = None,
    ) -> None:
        super().__init__(
            linear_model_fn,
            RegressionHead(label_dimension, weight_column_name, _MEAN),
            model_dir,
            config,
            feature_engineering_fn,
            enable_centered_bias,
            feature_columns=feature_columns,
            optimizer=_clipping(optimizer or "Ftrl", _LINEAR_RATE, gradient_clip_norm),
            partitioner=None,
        )


class DNNLinearCombinedClassifier(_Classifier):
    """A linear model and fully connected layers that classify; see `DNNClassifier`."""

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = None,
        joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: _Engineer = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        super().__init__(
            dnn_linear_combined_model_fn,
            binary_or_multi_class_head(n_classes, weight_column_name, label_keys, _MEAN),
            model_dir,
            config,
            feature_engineering_fn,
            enable_centered_bias,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=_clipping(
                linear_optimizer or "Ftrl", _LINEAR_RATE, gradient_clip_norm
            ),
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=_clipping(dnn_optimizer or "Adagrad", _DNN_RATE, gradient_clip_norm),
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
        )


class DNNLinearCombinedRegressor(_Regressor):
    """A linear model and fully connected layers that predict numbers; see `DNNClassifier`."""

    def __init__(
        self,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: _Engineer = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        super().__init__(
            dnn_linear_combined_model_fn,
            RegressionHead(label_dimension, weight_column_name, _MEAN),
            model_dir,
            config,
            feature_engineering_fn,
            enable_centered_bias,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=_clipping(
                linear_optimizer or "Ftrl", _LINEAR_RATE, gradient_clip_norm
            ),
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=_clipping(dnn_optimizer or "Adagrad", _DNN_RATE, gradient_clip_norm),
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
        )


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """Returns the columns of an array `[examples, numbers]`, or of a dict of such arrays."""
    arrays = x if isinstance(x, dict) else {"": x}
    return [
        tf.feature_column.numeric_column(name, np.shape(array)[1:] or (1,))
        for name, array in sorted(arrays.items())
    ]


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """Returns the columns of the features that an input function returns."""
    with tf.Graph().as_default():
        features = input_fn()[0]
        tensors = features if isinstance(features, dict) else {"": features}
        shapes = {name: tensor.shape.as_list()[1:] for name, tensor in tensors.items()}
    return [
        tf.feature_column.numeric_column(name, tuple(shape) or (1,))
        for name, shape in sorted(shapes.items())
    ]


def _renamed(columns: Sequence[Any] | None) -> list[Any] | None:
    """Returns the columns; that of features without a name gets one."""
    if columns is None:
        return None
    is_plain = [getattr(column, "key", None) == "" for column in columns]
    return [
        column._replace(key=_ONLY) if plain else column
        for column, plain in zip(columns, is_plain, strict=True)
    ]


def _clipping(optimizer: Any, rate: float, clip_norm: float | None) -> Any:
    """Returns the optimizer, or a function that makes one which clips."""
    if clip_norm is None:
        return optimizer
    return lambda: clip_gradients_by_norm(get_optimizer_instance(optimizer, rate), clip_norm)
