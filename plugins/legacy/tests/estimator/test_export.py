import os

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame_legacy import estimator


def receiver_fn():
    features = tf.placeholder(tf.float32, [None, 1], name="x")
    return estimator.export.TensorServingInputReceiver(features, {"x": features})


def test_the_old_name_of_export_exports_and_warns(make, linear, tmp_path, messages):
    regressor = make().train(linear.data(repeat=0))
    base = str(tmp_path / "exports")
    path = regressor.export_savedmodel(base, receiver_fn)
    assert isinstance(path, bytes)
    assert os.path.dirname(path) == base.encode() and os.path.basename(path).isdigit()
    assert any("export_savedmodel is deprecated" in line for line in messages())
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], path.decode())
        signature = loaded.signature_def["serving_default"]
        fed = {signature.inputs["x"].name: linear.x}
        values = session.run(signature.outputs["value"].name, fed)
    np.testing.assert_array_equal(values, linear.x)


def test_extra_files_text_and_an_older_checkpoint_may_be_asked_for(make, linear, tmp_path):
    regressor = make(config=estimator.RunConfig(save_checkpoints_steps=1)).train(linear.data())
    (tmp_path / "words").write_text("a\nb\n")
    older = f"{regressor.model_dir}/model.ckpt-0"
    path = regressor.export_savedmodel(
        str(tmp_path / "exports"), receiver_fn, {"more/words": str(tmp_path / "words")}, True, older
    ).decode()
    assert os.path.exists(f"{path}/saved_model.pbtxt")
    with open(f"{path}/assets.extra/more/words") as file:
        assert file.read() == "a\nb\n"
    weights = tf.train.load_variable(f"{path}/variables/variables", "weight")
    np.testing.assert_array_equal(weights, [1.0])


@pytest.mark.parametrize("method", ["export_savedmodel", "export_saved_model"])
def test_a_receiver_and_a_checkpoint_are_needed(make, linear, tmp_path, method):
    regressor, folder = make(), str(tmp_path / "a")
    export = getattr(regressor, method)
    assert refusal(export, folder, None) == (ValueError, "An input_receiver_fn must be defined.")
    message = f"Couldn't find trained model at {regressor.model_dir}."
    assert refusal(export, folder, receiver_fn) == (ValueError, message)
