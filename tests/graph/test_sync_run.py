"""A whole run with `--sync_replicas`, of one worker."""

import pytest

from tf_frame.estimator.training import train as training
from tf_frame.estimator.training.run import run
from tf_frame.graph.update.sync_replicas import SyncReplicasHook
from tf_frame.session.interrupts import Interrupts
from tf_frame.testing.toy import ToyInput, ToyModel, make_job

# What synchronises may wait for ever.
pytestmark = pytest.mark.timeout(60)


def test_the_session_gets_the_hook_without_which_workers_wait_for_ever(tmp_path, monkeypatch):
    real = training.monitored_session

    def watched(*args, **how):
        assert [type(hook) for hook in how["hooks"]].count(SyncReplicasHook) == 1
        return real(*args, **how)

    monkeypatch.setattr(training, "monitored_session", watched)
    job = make_job(ToyModel, ToyInput, str(tmp_path), max_steps=3, sync_replicas=True)
    result = run(job, source=job.make_input(), interrupts=Interrupts(), report=lambda line: None)
    assert result["global_step"] >= 3
