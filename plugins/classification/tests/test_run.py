"""Runs of the command line: training, evaluation, predictions, exports."""

import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from event_files import summary_tags
from tf_frame import NetworkContext
from tf_frame.cli.main import main
from tf_frame_vision.slim_network import load_network

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

SMALL = ["--model.name=mobilenet_v1_025", "--input.image_size=32", "--train_batch_size=4"]
EVALUATION = ["--eval_batch_size=50", "--eval_steps=2"]


def run(folder, *words):
    words = ["--plugin", "classification", "--model_dir", str(folder), *EVALUATION, *words]
    assert main(["run", *words]) == 0
    return json.loads((folder / "result.json").read_text())


def test_the_sample_is_learnt_and_predicted(tmp_path):
    """One test, because a fixture would train once in each process of pytest-xdist."""
    folder = tmp_path / "run"
    metrics = run(folder, "--max_steps=30", "--eval_steps=none")["metrics"]
    # A tenth is chance; the default number of steps comes to more than 0.85.
    assert metrics["accuracy"] > 0.5
    assert len([name for name in metrics if name.startswith("recall_")]) == 10
    assert {"activations/conv1", "sparsity/conv1"} <= summary_tags(folder)
    assert "metrics/confusion_matrix_image/0" in summary_tags(folder / "eval")
    assert main(["predict", str(folder), "--output", str(tmp_path)]) == 0
    rows = [json.loads(line) for line in (tmp_path / "predictions.jsonl").open()]
    assert len(rows) == 500
    assert {"name", "label", "class_name", "probabilities"} == rows[0].keys()
    assert all(np.argmax(row["probabilities"]) == row["label"] for row in rows)
    assert len({row["class_name"] for row in rows}) > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["saved_model", "tflite"])
def test_a_run_is_exported(name, tmp_path):
    run(tmp_path / "run", "--max_steps=2")
    words = ["export", str(tmp_path / "run"), "--format", name, "--output", str(tmp_path / name)]
    assert main(words) == 0


@pytest.mark.slow
def test_the_inception_trainer_runs_with_one_worker_and_its_clones(tmp_path):
    preset = ["--preset=inception_distributed", "--num_clones=2", "--trace_at_step=3"]
    often = ["--save_summaries_steps=2", "--log_every_n_steps=1", "--max_steps=4"]
    result = run(tmp_path / "run", *preset, *SMALL, *often)
    assert result["global_step"] == 4
    assert np.isfinite(result["metrics"]["loss"])
    assert len([name for name in result["metrics"] if name.startswith("recall_")]) == 11
    assert [path.name for path in (tmp_path / "run").glob("tf_trace-*")] == ["tf_trace-3.json"]
    tags = summary_tags(tmp_path / "run")
    assert any(tag.endswith("(raw)") for tag in tags)  # The losses, as they are and averaged.
    assert "gradients/MobilenetV1/Conv2d_0/weights" in tags
    assert "variables/MobilenetV1/Conv2d_0/weights" in tags
    names = [name for name, _ in tf.train.list_variables(str(tmp_path / "run"))]
    assert "MobilenetV1/Conv2d_0/weights/ExponentialMovingAverage" in names
    assert "MobilenetV1/Conv2d_0/weights/RMSProp" in names
    # Two clones have the variables of one.
    context = NetworkContext(num_classes=11, is_training=True)
    with tf.Graph().as_default():
        load_network("mobilenet_v1_025")(tf.zeros([1, 32, 32, 3]), context)
        expected = {variable.op.name for variable in tf.global_variables()}
    added = ("ExponentialMovingAverage", "RMSProp", "RMSProp_1", "Momentum")
    own = [name for name in names if name.startswith("Mobilenet") and not name.endswith(added)]
    assert set(own) == expected
