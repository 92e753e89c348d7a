import numpy as np
import pytest

from tf_frame import InputContext, Mode
from tf_frame.errors import DataError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_detection.inputs.trees import Params, Trees


def trees(**params):
    return Trees(params=Params(**params))


def names(of, mode):
    return [photograph.path.stem for photograph in of.splits[mode].content]


def test_photographs_are_divided_by_number_or_plot():
    of = trees()
    assert of.info.num_examples == {Mode.TRAIN: 29, Mode.EVAL: 9, Mode.PREDICT: 9}
    assert (of.info.num_classes, of.info.class_names, of.info.class_ids) == (1, ("Tree",), (1,))
    assert names(of, Mode.EVAL) == ["03", "07", "11", "15", "19", "23", "27", "31", "35"]
    parts = (of.splits[mode].content for mode in (Mode.TRAIN, Mode.EVAL))
    assert sum(len(photograph.marks) for part in parts for photograph in part) == 354
    of = trees(divide_by="plot")
    assert names(of, Mode.EVAL) == [f"{number:02}" for number in range(8)]
    assert len(names(of, Mode.TRAIN)) == 30


def test_evaluation_yields_the_boxes_of_the_file_without_empty_lines(tmp_path):
    of = trees(max_boxes=20)
    ((features, labels),) = read_elements(of.dataset(Mode.EVAL, InputContext(batch_size=2)), 1)
    assert features["image"].shape == (2, 200, 200, 3)
    lines = (of.root / "boxes.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines if line.startswith("03.jpg")]
    expected = [[float(row[k]) for k in (3, 2, 5, 4)] for row in rows]
    assert labels["boxes"].shape == (2, 20, 4)
    np.testing.assert_array_equal(labels["boxes"][0, : len(rows)], expected)
    assert labels["classes"][0].tolist() == [0] * len(rows) + [-1] * (20 - len(rows))
    assert not labels["ignored"].any()
    # Empty lines are left out.
    sample = trees().root
    (tmp_path / "03.jpg").write_bytes((sample / "03.jpg").read_bytes())
    (tmp_path / "boxes.csv").write_text(
        "file,source,xmin,ymin,xmax,ymax,label\n\n03.jpg,p,1,2,30,40,Tree\n\n"
    )
    (photograph,) = trees(data_dir=str(tmp_path)).splits[Mode.TRAIN].content
    assert [mark.record for mark in photograph.marks] == ["line 3"]


@pytest.mark.parametrize("name", ["../03.jpg", "/etc/passwd", "a\\..\\..\\03.jpg"])
def test_photographs_lie_in_the_data_folder(tmp_path, name):
    text = f"file,source,xmin,ymin,xmax,ymax,label\n{name},p,1,2,30,40,Tree\n"
    (tmp_path / "boxes.csv").write_text(text)
    with pytest.raises(DataError, match="boxes.csv: the path .* leads out of the data folder"):
        trees(data_dir=str(tmp_path))


@pytest.mark.slow
def test_training_is_varied_and_resumes_exactly():
    check_exact_resume(trees(), batch_size=4, steps=10)
    # Training is varied and stays of one size.
    of = trees()
    batches = read_elements(of.dataset(Mode.TRAIN, InputContext(batch_size=4)), 2)
    assert {features["image"].shape for features, _ in batches} == {(4, 200, 200, 3)}
    boxes = np.concatenate([labels["boxes"].reshape(-1, 4) for _, labels in batches])
    real = np.concatenate([labels["classes"].reshape(-1) for _, labels in batches]) == 0
    assert (boxes[real][:, 2:] > boxes[real][:, :2]).all()
    assert 0 <= boxes.min() <= boxes.max() <= 200
    assert (boxes[real] % 1 != 0).any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "boxes.csv does not begin with the line file,source,xmin"),
        (f"file,source,xmin,ymin,xmax,ymax,label\n{'a' * 200000}\n", "boxes.csv is no CSV: field"),
        (
            "file,source,xmin,ymin,xmax,ymax,label\na.png,p,1,2,3\n",
            "line 2: it has 5 fields instead",
        ),
        ("file,source,xmin,ymin,xmax,ymax,label\na.png,p,1,2,3,x,T\n", "something that is no num"),
    ],
)
def test_a_wrong_file_of_boxes_is_named(tmp_path, text, message):
    (tmp_path / "boxes.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        trees(data_dir=str(tmp_path))
