"""Three scripts as they were written for the old trainers, as processes: each makes two steps."""

import logging
import re
import runpy
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import old_script
from event_files import summary_tags
from sessions import save_values

from .conftest import SCRIPTS

pytestmark = [pytest.mark.timeout(240)]

SLOW = [pytest.mark.slow, pytest.mark.process]
PROCESSES = [pytest.param(mode, marks=SLOW) for mode in ("reference", "resource")]


def _run_here(script, monkeypatch, **flags):
    """Runs a script in this process, as programs of TensorFlow 1 begin."""
    monkeypatch.syspath_prepend(SCRIPTS)
    words = [f"--{flag}={value}" for flag, value in flags.items()]
    monkeypatch.setattr(sys, "argv", [str(script), *words])
    tf.disable_resource_variables()
    tf.disable_control_flow_v2()
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        tf.enable_resource_variables()
        tf.enable_control_flow_v2()
        sys.modules.pop("fake_detector")


@pytest.fixture(params=["here", *PROCESSES])
def run(request, monkeypatch, caplog):
    """Runs a script; returns its log."""

    def run(name, **flags):
        if request.param != "here":
            return old_script.run(SCRIPTS / name, request.param, **flags)
        with caplog.at_level(logging.INFO, "tensorflow"), caplog.at_level(logging.INFO):
            _run_here(SCRIPTS / name, monkeypatch, **flags)
        return caplog.text

    return run


def written(folder):
    """The tags of a folder's summaries, and the variables of its newest checkpoint."""
    path = tf.train.latest_checkpoint(str(folder))
    assert path.endswith("model.ckpt-2")
    reader = tf.train.load_checkpoint(path)
    variables = reader.get_variable_to_shape_map()
    return summary_tags(folder), {name: reader.get_tensor(name) for name in variables}


def losses(log):
    return dict(re.findall(r"global step (\d+): loss = (\S+)", log))


def test_the_object_detection_api_s_trainer(run, tmp_path):
    log = run("train_api.py", train_dir=tmp_path, num_clones=2)
    assert losses(log).keys() == {"1", "2"}
    tags, variables = written(tmp_path)
    assert tags >= {
        "Losses/TotalLoss",
        "Losses/clone_1/localization_loss",
        "LearningRate/LearningRate/learning_rate",
        "ModelVars/BoxPredictor/ClassPredictor/biases",
        "queue/prefetch_queue/fraction_of_5_full",
    }
    # The averages follow the variables slowly.
    name = "BoxPredictor/ClassPredictor/biases"
    average = variables[f"{name}/ExponentialMovingAverage"]
    assert 0 < np.abs(average).max() < 0.01 * np.abs(variables[name]).max()


@pytest.mark.slow
def test_the_trainer_of_rotated_boxes(run, tmp_path):
    log = run("train_rotated.py", train_dir=tmp_path)
    assert losses(log).keys() == {"1", "2"}
    tags, variables = written(tmp_path)
    assert tags >= {"TotalLoss", "Learning_Rate", "localization_loss_1"}
    assert variables["BoxPredictor/BoxEncodingPredictor/biases"].shape == (5,)
    assert (variables["FeatureExtractor/Conv/BatchNorm/beta"] == 0).all()
    assert (tmp_path / "model.ckpt-0.index").exists()


@pytest.mark.slow
def test_the_trainer_of_a_retinanet(run, tmp_path):
    """It ends with its input: a batch is for the first summary, two are for the steps."""
    labels = tmp_path / "labels.pbtxt"
    labels.write_text("item { id: 1 name: 'fir' } item { id: 2 name: 'palm' }")
    folder = tmp_path / "run"
    flags = {"train_dir": folder, "label_map_file": labels}
    log = run("train_retinanet.py", **flags)
    assert losses(log).keys() == {"1", "2"}
    tags, variables = written(folder)
    assert tags >= {"TotalLoss", "Learning_Rate"}
    assert variables["Retina_FPN/BoxPredictor/ClassPredictor/biases"].shape == (2,)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("mode", ["reference", "resource"])
def test_a_graph_hook_quantises_and_a_later_run_begins_with_its_backbone(mode, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    script = SCRIPTS / "train_api.py"
    old_script.run(script, mode, train_dir=first, num_clones=2, quantize=1)
    _, variables = written(first)
    assert "FeatureExtractor/Conv/weights_quant/max" in variables
    weights = np.full([3, 3, 3, 4], 7.0, np.float32)
    checkpoint = save_values(tmp_path / "classifier", {"Conv/weights": weights})
    log = old_script.run(script, mode, train_dir=second, fine_tune_checkpoint=checkpoint)
    assert "Variable [Conv/BatchNorm/beta] is not available in checkpoint" in log
    _, variables = written(second)
    np.testing.assert_allclose(variables["FeatureExtractor/Conv/weights"], 7.0, atol=0.5)
