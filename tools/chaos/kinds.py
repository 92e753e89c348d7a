"""The kinds of runs that `chaos.py` kills: each trains in a folder, and goes on where it ended."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.estimator import (
    BestExporter,
    Estimator,
    EvalSpec,
    RunConfig,
    TrainSpec,
    train_and_evaluate,
)
from tf_frame.plugin import Input, InputInfo, Mode, Model, ModelOutput
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM, HOOK, INPUT, MODEL
from tf_frame.plugin.load import load_plugin
from tf_frame.runs.setup.training_setup import TRAIN_AND_EVALUATE, TrainingSetup
from tf_frame.testing.one_weight import batches, input_fn, model_fn, serving_input_receiver_fn
from tf_frame.testing.toy import installed_plugin, make_setup, run_setup

_COMMON = {
    "max_steps": 20,
    "save_checkpoint_steps": 3,
    "save_checkpoint_secs": None,
    "save_summaries_steps": 0,
    "log_every_n_steps": 2,
    "max_to_keep": 100,
    "eval_every_n_steps": 4,
}


class Shuffled(Input):
    """Forty examples, shuffled in passes of their own and moved at random."""

    @property
    def info(self) -> InputInfo:
        return InputInfo(num_examples=dict.fromkeys(Mode, 40))

    def dataset(self, mode: Mode, context: Any) -> Any:
        features = np.random.RandomState(0).randn(40, 8).astype(np.float32)
        labels = np.sin(features.sum(axis=1, keepdims=True))
        examples = tf.data.Dataset.from_tensor_slices((features, labels))
        if mode != Mode.TRAIN:
            return examples.batch(context.batch_size)

        def moved(number: Any, example: Any) -> Any:
            noise = tf.random.stateless_normal([8], [context.seed, number])
            return example[0] + 0.1 * noise, example[1]

        examples = examples.shuffle(17, seed=context.seed).repeat().enumerate()
        return examples.map(moved, num_parallel_calls=2).batch(context.batch_size)


class Mlp(Model):
    """Two hidden layers with dropout."""

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        net = features
        for index in range(2):
            weights = tf.get_variable(f"weights_{index}", [net.shape[1], 16])
            biases = tf.get_variable(f"biases_{index}", [16], initializer=tf.zeros_initializer())
            net = tf.tanh(tf.matmul(net, weights) + biases)
            net = tf.nn.dropout(net, rate=0.3) if mode == Mode.TRAIN else net
        net = tf.matmul(net, tf.get_variable("weights_2", [16, 1]))
        loss = tf.reduce_mean(tf.square(net - labels))
        error = tf.metrics.mean_absolute_error(labels, net)
        return ModelOutput(loss=loss, metrics={"mean_absolute_error": error})


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of runs.

    Attributes:
      options: run options.
      plugin: the installed model; empty: `Mlp`.
      values: plugin options by dotted name.
      changed: takes the setup of a run; returns it with more.
    """

    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    plugin: str = ""
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    changed: Callable[[TrainingSetup], TrainingSetup] = lambda setup: setup

    def run(self, folder: str) -> None:
        """Trains in a folder, from its newest checkpoint on."""
        model, source = Mlp, Shuffled
        if self.plugin:
            model = load_plugin(MODEL, self.plugin).cls
            source = load_plugin(INPUT, model.default_input).cls
        setup = make_setup(model, source, folder, values=self.values, **{**_COMMON, **self.options})
        run_setup(self.changed(setup))


class Exporters:
    """`train_and_evaluate` of an `Estimator` with an exporter."""

    def run(self, folder: str) -> None:
        """Trains in a folder, from its newest checkpoint on."""
        config = RunConfig(save_checkpoints_steps=3, keep_checkpoint_max=100)
        estimator = Estimator(model_fn, model_dir=folder, config=config)
        exporter = BestExporter("best", serving_input_receiver_fn, exports_to_keep=100)
        train_and_evaluate(
            estimator,
            TrainSpec(input_fn, max_steps=12),
            EvalSpec(lambda: batches(1), exporters=exporter, start_delay_secs=0, throttle_secs=0),
        )


def _accumulated(setup: TrainingSetup) -> TrainingSetup:
    part = installed_plugin(GRADIENT_TRANSFORM, "accumulate", {"t.steps": 3}, "t")
    return dataclasses.replace(setup, transforms=[part])


def _stopping(setup: TrainingSetup) -> TrainingSetup:
    # The noise of the dropout keeps the loss from falling in each evaluation.
    values = {"h.metric": "loss", "h.patience": 1}
    hook = installed_plugin(HOOK, "early_stopping", values, "h")
    return dataclasses.replace(setup, hooks=[hook])


def _evaluating(setup: TrainingSetup) -> TrainingSetup:
    return dataclasses.replace(setup, mode=TRAIN_AND_EVALUATE)


_SHORT = {
    "max_steps": 6,
    "learning_rate": 1e-3,
    "train_batch_size": 2,
    "eval_every_n_steps": 2,
    "eval_steps": 2,
}

KINDS: Mapping[str, Any] = {
    "plain": Kind(),
    "keep_best": Kind({"keep_best": 2}),
    "early_stopping": Kind({"max_steps": 200, "learning_rate": 0.3}, changed=_stopping),
    "asynchronous": Kind({"async_checkpoint": True, "keep_best": 1}),
    "averages": Kind({"moving_average_decay": 0.9}),
    "accumulation": Kind({"num_clones": 2, "moving_average_decay": 0.9}, changed=_accumulated),
    "steps_per_loop": Kind({"steps_per_loop": 2}),
    "clones": Kind({"num_clones": 4}),
    "quantize": Kind({"quantize_delay_step": 5}),
    "exporters": Exporters(),
    "every_checkpoint": Kind({"eval_every_n_steps": 0}, changed=_evaluating),
    "profiles": Kind({"profile_at_step": (7,), "profile_num_steps": 3}),
    "classification": Kind(_SHORT | {"keep_best": 1}, "classification"),
    "deeplab": Kind(
        _SHORT,
        "deeplab",
        {
            "input.crop_size": 32,
            "model.depth_multiplier": 0.1,
            "model.aspp_channels": 8,
            "model.decoder_channels": 8,
        },
    ),
    "detection": Kind(_SHORT, "detection"),
    "recognition": Kind(_SHORT, "recognition"),
}
