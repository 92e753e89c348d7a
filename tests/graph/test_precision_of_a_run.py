"""A run asks its session for the precision that the options name, or refuses."""

import pytest

from tf_frame.errors import ConfigError
from tf_frame.estimator.training import train as training
from tf_frame.estimator.training.run import run
from tf_frame.session.interrupts import Interrupts
from tf_frame.testing.toy import ToyInput, ToyModel, make_job


def go(tmp_path, **options):
    job = make_job(ToyModel, ToyInput, str(tmp_path), max_steps=1, clone_on_cpu=True, **options)
    return run(job, source=job.make_input(), interrupts=Interrupts(), report=lambda line: None)


def test_a_run_in_float16_on_a_cpu_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="float16 needs a GPU"):
        go(tmp_path, mixed_precision="float16")
    assert not list(tmp_path.glob("model.ckpt*"))


@pytest.mark.parametrize("precision", ["none", "bfloat16"])
def test_the_session_gets_the_rewrites(tmp_path, monkeypatch, precision):
    seen = []
    real = training.monitored_session

    def watched(*args, **how):
        seen.append(how["config"].graph_options.rewrite_options)
        return real(*args, **how)

    # Whether this machine has bfloat16 products is another matter.
    monkeypatch.setattr("tf_frame.graph.precision.product_types", lambda proto: {"bfloat16"})
    monkeypatch.setattr(training, "monitored_session", watched)
    assert go(tmp_path, mixed_precision=precision)["global_step"] == 1
    (rewrites,) = seen
    asked = rewrites.auto_mixed_precision_onednn_bfloat16 == rewrites.ON
    assert asked is (precision == "bfloat16")
