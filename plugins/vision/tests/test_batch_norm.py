"""Decay of batch norm in runs of few steps."""

import pytest

from tf_frame_vision.batch_norm import fitting_decay, note_on_decay
from tf_frame_vision.slim_network import load_network


@pytest.mark.parametrize(
    ("own", "num_steps", "expected"),
    [
        (0.997, 100, 0.8),
        (0.997, 225, 0.9),
        (0.997, 8308, 0.997),
        (0.9997, 8308, 8308 / 8333),
        (0.9997, 10**6, 0.9997),
        (0.95, 500, 0.95),
        (0.5, 25, 0.5),
        (0.997, None, 0.997),
        (None, 100, None),
    ],
)
def test_the_decay_fits_the_number_of_steps(own, num_steps, expected):
    assert fitting_decay(own, num_steps) == (expected and pytest.approx(expected))


def test_initial_values_weigh_nothing_at_the_end_and_the_note_names_both_decays():
    assert all(fitting_decay(0.9997, steps) ** steps < 0.01 for steps in (10, 50, 300, 5000))
    (note,) = note_on_decay(0.997, 225)
    assert "batch norm keeps 0.900 of" in note and "to fit 225 steps" in note
    assert "--model.batch_norm_decay 0.997" in note
    for own, num_steps in ((0.997, 10**5), (0.997, None), (None, 100)):
        assert not note_on_decay(own, num_steps)


@pytest.mark.parametrize(
    ("name", "decay"),
    [
        ("mobilenet_v1_025", 0.9997),
        ("mobilenet_v2", 0.997),
        ("mobilenet_v3_small", 0.997),
        ("inception_v3", 0.9997),
        ("resnet_v1_50", 0.997),
        ("lenet", None),
        ("vgg_16", None),
    ],
)
def test_networks_know_their_own_decay(name, decay):
    assert load_network(name).own_batch_norm_decay() == decay
