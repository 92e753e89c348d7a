"""Names of classes, and which of them is the background."""

import pytest

from tf_frame_vision.reading.class_names import is_background


@pytest.mark.parametrize(
    "name", ["background", "Background", "_background_", "__background__", "bg", "BG", "_bg_"]
)
def test_names_of_the_background(name):
    assert is_background(name)


@pytest.mark.parametrize("name", ["", "_", "foreground", "background 2", "bgr", "back_ground"])
def test_other_names(name):
    assert not is_background(name)
