from tf_frame.metric_table import classwise, metrics_text

METRICS = {
    "mean_iou": 0.5,
    "iou_road": 0.25,
    "iou_traffic_light": 0.75,
    "iou_traffic_sign": 0.5,
    "pixels_road": 123456.0,
    "pixels_traffic_light": 20.0,
    "pixels_traffic_sign": 3.0,
    "pq_road": 0.5,
    "loss": 0.1,
}


def test_kinds_and_classes_are_found_whatever_the_names():
    classes = ("road", "traffic_light", "traffic_sign")
    assert classwise(METRICS) == (["iou", "pixels"], classes)
    assert classwise({"mean_iou": 1, "recall_a": 1, "recall_b": 1}) == ((), ())


def test_metrics_of_classes_are_a_table_below_the_others():
    assert metrics_text(METRICS).splitlines() == [
        "  mean_iou  0.5000",
        "  pq_road   0.5000",
        "  loss      0.1000",
        "                    iou  pixels",
        "  road           0.2500  123456",
        "  traffic_light  0.7500      20",
        "  traffic_sign   0.5000       3",
    ]


def test_shares_that_are_all_0_or_1_keep_their_decimals():
    shares = {"iou_a": 1.0, "iou_b": 0.0, "pixels_a": 5.0, "pixels_b": float("nan")}
    assert metrics_text(shares).splitlines()[1:] == ["  a  1.0000  5.0000", "  b  0.0000     nan"]


def test_texts_stay_as_they_are():
    assert metrics_text({"a": "array [2, 2]", "b": 1.0}) == "  a  array [2, 2]\n  b  1.0000"
