"""The command that goes on with a run is one for a shell; metrics at the level of chance."""

import dataclasses
import json
import subprocess
import types

import tensorflow.compat.v1 as tf

from properties import COUNTS, TEXTS, check_many
from tf_frame.runs.setup.training_setup import TRAIN, TRAIN_AND_EVALUATE
from tf_frame.runs.training.evaluations import how_to_resume
from tf_frame.testing.toy import ToyModel


@COUNTS
def test_the_command_to_resume_can_be_pasted_whatever_the_name_of_the_folder(count):
    def check(folder):
        for mode, words in ((TRAIN, ()), (TRAIN_AND_EVALUATE, ("--mode", TRAIN_AND_EVALUATE))):
            config = types.SimpleNamespace(max_steps=9)
            setup = types.SimpleNamespace(config=config, mode=mode, model_dir=folder)
            stopped, line = how_to_resume(setup, 4).split("\n")
            assert stopped == "stopped and saved at step 4 of 9"
            program = line.replace("resume with: tf-frame run", "printf '%s\\0'", 1)
            done = subprocess.run(["bash", "-c", program], capture_output=True, check=True)
            given = done.stdout.decode().split("\0")[:-1]
            assert given == [*words, "--model_dir", folder]

    check_many(check, count, folder=TEXTS.filter(lambda text: "\0" not in text))


class Unlearnt(ToyModel):
    """Answers nothing right."""

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        accuracy, matrix = tf.metrics.mean(0.0), tf.ones([2, 2])
        metrics = {"accuracy": accuracy, "matrix": (matrix, matrix.op)}
        return dataclasses.replace(output, metrics=metrics)

    def chance_levels(self, metrics):
        return {"accuracy": metrics["matrix"][0, 0] / 2, "top_5": 0.5}


def test_the_result_names_metrics_at_chance(go, tmp_path):
    result, _ = go(Unlearnt, max_steps=2, evaluate=True)
    assert result["at_chance"] == {"accuracy": 0.5}
    assert json.loads((tmp_path / "result.json").read_text())["at_chance"] == {"accuracy": 0.5}
