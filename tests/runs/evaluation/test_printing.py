import copy
import dataclasses
import pickle

import numpy as np
import pytest

from tf_frame import ClassMean, ClassMetric, EvaluationFile
from tf_frame.cli.run_text import closing
from tf_frame.runs.evaluation.printing import (
    log_line,
    metric_names,
    metrics_table,
    result_line,
    result_table,
)
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup

CLASSES = ("road", "traffic_light", "traffic_sign")
IOU = dict(zip((ClassMetric("iou", name) for name in CLASSES), (0.25, 0.75, 0.5), strict=True))
PIXELS = dict(
    zip((ClassMetric("pixels", name) for name in CLASSES), (123456.0, 20.0, 3.0), strict=True)
)
METRICS = {"mean_iou": 0.5, **IOU, **PIXELS, ClassMetric("pq", "road"): 0.5, "loss": 0.1}


def test_a_declared_name_is_a_text_like_others():
    name = ClassMetric("iou", "traffic_light")
    assert name == "iou_traffic_light" and {name: 1}["iou_traffic_light"] == 1
    for copied in (copy.deepcopy(name), pickle.loads(pickle.dumps(name))):
        assert (copied, copied.kind, copied.class_name) == (name, "iou", "traffic_light")


def test_kinds_with_the_same_classes_share_a_table_below_the_other_metrics():
    assert result_table(7, METRICS).splitlines() == [
        "evaluation at step 7",
        "  mean_iou  0.5000",
        "  loss      0.1000",
        "                    iou  pixels",
        "  road           0.2500  123456",
        "  traffic_light  0.7500      20",
        "  traffic_sign   0.5000       3",
        "            pq",
        "  road  0.5000",
    ]
    assert metrics_table(IOU).splitlines()[0].split() == ["iou"]


NAN = float("nan")
FEW = {
    ClassMean("mean_iou", "iou"): 0.5,
    ClassMean("mean_recall", "recall"): 1.0,
    ClassMean("aps"): NAN,
    ClassMetric("iou", "road"): 1.0,
    ClassMetric("iou", "sky"): 0.0,
    ClassMetric("iou", "sign"): NAN,
    ClassMetric("recall", "road"): 1.0,
    ClassMetric("recall", "sky"): NAN,
    ClassMetric("recall", "sign"): NAN,
    "loss": NAN,
}


def test_classes_without_an_example_are_counted_and_means_say_over_how_many_they_are():
    assert metrics_table(FEW).splitlines() == [
        "  mean_iou     0.5000  over 2 of 3 classes",
        "  mean_recall  1.0000  over 1 of 3 classes",
        "  aps          -",
        "  loss         nan",
        "           iou  recall",
        "  road  1.0000  1.0000",
        "  sky   0.0000       -",
        "  1 class without an example is left out",
    ]
    assert result_line(7, FEW) == (
        "evaluation at step 7  mean_iou 0.5000 (over 2 of 3 classes)  "
        "mean_recall 1.0000 (over 1 of 3 classes)  aps -  loss nan"
    )
    assert log_line(7, FEW) == (
        "step 7: evaluation: mean_iou = 0.5, mean_recall = 1, iou_road = 1, iou_sky = 0, "
        "recall_road = 1, loss = nan; 1 class without an example is left out"
    )
    none = {ClassMean("mean_iou", "iou"): NAN, **dict.fromkeys(IOU, NAN)}
    assert metrics_table(none).splitlines() == [
        "  mean_iou  -  over 0 of 3 classes",
        "  3 classes without an example are left out",
    ]


def test_rows_that_are_no_classes_have_their_own_noun():
    rows = {ClassMetric("iou", name, "length"): NAN for name in "ab"}
    mean = {ClassMean("mean_iou", "iou"): 0.5, **rows, ClassMetric("n", "c"): NAN}
    assert metrics_table(mean).splitlines() == [
        "  mean_iou  0.5000  over 0 of 2 lengths",
        "  2 lengths without an example are left out",
        "  1 class without an example is left out",
    ]
    assert {copy.deepcopy(name).row for name in rows} == {"length"}


def test_a_mean_over_all_classes_has_their_number():
    metrics = {ClassMean("mean_iou", "iou"): 0.5, **IOU}
    assert metrics_table(metrics).splitlines()[0] == "  mean_iou  0.5000  over 3 classes"
    assert result_line(7, metrics) == "evaluation at step 7  mean_iou 0.5000"
    assert metric_names({**metrics, "loss": 1.0}) == "mean_iou, loss; of each class iou"
    (name,) = list(metrics)[:1]
    for copied in (copy.deepcopy(name), pickle.loads(pickle.dumps(name))):
        assert (copied, copied.kind) == ("mean_iou", "iou")


def test_the_line_leaves_classes_out_and_the_log_has_all():
    assert result_line(7, METRICS) == "evaluation at step 7  mean_iou 0.5000  loss 0.1000"
    assert log_line(7, {**IOU, "loss": 1 / 3}) == (
        "step 7: evaluation: iou_road = 0.25, iou_traffic_light = 0.75, iou_traffic_sign = 0.5, "
        "loss = 0.333333"
    )


@pytest.mark.parametrize(
    "names",
    [("mean_iou", "mean_accuracy", "pixel_iou", "pixel_accuracy"), ("recall_1", "recall_5")],
)
def test_underscores_in_names_say_nothing(names):
    metrics = dict.fromkeys(names, 0.5)
    assert [line.split() for line in metrics_table(metrics).splitlines()] == [
        [name, "0.5000"] for name in names
    ]
    assert result_line(1, metrics).split()[4:] == [text for n in names for text in (n, "0.5000")]


def test_shares_that_are_all_0_or_1_keep_their_decimals():
    values = {"iou": (1.0, 0.0), "pixels": (5.0, float("nan"))}
    metrics = {
        ClassMetric(kind, name): value
        for kind, column in values.items()
        for name, value in zip("ab", column, strict=True)
    }
    assert metrics_table(metrics).splitlines()[1:] == ["  a  1.0000       5", "  b  0.0000       -"]


def test_arrays_and_bytes_are_told_by_their_file_or_else_by_their_size():
    metrics = {"a": np.zeros([2, 2]), "b": b"123", "c": np.float32(1), "large": 1234.5}
    lines = metrics_table(metrics).splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines] == [
        "array [2, 2]",
        "3 bytes",
        "1.0000",
        "1234",
    ]
    files = {"a": "eval/metrics.json", "b": "eval/b.png", EvaluationFile("c.html"): "eval/c.html"}
    assert [line.split() for line in metrics_table({**metrics, **files}, files).splitlines()] == [
        ["a", "eval/metrics.json"],
        ["b", "eval/b.png"],
        ["c", "1.0000"],
        ["large", "1234"],
        ["c.html", "eval/c.html"],
    ]
    columns = {ClassMetric("n", "a"): np.zeros([3]), ClassMetric("n", "b"): 7.0}
    assert metrics_table(columns).splitlines()[1:] == ["  a  array [3]", "  b          7"]


def test_a_run_prints_the_classes_that_its_model_declares(tmp_path):
    class ClassModel(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            ((_, pair),) = output.metrics.items()
            metrics = {ClassMetric("error", name): pair for name in ("cat", "dog")}
            return dataclasses.replace(output, metrics={**metrics, "top_1": pair, "top_5": pair})

    lines = []
    setup = make_setup(ClassModel, ToyInput, str(tmp_path), max_steps=2, evaluate=True)
    result = run_setup(setup, report=lines.append)
    table = [line.split() for line in closing(setup, result).splitlines()]
    assert [row[0] for row in table[1:3]] == ["top_1", "top_5"]
    assert [row[0] for row in table if row[0] in ("error", "cat", "dog")] == ["error", "cat", "dog"]
