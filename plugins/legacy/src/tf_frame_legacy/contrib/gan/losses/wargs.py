"""Losses of GANs that take their tensors one by one.

All take `scope`, `loss_collection`, `reduction` and weights as `tf.losses.compute_weighted_loss`
does, and with `add_summaries` write their parts. References: Goodfellow et al. 2014 (minimax,
modified), Arjovsky et al. 2017 (Wasserstein), Gulrajani et al. 2017 (gradient penalty), Mao et al.
2016 (least squares), Odena et al. 2016 (ACGAN), Chen et al. 2016 (mutual information), Zhu et al.
2017 (cycle consistency).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

_LOSSES = tf.GraphKeys.LOSSES
_MEAN = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS


def wasserstein_generator_loss(
    discriminator_gen_outputs: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns minus the mean of the logits of generated data."""
    with tf.name_scope(scope, "generator_wasserstein_loss") as scope:
        logits = tf.cast(discriminator_gen_outputs, tf.float32)
        loss = _weighted(-logits, weights, scope, loss_collection, reduction)
    return _summarised(add_summaries, generator_wass_loss=loss)


def wasserstein_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns the mean logits of generated data minus those of real data."""
    with tf.name_scope(scope, "discriminator_wasserstein_loss") as scope:
        real, generated = _same_shape(discriminator_real_outputs, discriminator_gen_outputs)
        on_generated = _weighted(generated, generated_weights, scope, None, reduction)
        on_real = _weighted(real, real_weights, scope, None, reduction)
        loss = _added(on_generated - on_real, loss_collection)
    return _summarised(
        add_summaries,
        discriminator_gen_wass_loss=on_generated,
        discriminator_real_wass_loss=on_real,
        discriminator_wass_loss=loss,
    )


def wasserstein_hinge_generator_loss(
    discriminator_gen_outputs: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns minus the mean of the logits of generated data, as without a hinge."""
    with tf.name_scope(scope, "generator_wasserstein_hinge_loss") as scope:
        logits = tf.cast(discriminator_gen_outputs, tf.float32)
        loss = _weighted(-logits, weights, scope, loss_collection, reduction)
    return _summarised(add_summaries, generator_wass_hinge_loss=loss)


def wasserstein_hinge_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns the mean of `relu(1 + generated)` plus that of `relu(1 - real)`."""
    with tf.name_scope(scope, "discriminator_wasserstein_hinge_loss") as scope:
        real, generated = _same_shape(discriminator_real_outputs, discriminator_gen_outputs)
        hinge, hinge_real = tf.nn.relu(1 + generated), tf.nn.relu(1 - real)
        on_generated = _weighted(hinge, generated_weights, scope, None, reduction)
        on_real = _weighted(hinge_real, real_weights, scope, None, reduction)
        loss = _added(on_generated + on_real, loss_collection)
    return _summarised(
        add_summaries,
        discriminator_gen_wass_hinge_loss=on_generated,
        discriminator_real_wass_hinge_loss=on_real,
        discriminator_wass_hinge_loss=loss,
    )


def wasserstein_gradient_penalty(
    real_data: Any,
    generated_data: Any,
    generator_inputs: Any,
    discriminator_fn: Callable[..., Any],
    discriminator_scope: Any,
    epsilon: float = 1e-10,
    target: float = 1.0,
    one_sided: bool = False,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns the mean of `(slope / target - 1)**2` between real and generated data.

    Args:
      generator_inputs: the second argument of the discriminator.
      discriminator_scope: the scope whose variables are used again; None: a new scope.
      epsilon: is added below the root of the slope.
      target: the slope without a penalty.
      one_sided: whether smaller slopes have no penalty.

    Raises:
      ValueError: the rank of the data is unknown.
    """
    real_data, generated_data = map(tf.convert_to_tensor, (real_data, generated_data))
    for name, data in (("real_data", real_data), ("generated_data", generated_data)):
        if data.shape.rank is None:
            raise ValueError(f"`{name}` can't have unknown rank.")
    differences = generated_data - real_data
    shape = [tf.shape(differences)[0], *[1] * (differences.shape.rank - 1)]
    between = real_data + tf.random_uniform(shape) * differences
    reuse = discriminator_scope is not None
    with tf.variable_scope(discriminator_scope, "gpenalty_dscope", reuse=reuse):
        logits = discriminator_fn(between, generator_inputs)
    logits = logits[0] if isinstance(logits, tuple) else logits
    (gradients,) = tf.gradients(logits, between)
    squares = tf.reduce_sum(tf.square(gradients), list(range(1, gradients.shape.rank)))
    slopes = tf.sqrt(squares + epsilon) / target - 1.0
    slopes = tf.maximum(0.0, slopes) if one_sided else slopes
    penalty = _weighted(tf.square(slopes), weights, scope, loss_collection, reduction)
    return _summarised(add_summaries, gradient_penalty_loss=penalty)


def minimax_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.25,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns the cross entropies of real data with one, smoothed, and of generated with zero."""
    with tf.name_scope(scope, "discriminator_minimax_loss") as scope:
        real, generated = map(
            tf.convert_to_tensor, (discriminator_real_outputs, discriminator_gen_outputs)
        )
        on_real = tf.losses.sigmoid_cross_entropy(
            tf.ones_like(real),
            real,
            real_weights,
            label_smoothing,
            scope,
            loss_collection=None,
            reduction=reduction,
        )
        on_generated = tf.losses.sigmoid_cross_entropy(
            tf.zeros_like(generated),
            generated,
            generated_weights,
            scope=scope,
            loss_collection=None,
            reduction=reduction,
        )
        loss = _added(on_real + on_generated, loss_collection)
    return _summarised(
        add_summaries,
        discriminator_gen_minimax_loss=on_generated,
        discriminator_real_minimax_loss=on_real,
        discriminator_minimax_loss=loss,
    )


def minimax_generator_loss(
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.0,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns minus the discriminator's loss, with generated data in the place of real data."""
    with tf.name_scope(scope, "generator_minimax_loss") as scope:
        loss = -minimax_discriminator_loss(
            tf.ones_like(discriminator_gen_outputs),
            discriminator_gen_outputs,
            label_smoothing,
            weights,
            weights,
            scope,
            loss_collection,
            reduction,
            add_summaries=False,
        )
    return _summarised(add_summaries, generator_minimax_loss=loss)


def modified_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.25,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns `minimax_discriminator_loss`."""
    return minimax_discriminator_loss(
        discriminator_real_outputs,
        discriminator_gen_outputs,
        label_smoothing,
        real_weights,
        generated_weights,
        scope,
        loss_collection,
        reduction,
        add_summaries,
    )


def modified_generator_loss(
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.0,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns the cross entropy of generated data with one."""
    with tf.name_scope(scope, "generator_modified_loss") as scope:
        loss = tf.losses.sigmoid_cross_entropy(
            tf.ones_like(discriminator_gen_outputs),
            discriminator_gen_outputs,
            weights,
            label_smoothing,
            scope,
            loss_collection,
            reduction,
        )
    return _summarised(add_summaries, generator_modified_loss=loss)


def least_squares_generator_loss(
    discriminator_gen_outputs: Any,
    real_label: float = 1,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns half of the mean square of `generated - real_label`."""
    with tf.name_scope(scope, "lsq_generator_loss") as scope:
        generated = tf.cast(discriminator_gen_outputs, tf.float32)
        squares = tf.squared_difference(generated, real_label) / 2.0
        loss = _weighted(squares, weights, scope, loss_collection, reduction)
    return _summarised(add_summaries, generator_lsq_loss=loss)


def least_squares_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    real_label: float = 1,
    fake_label: float = 0,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns half of the mean squares of `real - real_label` and `generated - fake_label`."""
    with tf.name_scope(scope, "lsq_discriminator_loss") as scope:
        real, generated = _same_shape(discriminator_real_outputs, discriminator_gen_outputs)
        squares = tf.squared_difference(real, real_label) / 2.0
        fake_squares = tf.squared_difference(generated, fake_label) / 2.0
        on_real = _weighted(squares, real_weights, scope, None, reduction)
        on_generated = _weighted(fake_squares, generated_weights, scope, None, reduction)
        loss = _added(on_real + on_generated, loss_collection)
    return _summarised(
        add_summaries,
        discriminator_gen_lsq_loss=on_generated,
        discriminator_real_lsq_loss=on_real,
        discriminator_lsq_loss=loss,
    )


def acgan_discriminator_loss(
    discriminator_real_classification_logits: Any,
    discriminator_gen_classification_logits: Any,
    one_hot_labels: Any,
    label_smoothing: float = 0.0,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns the cross entropies of the classes of real data, smoothed, and generated data."""
    with tf.name_scope(scope, "acgan_discriminator_loss") as scope:
        on_generated = tf.losses.softmax_cross_entropy(
            one_hot_labels,
            discriminator_gen_classification_logits,
            generated_weights,
            scope=scope,
            loss_collection=None,
            reduction=reduction,
        )
        on_real = tf.losses.softmax_cross_entropy(
            one_hot_labels,
            discriminator_real_classification_logits,
            real_weights,
            label_smoothing,
            scope,
            loss_collection=None,
            reduction=reduction,
        )
        loss = _added(on_generated + on_real, loss_collection)
    return _summarised(
        add_summaries,
        discriminator_gen_ac_loss=on_generated,
        discriminator_real_ac_loss=on_real,
        discriminator_ac_loss=loss,
    )


def acgan_generator_loss(
    discriminator_gen_classification_logits: Any,
    one_hot_labels: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns the cross entropy of the classes of generated data."""
    with tf.name_scope(scope, "acgan_generator_loss") as scope:
        loss = tf.losses.softmax_cross_entropy(
            one_hot_labels,
            discriminator_gen_classification_logits,
            weights,
            scope=scope,
            loss_collection=loss_collection,
            reduction=reduction,
        )
    return _summarised(add_summaries, generator_ac_loss=loss)


def mutual_information_penalty(
    structured_generator_inputs: Any,
    predicted_distributions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Returns minus the mean logarithm of the probabilities of the structured inputs."""
    with tf.name_scope(scope, "mutual_information_loss") as scope:
        likelihoods = [
            tf.reduce_mean(distribution.log_prob(inputs))
            for distribution, inputs in zip(
                predicted_distributions, structured_generator_inputs, strict=True
            )
        ]
        loss = -_weighted(tf.stack(likelihoods), weights, scope, loss_collection, reduction)
    return _summarised(add_summaries, mutual_information_penalty=loss)


def cycle_consistency_loss(
    data_x: Any,
    reconstructed_data_x: Any,
    data_y: Any,
    reconstructed_data_y: Any,
    scope: Any = None,
    add_summaries: bool = False,
) -> Any:
    """Returns the mean of the absolute differences of data that went both ways."""
    with tf.name_scope(scope, "cycle_consistency_loss"):
        loss_x = tf.losses.absolute_difference(data_x, reconstructed_data_x)
        loss_y = tf.losses.absolute_difference(data_y, reconstructed_data_y)
        loss = (loss_x + loss_y) / 2.0
    return _summarised(
        add_summaries,
        cycle_consistency_loss_x=loss_x,
        cycle_consistency_loss_y=loss_y,
        cycle_consistency_loss=loss,
    )


def combine_adversarial_loss(
    main_loss: Any,
    adversarial_loss: Any,
    weight_factor: Any = None,
    gradient_ratio: Any = None,
    gradient_ratio_epsilon: float = 1e-6,
    variables: Any = None,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
    scope: Any = None,
) -> Any:
    """Returns the main loss plus the weighted adversarial loss.

    Args:
      weight_factor: the weight.
      gradient_ratio: the norm of the main loss's gradients over that of the weighted adversarial
        loss's, instead of `weight_factor`.
      variables: the variables of the gradients; None: all trainable ones.

    Raises:
      ValueError: not one of both is given.
    """
    if (weight_factor is None) == (gradient_ratio is None):
        raise ValueError("Exactly one of `weight_factor` and `gradient_ratio` must be given.")
    variables = tf.trainable_variables() if variables is None else variables
    with tf.name_scope(scope, "adversarial_loss"):
        _summarised(scalar_summaries, main_loss=main_loss, adversarial_loss=adversarial_loss)
        if gradient_summaries or gradient_ratio is not None:
            main_norm = _norm_of_gradients(main_loss, variables)
            norm = _norm_of_gradients(adversarial_loss, variables)
            _summarised(
                gradient_summaries,
                main_loss_gradients=main_norm,
                adversarial_loss_gradients=norm,
            )
        if isinstance(weight_factor, (int, float)) and weight_factor == 0:
            return main_loss
        if gradient_ratio is not None:
            weight_factor = main_norm / (norm + gradient_ratio_epsilon) / gradient_ratio
            tf.summary.scalar("adversarial_coefficient", weight_factor)
        return main_loss + tf.stop_gradient(weight_factor) * adversarial_loss


def _norm_of_gradients(loss: Any, variables: Any) -> Any:
    gradients = [g for g in tf.gradients(loss, variables) if g is not None]
    return tf.linalg.global_norm(gradients) if gradients else tf.constant(0.0)


def _weighted(values: Any, weights: Any, scope: Any, collection: Any, reduction: Any) -> Any:
    return tf.losses.compute_weighted_loss(values, weights, scope, collection, reduction)


def _added(loss: Any, collection: Any) -> Any:
    if collection:
        tf.add_to_collection(collection, loss)
    return loss


def _same_shape(real: Any, generated: Any) -> tuple[Any, Any]:
    real, generated = tf.cast(real, tf.float32), tf.cast(generated, tf.float32)
    real.shape.assert_is_compatible_with(generated.shape)
    return real, generated


def _summarised(is_wanted: bool, **losses: Any) -> Any:
    """Writes summaries if they are wanted; returns the last loss."""
    if is_wanted:
        for name, loss in losses.items():
            tf.summary.scalar(name, loss)
    return list(losses.values())[-1]
