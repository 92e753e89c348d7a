"""Folders of every layout become records, which the input reads back as they were."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from converted_masks import (
    ade20k,
    cityscapes,
    coco_panoptic,
    own_folder,
    random_image,
    random_mask,
    read_features,
    read_masks,
    save,
    voc,
)
from tf_frame import InputContext, Mode
from tf_frame.testing.elements import read_elements
from tf_frame_deeplab.datasets.voc import VOC
from tf_frame_deeplab.inputs import segmentation_folder, segmentation_tfrecord

WITHOUT_TENSORFLOW = """
import sys
from tf_frame.cli.main import main
print([main(["convert", *words.split()]) for words in sys.argv[1:]], "tensorflow" in sys.modules)
"""


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


@pytest.mark.slow
@pytest.mark.parametrize("mode", [Mode.TRAIN, Mode.EVAL])
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
    assert "val: 1 images of 21 classes in 1 shard" in printed
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


@pytest.mark.process
def test_help_and_mistakes_do_not_wait_for_tensorflow(tmp_path):
    words = ["voc --help", f"cityscapes {tmp_path} {tmp_path}-x", "ade20k /no/such x"]
    words.append(f"voc {tmp_path} {tmp_path}/inner")
    command = [sys.executable, "-c", WITHOUT_TENSORFLOW, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[0, 2, 2, 2] False", done.stderr
    assert "is within SOURCE" in done.stderr
