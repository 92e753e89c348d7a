"""Builds a model for evaluation, prediction or export, and restores it in a session.

Each of the three restores moving averages instead of the variables, rounds values as a quantised
training does, and refuses the checkpoint of another model:

    with tf.Graph().as_default():
        inference = build_inference(
            model=model, features=features, labels=None, mode=Mode.PREDICT, config=config
        )
        with restore_session(inference, "runs/first/model.ckpt-500") as session:
            session.run(inference.output.predictions)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import find_damage
from tf_frame.checkpoint.find.reader import READ_ERRORS, check_match, unreadable_error
from tf_frame.config.run_options import RunOptions
from tf_frame.graph.model_output import build_model
from tf_frame.graph.quantization import quantize_eval_graph
from tf_frame.graph.update.moving_averages import (
    averaged_saver_map,
    check_averages,
    variables_to_average,
)
from tf_frame.plugin import Mode, ModelOutput


@dataclasses.dataclass(frozen=True)
class Inference:
    """A model in a graph that does not train.

    Attributes:
      output: output of the model.
      scaffold: initialisation of a session; its saver restores moving averages if the options ask
        for them.
      averaged: the variables that get their moving averages.
    """

    output: ModelOutput
    scaffold: Any
    averaged: Sequence[Any] = ()

    def check(self, checkpoint: str) -> None:
        """Compares the graph's variables, and averages, with a checkpoint.

        Raises:
          CheckpointError: the checkpoint cannot be read, belongs to another model, or lacks the
            averages.
        """
        check_match(checkpoint, tf.global_variables())
        if self.averaged:
            check_averages(checkpoint, self.averaged)


class RestoringSessionCreator(tf.train.SessionCreator):
    """Makes the session of a model from a checkpoint, and finalizes the default graph.

    Args:
      inference: the model in the default graph.
      checkpoint: path prefix; None: initial values.
      session_config: the `ConfigProto`; default: with soft placement.

    Raises:
      CheckpointError: the checkpoint belongs to another model, or cannot be read.
    """

    def __init__(
        self, inference: Inference, checkpoint: str | None, session_config: Any = None
    ) -> None:
        if checkpoint is not None:
            inference.check(checkpoint)
        self._checkpoint = checkpoint
        self._creator = tf.train.ChiefSessionCreator(
            inference.scaffold,
            config=session_config or tf.ConfigProto(allow_soft_placement=True),
            checkpoint_filename_with_path=checkpoint,
        )

    def create_session(self) -> Any:
        """Initialises and restores a session; called by `tf.train.MonitoredSession`.

        Raises:
          CheckpointError: the checkpoint is damaged.
        """
        try:
            return self._creator.create_session()
        except READ_ERRORS as error:
            # The checkpoint is not at fault if an initializer of the model failed.
            if self._checkpoint is not None and find_damage(self._checkpoint):
                raise unreadable_error(self._checkpoint, error) from error
            raise


def build_inference(
    *, model: Any, features: Any, labels: Any, mode: Mode, config: RunOptions
) -> Inference:
    """Builds a model in the default graph, and its scaffold.

    Args:
      model: the model plugin.
      features, labels: the batch; labels may be None.
      mode: mode of the model; `TRAIN` builds its computations in training, without an update.
      config: whether moving averages replace the variables, and whether the model is quantised.
    """
    tf.train.get_or_create_global_step()
    output = build_model(model, features, labels, mode)
    if config.quantize_delay_step >= 0:
        quantize_eval_graph(delay_steps=config.quantize_delay_step)
    uses_averages = config.moving_average_decay is not None and config.eval_moving_averages
    averaged = variables_to_average() if uses_averages else []
    scaffold = output.scaffold or tf.train.Scaffold()
    if scaffold.saver is None:
        saver = tf.train.Saver(averaged_saver_map(averaged))
        scaffold = tf.train.Scaffold(saver=saver, copy_from_scaffold=scaffold)
    return Inference(output, scaffold, averaged)


def restore_session(inference: Inference, checkpoint: str, session_config: Any = None) -> Any:
    """Makes a session for the default graph, and finalizes the graph.

    Arguments and errors as of `RestoringSessionCreator`.

    Returns:
      A `tf.compat.v1.Session` with restored variables and initialised tables and local variables.
    """
    return RestoringSessionCreator(inference, checkpoint, session_config).create_session()
