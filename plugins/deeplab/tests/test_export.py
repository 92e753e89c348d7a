"""A trained deeplab, exported, and loaded by programs that know nothing of tf-frame."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
import yaml

import forked
from export_formats import HAS_ONNX
from tf_frame import Mode
from tf_frame.cli.main import main
from tf_frame.command_line.folder_setup import setup_from_folder
from tf_frame.graph.inference.build_inference import build_inference, restore_session
from tf_frame.runs.export.formats import FORMATS, TFLITE_TOLERANCE, TOLERANCE, frozen_graph
from tf_frame.runs.export.input_signature import input_signature
from tf_frame.runs.export.verify import compare
from tf_frame_vision.drawing.png import write_png

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

RUN = ["--plugin", "deeplab", "--train_batch_size=2", "--input.crop_size=32", "--noevaluate"]


@pytest.fixture(scope="module")
def exports(trained, tmp_path_factory):
    """Exports the trained deeplab to a format, once; returns the folder of the name of the format.

    The folders of all formats are in the same one.
    """
    folder = tmp_path_factory.mktemp("exports")

    def exports(name):
        if not (folder / name).exists():
            argv = ["--format", name, "--output", str(folder / name)]
            assert main(["export", str(trained), *argv]) == 0
        return folder / name

    return exports


@pytest.fixture(scope="module")
def setup(trained):
    """The job of the run."""
    return setup_from_folder("export", [str(trained)], [])[0]


@pytest.fixture(scope="module")
def images(setup):
    """Two tiles of the validation data, `[2, 128, 128, 3]`."""
    return input_signature(setup.make_input(), setup.config).batch["image"]


def restored_outputs(setup, images, **options):
    """Predictions of a session with the restored checkpoint."""
    source = setup.make_input()
    with tf.Graph().as_default():
        inference = build_inference(
            model=setup.make_model(source.info),
            features={"image": tf.constant(images)},
            labels=None,
            mode=Mode.PREDICT,
            config=type(setup.config)(**{**vars(setup.config), **options}),
        )
        path = tf.train.latest_checkpoint(setup.model_dir)
        with restore_session(inference, path) as session:
            return session.run(inference.output.predictions)


@pytest.fixture(scope="module")
def expected(setup, images):
    """Predictions of the restored session for the images."""
    return restored_outputs(setup, images)


@pytest.mark.slow
def test_the_comparison_sees_a_model_that_is_off_by_little(setup, images, expected):
    plain = restored_outputs(setup, images, eval_moving_averages=False)
    assert np.abs(plain["probabilities"] - expected["probabilities"]).max() > 10 * TFLITE_TOLERANCE
    assert expected["probabilities"].std() > 100 * TFLITE_TOLERANCE


# The last lines of a process that runs lines of the documentation.
AFTER = """
import sys
import numpy as np
np.savez("found.npz", **found)
assert not [name for name in sys.modules if name.startswith("tf_frame")]
"""


def run_lines(program, folder):
    """Runs lines of the documentation in a folder; returns their variable `found`."""
    options = {"capture_output": True, "text": True, "timeout": 200, "cwd": folder}
    done = forked.run([sys.executable, "-c", program + AFTER], **options)
    assert done.returncode == 0, done.stderr
    return dict(np.load(folder / "found.npz"))


@pytest.fixture
def by_documentation(exports, images, tmp_path):
    """Runs the lines of docs/export/load.md that load a format; returns their variable `found`."""

    def run(name):
        path = Path(__file__).parents[3] / "docs" / "export" / "load.md"
        text = path.read_text(encoding="utf-8")
        programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        (program,) = [program for program in programs if f"exported/{name}" in program]
        (tmp_path / "exported").symlink_to(exports(name).parent)
        (tmp_path / "photos").mkdir()
        for number, image in enumerate(images):
            write_png(tmp_path / "photos" / f"{number}.png", image.astype(np.uint8))
        return run_lines(program, tmp_path)

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "examples"),
    [
        ("frozen_graph", 2),
        ("saved_model", 2),
        ("tflite", 1),
        *[("onnx", 1)] * HAS_ONNX,
    ],
)
def test_a_fresh_process_predicts_the_same(by_documentation, expected, name, examples):
    outputs = by_documentation(name)
    session_outputs = {name: array[:examples] for name, array in expected.items()}
    comparison = compare(session_outputs, outputs, tolerance=FORMATS[name].tolerance)
    assert comparison.output == "probabilities"
    assert outputs["semantic"].dtype == np.int32
    assert outputs["semantic"].shape == (examples, 128, 128)


@pytest.mark.slow
def test_the_lines_of_the_readme_load_a_saved_model(exports, images, expected, tmp_path):
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?exported.*?)```", text, re.DOTALL)
    (tmp_path / "exported").symlink_to(exports("saved_model"))
    write_png(tmp_path / "photo.jpg", images[0].astype(np.uint8))
    found = run_lines(program, tmp_path)
    comparison = compare(
        {name: array[:1] for name, array in expected.items()}, found, tolerance=TOLERANCE
    )
    assert comparison.output == "probabilities"


@pytest.mark.slow
def test_a_fresh_process_reads_the_variables(by_documentation, trained):
    values = by_documentation("checkpoint")
    checkpoint = tf.train.load_checkpoint(str(trained))
    assert values.pop("global_step") == 4
    saved = {name for name, _ in tf.train.list_variables(str(trained))} - {"global_step"}
    assert len(saved) > 2 * len(values) > 200
    assert values.keys() == {n for n in saved if "Momentum" not in n and "Average" not in n}
    for name, value in values.items():
        average = checkpoint.get_tensor(f"{name}/ExponentialMovingAverage")
        np.testing.assert_array_equal(average, value)


@pytest.mark.slow
def test_any_batch_size_is_served(exports, images):
    path = str(exports("frozen_graph"))
    pixels = images.astype(np.uint8)
    both = frozen_graph.run(path, {"image": pixels})
    for i in range(2):
        single = frozen_graph.run(path, {"image": pixels[i : i + 1]})
        assert np.abs(single["probabilities"][0] - both["probabilities"][i]).max() < TOLERANCE


@pytest.mark.slow
def test_the_checkpoint_begins_another_run(trained, exports, tmp_path):
    model = yaml.safe_load((trained / "config.yaml").read_text())["model"]
    argv = [*RUN, "--model_dir", str(tmp_path), *(f"--model.{k}={v}" for k, v in model.items())]
    argv += ["--warm_start_from", str(exports("checkpoint")), "--learning_rate=0"]
    # Without a rate nor statistics that move, what it saves is what it began with.
    argv += ["--model.train_batch_norm=false", "--max_steps=1", "--warmup_learning_rate=0"]
    assert main(["run", *argv]) == 0
    exported = tf.train.load_checkpoint(str(exports("checkpoint")))
    begun = tf.train.load_checkpoint(str(tmp_path))
    for name in exported.get_variable_to_shape_map().keys() - {"global_step"}:
        np.testing.assert_array_equal(begun.get_tensor(name), exported.get_tensor(name))
