"""Folders as annotation programs export them: masks of the polygons; a training on each."""

import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import exported_layouts
from slow_cases import slow_but
from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.errors import DataError
from tf_frame.testing.elements import read_elements
from tf_frame_deeplab.inputs.coco_masks import CocoMasks
from tf_frame_deeplab.inputs.labelme_masks import LabelmeMasks
from tf_frame_deeplab.inputs.segmentation_folder import SegmentationFolder
from tf_frame_deeplab.inputs.segmentation_tfrecord import SegmentationTfrecord
from tf_frame_deeplab.inputs.yolo_masks import YoloMasks

LAYOUTS = {writer.__name__: name for writer, name in exported_layouts.MASKS.items()}
ONE_OF_EACH_PROGRAM = tuple(
    [*LAYOUTS].index(name)
    for name in ("ultralytics_seg", "roboflow_coco", "cvat_masks", "label_studio_coco", "labelme")
)
INPUTS = {
    "coco_masks": CocoMasks,
    "yolo_masks": YoloMasks,
    "labelme_masks": LabelmeMasks,
    "segmentation_folder": SegmentationFolder,
}


def expected(name):
    mask = np.zeros([exported_layouts.HEIGHT, exported_layouts.WIDTH], np.int32)
    for left, upper, right, lower, kind in exported_layouts.OBJECTS[name]:
        mask[upper:lower, left:right] = 1 + exported_layouts.CLASSES.index(kind)
    return mask


@pytest.mark.parametrize("layout", slow_but(ONE_OF_EACH_PROGRAM, LAYOUTS))
def test_masks_and_classes(tmp_path, layout):
    getattr(exported_layouts, layout)(tmp_path)
    kind = INPUTS[LAYOUTS[layout]]
    of = kind(params=kind.Params(data_dir=str(tmp_path), eval_fraction=0.25))
    background, *names = of.info.class_names
    assert (background.strip("_"), *names) == ("background", *exported_layouts.CLASSES)
    assert of.info.num_examples[Mode.TRAIN] == 3
    report = json.loads(json.dumps(of.data_report().as_json()))
    assert report["splits"]["train"]["counts"]["cone"] > 0
    with tf.Graph().as_default():
        ((features, labels),) = read_elements(of.dataset(Mode.EVAL, InputContext(batch_size=1)))
    name = features["name"][0].decode().rpartition(".")[0][-2:]
    np.testing.assert_array_equal(labels["semantic"][0], expected(name))


EVERY = {**exported_layouts.DETECTION, **exported_layouts.MASKS}


@pytest.mark.parametrize("writer", EVERY, ids=lambda writer: writer.__name__)
def test_the_input_of_another_format_names_the_right_one(tmp_path, writer):
    writer(tmp_path)
    for name, kind in {**INPUTS, "segmentation_tfrecord": SegmentationTfrecord}.items():
        if name != EVERY[writer]:
            with pytest.raises(DataError) as caught:
                kind(params=kind.Params(data_dir=str(tmp_path)))
            assert str(caught.value).endswith(f"--input {EVERY[writer]}")
            assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_training_evaluation_and_prediction(tmp_path, layout):
    getattr(exported_layouts, layout)(tmp_path / "data")
    run, data = str(tmp_path / "run"), str(tmp_path / "data")
    words = ["--plugin", "deeplab", "--input", LAYOUTS[layout], "--input.data_dir", data]
    words += ["--input.crop_size", "32", "--max_steps", "1", "--train_batch_size", "2"]
    words += ["--eval_batch_size", "1", "--input.eval_fraction", "0.25", "--model_dir", run]
    if LAYOUTS[layout] != "segmentation_folder":
        words += ["--model.heads", "semantic,instance_center,instance_offset"]
    assert main(["run", *words]) == 0
    report = json.loads((tmp_path / "run/data.json").read_text())
    assert report["splits"]["train"]["examples"] == 3
    assert (tmp_path / "run/data/train.png").exists()
    # One layout of each input is enough for the commands that read a finished run.
    if layout not in {name: layout for layout, name in LAYOUTS.items()}.values():
        return
    assert main(["evaluate", run]) == 0
    assert main(["predict", run, "--output", str(tmp_path / "output")]) == 0
    assert len([*(tmp_path / "output/overlays").rglob("*.png")]) == 1
