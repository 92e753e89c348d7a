"""The short form of a `DataReport` at the start of a run, and the page of `--print_data`."""

import pytest

from tf_frame import DataReport, DataWarning, Mode, SplitReport
from tf_frame.errors import DataError
from tf_frame.runs.setup.data_text import (
    data_lines,
    data_page,
    evaluation_lines,
    refuse_warnings,
)

WARNING = DataWarning("one_class", "the data has one class, cat", "add a second class")
DATA = DataReport(
    unit="objects",
    class_names=("cat", "dog", "hen"),
    splits={
        Mode.TRAIN: SplitReport(
            examples=9,
            counts={"cat": 3, "dog": 20, "hen": 0},
            sizes=[(20, 30), (40, 30), (50, 60)],
            left_out={"it is cut": 2, "it is empty": 2, "it is no image": 1, "it is missing": 1},
            place="photos/train",
        ),
        Mode.EVAL: SplitReport(examples=3, counts={"cat": 1, "dog": 1, "hen": 0}, counted=2),
    },
    unused=("test", "notes.txt"),
    remarks=("copies are not looked for",),
    warnings=(WARNING, WARNING),
)
MASKS = DataReport(
    unit="pixels",
    splits={Mode.TRAIN: SplitReport(counts={"sky": 750, "sea": 240}, without_label=10)},
)


def test_the_short_form_has_a_line_for_each_split_with_the_most_frequent_class_first():
    assert data_lines(DATA, ["test is not used; --input.eval_split test evaluates it"]) == [
        "training data: 20 x 30 to 50 x 60 pixels, objects: dog 20, cat 3, none of hen",
        "left out of the training data: 6 (2: it is cut; 2: it is empty; 1: it is no image and 1 "
        "more)",
        "evaluation data: objects: cat 1, dog 1, none of hen, counted in 2 of 3 examples",
        "not used: notes.txt",
        "warning: the data has one class, cat; add a second class",
        "warning: the data has one class, cat; add a second class",
    ]
    assert data_lines(MASKS) == ["training data: pixels: sky 75.0%, sea 24.0%, ignored 1.0%"]
    words = DataReport(
        unit="characters", splits={Mode.TRAIN: SplitReport(counts={"a": 7, "b": 2, "q": 0})}
    )
    assert data_lines(words) == ["training data: 9 characters of 2 kinds, none of q"]
    # The introduction of a run has the number of examples.
    assert data_lines(DataReport(splits={Mode.TRAIN: SplitReport(examples=3)})) == []


def test_the_page_has_every_class_size_reason_and_file():
    page = data_page(DATA)
    for text in (
        *("photos/train", "40 x 30", "hen", "2  it is cut", "notes.txt"),
        *("note: counts of the evaluation data are of 2 examples", "  test"),
        *("note: copies are not looked for", "warning: the data has one class"),
    ):
        assert text in page
    assert "      photos/train" in page.split("\n")
    assert "(ignored)" in data_page(MASKS)
    assert data_page(MASKS).endswith("no warning")


def test_an_evaluation_tells_its_own_data_and_notes():
    class Source:
        def data_report(self):
            return DATA

        def notes(self):
            return ["test is not used"]

    assert evaluation_lines(Source()) == [
        "note: test is not used",
        "evaluation data: objects: cat 1, dog 1, none of hen, counted in 2 of 3 examples",
    ]


def test_strict_refuses_the_first_warning_in_one_line():
    with pytest.raises(DataError, match=r"cat; add a second class \(1 more warnings\)"):
        refuse_warnings(DATA)
    refuse_warnings(MASKS)


def test_a_name_with_line_ends_stays_in_its_line():
    counts = {"cat\n\x1b": 3, "dog": 2}
    report = DataReport(splits={Mode.TRAIN: SplitReport(counts=counts)}, unused=("a\nb",))
    assert data_lines(report) == [
        "training data: cat\\u000a\\u001b 3, dog 2",
        "not used: a\\u000ab",
    ]
    page = data_page(report).splitlines()
    assert sum("cat\\u000a\\u001b" in line for line in page) == 1 and "  a\\u000ab" in page
