"""The input `yolo`: pixels of the shares in label files; upright and rotated boxes."""

import numpy as np
import pytest

from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.errors import DataError
from tf_frame.testing.elements import read_elements
from tf_frame_detection.inputs.detection_tfrecord import DetectionTfrecord
from tf_frame_detection.inputs.yolo import Yolo

PLAIN = {"image_size": (), "data_augmentation": (), "shuffle_buffer": 0}


def source(folder, kind=Yolo, **params):
    return kind(params=kind.Params(data_dir=str(folder), **{**PLAIN, **params}))


def take(of, mode):
    return read_elements(of.dataset(mode, InputContext(batch_size=3)), 1)[0]


def boxes(of):
    return [[mark.box for mark in photograph.marks] for photograph in of.splits[Mode.TRAIN].content]


def test_boxes_are_in_pixels_and_records_have_the_same(forms, tmp_path, capsys):
    folder = forms.yolo(tmp_path / "data")
    of = source(folder, rotated=True)
    assert of.info.num_examples == {Mode.TRAIN: 3, Mode.EVAL: 1, Mode.PREDICT: 1}
    assert of.info.class_names == ("cat", "dog")
    expected = [[(3, 2, 9, 12), (4, 20, 20, 30)], [], [(5, 5, 21, 9)]]
    for found, wanted in zip(boxes(of), expected, strict=True):
        np.testing.assert_allclose(found, wanted)
    records = str(tmp_path / "records")
    assert main(["convert", "yolo", str(folder), records, "--shards", "1"]) == 0
    assert "train: 3 images of 2 classes in 1 shards" in capsys.readouterr().out
    read = take(source(records, DetectionTfrecord, rotated=True), Mode.TRAIN)
    for one, other in zip(take(of, Mode.TRAIN), read, strict=True):
        for name in one.keys() - {"name"}:
            np.testing.assert_allclose(one[name], other[name], atol=1e-4, err_msg=name)


def test_a_polygon_gives_the_box_around_it(forms, tmp_path):
    folder = forms.yolo(tmp_path)
    (folder / "train/labels/a.txt").write_text("1 0.25 0.5 0.75 0.25 0.5 0.75\n")
    of = source(folder)
    assert boxes(of)[0] == [(6, 8, 18, 24)]
    with pytest.raises(DataError, match="has segments and no rotated boxes of four points; leave"):
        source(folder, rotated=True)


def test_damaged_lines_are_named_or_left_out(forms, tmp_path):
    folder = forms.yolo(tmp_path)
    (folder / "train/labels/a.txt").write_text("1 12 12 16 12 16 20 12 20\n")
    with pytest.raises(DataError, match=r"labels/a.txt, line 1: its numbers, such as 20, are pix"):
        source(folder)
    of = source(folder, skip_corrupt=True)
    assert len(of.splits[Mode.TRAIN].damaged) == 1
