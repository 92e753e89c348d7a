"""Folders as annotation programs export them: read, trained on, evaluated, predicted."""

import importlib
import json

import numpy as np
import pytest

import exported_layouts
from tf_frame import Mode
from tf_frame.cli.main import main
from tf_frame.errors import DataError
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder
from tf_frame_detection.inputs.detection_tfrecord import DetectionTfrecord

LAYOUTS = {writer.__name__: name for writer, name in exported_layouts.DETECTION.items()}


def input_class(name):
    module = importlib.import_module(f"tf_frame_detection.inputs.{name}")
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    return next(c for c in classes if issubclass(c, AnnotatedFolder) and c is not AnnotatedFolder)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_boxes_and_classes(tmp_path, layout):
    getattr(exported_layouts, layout)(tmp_path)
    kind = input_class(LAYOUTS[layout])
    of = kind(params=kind.Params(data_dir=str(tmp_path), data_augmentation=(), eval_fraction=0.25))
    assert of.info.class_names == exported_layouts.CLASSES
    found = {}
    for mode, count in ((Mode.TRAIN, 3), (Mode.EVAL, 1)):
        photographs = list(of.splits[mode].content)
        assert len(photographs) == count
        for photograph in photographs:
            boxes = [(*mark.box, of.class_names[mark.number]) for mark in photograph.marks]
            found[photograph.path.stem[-2:]] = boxes
    for name, objects in exported_layouts.OBJECTS.items():
        for box, (left, upper, right, lower, kind) in zip(found[name], objects, strict=True):
            np.testing.assert_allclose(box[:4], (upper, left, lower, right), atol=1e-3)
            assert box[4] == kind


EVERY = {**exported_layouts.MASKS, **exported_layouts.DETECTION}
OWN = ["yolo", "coco_json", "voc_xml", "dota", "labelme"]


@pytest.mark.parametrize("writer", EVERY, ids=lambda writer: writer.__name__)
def test_the_input_of_another_format_names_the_right_one(tmp_path, writer):
    writer(tmp_path)
    right = {"yolo_masks": "yolo"}.get(EVERY[writer], EVERY[writer])
    for kind in [*map(input_class, OWN), DetectionTfrecord]:
        if kind.__module__.endswith(f".{right}"):
            continue
        with pytest.raises(DataError) as caught:
            kind(params=kind.Params(data_dir=str(tmp_path), data_augmentation=()))
        assert str(caught.value).endswith(f"--input {right}") and "\n" not in str(caught.value)


UNDIVIDED = ["cvat_voc", "label_studio_coco", "label_studio_yolo", "labelme"]


@pytest.mark.parametrize("layout", UNDIVIDED)
def test_no_image_is_held_out_for_a_test(tmp_path, layout):
    getattr(exported_layouts, layout)(tmp_path)
    kind = input_class(LAYOUTS[layout])
    with pytest.raises(DataError, match="--input.eval_split test: .* has no part called test"):
        kind(params=kind.Params(data_dir=str(tmp_path), data_augmentation=(), eval_split="test"))


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_training_evaluation_and_prediction(tmp_path, layout):
    getattr(exported_layouts, layout)(tmp_path / "data")
    run, data = str(tmp_path / "run"), str(tmp_path / "data")
    words = ["--plugin", "detection", "--input", LAYOUTS[layout], "--input.data_dir", data]
    words += ["--input.image_size", "64", "--max_steps", "1", "--train_batch_size", "2"]
    words += ["--eval_batch_size", "1", "--input.eval_fraction", "0.25", "--model_dir", run]
    model = ["--model.depth_multiplier", "0.1", "--model.pyramid_channels", "8"]
    assert main(["run", *words, *model, "--model.predictor_layers", "0"]) == 0
    report = json.loads((tmp_path / "run/data.json").read_text())
    assert report["class_names"] == list(exported_layouts.CLASSES)
    assert (tmp_path / "run/data/train.png").exists()
    # One layout of each input is enough for the commands that read a finished run.
    if layout not in {name: layout for layout, name in LAYOUTS.items()}.values():
        return
    assert main(["evaluate", run]) == 0
    output = ["--output", str(tmp_path / "output"), "--model.score_threshold", "0"]
    assert main(["predict", run, *output]) == 0
    assert len([*(tmp_path / "output/overlays").rglob("*.png")]) == 1
