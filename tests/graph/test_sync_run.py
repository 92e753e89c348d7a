"""A whole run with `--sync_replicas`, of one worker."""

import pytest

from tf_frame.estimator.training import train as training
from tf_frame.graph.update.sync_replicas import SyncReplicasHook
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup

# What synchronises may wait for ever.
pytestmark = pytest.mark.timeout(60)


def test_the_session_gets_the_hook_without_which_workers_wait_for_ever(tmp_path, monkeypatch):
    real = training.monitored_session

    def watched(*args, **how):
        assert [type(hook) for hook in how["hooks"]].count(SyncReplicasHook) == 1
        return real(*args, **how)

    monkeypatch.setattr(training, "monitored_session", watched)
    setup = make_setup(ToyModel, ToyInput, str(tmp_path), max_steps=3, sync_replicas=True)
    result = run_setup(setup, report=lambda line: None)
    assert result["global_step"] >= 3
