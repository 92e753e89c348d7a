"""Commands as processes, on a run of a plugin with Keras layers without names."""

import json
import os

import pytest

import forked
from slow_cases import slow
from source_plugins import install_source

pytestmark = pytest.mark.process

MODULE = """
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tf_frame import Model, ModelOutput


class Keras(Model):
    default_input = "toy"

    def build(self, features, labels, mode):
        layers, value = tf2.keras.layers, features
        for size in (4, 4):
            value = layers.Dense(size)(value)
        value = tf2.keras.Sequential([layers.Dense(4), layers.Dense(1)])(value)
        if labels is None:
            return ModelOutput(predictions={"value": value})
        return ModelOutput(loss=tf.reduce_mean(tf.square(value - labels)))
"""


RUN = ("run", "--model_dir", "run")
COMMANDS = (
    (*RUN, "--plugin", "keras", "--max_steps", "2"),
    (*RUN, "--max_steps", "3"),
    ("evaluate", "run"),
)
MORE = (("predict", "run", "--output", "out"), ("export", "run", "--format", "saved_model"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(COMMANDS, id="run and evaluate"),
        slow((*COMMANDS, *MORE), id="all"),
    ],
)
def test_each_command_finds_the_variables_of_the_run(tmp_path, monkeypatch, commands):
    site = install_source(monkeypatch, tmp_path, "with-keras", MODULE, models="Keras")
    for words in commands:
        forked.succeed(
            [*forked.TF_FRAME, *words],
            env={**os.environ, "PYTHONPATH": str(site)},
            cwd=tmp_path,
        )
    evaluated = json.loads((tmp_path / "run/eval/metrics.json").read_text())
    assert evaluated["global_step"] == 3
    assert evaluated["metrics"] == json.loads((tmp_path / "run/result.json").read_text())["metrics"]
