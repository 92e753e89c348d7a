import os

import pytest

from made_up_runs import alive
from tf_frame.runs.records.record import find_runs, read_record


def test_runs_are_found_below_folders_but_not_inside_of_runs(make_run, tmp_path):
    first, second = make_run("a/first"), make_run("b/c/second", config=None)
    os.makedirs(f"{first}/eval/config.yaml")
    (tmp_path / "notes.txt").write_text("no folder")
    assert list(find_runs([str(tmp_path)])) == [first, second]
    assert list(find_runs([second])) == [second]


def test_links_and_hidden_folders(make_run, tmp_path):
    run = make_run("a/run")
    make_run("a/.run.removed-7")
    (tmp_path / "a" / "circle").symlink_to(tmp_path)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "link").symlink_to(run)
    assert list(find_runs([str(tmp_path)])) == [run, str(tmp_path / "b" / "link")]


def test_a_folder_that_cannot_be_read_is_a_row_that_says_so(make_run, tmp_path, monkeypatch):
    folder = str(tmp_path / "closed")
    os.mkdir(folder)
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != folder and access(path, mode))
    assert list(find_runs([str(tmp_path)])) == [folder]
    record = read_record(folder, alive)
    assert (record.state, record.fault) == ("damaged", "the folder cannot be read")


def test_the_facts_of_a_run(make_run):
    folder = make_run(
        "run",
        result={"steps_per_sec": 2.5, "metrics": {"mean_iou": 0.8, "loss": 0.6}},
        evaluations=[(10, 0.5, 0.9), (20, 0.6, 0.8)],
    )
    record = read_record(folder, alive)
    assert (record.state, record.step, record.max_steps, record.fault) == ("done", 20, 20, "")
    assert (record.metric, record.best, record.last) == ("mean_iou", 0.9, 0.8)
    assert (record.steps_per_sec, record.secs) == (2.5, 7.5)
    assert record.blocks == {"plugin": " deeplab"}


def test_the_metric_of_the_best_checkpoints_is_the_main_one(make_run):
    config = "keep_best: 2\nbest_metric: loss\nbest_mode: max\n"
    folder = make_run("run", config=config, evaluations=[(10, 0.5, 0.9), (20, 0.6, 0.8)])
    record = read_record(folder, alive)
    assert (record.metric, record.best, record.last) == ("loss", 0.6, 0.6)


def test_a_run_of_another_machine_is_not_gone(make_run):
    folder = make_run("run", status={"state": "training", "step": 7, "host": "elsewhere"})
    assert read_record(folder, alive).state == "training"
    assert read_record(folder, alive, now=os.stat(folder).st_mtime + 100).state == "silent"


def test_a_run_without_a_status_has_made_no_step(make_run):
    record = read_record(make_run("run", status=None), alive)
    assert (record.state, record.step) == ("no step", None) and record.time > 0


@pytest.mark.parametrize(
    ("name", "content"),
    [("tasks/chief-0.json", b"{"), ("config.yaml", b"\xff\xfe\x00"), ("metrics.csv", b"\x81")],
)
def test_a_damaged_run_says_so(make_run, name, content):
    folder = make_run("run")
    with open(f"{folder}/{name}", "wb") as file:
        file.write(content)
    record = read_record(folder, alive)
    assert record.state == "damaged" and name.rpartition("/")[2] in record.fault
