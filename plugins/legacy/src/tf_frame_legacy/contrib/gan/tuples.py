"""The results of the steps of training a GAN: model, losses, train ops, numbers of steps."""

from __future__ import annotations

from typing import Any, NamedTuple


class GANModel(NamedTuple):
    """Generator and discriminator in a graph.

    Attributes:
      generator_inputs: the noise, or a structure with the conditions.
      generated_data: the outputs of the generator.
      generator_variables, generator_scope, generator_fn: the generator.
      real_data: the data to imitate.
      discriminator_real_outputs, discriminator_gen_outputs: logits of real and generated data.
      discriminator_variables, discriminator_scope, discriminator_fn: the discriminator.
    """

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any


class InfoGANModel(NamedTuple):
    """A `GANModel` whose discriminator also predicts a part of the noise.

    Attributes:
      structured_generator_inputs: the predicted parts.
      predicted_distributions: the prediction of each.
    """

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any
    structured_generator_inputs: Any
    predicted_distributions: Any
    discriminator_and_aux_fn: Any = None


class ACGANModel(NamedTuple):
    """A `GANModel` whose discriminator also classifies.

    Attributes:
      one_hot_labels: the classes.
      discriminator_real_classification_logits, discriminator_gen_classification_logits: the logits
        of the classes of real and generated data.
    """

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any
    one_hot_labels: Any
    discriminator_real_classification_logits: Any
    discriminator_gen_classification_logits: Any


class CycleGANModel(NamedTuple):
    """Two models from one kind of data to the other and back.

    Attributes:
      model_x2y, model_y2x: the `GANModel` of each direction.
      reconstructed_x, reconstructed_y: data that went both ways.
    """

    model_x2y: Any
    model_y2x: Any
    reconstructed_x: Any
    reconstructed_y: Any


class GANLoss(NamedTuple):
    """The losses of generator and discriminator."""

    generator_loss: Any
    discriminator_loss: Any


class CycleGANLoss(NamedTuple):
    """The `GANLoss` of each direction of a `CycleGANModel`."""

    loss_x2y: Any
    loss_y2x: Any


class GANTrainOps(NamedTuple):
    """Operations that train the generator, the discriminator, and count a step."""

    generator_train_op: Any
    discriminator_train_op: Any
    global_step_inc_op: Any
    train_hooks: Any = ()


class GANTrainSteps(NamedTuple):
    """Numbers of steps of generator and discriminator in a global step."""

    generator_train_steps: int
    discriminator_train_steps: int
