"""Images of one's own: a small folder is trained on and removed; the model is then of use."""

import csv
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame.cli.main import main
from tf_frame_vision.reading.export_decoding import ACCEPTED
from tf_frame_vision.reading.pixels import load_pixels

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

CLASSES = ("daisy", "rose", "tulip")
# Sizes of the images, [height, width].
SIZES = ([40, 56], [64, 48], [50, 50], [33, 90])


def write_images(folder):
    """Writes four images a class, of a colour each with noise."""
    random = np.random.RandomState(0)
    with tf.Graph().as_default(), tf.Session() as session:
        for label, name in enumerate(CLASSES):
            (folder / name).mkdir(parents=True)
            for number, size in enumerate(SIZES):
                image = random.randint(0, 120, [*size, 3])
                image[..., label] += 130
                encode = tf.io.encode_jpeg if number % 2 else tf.io.encode_png
                data = session.run(encode(image.astype(np.uint8)))
                path = folder / name / f"{number}.{'jpg' if number % 2 else 'png'}"
                path.write_bytes(data)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a run, without its data, and images to predict on."""
    folder = tmp_path_factory.mktemp("own")
    write_images(folder / "photos")
    words = ["--plugin", "classification", "--input", "image_folder", "--model.name", "lenet"]
    words += [f"--input.data_dir={folder}/photos", "--train_batch_size=6", "--max_steps=3"]
    words += ["--input.preprocessing=inception", "--input.channels=3", "--input.eval_fraction=0.3"]
    assert main(["run", *words, "--model_dir", str(folder / "run")]) == 0
    shutil.rmtree(folder / "photos")
    write_images(folder / "new")
    return folder / "run", folder / "new"


def predicted(run, *paths, output):
    """Rows of `tf-frame predict`."""
    output /= "predicted"
    words = [str(run), "--input", *map(str, paths), "--output", str(output), "--format", "csv"]
    assert main(["predict", *words]) == 0
    with open(output / "predictions.csv", newline="") as file:
        return list(csv.DictReader(file))


def read_probabilities(rows):
    names = [name for name in rows[0] if name.startswith("probabilities")]
    return np.array([[float(row[name]) for name in names] for row in rows])


def export(run, name, output, *words):
    words = [str(run), "--format", name, "--output", str(output), *words]
    assert main(["export", *words]) == 0
    return next(output.glob("[0-9]*")) if name == "saved_model" else output


@pytest.mark.slow
def test_a_saved_model_takes_image_files_and_pixels_and_says_so(trained, tmp_path):
    run, photos = trained
    saved_model = export(run, "saved_model", tmp_path / "saved_model")
    files = sorted(photos.glob("*/*"))
    rows = predicted(run, *files, output=tmp_path)
    model = tf2.saved_model.load(str(saved_model))
    content = [file.read_bytes() for file in files]
    served = model.signatures["serving_default"](image_bytes=tf2.constant(content))
    np.testing.assert_allclose(served["probabilities"], read_probabilities(rows), atol=1e-5)
    names = [row["class_name"] for row in rows]
    assert [name.decode() for name in served["class_name"].numpy()] == names
    assert set(names) <= set(CLASSES)
    serve = model.signatures["pixels:serving_default"]
    for data, row in zip(content, served["probabilities"], strict=True):
        pixels = tf2.constant(load_pixels(data)[np.newaxis])
        np.testing.assert_allclose(serve(image=pixels)["probabilities"][0], row, atol=1e-5)
    (asset,) = (saved_model / "assets").iterdir()
    assert asset.read_text().splitlines() == list(CLASSES)
    # The README names inputs, signatures and versions.
    readme = json.loads((saved_model / "README.json").read_text())
    assert readme["class_names"] == list(CLASSES)
    assert readme["inputs"] == {
        "image": {"dtype": "uint8", "shape": [None, None, None, 3], "values": "RGB, 0 to 255"},
        "image_bytes": {
            "dtype": "string",
            "shape": [None],
            "values": ACCEPTED,
        },
    }
    signatures = readme["signatures"]
    assert {name: signature["inputs"] for name, signature in signatures.items()} == {
        "serving_default": ["image_bytes"],
        "pixels:serving_default": ["image"],
    }
    assert next(iter(signatures)) == "serving_default"
    outputs = signatures["serving_default"]["outputs"]
    assert outputs["probabilities"] == {"dtype": "float32", "shape": [None, 3]}
    assert outputs["class_name"]["dtype"] == "string"
    assert (readme["checkpoint"], readme["format"]) == ("model.ckpt-3", "saved_model")
    assert (readme["plugin"], readme["model"]["name"]) == ("classification", "lenet")
    assert readme["versions"].keys() >= {"tf-frame", "tensorflow", "tf-frame-classification"}


@pytest.mark.slow
def test_a_frozen_graph_takes_either(trained, tmp_path):
    run, photos = trained
    file = next(photos.glob("rose/*.png"))
    (row,) = predicted(run, file, output=tmp_path)
    exported = export(run, "frozen_graph", tmp_path / "exported")
    graph_def = tf.GraphDef.FromString((exported / "frozen_graph.pb").read_bytes())
    pixels = load_pixels(file)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        for feeds in (
            {"inputs/image_bytes:0": [file.read_bytes()]},
            {"inputs/image:0": pixels[np.newaxis]},
        ):
            name, values = session.run(["outputs/class_name:0", "outputs/probabilities:0"], feeds)
            assert name.tolist() == [row["class_name"].encode()]
            np.testing.assert_allclose(values, read_probabilities([row]), atol=1e-5)
    assert (exported / "class_names.txt").read_text().split() == list(CLASSES)


@pytest.mark.slow
def test_tensorflow_lite_takes_pixels_of_the_size_in_its_readme(trained, tmp_path):
    run, _ = trained
    exported = export(run, "tflite", tmp_path / "exported")
    readme = json.loads((exported / "README.json").read_text())
    assert readme["inputs"] == {
        "image": {"dtype": "uint8", "shape": [1, 32, 32, 3], "values": "RGB, 0 to 255"}
    }
    picture = np.random.RandomState(1).randint(0, 256, [32, 32, 3]).astype(np.uint8)
    (tmp_path / "x.png").write_bytes(tf2.io.encode_png(picture).numpy())
    (row,) = predicted(run, tmp_path / "x.png", output=tmp_path)
    interpreter = tf.lite.Interpreter(str(exported / "model.tflite"))
    outputs = interpreter.get_signature_runner()(image=picture[np.newaxis])
    assert outputs.keys() == {"label", "probabilities"}
    np.testing.assert_allclose(outputs["probabilities"], read_probabilities([row]), atol=1e-4)
    assert readme["class_names"][outputs["label"][0]] == row["class_name"]
    # Features are served on demand.
    exported = export(run, "tflite", tmp_path / "features", "--serve", "features")
    readme = json.loads((exported / "README.json").read_text())
    assert readme["inputs"] == {
        "image": {"dtype": "float32", "shape": [1, 28, 28, 3], "values": "-1 to 1"}
    }


@pytest.mark.slow
def test_class_folders_are_predicted_and_an_evaluation_needs_the_data(trained, tmp_path, capsys):
    run, photos = trained
    rows = predicted(run, photos, output=tmp_path)
    assert [row["name"] for row in rows] == [str(path) for path in sorted(photos.glob("*/*"))]
    probabilities = [f"probabilities_{name}" for name in CLASSES]
    assert list(rows[0]) == ["name", "label", *probabilities, "class_name"]
    assert all(CLASSES[int(row["label"])] == row["class_name"] for row in rows)
    assert main(["evaluate", str(run)]) == 2
    assert "an evaluation needs the data, labels included: the folder" in capsys.readouterr().err


@pytest.mark.slow
def test_a_network_for_long_training_learns_in_a_short_run(trained, tmp_path, capsys):
    _, photos = trained
    words = ["--plugin=classification", "--model.name=mobilenet_v1_025", "--input=image_folder"]
    words += [f"--input.data_dir={photos}", f"--input.eval_dir={photos}", "--input.image_size=32"]
    words += ["--input.augment=false", "--model.dropout_keep_prob=1"]
    words += ["--train_batch_size=12", "--max_steps=75", f"--model_dir={tmp_path}/run"]
    assert main(["run", *words]) == 0
    out = capsys.readouterr().out
    assert "note: batch norm keeps 0.750 of its moving statistics per step, to fit 75 steps" in out
    accuracy = json.loads((tmp_path / "run" / "result.json").read_text())["metrics"]["accuracy"]
    assert accuracy > 0.8
