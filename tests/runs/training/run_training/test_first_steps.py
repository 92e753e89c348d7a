"""Checkpoints of a run that fails at its first steps."""

import dataclasses

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.testing.toy import ToyInput

from ..conftest import OneEpoch


class Failing(ToyInput):
    """Its third example cannot be read, unless the option says that it is left out."""

    @dataclasses.dataclass(frozen=True)
    class Params(ToyInput.Params):
        skip: bool = option(False, "leave the example out")

    def dataset(self, mode, context):
        data = super().dataset(mode, context)
        if self.params.skip:
            return data
        return data.map(lambda x, y: (x + tf.strings.to_number("bad"), y))


def checkpoints_in(folder):
    return sorted(path.name for path in folder.iterdir() if "ckpt" in path.name)


@pytest.mark.parametrize("asynchronous", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_first_batch_that_fails_leaves_no_checkpoint(go, tmp_path, asynchronous):
    (tmp_path / "notes").write_text("mine")
    options = {"source": Failing, "max_steps": 2, "async_checkpoint": asynchronous}
    with pytest.raises(DataError, match="could not correctly convert string"):
        go(**options)
    assert checkpoints_in(tmp_path) == []
    assert not (tmp_path / "checkpoint").exists()
    assert (tmp_path / "notes").read_text() == "mine"
    # The mended command would not fit the checkpoint: other options of the input, another model.
    result, said = go(**options, values={"input.skip": True}, optimizer="adam")
    assert result["global_step"] == 2 and "resuming" not in said


def test_data_without_a_batch_leaves_no_checkpoint(go, tmp_path):
    with pytest.raises(DataError, match="training split of the input 'toy' of tests 0 is empty"):
        go(source=OneEpoch, max_steps=2, values={"input.num_examples": 0})
    assert checkpoints_in(tmp_path) == []
    assert go(max_steps=2)[0]["global_step"] == 2


@pytest.mark.slow
def test_a_resumed_run_that_fails_at_its_first_batch_loses_nothing(go, tmp_path):
    go(source=Failing, max_steps=2, values={"input.skip": True})
    before = {name: (tmp_path / name).read_bytes() for name in checkpoints_in(tmp_path)}
    listed = (tmp_path / "checkpoint").read_bytes()
    with pytest.raises(DataError):
        go(source=Failing, max_steps=4, allow_inexact_resume=True)
    assert {name: (tmp_path / name).read_bytes() for name in checkpoints_in(tmp_path)} == before
    assert (tmp_path / "checkpoint").read_bytes() == listed
