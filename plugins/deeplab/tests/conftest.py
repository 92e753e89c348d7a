"""A small deeplab, and one that is trained, for tests that predict, export or begin a run."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
import yaml

from sessions import save_values
from short_backbone import shorten_backbone
from tf_frame_deeplab.model import DeepLab, Params
from tf_frame_deeplab.nuclei import Nuclei, Params as NucleiParams

SMALL = {"depth_multiplier": 0.1, "aspp_channels": 8, "decoder_channels": 8}
STEP = 4


@pytest.fixture
def graph():
    """A default graph with a seed."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        yield graph


@pytest.fixture
def short(monkeypatch):
    """As `short_backbone`, for one test."""
    shorten_backbone(monkeypatch)


@pytest.fixture(scope="module")
def short_backbone():
    """Leaves out most blocks of the backbone; see `shorten_backbone`."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_backbone(patch)
        yield


@pytest.fixture(scope="module")
def trained(short_backbone, tmp_path_factory):
    """A folder as a run with momentum and moving averages leaves it after four steps.

    Training would take most of the time of these tests. The values are random and of a size that
    lets all layers count; the averages differ from them.
    """
    folder = tmp_path_factory.mktemp("deeplab") / "run"
    folder.mkdir()
    content = {"plugin": "deeplab", "input": "nuclei", "model": SMALL}
    content |= {"moving_average_decay": 0.9, "eval_batch_size": 2}
    (folder / "config.yaml").write_text(yaml.safe_dump(content))
    with tf.Graph().as_default():
        tf.train.create_global_step()
        model = DeepLab(params=Params(**SMALL), info=Nuclei(params=NucleiParams()).info)
        model.build({"image": tf.zeros([1, 32, 32, 3])}, None, "infer")
        shapes = {v.op.name: v.shape.as_list() for v in tf.model_variables()}
    path = save_values(folder / f"model.ckpt-{STEP}", saved_values(shapes))
    tf.train.update_checkpoint_state(str(folder), path)
    return folder


def saved_values(shapes):
    """Name -> array of all that a run saves."""
    random = np.random.RandomState(14)
    values = {"global_step": np.int64(STEP)}
    for name, shape in shapes.items():
        value = initial_value(name, shape, random)
        values[name] = value
        values[f"{name}/ExponentialMovingAverage"] = value * random.uniform(0.9, 1.1, shape)
        if "/moving_" not in name:
            values[f"{name}/Momentum"] = random.normal(size=shape)
    return {n: v.astype(np.int64 if n == "global_step" else np.float32) for n, v in values.items()}


def initial_value(name, shape, random):
    """Values of a variable that keep the size of features from layer to layer.

    The logits are small: probabilities near 0 and 1 are no measure of anything.
    """
    size = 0.1 if name.startswith("logits/") else 1
    kind = name.rpartition("/")[2]
    if kind.endswith("weights"):
        inputs = shape[0] * shape[1] * (1 if kind.startswith("depthwise") else shape[2])
        return size * random.normal(scale=(2 / inputs) ** 0.5, size=shape)
    if kind in ("gamma", "moving_variance"):
        return random.uniform(0.7, 1.4, shape)
    return size * random.uniform(-0.3, 0.3, shape)
