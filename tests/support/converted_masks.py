"""Small folders in the layouts that `tf-frame convert` of tf-frame-deeplab reads."""

import io
import json
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame.testing.elements import read_elements
from tf_frame_deeplab.datasets.voc import voc_colour

SIZE = (8, 8)


def save(path, pixels, palette=None, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(pixels)
    if palette is not None:
        image.putpalette(palette.ravel().tolist())
    image.save(path, **options)


VOC_COLOURS = np.array([voc_colour(value) for value in range(256)], np.uint8)


def random_image(number):
    return np.random.RandomState(100 + number).randint(0, 256, [*SIZE, 3]).astype(np.uint8)


def random_mask(number, values=(0, 1, 2, 255)):
    return np.random.RandomState(number).choice(np.array(values, np.uint8), SIZE)


def own_folder(folder, numbers=range(6)):
    """Masks as grey values, palettes and colours, images in several formats."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "classes.txt").write_text("a 0 0 0\nb 128 0 0\nc 0 128 0\nignore 224 224 192\n")
    for number in numbers:
        mask, ending = random_mask(number), ("png", "bmp", "webp")[number % 3]
        lossless = {"lossless": True} if ending == "webp" else {}
        save(folder / "images" / f"p{number}.{ending}", random_image(number), **lossless)
        path = folder / "masks" / f"p{number}.png"
        if number % 3 == 0:
            save(path, mask)
        elif number % 3 == 1:
            save(path, mask, palette=VOC_COLOURS)
        else:
            save(path, VOC_COLOURS[mask])
    return folder


def voc(folder):
    root = folder / "VOCdevkit" / "VOC2012"
    lists = {"train": ["a", "b"], "val": ["c"], "train_aug": ["a", "b", "d"]}
    for number, name in enumerate("abcd"):
        save(root / "JPEGImages" / f"{name}.jpg", random_image(number))
        if name != "d":
            path = root / "SegmentationClass" / f"{name}.png"
            save(path, random_mask(number), palette=VOC_COLOURS)
    save(root / "SegmentationClassAug" / "d.png", random_mask(3))
    (root / "ImageSets" / "Segmentation").mkdir(parents=True)
    for split, names in lists.items():
        line = "/JPEGImages/{0}.jpg /SegmentationClassAug/{0}.png" if "aug" in split else "{0}"
        text = "\n".join(line.format(name) for name in names) + "\n"
        (root / "ImageSets" / "Segmentation" / f"{split}.txt").write_text(text)
    return folder


def cityscapes(folder):
    for split, city, number in (("train", "aachen", 0), ("train", "bochum", 1), ("val", "ulm", 2)):
        name = f"{city}_000000_000019"
        save(
            folder / "leftImg8bit" / split / city / f"{name}_leftImg8bit.png", random_image(number)
        )
        masks = folder / "gtFine" / split / city
        if number == 1:
            save(masks / f"{name}_gtFine_labelTrainIds.png", random_mask(number, (0, 18, 255)))
        else:
            save(masks / f"{name}_gtFine_labelIds.png", random_mask(number, (0, 7, 26, 29, 33)))
    return folder


def ade20k(folder):
    root = folder / "ADEChallengeData2016"
    for split, number in (("training", 0), ("training", 1), ("validation", 2)):
        name = f"ADE_{split[:5]}_0000000{number}"
        save(root / "images" / split / f"{name}.jpg", random_image(number))
        save(root / "annotations" / split / f"{name}.png", random_mask(number, (0, 1, 150)))
    return folder


def coco_panoptic(folder):
    categories = [{"id": 1, "name": "person"}, {"id": 90, "name": "sky-merged"}]
    # Ids of segments: red 1, green 2, blue 3; and red only.
    segments = [{"id": 1 + 2 * 2**8 + 3 * 2**16, "category_id": 90}, {"id": 7, "category_id": 1}]
    colours = np.array([(0, 0, 0), (1, 2, 3), (7, 0, 0)], np.uint8)
    for split, number in (("train", 0), ("val", 1)):
        masks = folder / "annotations" / f"panoptic_{split}2017"
        save(folder / f"{split}2017" / f"{number}.jpg", random_image(number))
        save(masks / f"{number}.png", colours[random_mask(number, (0, 1, 2))])
        content = {
            "images": [{"id": 5, "file_name": f"{number}.jpg"}],
            "annotations": [
                {"image_id": 5, "file_name": f"{number}.png", "segments_info": segments}
            ],
            "categories": categories,
        }
        Path(f"{masks}.json").write_text(json.dumps(content))
    return folder


def read_features(folder, split="train"):
    """Features of each record of a split."""
    paths = sorted(map(str, Path(folder).glob(f"{split}-*-of-*")))
    with tf.Graph().as_default():
        records = read_elements(tf.data.TFRecordDataset(paths))
    return [tf.train.Example.FromString(record).features.feature for record in records]


def read_masks(folder, split="train"):
    """Name -> mask of each record of a split."""
    masks = {}
    for feature in read_features(folder, split):
        keys = ("image/filename", "image/segmentation/class/encoded")
        name, mask = (feature[key].bytes_list.value[0] for key in keys)
        masks[name.decode()] = np.asarray(Image.open(io.BytesIO(mask)))
    return masks
