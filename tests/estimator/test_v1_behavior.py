"""Whole runs in programs that called `disable_v2_behavior()`."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tf_frame.estimator.training.run import run
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.session.interrupts import Interrupts
from tf_frame.testing.toy import ToyInput, ToyModel, installed_part, make_job

transforms = [installed_part(GRADIENT_TRANSFORM, name, json.loads(values), "t") for name, values in
              [("accumulate", '{"t.steps": 2}'), ("clip_by_global_norm", '{"t.norm": 100}')]]
job = make_job(ToyModel, ToyInput, sys.argv[1], optimizer="adamw", transforms=transforms,
               max_steps=40, learning_rate=0.5, num_clones=2, moving_average_decay=0.9,
               loss_average_decay=0.9, summarize_gradients=True, summarize_variables=True,
               save_summaries_steps=2, loss_scale=8.0, values={"model.l2": 0.001})
result = run(job, source=job.make_input(), interrupts=Interrupts(), say=lambda line: None)
print(json.dumps(result))
"""


@pytest.mark.process
def test_a_run_with_every_part_of_the_graph_learns(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["global_step"] == 40
    assert result["metrics"]["mean_absolute_error"] < 1.0
