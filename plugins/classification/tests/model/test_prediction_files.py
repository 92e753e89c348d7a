import json

import numpy as np
from PIL import Image

from tf_frame_classification.model.prediction_files import ClassFiles

PREDICTION = {
    "label": np.int32(2),
    "probabilities": np.array([0.02, 0.03, 0.5, 0.25, 0.16, 0.04], np.float32),
}


def test_rows_and_the_likeliest_classes_under_a_picture(tmp_path):
    photo = tmp_path / "photo.jpg"
    Image.new("RGB", (1280, 800), (90, 90, 90)).save(photo)
    writer = ClassFiles(str(tmp_path), ("ant", "bee", "cat", "dog", "eel"))
    features = {"image": np.zeros([8, 8, 3], np.float32), "name": str(photo).encode()}
    writer("photo", features, PREDICTION)
    lines = writer.describe("photo", features, PREDICTION)
    writer("000001", {}, PREDICTION)
    writer.close()
    rows = [json.loads(row) for row in (tmp_path / "predictions.jsonl").read_text().splitlines()]
    assert [row["name"] for row in rows] == [str(photo), "000001"]
    assert rows[0]["label"] == 2 and len(rows[0]["probabilities"]) == 6
    path = tmp_path / "pictures" / "photo.png"
    assert lines == [
        *(" 50.0%  cat", " 25.0%  dog", " 16.0%  eel", "  4.0%  class 5", "  3.0%  bee"),
        f"drawn in {path}",
    ]
    picture = np.array(Image.open(path))
    assert picture.shape == (400 + 5 * 26, 640, 3)
    assert (picture[:400] == 90).all()


def test_without_names_and_with_few_classes(tmp_path):
    photo = tmp_path / "small.png"
    Image.new("L", (20, 10)).save(photo)
    writer = ClassFiles(str(tmp_path))
    prediction = {"probabilities": np.array([0.25, 0.75], np.float32)}
    lines = writer.describe("small", {"name": str(photo).encode()}, prediction)
    assert lines[:2] == [" 75.0%  class 1", " 25.0%  class 0"]
    assert Image.open(tmp_path / "pictures" / "small.png").size == (400, 200 + 2 * 26)
