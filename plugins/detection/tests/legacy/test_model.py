import importlib
import inspect
import sys

import pytest
import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy import model, standard_fields as fields


@pytest.fixture
def detector(fake_detector):
    return fake_detector.FakeDetector(3)


def test_ground_truth_that_was_provided_is_there(detector):
    detector.provide_groundtruth(["boxes"], ["classes"], groundtruth_weights_list=["weights"])
    names = fields.BoxListFields
    assert detector.num_classes == 3
    assert detector.groundtruth_lists(names.boxes) == ["boxes"]
    assert detector.groundtruth_lists(names.weights) == ["weights"]
    assert detector.groundtruth_has_field(names.classes)
    assert not detector.groundtruth_has_field(names.masks)
    with pytest.raises(RuntimeError, match="Groundtruth tensor masks has not been provided"):
        detector.groundtruth_lists(names.masks)


def test_penalties_and_updates_are_those_of_the_graph(detector):
    with tf.Graph().as_default():
        predictions = detector.predict(tf.ones([1, 8, 8, 3]), tf.ones([1, 3]))
        assert predictions["boxes"].shape.as_list() == [1, 4]
        assert len(detector.regularization_losses()) == 3
        assert len(detector.updates()) == 2


def test_what_a_model_has_to_define():
    assert model.DetectionModel.__abstractmethods__ == {
        *("preprocess", "predict", "postprocess", "loss", "restore_map")
    }
    parameters = inspect.signature(model.DetectionModel.restore_map).parameters
    assert parameters["fine_tune_checkpoint_type"].default == "detection"


def test_a_missing_tf_frame_legacy_is_named_with_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("tf_frame_detection.legacy")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tf_frame_legacy", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tf-frame-detection\[legacy\]'"):
        importlib.import_module("tf_frame_detection.legacy.trainer")
