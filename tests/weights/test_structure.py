"""Published values are compared with the network that their plugin names."""

import numpy as np
import pytest

from sessions import save_variables
from tf_frame import Weights
from tf_frame.errors import DataError
from tf_frame.weights.structure import check_structure, network_variables


class Lenet(Weights):
    network = "lenet"
    image_size = (28, 28)
    num_classes = 3


class Classifier(Lenet):
    model = "classification"
    options = {"model": {"name": "lenet"}}


class Detector(Weights):
    network = "mobilenet_v1"
    model = "detection"
    num_classes = 2
    image_size = (64, 64)
    options = {
        "preset": "ssd_mobilenet_v1_coco",
        "model": {"depth_multiplier": 0.25, "num_maps": 2},
    }


def test_a_network_and_its_model_have_the_same_variables():
    variables = network_variables(Lenet(params=None))
    assert variables["LeNet/conv1/weights"] == [5, 5, 3, 32]
    assert variables["LeNet/fc4/biases"] == [3]
    assert network_variables(Classifier(params=None)) == variables


def test_a_backbone_alone_has_no_classes():
    class Backbone(Weights):
        network = "resnet_v1_18"
        image_size = (32, 32)

    variables = network_variables(Backbone(params=None))
    assert "resnet_v1_18/conv1/weights" in variables
    assert not [name for name in variables if "logits" in name]


def test_options_win_over_the_preset():
    variables = network_variables(Detector(params=None))
    # A 1x1 predictor is the preset's, two maps of 128 and 256 channels the options'.
    assert variables["BoxPredictor_0/ClassPredictor/weights"] == [1, 1, 128, 9]
    assert variables["BoxPredictor_1/BoxEncodingPredictor/weights"] == [1, 1, 256, 24]
    assert not [name for name in variables if name.startswith("BoxPredictor_2")]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda values: values.pop("LeNet/fc4/biases"), r"1 of 8 .* LeNet/fc4/biases \[3\]"),
        (lambda values: values.update({"LeNet/fc4/biases": np.zeros(4)}), "1 of 8"),
    ],
)
def test_missing_variables_and_other_shapes_are_errors(tmp_path, change, problem):
    values = {n: np.zeros(s, np.float32) for n, s in network_variables(Lenet(params=None)).items()}
    values["more"] = np.zeros(1, np.float32)
    check_structure("some", Lenet(params=None), save_variables(tmp_path / "whole", values))
    change(values)
    path = save_variables(tmp_path / "other", values)
    with pytest.raises(DataError, match=f"the file of some is not the published one.*{problem}"):
        check_structure("some", Lenet(params=None), path)
