"""Faults of data that follow from a `DataReport`, and inputs without a report."""

import json

import pytest

from tf_frame import DataReport, DataWarning, InputInfo, Mode, SplitReport
from tf_frame.errors import PluginError
from tf_frame.plugin.data_warnings import find_data_report, find_warnings


def report(unit="examples", train=None, held_out=None, **facts):
    splits = {Mode.TRAIN: SplitReport(examples=8, counts=train, **facts.pop("train_facts", {}))}
    if held_out is not None or "eval_facts" in facts:
        splits[Mode.EVAL] = SplitReport(examples=4, counts=held_out, **facts.pop("eval_facts", {}))
    names = tuple(train or ())
    return DataReport(unit=unit, class_names=names, splits=splits, **facts)


SMALL, LARGE = [(32, 32)] * 3, [(64, 64)] * 3
SOME = {"counted": 8}
FAULTS = {
    "one class": (report(train={"a": 8}), "one_class"),
    "one label": (report(train={"a": 8, "b": 0}), "constant_labels"),
    "one label of pixels": (report("pixels", {"a": 900, "b": 0}), "constant_labels"),
    "one character": (report("characters", {"a": 3, "b": 0}), "constant_labels"),
    "0 and 255": (
        report("pixels", {"a": 900, "b": 0}, train_facts={"without_label": 5}),
        "class_and_ignored",
    ),
    "all 255": (
        report("pixels", {"a": 0, "b": 0}, train_facts={"without_label": 5}),
        "all_void",
    ),
    "all difficult": (
        report("objects", {"a": 0, "b": 0}, {"a": 1, "b": 0}, train_facts={"without_label": 5}),
        "all_void",
    ),
    "a sample of one class": (report(train={"a": 8, "b": 0}, train_facts=SOME), "constant_labels"),
    "no object to evaluate": (
        report("objects", {"a": 3}, {"a": 0}),
        "nothing_to_evaluate",
    ),
    "other classes": (report(train={"a": 3, "b": 0, "c": 4}, held_out={"b": 3}), "other_classes"),
    "only to evaluate": (
        report(train={"a": 3, "b": 4, "c": 0}, held_out={"a": 1, "b": 1, "c": 1}),
        "class_not_trained",
    ),
    "only to train": (report(train={"a": 3, "b": 4}, held_out={"a": 1}), "class_not_evaluated"),
    "one other size": (
        report(train_facts={"sizes": SMALL}, eval_facts={"sizes": LARGE}),
        "other_size",
    ),
    "other sizes": (
        report(
            train_facts={"sizes": [(30, 30), (40, 40), (50, 50)]},
            eval_facts={"sizes": [(60, 60), (80, 80), (90, 90)]},
        ),
        "other_size",
    ),
    "most left out": (
        report(train_facts={"left_out": {"it is no image": 9, "it is cut": 2}}),
        "most_left_out",
    ),
}
GOOD = {
    "two classes": report(train={"a": 3, "b": 4}, held_out={"a": 1, "b": 1}),
    "one class of objects": report("objects", {"a": 3}, {"a": 1}),
    "a class without any": report(
        train={"a": 3, "b": 4, "c": 0}, held_out={"a": 1, "b": 2, "c": 0}
    ),
    "a rare character": report("characters", {"a": 3, "b": 4}, {"a": 2}),
    "a class that the sample lacks": report(
        train={"a": 3, "b": 4, "c": 0}, held_out={"a": 1, "b": 2, "c": 1}, train_facts=SOME
    ),
    "sizes that overlap": report(
        train_facts={"sizes": [(30, 30), (40, 40), (90, 90)]},
        eval_facts={"sizes": [(60, 60), (80, 80), (85, 85)]},
    ),
    "no evaluation data": report(train={"a": 3, "b": 4}),
    "nothing counted": report(),
}


@pytest.mark.parametrize(("data", "kind"), FAULTS.values(), ids=FAULTS)
def test_a_fault_gives_one_warning_with_a_remedy_in_one_line(data, kind):
    (warning,) = find_warnings(data)
    assert warning.kind == kind
    assert warning.remedy and "\n" not in str(warning)


@pytest.mark.parametrize("data", GOOD.values(), ids=GOOD)
def test_good_data_gives_no_warning(data):
    assert find_warnings(data) == ()


def test_an_input_without_the_method_is_described_by_its_info():
    class Foreign:
        info = InputInfo(num_examples=dict.fromkeys(Mode, 7), class_names=("a", "b"))

    data = find_data_report(Foreign())
    assert data.splits == {mode: SplitReport(examples=7) for mode in (Mode.TRAIN, Mode.EVAL)}
    assert data.class_names == ("a", "b")


def test_an_input_that_returns_no_report_is_told_so():
    class Foreign:
        def data_report(self):
            return {"train": 3}

    with pytest.raises(PluginError, match="data_report.* returned {'train': 3} of type dict"):
        find_data_report(Foreign())


def test_warnings_of_the_input_and_of_the_report_are_joined_and_are_json():
    class Source:
        def data_report(self):
            shared = DataWarning("shared_images", "two images are the same", "remove one")
            return report(train={"a": 8}, warnings=(shared,))

    data = find_data_report(Source())
    content = json.loads(json.dumps(data.as_json()))
    assert [warning["kind"] for warning in content["warnings"]] == ["shared_images", "one_class"]
    assert content["splits"]["train"]["counts"] == {"a": 8}
