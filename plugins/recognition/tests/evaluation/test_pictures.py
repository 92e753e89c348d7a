import io

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame_recognition.evaluation.pictures import word_picture
from tf_frame_recognition.evaluation.summaries import add_pictures
from tf_frame_recognition.evaluation.writer import PredictionWriter

# Enlarged four times and eight times.
IMAGE = np.full([32, 100, 1], 90, np.float32)
RECTIFIED = np.full([16, 50, 1], 200, np.float32)
POINTS = np.array([[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]], np.float32)
ORANGE, BLUE = (255, 90, 0), (0, 160, 255)


def test_the_picture_has_the_control_points_and_the_rectified_image():
    picture = word_picture(IMAGE, ["word"], rectified=RECTIFIED, control_points=POINTS)
    assert picture.shape == (128 + 26, 400 + 8 + 400, 3)
    assert (picture[:128, 400:408] == 255).all() and (picture[:128, 408:] == 200).all()
    for row, colour in ((31.5, ORANGE), (95.5, BLUE)):
        rows, columns = np.nonzero((picture == colour).all(axis=2))
        ends = [rows.min(), rows.max(), columns.min(), columns.max()]
        np.testing.assert_allclose(ends, [row - 4, row + 4, 95.5, 303.5], atol=1)


def test_without_rectification_there_is_the_image_alone():
    picture = word_picture(np.tile(IMAGE, [1, 1, 3]), [])
    assert picture.shape == (128, 400, 3) and (picture == 90).all()


@pytest.mark.parametrize("value", [1e30, np.nan, -np.inf])
def test_control_points_of_a_network_that_diverged(value):
    points = np.full([4, 2], value, np.float32)
    assert word_picture(IMAGE, ["word"], control_points=points).shape == (154, 400, 3)


PREDICTION = {
    "text": "d\u00e9j\u00e0 \u4e2d".encode(),
    "confidence": np.float32(0.9),
    "rectified": RECTIFIED,
    "control_points": POINTS,
}


@pytest.mark.parametrize(("rectify", "width"), [(False, 400), (True, 808)])
def test_the_writer_makes_a_table_and_pictures(tmp_path, rectify, width):
    writer = PredictionWriter(str(tmp_path), rectify=rectify)
    features = {"image": IMAGE, "name": b"/data/a.png"}
    writer("a", features, {key: PREDICTION[key] for key in writer.predict_keys})
    lines = writer.describe("a", features, PREDICTION)
    assert lines == ["d\u00e9j\u00e0 \u4e2d  0.900", f"drawn in {tmp_path}/words/a.png"]
    writer("000001", {"image": IMAGE}, {**PREDICTION, "text": b'"a",\xff'})
    writer.close()
    lines = (tmp_path / "predictions.csv").read_text(encoding="utf-8").splitlines()
    assert lines == [
        "name,text,confidence",
        "/data/a.png,d\u00e9j\u00e0 \u4e2d,0.9",
        '000001,"""a"",\\xff",0.9',
    ]
    # Letters of 40 pixels.
    for name in ("a", "000001"):
        assert Image.open(tmp_path / "words" / f"{name}.png").size == (width, 128 + 52)


def test_a_picture_has_the_size_of_its_file(tmp_path):
    path = tmp_path / "a.png"
    pixels = np.random.RandomState(0).randint(0, 256, [60, 500, 3]).astype(np.uint8)
    Image.fromarray(pixels).save(path)
    writer = PredictionWriter(str(tmp_path / "out"), rectify=True)
    writer("a", {"image": IMAGE, "name": str(path).encode()}, {**PREDICTION, "text": b"i"})
    writer.close()
    picture = np.array(Image.open(tmp_path / "out/words/a.png"))
    assert picture.shape == (128 + 52, 500 + 8 + 400, 3)
    np.testing.assert_array_equal(picture[:10, :500], pixels[:10])
    assert (picture[:128, 508:] == 200).all()


@pytest.mark.parametrize(("rectify", "width"), [(False, 400), (True, 808)])
def test_summaries_show_the_first_images_with_their_texts(rectify, width):
    extra = {"rectified": RECTIFIED, "control_points": POINTS} if rectify else {}
    with tf.Graph().as_default(), tf.Session() as session:
        add_pictures(
            tf.constant(np.stack([IMAGE] * 4)),
            {"truth": tf.constant(["a", "b" * 60, "", "d"]), "read": tf.constant([b"\xff"] * 4)},
            **{name: tf.constant(np.stack([array] * 4)) for name, array in extra.items()},
        )
        values = tf.Summary.FromString(session.run(tf.summary.merge_all())).value
    assert [value.tag for value in values] == [f"words/image/{i}" for i in range(3)]
    picture = np.array(Image.open(io.BytesIO(values[0].image.encoded_image_string)))
    assert picture.shape == (128 + 2 * 26, width, 3)
