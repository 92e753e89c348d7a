import dataclasses
import os

import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame.config.option_groups import DeviceOptions
from tf_frame.deploy.session_config import inference_session_config
from tf_frame.estimator import export

from .conftest import (
    PARSING,
    WEIGHTS,
    Linear,
    LoadedModel,
    X,
    Y,
    raw,
    save,
    serialized,
    signature_names,
    supervised,
    with_table,
)


def test_a_model_is_served_by_its_predictions(exported, tmp_path, variable_mode):
    path = exported()
    with LoadedModel(path) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y)
        assert signature_names(loaded.meta) == {"serving_default"}
        signature = loaded.meta.signature_def["serving_default"]
    assert signature.method_name == "tensorflow/serving/predict"
    assert set(signature.inputs) == {"x"} and set(signature.outputs) == {"value"}
    served = tf2.saved_model.load(path).signatures["serving_default"](x=tf2.constant(X))
    np.testing.assert_allclose(served["value"], Y)
    # The folder is named by a number and holds the model.
    assert os.path.dirname(path) == str(tmp_path / "export") and os.path.basename(path).isdigit()
    assert sorted(os.listdir(path)) == ["saved_model.pb", "variables"]
    assert os.listdir(tmp_path / "export") == [os.path.basename(path)]
    names = [name for name, _ in tf.train.list_variables(path + "/variables/variables")]
    assert names == ["b", "global_step", "w"]
    assert int(os.path.basename(path)) < int(os.path.basename(exported()))


def test_serialised_examples_are_parsed_in_the_graph(exported):
    path = exported(receivers={Mode.PREDICT: PARSING})
    with LoadedModel(path) as loaded:
        np.testing.assert_allclose(loaded.run("value", examples=serialized(X)), Y)
    served = tf2.saved_model.load(path).signatures["serving_default"]
    np.testing.assert_allclose(served(examples=tf2.constant(serialized(X)))["value"], Y)


def heads(output):
    value = output.predictions["value"]
    names = tf.where(value > 0, tf.fill(tf.shape(value), "up"), tf.fill(tf.shape(value), "down"))
    exports = {
        "serving_default": {"value": value, "twice": value * 2},
        "classes": export.ClassificationOutput(scores=value, classes=names),
        "number": export.RegressionOutput(value),
    }
    return dataclasses.replace(output, exports=exports)


def test_heads_of_every_kind_have_their_signatures(exported):
    path = exported(Linear(heads), {Mode.PREDICT: PARSING})
    fed, expected = serialized(-X), 6 - Y
    assert (expected > 0).tolist() == [[True], [False]]
    with LoadedModel(path) as loaded:
        found = {
            name: (s.method_name.split("/")[-1], set(s.inputs), set(s.outputs))
            for name, s in loaded.meta.signature_def.items()
            if not name.startswith("__")
        }
        twice = loaded.run("twice", examples=fed)
        scores, classes = loaded.run(["scores", "classes"], "classes", inputs=fed)
        number = loaded.run("outputs", "number", inputs=fed)
    assert found == {
        "serving_default": ("predict", {"examples"}, {"value", "twice"}),
        "classes": ("classify", {"inputs"}, {"scores", "classes"}),
        "number": ("regress", {"inputs"}, {"outputs"}),
    }
    np.testing.assert_allclose(twice, 2 * expected)
    np.testing.assert_allclose(scores, expected)
    np.testing.assert_allclose(number, expected)
    np.testing.assert_array_equal(classes, np.where(expected > 0, b"up", b"down"))


def test_alternative_inputs_can_be_fed(exported):
    def receiver():
        serving = PARSING()
        return export.ServingInputReceiver(
            serving.features, serving.receiver_tensors, {"raw": serving.features}
        )

    with LoadedModel(exported(receivers={Mode.PREDICT: receiver})) as loaded:
        assert signature_names(loaded.meta) == {"serving_default", "raw:serving_default"}
        np.testing.assert_allclose(loaded.run("value", "raw:serving_default", x=X), Y)


def test_a_head_that_cannot_be_served_is_left_out_and_told(exported, caplog):
    with LoadedModel(exported(Linear(heads))) as loaded:
        assert signature_names(loaded.meta) == {"serving_default"}
    assert "signature 'classes' is not exported: Classification signatures can" in caplog.text
    assert "signature 'number' is not exported: Regression signatures can only" in caplog.text


def averaged(tmp_path):
    average = {"w": WEIGHTS * 2, "b": np.float32([-1.0])}
    return save(tmp_path, **{f"{k}/ExponentialMovingAverage": v for k, v in average.items()})


@pytest.mark.parametrize("wanted", [True, False])
def test_moving_averages_stand_for_the_variables_where_options_say_so(
    exported, tmp_path, wanted, variable_mode
):
    options = {"moving_average_decay": 0.9, "eval_moving_averages": wanted}
    receivers = {Mode.PREDICT: raw, Mode.EVAL: supervised}
    path = exported(receivers=receivers, path=averaged(tmp_path), options=options)
    expected = X @ WEIGHTS * 2 - 1 if wanted else Y
    with LoadedModel(path) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), expected)
    with LoadedModel(path, "eval") as loaded:
        np.testing.assert_allclose(loaded.run("predictions/value", "eval", x=X), expected)
    names = [name for name, _ in tf.train.list_variables(path + "/variables/variables")]
    assert names == ["b", "global_step", "w"]
    served = tf2.saved_model.load(path, ["serve"]).signatures["serving_default"]
    np.testing.assert_allclose(served(x=tf2.constant(X))["value"], expected)


def test_assets_go_along_and_tables_are_initialised(exported, tmp_path):
    vocabulary = tmp_path / "signs.txt"
    vocabulary.write_text("minus\nplus\n")
    path = exported(Linear(with_table(vocabulary)))
    vocabulary.unlink()
    assert os.listdir(path + "/assets") == ["signs.txt"]
    with LoadedModel(path) as loaded:
        assert loaded.run("sign", x=-X).tolist() == [[b"plus"], [b"minus"]]
    served = tf2.saved_model.load(path).signatures["serving_default"]
    assert served(x=tf2.constant(-X))["sign"].numpy().tolist() == [[b"plus"], [b"minus"]]


def test_extra_assets_are_copied_and_a_model_as_text_can_be_read(exported, tmp_path):
    (tmp_path / "labels.txt").write_text("one")
    extra = {"deep/labels.txt": str(tmp_path / "labels.txt")}
    path = exported(assets_extra=extra, as_text=True)
    with open(path + "/assets.extra/deep/labels.txt") as file:
        assert file.read() == "one"
    assert sorted(os.listdir(path)) == ["assets.extra", "saved_model.pbtxt", "variables"]
    with LoadedModel(path) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y)


def test_the_saver_of_a_scaffold_goes_along(exported, tmp_path):
    """The checkpoint calls the weights something else, which only that saver knows."""
    path = save(tmp_path, old_name=WEIGHTS * 3)

    def change(output):
        found = {variable.op.name: variable for variable in tf.global_variables()}
        saver = tf.train.Saver({"old_name": found["w"], "b": found["b"]})
        return dataclasses.replace(output, scaffold=tf.train.Scaffold(saver=saver))

    folder = exported(Linear(change), path=path)
    names = [name for name, _ in tf.train.list_variables(folder + "/variables/variables")]
    assert names == ["b", "old_name"]
    with LoadedModel(folder) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), 3 * (Y - 3) + 3)


def test_the_local_initialisation_of_a_scaffold_runs_when_the_model_is_loaded(exported):
    def change(output):
        offset = tf.get_variable("offset", [], trainable=False, collections=[])
        init = tf.group(offset.assign(10.0), name="own_init")
        predictions = {"value": output.predictions["value"] + offset}
        scaffold = tf.train.Scaffold(local_init_op=init)
        return dataclasses.replace(output, predictions=predictions, scaffold=scaffold)

    with LoadedModel(exported(Linear(change))) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y + 10)


def test_random_operations_have_the_seed_of_the_run(exported):
    def change(output):
        noise = tf.random.uniform([2, 1], name="noise")
        return dataclasses.replace(
            output, predictions={"noise": noise + 0 * output.predictions["value"]}
        )

    found = []
    for seed in (5, 5, 6):
        with LoadedModel(exported(Linear(change), options={"random_seed": seed})) as loaded:
            found.append(loaded.run("noise", x=X))
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_the_session_that_restores_is_configured(exported, monkeypatch):
    seen = []

    class Session(tf.Session):
        def __init__(self, *args, config, **named):
            seen.append(config)
            super().__init__(*args, config=config, **named)

    monkeypatch.setattr(tf, "Session", Session)
    own = tf.ConfigProto(inter_op_parallelism_threads=1)
    exported(session_config=own)
    exported()
    assert seen == [own, inference_session_config(DeviceOptions())]
