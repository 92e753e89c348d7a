import numpy as np
import pytest

from sessions import compute
from tf_frame_vision.reading import packed


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(3, 2) / 7,
        np.arange(-3, 3, dtype=np.int32),
        np.array([True, False]),
        np.zeros([0, 4], np.float32),
    ],
)
def test_arrays_come_back_as_they_were(array):
    found = compute(lambda: packed.values(array))
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
