"""Warnings about images that are dark: 10, 12 or 14 bits in 16, and black pictures."""

import numpy as np
import pytest
from PIL import Image

from tf_frame_vision.data_faults import dark_warnings


def write(folder, most, kind):
    """Writes two images with values from 0 to `most`."""
    values = np.linspace(0, most, 600).reshape(20, 30).astype(kind)
    files = [str(folder / name) for name in ("a.png", "b.tiff")]
    for file in files:
        Image.fromarray(values).save(file)
    return files


@pytest.mark.parametrize("bits", [10, 12, 14])
def test_few_bits_in_sixteen_are_named_with_the_range_to_give(tmp_path, bits):
    files = write(tmp_path, 2**bits - 1, np.uint16)
    (warning,) = dark_warnings(files, (), ())
    assert warning.kind == "dark_images"
    assert f"no value above {2**bits - 1}" in warning.text
    assert warning.remedy == f"give --input.image_range 0,{2**bits - 1}"
    assert not list(dark_warnings(files, (), (0, 2**bits - 1)))


def test_dark_images_of_eight_bits_are_named_and_full_ones_are_not(tmp_path):
    (warning,) = dark_warnings(write(tmp_path, 20, np.uint8), (), ())
    assert "is 20 of 255" in warning.text
    assert not list(dark_warnings(write(tmp_path, 21, np.uint8), (), ()))
    assert not list(dark_warnings(write(tmp_path, 2**16 - 1, np.uint16), (), ()))
