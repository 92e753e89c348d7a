"""Photographs of all eight EXIF orientations: images and masks lie as Pillow shows the image."""

import numpy as np
import pytest
from PIL import Image, ImageOps

from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.errors import DataError
from tf_frame.testing.elements import read_elements
from tf_frame_deeplab.inputs import segmentation_folder, segmentation_tfrecord
from tf_frame_vision.reading.orientation import turn_pixels
from tf_frame_vision.reading.pixels import load_mask

pytestmark = pytest.mark.usefixtures("graph")

HEIGHT, WIDTH = 24, 40
INVERSE = {6: 8, 8: 6}
RANDOM = np.random.RandomState(0)


def tags(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def write(root, kind):
    """Writes photographs; masks are as shown, or as stored where that has another size."""
    for folder in ("images", "masks"):
        (root / folder).mkdir(parents=True)
    (root / "classes.txt").write_text("background\nbar\n", encoding="utf-8")
    masks = []
    for orientation in range(1, 9):
        mask = RANDOM.randint(0, 2, [HEIGHT, WIDTH]).astype(np.uint8)
        stored = turn_pixels(mask, INVERSE.get(orientation, orientation))
        name = f"p{orientation}.png"
        picture = np.repeat(stored[..., np.newaxis], 3, -1) * 200
        Image.fromarray(picture).save(root / "images" / name, exif=tags(orientation))
        options = {}
        if kind == "shown" or (kind == "stored" and orientation < 5):
            saved = mask
        else:
            saved, options = stored, {"exif": tags(orientation)} if kind == "own" else {}
        Image.fromarray(saved).save(root / "masks" / name, **options)
        masks.append(mask)
    return masks


def check(source, mode, masks, root):
    elements = read_elements(source.dataset(mode, InputContext(batch_size=1)), 8)
    for number, (features, labels) in enumerate(elements, 1):
        image = ImageOps.exif_transpose(Image.open(root / "images" / f"p{number}.png"))
        np.testing.assert_array_equal(features["image"][0], np.asarray(image))
        np.testing.assert_array_equal(labels["semantic"][0], masks[number - 1])


@pytest.mark.parametrize("kind", ["shown", "stored", "own"])
def test_images_and_masks_lie_as_pillow_shows_the_image(tmp_path, kind):
    masks = write(tmp_path / "data", kind)
    root = tmp_path / "data"
    (root / "train.txt").write_text("p1\n", encoding="utf-8")
    names = "".join(f"p{number}\n" for number in range(1, 9))
    (root / "val.txt").write_text(names, encoding="utf-8")
    params = segmentation_folder.Params(data_dir=str(root))
    check(segmentation_folder.SegmentationFolder(params=params), Mode.EVAL, masks, root)
    if kind == "stored":
        words = ["convert", "segmentation_folder", root, tmp_path / "records", "--shards", "1"]
        assert main([*map(str, words)]) == 0
        params = segmentation_tfrecord.Params(data_dir=str(tmp_path / "records"))
        source = segmentation_tfrecord.SegmentationTfrecord(params=params)
        check(source, Mode.EVAL, masks, root)


def test_masks_keep_deep_values_and_are_refused_if_they_are_too_large(tmp_path):
    write(tmp_path, "shown")
    deep = RANDOM.randint(0, 2**16, [9, 12]).astype(np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(load_mask(tmp_path / "deep.png"), deep)
    Image.fromarray(np.zeros([25, 40], np.uint8)).save(tmp_path / "masks" / "p3.png")
    params = segmentation_folder.Params(data_dir=str(tmp_path), max_pixels=960)
    reason = r"masks/p3.png: it is 25 x 40 pixels, more than 960 \(--input.max_pixels\)"
    with pytest.raises(DataError, match=reason):
        segmentation_folder.SegmentationFolder(params=params)
