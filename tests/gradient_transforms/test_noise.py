import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.gradient_transforms.noise import Noise

pytestmark = pytest.mark.usefixtures("graph")
add_noise = Noise(params=Noise.Params(eta=1.0, gamma=0.0, seed=1))

SHAPE = (300, 200)


@pytest.fixture
def draw(variable):
    """Draws the noise on zero gradients of variables `a` and `b` at a global step."""
    tf.train.create_global_step()
    pairs = [(tf.zeros(SHAPE), variable(name, SHAPE)) for name in ("a", "b")]

    def run(step, **params):
        noisy = Noise(params=Noise.Params(**params))(pairs)
        with initialized_session() as session:
            session.run(tf.assign(tf.train.get_global_step(), step))
            return session.run([gradient for gradient, _ in noisy])

    return run


@pytest.mark.parametrize(
    ("step", "params", "stddev"),
    [
        (0, {}, 0.3**0.5),
        (0, {"eta": 0.25}, 0.5),
        (99, {"eta": 0.25}, (0.25 / 100**0.55) ** 0.5),
        (99, {"eta": 0.25, "gamma": 1.0}, 0.05),
        (99, {"eta": 0.25, "gamma": 0.0}, 0.5),
    ],
)
def test_the_noise_is_gaussian_and_fades(step, params, stddev, draw):
    a, _ = draw(step, **params)
    # Six standard errors of the estimates from 60000 numbers.
    assert abs(a.mean()) < 6 * stddev / np.sqrt(a.size)
    assert abs(a.std() / stddev - 1) < 6 / np.sqrt(2 * a.size)
    assert abs((np.abs(a) < stddev).mean() - 0.6827) < 6 * 0.47 / np.sqrt(a.size)


@pytest.mark.parametrize("step", [0, 1, 1000])
def test_the_deviation_follows_the_paper(step, draw):
    numbers, unscaled = draw(step, seed=1)[0], draw(step, eta=1.0, gamma=0.0, seed=1)[0]
    expected = (0.3 / (1 + step) ** 0.55) ** 0.5
    np.testing.assert_allclose(numbers / unscaled, expected, rtol=1e-5)


def test_the_noise_follows_from_step_and_variable_and_eta_0_adds_nothing(draw):
    (first, variable_b), again, next_step = draw(7), draw(7)[0], draw(8)[0]
    np.testing.assert_array_equal(first, again)
    for independent in (next_step, variable_b):
        assert abs(np.corrcoef(first.ravel(), independent.ravel())[0, 1]) < 0.03
    assert not draw(5, eta=0.0)[0].any()


def test_the_noise_follows_from_the_name_and_not_from_the_place(variable, evaluate):
    tf.train.create_global_step()
    a, b = variable("a"), variable("b")
    together = add_noise([(tf.zeros([3, 2]), v) for v in (a, b)])
    alone = add_noise([(tf.zeros([3, 2]), b)])
    np.testing.assert_array_equal(*evaluate([together[1][0], alone[0][0]]))


def test_the_seed_is_the_option_or_else_that_of_the_graph(draw):
    plain, seeded = draw(0)[0], draw(0, seed=1)[0]
    assert (plain != seeded).any()
    np.testing.assert_array_equal(plain, draw(0, seed=0)[0])
    tf.set_random_seed(1)
    np.testing.assert_array_equal(draw(0)[0], seeded)


def test_noise_is_added_to_the_gradient_or_its_slices(variable, sparse, evaluate):
    tf.train.create_global_step()
    v, gradient = variable("v"), sparse()
    pairs = [(tf.zeros([3, 2]), v), (tf.fill([3, 2], 5.0), v), (gradient, v)]
    (bare, _), (noisy, _), (noisy_sparse, _) = add_noise(pairs)
    bare, noisy, before, after = evaluate([bare, noisy, gradient.values, noisy_sparse.values])
    np.testing.assert_allclose(noisy, bare + 5.0, rtol=1e-6)
    assert after.shape == (2, 2)
    assert (before != after).all()


def test_a_graph_without_global_step_is_an_error(variable):
    with pytest.raises(RuntimeError, match="noise depends on the global step, and the graph has"):
        Noise(params=Noise.Params())([(tf.ones([3, 2]), variable("v"))])
