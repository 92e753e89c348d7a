"""The line of progress of a job, of status files and of the tasks' own lines."""

import io

import pytest

from tf_frame.cluster.status import TaskStatus
from tf_frame.hooks.progress import ProgressHook
from tf_frame.launch.job import Task
from tf_frame.launch.progress import JobProgress

CHIEF, WORKER, PS = Task("chief"), Task("worker"), Task("ps")
LINE = "step 40/100  loss 0.5000  4.00 steps/s  128.0 examples/s  0:15 left"


def status(task, state="training", time=10.0, **values):
    return TaskStatus(task=str(task), state=state, time=time, pid=1, host="h", **values)


@pytest.mark.parametrize(
    ("line", "is_progress"),
    [
        (LINE, True),
        ("step 1/100  loss 1.234e-05", True),
        ("step 1/100  my loss nan", True),
        ("step 1/100  loss -inf", True),
        ("step 40/100  saved", False),
        ("step 40: loss 0.5", False),
        (f"{LINE}  input 43 %", True),
        (f"{LINE} and more", False),
    ],
)
def test_lines_of_a_task(line, is_progress):
    assert JobProgress([CHIEF]).takes(CHIEF, line) == is_progress


@pytest.mark.parametrize("peak", [None, 5e12])
@pytest.mark.parametrize(("rate", "waited"), [(0, 0.0), (2.5, 0.0), (2.5, 3.44)])
def test_the_lines_of_the_hook_are_known(monkeypatch, rate, waited, peak):
    """The format of the hook and the one that is looked for must not part."""
    monkeypatch.setenv("COLUMNS", "120")
    out = io.StringIO()
    figures = {"last_step": 4000, "examples_per_step": 32, "every_steps": 10}
    if peak:
        figures |= {"flops_per_step": 1e12, "peak_flops": peak}
    hook = ProgressHook(None, **figures, out=out)
    hook.step, hook.loss, hook._time, hook._waited = 20, 0.5, 8.0, waited
    hook._show(20 - int(rate * 8), 0.0, 0.0)
    line = out.getvalue().rstrip("\n")
    assert JobProgress([CHIEF]).takes(CHIEF, line)
    assert line.endswith("  input 43 %") == bool(waited)
    assert ("2.5e+03 GFLOP/s (50 %)" in line) == bool(peak and rate)


def test_the_line_of_the_job():
    progress = JobProgress([CHIEF, WORKER, PS])
    assert progress.text([]) == ""
    progress.takes(CHIEF, LINE)
    assert progress.text([]) == LINE
    statuses = [
        status(CHIEF, step=3600, max_steps=9000, steps_per_sec=1.5, runs_per_sec=0.75),
        status(WORKER, state="waiting", step=3599, max_steps=9000),
        status(PS, state="serving"),
        status(Task("worker", 7), step=9999),
    ]
    assert progress.text(statuses) == (
        "step 3600/9000  loss 0.5000  1.50 steps/s  1:00:00 left  "
        "(chief-0 0.75/s, worker-0 waiting)"
    )


def test_a_worker_that_passes_the_last_step_does_not_show():
    statuses = [status(WORKER, step=1305, max_steps=1304)]
    assert JobProgress([CHIEF, WORKER]).text(statuses).startswith("step 1304/1304")


def test_each_task_has_its_own_wait_for_input():
    progress = JobProgress([CHIEF, WORKER])
    progress.takes(CHIEF, LINE)
    progress.takes(WORKER, f"{LINE}  input 43 %")
    statuses = [status(task, step=3, runs_per_sec=2.0) for task in (CHIEF, WORKER)]
    shown = progress.text(statuses)
    assert shown.endswith("(chief-0 2.00/s, worker-0 2.00/s input 43 %)")
    progress.takes(WORKER, LINE)
    assert "input" not in progress.text(statuses)


def test_statuses_of_other_tasks_do_not_count():
    progress = JobProgress([CHIEF])
    assert progress.text([status(WORKER, step=9)]) == ""
    assert progress.text([status(CHIEF, step=7)]) == "step 7"


def test_the_loss_is_that_of_the_chief():
    progress = JobProgress([CHIEF, WORKER])
    progress.takes(WORKER, "step 1/9  loss 2.0000")
    progress.takes(CHIEF, "step 1/9  loss 1.0000")
    progress.takes(WORKER, "step 2/9  loss 3.0000")
    assert progress.text([status(CHIEF, step=2)]) == "step 2  loss 1.0000"
