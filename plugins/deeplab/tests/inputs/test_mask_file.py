"""Values of masks, and the largest mask."""

import numpy as np
import pytest
from PIL import Image

from tf_frame.errors import DataError
from tf_frame_deeplab.inputs.segmentation_folder import Params, SegmentationFolder
from tf_frame_vision.reading.pixels import load_mask


def test_masks_keep_deep_values_and_are_refused_if_they_are_too_large(tmp_path):
    deep = np.random.RandomState(0).randint(0, 2**16, [9, 12]).astype(np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(load_mask(tmp_path / "deep.png"), deep)
    (tmp_path / "classes.txt").write_text("background\nbar\n", encoding="utf-8")
    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
        for name in ("p1", "p2"):
            Image.fromarray(np.zeros([24, 40], np.uint8)).save(tmp_path / folder / f"{name}.png")
    Image.fromarray(np.zeros([25, 40], np.uint8)).save(tmp_path / "masks" / "p2.png")
    reason = r"masks/p2.png: it is 25 x 40 pixels, more than 960 \(--input.max_pixels\)"
    with pytest.raises(DataError, match=reason):
        SegmentationFolder(params=Params(data_dir=str(tmp_path), max_pixels=960))
