"""The preset of the Inception trainer as a job: a parameter server and two synchronous workers."""

import json
import os
import sys

import pytest

import forked
from tf_frame.launch.watchdog import is_there

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

JOB = ["launch", "--num_ps", "1", "--num_workers", "2", "--", "run", "--plugin", "classification"]
PRESET = ["--preset", "inception_distributed", "--model.name", "lenet", "--max_steps", "200"]


@pytest.mark.slow
def test_it_learns_and_ends_by_itself(tmp_path):
    done = forked.run(
        [sys.executable, "-m", "tf_frame", *JOB, *PRESET, "--model_dir", str(tmp_path / "run")],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    result = json.loads((tmp_path / "run/result.json").read_text())
    assert result["global_step"] == 200
    assert result["metrics"]["accuracy"] > 0.8
    tasks = [json.loads(path.read_text()) for path in (tmp_path / "run/tasks").glob("*.json")]
    assert {task["task"]: task["state"] for task in tasks} == dict.fromkeys(
        ["chief-0", "worker-0", "ps-0"], "ended"
    )
    assert not [task for task in tasks if is_there(task["pid"])]
