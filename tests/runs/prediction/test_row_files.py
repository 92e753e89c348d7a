import csv
import json
import math
import os
import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame.errors import ConfigError
from tf_frame.runs.prediction.row_files import PredictionCsv, PredictionJsonLines
from tf_frame.text import spreadsheet_cell
from tf_frame.text_file import read_csv


@pytest.fixture(params=[PredictionJsonLines, PredictionCsv], ids=["jsonl", "csv"])
def rows(request, tmp_path):
    writer = request.param(str(tmp_path))
    yield writer
    writer.close()


def read_lines(writer):
    with open(writer.path, encoding="utf-8") as file:
        return file.read().splitlines()


def written_by(writer, predictions):
    for number, prediction in enumerate(predictions):
        writer(f"example {number}", None, prediction)
    writer.close()
    return writer


def read_objects(tmp_path, *predictions):
    lines = read_lines(written_by(PredictionJsonLines(str(tmp_path)), predictions))
    return [json.loads(line, parse_constant=pytest.fail) for line in lines]


def read_table(tmp_path, *predictions):
    path = written_by(PredictionCsv(str(tmp_path)), predictions).path
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_files_are_called_after_their_format(tmp_path):
    assert PredictionJsonLines(str(tmp_path)).path == str(tmp_path / "predictions.jsonl")
    assert PredictionCsv(str(tmp_path)).path == str(tmp_path / "predictions.csv")


def test_there_is_no_file_before_the_first_row(rows, tmp_path):
    rows.close()
    assert list(tmp_path.iterdir()) == []


def test_a_row_is_there_as_soon_as_it_is_written_and_a_new_file_replaces_an_earlier_one(rows):
    rows("a", None, {"class": np.int64(3)})
    assert read_lines(rows)[-1] in ('{"name": "a", "class": 3}', "a,3")
    rows("b", None, {"class": np.int64(4)})
    assert read_lines(rows)[-1] in ('{"name": "b", "class": 4}', "b,4")
    rows.close()
    rows.close()  # Closing twice is safe.
    again = type(rows)(rows.path.rpartition("/")[0])
    again("c", None, {"class": np.int64(5)})
    again.close()
    assert read_lines(rows) in (['{"name": "c", "class": 5}'], ["name,class", "c,5"])


def test_json_has_numbers_texts_and_nested_lists(tmp_path):
    prediction = {
        "class": np.int32(3),
        "probabilities": np.array([0.25, 0.75], np.float32),
        "grid": np.array([[1, 2], [3, 4]], np.uint8),
        "label": b"K\xc3\xa4fer",
        "no utf-8": b"\xff!",
        "words": np.array([b"x", b"y"], object),
        "sure": np.bool_(True),
        "nothing": np.zeros([0], np.float32),
    }
    assert read_objects(tmp_path, prediction) == [
        {
            "name": "example 0",
            "class": 3,
            "probabilities": [0.25, 0.75],
            "grid": [[1, 2], [3, 4]],
            "label": "Käfer",
            "no utf-8": "\\xff!",
            "words": ["x", "y"],
            "sure": True,
            "nothing": [],
        }
    ]


def test_a_prediction_without_names_is_called_prediction(tmp_path):
    assert read_objects(tmp_path, np.array([1, 2])) == [{"name": "example 0", "prediction": [1, 2]}]
    assert read_table(tmp_path, np.float32(1.5)) == [{"name": "example 0", "prediction": "1.5"}]


def test_numbers_json_does_not_have_are_null(tmp_path):
    values = np.array([1, math.nan, math.inf, -math.inf], np.float32)
    (row,) = read_objects(tmp_path, {"values": values, "one": np.float64(math.nan)})
    assert row["values"] == [1, None, None, None]
    assert row["one"] is None


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_numbers_are_short_and_read_back_as_they_were(tmp_path, dtype):
    values = np.concatenate([[0.1, 1 / 3, 1e-7], np.random.RandomState(0).randn(50)]).astype(dtype)
    (row,) = read_objects(tmp_path, {"values": values})
    assert np.array(row["values"]).astype(dtype).tolist() == values.tolist()
    (cells,) = read_table(tmp_path, {"values": values})
    found = [float(cells[f"values_{index}"]) for index in range(len(values))]
    assert np.array(found).astype(dtype).tolist() == values.tolist()
    if dtype is np.float32:
        assert repr(row["values"][:2]) == "[0.1, 0.33333334]"


def test_a_table_has_a_column_for_each_number(tmp_path):
    prediction = {
        "class": np.int64(3),
        "probabilities": np.array([0.25, 0.75], np.float32),
        "grid": np.array([[1, 2], [3, 4]]),
        "label": b'a "quoted", word',
    }
    (row,) = read_table(tmp_path, prediction)
    assert row == {
        "name": "example 0",
        "class": "3",
        "probabilities_0": "0.25",
        "probabilities_1": "0.75",
        "grid_0_0": "1",
        "grid_0_1": "2",
        "grid_1_0": "3",
        "grid_1_1": "4",
        "label": 'a "quoted", word',
    }


def test_no_text_of_a_table_is_a_formula(tmp_path):
    rows = PredictionCsv(str(tmp_path), ("=cat", "dog\x1b[2J"))
    rows("-2+3.png", None, {"probabilities": np.array([-0.25, 0.75]), "text": b"@x\r\n"})
    rows.close()
    assert (tmp_path / "predictions.csv").read_text() == (
        "name,probabilities_=cat,probabilities_dog\\u001b[2J,text\n"
        "'-2+3.png,-0.25,0.75,'@x\\u000d\\u000a\n"
    )


@COUNTS
def test_tables_and_lines_are_read_as_they_were_written(tmp_path, count):
    def check(name, text, values):
        prediction = {"text": text.encode(), "values": np.array(values, np.float32)}
        for kind in (PredictionCsv, PredictionJsonLines):
            rows = kind(str(tmp_path))
            for _ in range(2):
                rows(name, None, prediction)
            rows.close()
        header, *rows = read_csv(tmp_path / "predictions.csv")
        assert header == ["name", "text", *(f"values_{n}" for n in range(len(values)))]
        assert rows[0] == rows[1]
        for cell, written in zip(rows[0], (name, text), strict=False):
            assert cell == spreadsheet_cell(written)
            assert not re.match(r"\s*[=+@\t\r-](?![0-9.]+(e[+-]?[0-9]+)?$)", cell)
        assert [np.float32(cell) for cell in rows[0][2:]] == list(map(np.float32, values))
        lines = (tmp_path / "predictions.jsonl").read_text().split("\n")[:-1]
        assert [json.loads(line)["name"] for line in lines] == [name] * 2
        row = json.loads(lines[0])
        assert (row["text"], list(map(np.float32, row["values"]))) == (text, values)

    # NumPy's texts end before a zero. Bytes of file names that are no text are half characters.
    texts = TEXTS.filter(lambda text: not text.endswith("\0"))
    files = strategies.binary(max_size=4).map(os.fsdecode)
    files = files.filter(lambda text: not text.endswith("\0"))
    names = strategies.one_of(texts, strategies.from_regex(r"\A[ ']?[=+@-][0-9a-z.(]{0,4}\Z"))
    values = strategies.lists(
        strategies.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=3
    )
    check_many(check, count, name=strategies.one_of(names, files), text=names, values=values)


def test_a_table_has_one_header_and_a_row_each(tmp_path):
    found = read_table(tmp_path, {"x": np.float32(1)}, {"x": np.float32("nan")})
    assert found == [{"name": "example 0", "x": "1.0"}, {"name": "example 1", "x": "nan"}]


def test_a_table_of_arrays_of_several_sizes_is_refused(tmp_path):
    writer = PredictionCsv(str(tmp_path))
    writer("a", None, np.zeros([2]))
    text = "the prediction for b has 4 columns, earlier ones have 3, .* use --format jsonl"
    with pytest.raises(ConfigError, match=text):
        writer("b", None, np.zeros([3]))
    writer.close()
    assert len(read_lines(writer)) == 2


def test_a_row_that_does_not_fit_on_the_disk_is_not_begun(rows, monkeypatch):
    rows("a", None, {"text": b"first"})
    kept = read_lines(rows)

    class Full:
        """A file that takes ten bytes more."""

        def __init__(self, file):
            self.file = file
            self.room = 10

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, data):
            if not self.room:
                raise OSError(28, "No space left on device")
            taken, self.room = data[: self.room], 0
            return self.file.write(taken)

    monkeypatch.setattr(rows, "_file", Full(rows._file))
    with pytest.raises(OSError, match="No space left"):
        rows("b", None, {"text": b"a second one that is too long"})
    assert read_lines(rows) == kept
    monkeypatch.undo()
    rows("c", None, {"text": b"third"})
    assert read_lines(rows)[:-1] == kept
    assert read_lines(rows)[-1] in ('{"name": "c", "text": "third"}', "c,third")


def test_columns_of_probabilities_have_the_names_of_the_classes(tmp_path):
    rows = PredictionCsv(str(tmp_path), ("cat", "dog"))
    rows("x", None, {"probabilities": np.array([0.25, 0.75]), "box": np.array([1, 2])})
    rows.close()
    assert (tmp_path / "predictions.csv").read_text() == (
        "name,probabilities_cat,probabilities_dog,box_0,box_1\nx,0.25,0.75,1,2\n"
    )


@pytest.mark.parametrize("names", [("cat", "cat"), ("cat", "dog", "emu"), ()])
def test_names_that_do_not_fit_are_not_used(tmp_path, names):
    rows = PredictionCsv(str(tmp_path), names)
    rows("x", None, {"probabilities": np.array([0.25, 0.75])})
    rows.close()
    assert "name,probabilities_0,probabilities_1" in (tmp_path / "predictions.csv").read_text()
