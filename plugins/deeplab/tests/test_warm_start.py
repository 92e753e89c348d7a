"""Fine-tuning deeplab from a backbone that another program saved, by the command line."""

import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_values
from tf_frame.cli.main import main
from tf_frame.plugin import InputInfo, Mode
from tf_frame_deeplab.model import DeepLab, Params

PREFIX = "FeatureExtractor/"
SMALL = {"depth_multiplier": 0.1, "aspp_channels": 8, "decoder_channels": 8}
WORDS = ["run", "--plugin", "deeplab", "--model_dir", "m", "--max_steps", "1", "--noevaluate"]
WORDS += ["--input.crop_size", "32", "--train_batch_size", "2"]
WORDS += [f"--model.{name}={value}" for name, value in SMALL.items()]


@pytest.fixture(scope="module")
def shapes(short_backbone):
    """Shapes of the backbone's variables, with slim's names, and of all of deeplab's."""
    with tf.Graph().as_default():
        model = DeepLab(params=Params(**SMALL), info=InputInfo(num_classes=2))
        model.build({"image": tf.zeros([2, 33, 33, 3])}, None, Mode.TRAIN)
        variables = [*tf.trainable_variables(), *tf.model_variables()]
        shapes = {v.op.name: v.shape.as_list() for v in variables}
    return {n: shape for n, shape in shapes.items() if n.startswith("MobilenetV2/")}, shapes


@pytest.fixture(scope="module")
def checkpoint(shapes, tmp_path_factory):
    """A checkpoint of the backbone under a foreign prefix, with momentum slots and a step."""
    random = np.random.RandomState(0)
    values = {}
    for name, shape in shapes[0].items():
        values[PREFIX + name] = random.rand(*shape).astype(np.float32)
        values[f"{PREFIX}{name}/Momentum"] = values[PREFIX + name]
    path = tmp_path_factory.mktemp("foreign") / "model.ckpt-1234"
    return save_values(path, {**values, "global_step": np.int64(1234)})


@pytest.fixture
def run(checkpoint, tmp_path, monkeypatch, capfd):
    """Runs one step that warm starts from the checkpoint; returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main([*WORDS, "--warm_start_from", checkpoint, *words])
        return code, *capfd.readouterr()

    return run


MAP = r"MobilenetV2/(.*)=FeatureExtractor/MobilenetV2/\1"


@pytest.mark.slow
@pytest.mark.process
def test_the_backbone_comes_from_a_foreign_checkpoint(run, checkpoint, shapes, tmp_path):
    backbone, every = shapes
    words = ("--learning_rate", "0", "--warm_start_include", "MobilenetV2/")
    code, out, err = run(*words, "--warm_start_map", MAP)
    assert code == 0, err
    lines = (tmp_path / "m/train.log").read_text().splitlines()
    for name in every:
        row = re.compile(rf"(restored|not included) +{re.escape(name)} ")
        (line,) = filter(row.match, lines)
        restored = name in backbone
        assert line.startswith("restored" if restored else "not included")
        assert (f"{PREFIX}{name}" in line) == restored
    assert f"{len(backbone)} of {len(every)} variables restored" in out
    saved = tf.train.load_checkpoint(str(tmp_path / "m/model.ckpt-0"))
    assert saved.get_tensor("global_step") == 0
    foreign = tf.train.load_checkpoint(checkpoint)
    for name in backbone:
        np.testing.assert_array_equal(saved.get_tensor(name), foreign.get_tensor(PREFIX + name))


@pytest.mark.slow
@pytest.mark.process
def test_without_the_map_the_error_names_what_is_missing(run, tmp_path):
    code, _, err = run("--warm_start_include", "MobilenetV2/")
    assert code == 1
    assert "Traceback" not in err
    name = "MobilenetV2/Conv/weights"
    assert f"{name} [3, 3, 3, 8]: FeatureExtractor/{name}?" in err
    assert "--warm_start_map" in err
    assert not list(tmp_path.glob("m/model.ckpt*"))
