"""Small folders of images and masks, and the input that reads them."""

import numpy as np
from PIL import Image

from tf_frame import InputContext
from tf_frame.testing.elements import read_elements
from tf_frame_deeplab.inputs.segmentation_folder import Params, SegmentationFolder


def picture(path, pixels, mode=None, **save):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels, mode).save(path, **save)


def random_classes(number, size=(24, 32)):
    """A mask of three classes, and an ignored corner; another one for each number."""
    mask = np.random.RandomState(number).randint(0, 3, size).astype(np.uint8)
    mask[:2, :2] = 255
    return mask


def random_image(number, size=(24, 32)):
    return np.random.RandomState(100 + number).randint(0, 256, [*size, 3]).astype(np.uint8)


def write(folder, numbers=range(4), *, images="images", masks="masks", ending="png", suffix=""):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "classes.txt").write_text("background\nnucleus\nboundary\n")
    for number in numbers:
        picture(folder / images / f"p{number}.{ending}", random_image(number))
        picture(folder / masks / f"p{number}{suffix}.png", random_classes(number))
    return folder


def source(folder, **params):
    return SegmentationFolder(params=Params(data_dir=str(folder), **params))


def names(source, mode):
    return [pair.name for pair in source.splits[mode].content[0]]


def take(source, mode, count=None, **context):
    dataset = source.dataset(mode, InputContext(**{"batch_size": 2, **context}))
    return read_elements(dataset, count)
