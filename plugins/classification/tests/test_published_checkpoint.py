"""A checkpoint with slim's names is evaluated, predicted and exported without a training."""

import csv
import json
import re

import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import NetworkContext
from tf_frame.cli.main import main
from tf_frame_vision.slim_network import load_network

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

NETWORK = "mobilenet_v1_025"
NAMES = ("background", "daisy", "rose", "tulip")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The words for a checkpoint of our own network under slim's names, and the folder of it."""
    folder = tmp_path_factory.mktemp("published")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        context = NetworkContext(num_classes=4, is_training=False)
        load_network(NETWORK)(tf.zeros([1, 64, 64, 3]), context)
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(folder / "mobilenet_v1.ckpt"))
    (folder / "labels.txt").write_text("".join(f"{i}:{n}\n" for i, n in enumerate(NAMES)))
    random = np.random.RandomState(0)
    for name in NAMES:
        (folder / "photos" / name).mkdir(parents=True)
        for number in range(2):
            pixels = random.randint(0, 256, [70, 80, 3]).astype(np.uint8)
            data = tf2.io.encode_png(pixels).numpy()
            (folder / "photos" / name / f"{number}.png").write_bytes(data)
    words = ["--plugin", "classification", f"--model.name={NETWORK}", "--input.image_size=64"]
    return folder, [*words, "--warm_start_from", path]


def run(capsys, *words):
    capsys.readouterr()
    code = main(list(map(str, words)))
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err


@pytest.mark.slow
def test_it_is_evaluated_in_a_new_folder(published, capsys, tmp_path):
    folder, words = published
    words = [*words, "--input", "image_folder", f"--input.data_dir={folder}/photos"]
    code, out, _ = run(capsys, "evaluate", tmp_path / "new", *words)
    assert code == 0
    assert "137 of 137 variables restored" in out
    assert "evaluation at step 0" in out and "accuracy" in out
    assert (tmp_path / "new" / "eval_photos" / "metrics.json").exists()
    # The folder is one of a run from now on.
    code, again, _ = run(capsys, "evaluate", tmp_path / "new")
    assert code == 0
    figures = [re.findall(r"(?:accuracy|loss) +\S+", text) for text in (out, again)]
    assert figures[0] == figures[1] != []
    code, _, err = run(capsys, "evaluate", *words, "--model_dir", tmp_path / "new")
    assert (code, "holds a run; name another" in err) == (2, True)


@pytest.mark.slow
def test_it_predicts_and_is_exported_without_any_data(published, capsys, tmp_path):
    folder, words = published
    words = [*words, "--class_names", folder / "labels.txt"]
    photo = folder / "photos" / "rose" / "1.png"
    output = ["--output", tmp_path / "out", "--model_dir", tmp_path / "p"]
    code, out, _ = run(capsys, "predict", *words, "--input", photo, *output, "--format=csv")
    assert (code, "137 of 137 variables restored" in out) == (0, True)
    with open(tmp_path / "out" / "predictions.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    output = ["--output", tmp_path / "e", "--model_dir", tmp_path / "m"]
    assert run(capsys, "export", *words, "--format=saved_model", *output)[0] == 0
    (exported,) = (tmp_path / "e").iterdir()
    serve = tf2.saved_model.load(str(exported)).signatures["serving_default"]
    served = serve(image_bytes=tf2.constant([photo.read_bytes()]))
    expected = [float(row[f"probabilities_{name}"]) for name in NAMES]
    np.testing.assert_allclose(served["probabilities"][0], expected, atol=1e-5)
    assert json.loads((exported / "README.json").read_text())["class_names"] == list(NAMES)


@pytest.mark.slow
def test_variables_that_are_not_found_are_named(published, capsys, tmp_path):
    _, words = published
    command = ["export", *words, "--format", "frozen_graph", "--model_dir", tmp_path / "m"]
    code, _, err = run(capsys, *command, "--num_classes", 7)
    assert code == 1
    assert "MobilenetV1/Logits/Conv2d_1c_1x1/weights" in err and "--warm_start_exclude" in err
    assert err.endswith("built for 7 classes: does the checkpoint have another number?\n")
    assert not (tmp_path / "m").exists()


@pytest.mark.slow
def test_variables_that_are_left_out_are_named(published, capsys, tmp_path):
    command = ["export", *published[1], "--format", "frozen_graph", "--model_dir", tmp_path / "m"]
    exclude = "--warm_start_exclude=MobilenetV1/Logits/"
    code, out, _ = run(capsys, *command, "--num_classes", 7, exclude)
    assert code == 0
    assert "135 of 137 variables restored" in out
    assert "warning: with initial values, as after no training: MobilenetV1/Logits/" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plugin", "classification"], "which published checkpoint: --plugin NAME --warm_start"),
        (["--class_names", "none.txt"], "--class_names none.txt cannot be read"),
        (["--class_names", "labels.txt", "--num_classes", "9"], "has 4 names, but --num_classes"),
        (["--mode", "train"], "say which folder first"),
    ],
)
def test_wrong_words_are_refused(published, capsys, monkeypatch, words, message):
    folder, checkpoint = published
    monkeypatch.chdir(folder)
    words = words if "--plugin" in words else [*checkpoint, *words]
    code, _, err = run(capsys, "export", *words, "--format", "tflite")
    assert (code, message in err) == (2, True), err
    assert not (folder / "runs").exists()


def test_a_run_knows_its_classes(published, capsys, tmp_path):
    (tmp_path / "config.yaml").write_text("plugin: classification\n")
    code, _, err = run(capsys, "export", tmp_path, "--format=tflite", "--num_classes=3")
    assert (code, "knows its classes" in err) == (2, True)
