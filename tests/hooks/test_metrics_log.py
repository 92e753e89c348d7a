import csv

import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame import ClassMetric
from tf_frame.hooks.metrics_log import EVAL, TRAIN, MetricsCsv, MetricsLog
from tf_frame.text import spreadsheet_cell

FIXED = ("step", "split", "time")


class Kept:
    def __init__(self):
        self.figures, self.closed = [], 0

    def write(self, split, step, values):
        self.figures.append((split, step, values))

    def close(self):
        self.closed += 1


class Failing(Kept):
    def write(self, split, step, values):
        raise OSError("no room")


def test_every_logger_gets_the_figures_in_order_and_is_closed_once():
    first, second = Kept(), Kept()
    log = MetricsLog()
    log.add(first)
    log.write(TRAIN, 10, {"loss": 0.5, "steps_per_sec": None})
    log.add(second)
    log.write(EVAL, 10, {"accuracy": 1})
    log.close()
    log.close()
    assert first.figures == [(TRAIN, 10, {"loss": 0.5}), (EVAL, 10, {"accuracy": 1.0})]
    assert second.figures[-1:] == first.figures[-1:]
    assert (first.closed, second.closed) == (1, 1)


def test_a_logger_that_fails_is_reported_once_and_the_others_go_on():
    reported, kept = [], Kept()
    log = MetricsLog(report=reported.append)
    log.add(Failing())
    log.add(kept)
    log.write(TRAIN, 1, {"loss": 1.0})
    log.write(TRAIN, 2, {"loss": 1.0})
    log.close()
    assert reported == ["warning: Failing gets no more figures: OSError: no room"]
    assert [step for _, step, _ in kept.figures] == [1, 2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "metrics.csv"


def rows(path):
    with path.open(newline="") as file:
        return [{k: v for k, v in row.items() if k != "time"} for row in csv.DictReader(file)]


def write(path, *figures, last_step=0):
    table = MetricsCsv(str(path), last_step=last_step)
    for split, step, values in figures:
        table.write(split, step, values)
    table.close()


def test_columns_grow_with_the_figures(path):
    write(path, (TRAIN, 10, {"loss": 0.25}), (EVAL, 10, {"accuracy": 0.7, "loss": 1e-9}))
    assert rows(path) == [
        {"step": "10", "split": "train", "loss": "0.25", "accuracy": ""},
        {"step": "10", "split": "eval", "loss": "1e-09", "accuracy": "0.7"},
    ]


def test_a_class_without_a_figure_keeps_its_column_and_a_loss_that_is_not_finite_is_seen(path):
    def figures(cat, dog):
        return {ClassMetric("iou", "cat"): cat, ClassMetric("iou", "dog"): dog, "loss": dog}

    nan = float("nan")
    write(path, (EVAL, 1, figures(0.5, nan)), (EVAL, 2, figures(nan, 0.25)))
    header = path.read_text().splitlines()[0]
    assert header == "step,split,time,iou_cat,iou_dog,loss"
    assert rows(path) == [
        {"step": "1", "split": "eval", "iou_cat": "0.5", "iou_dog": "", "loss": "nan"},
        {"step": "2", "split": "eval", "iou_cat": "", "iou_dog": "0.25", "loss": "0.25"},
    ]
    write(path, (EVAL, 3, figures(nan, nan)), last_step=2)
    assert path.read_text().splitlines()[0] == header


def test_a_resumed_run_goes_on_after_its_checkpoint(path):
    write(path, *((TRAIN, step, {"loss": step}) for step in (10, 20, 30)))
    write(path, (TRAIN, 30, {"loss": 3}), (EVAL, 30, {"loss": 4}), last_step=20)
    assert [(row["split"], row["step"], row["loss"]) for row in rows(path)] == [
        ("train", "10", "10"),
        ("train", "20", "20"),
        ("train", "30", "3"),
        ("eval", "30", "4"),
    ]


def test_a_second_evaluation_of_a_step_replaces_the_first(path):
    write(path, (EVAL, 5, {"loss": 1}), (EVAL, 6, {"loss": 2}), (EVAL, 5, {"loss": 3}))
    assert [(row["step"], row["loss"]) for row in rows(path)] == [("5", "3"), ("6", "2")]


def test_half_a_line_of_a_killed_run_is_removed(path):
    write(path, (TRAIN, 10, {"loss": 1.25}), (TRAIN, 20, {"loss": 1.25}))
    path.write_text(path.read_text()[:-2])
    write(path, last_step=20)
    assert [row["step"] for row in rows(path)] == ["10"]


@pytest.mark.parametrize(
    "saved",
    [
        '\ufeff"loss","split","step","note"\r\n"0.5","train","10","good"\r\n"0.25","eval","20",""\r\n',
        "step;split;time;loss\r\n10;train;01.02.2026;0,5\r\n20;eval;;0,25\r\n",
        "split\tstep\tloss\n train\t10.0\t0.5\ntrain\t10\t0.5\neval\t20\t0.25\tmore\nmine\t\t\n",
    ],
    ids=["quotes", "semicolons", "tabs"],
)
def test_a_file_that_a_spreadsheet_has_saved_is_read_by_its_columns(path, saved):
    path.write_bytes(saved.encode())
    table = MetricsCsv(str(path), last_step=20)
    assert table.has(EVAL, 20) and table.has(TRAIN, 10) and not table.has(EVAL, 10)
    table.write(TRAIN, 30, {"loss": 1})
    read = {(row["split"], row["step"]): float(row["loss"]) for row in rows(path)}
    expected = {("train", "10"): 0.5, ("eval", "20"): 0.25, ("train", "30"): 1.0}
    assert {key: read[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        (b"\xff\x00\x01", "it is no text in UTF-8"),
        (b"a,b\n1,2\n", "it has no columns step and split"),
        (b"step,split\n1," + b"x" * 140_000 + b"\n", "field larger than field limit"),
    ],
)
def test_a_damaged_file_is_kept_aside(path, damaged, reason):
    said = []
    path.write_bytes(damaged)
    table = MetricsCsv(str(path), last_step=20, report=said.append)
    table.write(EVAL, 30, {"loss": 1})
    assert [row["step"] for row in rows(path)] == ["30"]
    assert path.with_name("metrics.csv.damaged").read_bytes() == damaged
    assert len(said) == 1 and reason in said[0] and "metrics.csv.damaged" in said[0]


def test_a_name_with_a_comma_stays_one_column(path):
    write(path, (EVAL, 1, {'recall of "a, b"': 0.5}))
    assert rows(path)[0]['recall of "a, b"'] == "0.5"


@COUNTS
def test_figures_are_read_as_they_were_written_by_a_run_that_goes_on(path, count):
    def check(rows_of_names):
        path.unlink(missing_ok=True)
        for step, values in enumerate(rows_of_names):
            write(path, (EVAL, step, values), last_step=step)
        for row, values in zip(rows(path), rows_of_names, strict=True):
            figures = {name: cell for name, cell in row.items() if cell and name not in FIXED}
            expected = {spreadsheet_cell(name): f"{value:.7g}" for name, value in values.items()}
            assert figures == expected

    names = TEXTS.filter(lambda name: name not in FIXED)
    values = strategies.floats(width=32, allow_nan=False)
    figures = strategies.dictionaries(names, values, min_size=1, max_size=3)
    check_many(check, count, rows_of_names=strategies.lists(figures, min_size=1, max_size=3))


def test_a_name_that_is_a_formula_or_has_a_line_end_is_one_column_also_after_a_resume(path):
    values = {"=1": 0.5, "a\nb": 0.25, "-1": 2.0}
    write(path, (EVAL, 1, values))
    write(path, (EVAL, 2, values), last_step=1)
    names = ["'=1", "a\\u000ab", "-1"]
    assert [[row[name] for name in names] for row in rows(path)] == [["0.5", "0.25", "2"]] * 2
    assert len(path.read_text().splitlines()) == 3
