import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo, Mode, ModelOutput
from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError
from tf_frame.graph.inference.build_inference import build_inference, restore_session
from tf_frame.runs.export.formats import checkpoint as checkpoint_format
from tf_frame.runs.export.verify import DifferenceError

from ..conftest import STEP, B, Classifier, W, X


def read_values(path):
    reader = tf.train.load_checkpoint(path)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def test_it_holds_the_variables_of_the_model_and_the_step_alone(export, tmp_path, variable_mode):
    exported = export("checkpoint")
    assert exported.path == str(tmp_path / "out" / f"model.ckpt-{STEP}")
    values = read_values(exported.path)
    assert sorted(values) == ["global_step", "net/b", "net/w"]
    assert values["global_step"] == STEP
    np.testing.assert_array_equal(values["net/w"], W)
    np.testing.assert_array_equal(values["net/b"], B)
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {
        "checkpoint",
        f"model.ckpt-{STEP}.index",
        f"model.ckpt-{STEP}.data-00000-of-00001",
    }


def test_averages_take_the_places_of_the_variables(export):
    exported = export("checkpoint", options={"moving_average_decay": 0.9})
    values = read_values(exported.path)
    assert sorted(values) == ["global_step", "net/b", "net/w"]
    np.testing.assert_array_equal(values["net/w"], 2 * W)
    np.testing.assert_array_equal(values["net/b"], 2 * B)
    assert exported.comparison.largest_difference == 0


def test_the_model_is_restored_from_its_folder_wherever_that_is(export, tmp_path):
    export("checkpoint")
    (tmp_path / "out").rename(tmp_path / "moved")
    path = newest_checkpoint(str(tmp_path / "moved"))
    assert path == str(tmp_path / "moved" / f"model.ckpt-{STEP}")
    with tf.Graph().as_default():
        inference = build_inference(
            model=Classifier(params=None, info=InputInfo()),
            features={"x": tf.constant(X)},
            labels=None,
            mode=Mode.PREDICT,
            config=RunOptions(),
        )
        with restore_session(inference, path) as session:
            found = session.run(inference.output.predictions["logits"])
    np.testing.assert_allclose(found, X @ W + B, rtol=1e-6)


class Partitioned(Classifier):
    def build(self, features, labels, mode):
        partitioner = tf.fixed_size_partitioner(3)
        w = tf.get_variable("net/w", [3, 4], partitioner=partitioner, use_resource=False)
        logits = tf.matmul(features["x"], tf.convert_to_tensor(w))
        return ModelOutput(predictions={"logits": logits + tf.get_variable("net/b", [4])})


def test_the_parts_of_a_partitioned_variable_are_one_again(export):
    np.testing.assert_array_equal(
        read_values(export("checkpoint", model=Partitioned).path)["net/w"], W
    )


def test_it_is_loaded_again_and_compared(request_of, tmp_path, monkeypatch):
    request = request_of()
    restored = checkpoint_format.restore_serving

    def of_other_averages(request, *arguments):
        """Restores the first time as asked, then what is twice as large."""
        if request.checkpoint.startswith(str(tmp_path / "out")):
            config = RunOptions(moving_average_decay=0.9)
            request = type(request)(request.model, config, first, request.inputs, request.tolerance)
        return restored(request, *arguments)

    first = request.checkpoint
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(checkpoint_format, "restore_serving", of_other_averages)
    with pytest.raises(DifferenceError, match="output logits differ"):
        checkpoint_format.export(request, str(tmp_path / "out"))


def test_the_folder_of_the_run_is_never_written_to(export, tmp_path):
    message = "run holds checkpoints of a run; take another --output"
    before = sorted((tmp_path / "run").iterdir())
    for overwrite in (False, True):
        with pytest.raises(ConfigError, match=message):
            export("checkpoint", output=str(tmp_path / "run"), overwrite=overwrite)
    assert sorted((tmp_path / "run").iterdir()) == before


def test_nor_is_a_folder_with_checkpoints_of_other_steps(export, tmp_path, checkpoint):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "model.ckpt-3.index").write_bytes(b"")
    with pytest.raises(ConfigError, match="other holds checkpoints of a run"):
        export("checkpoint", output=str(tmp_path / "other"), overwrite=True)
    exported = export("checkpoint")
    again = export("checkpoint", overwrite=True, options={"moving_average_decay": 0.9})
    assert again.path == exported.path
    np.testing.assert_array_equal(read_values(again.path)["net/w"], 2 * W)
