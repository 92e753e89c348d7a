"""Pictures at their own size."""

import numpy as np
from PIL import Image

from tf_frame_vision.drawing.own_picture import file_picture, resized


def test_a_file_is_shown_as_it_is_seen_and_other_names_have_no_picture(tmp_path):
    pixels = np.arange(6 * 4 * 3, dtype=np.uint8).reshape(6, 4, 3)
    exif = Image.Exif()
    exif[0x112] = 6
    Image.fromarray(pixels).save(tmp_path / "a.png", exif=exif)
    turned = file_picture(str(tmp_path / "a.png").encode())
    np.testing.assert_array_equal(turned, np.rot90(pixels, -1))
    (tmp_path / "b.png").write_bytes(b"no image")
    for name in ("b.png", "c.png", ".", "train-00000-of-00001: record 3"):
        assert file_picture(str(tmp_path / name)) is None


def test_a_picture_gets_another_size():
    image = np.zeros([4, 4, 3], np.float32)
    image[:, 2:] = 300
    assert resized(image, (4, 4)).tolist() == np.clip(image, 0, 255).tolist()
    wide = resized(image, np.array([2.0, 8.0]))
    assert wide.shape == (2, 8, 3)
    assert (wide[:, 0] == 0).all() and (wide[:, -1] == 255).all()
    assert resized(image, (0, 3)).shape == (1, 3, 3)
