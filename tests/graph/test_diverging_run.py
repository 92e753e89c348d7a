"""A loss that is no number ends a run, as the `check_numerics` of the legacy trainers did."""

import pytest

from tf_frame.errors import NonFiniteError
from tf_frame.estimator.training.run import run
from tf_frame.session.interrupts import Interrupts
from tf_frame.testing.toy import ToyInput, ToyModel, make_job


@pytest.mark.parametrize("num_clones", [1, 2])
def test_the_step_is_named_and_not_saved(tmp_path, num_clones):
    job = make_job(
        ToyModel,
        ToyInput,
        str(tmp_path),
        values={"model.nan_at_step": 3},
        max_steps=6,
        num_clones=num_clones,
        save_checkpoint_steps=1,
        save_checkpoint_secs=None,
    )
    with pytest.raises(NonFiniteError, match="the loss is nan at global step [34]"):
        run(job, source=job.make_input(), interrupts=Interrupts(), report=lambda line: None)
    saved = [path.name for path in tmp_path.glob("model.ckpt-*.index")]
    assert "model.ckpt-3.index" in saved
    assert not {"model.ckpt-4.index", "model.ckpt-5.index"} & set(saved)
