"""`tf-frame status`: tables and JSON of status files, of this machine and others."""

import datetime
import json
import os
import socket
import subprocess
import sys
import time

import pytest

from tf_frame.cluster.status import TaskStatus, write_status
from tf_frame.file_lock import file_lock
from tf_frame.runs.setup.folder_claim import launching

HOST = socket.gethostname()


def write(folder, task, *, age=3.0, state="training", pid=None, host=HOST, **values):
    pid = os.getpid() if pid is None else pid
    seen = time.time() - age
    task_status = TaskStatus(task=task, state=state, time=seen, pid=pid, host=host, **values)
    write_status(str(folder), task_status)


@pytest.fixture
def ended_pid():
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


def test_a_job(run, tmp_path, ended_pid):
    rates = {"max_steps": 500, "steps_per_sec": 3.25, "runs_per_sec": 1.5}
    write(tmp_path, "worker-10", step=119, staleness=0.75, host="elsewhere", **rates)
    write(tmp_path, "worker-2", age=95.2, step=60, pid=ended_pid, **rates)
    write(tmp_path, "chief-0", step=120, **rates)
    write(tmp_path, "ps-0", state="serving")
    write(tmp_path, "evaluator-0", state="ended", age=100, pid=ended_pid)
    code, out, err = run(tmp_path)
    assert (code, err) == (0, "")
    heading, *lines = out.splitlines()
    assert heading == f"{tmp_path}: step 120 of 500, 3.25 steps/s"
    rows = [" ".join(line.split()) for line in lines]
    me = f"pid {os.getpid()} on {HOST}, alive"
    assert rows == [
        "TASK STATE HEARTBEAT STEP RUNS/S STALENESS PROCESS",
        f"chief-0 training 3 s ago 120 1.50 - {me}",
        f"evaluator-0 ended 100 s ago - - - pid {ended_pid} on {HOST}, gone",
        f"ps-0 serving 3 s ago - - - {me}",
        f"worker-2 training no heartbeat for 95 s 60 1.50 - pid {ended_pid} on {HOST}, gone",
        f"worker-10 training 3 s ago 119 1.50 0.75 pid {os.getpid()} on elsewhere",
    ]


def test_a_job_does_not_pass_its_last_step(run, tmp_path):
    write(tmp_path, "chief-0", step=80, max_steps=80)
    write(tmp_path, "worker-0", step=81, max_steps=80)
    assert run(tmp_path)[1].startswith(f"{tmp_path}: step 80 of 80\n")


def test_a_single_process_before_its_first_step(run, tmp_path):
    write(tmp_path, "chief-0", state="starting", age=-5)  # A clock that is ahead.
    code, out, _ = run(tmp_path)
    assert code == 0
    assert out.startswith(f"{tmp_path}: no step yet\n")
    assert "0 s ago" in out


def test_json(run, tmp_path):
    write(tmp_path, "chief-0", age=40, step=7)
    write(tmp_path, "worker-0", host="elsewhere")
    code, out, _ = run(tmp_path, "--json")
    chief, worker = json.loads(out)
    assert code == 0
    assert (chief["task"], chief["step"]) == ("chief-0", 7)
    assert (chief["silent"], chief["alive"], chief["end"]) == (True, True, None)
    assert chief["heartbeat_age_secs"] >= 40
    assert (worker["silent"], worker["alive"]) == (False, None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["FOLDER"], "has no status files"),
        (["FOLDER/none"], "there is no such folder"),
        (["FOLDER", "other"], "takes one folder, MODEL_DIR; given: "),
        (["FOLDER", "--jsn"], "did you mean --json?"),
    ],
)
def test_what_is_no_run(run, tmp_path, words, message):
    code, out, err = run(*(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_runs_in_a_folder_and_near_names_are_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ones", "two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "config.yaml").touch()
    assert run("runs")[2].endswith("from its start; it holds the runs runs/ones, runs/two\n")
    assert run("runs/owns")[2].endswith("no such folder; did you mean runs/ones?\n")


def test_files_of_other_programs_are_no_statuses(run, tmp_path):
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/chief-0.json").write_text("{")
    (tmp_path / "tasks/list.json").write_text("[]")
    write(tmp_path, "worker-1", pid="abc")
    assert "has no status files" in run(tmp_path)[2]
    write(tmp_path, "worker-0", step=3)
    assert run(tmp_path)[0] == 0


METRICS = "step,split,time,loss,learning_rate,steps_per_sec,accuracy\n"
EVALUATIONS = "40,eval,t,0.5,,,0.9\n80,train,t,0.4,0.1,3.0,\n80,eval,t,0.6,,,0.875\n9,ev"


@pytest.fixture
def ended_run(tmp_path, ended_pid):
    """Writes the files of a run that is over; returns its folder."""

    def ended_run(*, state="ended", step=80, reason=None, pid=ended_pid, **result):
        write(tmp_path, "chief-0", state=state, step=step, max_steps=80, reason=reason, pid=pid)
        (tmp_path / "metrics.csv").write_text(METRICS + EVALUATIONS)
        for name in ("model.ckpt-40.index", "model.ckpt-80.index", "best/model.ckpt-40.index"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).touch()
        if result:
            (tmp_path / "result.json").write_text(json.dumps({"stopped_by": None, **result}))
        return tmp_path

    return ended_run


END = time.time() + 10_000  # After the evaluation.
DONE = {"global_step": 80, "duration_secs": 3723.4, "steps_per_sec": 9.5, "time": END}


def test_a_run_that_is_done(run, ended_run):
    folder = ended_run(**DONE, metrics={"accuracy": 0.875, "loss": 0.6})
    (folder / "export/saved_model").mkdir(parents=True)
    code, out, _ = run(folder)
    first, ended, *rows = out.splitlines()
    assert (code, first) == (0, f"{folder}: done, step 80 of 80")
    when = datetime.datetime.fromtimestamp(END).strftime("%Y-%m-%d %H:%M:%S")
    assert ended == f"  ended        {when}, after 1:02:03, 9.50 steps/s"
    assert rows == [
        "  evaluation   step 80: accuracy 0.8750  loss 0.6000",
        "  best         accuracy 0.9000 at step 40",
        "  checkpoints  2, the newest of step 80; best: step 40",
        "  exports      export/saved_model",
        f"  next         tf-frame predict {folder} --input FILES",
    ]


def test_an_input_that_reads_no_files_predicts_on_its_evaluation_split(run, ended_run):
    folder = ended_run(**DONE, predicts_files=False)
    assert run(folder)[1].endswith(f"  next         tf-frame predict {folder}\n")


def test_json_has_the_end_of_the_run(run, ended_run):
    folder = ended_run(step=60, global_step=60, stopped_by="SIGTERM")
    (chief,) = json.loads(run(folder, "--json")[1])
    assert chief["end"] == {
        "how": "stopped by SIGTERM",
        "cause": None,
        "metrics_step": 80,
        "metrics": {"loss": 0.6, "accuracy": 0.875},
        "newest_checkpoint_step": 80,
        "next": f"tf-frame run --model_dir {folder}",
    }


def test_the_best_metric_is_the_one_that_the_run_keeps(run, ended_run):
    folder = ended_run(**DONE, metrics={"accuracy": 0.875})
    (folder / "config.yaml").write_text("keep_best: 1\nbest_metric: loss\n")
    assert "  best         loss 0.5000 at step 40\n" in run(folder)[1]


@pytest.mark.parametrize(
    ("facts", "first"),
    [
        ({"step": 60, "global_step": 60, "stopped_by": "SIGTERM"}, "stopped by SIGTERM, step 60"),
        ({"step": 60, "global_step": 60}, "ended early, step 60"),
        ({"state": "failed", "reason": "the loss is nan"}, "failed, step 80"),
        ({"state": "training", "step": 41}, "ended without a result: its process is gone, step 80"),
        # A result of an earlier run in the folder.
        ({"state": "training", "step": 41, **DONE}, "ended without a result: its process is g"),
    ],
)
def test_a_run_that_is_over_but_not_done_says_how_it_goes_on(run, ended_run, facts, first):
    folder = ended_run(**facts)
    out = run(folder)[1]
    assert out.startswith(f"{folder}: {first}")
    assert f"  next         tf-frame run --model_dir {folder} goes on" in out
    assert ("  cause        the loss is nan\n" in out) == ("reason" in facts)


def test_a_job_goes_on_by_the_launcher(run, ended_run):
    folder = ended_run(step=60, global_step=60, stopped_by="SIGTERM")
    write(folder, "chief-0", state="ended", step=60, max_steps=80, num_workers=2, num_ps=0)
    out = run(folder)[1]
    assert f"  next         tf-frame launch --num_workers 2 -- run --model_dir {folder} go" in out


def test_a_job_that_its_launcher_restarts_is_not_over(run, ended_run):
    folder = ended_run(state="training", step=41)
    write(folder, "worker-0", step=41)
    with launching(str(folder)):
        first, heading, *tasks = run(folder)[1].splitlines()
    assert first == f"{folder}: restarting; the launcher is alive, step 80 of 80"
    assert heading.startswith("  TASK") and len(tasks) == 2
    assert "its process is gone" in run(folder)[1]


def test_a_run_that_diverged_begins_anew_with_a_lower_learning_rate(run, ended_run):
    folder = ended_run(state="failed")
    loss = "the loss is nan at global step 63"
    write(folder, "chief-0", state="failed", step=63, reason=loss, diverged=True)
    (folder / "config.yaml").write_text("learning_rate: 9.0\n")
    for name in ("model.ckpt-80.index", "metrics.csv"):
        (folder / name).unlink()
    first, _, cause, checkpoints, following = run(folder)[1].splitlines()
    assert (first, cause) == (f"{folder}: failed, step 63", f"  cause        {loss}")
    assert checkpoints == "  checkpoints  1, the newest of step 40; best: step 40"
    command = f"tf-frame run --config {folder}/config.yaml --learning_rate 0.9"
    assert following == f"  next         {command}"


def test_other_workers_may_have_made_steps_after_the_last_one_of_the_chief(run, ended_run):
    folder = ended_run(**{**DONE, "global_step": 82, "time": time.time() + 1})
    assert run(folder)[1].startswith(f"{folder}: done, step 82 of 80\n")


def test_a_process_that_has_only_begun_to_run_in_the_folder_is_named(run, ended_run):
    folder = ended_run(**DONE)
    with file_lock(str(folder / "run.lock")):
        code, out, _ = run(folder)
        assert json.loads(run(folder, "--json")[1])[0]["end"] is None
    me = f"process {os.getpid()} on {socket.gethostname()}"
    assert (code, out) == (0, f"{folder}: starting; {me} has begun to run in it\n")
    assert run(folder)[1].startswith(f"{folder}: done")


def test_the_result_of_an_earlier_run_is_none_of_the_last_one(run, ended_run):
    folder = ended_run(**{**DONE, "time": time.time() - 1000})
    assert run(folder)[1].startswith(f"{folder}: ended without a result")


def test_the_last_evaluation_goes_on_after_the_last_step(run, ended_run):
    folder = ended_run(pid=os.getpid(), **{**DONE, "global_step": 40})
    assert run(folder)[1].startswith(f"{folder}: step 80 of 80\n  TASK")


def test_a_job_that_is_over_still_shows_its_tasks(run, ended_run):
    folder = ended_run(**DONE)
    write(folder, "worker-0", state="ended", step=80)
    out = run(folder)[1]
    assert out.startswith(f"{folder}: done") and "\n  TASK" in out and "\n  worker-0  " in out
