"""`GANEstimator`: an Estimator that trains a generator and a discriminator in turn."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import EstimatorSpec, ModeKeys
from tf_frame_legacy.contrib.gan import evaluation, models, train
from tf_frame_legacy.contrib.gan.tuples import GANLoss, GANModel
from tf_frame_legacy.estimator.estimator import Estimator

_SCOPE = "Generator"


class SummaryType(enum.IntEnum):
    """The summaries of a `GANEstimator` in addition to its losses."""

    NONE = 0
    VARIABLES = 1
    IMAGES = 2
    IMAGE_COMPARISON = 3


_WRITERS: dict[SummaryType, Callable[[Any], None]] = {
    SummaryType.VARIABLES: evaluation.add_gan_model_summaries,
    SummaryType.IMAGES: evaluation.add_gan_model_image_summaries,
    SummaryType.IMAGE_COMPARISON: evaluation.add_image_comparison_summaries,
}


class GANEstimator(Estimator):
    """Trains a GAN: the features are the inputs of the generator, the labels the real data.

    Args:
      model_dir, config: see `Estimator`.
      generator_fn, discriminator_fn: see `gan_model`; those with an argument `mode` get it.
      generator_loss_fn, discriminator_loss_fn: functions of a model.
      generator_optimizer, discriminator_optimizer: optimizers, or functions that return them.
      get_hooks_fn: makes the hooks that train; default: one step each, in turn.
      get_eval_metric_ops_fn: returns the metrics of an evaluation for a model.
      add_summaries: a `SummaryType`, or several.
      use_loss_summaries: whether to write the losses; None: as the loss functions do.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        generator_fn: Any = None,
        discriminator_fn: Any = None,
        generator_loss_fn: Any = None,
        discriminator_loss_fn: Any = None,
        generator_optimizer: Any = None,
        discriminator_optimizer: Any = None,
        get_hooks_fn: Any = None,
        get_eval_metric_ops_fn: Any = None,
        add_summaries: SummaryType | Sequence[SummaryType] | None = None,
        use_loss_summaries: bool | None = True,
        config: Any = None,
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            generate, discriminate = _in_mode(generator_fn, mode), _in_mode(discriminator_fn, mode)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions=_generated(generate, features))
            model = models.gan_model(
                generate,
                discriminate,
                labels,
                features,
                generator_scope=_SCOPE,
                check_shapes=tf.is_tensor(labels),
            )
            _write(model, add_summaries)
            loss = GANLoss(
                _with_summaries(generator_loss_fn, use_loss_summaries)(model),
                _with_summaries(discriminator_loss_fn, use_loss_summaries)(model),
            )
            total = loss.generator_loss + loss.discriminator_loss
            if mode == ModeKeys.EVAL:
                metrics = {
                    "generator_loss": tf.metrics.mean(loss.generator_loss),
                    "discriminator_loss": tf.metrics.mean(loss.discriminator_loss),
                    **(get_eval_metric_ops_fn(model) if get_eval_metric_ops_fn else {}),
                }
                return EstimatorSpec(
                    mode, predictions=model.generated_data, loss=total, eval_metric_ops=metrics
                )
            train_ops = train.gan_train_ops(
                model, loss, _made(generator_optimizer), _made(discriminator_optimizer)
            )
            hooks = (get_hooks_fn or train.get_sequential_train_hooks())(train_ops)
            return EstimatorSpec(
                mode, loss=total, train_op=train_ops.global_step_inc_op, training_hooks=hooks
            )

        super().__init__(model_fn, model_dir, config)


def _generated(generator_fn: Any, inputs: Any) -> Any:
    with tf.variable_scope(_SCOPE):
        return generator_fn(models.as_tensors(inputs))


def _write(model: GANModel, kinds: Any) -> None:
    kinds = kinds if isinstance(kinds, (list, tuple)) else [kinds]
    with tf.name_scope(""):
        for kind in kinds:
            if kind:
                _WRITERS[kind](model)


def _with_summaries(loss_fn: Any, add_summaries: bool | None) -> Any:
    if add_summaries is None:
        return loss_fn
    return functools.partial(loss_fn, add_summaries=add_summaries)


def _in_mode(function: Any, mode: str) -> Any:
    is_asked = "mode" in inspect.signature(function).parameters
    return functools.partial(function, mode=mode) if is_asked else function


def _made(optimizer: Any) -> Any:
    return optimizer() if callable(optimizer) else optimizer
