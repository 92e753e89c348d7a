import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.clip_by_value import ClipByValue

pytestmark = pytest.mark.usefixtures("graph")


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"limit": 2.0}, [-2.0, -1.0, 2.0]),
        ({"limit": 2.0, "lower": -0.5}, [-0.5, -0.5, 2.0]),
        ({"limit": 2.0, "upper": 0.0}, [-2.0, -1.0, 0.0]),
        ({"lower": -4.0, "upper": 4.0}, [-3.0, -1.0, 4.0]),
    ],
)
def test_elements_beyond_the_bounds_are_set_to_them(params, expected, variable, evaluate):
    clip = ClipByValue(params=ClipByValue.Params(**params))
    ((gradient, _),) = clip([(tf.constant([-3.0, -1.0, 5.0]), variable("v", [3]))])
    np.testing.assert_array_equal(evaluate(gradient), expected)


def test_slices_are_clipped_one_by_one(variable, sparse, evaluate):
    clip = ClipByValue(params=ClipByValue.Params(lower=-1.0, upper=3.5))
    ((gradient, _),) = clip([(sparse(), variable("v"))])
    np.testing.assert_array_equal(evaluate(gradient.values), [[3.0, 3.5], [0.0, 3.5]])


@pytest.mark.parametrize("params", [{"limit": 0.0}, {"lower": 1.0}, {"lower": 3.0, "upper": 2.0}])
def test_bounds_that_leave_nothing_are_refused(params):
    with pytest.raises(ConfigError, match=r"clip_by_value: the lower bound \S+ must be below the"):
        ClipByValue(params=ClipByValue.Params(**params))
