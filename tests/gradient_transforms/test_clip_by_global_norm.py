import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.clip_by_global_norm import (
    ClipByGlobalNorm,
    clip_gradients_by_global_norm,
)

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def pairs(variable, sparse):
    """Norms 5, none and 12, together 13."""
    return [
        (tf.constant([3.0, 4.0]), variable("a", [2])),
        (None, variable("b")),
        (sparse(((0.0, 0.0), (0.0, 12.0))), variable("c")),
    ]


def clip(pairs, norm):
    return ClipByGlobalNorm(params=ClipByGlobalNorm.Params(norm=norm))(pairs)


def test_all_gradients_are_scaled_by_one_factor(pairs, evaluate):
    a, none, c = [gradient for gradient, _ in clip(pairs, 6.5)]
    assert none is None
    np.testing.assert_allclose(evaluate(a), [1.5, 2.0], rtol=1e-6)
    np.testing.assert_allclose(evaluate(c.values), [[0.0, 0.0], [0.0, 6.0]], rtol=1e-6)


def test_short_gradients_stay(pairs, evaluate):
    np.testing.assert_allclose(evaluate(clip(pairs, 13.5)[0][0]), [3.0, 4.0], rtol=1e-6)


def test_without_any_gradient_nothing_happens(variable):
    pairs = [(None, variable("v"))]
    assert clip(pairs, 1.0) == pairs


def test_a_bad_gradient_spoils_all(pairs, evaluate):
    infinite = (tf.constant([np.inf, 0.0]), pairs[1][1])
    changed = clip_gradients_by_global_norm([pairs[0], infinite], 1.0)
    assert np.isnan(evaluate(changed[0][0])).all()


def test_a_norm_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="clip_by_global_norm: the norm is 0.0; it must be above"):
        ClipByGlobalNorm(params=ClipByGlobalNorm.Params(norm=0.0))
