"""Folders of every layout become records, which the input reads back as they were."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.testing.elements import read_elements
from tf_frame_deeplab.convert import examples
from tf_frame_deeplab.datasets.voc import VOC, voc_colour
from tf_frame_deeplab.inputs import segmentation_folder, segmentation_tfrecord

SIZE = (8, 8)
WITHOUT_TENSORFLOW = """
import sys
from tf_frame.cli.main import main
print([main(["convert", *words.split()]) for words in sys.argv[1:]], "tensorflow" in sys.modules)
"""


@pytest.fixture
def convert(tmp_path):
    """Runs `tf-frame convert KIND SOURCE tmp_path/records`; returns its exit code."""

    def run(kind, source, *options, output="records"):
        words = [kind, source, tmp_path / output, "--workers", "2", *options]
        return main(["convert", *map(str, words)])

    return run


@pytest.fixture
def refuse(convert, capsys):
    """Runs a conversion that must be refused; returns its error messages."""

    def run(*words):
        capsys.readouterr()
        assert convert(*words) == 2
        return capsys.readouterr().err

    return run


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


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


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


def change_segments(root, segments):
    """Changes those of the first annotation."""
    path = root / "annotations/panoptic_train2017.json"
    content = json.loads(path.read_text())
    content["annotations"][0]["segments_info"] = segments
    path.write_text(json.dumps(content))


def batches(source, mode):
    """Images and masks of all examples of a mode, not augmented."""
    with tf.Graph().as_default():
        dataset = source.dataset(mode, InputContext(batch_size=1))
        elements = read_elements(dataset, source.splits[mode].count)
    return [(features["image"][0], labels["semantic"][0]) for features, labels in elements]


def read_records(folder, **params):
    """Returns the input that reads the records of a conversion."""
    params = segmentation_tfrecord.Params(data_dir=str(folder / "records"), **params)
    return segmentation_tfrecord.SegmentationTfrecord(params=params)


@pytest.mark.parametrize("mode", [Mode.TRAIN, pytest.param(Mode.EVAL, marks=pytest.mark.slow)])
def test_records_hold_what_the_folder_holds(convert, tmp_path, mode):
    folder = own_folder(tmp_path / "photos")
    assert convert("segmentation_folder", folder, "--shards", "2", "--eval_fraction", "0.3") == 0
    options = {"augment": False, "shuffle_buffer": 0}
    own = segmentation_folder.SegmentationFolder(
        params=segmentation_folder.Params(data_dir=str(folder), eval_fraction=0.3, **options)
    )
    records = read_records(tmp_path, **options)
    assert records.info == own.info
    pairs = list(zip(batches(records, mode), batches(own, mode), strict=True))
    assert len(pairs) == own.splits[mode].count
    for (image, mask), (own_image, own_mask) in pairs:
        np.testing.assert_array_equal(image, own_image)
        np.testing.assert_array_equal(mask, own_mask)


def test_records_have_deeplabs_keys(convert, tmp_path):
    folder = own_folder(tmp_path / "photos", range(2))
    (folder / "train.txt").write_text("p0\np1\n")
    assert convert("segmentation_folder", folder, "--shards", "1") == 0
    assert (tmp_path / "records" / "classes.txt").read_text() == "a 0 0 0\nb 128 0 0\nc 0 128 0\n"
    first, second = read_features(tmp_path / "records")
    image = ("channels", "encoded", "filename", "format", "height", "width")
    mask = ("segmentation/class/encoded", "segmentation/class/format")
    assert set(first) == {f"image/{name}" for name in (*image, *mask)}
    assert first["image/encoded"].bytes_list.value[0] == (folder / "images/p0.png").read_bytes()
    assert second["image/format"].bytes_list.value[0] == b"bmp"
    assert second["image/height"].int64_list.value[0] == 8
    encoded = second["image/segmentation/class/encoded"].bytes_list.value[0]
    # Bits and colour type: DeepLab's reader takes grey values of 8 bits.
    assert tuple(encoded[24:26]) == (8, 0)


def test_the_parts_of_a_folder_are_converted_and_images_keep_their_paths(convert, tmp_path):
    root = tmp_path / "photos"
    for part in ("train", "valid", "test"):
        own_folder(root / part, range(1))
    for kind in ("images", "masks"):
        (root / "train" / kind / "a").mkdir()
        (root / "train" / kind / "a" / "p0.png").write_bytes(
            (root / "train" / kind / "p0.png").read_bytes()
        )
    (root / "train" / "classes.txt").rename(root / "classes.txt")
    assert convert("segmentation_folder", root, "--shards", "1") == 0
    parts = {
        part: list(read_masks(tmp_path / "records", part)) for part in ("train", "val", "test")
    }
    assert parts == {"train": ["a/p0", "p0"], "val": ["p0"], "test": ["p0"]}


@pytest.mark.parametrize("name", ["../0.jpg", "/etc/passwd", "..\\..\\x.jpg", "", 7])
@pytest.mark.parametrize("kind", ["images", "annotations"])
def test_paths_of_panoptic_files_stay_in_the_folder(convert, tmp_path, capsys, name, kind):
    path = coco_panoptic(tmp_path / "coco") / "annotations/panoptic_train2017.json"
    content = json.loads(path.read_text())
    content[kind][0]["file_name"] = name
    path.write_text(json.dumps(content))
    assert convert("coco_panoptic", tmp_path / "coco") == 2
    error = capsys.readouterr().err
    assert re.search("leads out of .* give --allow_outside|is no path of a file", error)


def test_voc_has_masks_of_its_own_and_of_sbd(convert, tmp_path, capsys):
    source = voc(tmp_path / "downloads")
    splits = ["--split", "train_aug,val", "--shards", "2"]
    assert convert("voc", source, *splits) == 0
    printed = capsys.readouterr().out
    assert "train_aug: 3 images of 21 classes in 2 shards" in printed
    assert "val: 1 images of 21 classes in 1 shards" in printed
    assert f"--input.data_dir {tmp_path}/records --input.dataset voc" in printed
    masks = read_masks(tmp_path / "records", "train_aug")
    assert list(masks) == ["a", "b", "d"]
    for number, name in ((0, "a"), (1, "b"), (3, "d")):
        np.testing.assert_array_equal(masks[name], random_mask(number))
    assert not (tmp_path / "records" / "classes.txt").exists()
    of = read_records(tmp_path, dataset="voc")
    assert of.info.num_examples == {Mode.TRAIN: 3, Mode.EVAL: 1, Mode.PREDICT: 1}
    assert of.info.class_names == VOC.class_names


def test_label_ids_of_cityscapes_become_classes(convert, tmp_path):
    assert convert("cityscapes", cityscapes(tmp_path / "downloads"), "--shards", "1") == 0
    masks = read_masks(tmp_path / "records")
    ids = random_mask(0, (0, 7, 26, 29, 33))
    expected = np.select([ids == 7, ids == 26, ids == 33], [0, 13, 18], 255)
    np.testing.assert_array_equal(masks["aachen_000000_000019"], expected)
    np.testing.assert_array_equal(masks["bochum_000000_000019"], random_mask(1, (0, 18, 255)))
    assert list(read_masks(tmp_path / "records", "val")) == ["ulm_000000_000019"]


def test_masks_of_ade20k_stay_as_they_are(convert, tmp_path):
    assert convert("ade20k", ade20k(tmp_path / "downloads"), "--shards", "2") == 0
    masks = read_masks(tmp_path / "records")
    np.testing.assert_array_equal(masks["ADE_train_00000001"], random_mask(1, (0, 1, 150)))
    of = read_records(tmp_path, dataset="ade20k")
    assert of.info.num_examples[Mode.EVAL] == 1


def test_segments_of_coco_become_their_categories(convert, tmp_path):
    assert convert("coco_panoptic", coco_panoptic(tmp_path / "downloads"), "--shards", "1") == 0
    assert (tmp_path / "records" / "classes.txt").read_text() == "person\nsky-merged\n"
    expected = np.array([255, 1, 0])[random_mask(0, (0, 1, 2))]
    np.testing.assert_array_equal(read_masks(tmp_path / "records")["0"], expected)


def test_splits_are_names_of_files_and_images_in_two_of_them_are_a_warning(
    convert, refuse, tmp_path, capsys
):
    source = voc(tmp_path / "downloads")
    assert convert("voc", source, "--split", "train,train_aug", "--shards", "1") == 0
    warning = "warning: 2 images are both in train and in train_aug; do not train on"
    assert warning in capsys.readouterr().err
    error = refuse("voc", source, "--split", "../train")
    assert "--split '../train' cannot begin the name of a file" in error


def test_options_for_the_input_are_told(convert, tmp_path, capsys):
    folder = own_folder(tmp_path / "photos", ())
    for number in range(2):
        save(folder / "images" / f"{number}.png", random_image(number))
        save(folder / "masks" / f"{number}.png", random_mask(number, (0, 1, 2, 9)))
    assert convert("segmentation_folder", folder, "--shards", "1", "--ignore_label", "9") == 0
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert last_line.endswith(f"--input.data_dir {tmp_path}/records --input.ignore_label 9")


def remove(name):
    return lambda root: next(root.rglob(name)).unlink()


def replace(name, value, size=SIZE):
    return lambda root: save(next(root.rglob(name)), np.full(size, value, np.uint8))


DAMAGE = {
    "no mask": (voc, remove("a.png"), r"a.jpg has no mask \S+SegmentationClass/a.png or "),
    "no image": (voc, remove("b.jpg"), r"there is no image \S+JPEGImages/b.jpg"),
    "no list": (voc, remove("val.txt"), r"\S+val.txt cannot be read: No such file"),
    "a class out of range": (voc, replace("a.png", 21), "a.png has the value 21, which is no"),
    "another size": (
        voc,
        replace("b.png", 0, (8, 7)),
        "b.png is 8 x 7 pixels, but its image 8 x 8",
    ),
    "an unknown label id": (cityscapes, replace("aachen*Ids.png", 40), "has the value 40, which"),
    "no city": (cityscapes, remove("ulm*_leftImg8bit.png"), r"val has no image CITY/NAME_left"),
    "no annotation": (ade20k, remove("ADE_train_00000001.png"), r"00001.jpg has no mask \S+png"),
    "no categories": (
        coco_panoptic,
        lambda root: (root / "annotations/panoptic_val2017.json").write_text("{}"),
        "panoptic_val2017.json has no annotations, categories, images",
    ),
    "segments that are texts": (
        coco_panoptic,
        lambda root: change_segments(root, ["sky"]),
        "panoptic_train2017.json, '0.png': it has not the form of panoptic records",
    ),
    "an id that is no number": (
        coco_panoptic,
        lambda root: change_segments(root, [{"id": "x"}]),
        "panoptic_train2017.json, '0.png': 'x' of type str is no whole number",
    ),
    "a segment without a category": (
        coco_panoptic,
        lambda root: save(root / "annotations/panoptic_train2017/0.png", random_image(0)),
        "panoptic_train2017/0.png has the colour",
    ),
    "another folder": (own_folder, remove("classes.txt"), "neither"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_source_is_one_line(refuse, tmp_path, kind):
    layout, damage, expected = DAMAGE[kind]
    damage(layout(tmp_path / "downloads"))
    name = "voc" if layout is own_folder else layout.__name__
    error = refuse(name, tmp_path / "downloads", "--shards", "1")
    (line,) = [line for line in error.splitlines() if "shards done" not in line]
    assert re.search(expected, line), line


def test_damaged_pictures_may_be_left_out(convert, refuse, tmp_path, capsys):
    folder = own_folder(tmp_path / "photos")
    path = folder / "masks" / "p0.png"
    path.write_bytes(path.read_bytes()[:-40])
    (folder / "train.txt").write_text("p0\np1\np2\n")
    error = refuse("segmentation_folder", folder, "--shards", "1")
    assert "p0.png: it cannot be decoded: " in error
    assert convert("segmentation_folder", folder, "--shards", "1", "--skip_corrupt") == 0
    assert "2 images of 3 classes in 1 shards; 1 corrupt images left out" in capsys.readouterr().out
    assert list(read_masks(tmp_path / "records")) == ["p1", "p2"]


def test_a_conversion_that_was_stopped_goes_on(convert, tmp_path, capsys, monkeypatch):
    folder = own_folder(tmp_path / "photos")
    options = ["--shards", "5", "--eval_fraction", "0"]
    assert convert("segmentation_folder", folder, *options, output="uninterrupted") == 0
    left, record_classes = [4], examples.record_classes

    def stopped(picture, **limits):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return record_classes(picture, **limits)

    monkeypatch.setattr(examples, "record_classes", stopped)
    assert convert("segmentation_folder", folder, *options) == 130
    names = contents(tmp_path / "records")
    assert not [name for name in names if name.endswith(".partial")]
    assert 0 < len([name for name in names if "-of-" in name]) < 5
    monkeypatch.undo()
    capsys.readouterr()
    assert convert("segmentation_folder", folder, *options) == 0
    assert "of them finished before" in capsys.readouterr().out
    assert contents(tmp_path / "records") == contents(tmp_path / "uninterrupted")


def test_other_settings_and_other_files_are_refused(convert, refuse, tmp_path):
    folder = own_folder(tmp_path / "photos")
    words = ["segmentation_folder", folder, "--shards", "2", "--eval_fraction", "0"]
    assert convert(*words) == 0
    assert "ignore_label was 255, now 254" in refuse(*words, "--ignore_label", "254")
    save(folder / "masks" / "p0.png", random_mask(7))
    assert "the files of SOURCE have changed" in refuse(*words)
    assert "--ignore_label 2 is one of the 3 classes" in refuse(*words, "--ignore_label", "2")


@pytest.mark.process
def test_help_and_mistakes_do_not_wait_for_tensorflow(tmp_path):
    words = ["voc --help", f"cityscapes {tmp_path} {tmp_path}-x", "ade20k /no/such x"]
    words.append(f"voc {tmp_path} {tmp_path}/inner")
    command = [sys.executable, "-c", WITHOUT_TENSORFLOW, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[0, 2, 2, 2] False", done.stderr
    assert "is within SOURCE" in done.stderr
