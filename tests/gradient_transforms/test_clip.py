import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.clip import (
    ClipByGlobalNorm,
    ClipByNorm,
    ClipByValue,
    clip_gradients_by_global_norm,
    clip_gradients_by_norm,
)

pytestmark = pytest.mark.usefixtures("graph")


def clip(cls, pairs, **params):
    return [gradient for gradient, _ in cls(params=cls.Params(**params))(pairs)]


@pytest.fixture
def pairs(variable, sparse):
    """Norms 5, none and 12, together 13."""
    return [
        (tf.constant([3.0, 4.0]), variable("a", [2])),
        (None, variable("b")),
        (sparse(((0.0, 0.0), (0.0, 12.0))), variable("c")),
    ]


def test_each_gradient_is_clipped_by_itself(variable, evaluate):
    pairs = [
        (tf.constant(v), variable(f"v{v[0]}", [2])) for v in ([3.0, 4.0], [1.0, 1.0], [0, 0.0])
    ]
    long, short, zeros = evaluate(clip(ClipByNorm, pairs, norm=2.5))
    np.testing.assert_allclose(long, [1.5, 2.0], rtol=1e-6)
    np.testing.assert_array_equal([short, zeros], [[1.0, 1.0], [0.0, 0.0]])


def test_the_norm_of_a_sparse_gradient_is_the_norm_of_its_slices(variable, sparse, evaluate):
    # The slices have norm 13; the dense gradient, their sum (3, 16), would have 16.28.
    (gradient,) = clip(ClipByNorm, [(sparse(), variable("v"))], norm=6.5)
    np.testing.assert_allclose(evaluate(gradient.values), [[1.5, 2.0], [0.0, 6.0]], rtol=1e-6)


def test_the_function_takes_a_tensor(variable, evaluate):
    pairs = [(tf.constant([3.0, 4.0]), variable("a", [2]))]
    ((gradient, _),) = clip_gradients_by_norm(pairs, tf.constant(10.0) / 2.0)
    np.testing.assert_allclose(evaluate(gradient), [3.0, 4.0], rtol=1e-6)


def test_all_gradients_are_scaled_by_one_factor(pairs, evaluate):
    a, none, c = clip(ClipByGlobalNorm, pairs, norm=6.5)
    assert none is None
    np.testing.assert_allclose(evaluate(a), [1.5, 2.0], rtol=1e-6)
    np.testing.assert_allclose(evaluate(c.values), [[0.0, 0.0], [0.0, 6.0]], rtol=1e-6)
    short = clip(ClipByGlobalNorm, pairs, norm=13.5)[0]
    np.testing.assert_allclose(evaluate(short), [3.0, 4.0], rtol=1e-6)
    nothing = pairs[1:2]
    assert clip(ClipByGlobalNorm, nothing, norm=1.0) == [None]


def test_gradients_of_several_types_have_one_global_norm(variable, evaluate):
    half = tf.constant([0.0, 12.0], tf.float16)
    pairs = [(half, variable("half", [2])), (tf.constant([3.0, 4.0]), variable("a", [2]))]
    changed = clip(ClipByGlobalNorm, pairs, norm=6.5)
    assert [gradient.dtype for gradient in changed] == [tf.float16, tf.float32]
    first, second = evaluate(changed)
    np.testing.assert_allclose([*first, *second], [0.0, 6.0, 1.5, 2.0], rtol=1e-3)


def test_a_bad_gradient_spoils_all(pairs, evaluate):
    infinite = (tf.constant([np.inf, 0.0]), pairs[1][1])
    changed = clip_gradients_by_global_norm([pairs[0], infinite], 1.0)
    assert np.isnan(evaluate(changed[0][0])).all()


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
    pairs = [(tf.constant([-3.0, -1.0, 5.0]), variable("v", [3]))]
    np.testing.assert_array_equal(evaluate(clip(ClipByValue, pairs, **params)[0]), expected)


def test_slices_are_clipped_one_by_one(variable, sparse, evaluate):
    (gradient,) = clip(ClipByValue, [(sparse(), variable("v"))], lower=-1.0, upper=3.5)
    np.testing.assert_array_equal(evaluate(gradient.values), [[3.0, 3.5], [0.0, 3.5]])


@pytest.mark.parametrize(
    ("cls", "params", "words"),
    [
        *(
            (ClipByNorm, {"norm": norm}, f"clip_by_norm: the norm is {norm}; it must be above 0")
            for norm in (0.0, -1.0)
        ),
        (ClipByGlobalNorm, {"norm": 0.0}, "clip_by_global_norm: the norm is 0.0; it must be"),
        *(
            (ClipByValue, params, r"clip_by_value: the lower bound \S+ must be below the")
            for params in ({"limit": 0.0}, {"lower": 1.0}, {"lower": 3.0, "upper": 2.0})
        ),
    ],
)
def test_bounds_that_leave_nothing_are_refused(cls, params, words):
    with pytest.raises(ConfigError, match=words):
        cls(params=cls.Params(**params))
