"""The picture of the first training examples, `data/train.png`."""

import io

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame import Input, InputInfo, Mode, Model, ModelOutput
from tf_frame.testing.events import read_events
from tf_frame.testing.toy import make_setup, run_setup

COUNT = 40
IMAGES = np.repeat(np.arange(COUNT, dtype=np.float32), 8 * 8 * 3).reshape(COUNT, 8, 8, 3) * 6


class Greys(Input):
    """Image n has the grey value 6 n, and is of class n mod 2."""

    info = InputInfo(
        num_examples={Mode.TRAIN: COUNT, Mode.EVAL: 0}, num_classes=2, class_names=("even", "odd")
    )

    def dataset(self, mode, context):
        data = tf.data.Dataset.from_tensor_slices((IMAGES, np.arange(COUNT) % 2)).repeat()
        data = data.map(lambda image, label: ({"image": image}, {"label": label}))
        return data.batch(context.batch_size, drop_remainder=True)


class Painted(Greys):
    """Draws an example as a red picture; fails for a batch of three."""

    def draw_examples(self, features, labels):
        if len(features["image"]) == 3:
            raise ValueError("three are too many")
        red = np.full([240, 240, 3], (255, 0, 0), np.uint8)
        return [(red, f"{label} of {type(label).__name__}") for label in labels["label"]]


class Mean(Model):
    def build(self, features, labels, mode):
        weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
        error = tf.reduce_mean(features["image"]) / 255 - weight
        return ModelOutput(loss=tf.square(error))


def run(folder, source=Greys, **options):
    lines = []
    values = {"max_steps": 6, "train_batch_size": 5, "save_checkpoint_steps": 3, **options}
    run_setup(make_setup(Mean, source, str(folder), **values), report=lines.append)
    return lines


def sheet_events(folder):
    return [
        (event.step, value.image)
        for event in read_events(folder)
        for value in event.summary.value
        if value.tag == "data/train"
    ]


def middles(folder, columns=4):
    """Returns the pixels in the middles of the first columns of the sheet, row by row."""
    sheet = np.asarray(Image.open(folder / "data" / "train.png"))
    rows = [sheet[row] for row in range(120, len(sheet), 268)]
    return np.array([row[128 + 248 * column] for row in rows for column in range(columns)])


def test_sixteen_examples_of_the_first_steps_are_drawn_once_and_are_in_tensorboard(tmp_path):
    run(tmp_path)
    assert middles(tmp_path)[:, 0].tolist() == [6 * number for number in range(16)]
    ((step, image),) = sheet_events(tmp_path)
    assert step == 0
    assert image.encoded_image_string == (tmp_path / "data" / "train.png").read_bytes()
    picture = Image.open(io.BytesIO(image.encoded_image_string))
    assert (image.width, image.height) == picture.size
    (tmp_path / "data" / "train.png").unlink()
    run(tmp_path, max_steps=9)  # Resumes.
    assert not (tmp_path / "data" / "train.png").exists()


@pytest.mark.parametrize(
    ("options", "drawn"),
    [({"max_steps": 1}, 5), ({"num_clones": 2, "train_batch_size": 8, "max_steps": 2}, 16)],
    ids=["training ends before", "two clones"],
)
def test_a_short_training_and_clones(tmp_path, options, drawn):
    run(tmp_path, save_summaries_steps=0, **options)
    colours = middles(tmp_path)
    white = (colours == 255).all(axis=1)
    assert (~white).sum() == drawn
    assert sorted(colours[~white][:, 0]) == [6 * number for number in range(drawn)]


def test_an_input_draws_its_examples_with_captions(tmp_path):
    run(tmp_path, Painted, train_batch_size=16, max_steps=1)
    assert (middles(tmp_path) == (255, 0, 0)).all()


def test_a_failing_drawing_is_a_warning_and_training_goes_on(tmp_path):
    lines = run(tmp_path, Painted, train_batch_size=3)
    (warning,) = [line for line in lines if "data/train.png" in line]
    assert "three are too many" in warning and "\n" not in warning
    assert (tmp_path / "result.json").exists()


@pytest.mark.slow
def test_the_sheet_changes_no_value_of_the_training(tmp_path, monkeypatch):
    def values(folder):
        reader = tf.train.load_checkpoint(str(folder))
        names = reader.get_variable_to_shape_map()
        return {name: np.array(reader.get_tensor(name)).tobytes() for name in names}

    with_sheet, without = tmp_path / "with", tmp_path / "without"
    for folder in (with_sheet, without):
        folder.mkdir()
        run(folder, save_summaries_steps=2)
        monkeypatch.setattr("tf_frame.runs.training.hooks.logs.has_pictures", lambda batch: False)
    assert not (without / "data").exists()
    assert values(with_sheet) == values(without)
