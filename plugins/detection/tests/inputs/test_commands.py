"""Folders, records and predictions through the command line."""

import json
import os
import signal

import pytest

from tf_frame.cli.main import main
from tf_frame_detection.evaluation.prediction_files import DetectionFiles

pytestmark = pytest.mark.slow
MODEL = [
    "--model.depth_multiplier=0.1",
    "--model.pyramid_channels=8",
    "--model.predictor_layers=0",
    "--model.strides=8",
    "--model.kernel_size=1",
]


def metrics_of_run(name, data, folder, *words):
    """Metrics of one step on an input."""
    options = ["--input", name, "--input.data_dir", str(data), "--input.image_size", "32", *MODEL]
    options += ["--max_steps", "1", "--train_batch_size", "2", "--eval_batch_size", "1"]
    assert main(["run", "--plugin", "detection", *options, "--model_dir", str(folder), *words]) == 0
    return json.loads((folder / "result.json").read_text())["metrics"]


@pytest.mark.parametrize("form", ["coco_json", "voc_xml", "dota"])
def test_records_of_each_form_are_trained_on(forms, form, tmp_path):
    source, records = tmp_path / "source", tmp_path / "records"
    getattr(forms, form)(source)
    assert main(["convert", form, str(source), str(records), "--shards", "1"]) == 0
    metrics = metrics_of_run("detection_tfrecord", records, tmp_path / "run")
    assert {"ap50", "ap50_cat"} <= metrics.keys()


def test_options_of_evaluation_and_prediction(forms, tmp_path, monkeypatch):
    data, folder = forms.coco_json(tmp_path / "coco"), tmp_path / "run"
    metrics = metrics_of_run("coco_json", data, folder, "--model.voc_ap")
    assert {"voc_ap", "voc07_ap"} <= metrics.keys()
    overlays = {}
    for score in ("0", "1"):
        output = tmp_path / score
        words = ["--output", str(output), "--model.score_threshold", "0"]
        assert main(["predict", str(folder), *words, "--model.min_drawn_score", score]) == 0
        (overlay,) = (output / "overlays").iterdir()
        overlays[score] = overlay.read_bytes()
    assert overlays["0"] != overlays["1"]
    results = json.loads((tmp_path / "1" / "detections.json").read_text())
    assert {each["image_id"] for each in results} == {ord("d")}

    # Ctrl-C after the first of three photographs.
    written = DetectionFiles.__call__

    def stop(self, *arguments):
        written(self, *arguments)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(DetectionFiles, "__call__", stop)
    output = tmp_path / "stopped"
    words = ["--input", str(data / "train2017"), "--model.score_threshold", "0"]
    assert main(["predict", str(folder), *words, "--output", str(output)]) == 130
    assert [each.stem for each in (output / "overlays").iterdir()] == ["a"]
    results = json.loads((output / "detections.json").read_text())
    assert {each["image_id"] for each in results} == {"a"}
