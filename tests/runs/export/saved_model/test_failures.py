import dataclasses
import os

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode, ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError, ConfigError, PluginError, TfFrameError
from tf_frame.runs.export.saved_model import export_saved_models

from .conftest import Linear, LoadedModel, X, Y, raw, save, supervised, with_table


@pytest.mark.parametrize("receivers", [{}, {"infer": None}, {"other": raw}, {"infer": raw, "x": 1}])
def test_without_a_mode_there_is_nothing_to_export(tmp_path, checkpoint, receivers):
    with pytest.raises(ValueError, match=r"^No valid modes for exporting found\. Got dict_keys"):
        export_saved_models(
            model=Linear(),
            receivers=receivers,
            config=RunOptions(),
            checkpoint=checkpoint,
            export_dir_base=str(tmp_path / "export"),
        )
    assert not (tmp_path / "export").exists()


def two(output):
    return dataclasses.replace(output, exports={"a": output.predictions, "b": output.predictions})


def broken(output):
    raise RuntimeError("a defect of the model")


def of_another_checkpoint(output):
    tf.get_variable("missing", [2])
    return output


def with_a_saver_of_another_checkpoint(output):
    saver = tf.train.Saver({"gone": tf.get_variable("missing", [2])})
    return dataclasses.replace(output, scaffold=tf.train.Scaffold(saver=saver))


def with_an_object_based_checkpoint(output):
    scaffold = tf.train.Scaffold(saver=tf.train.Checkpoint())
    return dataclasses.replace(output, scaffold=scaffold)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda output: ModelOutput(), PluginError, r"^the model offers nothing to serve"),
        (two, ValueError, r"^Multiple `export_outputs` were provided"),
        (
            with_an_object_based_checkpoint,
            PluginError,
            r"^the saver of the model's scaffold is a Checkpoint; .*use a tf.compat.v1.train.Saver",
        ),
        (broken, RuntimeError, r"^a defect of the model$"),
        (of_another_checkpoint, CheckpointError, r"checkpoint of another model.*\n *missing \[2\]"),
        (
            with_a_saver_of_another_checkpoint,
            CheckpointError,
            r"^Could not load all requested variables from checkpoint\. Please make sure your "
            r"model_fn does not expect variables that were not saved in the checkpoint: .*gone",
        ),
    ],
)
def test_after_an_error_nothing_is_left_behind(exported, tmp_path, change, kind, message):
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(kind, match=message):
        exported(Linear(change))
    assert sorted(os.listdir(tmp_path)) == before


def test_a_damaged_checkpoint_is_an_error_in_plain_words(exported, checkpoint, tmp_path):
    with open(f"{checkpoint}.data-00000-of-00001", "r+b") as file:
        file.truncate(3)
    with pytest.raises(CheckpointError, match=r"model.ckpt-7 cannot be read: \S+"):
        exported()
    assert not (tmp_path / "export").exists()


def test_a_receiver_function_must_return_a_receiver(exported, tmp_path):
    message = (
        r"the receiver function of mode 'infer' returned \{'x': 1\}; it must return a receiver"
    )
    with pytest.raises(ConfigError, match=message):
        exported(receivers={Mode.PREDICT: lambda: {"x": 1}})
    assert not (tmp_path / "export").exists()


def test_an_extra_asset_must_exist_before_anything_is_built(exported):
    def unwanted():
        raise AssertionError("the graph was built")

    with pytest.raises(ConfigError, match=r"assets_extra: there is no file /none"):
        exported(receivers={Mode.PREDICT: unwanted}, assets_extra={"a": "/none"})


def test_a_mode_with_variables_that_the_first_lacks_is_refused(exported, tmp_path):
    class Uneven(Linear):
        def build(self, features, labels, mode):
            if mode == Mode.PREDICT:
                tf.get_variable("extra", [2])
            return super().build(features, labels, mode)

    path = save(tmp_path, extra=np.zeros([2], np.float32))
    message = r"mode 'infer' has variables that the first one of this export has not: extra; expo"
    with pytest.raises(PluginError, match=message):
        exported(Uneven(), {Mode.PREDICT: raw, Mode.EVAL: supervised}, path=path)
    with LoadedModel(exported(Uneven(), path=path)) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y)


def large_variables(output):
    tf.get_variable("large", [100_000])
    return output


def large_graph(output):
    large = tf.constant(np.random.RandomState(0).rand(100_000).astype(np.float32))
    predictions = {"value": output.predictions["value"] + large[0]}
    return dataclasses.replace(output, predictions=predictions)


@pytest.mark.process
@pytest.mark.parametrize("change", [large_variables, large_graph])
def test_on_a_full_disk_nothing_is_left_behind_and_the_export_before_stays(
    exported, small_disk, tmp_path, change
):
    disk, path = small_disk(200), save(tmp_path, large=np.zeros([100_000], np.float32))
    first = exported(path=path)
    with pytest.raises(TfFrameError, match=r"^the SavedModel could not be written.*No space left"):
        exported(Linear(change), path=path)
    assert os.listdir(disk) == [os.path.basename(first)]
    with LoadedModel(first) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y)


@pytest.mark.process
@pytest.mark.parametrize("kind", ["asset", "extra"])
def test_assets_that_find_no_room_leave_nothing_behind(exported, small_disk, tmp_path, kind):
    disk = small_disk(200)
    (tmp_path / "signs.txt").write_text("x" * 300_000)
    with pytest.raises(TfFrameError, match=r"^the SavedModel could not be written.*No space left"):
        if kind == "asset":
            exported(Linear(with_table(tmp_path / "signs.txt")))
        else:
            exported(assets_extra={"a": str(tmp_path / "signs.txt")})
    assert os.listdir(disk) == []
