"""Runs of each name are exported in every format, after a few steps, when all scores nearly tie."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from export_formats import WRITABLE
from tf_frame.cli.main import main
from tf_frame_detection.inputs.trees import Trees

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(600)]

OUTPUTS = {"detection_boxes", "detection_scores", "detection_classes", "num_detections"}
TINY = {
    "ssd": ("--model.num_maps", "3", "--input.image_size", "96"),
    "retinanet": ("--model.strides", "16", "--input.image_size", "96"),
    "rotated_retinanet": ("--model.strides", "16"),
}
QUANTIZED = ("--quantize_delay_step", "1", "--model.export_raw")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Trains a tiny model for a few steps, once for each name and further words."""
    made = {}

    def run(name, *words):
        if (name, words) not in made:
            folder = str(tmp_path_factory.mktemp(name) / "run")
            tiny = ("--model.depth_multiplier", "0.2", "--max_steps", "4", "--noevaluate")
            command = ["run", "--plugin", "detection", "--model.name", name, *TINY[name], *tiny]
            assert main([*command, "--train_batch_size", "2", *words, "--model_dir", folder]) == 0
            made[name, words] = folder
        return made[name, words]

    return run


def exported(run, format_name, output, *words):
    """The exit code of an export."""
    given = ("--format", format_name, "--output", str(output), "--eval_batch_size", "2")
    return main(["export", run, *given, *words])


@pytest.mark.parametrize("format_name", [each for each in WRITABLE if each != "checkpoint"])
@pytest.mark.parametrize("name", TINY)
def test_detections_are_part_of_every_format(run, name, format_name, tmp_path):
    assert exported(run(name), format_name, tmp_path) == 0
    (readme,) = tmp_path.rglob("README.json")
    text = readme.read_text()
    assert all(f'"{each}"' in text for each in OUTPUTS)
    assert ('"detection_corners"' in text) == (name == "rotated_retinanet")


@pytest.mark.parametrize("name", ["ssd", "retinanet"])
def test_8_bit_integers_are_for_boxes_before_the_suppression(run, name, tmp_path, capfd):
    words = ("--calibration_examples", "4")
    assert exported(run(name), "tflite_int8", tmp_path / "loop", *words) == 1
    assert "an option of the model" in capfd.readouterr().err
    words += ("--model.export_raw",)
    assert exported(run(name), "tflite_int8", tmp_path / "raw", *words) == 0
    assert (tmp_path / "raw" / "model.tflite").stat().st_size > 0


def test_a_quantised_ssd_is_exported_in_8_bit_integers(run, tmp_path):
    folder = run("ssd", *QUANTIZED)
    names = tf.train.load_checkpoint(folder).get_variable_to_shape_map()
    assert any(name.endswith("weights_quant/max") for name in names)
    assert exported(folder, "tflite_int8", tmp_path, "--calibration_examples", "4") == 0
    interpreter = tf.compat.v2.lite.Interpreter(model_path=str(tmp_path / "model.tflite"))
    kinds = {each["dtype"] for each in interpreter.get_tensor_details()}
    assert np.int8 in kinds
    runner = interpreter.get_signature_runner("serving_default")
    found = runner(image=np.zeros([1, 96, 96, 3], np.uint8))
    boxes, scores = found["raw_detection_boxes"], found["raw_detection_scores"]
    assert boxes.shape[:2] == scores.shape[:2] and boxes.min() >= 0 and boxes.max() <= 1.01


def test_a_saved_model_detects_in_the_files_of_the_data(run, tmp_path):
    """It takes JPEG files of any size, and pads what it finds to one number."""
    assert exported(run("retinanet"), "saved_model", tmp_path) == 0
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    source = Trees(params=Trees.Params())
    files = sorted(source.root.glob("*.jpg"))[:3]
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], str(folder))
        signature = next(
            each for each in loaded.signature_def.values() if "image_bytes" in each.inputs
        )
        fed = np.array([file.read_bytes() for file in files], object)
        found = session.run(
            {name: each.name for name, each in signature.outputs.items()},
            {signature.inputs["image_bytes"].name: fed},
        )
    assert found["detection_boxes"].shape == (3, 100, 4)
    assert found["detection_boxes"].min() >= 0 and found["detection_boxes"].max() <= 1
    real = np.arange(100) < found["num_detections"][:, None]
    np.testing.assert_array_equal(found["detection_scores"] > 0, real)
    np.testing.assert_array_equal(found["detection_classes"][real], 1)
