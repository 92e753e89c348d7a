import json
import re

import numpy as np
import pytest
from hypothesis import strategies
from PIL import Image

from properties import COUNTS, TEXTS, check_many
from tf_frame import InputInfo
from tf_frame.text_file import read_json
from tf_frame_detection.evaluation import prediction_files
from tf_frame_detection.evaluation.painting import Painting
from tf_frame_detection.evaluation.prediction_files import DetectionFiles

RED, BLUE = (255, 0, 0), (0, 0, 255)
INFO = InputInfo(
    num_classes=2, class_names=("tree", "house"), class_colours=(RED, BLUE), class_ids=(18, 7)
)
# An image of 200 x 100 pixels is fed as 400 x 200 of 400 x 256.
FEATURES = {
    "image": np.full([400, 256, 3], 90, np.float32),
    "image_size": np.array([400, 200]),
    "original_size": np.array([200, 100]),
    "name": b"/data/000000000139.jpg",
}
PREDICTION = {
    "detection_boxes": np.array([[0.5, 0.1, 0.75, 0.5], [0.2, 0.2, 0.4, 0.4], [0] * 4], np.float32),
    "detection_scores": np.array([0.9, 0.2, 0.0], np.float32),
    "detection_classes": np.array([1, 0, 0], np.int32),
    "num_detections": np.int32(2),
}


@pytest.fixture
def files(tmp_path):
    def write(*, rotated=False, features=FEATURES, prediction=PREDICTION, name="000000000139"):
        writer = DetectionFiles(str(tmp_path), INFO, min_score=0.3, rotated=rotated)
        chosen = {key: prediction[key] for key in writer.predict_keys}
        writer(name, features, chosen)
        writer.close()
        results = json.loads((tmp_path / "detections.json").read_text())
        return np.array(Image.open(tmp_path / "overlays" / f"{name}.png")), results

    return write


def has(pixels, colour):
    return (pixels == colour).all(axis=2).any()


def test_results_are_in_pixels_of_the_file_and_overlays_show_certain_detections(files):
    overlay, results = files()
    assert results == [
        {"image_id": 139, "category_id": 7, "bbox": [10, 100, 40, 50], "score": 0.9},
        {"image_id": 139, "category_id": 18, "bbox": [20, 40, 20, 40], "score": 0.2},
    ]
    # The image, at the size of the file, is shown twice as large and without its padding.
    assert overlay.shape == (400, 200, 3)
    assert has(overlay, BLUE) and not has(overlay, RED)
    # The lines are two pixels wide: half a pixel and more on both sides of the edge.
    np.testing.assert_array_equal(overlay[199:201, 80:100], np.tile(BLUE, [2, 20, 1]))
    np.testing.assert_array_equal(overlay[230:270, 60], np.full([40, 3], 90))
    overlay, results = files(prediction={**PREDICTION, "num_detections": np.int32(0)})
    assert (overlay == 90).all()
    assert results == []


def test_detections_of_the_overlay_are_described_in_pixels(tmp_path):
    writer = DetectionFiles(str(tmp_path), INFO, min_score=0.3)
    drawn = f"drawn in {tmp_path}/overlays/x.png"
    assert writer.describe("x", FEATURES, PREDICTION) == [
        "house  0.900  left 10.0, upper 100.0, right 50.0, lower 150.0",
        drawn,
    ]
    many = {
        name: np.repeat(PREDICTION[f"detection_{name}"][:1], 22, axis=0)
        for name in ("boxes", "scores", "classes")
    }
    found = {f"detection_{name}": value for name, value in many.items()}
    lines = writer.describe("x", FEATURES, {**found, "num_detections": np.int32(22)})
    assert len(lines) == 22 and lines[20:] == ["and 2 more (--model.min_drawn_score)", drawn]
    nothing = {**PREDICTION, "num_detections": np.int32(0)}
    assert writer.describe("x", FEATURES, nothing) == [
        "nothing with a score of 0.3 or more (--model.min_drawn_score)",
        drawn,
    ]


def test_an_overlay_has_the_size_and_the_pixels_of_the_file(files, tmp_path):
    """The network has seen 400 x 200 pixels of an image of 600 x 900."""
    pixels = np.random.RandomState(0).randint(0, 256, [600, 900, 3]).astype(np.uint8)
    path = tmp_path / "photo.png"
    Image.fromarray(pixels).save(path)
    features = {**FEATURES, "original_size": np.array([600, 900]), "name": str(path).encode()}
    overlay, results = files(features=features)
    assert overlay.shape == (600, 900, 3)
    assert results[0]["bbox"] == [90, 300, 360, 150]
    np.testing.assert_array_equal(overlay[310:440, 100:440], pixels[310:440, 100:440])
    assert (overlay[299:301, 300:400] == BLUE).all()
    # A file that has another size by now, and one that is no image.
    for content in (b"no image", None):
        if content is None:
            Image.fromarray(pixels[:5]).save(path)
        else:
            path.write_bytes(content)
        overlay, _ = files(features=features)
        assert overlay.shape == (600, 900, 3) and (overlay[310:440, 100:440] == 90).all()


@COUNTS
def test_any_detection_is_read_as_it_was_written(tmp_path, monkeypatch, count):
    monkeypatch.setattr(prediction_files, "write_png", lambda path, pixels: None)

    def check(image_id, edges, scores, rotated):
        found = min(len(scores), len(edges) // 4)
        boxes = np.sort(np.array(edges[: 4 * found], np.float32).reshape(-1, 2, 2), axis=1)
        prediction = {
            "detection_boxes": boxes.reshape(-1, 4),
            "detection_scores": np.array(scores[:found], np.float32),
            "detection_classes": np.arange(found) % 2,
            "detection_corners": np.tile(boxes, [1, 2, 1]),
            "num_detections": np.int32(found),
        }
        features = {
            "image": np.zeros([4, 4, 3], np.float32),
            "image_size": np.array([4, 4]),
            "original_size": FEATURES["original_size"],
        }
        if isinstance(image_id, int):
            features["image_id"] = np.int64(image_id)
        writer = DetectionFiles(str(tmp_path), INFO, min_score=2.0, rotated=rotated)
        writer(str(image_id), features, prediction)
        writer.close()
        results = read_json(tmp_path / "detections.json", finite=True)
        assert [result["image_id"] for result in results] == [image_id] * found
        assert [result["category_id"] for result in results] == [18, 7, 18][:found]
        sides = np.array([100, 200, 100, 200])
        expected = boxes.reshape(-1, 4)[:, [1, 0, 3, 2]].astype(float) * sides
        expected[:, 2:] -= expected[:, :2]
        bboxes = np.reshape([result["bbox"] for result in results], [-1, 4])
        np.testing.assert_allclose(bboxes, expected, atol=0.02)
        written = [result["score"] for result in results]
        np.testing.assert_allclose(written, scores[:found], atol=1e-6)
        assert all(("corners" in result) == rotated for result in results)

    number = strategies.floats(0, 1, width=32)
    names = TEXTS.filter(lambda name: not re.search(r"\d", name))
    ids = strategies.one_of(strategies.integers(0, 2**63 - 1), names)
    check_many(
        check,
        count,
        image_id=ids,
        edges=strategies.lists(number, max_size=12),
        scores=strategies.lists(number, max_size=3),
        rotated=strategies.booleans(),
    )


def test_pycocotools_reads_the_results(files, tmp_path):
    coco = pytest.importorskip("pycocotools.coco").COCO()
    files()
    coco.dataset = {"images": [{"id": 139}], "categories": [{"id": 7}, {"id": 18}]}
    coco.createIndex()
    loaded = coco.loadRes(str(tmp_path / "detections.json"))
    assert [each["area"] for each in loaded.loadAnns(loaded.getAnnIds())] == [2000, 800]


def test_ids_are_those_of_the_data_set_or_names(files):
    features = {**FEATURES, "image_id": np.int64(7)}
    assert files(features=features)[1][0]["image_id"] == 7
    features = {**FEATURES, "name": b"/data/photo.jpg"}
    assert files(features=features, name="photo")[1][0]["image_id"] == "photo"
    features = {**FEATURES, "name": b"/data/a/000139.jpg"}
    assert files(features=features, name="000139")[1][0]["image_id"] == 139
    # Files of one number in two folders get names that differ.
    assert files(features=features, name="a_000139")[1][0]["image_id"] == "a_000139"
    features = {**FEATURES, "name": b"9" * 50}
    assert files(features=features, name="9" * 50)[1][0]["image_id"] == "9" * 50
    features.pop("name")
    assert files(features=features, name="photo")[1][0]["image_id"] == "photo"


def test_one_number_written_in_two_ways_is_two_images(tmp_path):
    writer = DetectionFiles(str(tmp_path), INFO, min_score=0.3)
    for name in ("1", "001", "2"):
        writer(name, {**FEATURES, "name": f"/data/{name}.jpg".encode()}, PREDICTION)
    writer.close()
    results = json.loads((tmp_path / "detections.json").read_text())
    assert [result["image_id"] for result in results[::2]] == [1, "001", 2]


def test_rotated_detections_have_corners(files):
    corners = np.array([[0.3, 0.5], [0.5, 0.9], [0.7, 0.5], [0.5, 0.1]], np.float32)
    prediction = {**PREDICTION, "detection_corners": np.tile(corners, [3, 1, 1])}
    overlay, results = files(rotated=True, prediction=prediction)
    assert results[0]["corners"] == [[50, 60], [90, 100], [50, 140], [10, 100]]
    assert results[0]["bbox"] == [10, 100, 40, 50]
    # The middle of an edge is painted, a corner of the box around is not.
    assert has(overlay[158:163, 138:143], BLUE)
    assert not has(overlay[118:128, 170:185], BLUE)


def test_ignored_boxes_are_grey_and_classes_have_names_and_colours():
    painting = Painting.of(INFO, 0.3)
    corners = np.tile(np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.8], [0.8, 0.2]]), [3, 1, 1])
    picture = np.zeros([100, 100, 3], np.uint8)
    ignored = np.array([True, False, False])
    drawn = painting.draw_truth(picture, corners[:1], np.array([0]), ignored[:1])
    assert has(drawn, (150, 150, 150)) and not has(drawn, RED)
    drawn = painting.draw_truth(picture, corners[1:], np.array([0, -1]), ignored[1:])
    assert has(drawn, RED) and not has(drawn, BLUE)
    painting = Painting.of(InputInfo(num_classes=3, class_names=("tree",)), 0.3)
    assert painting.class_names == ["tree", "1", "2"]
    assert len({tuple(colour) for colour in painting.colours}) == 3
