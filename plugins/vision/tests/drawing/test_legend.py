import numpy as np

from tf_frame_vision.drawing.legend import with_legend

RED, GREEN = (255, 0, 0), (0, 255, 0)


def picture(height, width):
    return np.full([height, width, 3], 7, np.uint8)


def has(pixels, colour):
    return (pixels == colour).all(axis=2).any()


def test_colours_are_below_the_picture_a_line_for_each_name_of_a_narrow_one():
    found = with_legend(picture(20, 200), [("cat", RED), ("dog", GREEN)])
    np.testing.assert_array_equal(found[:20], picture(20, 200))
    assert has(found[20:], RED) and has(found[20:], GREEN) and has(found[20:], (0, 0, 0))
    assert found.shape[1] == 200
    # A narrow picture gets a line for each name.
    one = with_legend(picture(5, 1), [("cat", RED)])
    two = with_legend(picture(5, 1), [("cat", RED), ("dog", GREEN)])
    np.testing.assert_array_equal(two[:5, :1], picture(5, 1))
    assert two.shape[0] > one.shape[0] > 5
    # Nothing of a name is cut off: its last column is empty.
    assert (two[5:, -1] == 255).all()
    np.testing.assert_array_equal(with_legend(picture(3, 4), []), picture(3, 4))
