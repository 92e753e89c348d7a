"""The files that an evaluation leaves."""

import json
import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from event_files import summaries
from tf_frame import ClassMean, ClassMetric, EvaluationFile
from tf_frame.runs.evaluation.printing import metrics_table
from tf_frame.runs.evaluation.results import (
    find_at_chance,
    numbers,
    write_evaluation,
    write_figures,
    write_files,
)


def values_in(folder):
    assert len(list(folder.iterdir())) == 1
    return {value.tag: (step, value) for step, value in summaries(folder)}


@pytest.mark.parametrize(
    "number",
    [0.5, 3, np.float64(0.5), np.int64(7), np.bool_(True), tf.bfloat16.as_numpy_dtype(0.5)],
    ids=lambda number: type(number).__name__,
)
def test_numbers_of_every_kind_become_scalars(tmp_path, number):
    write_evaluation(str(tmp_path / "eval"), {"a": number}, None, 4)
    step, value = values_in(tmp_path / "eval")["metrics/a"]
    assert (step, value.simple_value) == (4, float(number))
    assert numbers({"a": number, "b": None}) == {"a": float(number)}


def test_arrays_become_tensors_and_serialised_summaries_what_they_are(tmp_path):
    image = tf.Summary.Image(height=1, width=2, encoded_image_string=b"png")
    summary = tf.Summary(value=[tf.Summary.Value(tag="x", image=image)] * 2)
    metrics = {"array": np.array([1.0, 2.0]), "image": summary.SerializeToString()}
    write_evaluation(str(tmp_path / "eval"), metrics, None, 4, prefix="")
    found = values_in(tmp_path / "eval")
    np.testing.assert_array_equal(tf.make_ndarray(found["array"][1].tensor), [1.0, 2.0])
    assert [found[f"image/{i}"][1].image for i in (0, 1)] == [image, image]
    assert numbers(metrics) == {}


def test_what_is_no_event_is_passed_over_with_a_warning_and_none_without(tmp_path, caplog):
    metrics = {"none": None, "text": "words", "bytes": b"\xff\xffno summary"}
    write_evaluation(str(tmp_path / "eval"), metrics, None, 4)
    assert values_in(tmp_path / "eval") == {}
    text, serialized = [record.message for record in caplog.records]
    assert text == "the metric metrics/text is not written as an event: 'words'"
    assert (
        serialized == "the metric metrics/bytes is not written as an event: it is not a tf.Summary"
    )


def test_summaries_and_the_checkpoint_are_written_beside_the_metrics(tmp_path):
    summary = tf.Summary(value=[tf.Summary.Value(tag="of_batch", simple_value=2.0)])
    serialized = summary.SerializeToString()
    write_evaluation(str(tmp_path / "eval"), {}, serialized, 4, checkpoint="run/model.ckpt-4")
    found = values_in(tmp_path / "eval")
    assert found["of_batch"][1].simple_value == 2.0
    assert tf.make_ndarray(found["checkpoint_path"][1].tensor) == b"run/model.ckpt-4"
    assert {step for step, _ in found.values()} == {4}


def test_several_evaluations_share_one_file_of_events(tmp_path):
    for step in (4, 8):
        write_evaluation(str(tmp_path / "eval"), {"a": step}, None, step)
    assert values_in(tmp_path / "eval")["metrics/a"][0] == 8


def test_the_figures_of_the_last_evaluation_are_a_file_for_programs(tmp_path):
    for step, metrics in [
        (4, {"old": 1.0}),
        (8, {"a": np.float32(0.5), "b": np.array([[1, 2]]), "c": b"image", "d": "text"}),
    ]:
        files = write_figures(str(tmp_path), metrics, step, f"model.ckpt-{step}")
    assert files == {"b": str(tmp_path / "metrics.json")}
    assert json.loads((tmp_path / "metrics.json").read_text()) == {
        "checkpoint": "model.ckpt-8",
        "global_step": 8,
        "metrics": {"a": 0.5, "b": [[1, 2]]},
    }


def test_figures_that_are_not_defined_have_no_card_and_are_null(tmp_path):
    nan = float("nan")
    metrics = {ClassMetric("iou", "cat"): nan, ClassMean("aps"): nan, "loss": nan, "b": [nan, 1.0]}
    write_evaluation(str(tmp_path / "eval"), {**metrics, ClassMean("miou"): 0.5, "b": 2}, None, 4)
    assert set(values_in(tmp_path / "eval")) == {"metrics/miou", "metrics/b", "losses/loss"}
    write_figures(str(tmp_path), metrics, 4, "model.ckpt-4")
    text = (tmp_path / "metrics.json").read_text()
    assert json.loads(text)["metrics"] == {
        "iou_cat": None,
        "aps": None,
        "loss": None,
        "b": [None, 1],
    }
    assert "NaN" not in text


def test_files_among_the_metrics_are_written_and_texts_are_shown(tmp_path):
    page, text = EvaluationFile("a.html"), EvaluationFile("b.txt")
    metrics = {page: b"<p>", text: b"cat -> dog\n  \x1b[1m", "loss": 1.0}
    files = write_figures(str(tmp_path), metrics, 4, "model.ckpt-4")
    assert files == {name: str(tmp_path / name) for name in (page, text)}
    assert json.loads((tmp_path / "metrics.json").read_text())["metrics"] == {"loss": 1.0}
    assert (tmp_path / "a.html").read_bytes() == b"<p>"
    assert (tmp_path / "b.txt").read_bytes() == metrics[text]
    write_evaluation(str(tmp_path / "eval"), metrics, None, 4)
    values = values_in(tmp_path / "eval")
    assert set(values) == {"metrics/b", "losses/loss"}
    shown = values["metrics/b"][1]
    assert shown.metadata.plugin_data.plugin_name == "text"
    assert tf.make_ndarray(shown.tensor).item() == b"    cat -> dog\n      \x1b[1m\n"
    assert metrics_table(metrics).splitlines() == [
        "  loss  1.0000",
        "  cat -> dog",
        "    \\u001b[1m",
    ]


def test_pictures_among_the_metrics_are_files(tmp_path):
    def summary(*contents):
        images = [tf.Summary.Image(encoded_image_string=content) for content in contents]
        values = [tf.Summary.Value(tag="x", image=image) for image in images]
        return tf.Summary(value=values).SerializeToString()

    metrics = {"matrix_image": summary(b"png"), "many": summary(b"a", b"b")}
    files = write_files(str(tmp_path), {**metrics, "text": b"\xff", "number": 1.0, "list": [1]})
    assert files == {"matrix_image": str(tmp_path / "matrix.png")}
    assert [path.name for path in tmp_path.iterdir()] == ["matrix.png"]
    assert (tmp_path / "matrix.png").read_bytes() == b"png"


@pytest.mark.parametrize(
    ("value", "level", "is_at_chance"),
    [
        (0.0, 0.0, True),
        (0.001, 0.0, False),
        (0.118, 0.1, True),  # Of ten equal classes.
        (0.12, 0.1, False),
        (0.0012, 0.001, True),  # Of a thousand.
        (0.0013, 0.001, False),
        (0.2, 0.6, True),
        (0.62, 0.6, False),
        (0.992, 0.99, False),
        (1.0, 1.0, False),  # There is one class only.
        (float("nan"), 0.5, False),
    ],
)
def test_what_is_at_the_level_of_chance(value, level, is_at_chance):
    levels = {"accuracy": level, "other": 1.0}
    model = types.SimpleNamespace(chance_levels=lambda metrics: levels)
    found = find_at_chance(model, {"accuracy": value, "loss": 0.0})
    assert found == ({"accuracy": level} if is_at_chance else {})
