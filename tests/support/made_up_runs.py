"""Folders of runs, made by hand."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from tf_frame.cluster.status import TaskStatus, write_status

HEADER = "step,split,time,loss,mean_iou\n"


def ended_process():
    """Returns the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


def make_run(
    folder,
    *,
    pid,
    config="plugin: deeplab\n",
    status=(),
    result=None,
    evaluations=(),
    train=((10, 0.9),),
):
    """Makes the folder of a run.

    `status` are fields of its `TaskStatus`, None: it has none; `evaluations` are steps, losses and
    mean_iou; `train` steps and losses.
    """
    folder = Path(folder)
    folder.mkdir(parents=True)
    if config is not None:
        (folder / "config.yaml").write_text(f"# Written by tf-frame\n{config}")
    if status is not None:
        facts = {"state": "ended", "step": 20, "max_steps": 20, "pid": pid}
        facts = {**facts, "host": socket.gethostname(), "time": time.time() - 5, **dict(status)}
        write_status(str(folder), TaskStatus(task="chief-0", **facts))
    if result is not None:
        facts = {"global_step": 20, "time": time.time(), "duration_secs": 7.5, **result}
        (folder / "result.json").write_text(json.dumps(facts))
    rows = [f"{step},train,2026-01-01,{loss},\n" for step, loss in train]
    rows += [f"{step},eval,2026-01-01,{loss},{iou}\n" for step, loss, iou in evaluations]
    (folder / "metrics.csv").write_text(HEADER + "".join(rows))
    return str(folder)


def alive(pid):
    """As if no process had ended but the one of `ended_process`."""
    return pid == os.getpid()
