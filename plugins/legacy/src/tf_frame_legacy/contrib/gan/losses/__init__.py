"""Losses of GANs that take a model: `losses.wargs` with the tensors of a `GANModel`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tf_frame_legacy.contrib.gan.losses import wargs as wargs


def _of_model(loss_fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a loss function of a model, which gives the arguments with names of its fields."""
    names = inspect.signature(loss_fn).parameters

    @functools.wraps(loss_fn)
    def of_model(gan_model: Any, **arguments: Any) -> Any:
        fields = {name: getattr(gan_model, name) for name in gan_model._fields if name in names}
        twice = sorted(fields.keys() & arguments.keys())
        if twice:
            raise ValueError(
                "The following args are present in both the tuple and keyword args for "
                f"{loss_fn.__name__}: {twice}"
            )
        return loss_fn(**fields, **arguments)

    return of_model


acgan_discriminator_loss = _of_model(wargs.acgan_discriminator_loss)
acgan_generator_loss = _of_model(wargs.acgan_generator_loss)
least_squares_discriminator_loss = _of_model(wargs.least_squares_discriminator_loss)
least_squares_generator_loss = _of_model(wargs.least_squares_generator_loss)
minimax_discriminator_loss = _of_model(wargs.minimax_discriminator_loss)
minimax_generator_loss = _of_model(wargs.minimax_generator_loss)
modified_discriminator_loss = _of_model(wargs.modified_discriminator_loss)
modified_generator_loss = _of_model(wargs.modified_generator_loss)
mutual_information_penalty = _of_model(wargs.mutual_information_penalty)
wasserstein_discriminator_loss = _of_model(wargs.wasserstein_discriminator_loss)
wasserstein_generator_loss = _of_model(wargs.wasserstein_generator_loss)
wasserstein_gradient_penalty = _of_model(wargs.wasserstein_gradient_penalty)
wasserstein_hinge_discriminator_loss = _of_model(wargs.wasserstein_hinge_discriminator_loss)
wasserstein_hinge_generator_loss = _of_model(wargs.wasserstein_hinge_generator_loss)


def cycle_consistency_loss(
    cyclegan_model: Any, scope: Any = None, add_summaries: bool = False
) -> Any:
    """Returns the loss of a `CycleGANModel`; see `wargs.cycle_consistency_loss`."""
    return wargs.cycle_consistency_loss(
        cyclegan_model.model_x2y.generator_inputs,
        cyclegan_model.reconstructed_x,
        cyclegan_model.model_y2x.generator_inputs,
        cyclegan_model.reconstructed_y,
        scope,
        add_summaries,
    )


def combine_adversarial_loss(
    gan_loss: Any,
    gan_model: Any,
    non_adversarial_loss: Any,
    weight_factor: Any = None,
    gradient_ratio: Any = None,
    gradient_ratio_epsilon: float = 1e-6,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
) -> Any:
    """Returns a `GANLoss` whose generator also has another loss; see `wargs`."""
    loss = wargs.combine_adversarial_loss(
        non_adversarial_loss,
        gan_loss.generator_loss,
        weight_factor,
        gradient_ratio,
        gradient_ratio_epsilon,
        gan_model.generator_variables,
        scalar_summaries,
        gradient_summaries,
    )
    return gan_loss._replace(generator_loss=loss)
