import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_variables
from tf_frame.config.run_options import RunOptions
from tf_frame.plugin import InputInfo
from tf_frame.runs.evaluation.evaluator import Evaluator
from tf_frame.testing.toy import WEIGHTS, ToyInput, ToyModel


@pytest.fixture
def save(tmp_path):
    """Saves the toy model with the right weights and an offset of its biases, at a step."""

    def save(step, offset=0.0, folder="run", **others):
        values = {"linear/weights": WEIGHTS, "linear/biases": [3 + offset], **others}
        values = {name: np.float32(value) for name, value in values.items()}
        path = tmp_path / folder / f"model.ckpt-{step}"
        return save_variables(path, {**values, "global_step": np.int64(step)})

    return save


class Counted:
    """Counts how often a plugin is asked for its part of a graph."""

    def __init__(self, plugin):
        self.plugin, self.calls = plugin, 0

    def __getattr__(self, name):
        return getattr(self.plugin, name)

    def dataset(self, mode, context):
        self.calls += 1
        return self.plugin.dataset(mode, context)

    def build(self, features, labels, mode):
        self.calls += 1
        self.graph = tf.get_default_graph()
        return self.plugin.build(features, labels, mode)


def changed(change):
    """A class of toy models with another output; `change` takes the output of the toy."""

    class Changed(ToyModel):
        def build(self, features, labels, mode):
            return change(super().build(features, labels, mode))

    return Changed


def toy(model=ToyModel, source=ToyInput, steps=None, num_examples=13, **options):
    """An evaluator of batches of 5; counts calls of its model and source."""
    config = RunOptions(eval_batch_size=5, **options)
    params = ToyInput.Params(num_examples=num_examples)
    evaluator = Evaluator(
        model=Counted(model(params=ToyModel.Params(), info=InputInfo())),
        source=Counted(source(params=params)),
        config=config,
        steps=steps,
    )
    return evaluator


def figures(evaluator, checkpoint, **arguments):
    metrics = evaluator.evaluate(checkpoint, **arguments).metrics
    return {name: pytest.approx(value, abs=1e-5) for name, value in metrics.items()}


def expected_metrics(offset):
    return {"mean_absolute_error": abs(offset), "loss": offset**2}
