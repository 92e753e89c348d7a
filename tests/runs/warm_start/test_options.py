"""Options of a warm start that a model proposes."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_variables
from tf_frame.errors import CheckpointError
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup


class Proposing(ToyModel):
    """Takes the biases of another scope, and nothing else."""

    def warm_start_options(self, checkpoint):
        assert [v.op.name for v in tf.trainable_variables()] == ["linear/weights", "linear/biases"]
        if checkpoint["other/biases"] != [1]:
            return {}
        return {
            "warm_start_include": ("linear/biases",),
            "warm_start_map": (r"linear/(.*)=other/\1",),
        }


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("other") / "model.ckpt"
    return save_variables(path, {"other/biases": np.float32([5.0])})


def make_report(folder, checkpoint, **options):
    lines = []
    options = {"max_steps": 1, "evaluate": False, "warm_start_from": checkpoint, **options}
    setup = make_setup(Proposing, ToyInput, str(folder), **options)
    run_setup(setup, report=lines.append)
    return "\n".join(lines)


def test_the_models_options_hold_unless_others_are_given(tmp_path, checkpoint, caplog):
    caplog.set_level("INFO")
    said = make_report(tmp_path, checkpoint)
    assert "1 of 2 variables restored (1 not included)\n  not included linear/weights [" in said
    # The log has the whole table.
    assert "other/biases" in caplog.text and "other/biases" not in said


def test_an_option_that_is_given_wins(tmp_path, checkpoint):
    with pytest.raises(CheckpointError, match="1 variables are not in the checkpoint"):
        make_report(tmp_path, checkpoint, warm_start_include=("linear/weights",))
