import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.errors import TfFrameError
from tf_frame.runs.export.formats.tflite_int8 import compare_rounded
from tf_frame.runs.export.verify import DifferenceError

from ..conftest import changed


def halve_in_a_loop(predictions):
    count = tf.cast(tf.reduce_sum(predictions["logits"]), tf.int32)
    start = [0, predictions["logits"]]
    _, values = tf.while_loop(lambda n, _: n < count, lambda n, x: (n + 1, x * 0.5), start)
    return ModelOutput(predictions={"value": values})


def test_a_loop_is_refused(export, tmp_path):
    with pytest.raises(TfFrameError, match="the model has a loop, while.*; take --format tflite"):
        export("tflite_int8", model=changed(halve_in_a_loop))
    assert not (tmp_path / "out").exists()


def compared(expected, found, tolerance=0.05):
    return compare_rounded(
        [({"out": np.asarray(each)}, {}) for each in expected],
        [{"out": np.asarray(each)} for each in found],
        tolerance=tolerance,
    )


def test_the_mean_difference_over_all_batches_counts():
    comparison = compared([[0.0, 1.0], [0.5, 0.5]], [[0.1, 1.0], [0.5, 0.4]])
    assert comparison.largest_difference == pytest.approx(0.05)
    assert (comparison.output, comparison.kind) == ("out", "mean")


def test_the_difference_is_in_units_of_the_scale():
    assert compared([[0.0, 10.0]], [[0.0, 9.0]]).largest_difference == pytest.approx(0.05)


def test_the_difference_of_classes_is_their_share():
    classes = np.arange(40)
    others = np.where(classes == 7, 8, classes)
    assert compared([classes], [others]).largest_difference == pytest.approx(1 / 40)


@pytest.mark.parametrize("found", [[0.2, 1.0], [np.nan, 1.0], [0.0, 1.0, 0.0]])
def test_a_larger_difference_is_an_error(found):
    with pytest.raises(DifferenceError, match="out"):
        compared([[0.0, 1.0]], [found])
