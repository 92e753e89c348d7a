"""Contracts of gradient transforms, optimizers, learning rates, hooks, converters and commands.

As in `tf_frame.plugin.contracts`, a plugin may subclass them or define the same names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tf_frame.plugin.contracts import Plugin


class Converter(Plugin):
    """A conversion of a user's files to files that an input reads: `tf-frame convert NAME`.

    Args:
      params: the values of the options, a `Params`.
    """

    def convert(self, source: str, output: str, report: Callable[[str], None]) -> None:
        """Converts the data; the same call continues a conversion that was stopped.

        Args:
          source: the file or folder to read, as the user gave it.
          output: the folder to write, which need not exist.
          report: takes a line for the user, such as the names of written files.

        Raises:
          DataError: the source is missing or damaged.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define convert()")


class Command(Plugin):
    """A sub-command of tf-frame: `tf-frame NAME [WORDS] [OPTIONS]`.

    `tf-frame NAME --help` shows the docstring of the class above its options. `tf-frame --help`,
    which imports no package, shows the summary in the metadata of the package.

    Args:
      params: the values of the options, a `Params`.

    Attributes:
      usage: words and options after the name, for the help: `FOLDER [OPTIONS]`.
      passes_words_on: True for a command with sub-commands, or one that runs another program: all
        words from the first one that is no option, or after `--`, reach `run` unread.
    """

    usage: ClassVar[str] = "[OPTIONS]"
    passes_words_on: ClassVar[bool] = False

    def run(self, words: Sequence[str]) -> int:
        """Runs the command.

        Args:
          words: the words that are no options, in order.

        Returns:
          The exit code: 0 done, 1 failed, 2 wrong words.

        Raises:
          TfFrameError: `tf-frame` prints its message in one line, and ends with its exit code.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define run()")


class GradientTransform(Plugin):
    """A change to the averaged gradients before the optimizer applies them.

    Args:
      params: the values of the options, a `Params`.

    Attributes:
      makes_dense: whether sparse gradients may become dense ones.
      removes_pairs: whether variables may be missing in the result, which are not trained then.
    """

    makes_dense: ClassVar[bool] = False
    removes_pairs: ClassVar[bool] = False

    def __call__(self, grads_and_vars: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Returns the changed pairs of gradient and variable.

        Gradients may be None or `tf.IndexedSlices`; return pairs unchanged that the
        transform does not handle.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")

    def ready(self) -> Any:
        """Returns whether this step applies the gradients of the last call.

        Returns:
          A scalar bool tensor, or None for always. The variables and the global step only change
          in a step with all transforms ready.
        """
        return None


class Optimizer(Plugin):
    """An optimizer: applies gradients to variables.

    Args:
      params: the values of the options, a `Params`.
    """

    def __call__(self, learning_rate: Any) -> Any:
        """Returns a `tf.compat.v1.train.Optimizer`.

        Args:
          learning_rate: scalar float32 tensor.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")


@dataclasses.dataclass(frozen=True)
class ScheduleContext:
    """Facts about a run that a learning-rate schedule needs.

    Attributes:
      learning_rate: `--learning_rate`, the rate before any decay.
      num_steps: steps from the schedule's first step to the end of training.
      steps_per_epoch: steps in one pass over the training data; None if the
        input does not know its number of examples.
    """

    learning_rate: float
    num_steps: int
    steps_per_epoch: float | None = None


class LearningRate(Plugin):
    """A learning-rate schedule: the learning rate as a function of the step.

    Args:
      params: the values of the options, a `Params`.
      context: facts about the run.
    """

    def __init__(self, *, params: Any, context: ScheduleContext) -> None:
        super().__init__(params=params)
        self.context = context

    def __call__(self, step: Any) -> Any:
        """Returns the learning rate, a scalar float32 tensor.

        Args:
          step: scalar float32 tensor, 0 at the schedule's first step. The framework
            adds the warm-up, which comes before this step.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")


@dataclasses.dataclass(frozen=True)
class HookContext:
    """Facts about a run that a hook needs.

    Attributes:
      model_dir: the folder of the run; it exists.
      is_chief: whether this worker is the chief, which saves and writes summaries.
      task: index of this worker; 0 is the chief.
      max_steps: global step at the end of the training.
      examples_per_step: examples in one step, over all workers.
      graph: the `tf_frame.graph.train_graph.TrainGraph`, complete but not finalized.
      report: function that shows a line to the user.
      eval_every_n_steps: steps between evaluations during training; 0: none.
      eval_every_secs: seconds between evaluations during training; None: none by time.
      first_step: global step of the checkpoint that the run resumes from; 0: none.
      metrics: the `tf_frame.hooks.metrics_log.MetricsLog` of the run, for loggers of figures;
        None where nothing logs.
      request_profile: function that asks for a profile of the next steps, by a label of letters,
        digits and underscores, and the number of steps.
    """

    model_dir: str
    is_chief: bool
    task: int
    max_steps: int
    examples_per_step: int
    graph: Any
    report: Callable[[str], None]
    eval_every_n_steps: int = 0
    eval_every_secs: float | None = None
    first_step: int = 0
    metrics: Any = None
    request_profile: Callable[[str, int], None] = lambda label, steps: None


class HookPlugin(Plugin):
    """A factory of session hooks.

    Args:
      params: the values of the options, a `Params`.

    Attributes:
      needed_metrics: evaluation metrics that the hook reads. A run that evaluates during training
        looks for them before the first step.
    """

    needed_metrics: Sequence[str] = ()

    def __call__(self, context: HookContext) -> Any:
        """Returns a hook, or a list of hooks; called once on each worker, in the graph of the run.

        A `tf_frame.hooks.base.Hook` runs at the steps of its cadence. Any other
        `tf.compat.v1.train.SessionRunHook` runs at every step. Return an empty list for a worker
        that needs no hook.

        Args:
          context: facts about the run.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")
