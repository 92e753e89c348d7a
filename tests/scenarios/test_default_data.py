"""The data of the default run of every installed model: its report and its sheet of examples."""

import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from slow_cases import slow_but
from tf_frame import Model, ModelOutput
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import INPUT, MODEL
from tf_frame.plugin.load import load_plugin
from tf_frame.testing.toy import make_setup, run_setup

NAMES = [info.name for info in find_plugins() if info.kind == MODEL]
# A picture of 240 pixels, or less where an example is lower than wide, with a frame and a caption.
LEAST_HEIGHT = 60


class Mean(Model):
    """Learns the mean of the pixels, so that no network is built."""

    def build(self, features, labels, mode):
        weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
        return ModelOutput(loss=tf.square(weight - tf.reduce_mean(features["image"]) / 255))


def test_the_models_of_this_repository_are_among_them():
    assert {"classification", "deeplab", "detection", "recognition"} <= {*NAMES}


@pytest.mark.parametrize("name", slow_but(NAMES.index("deeplab"), NAMES))
def test_the_data_of_a_default_run_is_written_to_its_folder(tmp_path, name):
    source = load_plugin(INPUT, load_plugin(MODEL, name).cls.default_input).cls
    options = {"max_steps": 1, "train_batch_size": 16, "evaluate": False}
    run_setup(make_setup(Mean, source, str(tmp_path), **options), report=lambda line: None)
    report = json.loads((tmp_path / "data.json").read_text())
    train = report["splits"]["train"]
    # Examples that are composed at random are neither counted nor limited.
    if train["examples"] is not None:
        assert train["examples"] > 0 and sum(train["counts"].values()) > 0
    assert report["warnings"] == []
    sheet = np.asarray(Image.open(tmp_path / "data" / "train.png"))
    # Four rows of four pictures, none of them white.
    assert len(sheet) > 4 * LEAST_HEIGHT
    for rows in np.array_split(sheet, 4):
        for picture in np.array_split(rows, 4, axis=1):
            assert (picture < 200).any()
