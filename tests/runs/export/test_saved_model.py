import dataclasses
import os
import subprocess

import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import Mode, ModelOutput
from tf_frame.config.option_groups import DeviceOptions
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import session_fields
from tf_frame.errors import CheckpointError, ConfigError, PluginError, TfFrameError
from tf_frame.estimator import export
from tf_frame.estimator.model_function.model_factory import ModelFn
from tf_frame.estimator.model_function.spec import EstimatorSpec
from tf_frame.runs.export.saved_model import export_saved_models

WEIGHTS = np.array([[1.5], [-2.0], [0.5]], np.float32)
X = np.array([[1, 2, 3], [4, -5, 6]], np.float32)
Y = X @ WEIGHTS + 3.0
SPEC = {"x": tf.io.FixedLenFeature([3], tf.float32)}


class Linear:
    """`x @ w + b`; `change` makes of the output what a test needs."""

    def __init__(self, change=None):
        self.change = change

    def build(self, features, labels, mode):
        weights = tf.get_variable("w", [3, 1])
        value = tf.matmul(features["x"], weights) + tf.get_variable("b", [1])
        output = ModelOutput(predictions={"value": value})
        if labels is not None:
            loss = tf.reduce_mean(tf.square(labels - value))
            error = tf.metrics.mean_absolute_error(labels, value)
            output = dataclasses.replace(output, loss=loss, metrics={"error": error})
        return self.change(output) if self.change else output


def save(folder, **variables):
    """Writes a checkpoint of these variables at step 7."""
    variables = {"w": WEIGHTS, "b": np.float32([3.0]), **variables}
    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in variables.items():
            tf.get_variable(name, initializer=value)
        step = tf.train.create_global_step()
        session.run([tf.global_variables_initializer(), step.initializer])
        session.run(step.assign(7))
        return tf.train.Saver().save(session, str(folder / "model.ckpt"), global_step=7)


@pytest.fixture
def checkpoint(tmp_path):
    return save(tmp_path)


def raw():
    return export.build_raw_serving_input_receiver_fn({"x": np_like([None, 3])})()


def np_like(shape):
    with tf.Graph().as_default():
        return tf.placeholder(tf.float32, shape, name="x")


def supervised():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    return export.SupervisedInputReceiver({"x": x}, y, {"x": x, "y": y})


PARSING = export.build_parsing_serving_input_receiver_fn(SPEC)


@pytest.fixture
def exported(checkpoint, tmp_path):
    """Exports a model to `tmp_path/export`; returns the path."""

    def export_it(model=None, receivers=None, *, path=checkpoint, options=None, **arguments):
        return export_saved_models(
            model=model or Linear(),
            receivers=receivers or {Mode.PREDICT: raw},
            config=RunOptions(**(options or {})),
            checkpoint=path,
            export_dir_base=str(tmp_path / "export"),
            **arguments,
        )

    return export_it


def serialized(rows):
    def feature(row):
        return tf.train.Feature(float_list=tf.train.FloatList(value=row))

    examples = [tf.train.Features(feature={"x": feature(row)}) for row in rows]
    return [tf.train.Example(features=features).SerializeToString() for features in examples]


class LoadedPlugin:
    """A SavedModel in a session of its own."""

    def __init__(self, path, tag="serve"):
        self.graph = tf.Graph()
        self.session = tf.Session(graph=self.graph)
        self.meta = tf.saved_model.load(self.session, [tag], path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.close()

    def run(self, outputs, signature="serving_default", **fed):
        """Outputs of a signature: a name, or a list of them."""
        found = self.meta.signature_def[signature]
        names = tf.nest.map_structure(lambda key: found.outputs[key].name, outputs)
        return self.session.run(names, {found.inputs[key].name: v for key, v in fed.items()})


def signature_names(meta):
    return {name for name in meta.signature_def if not name.startswith("__")}


def test_a_model_is_served_by_its_predictions(exported, variable_mode):
    with LoadedPlugin(exported()) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y)
        assert signature_names(loaded.meta) == {"serving_default"}
        signature = loaded.meta.signature_def["serving_default"]
    assert signature.method_name == "tensorflow/serving/predict"
    assert set(signature.inputs) == {"x"} and set(signature.outputs) == {"value"}


def test_tensorflow_2_loads_it_too(exported, variable_mode):
    loaded = tf2.saved_model.load(exported())
    served = loaded.signatures["serving_default"](x=tf2.constant(X))
    np.testing.assert_allclose(served["value"], Y)


def test_the_folder_is_named_by_a_number_and_holds_the_model(exported, tmp_path):
    path = exported()
    assert os.path.dirname(path) == str(tmp_path / "export") and os.path.basename(path).isdigit()
    assert sorted(os.listdir(path)) == ["saved_model.pb", "variables"]
    assert os.listdir(tmp_path / "export") == [os.path.basename(path)]
    names = [name for name, _ in tf.train.list_variables(path + "/variables/variables")]
    assert names == ["b", "global_step", "w"]


def test_two_exports_at_once_get_two_folders(exported):
    first, second = exported(), exported()
    assert int(os.path.basename(first)) < int(os.path.basename(second))
    with LoadedPlugin(first) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y)


def test_serialised_examples_are_parsed_in_the_graph(exported):
    path = exported(receivers={Mode.PREDICT: PARSING})
    with LoadedPlugin(path) as loaded:
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
    with LoadedPlugin(path) as loaded:
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

    with LoadedPlugin(exported(receivers={Mode.PREDICT: receiver})) as loaded:
        assert signature_names(loaded.meta) == {"serving_default", "raw:serving_default"}
        np.testing.assert_allclose(loaded.run("value", "raw:serving_default", x=X), Y)


def test_a_head_that_cannot_be_served_is_left_out_and_told(exported, caplog):
    with LoadedPlugin(exported(Linear(heads))) as loaded:
        assert signature_names(loaded.meta) == {"serving_default"}
    assert "signature 'classes' is not exported: Classification signatures can" in caplog.text
    assert "signature 'number' is not exported: Regression signatures can only" in caplog.text


def model_fn(features, labels, mode, params):
    """A model function that trains itself by steps of `params["rate"]`."""
    output = Linear().build(features, labels, mode)
    if mode == "infer":
        value = output.predictions["value"]
        exports = {"number": export.RegressionOutput(value)} if params.get("exports") else None
        return EstimatorSpec(mode, predictions=value, export_outputs=exports)
    optimizer = tf.train.MomentumOptimizer(params["rate"], 0.9)
    return EstimatorSpec(
        mode,
        predictions=output.predictions,
        loss=output.loss,
        train_op=optimizer.minimize(output.loss, tf.train.get_global_step()),
        eval_metric_ops=output.metrics,
    )


def test_a_model_function_is_served_by_its_predictions_or_its_exports(exported):
    for params, outputs in (({}, {"serving_default"}), ({"exports": True}, {"number"})):
        model = ModelFn(model_fn, params=params, config=None)
        with LoadedPlugin(exported(model, {"infer": PARSING})) as loaded:
            assert signature_names(loaded.meta) == {"serving_default", *outputs}
            if not params:
                np.testing.assert_allclose(loaded.run("output", examples=serialized(X)), Y)


def test_the_evaluation_graph_offers_loss_predictions_and_metrics(exported):
    with LoadedPlugin(exported(receivers={Mode.EVAL: supervised}), "eval") as loaded:
        assert signature_names(loaded.meta) == {"eval"}
        signature = loaded.meta.signature_def["eval"]
        assert signature.method_name == "tensorflow/supervised/eval"
        assert set(signature.inputs) == {"x", "y"}
        assert set(signature.outputs) == {
            "loss",
            "predictions/value",
            "metrics/error/value",
            "metrics/error/update_op",
        }
        loss, value = loaded.run(["loss", "predictions/value"], "eval", x=X, y=Y - 2)
        for offset in (1.0, 4.0):
            loaded.run("metrics/error/update_op", "eval", x=X, y=Y + offset)
        mean = loaded.run("metrics/error/value", "eval")
    np.testing.assert_allclose(value, Y)
    np.testing.assert_allclose([loss, mean], [4.0, 2.5], rtol=1e-5)


def test_tensorflow_2_evaluates_by_it_too(exported):
    path = exported(receivers={Mode.EVAL: supervised})
    evaluate = tf2.saved_model.load(path, ["eval"]).signatures["eval"]
    loss = evaluate(x=tf2.constant(X), y=tf2.constant(Y - 2))["loss"]
    np.testing.assert_allclose(loss, 4.0, rtol=1e-5)


def test_the_training_graph_of_a_model_function_still_trains(exported, tmp_path, variable_mode):
    slots = {"w/Momentum": np.zeros_like(WEIGHTS), "b/Momentum": np.float32([0.5])}
    path = save(tmp_path, **slots)
    model = ModelFn(model_fn, params={"rate": 0.1}, config=None)
    with LoadedPlugin(exported(model, {Mode.TRAIN: supervised}, path=path), "train") as loaded:
        signature = loaded.meta.signature_def["train"]
        assert signature.method_name == "tensorflow/supervised/training"
        assert {"loss", "predictions/value"} <= set(signature.outputs)
        (train_op,) = loaded.graph.get_collection("saved_model_train_op")
        fed = {signature.inputs["x"].name: X, signature.inputs["y"].name: Y - 1.0}
        loaded.session.run(train_op, fed)
        with loaded.graph.as_default():
            found = {v.op.name: v for v in tf.global_variables()}
            step, bias = loaded.session.run([found["global_step"], found["b"]])
    gradient = 2.0 * 1.0
    assert step == 8
    np.testing.assert_allclose(bias, 3.0 - 0.1 * (0.9 * 0.5 + gradient), rtol=1e-5)


def test_a_model_without_a_train_op_exports_its_training_graph_without_one(exported):
    with LoadedPlugin(exported(receivers={Mode.TRAIN: supervised}), "train") as loaded:
        np.testing.assert_allclose(loaded.run("loss", "train", x=X, y=Y - 3), 9.0, rtol=1e-5)
        assert not loaded.graph.get_collection("saved_model_train_op")


def test_all_modes_share_the_variables_of_one_export(exported, tmp_path):
    slots = {"w/Momentum": np.zeros_like(WEIGHTS), "b/Momentum": np.float32([0])}
    receivers = {"infer": PARSING, Mode.EVAL: supervised, "train": supervised}
    model = ModelFn(model_fn, params={"rate": 0.1}, config=None)
    path = exported(model, receivers, path=save(tmp_path, **slots))
    names = {name for name, _ in tf.train.list_variables(path + "/variables/variables")}
    assert names == {"w", "b", "global_step", "w/Momentum", "b/Momentum"}
    with LoadedPlugin(path) as loaded:
        np.testing.assert_allclose(loaded.run("output", examples=serialized(X)), Y)
        assert not loaded.graph.get_collection("saved_model_train_op")
    for tag in ("eval", "train"):
        with LoadedPlugin(path, tag) as loaded:
            assert signature_names(loaded.meta) == {tag}
            np.testing.assert_allclose(loaded.run("loss", tag, x=X, y=Y - 1), 1.0, rtol=1e-5)


def test_a_receiver_without_labels_may_evaluate(exported):
    def receiver():
        x = tf.placeholder(tf.float32, [None, 3])
        return export.UnsupervisedInputReceiver({"x": x}, {"x": x})

    with LoadedPlugin(exported(receivers={Mode.EVAL: receiver}), "eval") as loaded:
        np.testing.assert_allclose(loaded.run("predictions/value", "eval", x=X), Y)


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
    with LoadedPlugin(path) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), expected)
    with LoadedPlugin(path, "eval") as loaded:
        np.testing.assert_allclose(loaded.run("predictions/value", "eval", x=X), expected)
    names = [name for name, _ in tf.train.list_variables(path + "/variables/variables")]
    assert names == ["b", "global_step", "w"]
    served = tf2.saved_model.load(path, ["serve"]).signatures["serving_default"]
    np.testing.assert_allclose(served(x=tf2.constant(X))["value"], expected)


def with_table(vocabulary):
    """Adds names, looked up in a file, to the predictions."""

    def change(output):
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(vocabulary),
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
            ),
            "none",
        )
        sign = tf.cast(output.predictions["value"] > 0, tf.int64)
        predictions = {**output.predictions, "sign": table.lookup(sign)}
        return dataclasses.replace(output, predictions=predictions)

    return change


def test_assets_go_along_and_tables_are_initialised(exported, tmp_path):
    vocabulary = tmp_path / "signs.txt"
    vocabulary.write_text("minus\nplus\n")
    path = exported(Linear(with_table(vocabulary)))
    vocabulary.unlink()
    assert os.listdir(path + "/assets") == ["signs.txt"]
    with LoadedPlugin(path) as loaded:
        assert loaded.run("sign", x=-X).tolist() == [[b"plus"], [b"minus"]]
    served = tf2.saved_model.load(path).signatures["serving_default"]
    assert served(x=tf2.constant(-X))["sign"].numpy().tolist() == [[b"plus"], [b"minus"]]


def test_extra_assets_are_copied(exported, tmp_path):
    (tmp_path / "labels.txt").write_text("one")
    path = exported(assets_extra={"deep/labels.txt": str(tmp_path / "labels.txt")})
    with open(path + "/assets.extra/deep/labels.txt") as file:
        assert file.read() == "one"


def test_as_text_it_can_be_read(exported):
    path = exported(as_text=True)
    assert sorted(os.listdir(path)) == ["saved_model.pbtxt", "variables"]
    with LoadedPlugin(path) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y)


def test_attributes_with_default_values_are_left_out(exported):
    path = exported(receivers={Mode.PREDICT: raw, Mode.EVAL: supervised})
    for tag in ("serve", "eval"):
        with LoadedPlugin(path, tag) as loaded:
            assert loaded.meta.meta_info_def.stripped_default_attrs is True


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
    with LoadedPlugin(folder) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), 3 * (Y - 3) + 3)


def test_the_local_initialisation_of_a_scaffold_runs_when_the_model_is_loaded(exported):
    def change(output):
        offset = tf.get_variable("offset", [], trainable=False, collections=[])
        init = tf.group(offset.assign(10.0), name="own_init")
        predictions = {"value": output.predictions["value"] + offset}
        scaffold = tf.train.Scaffold(local_init_op=init)
        return dataclasses.replace(output, predictions=predictions, scaffold=scaffold)

    with LoadedPlugin(exported(Linear(change))) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y + 10)


def test_random_operations_have_the_seed_of_the_run(exported):
    def change(output):
        noise = tf.random.uniform([2, 1], name="noise")
        return dataclasses.replace(
            output, predictions={"noise": noise + 0 * output.predictions["value"]}
        )

    found = []
    for seed in (5, 5, 6):
        with LoadedPlugin(exported(Linear(change), options={"random_seed": seed})) as loaded:
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
    assert seen == [own, session_fields(DeviceOptions())]


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


def nothing(output):
    return ModelOutput()


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
        (nothing, PluginError, r"^the model offers nothing to serve"),
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
    with LoadedPlugin(exported(Uneven(), path=path)) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 200 kB in the place of the exports, where the machine lets us mount one."""
    folder = tmp_path / "export"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", folder], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


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
    path = save(tmp_path, large=np.zeros([100_000], np.float32))
    first = exported(path=path)
    with pytest.raises(TfFrameError, match=r"^the SavedModel could not be written.*No space left"):
        exported(Linear(change), path=path)
    assert os.listdir(small_disk) == [os.path.basename(first)]
    with LoadedPlugin(first) as loaded:
        np.testing.assert_allclose(loaded.run("value", x=X), Y)


@pytest.mark.process
@pytest.mark.parametrize("kind", ["asset", "extra"])
def test_assets_that_find_no_room_leave_nothing_behind(exported, small_disk, tmp_path, kind):
    (tmp_path / "signs.txt").write_text("x" * 300_000)
    with pytest.raises(TfFrameError, match=r"^the SavedModel could not be written.*No space left"):
        if kind == "asset":
            exported(Linear(with_table(tmp_path / "signs.txt")))
        else:
            exported(assets_extra={"a": str(tmp_path / "signs.txt")})
    assert os.listdir(small_disk) == []
