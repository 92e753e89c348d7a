"""Optimizers of the Object Detection API from their configuration (builders/optimizer_builder.py).

    optimizer, learning_rates = optimizer_builder.build({
        "momentum_optimizer": {
            "learning_rate": {"constant_learning_rate": {"learning_rate": 0.01}},
            "momentum_optimizer_value": 0.9,
        },
        "use_moving_average": False,
    })

Fields and defaults are from protos/optimizer.proto, for Nadam and Adadelta from that of ASTER.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy import learning_schedules, slim
from tf_frame_legacy.config import Config, chosen, message
from tf_frame_legacy.contrib.opt import MovingAverageOptimizer, NadamOptimizer

# The API's defaults (protos/optimizer.proto).
_RATE = 0.002
_OPTIMIZER = {"use_moving_average": True, "moving_average_decay": 0.9999}
_RMS_PROP = {"momentum_optimizer_value": 0.9, "decay": 0.9, "epsilon": 1.0, "learning_rate": {}}
_MOMENTUM = {"momentum_optimizer_value": 0.9, "learning_rate": {}}
_ADAM = {"epsilon": 1e-8, "learning_rate": {}}
# ASTER's (bgshih/aster, protos/optimizer.proto).
_NADAM: dict[str, Any] = {"learning_rate": {}}
_ADADELTA = {"rho": 0.95, "learning_rate": {}}
_CONSTANT = {"learning_rate": _RATE}
_EXPONENTIAL = {
    "initial_learning_rate": _RATE,
    "decay_steps": 4000000,
    "decay_factor": 0.95,
    "staircase": True,
    "burnin_learning_rate": 0.0,
    "burnin_steps": 0,
    "min_learning_rate": 0.0,
}
_MANUAL = {"initial_learning_rate": _RATE, "schedule": (), "warmup": False}
_COSINE = {
    "learning_rate_base": _RATE,
    "total_steps": 4000000,
    "warmup_learning_rate": 0.0002,
    "warmup_steps": 10000,
    "hold_base_rate_steps": 0,
}


def build(optimizer_config: Any, global_summaries: set[Any] | None = None) -> Any:
    """Builds an optimizer; its learning rate counts the global step of the graph.

    Args:
      optimizer_config: one of `rms_prop_optimizer`, `momentum_optimizer`, `adam_optimizer`,
        `nadam_optimizer` and `adadelta_optimizer`, with a `learning_rate` each;
        `use_moving_average` and `moving_average_decay`.
      global_summaries: for trainers of the API's first versions, a set that the summary of the
        learning rate, `Learning_Rate` in the name scope, is added to.

    Returns:
      The optimizer and a list of the learning rate, for summaries; the optimizer alone if
      `global_summaries` is given.

    Raises:
      ValueError: an optimizer or a learning rate that is not one of them, or a manual schedule
        without steps.
      ConfigError: a dictionary has an unknown field.
    """
    name = chosen(optimizer_config, "optimizer")
    if name is None or name not in _BUILDERS:
        raise ValueError(f"Optimizer {name} not supported.")
    defaults, builder = _BUILDERS[name]
    config = message(optimizer_config, name, defaults)
    learning_rate = create_learning_rate(config.learning_rate)
    optimizer = builder(config, learning_rate)
    average = Config(optimizer_config, _OPTIMIZER)
    if average.use_moving_average:
        optimizer = MovingAverageOptimizer(optimizer, average.moving_average_decay)
    if global_summaries is None:
        return optimizer, [learning_rate]
    # tf.summary.scalar would name it `Learning_Rate_1`, because of the operation `learning_rate`.
    scope = tf.get_default_graph().get_name_scope()
    tag = f"{scope}/Learning_Rate" if scope else "Learning_Rate"
    summary = tf.raw_ops.ScalarSummary(tags=tag, values=learning_rate)
    global_summaries.add(summary)
    return optimizer


def create_learning_rate(learning_rate_config: Any) -> Any:
    """Builds the learning rate, a scalar float32 tensor.

    Args:
      learning_rate_config: one of `constant_learning_rate`, `exponential_decay_learning_rate`,
        `manual_step_learning_rate` and `cosine_decay_learning_rate`.

    Raises:
      ValueError, ConfigError: see `build`.
    """
    name = chosen(learning_rate_config, "learning_rate")
    if name is None or name not in _SCHEDULES:
        raise ValueError(f"Learning_rate {name} not supported.")
    defaults, schedule = _SCHEDULES[name]
    return schedule(message(learning_rate_config, name, defaults))


# Its name in the API.
_create_learning_rate = create_learning_rate


def _rms_prop(config: Config, learning_rate: Any) -> Any:
    return tf.train.RMSPropOptimizer(
        learning_rate,
        decay=config.decay,
        momentum=config.momentum_optimizer_value,
        epsilon=config.epsilon,
    )


def _momentum(config: Config, learning_rate: Any) -> Any:
    return tf.train.MomentumOptimizer(learning_rate, config.momentum_optimizer_value)


def _adam(config: Config, learning_rate: Any) -> Any:
    return tf.train.AdamOptimizer(learning_rate, epsilon=config.epsilon)


def _nadam(config: Config, learning_rate: Any) -> Any:
    return NadamOptimizer(learning_rate)


def _adadelta(config: Config, learning_rate: Any) -> Any:
    return tf.train.AdadeltaOptimizer(learning_rate, rho=config.rho)


def _constant(config: Config) -> Any:
    return tf.constant(config.learning_rate, tf.float32, name="learning_rate")


def _exponential(config: Config) -> Any:
    return learning_schedules.exponential_decay_with_burnin(
        slim.get_or_create_global_step(),
        config.initial_learning_rate,
        config.decay_steps,
        config.decay_factor,
        burnin_learning_rate=config.burnin_learning_rate,
        burnin_steps=config.burnin_steps,
        min_learning_rate=config.min_learning_rate,
        staircase=config.staircase,
    )


def _manual(config: Config) -> Any:
    if not config.schedule:
        raise ValueError("Empty learning rate schedule.")
    steps = [Config(step, {"learning_rate": _RATE}) for step in config.schedule]
    return learning_schedules.manual_stepping(
        slim.get_or_create_global_step(),
        [step.step for step in steps],
        [config.initial_learning_rate, *(step.learning_rate for step in steps)],
        config.warmup,
    )


def _cosine(config: Config) -> Any:
    return learning_schedules.cosine_decay_with_warmup(
        slim.get_or_create_global_step(),
        config.learning_rate_base,
        config.total_steps,
        config.warmup_learning_rate,
        config.warmup_steps,
        config.hold_base_rate_steps,
    )


_BUILDERS: dict[str, Any] = {
    "rms_prop_optimizer": (_RMS_PROP, _rms_prop),
    "momentum_optimizer": (_MOMENTUM, _momentum),
    "adam_optimizer": (_ADAM, _adam),
    "nadam_optimizer": (_NADAM, _nadam),
    "adadelta_optimizer": (_ADADELTA, _adadelta),
}
_SCHEDULES: dict[str, Any] = {
    "constant_learning_rate": (_CONSTANT, _constant),
    "exponential_decay_learning_rate": (_EXPONENTIAL, _exponential),
    "manual_step_learning_rate": (_MANUAL, _manual),
    "cosine_decay_learning_rate": (_COSINE, _cosine),
}
