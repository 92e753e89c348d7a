"""Optimizers and learning rates that another package brings."""

import pytest
import tensorflow.compat.v1 as tf

from source_plugins import install_source
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.testing.toy import run_setup

PLUGINS = """
import dataclasses
from tf_frame import LearningRate, Optimizer, option


class Sign(Optimizer):
    @dataclasses.dataclass(frozen=True)
    class Params:
        factor: float = option(1.0, "factor on the learning rate", min=0)

    def __call__(self, learning_rate):
        import tensorflow.compat.v1 as tf

        class Descent(tf.train.GradientDescentOptimizer):
            def compute_gradients(self, *args, **kwargs):
                pairs = super().compute_gradients(*args, **kwargs)
                return [(tf.sign(gradient), variable) for gradient, variable in pairs]

        return Descent(learning_rate * self.params.factor)


class Halving(LearningRate):
    @dataclasses.dataclass(frozen=True)
    class Params:
        floor: float = option(0.0, "smallest learning rate", min=0)

    def __call__(self, step):
        import tensorflow.compat.v1 as tf

        return tf.maximum(self.context.learning_rate * 0.5 ** step, self.params.floor)
"""


@pytest.mark.slow
def test_they_train_with_options_of_their_own(tmp_path, monkeypatch):
    classes = {"optimizers": "Sign", "learning_rates": "Halving"}
    install_source(monkeypatch, tmp_path, "foreign-steps", PLUGINS, **classes)
    argv = [
        *("--plugin", "toy", "--optimizer", "sign", "--optimizer.factor", "2"),
        *("--schedule", "halving", "--schedule.floor", "0.3", "--learning_rate", "1"),
        *("--max_steps", "3", "--model_dir", str(tmp_path)),
    ]
    setup = parse_command_line(argv).setup()
    run_setup(setup, report=lambda line: None)
    # Rates 1, 1/2 and the floor 0.3, times 2; every step goes by the sign of the gradient.
    saved = tf.train.load_checkpoint(str(tmp_path)).get_tensor("linear/biases")
    reachable = {a * 2 + b * 1 + c * 0.6 for a in (1, -1) for b in (1, -1) for c in (1, -1)}
    assert min(abs(saved[0] - value) for value in reachable) < 1e-5
    assert setup.versions()["foreign-steps"] == "3.2"
