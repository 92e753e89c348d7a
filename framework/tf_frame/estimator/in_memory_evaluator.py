"""`InMemoryEvaluatorHook`: evaluates during training, with the training session's variables.

No checkpoint is written and restored, so that evaluations can be frequent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.estimator.argument_checks import check_steps, checked_hooks
from tf_frame.graph.update.moving_averages import variables_to_average
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.training_clock import pause
from tf_frame.plugin import Mode, ModelOutput
from tf_frame.runs.evaluation.evaluator import Evaluator
from tf_frame.text import listed


@dataclasses.dataclass(eq=False)
class InMemoryEvaluatorHook(Hook):
    """Evaluates before training, every so many steps, and at its end, without a checkpoint.

        evaluator = InMemoryEvaluatorHook(estimator, eval_input_fn, every_n_iter=100)
        estimator.train(train_input_fn, hooks=[evaluator])

    Builds the evaluation graph once. Each evaluation copies the variables of the training session
    into it, and writes events to `estimator.eval_dir(name)`. No step is evaluated twice.

    Args:
      estimator: the `Estimator` to train, in a single process.
      input_fn: the evaluation data, as for `Estimator.evaluate`.
      steps: largest number of batches of an evaluation; None for all data.
      hooks: session hooks of each evaluation.
      name: name of the evaluation, if there are several.
      every_n_iter: steps from one evaluation to the next.

    Raises:
      ValueError: `every_n_iter` or `steps` is not positive, or several tasks train.
      TypeError: an element of `hooks` is no session hook.
    """

    phase = Phase.EVALUATE

    estimator: Any
    input_fn: Any
    steps: int | None = None
    hooks: Sequence[Any] | None = None
    name: str | None = None
    every_n_iter: int = 100

    def __post_init__(self) -> None:
        if self.every_n_iter is None or self.every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={self.every_n_iter}.")
        config = self.estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        check_steps(self.steps)
        self.hooks = checked_hooks(self.hooks)
        self._evaluator: Evaluator | None = None
        super().__init__(Cadence(every_steps=self.every_n_iter, first=False))

    def begin(self) -> None:
        if tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global variables."
            )
        self._variables = {v.op.name: v for v in tf.global_variables()}
        self._global_step = tf.train.get_global_step()
        self._evaluated_step: int | None = None
        self._evaluator = self._make_evaluator()

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        self._evaluate(session, step)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._evaluate(run_context.session, step)

    def end(self, session: Any) -> None:
        step = int(session.run(self._global_step))
        if step != self._evaluated_step:
            self._evaluate(session, step)
        self.close()

    def close(self) -> None:
        """Closes the session of the evaluations; safe to call twice."""
        if self._evaluator is not None:
            self._evaluator.close()
            self._evaluator = None

    def _make_evaluator(self) -> Evaluator:
        estimator = self.estimator
        source = estimator.source(self.input_fn)
        config = estimator.setup.config
        averages = config.moving_average_decay is not None and config.eval_moving_averages
        self._fed = _FedModel(estimator.model_factory.model(source.info), averages=averages)
        evaluator: Evaluator = estimator.make_evaluator(self._fed, source, self.steps, self.name)
        return evaluator

    def _evaluate(self, session: Any, step: int) -> None:
        assert self._evaluator is not None
        with pause():
            self._fed.values = session.run(self._variables)
            self._evaluator.evaluate(None, hooks=self.hooks or ())
        self._evaluated_step = step


@dataclasses.dataclass
class _FedModel:
    """A model with given initial values of the variables.

    Attributes:
      averages: whether variables get the values of their moving averages.
      values: name of a variable in checkpoints -> value.
    """

    model: Any
    averages: bool
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds the model, with a scaffold that feeds the values."""
        output: ModelOutput = self.model.build(features, labels, mode)
        original = output.scaffold
        if original is not None and original.saver is not None:
            raise ValueError("InMemoryEvaluator does not support custom saver")
        if original is not None and original.init_fn is not None:
            raise ValueError("InMemoryEvaluator does not support custom init_fn")
        # All values are fed. With random initial values each evaluation would need a new session.
        scaffold = tf.train.Scaffold(
            init_op=tf.no_op(), init_fn=self._feed, copy_from_scaffold=original
        )
        return dataclasses.replace(output, scaffold=scaffold)

    def _feed(self, scaffold: Any, session: Any) -> None:
        with session.graph.as_default():
            averaged = variables_to_average() if self.averages else []
            variables = {_training_name(v, averaged): v for v in tf.global_variables()}
        missing = sorted(set(variables) - set(self.values))
        if missing:
            raise ConfigError(
                f"InMemoryEvaluator: the evaluation has {len(missing)} variables that training "
                f"has not, first {listed(missing[:3])}; make them local variables, or make "
                "them in training as well"
            )
        # The graph is finalized; the initializer of a variable serves as an assignment.
        assigned = {v.initializer: self.values[name] for name, v in variables.items()}
        session.run(list(assigned), {op.inputs[1]: value for op, value in assigned.items()})


def _training_name(variable: Any, averaged: Sequence[Any]) -> str:
    """Returns the name of the training variable with the value for a variable."""
    if any(variable is average for average in averaged):
        return str(tf.train.ExponentialMovingAverage(0.0).average_name(variable))
    return str(variable.op.name)
