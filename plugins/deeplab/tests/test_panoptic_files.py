"""Files of predicted instances."""

import numpy as np
import tensorflow.compat.v1 as tf

from sessions import compute
from tf_frame import InputInfo
from tf_frame_deeplab.model import DeepLab, Params
from tf_frame_vision.drawing.palette import overlay, palette

INFO = InputInfo(num_classes=2, class_names=("background", "nucleus"))


def decoded(path, **form):
    return compute(lambda data: tf.io.decode_png(data, **form), path.read_bytes())


def test_instances_are_numbers_of_16_bits_and_an_overlay(tmp_path):
    names = ("semantic", "instance_center", "instance_offset")
    model = DeepLab(params=Params(heads=names), info=INFO)
    writer = model.prediction_writer(str(tmp_path))
    assert writer.predict_keys == ("semantic", "instances")
    instances = np.array([[0, 1, 1, 300], [0, 2, 2, 300]], np.int32)
    image = np.full([2, 4, 3], 90, np.float32)
    prediction = {"semantic": np.minimum(instances, 1), "instances": instances}
    writer("a", {"image": image}, prediction)
    numbers = decoded(tmp_path / "instances" / "a.png", channels=1, dtype=tf.uint16)
    np.testing.assert_array_equal(numbers[..., 0], instances)
    expected = overlay(image.astype(np.uint8), instances, palette(301, background=True))
    np.testing.assert_array_equal(decoded(tmp_path / "instance_overlays" / "a.png"), expected)
    assert (tmp_path / "labels" / "a.png").is_file()
    assert (tmp_path / "overlays" / "a.png").is_file()
