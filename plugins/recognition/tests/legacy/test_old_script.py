"""A script for TensorFlow 1 with several input queues; only its imports change."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import old_script

SCRIPT = Path(__file__).parent / "scripts" / "train_words.py"
IMPORTS = {
    "import tensorflow as tf": "import tensorflow.compat.v1 as tf",
    "from deployment import": "from tf_frame_legacy import",
    "from object_detection.utils import": "from tf_frame_legacy import",
    "from tensorflow.contrib import": "from tf_frame_legacy import",
}
EXTRACTOR = "FeatureExtractor/Convnet/conv1/"


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    text = SCRIPT.read_text()
    for old, new in IMPORTS.items():
        assert text.count(f"\n{old}") == 1
        text = text.replace(f"\n{old}", f"\n{new}")
    path = tmp_path_factory.mktemp("script") / SCRIPT.name
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def run(script):
    """Runs the script in this process, with resource variables."""

    def run(*words, **flags):
        flags = [f"--{name}={value}" for name, value in flags.items()]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", [str(script), *flags, *words])
            runpy.run_path(str(script), run_name="__main__")

    return run


@pytest.fixture(scope="module")
def first(run, tmp_path_factory):
    """The folder of 202 steps of two clones."""
    folder = tmp_path_factory.mktemp("words")
    run(train_dir=folder, num_clones=2)
    return folder


def check_202_steps(files, folder):
    """Checks names, tags, the trace and that the loss fell."""
    assert files.checkpoint.endswith("model.ckpt-202")
    assert files.nodes.keys() >= {
        "OptimizeClones/total_loss",
        "OptimizeClones/train_op",
        "Optimizer/ExponentialDecay",
        "clone_1/FeatureExtractor/Convnet/conv1/Conv2D",
        "Input/prefetch_queue/fifo_queue",
        "Input/prefetch_queue_1/fifo_queue",
        "summary_op/summary_op",
    }
    assert files.variables.keys() >= {
        f"{EXTRACTOR}weights",
        f"OptimizeClones/{EXTRACTOR}weights/Adam",
        "OptimizeClones/beta1_power",
    }
    assert files.tags.keys() >= {
        "Optimizer/Learning_Rate",
        "TotalLoss",
        "global_step/sec",
        "clone_0/FeatureExtractor/Convnet/features",
        "clone_0/ctc_loss_1",
        f"grad/{EXTRACTOR}weights",
        f"{EXTRACTOR}weights_1",
        "Input/prefetch_queue/fraction_of_4_full",
    }
    losses = files.tags["TotalLoss"]
    assert [step for step, _ in losses] == [1, 101, 201]
    assert losses[-1][1] < losses[0][1] / 3
    assert (files.timelines, files.metadata) == (["timeline-201.json"], ["trace_201"])
    events = json.loads((folder / "timeline-201.json").read_text())["traceEvents"]
    assert any("OptimizeClones" in str(event) for event in events)


@pytest.mark.slow
def test_names_tags_and_trace(first, written):
    check_202_steps(written(first), first)


@pytest.mark.slow
def test_a_pretrained_extractor_only_begins_a_run(run, first, written, tmp_path):
    """A folder with a checkpoint goes on from it, for so many steps more."""
    words = ("--freeze_variables", "FeatureExtractor/.*")
    pretrained, before = written(first), first / "model.ckpt-0"
    run(*words, train_dir=tmp_path, num_steps=2, fine_tune_checkpoint=pretrained.checkpoint)
    begun = written(tmp_path)
    run(*words, train_dir=tmp_path, num_steps=1, fine_tune_checkpoint=before)
    resumed = written(tmp_path)
    assert [run_files.variables["global_step"] for run_files in (begun, resumed)] == [2, 3]
    name = f"{EXTRACTOR}weights"
    for files in (begun, resumed):
        np.testing.assert_array_equal(files.variables[name], pretrained.variables[name])
    assert (tf.train.load_variable(str(before), name) != pretrained.variables[name]).any()
    weights = [run_files.variables["Predictor/logits/weights"] for run_files in (begun, pretrained)]
    assert np.abs(weights[0] - weights[1]).max() > 0.1
    assert resumed.timelines == []


@pytest.mark.slow
@pytest.mark.process
def test_reference_variables(script, written, tmp_path):
    old_script.run(script, "reference", train_dir=tmp_path, num_clones=2)
    files = written(tmp_path)
    check_202_steps(files, tmp_path)
    assert files.nodes[f"{EXTRACTOR}weights"].op == "VariableV2"
