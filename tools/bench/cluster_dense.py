"""The model of `cluster.py`: dense layers with many parameters and little to compute.

`variables`, `build_loss` and `batch` are shared by the plugin, which tf-frame trains, and by the
bare trainer in `cluster_bare.py`, so that both move the same bytes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import time
from typing import Any

import numpy as np

from tf_frame import Input, InputContext, InputInfo, Mode, Model, ModelOutput, option
from tf_frame.hooks.cadence import Multiples
from tf_frame.plugin.training_contracts import HookContext, HookPlugin

# An even number of kernels of one size, so that two parameter servers hold the same.
LAYERS = 10
BATCH = 8
_OTHERS_SECS = 60.0


def layer_width(num_parameters: float) -> int:
    """The width of `LAYERS` square kernels with that many parameters in all."""
    return round((num_parameters / LAYERS) ** 0.5)


def build_loss(features: Any, labels: Any) -> Any:
    """Builds the network; layers have no biases, which would double the number of transfers."""
    import tensorflow.compat.v1 as tf

    width = features.shape[1]
    for index in range(LAYERS):
        initial = tf.random_normal_initializer(stddev=float(width) ** -0.5, seed=index)
        kernel = tf.get_variable(f"layer_{index}/kernel", [width, width], initializer=initial)
        features = tf.tanh(tf.matmul(features, kernel))
    return tf.reduce_mean(tf.square(features - labels))


def dataset(width: int) -> Any:
    """Returns the same batch again and again."""
    import tensorflow as tf

    values = np.random.RandomState(0).uniform(-0.5, 0.5, [2, BATCH, width]).astype(np.float32)
    return tf.data.Dataset.from_tensors((values[0], values[1])).repeat()


class Marks:
    """Appends the time and the global step to a file of a task.

    Args:
      folder: an existing folder.
      task: index of this worker.
      workers: number of workers; each waits for the others after its first mark, so that a
        fast job has not ended before all have begun.
    """

    def __init__(self, folder: str, task: int, workers: int) -> None:
        self._paths = [marks_path(folder, index) for index in range(workers)]
        self._path = self._paths[task]

    def write(self, step: int) -> None:
        """Appends a line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{time.time()} {step}\n")
        deadline = time.monotonic() + _OTHERS_SECS
        while not all(path.exists() for path in self._paths) and time.monotonic() < deadline:
            time.sleep(0.02)


def marks_path(folder: str, task: int) -> pathlib.Path:
    """The file of the marks of a worker."""
    return pathlib.Path(folder, f"marks-{task}")


def read_marks(folder: str, task: int) -> list[tuple[float, int]]:
    """Returns the marks of a worker so far: seconds since 1970, and the global step."""
    with contextlib.suppress(OSError):
        lines = marks_path(folder, task).read_text(encoding="utf-8").split("\n")[:-1]
        return [(float(when), int(step)) for when, step in map(str.split, lines)]
    return []


class Dense(Model):
    """The dense layers as a plugin."""

    default_input = "dense"

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        return ModelOutput(loss=build_loss(features, labels), predictions={})


class DenseInput(Input):
    """The batch as a plugin."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        width: int = option(8, "numbers in a row of the batch", min=1)

    @property
    def info(self) -> InputInfo:
        return InputInfo(num_examples=dict.fromkeys(Mode, BATCH))

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        return dataset(self.params.width)


class MarksPlugin(HookPlugin):
    """Makes the hook that writes marks, on every worker."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        every_steps: int = option(10, "global steps between marks", min=1)
        workers: int = option(1, "workers of the job", min=1)

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.base import Hook

        marks = Marks(context.model_dir, context.task, self.params.workers)

        class MarksHook(Hook):
            def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
                marks.write(step)

        return MarksHook(Multiples(self.params.every_steps, first=1, last_step=context.max_steps))
