"""`tf-frame runs`: a table of runs, what it selects, and its forms for programs."""

import csv
import io
import json
import os
import socket
import subprocess
import sys
import time

import pytest

from tf_frame.cli import main as command_line
from tf_frame.cluster.status import TaskStatus, write_status


@pytest.fixture
def runs(tmp_path):
    """Three runs of one plugin, and a damaged one; returns their folder."""
    for number, (rate, iou) in enumerate([(0.1, 0.7), (0.3, 0.9), (0.2, 0.8)]):
        folder = tmp_path / f"run-{number}"
        folder.mkdir()
        config = f"plugin: deeplab\nlearning_rate: {rate}\nmodel:\n  depth: 64\n"
        (folder / "config.yaml").write_text(config)
        (folder / "metrics.csv").write_text(f"step,split,time,mean_iou\n20,eval,t,{iou}\n")
        now = time.time() - 100 * number - 50
        facts = {"step": 20, "max_steps": 20, "pid": os.getpid(), "host": socket.gethostname()}
        write_status(str(folder), TaskStatus(task="chief-0", state="ended", time=now - 1, **facts))
        result = {"global_step": 20, "time": now, "duration_secs": 3725.0, "steps_per_sec": 2.0}
        (folder / "result.json").write_text(json.dumps(result))
    (tmp_path / "bad\033[31m" / "tasks").mkdir(parents=True)
    (tmp_path / "bad\033[31m" / "tasks" / "chief-0.json").write_text("{")
    return tmp_path


@pytest.fixture
def call(runs, capsys):
    """Calls the command on the folder; returns its exit code, output and errors."""

    def call(*words):
        code = command_line.main(["runs", str(runs), *words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def table(text):
    return [line.split() for line in text.splitlines()]


def test_the_newest_run_comes_first_and_options_that_differ_have_columns(call):
    code, out, _ = call("--filter", "plugin=deeplab")
    assert code == 0
    heading, *rows = table(out)
    assert heading == [
        *("NAME", "plugin", "STATE", "STEP", "METRIC", "BEST", "LAST", "STEPS/S", "DURATION"),
        *("AGE", "learning_rate"),
    ]
    assert [row[0] for row in rows] == ["run-0", "run-1", "run-2"]
    assert rows[1][2:10] == ["done", "20/20", "mean_iou", "0.9000", "0.9000", "2.00", "1", "h"]
    assert rows[1][-1] == "0.3" and "depth" not in out


def test_options_that_no_line_holds_are_named(call, runs, monkeypatch):
    for number in range(3):
        config = "".join(f"option_{i}: {number}\n" for i in range(30))
        (runs / f"run-{number}" / "config.yaml").write_text(config)
    monkeypatch.setenv("COLUMNS", "120")
    _, out, _ = call("--filter", "state=done")
    heading, *_ = lines = out.splitlines()
    assert 90 < len(heading) <= 120 and heading.split()[-1].startswith("option_")
    assert lines[-1].startswith("the runs differ in option_") and "--columns" in lines[-1]


def test_a_damaged_run_is_a_row_that_says_so_and_steers_no_terminal(call):
    _, out, _ = call()
    (row,) = [line for line in out.splitlines() if " damaged" in line and "bad" in line][:1]
    assert row.split()[1] == "damaged" and "\033" not in out
    assert table(out)[0][-1] == "learning_rate"
    assert "chief-0.json is damaged: " in out


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--sort", "learning_rate"], ["run-0", "run-2", "run-1"]),
        (["--sort", "-best"], ["run-1", "run-2", "run-0"]),
        (["--last", "2", "--sort", "-age"], ["run-1", "run-0"]),
        (["--filter", "best>=0.8 and learning_rate<0.25"], ["run-2"]),
        (["--filter", "age<100 and duration>3600 and model.depth=64"], ["run-0"]),
        (["--filter", "state=failed"], []),
    ],
)
def test_runs_are_sorted_and_selected(call, words, names):
    filtered = words if "--filter" in words else [*words, "--filter", "plugin=deeplab"]
    _, out, _ = call(*filtered, "--columns", "name")
    assert out.split()[1:] == names if names else out == "no runs\n"


def test_forms_for_programs(call):
    _, out, _ = call("--json")
    rows = {row["state"]: row for row in json.loads(out)}
    assert set(rows) == {"done", "damaged"}
    assert rows["done"]["options"]["model.depth"] == "64" and rows["done"]["secs"] == 3725.0
    _, out, _ = call("--csv", "--columns", "name,best,learning_rate", "--sort", "name")
    cells = list(csv.reader(io.StringIO(out)))
    assert cells[0] == ["name", "best", "learning_rate"] and ["run-1", "0.9000", "0.3"] in cells


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--columns", "nme"], "no run has a column or option 'nme'; did you mean 'name'?"),
        (["--sort", "learning_rat"], "did you mean 'learning_rate'?"),
        (["--filter", "best>"], "a word is missing at its end"),
        (["--lst", "2"], "did you mean --last?"),
        (["none"], "there is no folder 'none'; give the folder of your runs"),
    ],
)
def test_wrong_words(call, words, message):
    code, out, err = call(*words)
    assert (code, out) == (2, "") and message in err


def test_it_watches_until_ctrl_c(call, monkeypatch):
    def sleep(secs):
        sleep.times += 1
        if sleep.times == 2:
            raise KeyboardInterrupt

    sleep.times = 0
    monkeypatch.setattr("tf_frame.cli.runs.time.sleep", sleep)
    code, out, err = call("--watch")
    assert code == 130 and out.count("NAME") == 2 and "stopped by Ctrl-C" in err
    assert "\033" not in out
    sleep.times = 0
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert call("--watch")[1].count("\033[2J") == 2


def test_it_imports_neither_tensorflow_nor_numpy(runs):
    program = (
        "import sys; from tf_frame.cli.main import main; main(['runs', sys.argv[1]]); "
        "print(sorted({'tensorflow', 'numpy', 'optuna'} & set(sys.modules)))"
    )
    out = subprocess.check_output([sys.executable, "-c", program, str(runs)], text=True)
    assert out.splitlines()[-1] == "[]"
